"""Pull correlated filters up above joins.

Sail decorrelates a subquery whose correlated filters are above its own joins, and no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait_dsl.algebra.expressions import ROOT, Expression, FieldReference, ScalarFunction
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.relations import Cross, Emit, Filter, Join, Project
from substrait_dsl.algebra.relations.joins import BOOLEAN_URN, conjuncts
from substrait_dsl.algebra.relations.projection import emit
from substrait_dsl.algebra.types import Boolean
from substrait_dsl.spark.expressions.sql_text import AnySubquery

_LEFT = ("inner", "left", "left_semi", "left_anti", "left_mark")
_RIGHT = ("inner", "right", "right_semi", "right_anti", "right_mark")
"""The joins that emit the same rows whether a filter on this input is below or above them."""
_OF_BOTH = ("inner", "left", "right")
"""Those of them that emit the columns of both inputs."""


def with_filters_above_joins(plan: AlgebraPlan) -> AlgebraPlan:
    """Return a plan with correlated filters above joins, where the rows are the same."""
    joins = (node for rel in plan.relations for node in walk(rel) if isinstance(node, Join | Cross))
    return plan.rebuilt(_change) if any(node.free_anchors for node in joins) else plan


def _change(node: Node) -> Node:
    if isinstance(node, Join | Cross) and node.free_anchors and _is_plain(node):
        return _with_filter_above(node)
    return node


def _is_plain(rel: Rel) -> bool:
    """Whether a relation has no correlated subquery over its own rows, and no hint or extension."""
    return not rel.shared and rel.common is None and rel.anchor is None


def _with_filter_above(rel: Join | Cross) -> Rel:
    """Move the correlated filters of a join's inputs above the join."""
    how = rel.how if isinstance(rel, Join) else "inner"
    if isinstance(rel, Join) and rel.post_filter is not None:
        return rel
    left, of_left = _split_off_filters(rel.left) if how in _LEFT else (rel.left, [])
    right, of_right = _split_off_filters(rel.right) if how in _RIGHT else (rel.right, [])
    of_join, others = _split(rel.condition if isinstance(rel, Join) else None, is_moved=how == "inner")
    before = len(rel.left.schema) if how in _OF_BOTH else 0
    conditions = [
        *of_left,
        *(_renumber_columns(each, lambda position: position + before) for each in of_right),
        *of_join,
    ]
    if not conditions:
        return rel
    if isinstance(rel, Join) and (others or how != "inner"):
        return Filter(Join(left, right, rel.how, _all(others), mark=rel.mark), _all(conditions))
    return Filter(Cross(left, right), _all(conditions))


def _split_off_filters(rel: Rel) -> tuple[Rel, list[Expression]]:
    """Split the correlated filters off a relation, if it emits all the columns to which they refer."""
    if not rel.free_anchors or not _is_plain(rel):
        return rel, []
    match rel:
        case Filter(input=inner, condition=condition):
            below, conditions = _split_off_filters(inner)
            moved, others = _split(condition, is_moved=True)
            return (Filter(below, _all(others)) if others else below), [*conditions, *moved]
        case Project(input=inner, expressions=expressions) if not any(
            each.flags.has_window_functions for each in expressions
        ):
            below, conditions = _split_off_filters(inner)
            return Project(below, expressions, rel.names), conditions
        case Emit(input=inner, mapping=mapping, names=names):
            below, conditions = _split_off_filters(inner)
            places = {old: new for new, old in reversed([*enumerate(mapping)])}
            if any(position not in places for each in conditions for position in _positions(each)):
                return rel, []
            return emit(below, mapping, names), [_renumber_columns(each, places.__getitem__) for each in conditions]
        case _:
            return rel, []


def _split(condition: Expression | None, *, is_moved: bool) -> tuple[list[Expression], list[Expression]]:
    """Split a condition into correlated conjuncts without subqueries, and the others."""
    moved: list[Expression] = []
    others: list[Expression] = []
    for each in () if condition is None else conjuncts(condition):
        is_plain = not any(isinstance(node, AnySubquery) for node in walk(each))
        (moved if is_moved and each.free_anchors and is_plain else others).append(each)
    return moved, others


def _positions(expression: Expression) -> set[int]:
    """Return the columns of its own row to which an expression refers."""
    return {node.position for node in walk(expression) if isinstance(node, FieldReference) and node.root == ROOT}


def _renumber_columns(expression: Expression, place: Callable[[int], int]) -> Expression:
    """Renumber the columns of an expression."""

    def change(node: Node) -> Node:
        if isinstance(node, FieldReference) and node.root == ROOT:
            return FieldReference(place(node.position), node.column_type)
        return node

    return rebuild(expression, change, into_relations=False)


def _all(conditions: Sequence[Expression]) -> Expression:
    if len(conditions) == 1:
        return conditions[0]
    nullable = any(each.type.nullable for each in conditions)
    return ScalarFunction(FunctionId(BOOLEAN_URN, "and:bool"), tuple(conditions), Boolean(nullable=nullable))
