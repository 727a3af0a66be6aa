"""Joins of old plans, which put out the columns of both sides (spec decisions 3 and 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import HashJoin, Join, LateralJoin, MergeJoin, NestedLoopJoin
from substrait_dsl.algebra.rules import JOIN_RULES
from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

AnyJoin = Join | LateralJoin | HashJoin | MergeJoin | NestedLoopJoin

_ONE_SIDE_SINCE = (0, 72, 0)
"""The version since which joins that preserve one side put out only that side."""


def decode_old_mapping(
    decoder: Decoder, rel: Rel, body: Any, mapping: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """Return the mapping of the emit over a join, in positions of the columns that it puts out today."""
    if not isinstance(rel, AnyJoin) or not _emits_both_sides(decoder, rel):
        return mapping
    if puts_out_both_sides(decoder, rel):
        return _without_absent_side(rel, mapping)
    text = f"a {rel.how} join of a plan older than 0.72 put out both sides, but not DataFusion's: read as today's"
    decoder.report(FindingCode.JOIN_SIDES, text, body)
    return mapping


def puts_out_both_sides(decoder: Decoder, join: AnyJoin) -> bool:
    """Whether a join puts out the columns of a dropped side, as in old plans.

    Those of DataFusion never did, whatever version they declare.
    """
    return not decoder.producer.mark_joins_keep_one_side and _emits_both_sides(decoder, join)


def _emits_both_sides(decoder: Decoder, join: AnyJoin) -> bool:
    rule = JOIN_RULES[join.how]
    return (0, 0, 0) < decoder.version < _ONE_SIDE_SINCE and (rule.left == "dropped" or rule.mark)


def _without_absent_side(join: AnyJoin, mapping: tuple[int, ...] | None) -> tuple[int, ...]:
    """Translate the mapping of an old join to current positions; it must not use the dropped side."""
    left, right = len(join.left.schema), len(join.right.schema)
    rule = JOIN_RULES[join.how]
    columns = range(left, left + right) if rule.left == "dropped" else range(left)
    new_positions = {old: new for new, old in enumerate((*columns, *((left + right,) if rule.mark else ())))}
    if mapping is None or not all(position in new_positions for position in mapping):
        raise UnsupportedError(
            f"a {join.how} join of a plan older than 0.72 puts out the columns of both sides; only what it keeps can "
            "be read, by an emit of no other columns"
        )
    return tuple(new_positions[position] for position in mapping)
