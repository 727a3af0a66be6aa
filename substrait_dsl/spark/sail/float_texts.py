"""Texts of floats: Sail writes the digits that Spark writes, in another form.

Outside of 0.001 to 10000000 Spark has an exponent: 1.0E7, 1.5E-4, where Sail has 10000000.0, 0.00015, 1e16, 1.5e-6.
"""

from __future__ import annotations

from functools import cache

from substrait_dsl.algebra import types as t
from substrait_dsl.spark.expressions.literals import text_to_sql
from substrait_dsl.spark.expressions.named_values import with_name

_PLAIN = text_to_sql(r"^-?(0\.0{0,2}[1-9]\d*|[1-9]\d{0,6}\.\d+)$")
"""The texts that both have, beside those of zero and NaN."""

_DIGITS = text_to_sql(r"^(-?)0*(\d)(\d+?)0*$")
"""A sign, zeros in front, the first digit, and at least one more."""

_BELOW_ONE = text_to_sql(r"^-?0\.(0*)")
"""The start of the texts below 1, with the zeros before the first digit."""

_LEAST: dict[type[t.Type], float] = {t.FP32: 2.0**-149, t.FP64: 2.0**-1074}
"""The least positive float of a type, of which the ones next to it are multiples."""

_MAX_MULTIPLES = 100
"""Multiples of the least float from here on have digits enough."""


def text_of_float(text: str, type_: t.Type) -> str:
    """Write the cast of a float to a string in the form that Spark has: that of Java's Double.toString."""
    unsigned = "trim(LEADING '-' FROM v)"
    digits = f"regexp_replace(concat(replace(split_part(v, 'e', 1), '.', ''), '0'), {_DIGITS}, '$1$2.$3')"
    exponent = (
        "CASE WHEN v LIKE '%e%' THEN split_part(v, 'e', 2)"
        f" WHEN v RLIKE {_BELOW_ONE} THEN CAST(-1 - length(regexp_extract(v, {_BELOW_ONE}, 1)) AS STRING)"
        f" ELSE CAST(instr({unsigned}, '.') - 2 AS STRING) END"
    )
    least = f"'{_texts_next_to_zero(_LEAST[type(type_)])}'"
    of_least = f"split_part(split_part({least}, concat({unsigned}, '='), 2), ' ', 1)"
    written = (
        f"CASE WHEN v RLIKE {_PLAIN} OR v IN ('0.0', '-0.0', 'NaN') THEN v"
        " WHEN v = 'inf' THEN 'Infinity' WHEN v = '-inf' THEN '-Infinity'"
        f" WHEN instr({least}, concat({unsigned}, '=')) > 0 THEN concat(if(v LIKE '-%', '-', ''), {of_least})"
        f" ELSE concat({digits}, 'E', {exponent}) END"
    )
    return with_name(f"CAST({text} AS STRING)", "v", written)


@cache
def _texts_next_to_zero(least: float) -> str:
    """The texts of the floats that one digit tells apart, and Java writes with the two nearest: 5e-324=4.9E-324."""
    pairs = []
    for multiple in range(1, _MAX_MULTIPLES):
        one, two = f"{multiple * least:.0e}", f"{multiple * least:.1e}"
        if round(float(one) / least) == multiple and two != one.replace("e", ".0e"):
            pairs.append(f"{one}={two.upper()}")
    return " ".join(pairs)
