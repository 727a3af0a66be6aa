"""Physical joins as messages of ``algebra.proto``.

Specification: https://substrait.io/relations/physical_relations/#hash-equijoin-operator and its neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import (
    KEY_COMPARISONS,
    BuildSide,
    HashJoin,
    JoinKey,
    KeyComparison,
    MergeJoin,
    NestedLoopJoin,
)
from substrait_dsl.algebra.rules import JOIN_TYPES, JoinType
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog.function_requirements import require_match
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import name_for, numbers
from substrait_dsl.proto.joins import decode_post_filter
from substrait_dsl.proto.references import decode_reference, encode_reference
from substrait_dsl.proto.scopes import Scope, row_of

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

PHYSICAL_JOIN_TYPE: dict[JoinType, Any] = numbers(pb.HashJoinRel.JoinType, "JOIN_TYPE", JOIN_TYPES)
"""The types of ``HashJoinRel``, ``MergeJoinRel`` and ``NestedLoopJoinRel``, which have the same numbers."""

KEY_COMPARISON: dict[KeyComparison, pb.ComparisonJoinKey.SimpleComparisonType.ValueType] = numbers(
    pb.ComparisonJoinKey.SimpleComparisonType, "SIMPLE_COMPARISON_TYPE", KEY_COMPARISONS
)

BUILD_INPUT: dict[BuildSide, pb.HashJoinRel.BuildInput.ValueType] = numbers(
    pb.HashJoinRel.BuildInput, "BUILD_INPUT", get_args(BuildSide)
)


def encode_hash_join(encoder: Encoder, rel: HashJoin, message: pb.HashJoinRel) -> None:
    """Write a hash join."""
    encode_key_join(encoder, rel, message)
    message.build_input = BUILD_INPUT[rel.build]


def decode_hash_join(decoder: Decoder, message: pb.HashJoinRel, outer: Scope | None) -> Rel:
    """Read a hash join; the default build input is the right one."""
    build: BuildSide = "right"
    if message.build_input != pb.HashJoinRel.BUILD_INPUT_UNSPECIFIED:
        build = name_for(BUILD_INPUT, message.build_input, pb.HashJoinRel.BuildInput, "HashJoinRel.build_input")
    left, right = decoder.relation(message.left, outer), decoder.relation(message.right, outer)
    how = name_for(PHYSICAL_JOIN_TYPE, message.type, pb.HashJoinRel.JoinType, "HashJoinRel.type")
    keys = decode_join_keys(decoder, message, left, right)
    scope = row_of(decoder, message, outer, (left, message.left), (right, message.right))
    residual = (
        decoder.expression(message.residual_expression, scope) if message.HasField("residual_expression") else None
    )
    join = HashJoin(left, right, how, keys, residual, build=build, anchor=scope.anchor)
    return decode_post_filter(decoder, message, join, outer)


def encode_key_join(encoder: Encoder, rel: HashJoin | MergeJoin, message: pb.HashJoinRel | pb.MergeJoinRel) -> None:
    """Write the common fields of a hash join and a merge join."""
    encoder.relation(rel.left, message.left)
    encoder.relation(rel.right, message.right)
    message.type = PHYSICAL_JOIN_TYPE[rel.how]
    for key in rel.keys:
        encode_join_key(encoder, key, message.keys.add())
    if rel.residual is not None:
        encoder.expression(rel.residual, message.residual_expression)
    if rel.post_filter is not None:
        encoder.expression(rel.post_filter, message.post_join_filter)


def decode_merge_join(decoder: Decoder, message: pb.MergeJoinRel, outer: Scope | None) -> Rel:
    """Read a merge join."""
    left, right = decoder.relation(message.left, outer), decoder.relation(message.right, outer)
    how = name_for(PHYSICAL_JOIN_TYPE, message.type, pb.MergeJoinRel.JoinType, "MergeJoinRel.type")
    keys = decode_join_keys(decoder, message, left, right)
    scope = row_of(decoder, message, outer, (left, message.left), (right, message.right))
    residual = (
        decoder.expression(message.residual_expression, scope) if message.HasField("residual_expression") else None
    )
    join = MergeJoin(left, right, how, keys, residual, anchor=scope.anchor)
    return decode_post_filter(decoder, message, join, outer)


def encode_nested_loop_join(encoder: Encoder, rel: NestedLoopJoin, message: pb.NestedLoopJoinRel) -> None:
    """Write a nested loop join; without a condition it is true."""
    encoder.relation(rel.left, message.left)
    encoder.relation(rel.right, message.right)
    message.type = PHYSICAL_JOIN_TYPE[rel.how]
    if rel.condition is not None:
        encoder.expression(rel.condition, message.expression)


def decode_nested_loop_join(decoder: Decoder, message: pb.NestedLoopJoinRel, outer: Scope | None) -> NestedLoopJoin:
    """Read a nested loop join."""
    left, right = decoder.relation(message.left, outer), decoder.relation(message.right, outer)
    how = name_for(PHYSICAL_JOIN_TYPE, message.type, pb.NestedLoopJoinRel.JoinType, "NestedLoopJoinRel.type")
    scope = row_of(decoder, message, outer, (left, message.left), (right, message.right))
    condition = decoder.expression(message.expression, scope) if message.HasField("expression") else None
    return NestedLoopJoin(left, right, how, condition, anchor=scope.anchor)


# --- keys


def encode_join_key(encoder: Encoder, key: JoinKey, message: pb.ComparisonJoinKey) -> None:
    """Write a join key: a reference to each input, and their comparison."""
    encode_reference(encoder, key.left, message.left)
    encode_reference(encoder, key.right, message.right)
    if isinstance(key.comparison, FunctionId):
        message.comparison.custom_function_reference = encoder.declarations.function(key.comparison)
    else:
        message.comparison.simple = KEY_COMPARISON[key.comparison]


def decode_join_keys(
    decoder: Decoder, message: pb.HashJoinRel | pb.MergeJoinRel, left: Rel, right: Rel
) -> tuple[JoinKey, ...]:
    """Read the keys of a join; each side sees its own input only."""
    rows = Scope(left.schema.types, None), Scope(right.schema.types, None)
    keys: list[JoinKey] = []
    for key in message.keys:
        with decoder.part(key):
            left_side = decode_reference(decoder, key.left, rows[0])
            right_side = decode_reference(decoder, key.right, rows[1])
            comparison = decode_key_comparison(decoder, key.comparison, (left_side.type, right_side.type))
            keys.append(JoinKey(left_side, right_side, comparison))
    return tuple(keys)


def decode_key_comparison(
    decoder: Decoder, message: pb.ComparisonJoinKey.ComparisonType, sides: tuple[Type, Type]
) -> KeyComparison | FunctionId:
    """Read the comparison of the two sides of a key."""
    from substrait_dsl.proto.functions import decode_comparison  # not needed for writing

    match message.WhichOneof("inner_type"):
        case "simple":
            enum = pb.ComparisonJoinKey.SimpleComparisonType
            return name_for(KEY_COMPARISON, message.simple, enum, "ComparisonType.simple")
        case "custom_function_reference":
            return decode_comparison(decoder, message, message.custom_function_reference, sides, require_match)
        case _:
            raise PlanFormatError("a join key must set simple or custom_function_reference")
