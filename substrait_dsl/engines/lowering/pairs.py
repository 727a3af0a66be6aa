"""Joins of the types and conditions that an engine takes."""

from __future__ import annotations

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel
from substrait_dsl.engines.lowering.calls import to_form
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.keyed import keyed_join
from substrait_dsl.engines.lowering.shown import merge_projection
from substrait_dsl.engines.lowering.terms import TRUE, column, columns, conjunction, is_null, same, shift_fields


def form_join(rel: rl.Join, lowering: Lowering) -> Rel:
    """Return a join of two inputs that have the forms of the engine."""
    if lowering.profile.has_form("joins_by_one_key"):
        return keyed_join(rel, lowering)
    left, right, how, condition = rel.left, rel.right, rel.how, to_form(rel.condition, lowering)
    if how == "inner" and condition == TRUE and lowering.profile.takes("relations", "CROSS"):
        return rl.Cross(left, right)
    if lowering.profile.takes("relations", "JOIN", how.upper()):
        return rl.Join(left, right, how, condition)
    if how == "left_anti":
        return _anti(rel, lowering)
    if how == "left_semi":
        return _semi(rel, lowering)
    raise lowering.refusal(f"a {how} join")


def _anti(rel: rl.Join, lowering: Lowering) -> Rel:
    """Return the left rows without a match of a left join."""
    width, names = len(rel.left.schema), rel.left.schema.names
    marked = merge_projection(rel.right, [*columns(rel.right), TRUE], [*rel.right.schema.names, "mark"], lowering)
    joined = rl.Join(rel.left, marked, "left", to_form(rel.condition, lowering))
    without = rl.Filter(joined, to_form(is_null(column(joined, len(joined.schema) - 1)), lowering))
    return merge_projection(without, columns(without, range(width)), names, lowering)


def _semi(rel: rl.Join, lowering: Lowering) -> Rel:
    """Return the left rows that equal none of the rows without a match."""
    width = len(rel.left.schema)
    without = _anti(rel, lowering)
    tests = [same(column(rel.left, n), shift_fields(column(without, n), width)) for n in range(width)]
    return _anti(rl.Join(rel.left, without, "left_anti", conjunction(tests)), lowering)
