"""What holds for every expression and all data."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from substrait_dsl.errors import EvaluationError, SchemaError
from substrait_dsl.partiql import (
    BindingsExpr,
    Id,
    Mode,
    Node,
    Value,
    ValueExpr,
    data_text,
    evaluate_bindings,
    evaluate_value,
    transform,
    walk,
)
from substrait_dsl.partiql.values import identity
from tests.partiql.trees import BINDINGS_CLASSES, VALUE_CLASSES, nodes, values


def evaluated(tree: Node, tables: dict[str, Value], mode: Mode) -> Any:
    """What a tree evaluates to, as something to compare; or the error that says that it has no value."""
    try:
        if isinstance(tree, ValueExpr):
            return identity(evaluate_value(tree, tables, mode))
        assert isinstance(tree, BindingsExpr)
        found = evaluate_bindings(tree, tables, mode)
    except EvaluationError as error:
        return error
    assert all(one.names == tree.variables for one in found)
    return found.collection_type, data_text(found)


@settings(max_examples=120)
@given(st.sampled_from(VALUE_CLASSES + BINDINGS_CLASSES).flatmap(lambda kind: nodes(kind, 3)), st.data())
def test_strict_mode_is_permissive_mode_with_errors(drawn: Node, draw: st.DataObject) -> None:
    bound = [name for node in walk(drawn) if isinstance(node, BindingsExpr) for name in node.variables]

    def renamed(node: Node) -> Node:
        """Some names are those of variables, which the node may see or not."""
        return Id(draw.draw(st.sampled_from([node.name, *bound]))) if isinstance(node, Id) else node

    try:
        tree = transform(drawn, renamed)
    except SchemaError:  # the right side of a right or full join saw the left one
        assume(False)
    tables = {name: draw.draw(values) for name in sorted(tree.free)}
    strict, permissive = evaluated(tree, tables, "strict"), evaluated(tree, tables, "permissive")
    if isinstance(strict, EvaluationError):
        if isinstance(permissive, EvaluationError):
            assert "is a number of tuples" in str(permissive)  # the one error of permissive mode
    else:
        assert permissive == strict
