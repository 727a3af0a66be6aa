"""What Sail, a server of Spark Connect without Java, computes otherwise than Spark: written another way, or refused.

Raw faults are those of the versions that `GUARDS` names; `python -m tests.spark.sail_cases` shows each by its canary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.engines import SPARK, Engine, Guard
from substrait_dsl.spark.functions_arithmetic import integer_operation
from substrait_dsl.spark.servers import server_of
from substrait_dsl.spark.templates import Call, Template, failing, largest_decimal
from substrait_dsl.spark.types import spark_sql_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VERSIONS = ("0.7.2",)

_INTEGERS = (t.I8, t.I16, t.I32, t.I64)


def _literal(literal: Literal) -> str | None:
    """A negative integer is a cast of its digits: Sail reads the sign as an operator on what may be out of range."""
    if not isinstance(literal.type, _INTEGERS) or literal.value is None or literal.value >= 0:
        return None
    return f"CAST('{literal.value}' AS {spark_sql_type(literal.type)})"


def _replacement(text: str) -> str:
    """Groups stand in braces, or letters and digits behind one would belong to its number."""
    return re.sub(r"\\(\d)", r"\1", re.sub(r"\$(\d)", r"${\1}", text))


def _refused(why: str) -> Template:
    def text(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
        raise UnsupportedError(f"Sail cannot run the function {call.function.name} exactly: {why}")

    return Template(text)


def _operation(operator: str) -> Template:
    return integer_operation(f"CAST(({{w0}} {operator} {{w1}}) AS {{T}})", f"({{w0}} {operator} {{w1}})")


def _decimal_operation(operator: str) -> Template:
    """An operation on decimals, with a check where a result may have more digits than any decimal."""

    def text(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
        value, kind = f"({texts[0]} {operator} {texts[1]})", call.output_type
        assert isinstance(kind, t.Decimal)
        if kind.precision < 38:
            return value
        most = largest_decimal(kind)
        fits = f"v BETWEEN -{most} AND {most}"
        checked = f"CASE WHEN {fits} THEN v WHEN v IS NOT NULL THEN {failing('a decimal has more than 38 digits')} END"
        return f"CAST(transform(array({value}), v -> {checked})[0] AS {spark_sql_type(kind)})"

    return Template(text, {"overflow": {"ERROR": ""}})


_PRODUCT = "CAST(CAST(p AS DECIMAL(38,0)) * CAST(x AS DECIMAL(38,0)) AS BIGINT)"
_POWER = (
    f"if({{1}} < 0L AND {{0}} IS NOT NULL, {failing('a negative power of an integer')},"
    " aggregate(array_repeat({0}, CAST(if({1} > 64L, 64L + {1} % 2L, if({1} < 0L, 0L, {1})) AS INT)),"
    f" {{0}} * 0L + 1L, (p, x) -> {_PRODUCT}))"
)

_SUM = "sum({distinct}{0}){filter}"
# Sail adds up 128 bits, and more wrap: a sum of floats says how large the exact one is, its digits say the rest.
_DECIMAL_SUM = (
    "CAST(CASE WHEN abs(sum({distinct}CAST({0} AS DOUBLE)){filter}) < 1.5D * CAST({MOST} AS DOUBLE)"
    f" AND {_SUM} BETWEEN -{{MOST}} AND {{MOST}} THEN {_SUM}"
    f" WHEN {_SUM} IS NOT NULL THEN {failing('a sum does not fit a decimal')} END AS {{T}})"
)

GUARDS = (
    Guard(
        "integer overflow",
        "sums, differences, products and powers of integers",
        _VERSIONS,
        "SELECT 9223372036854775807L + 1L",
        -(2**63),
        functions={
            "functions_arithmetic": {
                "add:int": _operation("+"),
                "subtract:int": _operation("-"),
                "multiply:int": _operation("*"),
                "power:int": Template(_POWER, {"overflow": {"ERROR": ""}}),
            }
        },
    ),
    Guard(
        "decimal overflow",
        "sums, differences and products of decimals of 38 digits",
        _VERSIONS,
        f"SELECT CAST({'9' * 38}BD + 1BD AS STRING)",
        f"1{'0' * 38}",
        functions={
            "functions_arithmetic_decimal": {
                "add": _decimal_operation("+"),
                "subtract": _decimal_operation("-"),
                "multiply": _decimal_operation("*"),
            }
        },
    ),
    Guard(
        "overflow of decimal sums",
        "sums of decimals over all rows of a group",
        _VERSIONS,
        f"SELECT CAST(sum(v) AS STRING) FROM VALUES ({'9' * 38}BD), (1BD) AS t(v)",
        f"1{'0' * 38}",
        aggregates={
            "functions_arithmetic_decimal": {
                "sum": Template(_DECIMAL_SUM, {"overflow": {"ERROR": ""}}),
                "sum0": Template(f"coalesce({_DECIMAL_SUM}, CAST(0BD AS {{T}}))", {"overflow": {"ERROR": ""}}),
            }
        },
    ),
    Guard(
        "complements of small integers",
        "bitwise_not of i8 and i16, which have the type of an i32",
        _VERSIONS,
        "SELECT typeof(~ CAST(1 AS TINYINT))",
        "int",
        functions={"functions_arithmetic": {"bitwise_not": Template("CAST((~ {0}) AS {T})")}},
    ),
    Guard("negative literals", "the least integer of a type", _VERSIONS, "SELECT -128Y", "invalid argument"),
    Guard(
        "groups in replacements",
        "regexp_replace with a group before a letter or digit",
        _VERSIONS,
        "SELECT regexp_replace('ab', '(a)', '$11')",
        "b",
    ),
    Guard(
        "logarithms near one",
        "asinh, acosh, log1p",
        _VERSIONS,
        "SELECT log1p(1e-20D)",
        0.0,
        functions={
            "functions_arithmetic": {
                name: _refused("its logarithm loses digits near one") for name in ("asinh", "acosh")
            },
            "functions_logarithmic": {"log1p": _refused("its logarithm loses digits near one")},
        },
    ),
    Guard(
        "powers that are no real number",
        "power of decimals with complex_number_result = ERROR",
        _VERSIONS,
        "SELECT isnan(power(-1D, 0.5D))",
        True,
        functions={
            "functions_arithmetic_decimal": {
                "power": Template(
                    "power(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))", {"complex_number_result": {"NAN": ""}}
                )
            }
        },
    ),
)

SAIL = Engine("Sail", GUARDS, _literal, _replacement)


def engine_of(spark: SparkSession) -> Engine:
    """The engine that a session's statements run on."""
    return SAIL if server_of(spark).engine == "sail" else SPARK
