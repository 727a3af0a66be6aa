"""Dates, timestamps and intervals as DataFusion computes with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.calendar_units import CLOCK_UNITS, ROUNDINGS
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.construction import Arguments, Reader, cast_as_declared, cast_to, scalar_call

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder


def date_arithmetic(decoder: Decoder, name: str, arguments: Arguments) -> ex.Expression | None:
    """Read arithmetic of dates and intervals: in DataFusion a date stays one, and two are days apart."""
    match name, arguments:
        case "add" | "subtract", (
            ex.Expression(type=t.Date() | t.PrecisionTimestamp()) as value,
            ex.Literal() as interval,
        ):
            return _shift_date(decoder, name, value, interval)
        case "add", (ex.Literal() as interval, ex.Expression(type=t.Date() | t.PrecisionTimestamp()) as value):
            return _shift_date(decoder, name, value, interval)
        case "subtract", (ex.Expression(type=t.Date()) as end, ex.Expression(type=t.Date()) as start):
            seconds = scalar_call(decoder, "arithmetic", "subtract", *(_unix_time(decoder, x) for x in (end, start)))
            return scalar_call(decoder, "arithmetic", "divide", seconds, ex.literal(_DAY, t.I64()))
        case _:
            return None


def _unix_time(decoder: Decoder, value: ex.Expression) -> ex.Expression:
    return scalar_call(decoder, "datetime", "extract", ex.EnumArgument("UNIX_TIME"), value)


_DAY = 86_400
"""The seconds of a day."""


def _shift_date(decoder: Decoder, name: str, value: ex.Expression, interval: ex.Literal) -> ex.Expression | None:
    """Add months, then days and seconds, to a date or timestamp; for a date only whole days count.

    Raises:
        UnsupportedError: the interval has digits that the specification's functions have no place for.
    """
    if not isinstance(interval.type, t.IntervalCompound) or not isinstance(interval.value, ex.Compound):
        return None
    months, rest = interval.value.year_months, interval.value.day_seconds
    unit = 10**interval.type.precision
    subseconds = rest.seconds * unit + rest.subseconds
    if isinstance(value.type, t.PrecisionTimestamp):
        precision = value.type.precision
        subseconds, lost = divmod(abs(subseconds) * 10**precision, unit)
        if lost:
            raise UnsupportedError(
                f"an interval has more digits after the second than {value.type}",
                hint=f"cast the timestamp to precision_timestamp<{interval.type.precision}> in the table that is given",
            )
        sign = -1 if rest.seconds * unit + rest.subseconds < 0 else 1
        seconds, subseconds = divmod(subseconds, 10**precision)
        rest = ex.DaySeconds(rest.days, sign * seconds, sign * subseconds)
    else:
        precision = 6
        rest = ex.DaySeconds(rest.days + (abs(subseconds) // (_DAY * unit)) * (1 if subseconds >= 0 else -1))
    moved = value
    if months.years or months.months:
        moved = scalar_call(decoder, "datetime", name, moved, ex.literal(months, t.IntervalYear()))
        moved = cast_to(moved, value.type)
    if rest != ex.DaySeconds() or moved is value:
        moved = scalar_call(decoder, "datetime", name, moved, ex.literal(rest, t.IntervalDay(precision)))
    return cast_to(moved, value.type)


_COMPONENTS: Mapping[str, tuple[str, ...]] = {
    "year": ("YEAR",),
    "quarter": ("QUARTER", "ONE"),
    "month": ("MONTH", "ONE"),
    "week": ("ISO_WEEK", "ONE"),
    "day": ("DAY", "ONE"),
    "doy": ("DAY_OF_YEAR", "ONE"),
    "dow": ("SUNDAY_DAY_OF_WEEK", "ZERO"),
    "isoyear": ("ISO_YEAR",),
    "hour": ("HOUR",),
    "minute": ("MINUTE",),
    "second": ("SECOND",),
}
"""The enum arguments of ``extract`` for DataFusion's names of date parts."""

_OF_DAYS = ("hour", "minute", "second")
"""The parts that a date lacks in the specification, and that are 0 in DataFusion."""


