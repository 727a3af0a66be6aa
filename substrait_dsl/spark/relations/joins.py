"""Joins: Spark's own where it has them, subqueries for most others.

A mark join is a column that tells whether a match exists; a single join is a left join or a scalar subquery with a
check for a second match. A join that looks rows up has its build side as text inside of a subquery. Inside of a
subquery this is also true of other joins whose build side depends on an outer row: Spark's own joins do not allow that.

Specification: https://substrait.io/relations/logical_relations/#join-operation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.node import Node, Rel, walk_upwards
from substrait_dsl.algebra.relations import HashJoin, Join, LateralJoin, MergeJoin, NestedLoopJoin
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.algebra.rules import JOIN_RULES
from substrait_dsl.spark.expressions.pushdown import is_constant_condition, predicate_sql
from substrait_dsl.spark.expressions.sql_text import AnySubquery, Scope, to_sql
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.relations.column_pruning import referenced_positions
from substrait_dsl.spark.relations.expression_context import prepare_context, subqueries_of
from substrait_dsl.spark.relations.join_strategies import (
    JOIN_STRATEGIES,
    JoinStrategy,
    Side,
    require_computed_for_pairs,
    sides_of,
)
from substrait_dsl.spark.relations.lookups import with_matches
from substrait_dsl.spark.relations.single_input import filter_by_constant, filter_rows
from substrait_dsl.spark.relations.single_joins import has_unique_keys, is_by_key, lower_by_key
from substrait_dsl.spark.relations.subqueries import is_constant
from substrait_dsl.spark.relations.tables import NAME, UNUSED, Item, JoinHow, Rows, Table, all_true, items
from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    from substrait_dsl.algebra.expressions import Expression
    from substrait_dsl.algebra.relations import Cross
    from substrait_dsl.spark.relations.input_lowering import InputLowering


_OTHER: Mapping[Side, Side] = {"left": "right", "right": "left"}


def probe_inputs(rel: Rel, *, correlated: bool) -> tuple[Rel, ...]:
    """Return the inputs of a relation that are lowered like itself: not the build side of a join that looks rows up.

    `correlated` says whether the relation has outer rows.
    """
    match rel:
        case LateralJoin(left=left):
            return (left,)
        case Join(how=how) | HashJoin(how=how) | MergeJoin(how=how) | NestedLoopJoin(how=how):
            strategy = JOIN_STRATEGIES[how]
            if strategy.method in ("mark", "single") and (correlated or not is_by_key(rel)):
                return (rel.left if strategy.probe_side == "left" else rel.right,)
    return rel.inputs


def looks_up(rel: Rel, known: dict[int, tuple[Node, bool]]) -> bool:
    """Whether rows may be looked up one by one, by a subquery or by a join, in a relation or below it.

    `known` is a cache of the nodes that were visited, by their ids.
    """
    for node in walk_upwards(rel, done=known):
        is_lookup = isinstance(node, AnySubquery) or (
            isinstance(node, Rel) and probe_inputs(node, correlated=True) != node.inputs
        )
        known[id(node)] = (node, is_lookup or any(known[id(child)][1] for child in node.children()))
    return known[id(rel)][1]


def lower_cross(rel: Cross, lowering: InputLowering) -> Rows:
    """A cross join."""
    left = lowering[rel.left]
    right = lowering[rel.right].with_names_disjoint_from(left)
    return Rows(left.table.join(right.table, "cross", None), left.columns + right.columns)


def lower_join(rel: Join, lowering: InputLowering) -> Rows:
    """Match the rows as the join type says, then apply the post-join filter."""
    require_computed_for_pairs(rel)
    strategy = JOIN_STRATEGIES[rel.how]
    match strategy.method:
        case "single" if not lowering.outer and is_by_key(rel):
            rows = (
                _join(rel, strategy.probe_side, "left", lowering)
                if has_unique_keys(rel)
                else lower_by_key(rel, lowering)
            )
        case "mark" | "single":
            rows = _look_up_rows(rel, strategy, lowering)
        case how:
            rows = _join(rel, strategy.probe_side, how, lowering)
    return rows if rel.post_filter is None else filter_rows(rows, rel.post_filter, rel.anchor, lowering)


def _join(rel: Join, probe_side: Side, how: JoinHow, lowering: InputLowering) -> Rows:
    """Join by Spark's own join; by look-ups if it does not allow the condition, or the inputs."""
    inputs = _prepare_inputs(rel, probe_side, how, lowering)
    if inputs is None:
        return _each_looked_up(rel, probe_side, how, lowering)
    left, right, now, values = inputs.left, inputs.right, inputs.now, inputs.values
    left_columns, right_columns = left.columns[: len(rel.left.schema)], right.columns[: len(rel.right.schema)]
    scope = Scope(left_columns + right_columns, lowering.outer, lambda subquery, _: values[id(subquery)])
    first, second = (left, right) if probe_side == "left" else (right, left)
    if how != "full" and not current_engine().has_constant_conditions:
        now, constant = _split_constant(now)
        first, second = _filter_build_side(constant, first, second, how, scope, lowering)
    condition = " AND ".join(f"({predicate_sql(to_sql(conjunct, scope), conjunct)})" for conjunct in now) or "true"
    rule = JOIN_RULES[rel.how]
    columns = (() if rule.left == "dropped" else left_columns) + (() if rule.right == "dropped" else right_columns)
    if _needs_look_up(first.table, second.table, how, lowering):
        return _each_looked_up(rel, probe_side, how, lowering)
    if how == "full" and rel.free_anchors:
        matched = Rows(_match(left.table, right.table, "left", condition), columns)
        others = Rows(_match(right.table, left.table, "leftanti", condition), right_columns)
        return _complete_outer_join(rel, matched, others, lowering)
    rows = Rows(_match(first.table, second.table, how, condition), columns)
    for conjunct in inputs.later:
        rows = filter_rows(rows, conjunct, rel.anchor, lowering)
    return rows


