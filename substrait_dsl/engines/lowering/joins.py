"""Joins: inner, outer and left joins without subqueries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, FunctionId, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.rules import JOIN_RULES, JoinType
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.dependent import for_each, outer_positions
from substrait_dsl.engines.lowering.subqueries import any_match, distinct, filter_rows, has_subquery, one_at_most
from substrait_dsl.engines.lowering.terms import (
    TRUE,
    as_type,
    call,
    column,
    columns,
    compare,
    conjunction,
    equal,
    is_bare,
    map_fields,
    number,
    project_only,
    same,
    shift_fields,
)

MIRRORED: Mapping[JoinType, JoinType] = {
    "right": "left",
    "right_semi": "left_semi",
    "right_anti": "left_anti",
    "right_single": "left_single",
    "right_mark": "left_mark",
}
"""The join type with the inputs swapped."""

LOGICAL: tuple[JoinType, ...] = ("inner", "outer", "left", "left_semi", "left_anti")
"""The join types of engines."""

PhysicalJoin = rl.HashJoin | rl.MergeJoin | rl.NestedLoopJoin


def lower_physical_join(rel: PhysicalJoin, lowering: Lowering) -> Rel:
    """Lower a physical join to the logical join with the same rows."""
    match rel:
        case rl.NestedLoopJoin():
            join = rl.Join(rel.left, rel.right, rel.how, rel.condition or TRUE, mark=rel.mark, anchor=rel.anchor)
        case rl.HashJoin() | rl.MergeJoin():
            tests = [_key_test(key, len(rel.left.schema)) for key in rel.keys]
            tests += [] if rel.residual is None else [rel.residual]
            join = rl.Join(
                rel.left, rel.right, rel.how, conjunction(tests), rel.post_filter, rel.mark, anchor=rel.anchor
            )
        case never:
            assert_never(never)
    return lower_join(join, lowering)


def _key_test(key: rl.JoinKey, width: int) -> Expression:
    """Return the condition of a join key, over the columns of both inputs."""
    left, right = key.left, shift_fields(key.right, width)
    match key.comparison:
        case "eq":
            return equal(left, right)
        case "is_not_distinct_from":
            return compare("is_not_distinct_from", left, right)
        case "might_equal":
            return call("comparison", "coalesce", equal(left, right), TRUE)
        case FunctionId() as function:
            return ScalarFunction(function, (left, right), t.Boolean(nullable=True))
        case never:
            assert_never(never)


def lower_cross(rel: rl.Cross, lowering: Lowering) -> Rel:
    """Return the cross product without the fields that lowering leaves out."""
    return rel if is_bare(rel) else rl.Cross(rel.left, rel.right)


def lower_join(rel: rl.Join, lowering: Lowering) -> Rel:
    """Lower a join to one without a post-join filter, without subqueries, and not of a right type."""
    if rel.post_filter is not None:
        joined = lower_join(
            rl.Join(rel.left, rel.right, rel.how, rel.condition, mark=rel.mark, anchor=rel.anchor), lowering
        )
        return filter_rows(lowering, joined, rel.post_filter, None)
    if rel.how in MIRRORED:
        return _mirror(rel, lowering)
    if has_subquery(rel.condition):
        return _with_subqueries(rel, lowering)
    if is_bare(rel) and rel.how in LOGICAL:
        return rel
    return plain_join(lowering, rel.left, rel.right, rel.how, rel.condition)


def plain_join(lowering: Lowering, left: Rel, right: Rel, how: JoinType, condition: Expression) -> Rel:
    """Join by a type of the left side; the condition has no subquery."""
    width = len(left.schema)
    match how:
        case _ if how in LOGICAL:
            return rl.Join(left, right, how, condition)
        case "left_mark":
            joined, value = any_match(lowering, left, right, condition, None)
            mark = as_type(value, t.Boolean(nullable=True))
            return project_only(joined, (*columns(joined, range(width)), mark), (*left.schema.names, "mark"))
        case "left_single":
            return _single(lowering, left, right, condition)
        case _:
            raise lowering.refusal(f"a {how} join")


def _single(lowering: Lowering, left: Rel, right: Rel, condition: Expression) -> Rel:
    """Return a left join that fails for several matches, by the left columns in the condition."""
    width = len(left.schema)
    used = sorted(
        {
            node.position
            for node in walk(condition, into_relations=False)
            if isinstance(node, FieldReference) and node.position < width
        }
    )
    if not used:
        matches = right if condition is TRUE else rl.Filter(right, shift_fields(condition, -width))
        matches = rl.Join(matches, rl.Fetch(left, number(1), None), "left_semi", TRUE)  # no row has several, if none is
        return rl.Join(left, one_at_most(lowering, matches, 0, "a single join"), "left", TRUE)
    domain = distinct(left, used)
    new_positions = {position: n for n, position in enumerate(used)}
    test = map_fields(condition, lambda at: new_positions[at] if at < width else at - width + len(used))
    matches = one_at_most(lowering, rl.Join(domain, right, "inner", test), len(used), "a row of a single join")
    keys = [same(column(left, at), shift_fields(column(matches, n), width)) for n, at in enumerate(used)]
    joined = rl.Join(left, matches, "left", conjunction(keys))
    return rl.emit(joined, [*range(width), *range(width + len(used), len(joined.schema))])


def _mirror(rel: rl.Join, lowering: Lowering) -> Rel:
    """Swap the inputs of a join, and restore the order of the columns."""
    left, right = len(rel.left.schema), len(rel.right.schema)
    if has_subquery(rel.condition):
        raise lowering.refusal(f"a {rel.how} join with a subquery in its condition")
    condition = map_fields(rel.condition, lambda at: at + right if at < left else at - left)
    joined = lower_join(
        rl.Join(rel.right, rel.left, MIRRORED[rel.how], condition, mark=rel.mark, anchor=rel.anchor), lowering
    )
    if JOIN_RULES[rel.how].left == "dropped":
        return joined
    return rl.emit(joined, [*range(right, right + left), *range(right)])


def _with_subqueries(rel: rl.Join, lowering: Lowering) -> Rel:
    """Lower a join with subqueries in its condition: an inner join is a filter of all pairs."""
    if rel.how == "inner":
        return filter_rows(lowering, rl.Cross(rel.left, rel.right), rel.condition, rel.anchor)
    raise lowering.refusal(f"a {rel.how} join with a subquery in its condition")


def lower_lateral_join(rel: rl.LateralJoin, lowering: Lowering) -> Rel:
    """Compute the right input for all left rows at once, and join it by the columns that it refers to."""
    join = rl.Join(rel.left, rel.right, rel.how, rel.condition, rel.post_filter, rel.mark, anchor=rel.anchor)
    positions = outer_positions(rel.right, rel.anchor)
    if not positions or rel.anchor is None:
        return lower_join(join, lowering)
    if has_subquery(rel.condition):
        raise lowering.refusal("a lateral join with a subquery in its condition")
    width, added = len(rel.left.schema), len(positions)
    spread = for_each(lowering, rel.right, distinct(rel.left, positions), rel.anchor, positions)
    keys = [same(column(rel.left, at), shift_fields(column(spread, n), width)) for n, at in enumerate(positions)]
    condition = map_fields(rel.condition, lambda at: at if at < width else at + added)
    tests = [*keys, *([] if condition is TRUE else [condition])]
    joined = plain_join(lowering, rel.left, spread, rel.how, conjunction(tests))
    if JOIN_RULES[rel.how].right != "dropped":
        joined = rl.emit(joined, [*range(width), *range(width + added, len(joined.schema))])
    return joined if rel.post_filter is None else filter_rows(lowering, joined, rel.post_filter, None)
