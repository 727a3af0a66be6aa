"""Rows as a table of text, as ``DataFrame.show`` of Spark prints them."""

from __future__ import annotations

import datetime as dt
import math
import struct
import unicodedata
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.arrow.schemas import to_arrow
from substrait_dsl.consumers.rows import python_rows, require_values
from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

_MIN_WIDTH = 3
_MAX_CHARACTERS = 20
_ESCAPES = str.maketrans(
    {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\b": "\\b", "\x0b": "\\v", "\x07": "\\a"}
)


def can_be_shown(schema: NamedStruct) -> bool:
    """Return whether `format_rows` has words for all columns."""
    try:
        require_values(schema)
        to_arrow(schema)
    except UnsupportedError:
        return False
    return True


def format_rows(table: pa.Table, schema: NamedStruct, n: int, truncate: bool | int, vertical: bool) -> str:
    """Return the text of the first rows.

    Args:
        table: the rows, one more than are shown if there are more.
        schema: their schema.
        n: how many are shown.
        truncate: whether values are cut after 20 characters, or after how many.
        vertical: whether each column of a row stands on a line of its own.
    """
    rows = python_rows(table, schema, is_local=False)
    has_more = len(rows) > n
    most = int(truncate) if not isinstance(truncate, bool) else _MAX_CHARACTERS if truncate else 0
    texts = [_text_of(field.type) for field in schema]
    cells = [[_cell(text(value), most) for text, value in zip(texts, row, strict=True)] for row in rows[:n]]
    names = [_cell(name, 0) for name in schema.names]
    text = _vertical(names, cells) if vertical else _horizontal(names, cells, is_right=most > 0)
    if vertical and not cells:
        return text + "(0 rows)"
    return text + (f"only showing top {n} {'row' if n == 1 else 'rows'}" if has_more else "")


def _cell(text: str, most: int) -> str:
    text = text.translate(_ESCAPES)
    if most <= 0 or len(text) <= most:
        return text
    return text[:most] if most < len("....") else text[: most - len("...")] + "..."


def _horizontal(names: Sequence[str], cells: Sequence[Sequence[str]], *, is_right: bool) -> str:
    widths = [max(_MIN_WIDTH, *map(_width, column)) for column in zip(names, *cells, strict=True)]
    line = f"+{'+'.join('-' * width for width in widths)}+\n"
    lines = [
        f"|{'|'.join(_pad_text(cell, width, is_right) for cell, width in zip(row, widths, strict=True))}|\n"
        for row in (names, *cells)
    ]
    return "".join([line, lines[0], line, *lines[1:], line])


def _vertical(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    left = max((_MIN_WIDTH, *map(_width, names)))
    right = max((_MIN_WIDTH, *(_width(cell) for row in cells for cell in row)))
    lines = []
    for number, row in enumerate(cells):
        lines.append(f"-RECORD {number}".ljust(left + right + 5, "-") + "\n")
        lines += [
            f" {_pad_text(name, left, False)} | {_pad_text(cell, right, False)} \n"
            for name, cell in zip(names, row, strict=True)
        ]
    return "".join(lines)


def _width(text: str) -> int:
    """Return how wide a text is, in half widths: signs of East Asia are twice as wide as others."""
    return len(text) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)


def _pad_text(text: str, width: int, is_right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if is_right else text + blanks


def _text_of(type_: t.Type) -> Callable[[Any], str]:
    """Return the function that formats a value as Spark does."""
    text = _text(type_)
    return lambda value: "NULL" if value is None else text(value)


def _text(type_: t.Type) -> Callable[[Any], str]:
    match type_:
        case t.Boolean():
            return lambda value: "true" if value else "false"
        case t.FP32():
            return lambda value: _float(value, is_single=True)
        case t.FP64():
            return _float
        case t.Decimal():
            return lambda value: format(value, "f")
        case t.Binary() | t.FixedBinary():
            return lambda value: f"[{' '.join(f'{byte:02X}' for byte in value)}]"
        case t.PrecisionTimestamp() | t.PrecisionTimestampTZ():
            return lambda value: f"{value.isoformat(sep=' ', timespec='seconds')}{_fraction(value.microsecond)}"
        case t.PrecisionTime():
            return lambda value: f"{value.isoformat(timespec='seconds')}{_fraction(value.microsecond)}"
        case t.IntervalDay():
            return _days
        case t.List(element=element):
            item = _text_of(element)
            return lambda value: f"[{', '.join(map(item, value))}]"
        case t.Struct(types=types):
            parts = [_text_of(part) for part in types]
            return lambda value: f"{{{', '.join(part(each) for part, each in zip(parts, value, strict=True))}}}"
        case t.Map():
            key, item = _text_of(type_.key), _text_of(type_.value)
            return lambda value: f"{{{', '.join(f'{key(one)} -> {item(other)}' for one, other in value.items())}}}"
        case _:
            return str


def _fraction(microseconds: int) -> str:
    return f".{microseconds:06d}".rstrip("0") if microseconds else ""


def _days(value: dt.timedelta) -> str:
    micros = value // dt.timedelta(microseconds=1)
    seconds, rest = divmod(abs(micros), 10**6)
    hours, minutes = seconds // 3600 % 24, seconds // 60 % 60
    sign = "-" if micros < 0 else ""
    time = f"{hours:02d}:{minutes:02d}:{seconds % 60:02d}{_fraction(rest)}"
    return f"INTERVAL '{sign}{seconds // 86_400} {time}' DAY TO SECOND"


def _float(value: float, *, is_single: bool = False) -> str:
    """Return the fewest digits that distinguish a number from others, as Java writes them."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    sign, digits, exponent = Decimal(_shortest_single(value) if is_single else repr(value)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent  # where it stands, counted from the first digit
    if -3 < point <= 7:
        before, after = (text[:point].ljust(point, "0"), text[point:]) if point > 0 else ("0", "0" * -point + text)
        number = f"{before}.{after or '0'}"
    else:
        number = f"{text[0]}.{text[1:] or '0'}E{point - 1}"
    return f"{'-' if sign else ''}{number}"


def _shortest_single(value: float) -> str:
    """Return the fewest digits that distinguish a number from others of 32 bits."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return text
    return repr(value)
