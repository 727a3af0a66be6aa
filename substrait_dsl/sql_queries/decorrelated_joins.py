"""The joins that DataFusion makes of subqueries, with what it means by them and does not write to Substrait."""

from __future__ import annotations

from collections.abc import Iterator

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, rebuild, walk
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.fluent.calls import scalar_call

HINT = "write not exists (select ...) with a condition that says what NULL means"


def restore_nulls(rel: rl.Rel, *, has_null_aware_joins: bool, has_in: bool) -> rl.Rel:
    """Return the tree with marks as DataFusion means them: true or false, where Substrait's are NULL, too.

    A mark of ``exists`` is never NULL. One of ``in`` is, and which of the two a join stands for is not in the plan.

    Args:
        rel: a tree as DataFusion wrote it.
        has_null_aware_joins: whether anti joins stand for ``not in``, which NULL on the right side makes empty.
        has_in: whether the text has ``in`` with a subquery.

    Raises:
        UnsupportedError: NULL may change the rows, and the plan does not say how.
    """
    nodes = [*walk(rel)]
    joins = [node for node in nodes if isinstance(node, rl.Join) and node.condition.type.nullable]
    if has_null_aware_joins and any(join.how == "left_anti" for join in joins):
        raise UnsupportedError(
            "DataFusion leaves out what NULL means to a NOT IN, in a query with subqueries", hint=HINT
        )
    harmless = {id(join) for node in nodes if isinstance(node, rl.Filter) for join in _harmless_marks(node)}
    marks = {id(join) for join in joins if join.how == "left_mark"} - harmless
    if has_in and marks:
        raise UnsupportedError("DataFusion leaves out what NULL means to an IN, in a query with subqueries", hint=HINT)
    return rebuild(rel, _mark_without_null) if marks else rel


def _harmless_marks(node: rl.Filter) -> Iterator[rl.Join]:
    """Yield the joins below a filter to which a mark that is NULL is as good as one that is false."""
    joins = {}
    below = node.input
    while isinstance(below, rl.Join) and below.how == "left_mark":
        joins[len(below.left.schema)] = below
        below = below.left
    alone, computed = set[int](), set[int]()
    for part in _alternatives(node.condition):
        references = alone if isinstance(part, ex.FieldReference) else computed
        found = walk(part, into_relations=False)
        references.update(each.position for each in found if isinstance(each, ex.FieldReference))
    # A mark that the condition does not have was taken out of it, as one that is never NULL.
    yield from (join for position, join in joins.items() if position in alone - computed)


def _alternatives(condition: ex.Expression) -> Iterator[ex.Expression]:
    """Yield the parts of a condition that ``and`` and ``or`` combine, to any depth."""
    pending = [condition]
    while pending:
        part = pending.pop()
        if isinstance(part, ex.ScalarFunction) and part.function.name in ("and", "or"):
            pending += [argument for argument in part.arguments if isinstance(argument, ex.Expression)]
        else:
            yield part


def _mark_without_null(node: Node) -> Node:
    """Return a join with a mark that is false where it would be NULL; the type stays as it is."""
    if not isinstance(node, rl.Join) or node.how != "left_mark" or not node.condition.type.nullable:
        return node
    mark = len(node.left.schema)
    type_ = node.schema.types[mark]
    is_true = scalar_call("is_true", {}, None, None, [ex.FieldReference(mark, type_)])
    name = node.schema.names[mark]
    project = rl.Project(node, (ex.Cast(is_true, type_),), (name,))
    return rl.emit(project, [*range(mark), mark + 1], [*node.schema.names])
