"""Relations that leave out rows: filter and fetch.

Specification: https://substrait.io/relations/logical_relations/#filter-operation and
https://substrait.io/relations/logical_relations/#fetch-operation.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.expressions.references import ROOT, FieldReference
from substrait_dsl.algebra.node import Expression, Node, Rel, walk
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import INTEGER_RANGES
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError


@attrs.frozen(eq=False, repr=False)
class Filter(Rel):
    """The rows for which a condition is true. Output: the input's columns; order and distribution stay."""

    input: Rel
    condition: Expression

    def _validate(self) -> None:
        rules.require_boolean(self.condition.type, "the condition of a filter")
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return self.input.properties


@attrs.frozen(eq=False, repr=False)
class Fetch(Rel):
    """`count` rows after the first `offset`: None, or an expression that is NULL, means all, and 0.

    Output: the input's columns; order and distribution stay.
    """

    input: Rel
    count: Expression | None = None
    offset: Expression | None = None

    def _validate(self) -> None:
        for name in ("count", "offset"):
            expression = getattr(self, name)
            if expression is not None:
                check_fetch("fetch", name, expression, self.anchor)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return self.input.properties


def check_fetch(kind: str, name: str, expression: Expression, anchor: int | None) -> None:
    """Check the count or the offset of a relation with that anchor, which is that of the row that it sees."""
    if type(expression.type) not in INTEGER_RANGES:
        raise TypeMismatchError(f"the {name} of a {kind} must be an integer, this is {expression.type}")
    if isinstance(expression, Literal):
        if expression.value is not None and expression.value < 0:
            raise InvalidArgumentError(f"the {name} of a {kind} must not be negative, got {expression.value}")
        return
    if anchor in expression.free_anchors or any(map(_reads_row, walk(expression, into_relations=False))):
        raise InvalidArgumentError(f"the {name} of a {kind} must not depend on a row, but it refers to a column")


def _reads_row(node: Node) -> bool:
    """Return whether an expression by itself, what is in it aside, depends on the row that it sees."""
    match node:
        case FieldReference(root=root) | ex.MaskedReference(input=ex.Row(root=root)):
            return root == ROOT
        case _:
            return node.own_flags.has_window_functions
