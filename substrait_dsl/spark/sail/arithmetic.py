"""Operations on numbers that Sail computes with fewer digits, or lets wrap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.spark.expressions.functions_arithmetic import integer_operation
from substrait_dsl.spark.expressions.literals import failing
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.expressions.templates import Call, Template, largest_decimal
from substrait_dsl.spark.expressions.types import spark_sql_type


def integer_arithmetic(operator: str) -> Template:
    """Return an operation on integers, computed with more bits, and cast."""
    return integer_operation(f"CAST(({{w0}} {operator} {{w1}}) AS {{T}})", f"({{w0}} {operator} {{w1}})")


def decimal_arithmetic(operator: str) -> Template:
    """Return an operation on decimals, with a check for a result of more digits than a decimal can have."""

    def text(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
        value, type_ = f"({texts[0]} {operator} {texts[1]})", call.output_type
        assert isinstance(type_, t.Decimal)
        if type_.precision < 38:
            return value
        scales = [
            each.type.scale
            for each in call.arguments
            if isinstance(each, Expression) and isinstance(each.type, t.Decimal)
        ]
        scale = min(38, sum(scales) if operator == "*" else max(scales))  # Sail's own, which may be larger
        most = largest_decimal(t.Decimal(38, scale))
        fits = f"v BETWEEN -{most} AND {most}"
        checked = f"CASE WHEN {fits} THEN v WHEN v IS NOT NULL THEN {failing('a decimal has more than 38 digits')} END"
        return f"CAST({with_name(value, 'v', checked)} AS {spark_sql_type(type_)})"

    return Template(text, {"overflow": {"ERROR": ""}})


_PRODUCT = "CAST(CAST(p AS DECIMAL(38,0)) * CAST(x AS DECIMAL(38,0)) AS BIGINT)"
INTEGER_POWER = (
    f"if({{1}} < 0L AND {{0}} IS NOT NULL, {failing('a negative power of an integer')},"
    " aggregate(array_repeat({0}, CAST(if({1} > 64L, 64L + {1} % 2L, if({1} < 0L, 0L, {1})) AS INT)),"
    f" {{0}} * 0L + 1L, (p, x) -> {_PRODUCT}))"
)
"""A power of integers, by multiplications that fail where they overflow; a negative exponent is an error."""
