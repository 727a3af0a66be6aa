"""Joins as messages of ``algebra.proto``: logical joins, and the parts that all joins share.

Specification: https://substrait.io/relations/logical_relations/#join-operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.rules import JOIN_RULES, JoinType
from substrait_dsl.algebra.types import Boolean
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import JOIN_TYPE, LATERAL_JOIN_TYPE, name_for
from substrait_dsl.proto.scopes import row_of

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

    FilteringJoin = rl.Join | rl.LateralJoin | rl.HashJoin | rl.MergeJoin
    """The joins with a post-join filter."""


def encode_join(encoder: Encoder, rel: rl.Join, message: pb.JoinRel) -> None:
    """Write a join."""
    encoder.relation(rel.left, message.left)
    encoder.relation(rel.right, message.right)
    message.type = JOIN_TYPE[rel.how]
    encoder.expression(rel.condition, message.expression)
    if rel.post_filter is not None:
        encoder.expression(rel.post_filter, message.post_join_filter)


def decode_join(decoder: Decoder, message: pb.JoinRel, outer: Scope | None) -> Rel:
    """Read a join."""
    left = decoder.relation(message.left, outer), message.left
    right = decoder.relation(message.right, outer), message.right
    how = name_for(JOIN_TYPE, message.type, pb.JoinRel.JoinType, "JoinRel.type")
    scope = row_of(decoder, message, outer, left, right)
    condition = _condition(decoder, message, scope)
    join = rl.Join(left[0], right[0], how, condition, anchor=scope.anchor)
    if decoder.producer.anti_joins_may_be_not_in and how in _ANTI and condition.type.nullable:
        text = f"a {how} join on keys that may be NULL may be NOT IN in {decoder.producer.title}: read as NOT EXISTS"
        decoder.report(FindingCode.ANTI_JOIN, text, message)
    return decode_post_filter(decoder, message, join, outer)


_ANTI: tuple[JoinType, ...] = ("left_anti", "right_anti")


def _condition(decoder: Decoder, message: pb.JoinRel | pb.LateralJoinRel, scope: Scope) -> Expression:
    """Read the join condition; without one all pairs match, as DataFusion writes a cross product."""
    if message.HasField("expression"):
        return decoder.expression(message.expression, scope)
    decoder.report(FindingCode.CONDITION_MISSING, "a join has no expression; read as one whose rows all match", message)
    return literal(True, Boolean())


def encode_lateral_join(encoder: Encoder, rel: rl.LateralJoin, message: pb.LateralJoinRel) -> None:
    """Write a lateral join; its left row always has an anchor (spec decision 28)."""
    encoder.relation(rel.left, message.left)
    encoder.number_row(rel.anchor, message.common)
    with encoder.right_of_lateral_join(rel.anchor):
        encoder.relation(rel.right, message.right)
    message.type = LATERAL_JOIN_TYPE[rel.how]
    encoder.expression(rel.condition, message.expression)
    if rel.post_filter is not None:
        encoder.expression(rel.post_filter, message.post_join_filter)


def decode_lateral_join(decoder: Decoder, message: pb.LateralJoinRel, outer: Scope | None) -> Rel:
    """Read a lateral join: its right input sees the left row as an outer row."""
    left = decoder.relation(message.left, outer), message.left
    row = row_of(decoder, message, outer, left)
    row.lateral = True
    right = decoder.relation(message.right, row), message.right
    how = name_for(LATERAL_JOIN_TYPE, message.type, pb.JoinRel.JoinType, "LateralJoinRel.type")
    scope = row_of(decoder, message, outer, left, right)
    scope.anchor = row.anchor  # one number serves the left row and, in subqueries of the condition, the row of both
    condition = _condition(decoder, message, scope)
    join = rl.LateralJoin(left[0], right[0], how, condition, anchor=scope.anchor)
    return decode_post_filter(decoder, message, join, outer)


def encode_cross(encoder: Encoder, rel: rl.Cross, message: pb.CrossRel) -> None:
    """Write a cross product."""
    encoder.relation(rel.left, message.left)
    encoder.relation(rel.right, message.right)


def decode_cross(decoder: Decoder, message: pb.CrossRel, outer: Scope | None) -> rl.Cross:
    """Read a cross product."""
    return rl.Cross(decoder.relation(message.left, outer), decoder.relation(message.right, outer))


def decode_post_filter(
    decoder: Decoder,
    message: pb.JoinRel | pb.LateralJoinRel | pb.HashJoinRel | pb.MergeJoinRel,
    join: FilteringJoin,
    outer: Scope | None,
) -> Rel:
    """Return the join with its post-join filter, if it has one, which sees the output row."""
    if not message.HasField("post_join_filter"):
        return join
    from substrait_dsl.proto.old_joins import puts_out_both_sides  # not needed for writing

    if puts_out_both_sides(decoder, join):
        raise UnsupportedError(
            f"a {join.how} join of a plan older than 0.72 cannot be read if it has a post_join_filter"
        )
    rule = JOIN_RULES[join.how]
    sides = ((join.left, message.left), rule.left), ((join.right, message.right), rule.right)
    visible = [side for side, what in sides if what != "dropped"]
    scope = row_of(decoder, message, outer, *visible, types=join.schema.types)
    post_filter = decoder.expression(message.post_join_filter, scope)
    if scope.anchor is None:
        return attrs.evolve(join, post_filter=post_filter)
    # A subquery in it refers to the row that is put out; the anchor of a join means the row that its condition sees.
    return rl.Filter(join, post_filter, anchor=scope.anchor)
