"""Lateral joins: the right input is a correlated subquery over the left row.

Specification: ``LateralJoinRel`` in ``algebra.proto``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import Unnest
from substrait_dsl.spark.expressions.templates import require_comparable
from substrait_dsl.spark.relations.correlated_limits import exact_limits
from substrait_dsl.spark.relations.expression_context import prepare_context
from substrait_dsl.spark.relations.join_strategies import JOIN_STRATEGIES, require_computed_for_pairs
from substrait_dsl.spark.relations.lookups import is_true, with_matches
from substrait_dsl.spark.relations.single_input import filter_rows
from substrait_dsl.spark.relations.tables import Rows

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import LateralJoin
    from substrait_dsl.spark.relations.input_lowering import InputLowering


def lower_lateral_join(rel: LateralJoin, lowering: InputLowering) -> Rows:
    """Compute the right input for each left row, match its rows, then apply the post-join filter."""
    require_computed_for_pairs(rel)
    _require_comparable_lists(rel)
    rows, here = prepare_context(lowering, lowering[rel.left], rel.anchor, [], lookups=[rel.condition, rel.right])
    if is_true(rel.condition):
        here.inside.exact_limits = exact_limits([rel.right])
    # Of one row there is no second match to look for.
    strategy = JOIN_STRATEGIES["left" if rel.how == "left_single" and rel.right.single_row else rel.how]
    rows = with_matches(rel, strategy, rows, here, {}, lowering)
    return rows if rel.post_filter is None else filter_rows(rows, rel.post_filter, rel.anchor, lowering)


def _require_comparable_lists(rel: LateralJoin) -> None:
    """Raise `UnsupportedError` for lists of the left row that Spark cannot compare: decorrelation groups by them."""
    for node in walk(rel.right):
        if isinstance(node, Unnest) and rel.anchor in node.free_anchors:
            require_comparable(node.input.schema.types[node.column], "an unnest in a lateral join")
