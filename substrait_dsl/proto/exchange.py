"""Exchanges and captures as messages of ``algebra.proto``.

Specification: https://substrait.io/relations/physical_relations/#exchange-operator. A constrained single bucket has no
field (spec decision 10): a private extension beside it has one. The captures have no message: each is an
``ExtensionSingleRel`` with a private message as its detail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.extensions import decode_any, encode_any
from substrait_dsl.proto.private_extensions import (
    Choices,
    boolean_value,
    decode_choices,
    encode_choices,
    message_of,
    read_choice,
)
from substrait_dsl.proto.references import decode_reference, encode_reference
from substrait_dsl.proto.scopes import row_of

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_exchange(encoder: Encoder, rel: rl.Exchange, message: pb.ExchangeRel) -> None:
    """Write an exchange; no partition count is 0."""
    encoder.relation(rel.input, message.input)
    message.partition_count = rel.partition_count or 0
    for target in rel.targets:
        encode_exchange_target(target, message.targets.add())
    encode_partitioning(encoder, rel.kind, message)
    if isinstance(rel.kind, rl.SingleBucket) and rel.kind.constrained:
        encode_choices({"constrained_to_count": True}, message.common)


def decode_exchange(decoder: Decoder, message: pb.ExchangeRel, outer: Scope | None) -> rl.Exchange:
    """Read an exchange."""
    rel = decoder.relation(message.input, outer)
    scope = row_of(decoder, message, outer, (rel, message.input))
    partitioning = decode_partitioning(decoder, message, scope)
    targets = tuple(decode_exchange_target(decoder, target) for target in message.targets)
    return rl.Exchange(rel, partitioning, message.partition_count or None, targets, anchor=scope.anchor)


def encode_partitioning(encoder: Encoder, partitioning: rl.ExchangeKind, message: pb.ExchangeRel) -> None:
    """Write the partitioning of an exchange."""
    match partitioning:
        case rl.Scatter(fields):
            for field in fields:
                encode_reference(encoder, field, message.scatter_by_fields.fields.add())
        case rl.SingleBucket(expression):  # whether it is constrained is in the private extension
            encoder.expression(expression, message.single_target.expression)
        case rl.MultiBucket(expression, constrained):
            encoder.expression(expression, message.multi_target.expression)
            message.multi_target.constrained_to_count = constrained
        case rl.RoundRobin(exact):
            message.round_robin.SetInParent()
            message.round_robin.exact = exact
        case rl.Broadcast():
            message.broadcast.SetInParent()
        case _:
            assert_never(partitioning)


def decode_partitioning(decoder: Decoder, message: pb.ExchangeRel, scope: Scope) -> rl.ExchangeKind:
    """Read the partitioning of an exchange."""
    match message.WhichOneof("exchange_kind"):
        case "scatter_by_fields":
            fields = message.scatter_by_fields.fields
            return rl.Scatter(tuple(decode_reference(decoder, field, scope) for field in fields))
        case "single_target":
            bucket = decoder.expression(message.single_target.expression, scope)
            choices = decode_choices(message.common)
            return rl.SingleBucket(bucket, read_choice("constrained_to_count", choices, boolean_value, default=False))
        case "multi_target":
            target = message.multi_target
            return rl.MultiBucket(decoder.expression(target.expression, scope), target.constrained_to_count)
        case "round_robin":
            return rl.RoundRobin(message.round_robin.exact)
        case "broadcast":
            return rl.Broadcast()
        case None:
            raise PlanFormatError("an exchange does not set its exchange_kind")
        case partitioning:
            assert_never(partitioning)


def encode_exchange_target(target: rl.ExchangeTarget, message: pb.ExchangeRel.ExchangeTarget) -> None:
    """Write a target of some partitions."""
    message.partition_id.extend(target.partition_ids)
    if isinstance(target.destination, str):
        message.uri = target.destination
    else:
        encode_any(target.destination, message.extended)


def decode_exchange_target(decoder: Decoder, message: pb.ExchangeRel.ExchangeTarget) -> rl.ExchangeTarget:
    """Read a target of some partitions."""
    match message.WhichOneof("target_type"):
        case "uri":
            return rl.ExchangeTarget(message.uri, tuple(message.partition_id))
        case "extended":
            return rl.ExchangeTarget(decode_any(message.extended), tuple(message.partition_id))
        case _:
            decoder.mark_location(message)
            raise PlanFormatError("a target of an exchange must set uri or extended")


# --- captures


def encode_capture(encoder: Encoder, rel: rl.MergingCapture | rl.SimpleCapture, message: pb.ExtensionSingleRel) -> None:
    """Write a capture."""
    encoder.relation(rel.input, message.input)
    choices: Choices = {"capture": "simple"}
    if isinstance(rel, rl.MergingCapture):
        choices = {"capture": "merging", "blocking": rel.blocking}
    encode_any(message_of(choices), message.detail)


def decode_capture(rel: Rel, choices: Choices) -> rl.MergingCapture | rl.SimpleCapture:
    """Read a capture of the rows of a relation."""
    match choices:
        case {"capture": "simple", **others} if not others:
            return rl.SimpleCapture(rel)
        case {"capture": "merging", "blocking": bool() as blocking, **others} if not others:
            return rl.MergingCapture(rel, blocking)
        case _:
            raise PlanFormatError(f"an extension_single of ours cannot be understood: {dict(choices)}")
