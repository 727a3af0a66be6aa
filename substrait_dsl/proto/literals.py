"""Literals as ``Expression.Literal`` messages.

Specification: ``Expression.Literal`` in ``algebra.proto``.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

import attrs
from substrait import algebra_pb2 as pb
from substrait import type_pb2 as types_pb

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal, literal
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.errors import LiteralError, PlanFormatError, SubstraitDslError
from substrait_dsl.proto.declarations import Declarations
from substrait_dsl.proto.extensions import decode_any, encode_any
from substrait_dsl.proto.times import (
    decode_date,
    decode_interval_compound,
    decode_interval_day,
    decode_interval_year,
    decode_precision_time,
    decode_precision_timestamp,
    decode_precision_timestamp_tz,
    encode_date,
    encode_interval_compound,
    encode_interval_day,
    encode_interval_year,
    encode_precision_time,
    encode_precision_timestamp,
    encode_precision_timestamp_tz,
)
from substrait_dsl.proto.types import (
    decode_type,
    decode_type_body,
    decode_type_parameters,
    encode_type,
    encode_type_body,
    encode_type_parameters,
    report_user_defined,
)

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

LiteralEncoder = Callable[[Declarations, Any, Any, pb.Expression.Literal], None]
"""Writes a value (not NULL) of a type into a message: declarations, value, type, message."""

LiteralDecoder = Callable[["Decoder", Any], Literal]
"""Reads the field of a literal, as a literal of a required type."""

_EXACT = Context(prec=76)


def encode_literal(declarations: Declarations, literal: Literal, message: pb.Expression.Literal) -> None:
    """Write a literal; NULL as a ``null`` of its type."""
    type_ = literal.literal_type
    if literal.value is None:
        encode_type(declarations, type_, message.null)
        return
    field = SCALAR_FIELDS.get(type(type_))
    if field is not None:
        value = literal.value
        setattr(message, field, value if value == value else math.nan)  # all NaNs are one constant
    else:
        COMPOSITE_ENCODERS[type(type_)](declarations, literal.value, type_, message)
    if type_.nullable:
        message.nullable = True
    if type_.variation is not None:
        message.type_variation_reference = declarations.variation(type_.variation)


def decode_literal(decoder: Decoder, message: pb.Expression.Literal) -> Literal:
    """Read a literal."""
    try:
        field = message.WhichOneof("literal_type")
        if field is None:
            raise PlanFormatError("a literal has no value")
        if message.type_variation_reference and (large := _large_unsigned(decoder, field, message)) is not None:
            return large
        read = LITERAL_DECODERS[field](decoder, getattr(message, field))
        if field in _SAY_THEIR_TYPE:
            if message.nullable and not read.type.nullable:
                decoder.report(
                    FindingCode.NULLABILITY_MISSING,
                    f"a literal is nullable, its type {read.type} is not: taken for its type's word",
                    message,
                )
            return read
        if not message.nullable and not message.type_variation_reference:
            return read
        variation = decoder.variation(message.type_variation_reference, read.type.keyword, message)
        if variation is None and message.type_variation_reference:
            _require_same_number(read, message.type_variation_reference)
        return Literal(read.value, attrs.evolve(read.literal_type, nullable=message.nullable, variation=variation))
    except SubstraitDslError:
        decoder.mark_location(message)
        raise


def _large_unsigned(decoder: Decoder, field: str, message: pb.Expression.Literal) -> Literal | None:
    """Return an unsigned integer that does not fit a signed one: DataFusion writes the bits."""
    reference = message.type_variation_reference
    name = decoder.meant_unsigned(reference, field)
    if name is None:
        return None
    bits = t.UNSIGNED_BITS[name]
    value = getattr(message, field) % 2**bits
    if value < 2 ** (bits - 1):
        return None
    text = f"a literal is of type variation {reference} of {field}, which is not declared: read as {value}, of {name}"
    decoder.report(FindingCode.TYPE_UNSIGNED, text, message)
    return literal(value, t.UserDefined(t.UNSIGNED_URN, name, nullable=message.nullable))


def _require_same_number(read: Literal, variation: int) -> None:
    """Raise `LiteralError` for an integer that an undeclared type variation may change.

    DataFusion writes unsigned integers as the signed ones of the same bits.
    """
    if isinstance(read.value, int) and read.value < 0:
        raise LiteralError(
            f"a literal is {read.value}, of the type variation {variation} of {read.type}, which the plan does not "
            "declare: of an unsigned type it would be another number"
        )


def decode_null(decoder: Decoder, message: types_pb.Type) -> Literal:
    """Read a NULL."""
    return literal(None, decode_type(decoder, message))


SCALAR_FIELDS: dict[type[t.Type], str] = {
    t.Boolean: "boolean",
    t.I8: "i8",
    t.I16: "i16",
    t.I32: "i32",
    t.I64: "i64",
    t.FP32: "fp32",
    t.FP64: "fp64",
    t.String: "string",
    t.Binary: "binary",
    t.FixedChar: "fixed_char",
    t.FixedBinary: "fixed_binary",
}
"""The literals whose field takes the Python value."""


_CHECKED_BY_PROTOBUF = frozenset((t.Boolean, t.I32, t.I64, t.FP64, t.String, t.Binary))
"""The types whose field holds only valid values."""


def _decode_scalar(class_: type[t.Type]) -> LiteralDecoder:
    if class_ in t.LENGTH_TYPES:  # as long as the value
        return lambda _, value: literal(value, class_(len(value)))
    simple = class_()
    if class_ in _CHECKED_BY_PROTOBUF:
        return lambda _, value: Literal(value, simple)
    return lambda _, value: literal(value, simple)


def encode_uuid(_: Declarations, value: Any, type_: t.UUID, message: pb.Expression.Literal) -> None:
    """Write a UUID: its 16 bytes."""
    message.uuid = value.bytes


def decode_uuid(_: Decoder, value: bytes) -> Literal:
    """Read a UUID."""
    return literal(uuid.UUID(bytes=_sixteen(value, "UUID")), t.UUID())


def _sixteen(value: bytes, what: str) -> bytes:
    if len(value) != 16:
        raise LiteralError(f"a {what} is written in 16 bytes, not {len(value)}")
    return value


def encode_var_char(_: Declarations, value: str, type_: t.VarChar, message: pb.Expression.Literal) -> None:
    """Write a string with the length of its type."""
    message.var_char.value = value
    message.var_char.length = type_.length


def decode_var_char(_: Decoder, message: pb.Expression.Literal.VarChar) -> Literal:
    """Read a string with the length of its type."""
    return literal(message.value, t.VarChar(message.length))


def encode_decimal(_: Declarations, value: Any, type_: t.Decimal, message: pb.Expression.Literal) -> None:
    """Write a decimal: its unscaled value as 16 bytes, little-endian two's complement."""
    unscaled = int(value.scaleb(type_.scale, _EXACT))
    message.decimal.value = unscaled.to_bytes(16, "little", signed=True)
    message.decimal.precision = type_.precision
    message.decimal.scale = type_.scale


