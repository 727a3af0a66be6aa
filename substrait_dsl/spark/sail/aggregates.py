"""Aggregate functions that Sail computes otherwise, or does not have for a type."""

from __future__ import annotations

from substrait_dsl.spark.expressions.aggregates import AGGREGATE_FUNCTIONS, decimal_average
from substrait_dsl.spark.expressions.literals import failing
from substrait_dsl.spark.expressions.templates import Table, Template

_RAISES = {"overflow": {"ERROR": ""}}

MODE_OF_TEXT = Template("CAST(mode(CAST({0} AS STRING)){filter} AS {T})")

_PLACE = "greatest(CAST(ceil({1} * CAST(count({0}){filter} AS DOUBLE)) AS INT), 1)"
_NEAREST = f"get(sort_array(collect_list({{0}}){{filter}}), {_PLACE} - 1)"


def _nearest(value: str, result: str = "CAST({} AS {{T}})") -> Template:
    """A percentile of values that are doubles: planned in a tenth of the time that one of a list takes."""
    return Template(result.format(f"percentile_disc({{1}}) WITHIN GROUP (ORDER BY {value}){{filter}}"))


NEAREST: Table = {
    "approx_percentile": Template(_NEAREST),
    "approx_percentile:fp": _nearest("nanvl({0}, CAST('NaN' AS {t0}))"),  # Sail's NaN with a sign is the least number
    **{f"approx_percentile:{name}_fp64_i64": _nearest("{0}") for name in ("i8", "i16", "i32")},
    "approx_percentile:date": _nearest("unix_date({0})", "date_from_unix_date(CAST({} AS INT))"),
}
"""The value whose place is the next above a share."""

_SUM = "sum({distinct}{0}){filter}"
_COUNT = "count({distinct}{0}){filter}"


def _extreme(function: str) -> Table:
    """The least or the greatest float, by way of structs: Sail starts with the largest finite number in groups."""
    value = "if({0} IS NULL, NULL, struct(nanvl({0}, CAST('NaN' AS {t0})) AS v))"
    return {f"{function}:fp": Template(f"{function}({value}){{filter}}.v")}


EXTREMES = {"functions_arithmetic": {**_extreme("min"), **_extreme("max")}}

# Sail adds up 128 bits, and more wrap: a sum of floats says how large the exact one is, its digits say the rest. To
# tell sums apart, it does not look at casts.
_DECIMAL_SUM = (
    "CAST(CASE WHEN abs(sum({distinct}1D * CAST({0} AS DOUBLE)){filter}) < 1.5D * CAST({MOST} AS DOUBLE)"
    f" AND {_SUM} BETWEEN -{{MOST}} AND {{MOST}} THEN {_SUM}"
    f" WHEN {_SUM} IS NOT NULL THEN {failing('a sum does not fit a decimal')} END AS {{T}})"
)

_ABOUT = "approx_count_distinct(CAST({0} AS STRING)){filter}"
ABOUT_FLOATS = {
    "functions_aggregate_approx": {"approx_count_distinct:fp": Template(_ABOUT)},
    "functions_aggregate_decimal_output": {"approx_count_distinct:fp": Template(f"CAST({_ABOUT} AS {{T}})")},
}

_SOME = f"nullif({_COUNT}, 0L)"
_DECIMAL_COUNT = f"CAST({_SOME} AS DECIMAL(20,0))"
_I64_SUM = "sum({distinct}0BD + CAST({0} AS DECIMAL(20,0))){filter}"
AVERAGES = {
    "functions_arithmetic": {
        "avg:int": Template(f"CAST({_SUM} div {_SOME} AS {{T}})", _RAISES),
        "avg:i64": Template(f"CAST({_I64_SUM} div {_DECIMAL_COUNT} AS {{T}})", _RAISES),
    },
    "functions_arithmetic_decimal": {
        "avg": Template(decimal_average(_DECIMAL_SUM, _DECIMAL_COUNT, "{T}"), _RAISES),
        "avg:fine": Template(f"CAST({_DECIMAL_SUM} / {_DECIMAL_COUNT} AS {{T}})", _RAISES),
        "avg:finest": AGGREGATE_FUNCTIONS["functions_arithmetic_decimal"]["avg:finest"],
    },
}
DECIMAL_SUMS = {
    "functions_arithmetic_decimal": {
        "sum": Template(_DECIMAL_SUM, _RAISES),
        "sum0": Template(f"coalesce({_DECIMAL_SUM}, CAST(0BD AS {{T}}))", _RAISES),
    }
}
