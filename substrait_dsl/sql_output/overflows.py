"""Integers whose overflow is no error: computed in a type that none overflows, then cut as the plan says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.written import Written, fill

if TYPE_CHECKING:
    from sqlglot import exp

TEMPLATES = {
    "add": "{0} + {1}",
    "subtract": "{0} - {1}",
    "multiply": "{0} * {1}",
    "divide": "{0} // {1}",
    "negate": "-{0}",
    "abs": "ABS({0})",
}
"""What is computed, in the words of both engines but for the quotient on Spark."""

WIDE = {"duckdb": "HUGEINT", "spark": "DECIMAL(38, 0)"}
"""The type that holds the exact result of two integers of 64 bits."""


def cut_by(call: ex.ScalarFunction) -> str | None:
    """Return the option by which integers that overflow are cut; None where they are an error, or it is not known."""
    if not isinstance(call.output_type, t.INTEGER_TYPES) or call.function.name not in TEMPLATES:
        return None
    chosen = [option.preferences[0].upper() for option in call.options if option.name.lower() == "overflow"]
    return chosen[0] if chosen and chosen[0] in ("SATURATE", "SILENT") else None


def is_floored(call: ex.ScalarFunction) -> bool:
    """Whether a call is a remainder of integers with the sign of the divisor."""
    return (
        isinstance(call.output_type, t.INTEGER_TYPES)
        and call.function.name == "modulus"
        and any(
            option.name.lower() == "division_type" and option.preferences[0].upper() == "FLOOR"
            for option in call.options
        )
    )


def write_floored(call: ex.ScalarFunction, values: Sequence[Written], dialect: Dialect) -> Written:
    """Write a remainder with the sign of the divisor."""
    trees = [value.cast(dialect) for value in values]
    x, y = (f"CAST({{{number}}} AS {{W}})" for number in (0, 1))
    types = {"T": dialect.type_text(call.output_type), "W": WIDE[dialect.name]}
    return Written(fill(f"CAST((({x} % {y}) + {y}) % {y} AS {{T}})", trees, types, dialect), call.output_type)


def write_cut(call: ex.ScalarFunction, values: Sequence[Written], dialect: Dialect, by: str) -> Written:
    """Write arithmetic of integers that ends at the last integer (SATURATE), or goes on from the first (SILENT)."""
    low, high = t.INTEGER_RANGES[type(call.output_type)]
    span = high - low + 1
    trees: list[exp.Expr] = [value.cast(dialect) for value in values]
    exact = TEMPLATES[call.function.name]
    if call.function.name == "divide" and dialect.name == "spark":  # DIV of decimals is a BIGINT, without an error
        exact = "CASE WHEN {1} = -1 THEN -CAST({0} AS {W}) ELSE CAST({0} DIV {1} AS {W}) END"
    else:
        for number in range(len(trees)):
            exact = exact.replace(f"{{{number}}}", f"CAST({{{number}}} AS {{W}})")
    if by == "SATURATE":
        text = f"LEAST(GREATEST({exact}, {low}), {high})"
        nulls = [f"{{{number}}} IS NOT NULL" for number, value in enumerate(values) if value.type.nullable]
        text = f"CASE WHEN {' AND '.join(nulls)} THEN {text} END" if nulls else text
    elif dialect.name == "duckdb":
        text = f"((({exact}) - ({low})) % {span} + {span}) % {span} + ({low})"
    else:
        text = f"PMOD(({exact}) - ({low}), {span}) + ({low})"
    types = {"T": dialect.type_text(call.output_type), "W": WIDE[dialect.name]}
    return Written(fill(f"CAST({text} AS {{T}})", trees, types, dialect), call.output_type)