def decode_decimal(_: Decoder, message: pb.Expression.Literal.Decimal) -> Literal:
    """Read a decimal."""
    type_: t.Decimal[Any, Any] = t.Decimal(message.precision, message.scale)
    unscaled = int.from_bytes(_sixteen(message.value, "decimal"), "little", signed=True)
    return literal(Decimal(unscaled).scaleb(-type_.scale, _EXACT), type_)


def encode_struct(
    declarations: Declarations, value: tuple[Literal, ...], type_: t.Struct, message: pb.Expression.Literal
) -> None:
    """Write a struct: a literal for each field, perhaps none."""
    message.struct.SetInParent()
    for field in value:
        encode_literal(declarations, field, message.struct.fields.add())


def decode_struct(decoder: Decoder, message: pb.Expression.Literal.Struct) -> Literal:
    """Read a struct."""
    fields = tuple(decode_literal(decoder, field) for field in message.fields)
    return Literal(fields, t.Struct(tuple(field.type for field in fields)))


def encode_list(
    declarations: Declarations, value: tuple[Literal, ...], type_: t.List, message: pb.Expression.Literal
) -> None:
    """Write a list; an empty one as its type."""
    if not value:
        encode_type_body(declarations, type_, message.empty_list)
    for item in value:
        encode_literal(declarations, item, message.list.values.add())


def decode_list(decoder: Decoder, message: pb.Expression.Literal.List) -> Literal:
    """Read a list that is not empty: its items have one type, nullable if one of theirs is."""
    items, element = _decode_items(decoder, message.values, "the items of a list")
    return Literal(items, t.List(element))


def decode_empty_list(decoder: Decoder, message: types_pb.Type.List) -> Literal:
    """Read an empty list."""
    return Literal((), decode_type_body(decoder, t.List, message))


def _decode_items(
    decoder: Decoder, messages: Iterable[pb.Expression.Literal], what: str
) -> tuple[tuple[Literal, ...], t.Type]:
    items = [decode_literal(decoder, message) for message in messages]
    if not items:
        raise PlanFormatError(f"{what} are missing: an empty one is written as its type")
    for item in items:
        if not item.type.matches(items[0].type):
            raise LiteralError(f"{what} have one type, these are {items[0].type} and {item.type}")
    type_ = items[0].type.with_nullability(any(item.type.nullable for item in items))
    return tuple(literal(item, type_) for item in items), type_