def date_part(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read ``date_part(part, x)`` as ``extract``, of i32."""
    match arguments:
        case (ex.Literal(value=str() as part), ex.Expression(type=t.Date() | t.PrecisionTimestamp()) as value):
            if part.lower() == "epoch" and isinstance(value.type, t.PrecisionTimestamp):
                return cast_as_declared(_epoch(decoder, value), declared)
            words = _COMPONENTS.get(part.lower())
            if words is None or (isinstance(value.type, t.Date) and part.lower() in _OF_DAYS):
                raise UnsupportedError(
                    f"DataFusion's date_part({part.lower()!r}) of {value.type} is no extract of the specification; "
                    f"there are {', '.join(_COMPONENTS)}, and epoch of timestamps"
                )
            found = scalar_call(decoder, "datetime", "extract", *map(ex.EnumArgument, words), value)
            return cast_as_declared(found, declared)
        case _:
            return None


def _epoch(decoder: Decoder, value: ex.Expression) -> ex.Expression:
    """Return the seconds since 1970, with a fraction of six digits, as fp64."""
    seconds = _unix_time(decoder, value)
    fraction = scalar_call(decoder, "datetime", "extract", ex.EnumArgument("SUBSECOND"), value)
    million = ex.literal(1_000_000, t.I64())
    scaled = scalar_call(decoder, "arithmetic", "multiply", seconds, million)
    microseconds = cast_to(scalar_call(decoder, "arithmetic", "add", scaled, fraction), t.FP64())
    return scalar_call(decoder, "arithmetic", "divide", microseconds, ex.literal(1e6, t.FP64()))


def date_trunc(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read ``date_trunc(unit, x)`` as ``round_calendar``; DataFusion casts a date to a timestamp before."""
    match arguments:
        case (ex.Literal(value=str() as unit), ex.Expression(type=t.Date() | t.PrecisionTimestamp()) as value):
            if (rounding := ROUNDINGS.get(unit.upper())) is None:
                units = ", ".join(map(str.lower, ROUNDINGS))
                raise UnsupportedError(f"date_trunc({unit!r}) is no unit that is read; there are {units}")
            of, origin, multiple = rounding
            if isinstance(value, ex.Cast) and isinstance(value.input.type, t.Date):
                value = value.input
            if isinstance(value.type, t.Date) and of in CLOCK_UNITS:
                return cast_as_declared(value, declared)
            words = map(ex.EnumArgument, ("FLOOR", of, origin))
            found = scalar_call(decoder, "datetime", "round_calendar", value, *words, ex.literal(multiple, t.I64()))
            return cast_as_declared(found, declared)
        case _:
            return None


def format_time(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
    """Read ``to_char(x, format)`` as ``strftime``, of the parts that both write alike."""
    match arguments:
        case (
            ex.Expression(type=t.Date() | t.PrecisionTimestamp()) as value,
            ex.Literal(value=str() as text) as format_,
        ):
            if re.fullmatch(r"(?:%[YmdHMSj]|[^%])+", text) is None:
                raise UnsupportedError(
                    f"the format {text!r} has parts that other engines write otherwise",
                    hint="there are %Y, %m, %d, %H, %M, %S and %j",
                )
            if isinstance(value, ex.Cast) and isinstance(value.input.type, t.Date):
                value = value.input
            return cast_as_declared(scalar_call(decoder, "datetime", "strftime", value, format_), declared)
        case _:
            return None


COMPARISONS: Mapping[str, str] = {
    "gt": "lt",
    "gte": "lte",
    "lt": "gt",
    "lte": "gte",
    "equal": "equal",
    "not_equal": "not_equal",
}
"""The comparisons, each with that of the operands in the other order."""


def compare_durations(name: str) -> Reader:
    """Return a reader of ``a - b > interval`` of timestamps, as ``a > b + interval``."""

    def read(decoder: Decoder, arguments: Arguments, declared: t.Type | None) -> ex.Expression | None:
        match [each.input if isinstance(each, ex.Cast) else each for each in arguments]:
            case [ex.ScalarFunction() as difference, ex.Literal() as interval]:
                comparison = name
            case [ex.Literal() as interval, ex.ScalarFunction() as difference]:
                comparison = COMPARISONS[name]
            case _:
                return None
        match difference.arguments:
            case (
                ex.Expression(type=t.PrecisionTimestamp()) as end,
                ex.Expression(type=t.PrecisionTimestamp()) as start,
            ) if difference.function.name == "subtract":
                later = _later(decoder, start, interval)
                if later is None:
                    return None
                extension = "comparison" if comparison in ("equal", "not_equal") else "datetime"
                return scalar_call(decoder, extension, comparison, end, cast_to(later, end.type))
            case _:
                return None

    return read


def _later(decoder: Decoder, start: ex.Expression, interval: ex.Literal) -> ex.Expression | None:
    """Return a timestamp an interval later; None for what is no interval.

    Raises:
        UnsupportedError: the interval has months, which have no length of their own.
    """
    if not isinstance(interval.type, t.IntervalCompound) or not isinstance(interval.value, ex.Compound):
        return None
    months = interval.value.year_months
    if months.years or months.months:
        raise UnsupportedError(
            "a difference of timestamps is compared with months, which differ in length",
            hint="write the interval in days, or compare the later timestamp with the earlier one + interval '1 month'",
        )
    return _shift_date(decoder, "add", start, interval)
