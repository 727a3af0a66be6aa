"""Names and constants as text: the words of a rendered expression that come from the user.

Whatever a name or a string holds, its text stays on one line, and a quote or a control character in it is escaped.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.intervals import Compound, DaySeconds, YearMonths

MAX_CONSTANT = 60
"""Longer strings, and binaries of more bytes, are shown by their beginning and their length."""

MAX_TYPE = 500
"""A type is cut after so many characters: a plan that gives a large one a number may use it thousands of times."""

_PLAIN_NAME = re.compile(r"[^\W\d]\w*")
_WORD = re.compile(r"[\w.+-]+")
_RESERVED = frozenset((
    "all", "and", "any", "as", "between", "case", "current_date", "current_timezone", "else", "end", "exists",
    "false", "in", "is", "like", "not", "null", "or", "then", "true", "unique", "when",
))  # fmt: skip
_EPOCH = dt.datetime(1970, 1, 1)


def name_text(name: str) -> str:
    """Return a name as it is, or in double quotes where it could be taken for something else."""
    if _PLAIN_NAME.fullmatch(name) and name.lower() not in _RESERVED:
        return name
    return _quote_name(name)


def word_text(word: str) -> str:
    """Return a word of a call, such as an option, as it is, or in double quotes where it is more than a word."""
    return word if _WORD.fullmatch(word) else _quote_name(word)


def _quote_name(name: str) -> str:
    """Return a name in double quotes, on one line."""
    escaped = _escape(name).replace('"', '\\"')
    return f'"{escaped}"'


def type_text(type_: t.Type) -> str:
    """Return a type, of which only the part that is shown is formatted: ``struct<i64, string?, ...``."""
    text = ""
    for piece in type_.pieces():
        text += piece
        if len(text) > MAX_TYPE:
            return f"{text[:MAX_TYPE]} ... (cut after {MAX_TYPE} characters)"
    return text


def constant_text(value: Any, type_: t.Type) -> str:
    """Return the value of a literal that holds no other literals: ``100.00``, ``'BUILDING'``, ``date '1995-03-15'``."""
    return CONSTANTS[type(type_)](value, type_)


def _escape(text: str) -> str:
    return "".join(
        c if c.isprintable() and c != "\\" else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def _string(value: str, type_: t.Type) -> str:
    quoted = "'" + _escape(value[:MAX_CONSTANT]).replace("'", "''") + "'"
    return quoted if len(value) <= MAX_CONSTANT else f"{quoted}... ({len(value)} characters)"


def _binary(value: bytes, type_: t.Type) -> str:
    quoted = f"x'{value[:MAX_CONSTANT].hex()}'"
    return quoted if len(value) <= MAX_CONSTANT else f"{quoted}... ({len(value)} bytes)"


def _fraction(units: int, precision: int) -> str:
    return f".{units:0{precision}d}" if precision else ""


def _time(value: int, type_: t.PrecisionTime[Any]) -> str:
    seconds, rest = divmod(value, 10**type_.precision)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"time '{hours:02}:{minutes:02}:{seconds:02}{_fraction(rest, type_.precision)}'"


def _timestamp_text(word: str, zone: str) -> Callable[[int, Any], str]:
    def text(value: int, type_: t.PrecisionTimestamp[Any] | t.PrecisionTimestampTZ[Any]) -> str:
        seconds, rest = divmod(value, 10**type_.precision)
        try:
            timestamp = _EPOCH + dt.timedelta(seconds=seconds)
        except OverflowError:  # outside the years 1 to 9999, which is all that Python's calendar has
            return f"{type_.as_required()} '{value}'"
        return f"{word} '{timestamp.isoformat(sep=' ')}{_fraction(rest, type_.precision)}{zone}'"

    return text


def _interval(value: YearMonths | DaySeconds | Compound, type_: Any) -> str:
    """Return an interval as ISO 8601 writes durations."""
    match value:
        case YearMonths():
            inside = _years(value)
        case DaySeconds():
            inside = _days(value, type_.precision)
        case Compound(year_months, day_seconds):
            inside = _years(year_months) + _days(day_seconds, type_.precision)
    return f"interval 'P{inside}'"


def _years(value: YearMonths) -> str:
    return f"{value.years}Y{value.months}M"


def _days(value: DaySeconds, precision: int) -> str:
    units = value.seconds * 10**precision + value.subseconds
    seconds, rest = divmod(abs(units), 10**precision)
    return f"{value.days}DT{'-' if units < 0 else ''}{seconds}{_fraction(rest, precision)}S"


def _plain(value: object, type_: t.Type) -> str:
    return str(value)


CONSTANTS: dict[type[t.Type], Callable[[Any, Any], str]] = {
    t.Boolean: lambda value, type_: str(value).lower(),
    t.I8: _plain,
    t.I16: _plain,
    t.I32: _plain,
    t.I64: _plain,
    t.FP32: _plain,
    t.FP64: _plain,
    t.Decimal: lambda value, type_: f"{value:f}",
    t.String: _string,
    t.VarChar: _string,
    t.FixedChar: _string,
    t.Binary: _binary,
    t.FixedBinary: _binary,
    t.Date: lambda value, type_: f"date '{value}'",
    t.PrecisionTime: _time,
    t.PrecisionTimestamp: _timestamp_text("timestamp", ""),
    t.PrecisionTimestampTZ: _timestamp_text("timestamp_tz", "Z"),
    t.IntervalYear: _interval,
    t.IntervalDay: _interval,
    t.IntervalCompound: _interval,
    t.UUID: lambda value, type_: f"uuid '{value}'",
}