@attrs.define
class _JoinInputs:
    """The inputs of one of Spark's own joins, and the conjuncts of its condition."""

    left: Rows
    right: Rows
    values: dict[int, str] = attrs.field(factory=dict)
    """The columns of the inputs with the values of subqueries in the condition, by the ids of these."""
    now: list[Expression] = attrs.field(factory=list)
    """The conjuncts of the join's condition."""
    later: list[Expression] = attrs.field(factory=list)
    """The conjuncts of a filter above it."""


def _prepare_inputs(rel: Join, probe_side: Side, how: JoinHow, lowering: InputLowering) -> _JoinInputs | None:
    """Compute the subqueries of the condition below the join; None: one refers to both inputs of an outer join."""
    left = lowering[rel.left]
    inputs = _JoinInputs(left, lowering[rel.right].with_names_disjoint_from(left))
    preserved: Side = "right" if how == "right" else probe_side
    for conjunct in conjuncts(rel.condition):
        sides = {side for subquery in subqueries_of(conjunct) for side in sides_of(subquery, rel)}
        if sides == {"left", "right"} and how != "inner":
            return None
        # Spark's optimizer resolves a condition on an outer row alone in a filter, but not in an inner join.
        is_outer = how == "inner" and conjunct.free_anchors and not referenced_positions([conjunct], None)
        if is_outer or sides == {"left", "right"}:
            inputs.later.append(conjunct)
            continue
        inputs.now.append(conjunct)
        for subquery in subqueries_of(conjunct):
            side = next(iter(sides), None) or _side_of_neither(subquery, how, preserved)
            rows = inputs.right if side == "right" else inputs.left
            rows, inputs.values[id(subquery)] = _compute_subquery(subquery, rel, side, rows, lowering)
            if side == "right":
                inputs.right = rows
            else:
                inputs.left = rows
    return inputs


def _side_of_neither(subquery: AnySubquery, how: JoinHow, preserved: Side) -> Side:
    """Return the input in which a subquery is computed that refers to neither.

    It may refer to an outer row, which the build side must not. An uncorrelated one Spark may push back into the
    condition, and into its keys, which it needs before it has run a subquery; but not from the build side.
    """
    return _OTHER[preserved] if how in ("leftsemi", "leftanti") and is_constant(subquery) else preserved


def _split_constant(conditions: Sequence[Expression]) -> tuple[list[Expression], list[Expression]]:
    """Split conditions into those that refer to rows, and those that do not."""
    constant = [condition for condition in conditions if is_constant_condition(condition)]
    return [condition for condition in conditions if not is_constant_condition(condition)], constant


