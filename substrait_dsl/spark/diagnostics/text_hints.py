"""What to write for a text that is no value of its type, by what the text looks like."""

from __future__ import annotations

import datetime as dt
import re

from substrait_dsl.algebra import types as t
from substrait_dsl.texts import constant

OTHER_FORM = re.compile(r"^(.*?) (is no truth value|is no number(?: with.*)?|is not of the form .*)$", re.DOTALL)
"""What `read_csv` and `everyday.to_date` say of a text of another form, behind the text."""

_NO_VALUES = frozenset(("NA", "N/A", "#N/A", "NULL", "NONE", "NAN", "NIL", "\\N", "-", "?", "."))
"""Texts that programs write where there is no value, in capital letters."""
_NUMBERS = (t.I8, t.I16, t.I32, t.I64, t.FP32, t.FP64, t.Decimal)
_INTEGERS = {t.I8: 8, t.I16: 16, t.I32: 32, t.I64: 64}
"""How many bits integers have."""
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_FRACTION = re.compile(r"[+-]?\d*\.(\d+)", re.ASCII)
_WITH_COMMAS = re.compile(r"[+-]?\d[\d.,]*", re.ASCII)
_DAY = re.compile(r"(\d{4})([-./]?)(\d{2})\2(\d{2})|(\d{2})([-./])(\d{2})\6(\d{4})", re.ASCII)
"""A day that begins with its year, or ends with it."""
_CLOCK = re.compile(r"([ T])\d{2}:\d{2}(:\d{2}(\.\d{6})?)?", re.ASCII)
_ZONE = re.compile(r"(Z|[+-]\d{2}:\d{2})$", re.ASCII)


def hint_for_column(text: str, type_: t.Type, name: str) -> str | None:
    """Return what to write for a text in a typed column of delimited text; None: nothing is known of such a text."""
    text = text.strip(" \t")
    column = f"col({constant(name)})"
    if text.upper() in _NO_VALUES:
        return f"read_csv(..., null_value={constant(text)}) reads that text as NULL, in place of the empty one"
    if isinstance(type_, _NUMBERS):
        return _declared_number(text, type_) or _computed(column, type_, number_without_commas(text, type_, column))
    if isinstance(type_, t.Boolean):
        return _computed(column, type_, f"{column} == {constant(text)}")
    zoned, day = _ZONE.search(text), _DAY.match(text)
    if day is None or (format_ := format_of(text)) is None:
        is_time = isinstance(type_, t.PrecisionTimestamp) and day is not None and zoned is not None
        return f'a time with a zone is a "{_declared(t.PrecisionTimestampTZ(6), type_)}"' if is_time else None
    if isinstance(type_, t.Date) and "%H" in format_:
        time = _declared(t.PrecisionTimestamp(6), type_)
        is_iso = format_.startswith("%Y-%m-%d")
        formats = "" if is_iso else f", with formats={{{constant(name)}: {constant(format_)}}}"
        return f'declare it "{time}"{formats}, and cast it: {column}.cast("date")'
    if isinstance(type_, t.PrecisionTimestampTZ):
        return f'a time without a zone is a "{_declared(t.PrecisionTimestamp(6), type_)}"'
    if isinstance(type_, t.Date) or type_.matches(t.PrecisionTimestamp(6)):
        return f"read_csv(..., formats={{{constant(name)}: {constant(format_)}}}) reads it{_other_order(format_, text)}"
    return None


def hint_for_cast(text: str, type_: t.Type) -> str | None:
    """Return what to write for a text that a cast refuses; None: nothing is known of such a text."""
    text = text.strip(" \t")
    if isinstance(type_, _NUMBERS):
        return number_without_commas(text, type_, "x")
    is_formatted = isinstance(type_, t.Date) or type_.matches(t.PrecisionTimestamp(6))
    if is_formatted and (format_ := format_of(text)) is not None:
        function = "to_date" if isinstance(type_, t.Date) else "to_timestamp"
        if ("%H" in format_) == (function == "to_timestamp"):
            return f"everyday.{function}(x, {constant(format_)}) reads it{_other_order(format_, text)}"
    return None


def format_of(text: str) -> str | None:
    """Return the format of a day, or of a day and a time without a zone, of two digits each; None for another text."""
    day = _DAY.match(text)
    if day is None:
        return None
    if day[1]:
        format_ = f"%Y{day[2]}%m{day[2]}%d"
    else:
        first, second = ("%m", "%d") if int(day[7]) > 12 else ("%d", "%m")
        format_ = f"{first}{day[6]}{second}{day[6]}%Y"
    behind = text[day.end() :]
    clock = _CLOCK.fullmatch(behind)
    if clock is not None:
        format_ += f"{clock[1]}%H:%M" + ":%S" * bool(clock[2]) + ".%f" * bool(clock[3])
    elif behind:
        return None
    try:
        dt.datetime.strptime(text, format_)
    except ValueError:  # there is no such day
        return None
    return format_


def _other_order(format_: str, text: str) -> str:
    """Return what to add where the day may be the month: ``05/06/2024``."""
    is_open = format_.startswith("%d") and int(text[:2]) <= 12
    return f", {constant(format_[3:5] + format_[2] + format_[:2] + format_[5:])} if the month is first" * is_open


def _declared(type_: t.Type, like: t.Type) -> t.Type:
    """Return a type as nullable as another one."""
    return type_.as_nullable() if like.nullable else type_


def _computed(column: str, type_: t.Type, value: str | None) -> str | None:
    """Return the hint to read a text, and to compute the value of it."""
    text = _declared(t.String(), type_)
    return None if value is None else f'declare it "{text}", and compute the value of {column}: {value}'


def _declared_number(text: str, type_: t.Type) -> str | None:
    """Return the hint to declare another type, which has the number that a text is."""
    if isinstance(type_, tuple(_INTEGERS)) and _INTEGER.fullmatch(text):
        bits = _INTEGERS[type(type_)]
        if -(2 ** (bits - 1)) <= int(text) < 2 ** (bits - 1):
            return None
        wider = t.I64() if -(2**63) <= int(text) < 2**63 else t.Decimal(38, 0)
        return f'it is beyond {type_.as_required()}: declare it "{_declared(wider, type_)}"'
    fraction = _FRACTION.fullmatch(text)
    if fraction is None or not isinstance(type_, (*_INTEGERS, t.Decimal)):
        return None
    before, digits = (type_.precision - type_.scale, type_.scale) if isinstance(type_, t.Decimal) else (19, -1)
    digits = max(digits, len(fraction[1]))
    if before + digits > 38:
        return None
    mark = "?" if type_.nullable else ""
    return f'it has digits after the point: declare it "decimal<{before + digits},{digits}>{mark}" or "fp64{mark}"'


def number_without_commas(text: str, type_: t.Type, value: str) -> str | None:
    """Return what computes the number of a text with commas; None for a text without."""
    if "," not in text or _WITH_COMMAS.fullmatch(text) is None:
        return None
    cast = f'.cast("{type_}")'
    is_point = text.count(",") == 1 and text.rindex(",") > text.rfind(".")
    if not is_point or isinstance(type_, tuple(_INTEGERS)):
        return f'functions.replace({value}, ",", ""){cast}'
    points = f'functions.replace({value}, ".", "")' if "." in text else value
    is_open = re.fullmatch(r"[+-]?\d{1,3},\d{3}", text) is not None
    return f'functions.replace({points}, ",", "."){cast}' + ', or "" for "." if the comma separates thousands' * is_open
