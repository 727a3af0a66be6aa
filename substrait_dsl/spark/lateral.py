"""Lateral joins: the right input is a subquery, which sees the left row.

Specification: ``LateralJoinRel`` in ``algebra.proto``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.expressions import Expression, Literal
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import Unnest
from substrait_dsl.spark.hosts import host
from substrait_dsl.spark.join_plans import PLANS, Method
from substrait_dsl.spark.joins import look_up, with_mark
from substrait_dsl.spark.limits import exact_limits
from substrait_dsl.spark.marks import Test, mark
from substrait_dsl.spark.pruning import positions_seen
from substrait_dsl.spark.pushdown import as_condition
from substrait_dsl.spark.relations import filtered
from substrait_dsl.spark.tables import Rows
from substrait_dsl.spark.templates import require_comparable
from substrait_dsl.spark.texts import TextTable

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import LateralJoin
    from substrait_dsl.spark.lowering import Lowering


def lower_lateral_join(rel: LateralJoin, to: Lowering) -> Rows:
    """Compute the right input for each row, keep of it what matches, then filter what comes out."""
    _require_comparable_lists(rel)
    rows, here = host(to, to[rel.left], rel.anchor, [], lookups=[rel.condition, rel.right])
    if _is_true(rel.condition):
        here.inside.exact_limits = exact_limits([rel.right])
    table, found = here.inside.text(rel.right)
    seen = rows.columns + found
    inside = to.nested(here.scope.outer if rel.anchor is None else {**here.scope.outer, rel.anchor: seen})
    compared = (seen[position] for position in positions_seen([rel.condition], None))
    used = [*here.inside.outside(rel.right), *inside.outside(rel.condition), *compared]
    outside = [column for column in used if column not in found]
    match rel.how:
        case "left_mark":
            matches, there = host(inside, Rows(table, found), None, [rel.condition], hoist=True, visible=seen)
            text = there.sql(rel.condition)
            test = Test(text, rel.condition.type.nullable, as_condition(text, rel.condition))
            rows = with_mark(rows, mark(_text(matches), [test], to.space, outside=outside, fixed=False), to)
        case how:
            # Of one row there is no second match to look for.
            method: Method = "left" if how == "left_single" and rel.right.single_row else PLANS[how].method
            matches = Rows(table, found)
            if not _is_true(rel.condition):
                matches = filtered(matches, rel.condition, None, inside, visible=seen)
            made, matched = look_up(rows, matches, method, rel.right, outside, to)
            rows = Rows(made, rows.columns + matched)
    return rows if rel.post_filter is None else filtered(rows, rel.post_filter, rel.anchor, to)


def _require_comparable_lists(rel: LateralJoin) -> None:
    """Raise `UnsupportedError` for lists of the left row that Spark cannot compare: it groups the rows by them."""
    for node in walk(rel.right):
        if isinstance(node, Unnest) and rel.anchor in node.free_anchors:
            require_comparable(node.input.schema.types[node.column], "an unnest in a lateral join")


def _is_true(condition: Expression) -> bool:
    return isinstance(condition, Literal) and condition.value is True


def _text(rows: Rows) -> TextTable:
    assert isinstance(rows.table, TextTable)
    return rows.table