def encode_map(
    declarations: Declarations, value: tuple[tuple[Literal, Literal], ...], type_: t.Map, message: pb.Expression.Literal
) -> None:
    """Write a map; an empty one as its type."""
    if not value:
        encode_type_body(declarations, type_, message.empty_map)
    for key, item in value:
        pair = message.map.key_values.add()
        encode_literal(declarations, key, pair.key)
        encode_literal(declarations, item, pair.value)


def decode_map(decoder: Decoder, message: pb.Expression.Literal.Map) -> Literal:
    """Read a map that is not empty; keys may repeat."""
    keys, key = _decode_items(decoder, (pair.key for pair in message.key_values), "the keys of a map")
    values, value = _decode_items(decoder, (pair.value for pair in message.key_values), "the values of a map")
    return Literal(tuple(zip(keys, values, strict=True)), t.Map(key, value))


def decode_empty_map(decoder: Decoder, message: types_pb.Type.Map) -> Literal:
    """Read an empty map."""
    return Literal((), decode_type_body(decoder, t.Map, message))


def encode_user_defined(
    declarations: Declarations,
    value: tuple[Literal, ...] | AnyMessage,
    type_: t.UserDefined,
    message: pb.Expression.Literal,
) -> None:
    """Write a value of a user-defined type: the fields of its structure, or a message of the extension."""
    alias = declarations.alias(type_)
    if alias is None:
        message.user_defined.type_reference = declarations.type(type_)
        encode_type_parameters(declarations, type_, message.user_defined.type_parameters)
    else:
        message.user_defined.type_alias_reference = alias
    if isinstance(value, AnyMessage):
        encode_any(value, message.user_defined.value)
        return
    message.user_defined.struct.SetInParent()
    for field in value:
        encode_literal(declarations, field, message.user_defined.struct.fields.add())


def decode_user_defined(decoder: Decoder, message: pb.Expression.Literal.UserDefined) -> Literal:
    """Read a value of a user-defined type."""
    type_: t.Type
    if message.WhichOneof("type_anchor_type") == "type_alias_reference":
        type_ = decoder.alias(message.type_alias_reference).as_required()
        if not isinstance(type_, t.UserDefined) or message.type_parameters:
            raise LiteralError(f"the alias of a user-defined literal stands for one type, not for {type_}")
    else:
        parameters = decode_type_parameters(decoder, message.type_parameters)
        type_ = t.UserDefined(*decoder.type(message.type_reference), parameters)
        report_user_defined(decoder, type_, message)
    match message.WhichOneof("val"):
        case "value":
            return Literal(decode_any(message.value), type_)
        case "struct":
            return Literal(tuple(decode_literal(decoder, field) for field in message.struct.fields), type_)
        case _:
            raise PlanFormatError(f"a literal of {type_} has no value")


COMPOSITE_ENCODERS: dict[type[t.Type], LiteralEncoder] = {
    t.Date: encode_date,
    t.UUID: encode_uuid,
    t.VarChar: encode_var_char,
    t.Decimal: encode_decimal,
    t.PrecisionTime: encode_precision_time,
    t.PrecisionTimestamp: encode_precision_timestamp,
    t.PrecisionTimestampTZ: encode_precision_timestamp_tz,
    t.IntervalYear: encode_interval_year,
    t.IntervalDay: encode_interval_day,
    t.IntervalCompound: encode_interval_compound,
    t.Struct: encode_struct,
    t.List: encode_list,
    t.Map: encode_map,
    t.UserDefined: encode_user_defined,
}

LITERAL_DECODERS: dict[str, LiteralDecoder] = {
    **{field: _decode_scalar(class_) for class_, field in SCALAR_FIELDS.items()},
    "null": decode_null,
    "date": decode_date,
    "uuid": decode_uuid,
    "var_char": decode_var_char,
    "decimal": decode_decimal,
    "precision_time": decode_precision_time,
    "precision_timestamp": decode_precision_timestamp,
    "precision_timestamp_tz": decode_precision_timestamp_tz,
    "interval_year_to_month": decode_interval_year,
    "interval_day_to_second": decode_interval_day,
    "interval_compound": decode_interval_compound,
    "struct": decode_struct,
    "list": decode_list,
    "empty_list": decode_empty_list,
    "map": decode_map,
    "empty_map": decode_empty_map,
    "user_defined": decode_user_defined,
}
"""The decoder of each field of ``Literal.literal_type``."""

_SAY_THEIR_TYPE = frozenset(("null", "empty_list", "empty_map"))
"""The fields that contain an entire type, which overrides the literal's own type fields."""
