"""Quotients, remainders and products of decimals, rounded once to the scale of the derived type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.written import Written, fill

MAX_DIGITS = 38


def write_quotient(call: ex.ScalarFunction, values: Sequence[Written], dialect: Dialect) -> Written | None:
    """Write a quotient of decimals; None if it would be rounded twice."""
    x, y, result = values[0].type, values[1].type, call.output_type
    assert isinstance(x, t.Decimal)
    assert isinstance(y, t.Decimal)
    assert isinstance(result, t.Decimal)
    template = _divide_integers(x, y, result) if dialect.name == "duckdb" else _divide_wider_operands(x, y, result)
    if template is None:
        return None
    trees = [value.cast(dialect) for value in values]
    return Written(fill(template, trees, {"T": dialect.type_text(result)}, dialect), result)


def write_remainder(call: ex.ScalarFunction, values: Sequence[Written], dialect: Dialect) -> Written:
    """Write the remainder of a quotient of decimals that is truncated: of integers to DuckDB, in units of both."""
    x, y, result = values[0].type, values[1].type, call.output_type
    assert isinstance(x, t.Decimal)
    assert isinstance(y, t.Decimal)
    scale = max(x.scale, y.scale)
    remainder = "{0} % {1}"
    if dialect.name == "duckdb":
        remainder = convert_units(f"({units('{0}', scale)} % {units('{1}', scale)})", scale)
    trees = [value.cast(dialect) for value in values]
    return Written(fill(f"CAST({remainder} AS {{T}})", trees, {"T": dialect.type_text(result)}, dialect), result)


def _divide_integers(x: t.Decimal[Any, Any], y: t.Decimal[Any, Any], result: t.Decimal[Any, Any]) -> str | None:
    """Return a quotient of integers of 128 bits: DuckDB divides decimals as floating-point numbers."""
    scale, shift = result.scale, result.scale + y.scale - x.scale
    if scale >= MAX_DIGITS:
        return None
    if shift < 0:
        return f"CAST({convert_units(_nearest(x, y, -shift), scale)} AS {{T}})"
    dividend = f"{units('{0}', x.scale)} * {10**shift}"
    divisor = units("{1}", y.scale)
    nearest = f"(2 * {dividend} * SIGN({divisor}) + SIGN({{0}}) * {divisor}) // (2 * ABS({divisor}))"
    return f"CAST({convert_units(nearest, scale)} AS {{T}})"


def _nearest(x: t.Decimal[Any, Any], y: t.Decimal[Any, Any], shift: int) -> str:
    """Return the nearest integer to a dividend of more digits after the point than the quotient and the divisor have.

    So many that twice as much would be too much: what is left is compared with what is missing.
    """
    dividend, divisor = _all_units("{0}", x.scale), f"({_all_units('{1}', y.scale)} * {10**shift})"
    left = f"ABS({dividend} % {divisor})"
    away = f"CASE WHEN {left} >= ABS({divisor}) - {left} THEN SIGN({{0}}) * SIGN({{1}}) ELSE 0 END"
    return f"({dividend} // {divisor} + {away})"


def _all_units(text: str, scale: int) -> str:
    """Return a decimal as an integer of all of its digits, which are those of its text."""
    return f"CAST(REPLACE(CAST(CAST({text} AS DECIMAL({MAX_DIGITS}, {scale})) AS TEXT), '.', '') AS HUGEINT)"


def units(text: str, scale: int) -> str:
    """Return a decimal as an integer, in units of its last digit, in the words of DuckDB."""
    return f"CAST(CAST({text} AS DECIMAL({MAX_DIGITS}, {scale})) * {10**scale} AS HUGEINT)"


def convert_units(text: str, scale: int) -> str:
    """Return the decimal of so many units, in the words of DuckDB."""
    unit = f"0.{'1'.zfill(scale)}" if scale else "1"
    return f"CAST({text} AS DECIMAL({MAX_DIGITS - scale}, 0)) * {unit}"


def _divide_wider_operands(x: t.Decimal[Any, Any], y: t.Decimal[Any, Any], result: t.Decimal[Any, Any]) -> str | None:
    """Return Spark's quotient of operands for which it derives the specification's type."""
    missing = y.precision - y.scale
    more_in_x = min(MAX_DIGITS - x.precision, missing)
    more_in_y = min(MAX_DIGITS - y.precision, missing - more_in_x)
    wide_x = (x.precision + more_in_x, x.scale)
    wide_y = (y.precision + more_in_y, y.scale + more_in_y)
    if _spark_quotient_scale(*wide_x, *wide_y) != result.scale:
        return None
    dividend = "{0}" if wide_x == x.parameters else f"CAST({{0}} AS DECIMAL{wide_x})"
    divisor = "{1}" if wide_y == y.parameters else f"CAST({{1}} AS DECIMAL{wide_y})"
    return f"CAST({dividend} / {divisor} AS {{T}})"


def _spark_quotient_scale(p1: int, s1: int, p2: int, s2: int) -> int:
    """Return the scale that Spark gives a quotient of decimals."""
    scale = max(6, s1 + p2 + 1)
    before_point = p1 - s1 + s2
    return scale if before_point + scale <= MAX_DIGITS else max(MAX_DIGITS - before_point, min(scale, 6))


def exact_scale(call: ex.ScalarFunction) -> int:
    """Return how many digits after the point the exact sum, difference or product of decimals has."""
    one, other = (argument.type for argument in call.arguments if isinstance(argument, ex.Expression))
    assert isinstance(one, t.Decimal)
    assert isinstance(other, t.Decimal)
    return int(one.scale + other.scale if call.function.name == "multiply" else max(one.scale, other.scale))
