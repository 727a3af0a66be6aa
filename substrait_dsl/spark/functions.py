"""The scalar functions that Spark runs exactly: comparison, logic and numbers; strings and dates are tables of their own.

Specification: the files ``functions_*.yaml``. A function, or an option of one, that is in no table is refused by
name. Where an option is not given, its first value here holds: overflow and division by zero are errors, as Spark's
ANSI mode has it, and what floating point gives (NaN, infinity) where the specification offers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.expressions import ScalarFunction
from substrait_dsl.algebra.types import Decimal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.functions_datetime import DATETIME
from substrait_dsl.spark.functions_string import STRING
from substrait_dsl.spark.lowering import Call, Lowering, Table, failing, lower
from substrait_dsl.spark.types import spark_sql_type

NEAREST = {"rounding": {"TIE_TO_EVEN": ""}}
"""What floating-point hardware does; Spark offers no other rounding."""


def function_to_sql(call: ScalarFunction, texts: Sequence[str]) -> str:
    """Write the call of a scalar function; `texts` are its value arguments.

    Raises:
        UnsupportedError: Spark cannot run the function, with these options and arguments, exactly.
    """
    return lower(call, texts, SCALAR_FUNCTIONS)


def _integer(native: str, exact: str, **options: Mapping[str, str]) -> Lowering:
    """An integer operation: what Spark has, and the same on wide operands, whose result is exact."""
    overflow = {
        "ERROR": native,
        "SATURATE": f"CAST(least(greatest({exact}, {{MIN}}), {{MAX}}) AS {{T}})",
        "SILENT": f"CAST(pmod({exact} - {{MIN}}, {{SPAN}}) + {{MIN}} AS {{T}})",
    }
    return Lowering("[overflow]", {"overflow": overflow, **options})


def _double(function: str) -> Lowering:
    """A function that Spark computes in double precision."""
    return Lowering(f"CAST({function}(CAST({{0}} AS DOUBLE)) AS {{T}})", NEAREST)


def _double_on(domain: str, function: str) -> Lowering:
    """The same for a function that is NaN outside its domain."""
    text = f"CAST({function}(CAST({{0}} AS DOUBLE)) AS {{T}})"
    error = f"if({domain}, {text}, {failing(f'{function} of a value outside its domain')})"
    # NULL and NaN lie in no domain, and are no domain error either.
    error = f"if({{0}} IS NULL OR {{0}} = CAST('NaN' AS DOUBLE), {text}, {error})"
    return Lowering("[on_domain_error]", {**NEAREST, "on_domain_error": {"NAN": text, "ERROR": error}})


def _logarithm(function: str, zero: str = "0D") -> Lowering:
    """A logarithm, with the argument that it takes to minus infinity. Spark gives NULL there and below."""
    x = "CAST({0} AS DOUBLE)"
    cases = f"WHEN {x} > {zero} THEN {function}({x}) WHEN {x} = {zero} THEN [on_log_zero]"
    below = failing(f"{function} of a value outside its domain")
    return Lowering(
        f"CAST(CASE {cases} WHEN {x} < {zero} THEN [on_domain_error] END AS {{T}})",
        {
            **NEAREST,
            "on_domain_error": {"NAN": "CAST('NaN' AS DOUBLE)", "NULL": "NULL", "ERROR": below},
            "on_log_zero": {
                "MINUS_INFINITY": "CAST('-Infinity' AS DOUBLE)",
                "NAN": "CAST('NaN' AS DOUBLE)",
                "ERROR": failing(f"{function} of zero"),
            },
        },
    )


_ANY_OVERFLOW = {"ERROR": "", "SATURATE": "", "SILENT": ""}
_INTEGER_DOMAIN = {"ERROR": "", "NULL": ""}  # the errors it speaks of are those of NaN and infinity
_DIVISOR = {"ERROR": "{1}", "NULL": "nullif({1}, 0)"}
_LOWEST_BY_MINUS_ONE = "{0} = {MIN} AND {1} = -1"  # the one quotient that overflows

ARITHMETIC: Table = {
    "add:int": _integer("({0} + {1})", "({w0} + {w1})"),
    "add:fp": Lowering("({0} + {1})", NEAREST),
    "subtract:int": _integer("({0} - {1})", "({w0} - {w1})"),
    "subtract:fp": Lowering("({0} - {1})", NEAREST),
    "multiply:int": _integer("({0} * {1})", "({w0} * {w1})"),
    "multiply:fp": Lowering("({0} * {1})", NEAREST),
    "divide:int": Lowering(
        "[overflow]",
        {
            "overflow": {
                "ERROR": "CAST({0} div [on_division_by_zero] AS {T})",
                "SATURATE": (
                    f"if({_LOWEST_BY_MINUS_ONE}, CAST({{MAX}} AS {{T}}), CAST({{0}} div [on_division_by_zero] AS {{T}}))"
                ),
                "SILENT": f"if({_LOWEST_BY_MINUS_ONE}, {{0}}, CAST({{0}} div [on_division_by_zero] AS {{T}}))",
            },
            "on_division_by_zero": _DIVISOR,
            "on_domain_error": _INTEGER_DOMAIN,
        },
    ),
    # What the specification calls IEEE is not what IEEE 754 says, and LIMIT does not say which infinity.
    "divide:fp": Lowering(
        "({0} / [on_division_by_zero])", {**NEAREST, "on_division_by_zero": _DIVISOR, "on_domain_error": {"NAN": ""}}
    ),
    "modulus": Lowering(
        "[division_type]",
        {
            "division_type": {
                "TRUNCATE": "({0} % [on_domain_error])",
                "FLOOR": "CAST((({w0} % [on_domain_error]) + {w1}) % {w1} AS {T})",
            },
            "on_domain_error": _DIVISOR,
            "overflow": _ANY_OVERFLOW,  # a remainder is smaller than its divisor
        },
    ),
    "negate:int": _integer("(- {0})", "(- {w0})"),
    "negate:fp": Lowering("(- {0})"),
    "abs:int": _integer("abs({0})", "abs({w0})"),
    "abs:fp": Lowering("abs({0})"),
    "sign": Lowering("CAST(sign(CAST({0} AS DOUBLE)) AS {T})"),
    # By repeated multiplication, as Spark's own power goes through doubles. Above 64 only -1, 0 and 1 have a power that
    # fits, and of those it depends on the parity alone.
    "power:int": Lowering(
        f"if({{1}} < 0L, {failing('a negative power of an integer')}, aggregate(array_repeat({{0}},"
        " CAST(if({1} > 64L, 64L + {1} % 2L, {1}) AS INT)), 1L, (p, x) -> p * x))",
        {"overflow": {"ERROR": ""}},
    ),
    "power:fp": Lowering("CAST(power(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE)) AS {T})"),
    "factorial": Lowering(
        f"if({{0}} < 0 OR {{0}} > 20, {failing('a factorial below 0 or too large')}, CAST(factorial(CAST({{0}} AS INT))"
        " AS {T}))",
        {"overflow": {"ERROR": ""}},
    ),
    "sqrt": _double_on("{0} >= 0", "sqrt"),
    "acos": _double_on("{0} BETWEEN -1 AND 1", "acos"),
    "asin": _double_on("{0} BETWEEN -1 AND 1", "asin"),
    "acosh": _double_on("{0} >= 1", "acosh"),
    "atanh": _double_on("{0} BETWEEN -1 AND 1", "atanh"),
    **{
        name: _double(name)
        for name in ("exp", "cos", "sin", "tan", "cosh", "sinh", "tanh", "atan", "asinh", "radians", "degrees")
    },
    "atan2": Lowering("CAST(atan2(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE)) AS {T})", NEAREST),
    "bitwise_not": Lowering("(~ {0})"),
    "bitwise_and": Lowering("({0} & {1})"),
    "bitwise_or": Lowering("({0} | {1})"),
    "bitwise_xor": Lowering("({0} ^ {1})"),
    "shift_left": Lowering("shiftleft({0}, {1})"),
    "shift_right": Lowering("shiftright({0}, {1})"),
    "shift_right_unsigned": Lowering("shiftrightunsigned({0}, {1})"),
}


def _divide_decimals(call: Call, texts: Sequence[str]) -> str:
    """A quotient, rounded once.

    Spark gives a quotient fewer digits before the point than the specification (reading 37), and hence more after it:
    rounding that to the specification's scale would be a second rounding. With wider operands Spark arrives at the
    specification's type by itself.
    """
    x, y = (argument.type for argument in call.arguments if isinstance(argument, Decimal | ScalarFunction))
    raise NotImplementedError(x, y)
