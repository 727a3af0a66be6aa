"""Literals of dates, times and intervals as ``Expression.Literal`` messages.

Specification: ``Expression.Literal`` in ``algebra.proto``.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Compound, DaySeconds, Literal, YearMonths, literal
from substrait_dsl.errors import LiteralError
from substrait_dsl.proto.declarations import Declarations

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

_EPOCH = dt.date(1970, 1, 1).toordinal()


def encode_date(_: Declarations, value: dt.date, type_: t.Date, message: pb.Expression.Literal) -> None:
    """Write a date: days since 1970-01-01."""
    message.date = value.toordinal() - _EPOCH


def decode_date(_: Decoder, days: int) -> Literal:
    """Read a date."""
    if not 1 <= days + _EPOCH <= dt.date.max.toordinal():
        raise LiteralError(f"{days} days from 1970-01-01 is no date: those lie in the years 1000 to 9999")
    return literal(dt.date.fromordinal(days + _EPOCH), t.Date())


def encode_precision_time(_: Declarations, value: int, type_: t.PrecisionTime, message: pb.Expression.Literal) -> None:
    """Write a time of day."""
    _encode_instant(value, type_, message.precision_time)


def decode_precision_time(_: Decoder, message: pb.Expression.Literal.PrecisionTime) -> Literal:
    """Read a time of day."""
    type_: t.PrecisionTime[Any] = t.PrecisionTime(message.precision)
    if not 0 <= message.value < 86_400 * 10**type_.precision:
        raise LiteralError(f"{message.value} units of 10**-{type_.precision} seconds are no time of a day")
    return Literal(message.value, type_)


def encode_precision_timestamp(
    _: Declarations, value: int, type_: t.PrecisionTimestamp, message: pb.Expression.Literal
) -> None:
    """Write a timestamp without time zone."""
    _encode_instant(value, type_, message.precision_timestamp)


def decode_precision_timestamp(_: Decoder, message: pb.Expression.Literal.PrecisionTimestamp) -> Literal:
    """Read a timestamp without time zone."""
    return Literal(message.value, t.PrecisionTimestamp(message.precision))  # type: ignore[type-var]  # known only now


def encode_precision_timestamp_tz(
    _: Declarations, value: int, type_: t.PrecisionTimestampTZ, message: pb.Expression.Literal
) -> None:
    """Write a timestamp with time zone."""
    _encode_instant(value, type_, message.precision_timestamp_tz)


def decode_precision_timestamp_tz(_: Decoder, message: pb.Expression.Literal.PrecisionTimestamp) -> Literal:
    """Read a timestamp with time zone."""
    return Literal(message.value, t.PrecisionTimestampTZ(message.precision))  # type: ignore[type-var]  # known only now


def _encode_instant(value: int, type_: Any, message: Any) -> None:
    low, high = t.INTEGER_RANGES[t.I64]
    if not low <= value <= high:
        raise LiteralError(
            f"{value} units of 10**-{type_.precision} seconds do not fit {type_}: a plan holds them in 64 bits",
            hint="use a type with fewer digits after the second",
        )
    message.precision = type_.precision
    message.value = value


def encode_interval_year(
    _: Declarations, value: YearMonths, type_: t.IntervalYear, message: pb.Expression.Literal
) -> None:
    """Write an interval of years and months."""
    _encode_year_months(value, message.interval_year_to_month)


def decode_interval_year(_: Decoder, message: pb.Expression.Literal.IntervalYearToMonth) -> Literal:
    """Read an interval of years and months."""
    return literal(_decode_year_months(message), t.IntervalYear())


def encode_interval_day(
    _: Declarations, value: DaySeconds, type_: t.IntervalDay, message: pb.Expression.Literal
) -> None:
    """Write an interval of days and seconds."""
    _encode_day_seconds(value, type_.precision, message.interval_day_to_second)


def decode_interval_day(_: Decoder, message: pb.Expression.Literal.IntervalDayToSecond) -> Literal:
    """Read an interval of days and seconds."""
    return literal(_decode_day_seconds(message), t.IntervalDay(message.precision))  # type: ignore[type-var]  # known only now


def encode_interval_compound(
    _: Declarations, value: Compound, type_: t.IntervalCompound, message: pb.Expression.Literal
) -> None:
    """Write an interval of years, months, days and seconds."""
    _encode_year_months(value.year_months, message.interval_compound.interval_year_to_month)
    _encode_day_seconds(value.day_seconds, type_.precision, message.interval_compound.interval_day_to_second)


def decode_interval_compound(_: Decoder, message: pb.Expression.Literal.IntervalCompound) -> Literal:
    """Read an interval of years, months, days and seconds."""
    type_: t.IntervalCompound[Any] = t.IntervalCompound(message.interval_day_to_second.precision)
    year_months = _decode_year_months(message.interval_year_to_month)
    return literal(Compound(year_months, _decode_day_seconds(message.interval_day_to_second)), type_)


def _encode_year_months(value: YearMonths, message: pb.Expression.Literal.IntervalYearToMonth) -> None:
    message.years = value.years
    message.months = value.months


def _decode_year_months(message: pb.Expression.Literal.IntervalYearToMonth) -> YearMonths:
    return YearMonths(message.years, message.months)


def _encode_day_seconds(value: DaySeconds, precision: int, message: pb.Expression.Literal.IntervalDayToSecond) -> None:
    message.days = value.days
    message.seconds = value.seconds
    message.precision = precision
    message.subseconds = value.subseconds


def _decode_day_seconds(message: pb.Expression.Literal.IntervalDayToSecond) -> DaySeconds:
    return DaySeconds(message.days, message.seconds, message.subseconds)
