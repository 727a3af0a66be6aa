"""Look-ups: for each row of the probe side of a join, the matching rows of the build side.

A look-up is a subquery, which is text. It sees the outer row by the names of its columns, but a subquery nested in it
sees only the build side row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra.expressions import ROOT, Expression, Literal, OuterReference
from substrait_dsl.algebra.relations import Join, LateralJoin
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.spark.expressions.sql_text import Scope
from substrait_dsl.spark.relations.column_pruning import referenced_positions, referenced_types
from substrait_dsl.spark.relations.correlated_floats import distinguish_zeros
from substrait_dsl.spark.relations.expression_context import ExpressionContext, prepare_context, subqueries_of
from substrait_dsl.spark.relations.join_inputs import is_of_one_source
from substrait_dsl.spark.relations.join_strategies import JoinStrategy, keys_inside, test_of
from substrait_dsl.spark.relations.mark_joins import Key, Test, mark
from substrait_dsl.spark.relations.single_input import filter_rows
from substrait_dsl.spark.relations.single_joins import single_match, too_many
from substrait_dsl.spark.relations.tables import NAME, Item, Rows, items
from substrait_dsl.spark.relations.texts import TextTable

if TYPE_CHECKING:
    from substrait_dsl.spark.relations.input_lowering import InputLowering


def with_matches(
    rel: Join | LateralJoin,
    strategy: JoinStrategy,
    rows: Rows,
    here: ExpressionContext,
    values: Mapping[int, str],
    lowering: InputLowering,
) -> Rows:
    """Look up the rows of the probe side of a join, and return what the join type makes of the matches.

    Args:
        rel: the join.
        strategy: the probe side, and the method.
        rows: the rows of the probe side.
        here: the context of the look-ups.
        values: the columns that hold the values of subqueries in the condition, by the ids of these.
        lowering: the lowering that the join is part of.
    """
    other = rel.right if strategy.probe_side == "left" else rel.left
    found = Rows(*here.inside.lower_to_text(other))
    rows, outer = _outer_view(rel, strategy, rows, lowering)
    scope = Scope(strategy.order_by_input(outer, found), here.scope.outer, lambda subquery, _: values[id(subquery)])
    plain: list[Expression] = []
    others: list[Expression] = []
    for conjunct in conjuncts(rel.condition):
        is_plain = all(id(subquery) in values for subquery in subqueries_of(conjunct))
        (plain if is_plain else others).append(conjunct)
    tests = [test_of(conjunct, rel, strategy.probe_side, scope) for conjunct in plain if not is_true(conjunct)]
    inside = lowering.for_subquery(here.scope.outer)
    outer_columns = [
        *here.inside.outer_columns(other),
        *inside.outer_columns(rel.condition),
        *_referenced_columns([rel.condition], rel, strategy, outer),
    ]
    matches, carried = _carrying(found, outer, _referenced_columns(others, rel, strategy, outer), lowering)
    visible = strategy.order_by_input(carried, found)
    if strategy.method == "mark":
        return _with_mark(rel, strategy, rows, matches, tests, others, visible, outer_columns, inside, lowering)
    for test in tests:
        matches = Rows(matches.table.where(test.holds), matches.columns)
    for conjunct in others:
        matches = filter_rows(matches, conjunct, rel.anchor, inside, visible=visible)
    match = Rows(matches.table, found.columns)
    error = partial(too_many, rel, [test.outside for test in tests if isinstance(test, Key)])
    return _combine_matches(
        strategy, rows, match, outer_columns, lambda: single_match(rows, match, other, lowering, error)
    )


def _with_mark(
    rel: Join | LateralJoin,
    strategy: JoinStrategy,
    rows: Rows,
    matches: Rows,
    tests: Sequence[Key | Test],
    others: Sequence[Expression],
    visible: tuple[str, ...],
    outer_columns: Sequence[str],
    inside: InputLowering,
    lowering: InputLowering,
) -> Rows:
    """Add the mark column to rows of the probe side.

    Args:
        rel: the join.
        strategy: the probe side, and the method.
        rows: the rows of the probe side.
        matches: the rows of the build side.
        tests: the conjuncts without subqueries.
        others: the other conjuncts.
        visible: the columns of both inputs, as these see them.
        outer_columns: the columns of the outer row on which the matches depend.
        inside: lowers the look-up.
        lowering: the lowering that the join is part of.
    """
    probe_side, other = (rel.left, rel.right) if strategy.probe_side == "left" else (rel.right, rel.left)
    matches, there = prepare_context(inside, matches, rel.anchor, others, hoist=True, visible=visible)
    tests = [*tests, *(test_of(conjunct, rel, strategy.probe_side, there.scope) for conjunct in others)]
    fixed = not others and not any(node.free_anchors for node in (other, *keys_inside(rel)))
    marked = mark(_text(matches), tests, lowering.execution, outer_columns=outer_columns, fixed=fixed)
    # Inside a subquery the rows may end up above a union of the outer query.
    ready = (
        rows
        if not lowering.outer and is_of_one_source(probe_side, lowering.execution)
        else rows.with_optimizer_barrier()
    )
    return ready.append_columns([Item(marked, (lowering.execution.name(),))])


def _combine_matches(
    strategy: JoinStrategy, rows: Rows, match: Rows, outer_columns: Sequence[str], single: Callable[[], Rows]
) -> Rows:
    """Combine rows of the probe side with their matches.

    Args:
        strategy: the probe side, and the method.
        rows: the rows of the probe side.
        match: the matches of one row.
        outer_columns: the columns of the outer row on which these depend.
        single: looks up the only match of each row.
    """
    match strategy.method:
        case "inner" | "left":
            return Rows(rows.table.lateral(_text(match), strategy.method), strategy.order_by_input(rows, match))
        case "leftsemi":
            return Rows(rows.table.where(_text(match).exists(outer_columns=outer_columns)), rows.columns)
        case "leftanti":
            return Rows(rows.table.where(f"NOT {_text(match).exists(outer_columns=outer_columns)}"), rows.columns)
        case "single":
            only = single()
            return Rows(only.table, strategy.order_by_input(rows, only))
        case "mark" | "right" | "full" | "cross":
            raise AssertionError(f"{strategy.method}: no rows of one input, each with its matches")
        case never:
            assert_never(never)


def is_true(condition: Expression) -> bool:
    """Whether a condition is the constant true."""
    return isinstance(condition, Literal) and condition.value is True


def _outer_view(
    rel: Join | LateralJoin, strategy: JoinStrategy, rows: Rows, lowering: InputLowering
) -> tuple[Rows, Rows]:
    """Return the rows of the probe side, and the same with the columns that the look-up sees."""
    before, width = (0 if strategy.probe_side == "left" else len(rel.left.schema)), len(rows.columns)
    types = referenced_types([rel.condition], ROOT, into_relations=False)
    if rel.anchor is not None:
        types |= referenced_types([rel.condition], OuterReference(rel.anchor))
    own_types = {position - before: type_ for position, type_ in types.items() if 0 <= position - before < width}
    wide, columns = distinguish_zeros(rows, rows.columns, own_types, lowering.execution)
    return Rows(wide.table, rows.columns), Rows(wide.table, columns)


def _referenced_columns(
    expressions: Sequence[Expression], rel: Join | LateralJoin, strategy: JoinStrategy, rows: Rows
) -> list[str]:
    """Return the columns of the probe side to which expressions over both inputs refer, also from inside subqueries."""
    before = 0 if strategy.probe_side == "left" else len(rel.left.schema)
    positions = referenced_positions(expressions, rel.anchor)
    return [column for position, column in enumerate(rows.columns, before) if position in positions]


def _carrying(matches: Rows, rows: Rows, used: Sequence[str], lowering: InputLowering) -> tuple[Rows, Rows]:
    """Copy columns of the outer row into the rows that are looked up; return these, and the outer row's columns there.

    So a subquery in a condition finds both rows in one.
    """
    if not used:
        return matches, rows
    names = {name: lowering.execution.name() for column in used for name in NAME.findall(column)}
    copies = [Item(name, (copy,)) for name, copy in names.items()]
    table = matches.table.select([*items(matches.table.names), *copies])
    renamed = tuple(NAME.sub(lambda name: names.get(name[0], name[0]), column) for column in rows.columns)
    return Rows(table, (*matches.columns, *names.values())), Rows(rows.table, renamed)


def _text(rows: Rows) -> TextTable:
    assert isinstance(rows.table, TextTable)
    return rows.table
