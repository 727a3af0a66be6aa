"""Functions that differ between Sail and Spark, where a template does not suffice."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import EnumArgument, Expression, Literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.functions_arithmetic import (
    ARITHMETIC,
    ROUNDING,
    ROUNDING_DECIMAL,
    UNSIGNED_INTEGERS,
)
from substrait_dsl.spark.expressions.functions_datetime import DATETIME, local_clock
from substrait_dsl.spark.expressions.functions_decimal import ARITHMETIC_DECIMAL
from substrait_dsl.spark.expressions.functions_string import STRING, split_text
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.expressions.templates import Call, Table, Template
from substrait_dsl.spark.expressions.types import spark_sql_type

_FURTHER = 4
"""The number of fractional digits that Sail's quotient of decimals has beyond the dividend's; it truncates the rest."""


def divide(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """Divide decimals: truncated after at least one digit more than the result has, and then rounded."""
    dividend = next(each.type for each in call.arguments if isinstance(each, Expression))
    type_ = call.output_type
    assert isinstance(dividend, t.Decimal)
    assert isinstance(type_, t.Decimal)
    wanted = type_.scale + 1 - _FURTHER
    text = texts[0] if dividend.scale >= wanted else f"CAST({texts[0]} AS DECIMAL(38,{wanted}))"
    quotient = f"CAST(({text} / {texts[1]}) AS {spark_sql_type(type_)})"
    return f"if({texts[0]} IS NULL, NULL, {quotient})" if dividend.nullable else quotient


def _round(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """Round a float to an integer; to other digits Sail would round it twice."""
    digits = [each.value for each in call.arguments if isinstance(each, Literal)][-1:]
    if digits != [0]:
        raise UnsupportedError(
            "Sail cannot round floats to digits exactly", hint="cast the value to a decimal first, and round that"
        )
    name = "bround" if choices["rounding"] == _EVEN else "round"
    return f"CAST({name}({texts[0]}, 0) AS {spark_sql_type(call.output_type)})"


_EVEN = ROUNDING["round"].options["rounding"]["TIE_TO_EVEN"]
ROUND_FLOAT = attrs.evolve(ROUNDING["round"], text=_round)
_OF_DECIMAL = ROUNDING_DECIMAL["round"]
ROUND_DECIMAL = attrs.evolve(
    _OF_DECIMAL,
    options={"rounding": {"TIE_AWAY_FROM_ZERO": _OF_DECIMAL.options["rounding"]["TIE_AWAY_FROM_ZERO"]}},
)


def coalesce(texts: Sequence[str], type_: t.Type) -> str:
    """The first value that is not NULL, where one may be an error.

    Sail evaluates all boolean values, takes booleans in structs for nullable, and has no untyped NULL for binary.
    """
    match type_:
        case t.Boolean():
            numbers = (text if text.startswith("raise_error(") else f"CAST({text} AS INT)" for text in texts)
            return f"(coalesce({', '.join(numbers)}) = 1)"
        case t.Binary() | t.FixedBinary():
            texts = [f"CAST({text} AS BINARY)" for text in texts]  # files have some of a fixed length, too
    return f"coalesce({', '.join(texts)})"


def _null_if_any_is(template: Template) -> Template:
    assert isinstance(template.text, str)
    return attrs.evolve(template, text=f"if({{nulls}}, NULL, {template.text})")


def _null_if_dividend_is(table: Table) -> Table:
    """Wrap the divisions of a table: NULL divided by zero is NULL, but an error in Sail."""
    found = {}
    for key, template in table.items():
        if key.partition(":")[0] in ("divide", "modulus"):
            assert isinstance(template.text, str)
            found[key] = attrs.evolve(template, text=f"if({{0}} IS NULL, NULL, {template.text})")
    return found


DIVISIONS: Mapping[str, Table] = {
    "functions_arithmetic": _null_if_dividend_is(ARITHMETIC),
    "functions_arithmetic_decimal": {
        **_null_if_dividend_is({"modulus": ARITHMETIC_DECIMAL["modulus"]}),
        "divide": attrs.evolve(ARITHMETIC_DECIMAL["divide"], text=divide),
    },
    "unsigned_integers": _null_if_dividend_is(UNSIGNED_INTEGERS),
}
"""The divisions, by extension."""


def _extract(overload: str, x: str, further: Mapping[str, str] | None = None) -> Template:
    """Components of dates, from those that Sail computes right: its Sundays are weekday -1, and it has no ISO years."""
    template = DATETIME[f"extract:{overload}"]
    components, *indexing = template.enums
    since_monday = f"(dayofweek({x}) + 5) % 7"
    own = {
        "ISO_YEAR": f"year(date_add(CAST({x} AS DATE), 3 - {since_monday}))",
        "MONDAY_DAY_OF_WEEK": f"{since_monday} + 1[#1]",
    }
    return attrs.evolve(template, enums=({**components, **own, **(further or {})}, *indexing))


_SECONDS = "unix_micros({0}) div 1000000L - if(unix_micros({0}) % 1000000L < 0L, 1L, 0L)"  # its own are cut off

EXTRACTIONS: Table = {
    "extract:date": _extract("date", "{0}"),
    "extract:pts": _extract("pts", "{0}"),
    "extract:ptstz": _extract("ptstz", local_clock("{1}"), {"UNIX_TIME": f"if({{1}} IS NULL, NULL, {_SECONDS})"}),
}


def _shift(template: Template, most: str) -> Template:
    """A shift; an unsigned one is a signed one with the copies of the sign masked: Sail's own fails."""
    assert isinstance(template.text, str)
    # A value without its own bits would be 0 for NULL.
    shifted = f"if({{1}} = 0, {{0}}, (shiftright({{0}}, {{1}}) & shiftright({most}, {{1}} - 1)))"
    text = template.text.replace("shiftrightunsigned({0}, {1})", shifted).replace("({0} ^ {0})", "({0} - {0})")
    return attrs.evolve(template, text=text)


