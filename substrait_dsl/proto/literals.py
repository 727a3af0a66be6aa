"""Literals as ``Expression.Literal`` messages.

Specification: ``Expression.Literal`` in ``algebra.proto``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Context
from typing import Any

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Compound, DaySeconds, Literal, YearMonths
from substrait_dsl.errors import LiteralError
from substrait_dsl.proto.declarations import Declarations
from substrait_dsl.proto.types import encode_type, encode_type_body, encode_type_parameters

LiteralEncoder = Callable[[Declarations, Any, Any, pb.Expression.Literal], None]
"""Writes a value (not NULL) of a type into a message: declarations, value, type, message."""

_EPOCH = dt.date(1970, 1, 1).toordinal()
_EXACT = Context(prec=76)


def encode_literal(declarations: Declarations, literal: Literal, message: pb.Expression.Literal) -> None:
    """Write a literal; NULL as a ``null`` of its type."""
    kind = literal.literal_type
    if literal.value is None:
        encode_type(declarations, kind, message.null)
        return
    field = SCALAR_FIELDS.get(type(kind))
    if field is not None:
        setattr(message, field, literal.value)
    else:
        _COMPOSITE_ENCODERS[type(kind)](declarations, literal.value, kind, message)
    if kind.nullable:
        message.nullable = True
    if kind.variation is not None:
        message.type_variation_reference = declarations.variation(kind.variation)


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
"""The literals whose field takes the Python value as it is."""


def encode_date(_: Declarations, value: dt.date, kind: t.Date, message: pb.Expression.Literal) -> None:
    """Write a date: days since 1970-01-01."""
    message.date = value.toordinal() - _EPOCH


def encode_uuid(_: Declarations, value: Any, kind: t.UUID, message: pb.Expression.Literal) -> None:
    """Write a UUID: its 16 bytes."""
    message.uuid = value.bytes


def encode_var_char(_: Declarations, value: str, kind: t.VarChar, message: pb.Expression.Literal) -> None:
    """Write a string with the length that its type allows."""
    message.var_char.value = value
    message.var_char.length = kind.length


def encode_decimal(_: Declarations, value: Any, kind: t.Decimal, message: pb.Expression.Literal) -> None:
    """Write a decimal: its unscaled value as 16 bytes, little-endian two's complement."""
    unscaled = int(value.scaleb(kind.scale, _EXACT))
    message.decimal.value = unscaled.to_bytes(16, "little", signed=True)
    message.decimal.precision = kind.precision
    message.decimal.scale = kind.scale


def encode_precision_time(_: Declarations, value: int, kind: t.PrecisionTime, message: pb.Expression.Literal) -> None:
    """Write a time of day."""
    _encode_instant(value, kind, message.precision_time)


def encode_precision_timestamp(
    _: Declarations, value: int, kind: t.PrecisionTimestamp, message: pb.Expression.Literal
) -> None:
    """Write a timestamp without time zone."""
    _encode_instant(value, kind, message.precision_timestamp)


def encode_precision_timestamp_tz(
    _: Declarations, value: int, kind: t.PrecisionTimestampTZ, message: pb.Expression.Literal
) -> None:
    """Write a point in time."""
    _encode_instant(value, kind, message.precision_timestamp_tz)


def _encode_instant(value: int, kind: Any, message: Any) -> None:
    low, high = t.INTEGER_RANGES[t.I64]
    if not low <= value <= high:
        raise LiteralError(
            f"{value} units of 10**-{kind.precision} seconds do not fit {kind}: a plan holds them in 64 bits",
            hint="use a type with fewer digits after the second",
        )
    message.precision = kind.precision
    message.value = value


def encode_interval_year(
    _: Declarations, value: YearMonths, kind: t.IntervalYear, message: pb.Expression.Literal
) -> None:
    """Write an interval of years and months."""
    _encode_year_months(value, message.interval_year_to_month)


def encode_interval_day(
    _: Declarations, value: DaySeconds, kind: t.IntervalDay, message: pb.Expression.Literal
) -> None:
    """Write an interval of days and seconds."""
    _encode_day_seconds(value, kind.precision, message.interval_day_to_second)


def encode_interval_compound(
    _: Declarations, value: Compound, kind: t.IntervalCompound, message: pb.Expression.Literal
) -> None:
    """Write an interval of years, months, days and seconds."""
    _encode_year_months(value.year_months, message.interval_compound.interval_year_to_month)
    _encode_day_seconds(value.day_seconds, kind.precision, message.interval_compound.interval_day_to_second)


def _encode_year_months(value: YearMonths, message: pb.Expression.Literal.IntervalYearToMonth) -> None:
    message.years = value.years
    message.months = value.months


def _encode_day_seconds(value: DaySeconds, precision: int, message: pb.Expression.Literal.IntervalDayToSecond) -> None:
    message.days = value.days
    message.seconds = value.seconds
    message.precision = precision
    message.subseconds = value.subseconds


def encode_struct(
    declarations: Declarations, value: tuple[Literal, ...], kind: t.Struct, message: pb.Expression.Literal
) -> None:
    """Write a struct: a literal for each field, perhaps none."""
    message.struct.SetInParent()
    for field in value:
        encode_literal(declarations, field, message.struct.fields.add())


def encode_list(
    declarations: Declarations, value: tuple[Literal, ...], kind: t.List, message: pb.Expression.Literal
) -> None:
    """Write a list; an empty one as its type."""
    if not value:
        encode_type_body(declarations, kind, message.empty_list)
    for item in value:
        encode_literal(declarations, item, message.list.values.add())


def encode_map(
    declarations: Declarations, value: tuple[tuple[Literal, Literal], ...], kind: t.Map, message: pb.Expression.Literal
) -> None:
    """Write a map; an empty one as its type."""
    if not value:
        encode_type_body(declarations, kind, message.empty_map)
    for key, item in value:
        pair = message.map.key_values.add()
        encode_literal(declarations, key, pair.key)
        encode_literal(declarations, item, pair.value)


def encode_user_defined(
    declarations: Declarations, value: tuple[Literal, ...], kind: t.UserDefined, message: pb.Expression.Literal
) -> None:
    """Write a value of a user-defined type by the fields of its structure."""
    message.user_defined.type_reference = declarations.type(kind)
    encode_type_parameters(declarations, kind, message.user_defined.type_parameters)
    message.user_defined.struct.SetInParent()
    for field in value:
        encode_literal(declarations, field, message.user_defined.struct.fields.add())


_COMPOSITE_ENCODERS: dict[type[t.Type], LiteralEncoder] = {
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
