"""``strftime``, composed of the parts of a timestamp: the letters of Spark's own formats differ.

Specification: ``functions_datetime.yaml`` and https://man7.org/linux/man-pages/man3/strftime.3.html, in the C locale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, Literal
from substrait_dsl.errors import UnsupportedError, quote
from substrait_dsl.spark.expressions.literals import text_to_sql
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.expressions.templates import Call, Table, Template
from substrait_dsl.spark.session.engines import ENGINE

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def _pad_number(number: str, digits: int, filler: str = "0") -> str:
    return f"lpad(CAST({number} AS STRING), {digits}, '{filler}')"


def _choose_name(names: Sequence[str], number: str) -> str:
    return f"element_at(array({', '.join(map(text_to_sql, names))}), {number})"


_CENTURY = "CAST((year({x}) - pmod(year({x}), 100)) div 100 AS STRING)"

_OF_DATE: Mapping[str, str] = {
    "Y": "CAST(year({x}) AS STRING)",
    "C": f"concat(if(year({{x}}) BETWEEN 0 AND 999, '0', ''), {_CENTURY})",
    "y": _pad_number("pmod(year({x}), 100)", 2),
    "m": _pad_number("month({x})", 2),
    "d": _pad_number("day({x})", 2),
    "e": _pad_number("day({x})", 2, " "),
    "j": _pad_number("dayofyear({x})", 3),
    "u": "CAST(weekday({x}) + 1 AS STRING)",
    "w": "CAST(dayofweek({x}) - 1 AS STRING)",
    "G": "CAST(extract(YEAROFWEEK FROM {x}) AS STRING)",
    "V": _pad_number("weekofyear({x})", 2),
    "A": _choose_name(_DAYS, "dayofweek({x})"),
    "a": _choose_name([name[:3] for name in _DAYS], "dayofweek({x})"),
    "B": _choose_name(_MONTHS, "month({x})"),
    "b": _choose_name([name[:3] for name in _MONTHS], "month({x})"),
}
_OF_TIME: Mapping[str, str] = {
    "H": _pad_number("hour({x})", 2),
    "I": _pad_number("(hour({x}) + 11) % 12 + 1", 2),
    "M": _pad_number("minute({x})", 2),
    "S": _pad_number("second({x})", 2),
    "p": "if(hour({x}) < 12, 'AM', 'PM')",
}
_SHORT: Mapping[str, str] = {
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "c": "%a %b %e %H:%M:%S %Y",
    "h": "%b",
    "n": "\n",
    "r": "%I:%M:%S %p",
    "t": "\t",
    "x": "%m/%d/%y",
    "X": "%H:%M:%S",
}
"""Conversions that stand for others."""


def _strftime(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    x, pattern = (argument for argument in call.arguments[:2] if isinstance(argument, Expression))
    assert isinstance(pattern, Literal)
    if pattern.value is None:
        return "CAST(NULL AS STRING)"
    timestamp = texts[0]
    match x.type:
        case t.PrecisionTime():
            known = _OF_TIME
        case t.Date():
            known = {**_OF_DATE, **_OF_TIME}
            timestamp = f"CAST({timestamp} AS TIMESTAMP_NTZ)"
        case t.PrecisionTimestampTZ():
            known = {**_OF_DATE, **_OF_TIME}
            timestamp = f"convert_timezone('UTC', {texts[2]}, CAST({timestamp} AS TIMESTAMP_NTZ))"
        case _:
            known = {**_OF_DATE, **_OF_TIME}
    written = re.sub(r"%(.)", lambda found: _SHORT.get(found[1], found[0]), pattern.value, flags=re.DOTALL)
    parts = []
    for part in re.findall(r"%.?|[^%]+", written, re.DOTALL):
        if part == "%%" or not part.startswith("%"):
            parts.append(text_to_sql(part.replace("%%", "%")))
        elif part[1:] in known:
            parts.append(known[part[1:]].format(x="m"))
        else:
            raise UnsupportedError(
                f"{ENGINE} cannot write {part} of the format {pattern.value!r} for a {x.type}; it can write "
                f"{quote([*known, *_SHORT, '%'])}"
            )
    listed = ", ".join(parts) or "''"
    # A NULL stays one, also where the format shows nothing of it.
    shown = with_name(timestamp, "m", f"if(m IS NULL, NULL, concat({listed}))")
    return f"CAST({shown} AS STRING)"


FORMAT: Table = {"strftime": Template(_strftime, literal_arguments=(1,), zone=2)}
