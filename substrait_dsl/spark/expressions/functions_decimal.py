"""The functions of decimals that Spark runs exactly: their types are the specification's, and nothing is rounded twice.

Specification: ``functions_arithmetic_decimal.yaml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.types import Decimal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import failing, record_to_sql
from substrait_dsl.spark.expressions.named_values import template_with_name
from substrait_dsl.spark.expressions.templates import Call, Table, Template
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE


def _divide_decimals(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """Divide decimals, rounding once.

    Spark reserves fewer digits before the point of a quotient than the specification (spec decision 37), hence more
    after it; rounding that to the specification's scale would be a second rounding. With wider operands Spark derives
    the specification's type.
    """
    x, y = (argument.type for argument in call.arguments if isinstance(argument, Expression))
    result = call.output_type
    assert isinstance(x, Decimal)
    assert isinstance(y, Decimal)
    assert isinstance(result, Decimal)
    missing = y.precision - y.scale
    more_in_x = min(38 - x.precision, missing)
    more_in_y = min(38 - y.precision, missing - more_in_x)
    wide_x = (x.precision + more_in_x, x.scale)
    wide_y = (y.precision + more_in_y, y.scale + more_in_y)
    scale = _spark_quotient_scale(*wide_x, *wide_y)
    if scale != result.scale:
        raise UnsupportedError(
            f"{ENGINE} cannot divide {x} by {y} exactly: it would round twice, first to {scale} digits",
            hint="cast the operands to fewer digits",
        )
    dividend = texts[0] if wide_x == x.parameters else f"CAST({texts[0]} AS DECIMAL{wide_x})"
    divisor = texts[1] if wide_y == y.parameters else f"CAST({texts[1]} AS DECIMAL{wide_y})"
    return f"CAST(({dividend} / {divisor}) AS {spark_sql_type(result)})"


def _spark_quotient_scale(p1: int, s1: int, p2: int, s2: int) -> int:
    """The scale that Spark gives a quotient of decimals."""
    scale = max(6, s1 + p2 + 1)
    before_point = p1 - s1 + s2
    return scale if before_point + scale <= 38 else max(38 - before_point, min(scale, 6))


def _sign_change(native: str, of_text: str) -> Template:
    """A change of sign. Spark's own rounds to 34 digits, so longer decimals go through text."""

    def text(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
        type_ = call.output_type
        assert isinstance(type_, Decimal)
        return (native if type_.precision <= 34 else of_text).format(texts[0], T=spark_sql_type(type_))

    return Template(text)


_UNSIGNED = "trim(LEADING '-' FROM CAST({0} AS STRING))"
_IS_NEGATIVE = "{0} < CAST(0 AS {T})"
"""Compared with a zero of another type, Spark would round long decimals first."""
_NEGATED = f"if({_IS_NEGATIVE}, {_UNSIGNED}, concat('-', CAST({{0}} AS STRING)))"

_RAISES = {"overflow": {"ERROR": ""}}
_NOT_REAL = "sign({0}) < 0D AND sign({1} % 1BD) != 0D"
_POWER = "power(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE))"


def _bitwise(operator: str) -> Template:
    """A bitwise operation on decimals, in two's complement, in three parts of 60 bits: Spark has it for 64.

    The highest part has the sign. A sum with it in front could pass 38 digits on the way, so a negative one borrows.
    """
    unit, square = f"{2**60}BD", f"{2**120}BD"

    def low(v: str) -> str:
        return f"CAST(if({v} % {unit} < 0, {v} % {unit} + {unit}, {v} % {unit}) AS BIGINT)"

    def high(v: str) -> str:
        quotient = f"CAST(({v} - {v} % {unit}) / {unit} AS DECIMAL(38,0))"
        return f"CAST({quotient} - if({v} % {unit} < 0, 1BD, 0BD) AS DECIMAL(38,0))"

    def parts(text: str) -> str:
        # Lists of one element give values a name.
        pair = f"transform(array(CAST({text} AS DECIMAL(38,0))), v -> {record_to_sql({'l': low('v'), 'h': high('v')})})"
        three = f"array(v.l, {low('v.h')}, CAST({high('v.h')} AS BIGINT))"
        return f"{{one}}transform({pair}, v -> {three}){{end}}"

    both = f"zip_with({parts('{0}')}, {parts('{1}')}, (a, b) -> a {operator} b)"
    rest = f"(CAST(v[1] AS DECIMAL(20,0)) - if(v[2] < 0L, {unit}, 0BD)) * {unit} + CAST(v[0] AS DECIMAL(20,0))"
    upper = f"CAST(if(v[2] < 0L, v[2] + 1L, v[2]) AS DECIMAL(3,0)) * {square}"
    return Template(template_with_name(both, "v", f"CAST({upper} + ({rest}) AS {{T}})"))


ARITHMETIC_DECIMAL: Table = {
    "bitwise_and": _bitwise("&"),
    "bitwise_or": _bitwise("|"),
    "bitwise_xor": _bitwise("^"),
    # Spark derives the specification's types for these.
    "add": Template("({0} + {1})", _RAISES),
    "subtract": Template("({0} - {1})", _RAISES),
    "multiply": Template("({0} * {1})", _RAISES),
    # Where the whole quotient has more than 39 digits, Spark raises an error instead of giving the remainder.
    "modulus": Template("({0} % {1})", _RAISES),
    "divide": Template(_divide_decimals, _RAISES),
    "negate": _sign_change("(- {0})", f"CAST({_NEGATED} AS {{T}})"),
    "abs": _sign_change("abs({0})", f"CAST({_UNSIGNED} AS {{T}})"),
    "sqrt": Template(f"if(sign({{0}}) < 0D, {failing('sqrt of a negative number')}, sqrt(CAST({{0}} AS DOUBLE)))"),
    "factorial": Template(
        f"if({{0}} < 0 OR {{0}} > 33, {failing('a factorial below 0 or too large')}, aggregate(sequence(1,"
        " if({0} < 1, 1, CAST({0} AS INT))), CAST(1BD AS DECIMAL(38,0)), (p, n) -> CAST(p * n AS DECIMAL(38,0))))"
    ),
    "power": Template(
        "[complex_number_result]",
        {
            "complex_number_result": {
                "NAN": _POWER,
                "ERROR": f"if({_NOT_REAL}, {failing('a power that is no real number')}, {_POWER})",
            }
        },
    ),
}
