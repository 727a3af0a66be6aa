"""Correlated subqueries that an engine is known to decorrelate, without a session.

Only the optimizer of an engine knows which outer references it can decorrelate, and only when it plans. The forms here
are those that are tested on each engine; others may run, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations.joins import COMPARISON_URN, conjuncts
from substrait_dsl.spark.expressions.sql_text import AnySubquery
from substrait_dsl.spark.relations.physical_joins import as_join
from substrait_dsl.spark.relations.subqueries import depends_on_row, relation_of
from substrait_dsl.spark.session.engines import Engine

_COMPARISONS = ("equal", "not_equal", "lt", "lte", "gt", "gte")


def unknown_subqueries(nodes: Sequence[Node], engine: Engine) -> Iterator[tuple[Rel, Node | None]]:
    """Yield the subqueries and lateral joins of a plan that an engine may refuse, or may lose rows of.

    Args:
        nodes: all nodes of the plan.
        engine: the engine.

    Yields:
        The relation, and the subquery in it; None: the relation itself.
    """
    for rel in nodes:
        if not isinstance(rel, Rel):
            continue
        if not _is_known_join(rel, engine):
            yield rel, None
        parts = (part for child in _own_nodes(rel) for part in walk(child, into_relations=False))
        for part in parts:
            if not isinstance(part, AnySubquery):
                continue
            is_placed = engine.has_tuples or isinstance(rel, rl.Filter | rl.Project) or not depends_on_row(part)
            if not is_placed or not _is_known(relation_of(part), engine, is_scalar=isinstance(part, ex.ScalarSubquery)):
                yield rel, part


def _is_known_join(rel: Rel, engine: Engine) -> bool:
    """Whether a relation is no join that an engine would have to decorrelate, or one that it can."""
    match rel:
        case rl.LateralJoin(condition=condition, right=right):
            return _is_plain(condition) and _is_known(right, engine, is_scalar=True)
        case rl.Join(how="left_mark" | "right_mark", condition=condition):
            return engine.has_tuples or _is_plain(condition)
        case rl.HashJoin() | rl.MergeJoin() | rl.NestedLoopJoin() if rel.how.endswith("mark"):
            return engine.has_tuples or _is_plain(as_join(rel).condition)
        case _:
            return True


def _own_nodes(rel: Rel) -> list[Node]:
    return [child for child in rel.children() if not isinstance(child, Rel)]


def _is_plain(condition: ex.Expression) -> bool:
    """Whether a condition is true, or a conjunction of comparisons of columns."""
    return all(
        (isinstance(each, ex.Literal) and each.value is True)
        or (
            isinstance(each, ex.ScalarFunction)
            and each.function.urn == COMPARISON_URN
            and each.function.name in (*_COMPARISONS, "is_not_distinct_from")
            and all(isinstance(argument, ex.FieldReference) for argument in each.arguments)
        )
        for each in conjuncts(condition)
    )


def _is_known(rel: Rel, engine: Engine, *, is_scalar: bool) -> bool:
    """Whether a relation refers to an outer row only in comparisons of filters near its top, if at all."""
    inner = (node for node in walk(rel) if isinstance(node, rl.LateralJoin | AnySubquery))
    if rel.free_anchors and any(isinstance(node, rl.LateralJoin) or node.free_anchors for node in inner):
        return False
    while rel.free_anchors:
        if not _is_pulled_up(rel, engine, only_equal=is_scalar and not engine.has_tuples):
            return False
        (rel,) = rel.inputs
    return True


def _is_pulled_up(rel: Rel, engine: Engine, *, only_equal: bool) -> bool:
    """Whether a relation has only correlated comparisons that an engine pulls up, and lets those below it pass."""
    match rel:
        case rl.Filter(condition=condition):
            outer = (each for each in conjuncts(condition) if each.free_anchors)
            return all(_is_comparison(each, only_equal=only_equal) for each in outer)
        case rl.Aggregate(grouping_sets=(_, _, *_)):
            return False
        case rl.Project() | rl.Emit() | rl.Aggregate():
            is_passed = True
        case rl.Sort() | rl.Fetch():
            is_passed = engine.limits_each
        case _:
            is_passed = False
    return is_passed and not any(child.free_anchors for child in _own_nodes(rel))


def _is_comparison(condition: ex.Expression, *, only_equal: bool) -> bool:
    """Whether a condition compares a column of an outer row with an expression of the inner row."""
    match condition:
        case ex.ScalarFunction(function=function, arguments=(ex.Expression() as one, ex.Expression() as other)):
            is_named = function.urn == COMPARISON_URN and function.name in _COMPARISONS[: 1 if only_equal else None]
            sides = (one, other) if one.free_anchors else (other, one)
            return is_named and _is_outer_column(sides[0]) and not sides[1].free_anchors
        case _:
            return False


def _is_outer_column(value: ex.Expression) -> bool:
    return isinstance(value, ex.FieldReference) and isinstance(value.root, ex.OuterReference)
