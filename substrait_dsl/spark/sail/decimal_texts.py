"""Texts of numbers with an exponent, as Sail parses decimals: without one."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.spark.expressions.literals import record_to_sql, text_to_sql
from substrait_dsl.spark.expressions.named_values import with_name

_NUMBER = text_to_sql(r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,9}\s*$")
"""A number with an exponent. Beyond nine digits Spark has no such number either."""

_PARTS = text_to_sql(r"^\s*\+?(-?)([0-9]*)\.?([0-9]*)[eE]([+-]?[0-9]+)\s*$")
"""Its sign, the digits before and behind the point, and the exponent."""

_TOO_LONG = 40
"""More digits before the point than any decimal has."""


def without_exponent(text: str, target: t.Decimal) -> str:
    """Write a text as it is, or a number with an exponent as the digits that decide its value as a decimal.

    These are all digits before the point, of which 40 are too many in any case, and behind it one more than the decimal
    has, by which it is rounded.
    """
    places = target.scale + 1
    sign, before, behind, exponent = (f"regexp_extract(v, {_PARTS}, {group})" for group in range(1, 5))
    parts = {"s": sign, "b": before, "d": f"concat({before}, {behind})", "e": f"TRY_CAST({exponent} AS INT)"}
    # The first digit that is not 0 is the one behind the point of 0.d * 10^p.
    first = {
        "s": "n.s",
        "d": "trim(LEADING '0' FROM n.d)",
        "p": "n.e + length(n.b) - length(n.d) + length(trim(LEADING '0' FROM n.d))",
    }
    small = f"concat('0.', left(concat(repeat('0', least(- m.p, {places})), m.d), {places}))"
    padded = f"rpad(m.d, greatest(length(m.d), least(m.p, {_TOO_LONG})), '0')"
    large = f"concat(left({padded}, least(m.p, {_TOO_LONG})), '.', substring(m.d, m.p + 1, {places}))"
    digits = f"CASE WHEN m.d = '' THEN '0' WHEN m.p <= 0 THEN concat(m.s, {small}) ELSE concat(m.s, {large}) END"
    plain = with_name(record_to_sql(parts), "n", with_name(record_to_sql(first), "m", digits))
    return with_name(text, "v", f"CASE WHEN v RLIKE {_NUMBER} THEN {plain} ELSE v END")
