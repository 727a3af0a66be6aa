"""Window functions as messages of ``algebra.proto``.

Specification: https://substrait.io/expressions/window_functions/. ``ConsistentPartitionWindowRel`` holds calls in a
message of its own with the same fields, ``WindowRelFunction``: `encode_window_call` and `decode_window_call` are for
both.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.catalog import Open, Typed
from substrait_dsl.catalog.function_requirements import distance_type, is_known
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.calls import (
    decode_arguments,
    decode_form,
    decode_invocation,
    decode_options,
    decode_phase,
    decode_sort_key,
    encode_arguments,
    encode_options,
    encode_sort_key,
)
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import AGGREGATION_INVOCATION, AGGREGATION_PHASE, name_for, numbers
from substrait_dsl.proto.types import encode_type

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

CallMessage = pb.Expression.WindowFunction | pb.ConsistentPartitionWindowRel.WindowRelFunction
BoundMessage = pb.Expression.WindowFunction.Bound
DistanceMessage = pb.Expression.WindowFunction.Bound.Preceding | pb.Expression.WindowFunction.Bound.Following

_COUNT = t.I64()  # the type of the deprecated field `offset`

BOUNDS_TYPE: dict[ex.BoundsType, pb.Expression.WindowFunction.BoundsType.ValueType] = numbers(
    pb.Expression.WindowFunction.BoundsType, "BOUNDS_TYPE", ex.BOUNDS_TYPES
)


def encode_window_function(
    encoder: Encoder, function: ex.WindowFunction, message: pb.Expression.WindowFunction
) -> None:
    """Write a window function with its window."""
    encode_window_call(encoder, function.call, message)
    for partition in function.partitions:
        encoder.expression(partition, message.partitions.add())
    for key in function.sorts:
        encode_sort_key(encoder, key, message.sorts.add())


def decode_window_function(decoder: Decoder, message: pb.Expression.WindowFunction, scope: Scope) -> ex.Expression:
    """Read a window function with its window, or the expression that its producer means by it."""
    sorts = tuple(decode_sort_key(decoder, key, scope) for key in message.sorts)
    function = ex.WindowFunction(
        decode_window_call(decoder, message, scope, sorts),
        tuple(decoder.expression(partition, scope) for partition in message.partitions),
        sorts,
    )
    return decoder.producer.window_value(decoder, function, message)


def encode_window_call(encoder: Encoder, call: ex.WindowCall, message: CallMessage) -> None:
    """Write a window call; phase, invocation, both bounds and their type are always written."""
    message.function_reference = encoder.declarations.function(call.function)
    encode_arguments(encoder, call.arguments, message.arguments)
    encode_options(call.options, message.options)
    encode_type(encoder.declarations, call.output_type, message.output_type)
    message.phase = AGGREGATION_PHASE[call.phase]
    message.invocation = AGGREGATION_INVOCATION[call.invocation]
    message.bounds_type = BOUNDS_TYPE[call.bounds_type]  # spec decision 31
    encode_bound(encoder, call.lower, message.lower_bound)
    encode_bound(encoder, call.upper, message.upper_bound)


def decode_window_call(
    decoder: Decoder, message: CallMessage, scope: Scope, sorts: tuple[ex.SortKey, ...]
) -> ex.WindowCall:
    """Read a window call, or an aggregate function over a frame; `sorts` are those of its window."""
    from substrait_dsl.proto.functions import decode_function  # not needed for writing

    declared, arguments = decode_form(decoder, message, decode_arguments(decoder, message.arguments, scope))
    phase = decode_phase(decoder, message)
    function, arguments, type_ = decode_function(decoder, message, arguments, ("window", "aggregate"), phase, declared)
    counted = decode_bounds_type(decoder, message)
    key = sorts[0].expression.type if counted == "range" and len(sorts) == 1 else None
    return ex.WindowCall(
        function,
        arguments,
        type_,
        decode_options(decoder, message.options, function),
        decode_bound(decoder, message.lower_bound, scope, key),
        decode_bound(decoder, message.upper_bound, scope, key),
        counted,
        decode_invocation(message),
        phase,
    )


def decode_bounds_type(decoder: Decoder, message: CallMessage) -> ex.BoundsType:
    """Read the bounds type; without offsets the default makes no difference (spec decision 31)."""
    if message.bounds_type != pb.Expression.WindowFunction.BOUNDS_TYPE_UNSPECIFIED:
        name = f"{message.DESCRIPTOR.name}.bounds_type"
        return name_for(BOUNDS_TYPE, message.bounds_type, pb.Expression.WindowFunction.BoundsType, name)
    bounds = [bound.WhichOneof("kind") for bound in (message.lower_bound, message.upper_bound)]
    if "preceding" in bounds or "following" in bounds:
        raise PlanFormatError(
            "a frame with an offset does not set its bounds_type: whether the offset counts rows or is added to the "
            "sort key"
        )
    decoder.report(
        FindingCode.BOUNDS_TYPE, f"{message.DESCRIPTOR.name} does not set its bounds_type; read as rows", message
    )
    return "rows"


# --- bounds


def encode_bound(encoder: Encoder, bound: ex.Bound, message: BoundMessage) -> None:
    """Write a bound of a frame."""
    if bound.offset is None:
        getattr(message, bound.kind).SetInParent()
        return
    distance: DistanceMessage = getattr(message, bound.kind)
    encoder.expression(bound.offset, distance.offset_expr)
    if isinstance(bound.offset, ex.Literal) and bound.offset.type == _COUNT:
        distance.offset = bound.offset.value  # deprecated, but older consumers know no other


def decode_bound(decoder: Decoder, message: BoundMessage, scope: Scope, key: t.Type | None) -> ex.Bound:
    """Read where a frame begins or ends: unsaid, where the partition does (spec decision 32).

    Args:
        decoder: the state of decoding.
        message: the bound.
        scope: what expressions see.
        key: the type of the sort key that offsets are added to; None if they count rows.

    Raises:
        TypeMismatchError: for an offset that cannot be added to the key.
    """
    with decoder.part(message):
        bound_type = message.WhichOneof("kind")
        if bound_type is None or bound_type == "unbounded":
            return ex.UNBOUNDED
        if bound_type == "current_row":
            return ex.CURRENT_ROW
        offset = _decode_offset(decoder, getattr(message, bound_type), scope)
        if ex.is_zero(offset):
            decoder.report(FindingCode.BOUND_ZERO, f"a frame has a bound {bound_type} 0; read as current_row", message)
            return ex.CURRENT_ROW
        return ex.Bound(
            bound_type, offset if key is None else _offset_literal(decoder, offset, key, getattr(message, bound_type))
        )


def _decode_offset(decoder: Decoder, message: DistanceMessage, scope: Scope) -> ex.Expression:
    """Read the offset of a bound, from the current field or the deprecated one."""
    if not message.HasField("offset_expr"):
        return ex.Literal(message.offset, _COUNT)
    offset = decoder.expression(message.offset_expr, scope)
    if message.offset and not (isinstance(offset, ex.Literal) and offset.value == message.offset):
        raise PlanFormatError(f"the offset of a bound is {message.offset}, but its offset_expr says something else")
    return offset


def _offset_literal(decoder: Decoder, offset: ex.Expression, key: t.Type, message: DistanceMessage) -> ex.Expression:
    """Return an offset that is added to a sort key; the deprecated field has no type, so the fitting one is used."""
    if not is_known(decoder.catalog, key) or not is_known(decoder.catalog, offset.type):
        return offset
    if message.HasField("offset_expr"):
        distance_type(decoder.catalog, key, Typed(offset.type))
        return offset
    number: int = message.offset
    decimal = ex.natural_type(Decimal(number))
    untyped = Open(_COUNT, partial(ex.fits, number), also=(decimal,), integer=number, text=str(number))
    return ex.literal(number, distance_type(decoder.catalog, key, untyped).as_required())
