"""Literals: ``5``, ``5:i16``, ``2.5``, ``'text'``, ``'2024-01-31':date``, ``null:i64?``."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from substrait import algebra_pb2 as pb
from substrait import type_pb2

from substrait_dsl.errors import shorten
from substrait_dsl.proto.plan_text.context import TextReader, TextWriter
from substrait_dsl.proto.plan_text.names import read_quoted, write_text
from substrait_dsl.proto.plan_text.scanner import Scanner, to_integer
from substrait_dsl.proto.plan_text.types import read_type, write_type
from substrait_dsl.proto.plan_text.words import NUMBER_TYPES, SIMPLE_TYPES

_INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
_PRECISIONS = {"precision_time": "precisiontime", "precision_timestamp": "precisiontimestamp"} | {
    "precision_timestamp_tz": "precisiontimestamptz"
}
_UNITS: Mapping[int, str | None] = {0: None, 3: "ms", 6: "us", 9: "ns", 12: "ps"}
"""The unit of fractions of a second in intervals, by their precision."""
_CLOCK_PRECISIONS = (0, 3, 6, 9)
"""The precisions of the times and timestamps that the format has literals of."""
_DAY = 86_400
_EPOCH = date(1970, 1, 1).toordinal()

_FLOAT = re.compile(r"-?\d+\.\d+", re.ASCII)
_INTEGER = re.compile(r"-?\d+", re.ASCII)
_WORD = re.compile(r"(?:true|false|null)(?![A-Za-z0-9_])(?!(?:[:#@][A-Za-z0-9_!]*)*\()")
_DATE = re.compile(r"(\d{4})([-/])(\d{2})\2(\d{2})", re.ASCII)
_TIME = re.compile(r"(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?", re.ASCII)
_INTERVAL = re.compile(r"(?:(-?\d+)d)?(?:(?:^| )(-?\d+)s)?(?:(?:^| )(-?\d+)(ms|us|ns|ps))?", re.ASCII)


# --- writing


def write_literal(writer: TextWriter, message: pb.Expression.Literal) -> str:
    """Write a literal, with its type where that is not the one of such a text."""
    field = message.WhichOneof("literal_type")
    if field == "null":
        return f"null:{write_type(writer, message.null)}"
    if message.type_variation_reference:
        raise writer.refuse("a literal of a type variation", message)
    write = _WRITERS.get(str(field))
    if write is None:
        raise writer.refuse(f"literals of {field}", message)
    text, keyword, parameters = write(writer, message)
    if keyword in _DEFAULT_TYPES and not message.nullable:
        return text
    return f"{text}:{keyword}{'?' if message.nullable else ''}{parameters}"


_DEFAULT_TYPES = ("boolean", "i64", "fp64", "string")
"""The types of literals of which the text alone says them."""

_Written = tuple[str, str, str]
"""The text of a literal, the keyword of its type, and the parameters of that."""


def _write_boolean(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    return ("true" if message.boolean else "false"), "boolean", ""


def _write_integer(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    field = str(message.WhichOneof("literal_type"))
    return str(getattr(message, field)), field, ""


def _write_float(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    """Write a number in digits without an exponent, the fewest that mean it."""
    field = str(message.WhichOneof("literal_type"))
    value: float = getattr(message, field)
    if not math.isfinite(value):
        raise writer.refuse(f"the number {value}", message)
    text = format(Decimal(_shortest_of_32_bits(value) if field == "fp32" else repr(value)), "f")
    return (text if "." in text else f"{text}.0"), field, ""


def _shortest_of_32_bits(value: float) -> str:
    """Return the shortest decimal number that is nearest to a number of 32 bits."""
    return next(text for digits in range(1, 10) if _as_32_bits(float(text := f"{value:.{digits}g}")) == value)


def _as_32_bits(value: float) -> float:
    """Return the nearest number of 32 bits; an infinity for one beyond them."""
    try:
        nearest: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return nearest


def _write_string(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    return write_text(message.string), "string", ""


def _write_date(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    return f"'{_date_text(writer, message, message.date)}'", "date", ""


def _date_text(writer: TextWriter, message: pb.Expression.Literal, days: int) -> str:
    """Return the text of a date that is so many days after 1970-01-01."""
    ordinal = _EPOCH + days
    if not date.min.toordinal() <= ordinal <= date.max.toordinal():
        raise writer.refuse("days beyond the years 1 to 9999", message)
    return date.fromordinal(ordinal).isoformat()


def _write_clock(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    """Write a time of the day, or a timestamp."""
    field = str(message.WhichOneof("literal_type"))
    body = getattr(message, field)
    if body.precision not in _CLOCK_PRECISIONS:
        raise writer.refuse(f"literals of {field} of precision {body.precision}", message)
    units = 10**body.precision
    days, rest = divmod(body.value, _DAY * units)
    if days and field == "precision_time":
        raise writer.refuse("a time that is in no day", message)
    seconds, fraction = divmod(rest, units)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if body.precision:
        text += f".{fraction:0{body.precision}}"
    if field != "precision_time":
        text = f"{_date_text(writer, message, days)}T{text}"
    return f"'{text}'", _PRECISIONS[field], f"<{body.precision}>"


def _write_interval_day(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    body = message.interval_day_to_second
    unit = _UNITS.get(body.precision)
    if body.precision not in _UNITS or (body.subseconds and unit is None):
        raise writer.refuse(f"an interval of precision {body.precision} with {body.subseconds} fractions", message)
    parts = [(body.days, "d"), (body.seconds, "s"), (body.subseconds, unit)]
    text = " ".join(f"{number}{mark}" for number, mark in parts if number)
    return f"'{text or '0s'}'", "interval_day", f"<{body.precision}>"


def _write_decimal(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    body = message.decimal
    if len(body.value) != _DECIMAL_BYTES or not 0 <= body.scale <= body.precision <= _MAX_PRECISION:
        raise writer.refuse("a decimal that is not written as the specification says", message)
    unscaled = int.from_bytes(body.value, "little", signed=True)
    digits = f"{abs(unscaled):0{body.scale + 1}}"
    integer, fraction = digits[: len(digits) - body.scale], digits[len(digits) - body.scale :]
    text = f"{'-' if unscaled < 0 else ''}{integer}{'.' if fraction else ''}{fraction}"
    return f"'{text}'", "decimal", f"<{body.precision}, {body.scale}>"


_DECIMAL_BYTES = 16
_MAX_PRECISION = 38


def _write_characters(writer: TextWriter, message: pb.Expression.Literal) -> _Written:
    """Write a text with the length of its type."""
    if message.HasField("fixed_char"):
        return write_text(message.fixed_char), "fixedchar", f"<{len(message.fixed_char)}>"
    return write_text(message.var_char.value), "varchar", f"<{message.var_char.length}>"


_WRITERS: Mapping[str, Callable[[TextWriter, pb.Expression.Literal], _Written]] = {
    "boolean": _write_boolean,
    **dict.fromkeys(_INTEGERS, _write_integer),
    **dict.fromkeys(("fp32", "fp64"), _write_float),
    "string": _write_string,
    "date": _write_date,
    **dict.fromkeys(_PRECISIONS, _write_clock),
    "interval_day_to_second": _write_interval_day,
    "decimal": _write_decimal,
    **dict.fromkeys(("fixed_char", "var_char"), _write_characters),
}


# --- reading


def read_literal(reader: TextReader, scanner: Scanner, message: pb.Expression.Literal) -> bool:
    """Read a literal; False if none stands here."""
    start = scanner.position
    text = read_quoted(scanner, "'")
    word = None
    if text is None:
        found = scanner.match(_FLOAT) or scanner.match(_INTEGER) or scanner.match(_WORD)
        if found is None:
            return False
        word = found[0]
    type_ = type_pb2.Type()
    if scanner.take(":"):
        read_type(reader, scanner, type_)
    after, scanner.position = scanner.position, start
    scanner.skip_spaces()
    if word == "null":
        _read_null(scanner, message, type_)
    elif text is not None:
        _read_text(scanner, message, text, type_)
    else:
        assert word is not None
        _read_word(scanner, message, word, type_)
    scanner.position = after
    return True


def _read_null(scanner: Scanner, message: pb.Expression.Literal, type_: type_pb2.Type) -> None:
    if type_.WhichOneof("kind") is None:
        raise scanner.error("null has a type behind it", hint="null:i64?")
    message.null.CopyFrom(type_)


def _read_word(scanner: Scanner, message: pb.Expression.Literal, word: str, type_: type_pb2.Type) -> None:
    """Read a number, or a boolean."""
    is_boolean = word in ("true", "false")
    field = type_.WhichOneof("kind") or ("bool" if is_boolean else "fp64" if "." in word else "i64")
    if is_boolean and field == "bool":
        message.boolean = word == "true"
    elif not is_boolean and field in ("fp32", "fp64"):
        value = float(word)
        if math.isinf(_as_32_bits(value) if field == "fp32" else value):
            raise scanner.error(f"the number is too large for {field}")
        setattr(message, field, value)
    elif not is_boolean and "." not in word and field in _INTEGERS:
        setattr(message, field, _integer(scanner, word, _INTEGERS[field], f"values of {field}"))
    else:
        raise scanner.error(f"the format has no literal of {_keyword(field)} like {word}")
    _read_nullability(message, type_)


def _read_text(scanner: Scanner, message: pb.Expression.Literal, text: str, type_: type_pb2.Type) -> None:
    """Read a text, or what a text means of the type that stands behind it."""
    field = type_.WhichOneof("kind") or "string"
    if field == "string":
        message.string = text
    elif field == "date":
        message.date = _days(scanner, text)
    elif field in _PRECISIONS:
        body = getattr(message, field)
        body.precision = getattr(type_, field).precision
        if body.precision not in _CLOCK_PRECISIONS:
            raise scanner.error(f"a literal of {_keyword(field)} has a precision of 0, 3, 6 or 9")
        body.value = _clock_units(scanner, text, field, body.precision)
    elif field == "interval_day":
        _read_interval_day(scanner, message.interval_day_to_second, text, type_.interval_day.precision)
    elif field == "decimal":
        _read_decimal(scanner, message.decimal, text, type_.decimal)
    elif field == "varchar":
        message.var_char.value, message.var_char.length = text, type_.varchar.length
    elif field == "fixed_char":
        if len(text) != type_.fixed_char.length:
            raise scanner.error(f"a fixedchar<{type_.fixed_char.length}> has so many characters, got {len(text)}")
        message.fixed_char = text
    else:
        raise scanner.error(f"the format has no literals of {_keyword(field)}")
    _read_nullability(message, type_)


def _read_nullability(message: pb.Expression.Literal, type_: type_pb2.Type) -> None:
    field = type_.WhichOneof("kind")
    if field is not None:
        body: Any = getattr(type_, field)
        message.nullable = body.nullability != type_pb2.Type.NULLABILITY_REQUIRED
        message.type_variation_reference = body.type_variation_reference


def _keyword(field: str) -> str:
    """Return the keyword of a field of ``Type.kind``."""
    known = {name: keyword for keyword, name in SIMPLE_TYPES.items()}
    return known.get(field) or next((word for word, (name, _) in NUMBER_TYPES.items() if name == field), field)


def _days(scanner: Scanner, text: str) -> int:
    """Return the days from 1970-01-01 to a date."""
    found = _DATE.fullmatch(text)
    try:
        if found is not None:
            return date(int(found[1]), int(found[3]), int(found[4])).toordinal() - _EPOCH
    except ValueError:
        pass
    raise scanner.error(f"expected a date, as in '2024-01-31', got '{text}'")


def _clock_units(scanner: Scanner, text: str, field: str, precision: int) -> int:
    """Return the fractions of a second that a time, or a timestamp, is behind its beginning."""
    has_day = field != "precision_time"
    day, between, time = (text[:10], text[10:11], text[11:]) if has_day else ("", "T", text)
    found = _TIME.fullmatch(time)
    fraction = (found[4] or "") if found else ""
    if not found or between not in ("T", " ") or int(found[1]) > 23 or int(found[2]) > 59 or int(found[3]) > 59:
        shape = "a timestamp, as in '2024-01-31T14:30:45.123'" if has_day else "a time, as in '14:30:45.123'"
        raise scanner.error(f"expected {shape}, got '{text}'")
    if fraction[precision:].strip("0"):
        raise scanner.error(f"'{text}' has more digits behind the seconds than a precision of {precision} has")
    days = _days(scanner, day) if has_day else 0
    seconds = days * _DAY + int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])
    units: int = seconds * 10**precision + int(fraction[:precision].ljust(precision, "0") or "0")
    if not -(2**63) <= units < 2**63:
        raise scanner.error(f"'{text}' is too far from 1970 for a precision of {precision}")
    return units


def _read_decimal(scanner: Scanner, body: Any, text: str, type_: type_pb2.Type.Decimal) -> None:
    if not max(type_.scale, 1) <= type_.precision <= _MAX_PRECISION:
        limits = f"a precision of 1 to {_MAX_PRECISION}, and no larger scale"
        raise scanner.error(f"a decimal has {limits}, got decimal<{type_.precision}, {type_.scale}>")
    found = _DECIMAL.fullmatch(text)
    if found is None:
        raise scanner.error(f"expected a decimal number, as in '12.50', got '{shorten(text)}'")
    integer, fraction = found[2].lstrip("0"), found[3] or ""
    if len(fraction) > type_.scale or len(integer) > type_.precision - type_.scale:
        raise scanner.error(f"'{shorten(text)}' has more digits than decimal<{type_.precision}, {type_.scale}>")
    unscaled = int(f"{found[1]}{integer}{fraction.ljust(type_.scale, '0')}" if integer + fraction else "0")
    body.value = unscaled.to_bytes(_DECIMAL_BYTES, "little", signed=True)
    body.precision, body.scale = type_.precision, type_.scale


_DECIMAL = re.compile(r"(-?)(\d+)(?:\.(\d+))?", re.ASCII)


def _read_interval_day(scanner: Scanner, body: Any, text: str, precision: int) -> None:
    """Read days, seconds and fractions: ``5d 3s 100ms``."""
    found = _INTERVAL.fullmatch(text)
    if found is None or not text:
        raise scanner.error(f"expected days, seconds and fractions, as in '5d 3s 100ms', got '{text}'")
    if precision not in _UNITS:
        raise scanner.error("a literal of interval_day has a precision of 0, 3, 6, 9 or 12")
    if found[4] not in (None, _UNITS[precision]):
        raise scanner.error(f"{found[4]} are no fractions of interval_day<{precision}>")
    parts = zip(("days", "seconds", "subseconds"), found.group(1, 2, 3), (32, 32, 64), strict=True)
    for name, part, bits in parts:
        setattr(body, name, _integer(scanner, part or "0", bits, name))
    body.precision = precision


def _integer(scanner: Scanner, digits: str, bits: int, what: str) -> int:
    """Return the integer of so many bits that digits mean. Raises `PlanFormatError` if it has more."""
    number = to_integer(digits)
    if number is None or not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise scanner.error(f"{what} have {bits} bits: {shorten(digits, _SHOWN_DIGITS)} is too large")
    return number


_SHOWN_DIGITS = 20
