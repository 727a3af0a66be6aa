"""Joins of those types, and with those conditions, that an engine takes."""

from __future__ import annotations

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.node import Rel
from substrait_dsl.engines.lowering.calls import formed
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.shown import shown
from substrait_dsl.engines.lowering.terms import TRUE, column, columns, is_null


def form_join(rel: r.Join, to: Lowering) -> Rel:
    """A join of two inputs that have the forms of the engine."""
    left, right, how, condition = rel.left, rel.right, rel.how, rel.condition
    if how == "inner" and condition == TRUE and to.profile.takes("relations", "CROSS"):
        return r.Cross(left, right)
    if to.profile.takes("relations", "JOIN", how.upper()):
        return r.Join(left, right, how, condition)
    if how == "left_anti":
        return _anti(rel, to)
    raise to.refusal(f"a {how} join")


def _anti(rel: r.Join, to: Lowering) -> Rel:
    """The left rows that a left join gives no right row."""
    width, names = len(rel.left.schema), rel.left.schema.names
    marked = shown(rel.right, [*columns(rel.right), TRUE], [*rel.right.schema.names, "mark"])
    joined = r.Join(rel.left, marked, "left", rel.condition)
    without = r.Filter(joined, formed(is_null(column(joined, len(joined.schema) - 1)), to))
    return shown(without, columns(without, range(width)), names)