SHIFTS: Table = {
    key: _shift(ARITHMETIC[key], most)
    for key, most in (
        ("shift_right_unsigned:i32_i32", "2147483647"),
        ("shift_right_unsigned:i64_i32", "9223372036854775807L"),
        ("shift_left:i32_i32", "2147483647"),
        ("shift_left:i64_i32", "9223372036854775807L"),
    )
}

SUBSTRING: Table = {
    key: _null_if_any_is(template) for key, template in STRING.items() if key.partition(":")[0] == "substring"
}

_MARKS = r"[\\.+*?()|\[\]{}^$#&~-]"
"""The special characters of Sail's patterns, which have no quotation as Java's have."""


def _split(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """Split a text at a separator whose special characters are escaped."""
    text, separator = texts
    match call.arguments[1]:
        case Literal(value=str() as value):
            pattern = text_to_sql(re.sub(_MARKS, r"\\\g<0>", value))
        case _:
            pattern = f"regexp_replace({separator}, {text_to_sql(_MARKS)}, {text_to_sql(chr(92) + '${0}')})"
    return split_text(text, call, separator, pattern)


SPLIT: Table = {"string_split": Template(_split)}


_END = "TIMESTAMP_NTZ'2100-01-01 00:00:00'"
"""The end of Sail's time zone rules: later changes of offsets are missing."""


def guard_zone_rules(call: Call, texts: Sequence[str], zone: int, text: str) -> str:
    """Guard a call with a time zone against instants after the end of Sail's time zone rules."""
    values = [each for each in call.arguments if isinstance(each, Expression)]
    words = [each.value.upper() for each in call.arguments if isinstance(each, EnumArgument)]
    match values[zone]:
        case Literal(value=str() as name) if not _is_set(name) or "UNIX_TIME" in words:  # which is that of no clock
            return text
        case Literal(value=None):
            return text
    fails = failing("Sail does not know when clocks are set after 2099")
    if isinstance(values[1].type, t.IntervalYear):  # the moment that is found is of that clock, too
        text = with_name(text, "v", f"if(CAST(v AS TIMESTAMP_NTZ) >= {_END}, {fails}, v)")
    is_late = f"CAST({texts[0]} AS TIMESTAMP_NTZ) >= {_END} AND {texts[zone]} IS NOT NULL"
    return f"if({is_late}, {fails}, {text})"


@cache
def _is_set(zone: str) -> bool:
    """Whether a zone changes its offset after 2099, as far as this machine knows."""
    try:
        clock = ZoneInfo(zone)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return True
    return len({dt.datetime(2100, month, 1, tzinfo=clock).utcoffset() for month in range(1, 13)}) > 1


_STAND_INS: Mapping[type[t.Type], str] = {
    t.Boolean: "false",
    **dict.fromkeys((t.I8, t.I16, t.I32, t.I64, t.FP32, t.FP64, t.Decimal), "CAST(0 AS {})"),
    **dict.fromkeys((t.String, t.VarChar, t.FixedChar), "''"),
    t.Date: "DATE'1970-01-01'",
}
"""By type, a value in place of NULL in a comparison; any will do, since nullity is compared, too."""


def _same(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """Rewrite IS NOT DISTINCT FROM to equalities: a join by it makes Sail take NULL for equal in its other conditions.

    In a correlated subquery, and for nested values, it stays as it is.
    """
    values = [each for each in call.arguments if isinstance(each, Expression)]
    type_ = values[0].type
    is_nested = isinstance(type_, t.Struct | t.List | t.Map)
    if is_nested or any(isinstance(each, Literal) or each.free_anchors for each in values):
        return f"({texts[0]} <=> {texts[1]})"
    nulls = f"({texts[0]} IS NULL) = ({texts[1]} IS NULL)"
    stand_in = _STAND_INS.get(type(type_))
    if stand_in is None:
        return f"({nulls} AND coalesce({texts[0]} = {texts[1]}, true))"
    other = stand_in.format(spark_sql_type(type_))
    return f"({nulls} AND coalesce({texts[0]}, {other}) = coalesce({texts[1]}, {other}))"


def _distinct(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    return f"(NOT {_same(call, texts, choices)})"


DISTINCTIONS: Table = {
    "is_not_distinct_from": Template(_same, requires_comparable=True),
    "is_distinct_from": Template(_distinct, requires_comparable=True),
}