def _filter_build_side(
    conditions: Sequence[Expression], first: Rows, second: Rows, how: JoinHow, scope: Scope, lowering: InputLowering
) -> tuple[Rows, Rows]:
    """Filter the build side of a join by conditions that refer to no row."""
    for condition in conditions:
        text = predicate_sql(to_sql(condition, scope), condition)
        if how == "right":
            first = Rows(filter_by_constant(first.table, text, lowering), first.columns)
        else:
            second = Rows(filter_by_constant(second.table, text, lowering), second.columns)
    return first, second


def _match(first: Table, second: Table, how: JoinHow, condition: str) -> Table:
    """Join by Spark's own join. Correlated filters of the build side move to its condition."""
    moved: tuple[str, ...] = ()
    match how:
        case "left" | "leftsemi" | "leftanti":
            second, moved = second.without_correlated_filters
        case "right":
            first, moved = first.without_correlated_filters
    return first.join(second, how, all_true([condition, *moved]))


def _needs_look_up(first: Table, second: Table, how: JoinHow, lowering: InputLowering) -> bool:
    """Whether Spark's own join is impossible: the build side depends on an outer row other than by filters."""
    match how:
        case "left" | "leftsemi" | "leftanti":
            looked_up = [second]
        case "right":
            looked_up = [first]
        case "full":
            looked_up = [first, second]
        case _:
            return False
    outer_columns = {name for columns in lowering.outer.values() for text in columns for name in NAME.findall(text)}
    return bool(outer_columns) and any(
        not outer_columns.isdisjoint(table.without_correlated_filters[0].mentioned) for table in looked_up
    )


def _each_looked_up(rel: Join, probe_side: Side, how: JoinHow, lowering: InputLowering) -> Rows:
    """Lower one of Spark's own joins as a look-up for each row, which sees the outer rows."""
    match how:
        case "right":
            return _look_up_rows(rel, JoinStrategy("right", "left"), lowering)
        case "full":
            matched = _look_up_rows(rel, JoinStrategy("left", "left"), lowering)
            return _complete_outer_join(
                rel, matched, _look_up_rows(rel, JoinStrategy("right", "leftanti"), lowering), lowering
            )
        case _:
            return _look_up_rows(rel, JoinStrategy(probe_side, how), lowering)


def _complete_outer_join(rel: Join, matched: Rows, others: Rows, lowering: InputLowering) -> Rows:
    """A correlated outer join: a left join, and the right rows without a match.

    In Spark's own, the condition would become a filter of the join's output.
    """
    types = dict(zip(matched.columns, rel.left.schema.types, strict=False))
    absent = [
        Item(f"CAST(NULL AS {spark_sql_type(type_)})", (lowering.execution.name(),))
        for name, type_ in types.items()
        if name != UNUSED
    ]
    table = matched.table.select(items(matched.columns))
    return Rows(table.union_all([others.table.select([*absent, *items(others.columns)])]), matched.columns)


def _look_up_rows(rel: Join, strategy: JoinStrategy, lowering: InputLowering) -> Rows:
    """A join in which each row of the probe side is looked up in the build side."""
    probe_side, other = (rel.left, rel.right) if strategy.probe_side == "left" else (rel.right, rel.left)
    rows = lowering[probe_side]
    values: dict[int, str] = {}
    for subquery in subqueries_of(rel.condition):
        if is_constant(subquery) and strategy.method == "mark":
            continue  # among the rows that are looked up, Spark can decide it
        if sides_of(subquery, rel) <= {strategy.probe_side}:
            rows, values[id(subquery)] = _compute_subquery(subquery, rel, strategy.probe_side, rows, lowering)
    prepared, here = prepare_context(lowering, rows, None, [], lookups=[rel.condition, other])
    return with_matches(
        rel, strategy, Rows(prepared.table, rows.columns[: len(probe_side.schema)]), here, values, lowering
    )


def _compute_subquery(
    subquery: AnySubquery, rel: Join, side: Side, rows: Rows, lowering: InputLowering
) -> tuple[Rows, str]:
    """Add the value of a subquery to one input, and return the input and the column."""
    left, right = len(rel.left.schema), len(rel.right.schema)
    no_column = ("NULL",)
    visible = rows.columns[:left] + no_column * right if side == "left" else no_column * left + rows.columns[:right]
    wide, here = prepare_context(lowering, rows, rel.anchor, [subquery], hoist=True, visible=visible)
    name = here.sql(subquery)
    return Rows(wide.table, (*wide.columns, name)), name
