"""Conditions on an outer row, moved above the joins that they stand below.

Sail makes a join of a subquery whose conditions on the row outside stand above its own joins, and of no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait_dsl.algebra.expressions import ROOT, Expression, FieldReference, ScalarFunction
from substrait_dsl.algebra.expressions.windows import has_window_function
from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.relations import Cross, Emit, Filter, Join, Project
from substrait_dsl.algebra.relations.joins import BOOLEAN_URN, conjuncts
from substrait_dsl.algebra.relations.projection import emit
from substrait_dsl.algebra.types import Boolean
from substrait_dsl.spark.expressions.sql_text import AnySubquery

_LEFT = ("inner", "left", "left_semi", "left_anti", "left_mark")
_RIGHT = ("inner", "right", "right_semi", "right_anti", "right_mark")
"""The joins that put out the rows of that input which a condition on it leaves, if it leaves them below or above."""
_OF_BOTH = ("inner", "left", "right")
"""Those of them that put out the columns of both inputs."""


def with_filters_above_joins(plan: AlgebraPlan) -> AlgebraPlan:
    """The plan with conditions on outer rows above joins, where these put out the same rows."""
    joins = (node for rel in plan.relations for node in walk(rel) if isinstance(node, Join | Cross))
    return plan.rebuilt(_change) if any(node.free_anchors for node in joins) else plan


def _change(node: Node) -> Node:
    if isinstance(node, Join | Cross) and node.free_anchors and _is_plain(node):
        return _with_filter_above(node)
    return node


def _is_plain(rel: Rel) -> bool:
    """Whether nothing refers to a row of a relation from inside, and it carries nothing else."""
    return not rel.shared and rel.common is None and rel.anchor is None


def _with_filter_above(rel: Join | Cross) -> Rel:
    """A join with the conditions on outer rows above it."""
    how = rel.how if isinstance(rel, Join) else "inner"
    if isinstance(rel, Join) and rel.post_filter is not None:
        return rel
    left, of_left = _apart(rel.left) if how in _LEFT else (rel.left, [])
    right, of_right = _apart(rel.right) if how in _RIGHT else (rel.right, [])
    of_join, kept = _split(rel.condition if isinstance(rel, Join) else None, is_moved=how == "inner")
    before = len(rel.left.schema) if how in _OF_BOTH else 0
    conditions = [*of_left, *(_moved(each, lambda position: position + before) for each in of_right), *of_join]
    if not conditions:
        return rel
    if isinstance(rel, Join) and (kept or how != "inner"):
        return Filter(Join(left, right, rel.how, _all(kept), mark=rel.mark), _all(conditions))
    return Filter(Cross(left, right), _all(conditions))


def _apart(rel: Rel) -> tuple[Rel, list[Expression]]:
    """A relation without its conditions on outer rows, and these, if it puts out all columns that they refer to."""
    if not rel.free_anchors or not _is_plain(rel):
        return rel, []
    match rel:
        case Filter(input=inner, condition=condition):
            below, conditions = _apart(inner)
            moved, kept = _split(condition, is_moved=True)
            return (Filter(below, _all(kept)) if kept else below), [*conditions, *moved]
        case Project(input=inner, expressions=expressions) if not any(map(has_window_function, expressions)):
            below, conditions = _apart(inner)
            return Project(below, expressions, rel.names), conditions
        case Emit(input=inner, mapping=mapping, names=names):
            below, conditions = _apart(inner)
            places = {old: new for new, old in reversed([*enumerate(mapping)])}
            if any(position not in places for each in conditions for position in _positions(each)):
                return rel, []
            return emit(below, mapping, names), [_moved(each, places.__getitem__) for each in conditions]
        case _:
            return rel, []


def _split(condition: Expression | None, *, is_moved: bool) -> tuple[list[Expression], list[Expression]]:
    """The parts of a condition that are on an outer row and have no subqueries, and the others."""
    moved: list[Expression] = []
    kept: list[Expression] = []
    for each in () if condition is None else conjuncts(condition):
        is_plain = not any(isinstance(node, AnySubquery) for node in walk(each))
        (moved if is_moved and each.free_anchors and is_plain else kept).append(each)
    return moved, kept


def _positions(expression: Expression) -> set[int]:
    """The columns of its own row that an expression refers to."""
    return {node.position for node in walk(expression) if isinstance(node, FieldReference) and node.root == ROOT}


def _moved(expression: Expression, place: Callable[[int], int]) -> Expression:
    """An expression over a row whose columns stand at other places."""

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
