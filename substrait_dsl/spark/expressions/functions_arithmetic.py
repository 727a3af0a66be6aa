"""The functions of integers, signed and unsigned, and of floating point that Spark runs exactly; and all rounding.

Specification: ``functions_arithmetic.yaml``, ``functions_logarithmic.yaml``, ``functions_rounding*.yaml``,
``unsigned_integers.yaml``.
"""

from __future__ import annotations

from collections.abc import Mapping

from substrait_dsl.spark.expressions.literals import failing
from substrait_dsl.spark.expressions.named_values import template_with_name
from substrait_dsl.spark.expressions.templates import Table, Template

NEAREST = {"rounding": {"TIE_TO_EVEN": ""}}
"""The rounding of floating-point hardware, the only one that Spark offers."""


def _wrap_around(exact: str) -> str:
    """An exact result, wrapped around to the range of its type."""
    return f"CAST(pmod({exact} - {{MIN}}, {{SPAN}}) + {{MIN}} AS {{T}})"


def integer_operation(native: str, exact: str, **options: Mapping[str, str]) -> Template:
    """An integer operation: Spark's own, and the same on wider operands, whose result is exact."""
    overflow = {
        "ERROR": native,
        # least and greatest would replace NULL by a limit
        "SATURATE": f"if({{nulls}}, NULL, CAST(least(greatest({exact}, {{MIN}}), {{MAX}}) AS {{T}}))",
        "SILENT": _wrap_around(exact),
    }
    return Template("[overflow]", {"overflow": overflow, **options})


def _double(function: str) -> Template:
    """A function that Spark computes in double precision."""
    return Template(f"CAST({function}(CAST({{0}} AS DOUBLE)) AS {{T}})", NEAREST)


def _double_on(domain: str, function: str, value: str | None = None) -> Template:
    """The same for a function that is NaN outside its domain; `value` is how it is computed, if not by its name."""
    text = f"CAST({value or f'{function}(CAST({{0}} AS DOUBLE))'} AS {{T}})"
    error = f"if({domain}, {text}, {failing(f'{function} of a value outside its domain')})"
    # NULL and NaN lie in no domain, and are no domain error either.
    error = f"if({{0}} IS NULL OR {{0}} = CAST('NaN' AS DOUBLE), {text}, {error})"
    return Template("[on_domain_error]", {**NEAREST, "on_domain_error": {"NAN": text, "ERROR": error}})


def _bind_to_v(text: str) -> str:
    """Bind the first argument to the name v in a text, by a lambda over a list of one element."""
    return template_with_name("CAST({0} AS DOUBLE)", "v", text)


# Spark 4.1 computes these by their definitions, which lose digits near 0 and 1, and all of them far below 0.
# This is what C libraries do.
_LARGE = f"{2**28}D"  # to the square of such a number nothing adds a 1
_LN_2 = "0.6931471805599453D"
_ASINH = _bind_to_v(
    f"sign(v) * if(abs(v) < {_LARGE}, log1p(abs(v) + v * v / (1D + sqrt(v * v + 1D))), ln(abs(v)) + {_LN_2})"
)
_ACOSH = _bind_to_v(
    "CASE WHEN v < 1D THEN CAST('NaN' AS DOUBLE)"
    f" WHEN v < {_LARGE} THEN log1p(v - 1D + sqrt((v - 1D) * (v + 1D))) ELSE ln(v) + {_LN_2} END"
)


def _logarithm(function: str, zero: str = "0D") -> Template:
    """A logarithm; `zero` is the argument with the result minus infinity. Spark gives NULL there and below."""
    x = "CAST({0} AS DOUBLE)"
    cases = f"WHEN {x} > {zero} THEN {function}({x}) WHEN {x} = {zero} THEN [on_log_zero]"
    below = failing(f"{function} of a value outside its domain")
    return Template(
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


def _shift(function: str, bits: int) -> Template:
    """A shift. By the width or more, which Java takes modulo the width, it leaves the sign bits, or zeros."""
    last = bits - 1
    beyond = f"{function}({{0}}, {last})" if function == "shiftright" else "({0} ^ {0})"
    negative = failing("a shift by a negative number of bits")
    return Template(
        f"(CASE WHEN {{1}} > {last} THEN {beyond} WHEN {{1}} < 0 AND {{0}} IS NOT NULL THEN {negative}"
        f" ELSE {function}({{0}}, {{1}}) END)"
    )


_ANY_OVERFLOW = {"ERROR": "", "SATURATE": "", "SILENT": ""}
_INTEGER_DOMAIN = {"ERROR": "", "NULL": ""}  # the errors it speaks of are those of NaN and infinity
_DIVISOR = {"ERROR": "{1}", "NULL": "if({1} = 0, NULL, {1})"}
_IS_NAN = "{0} = CAST('NaN' AS {t0})"
_FLOAT_DIVISOR = {  # divided by zero, NaN is another error
    "ERROR": f"if({{1}} = 0 AND {_IS_NAN}, {{0}}, {{1}})",
    "NULL": f"if({{1}} = 0, if({_IS_NAN}, {{0}}, NULL), {{1}})",
}
_QUOTIENT = "CAST({0} div [on_division_by_zero] AS {T})"
_OVERFLOWS = "{0} = {MIN} AND {1} = -1"  # no other quotient does
# Where another condition implies that this one is false, Spark may compute the other branch for all rows. So that has
# no overflow itself, except for BIGINT, for which Spark has no wider type.
_EXACT = f"if({_OVERFLOWS}, - {{w0}}, {{0}} div [on_division_by_zero])"

# Spark's own ignores the sign of zeros: where y is a zero, the result has its sign, and the sign of x chooses 0 or pi.
_MINUS_PI_OR_PI = "if(CAST({0} AS STRING) = '-0.0', -pi(), pi())"
_ATAN2 = (
    "CASE WHEN {0} != 0 OR isnan({1}) THEN atan2(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE)) WHEN {0} IS NULL THEN NULL"
    f" WHEN {{1}} < 0 OR CAST({{1}} AS STRING) = '-0.0' THEN {_MINUS_PI_OR_PI}"
    " WHEN {1} IS NOT NULL THEN CAST({0} AS DOUBLE) END"
)

ARITHMETIC: Table = {
    "add:int": integer_operation("({0} + {1})", "({w0} + {w1})"),
    "add:fp": Template("({0} + {1})", NEAREST),
    "subtract:int": integer_operation("({0} - {1})", "({w0} - {w1})"),
    "subtract:fp": Template("({0} - {1})", NEAREST),
    "multiply:int": integer_operation("({0} * {1})", "({w0} * {w1})"),
    "multiply:fp": Template("({0} * {1})", NEAREST),
    "divide:int": Template(
        "[overflow]",
        {
            "overflow": {
                "ERROR": _QUOTIENT,
                "SATURATE": f"if({_EXACT} IS NULL, NULL, CAST(least({_EXACT}, {{MAX}}) AS {{T}}))",
                "SILENT": _wrap_around(_EXACT),
            },
            "on_division_by_zero": _DIVISOR,
            "on_domain_error": _INTEGER_DOMAIN,
        },
    ),
    # What the specification calls IEEE is not what IEEE 754 says, and LIMIT does not say which infinity. Spark divides
    # in double precision; the quotient of two FLOATs, rounded twice, is the one that is rounded once.
    "divide:fp": Template(
        "CAST({0} / [on_division_by_zero] AS {T})",
        {**NEAREST, "on_division_by_zero": _FLOAT_DIVISOR, "on_domain_error": {"NAN": ""}},
    ),
    "modulus": Template(
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
    "negate:int": integer_operation("(- {0})", "(- {w0})"),
    "negate:fp": Template("(- {0})"),
    "abs:int": integer_operation("abs({0})", "abs({w0})"),
    "abs:fp": Template("abs({0})"),
    "sign": Template("CAST(sign(CAST({0} AS DOUBLE)) AS {T})"),
    # By repeated multiplication, as Spark's own power goes through doubles. Above 64 only -1, 0 and 1 have a power that
    # fits, and of those it depends on the parity alone. The product begins with 1, but with NULL for a NULL, of which
    # any power may be asked for.
    "power:int": Template(
        f"if({{1}} < 0L AND {{0}} IS NOT NULL, {failing('a negative power of an integer')},"
        " aggregate(array_repeat({0}, CAST(if({1} > 64L, 64L + {1} % 2L, if({1} < 0L, 0L, {1})) AS INT)),"
        " {0} * 0L + 1L, (p, x) -> p * x))",
        {"overflow": {"ERROR": ""}},
    ),
    "power:fp": Template("CAST(power(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE)) AS {T})"),
    "factorial": Template(
        f"if({{0}} < 0 OR {{0}} > 20, {failing('a factorial below 0 or too large')}, CAST(factorial(CAST({{0}} AS INT))"
        " AS {T}))",
        {"overflow": {"ERROR": ""}},
    ),
    "sqrt": _double_on("{0} >= 0", "sqrt"),
    "acos": _double_on("{0} BETWEEN -1 AND 1", "acos"),
    "asin": _double_on("{0} BETWEEN -1 AND 1", "asin"),
    "acosh": _double_on("{0} >= 1", "acosh", _ACOSH),
    "asinh": Template(f"CAST({_ASINH} AS {{T}})", NEAREST),
    "atanh": _double_on("{0} BETWEEN -1 AND 1", "atanh"),
    **{
        name: _double(name)
        for name in ("exp", "cos", "sin", "tan", "cosh", "sinh", "tanh", "atan", "radians", "degrees")
    },
    "atan2": Template(f"CAST({_ATAN2} AS {{T}})", NEAREST),
    "bitwise_not": Template("(~ {0})"),
    "bitwise_and": Template("({0} & {1})"),
    "bitwise_or": Template("({0} | {1})"),
    "bitwise_xor": Template("({0} ^ {1})"),
    **{
        f"{name}:i{bits}_i32": _shift(name.replace("_", ""), bits)
        for name in ("shift_left", "shift_right", "shift_right_unsigned")
        for bits in (32, 64)
    },
}


def _unsigned_operation(operator: str, silent: str | None = None) -> Template:
    """An operation on unsigned integers. Its exact value is known up to 38 digits, which only a product of u64 has."""
    exact = f"({{w0}} {operator} {{w1}})"
    name = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}[operator]
    tried = f"coalesce({name}({{w0}}, {{w1}}), {{MAX}})"
    checked = (
        f"CASE WHEN v BETWEEN {{MIN}} AND {{MAX}} THEN CAST(v AS {{T}}) WHEN v IS NOT NULL THEN"
        f" {failing('a result does not fit an unsigned integer')} END"
    )
    overflow = {
        "ERROR": template_with_name(exact, "v", checked),
        "SATURATE": f"if({{nulls}}, NULL, CAST(least(greatest({tried}, {{MIN}}), {{MAX}}) AS {{T}}))",
        "SILENT": f"CAST(pmod({silent or exact}, {{SPAN}}) AS {{T}})",
    }
    return Template("[overflow]", {"overflow": overflow})


_HALF = f"{2**32}BD"
_WRAPPED = (  # by halves of the second factor, which keep to 38 digits
    f"(pmod({{w0}} * CAST(({{w1}} - {{w1}} % {_HALF}) / {_HALF} AS DECIMAL(10,0)), {{SPAN}}) * {_HALF}"
    f" + {{w0}} * CAST({{w1}} % {_HALF} AS DECIMAL(10,0)))"
)

UNSIGNED_INTEGERS: Table = {
    "add": _unsigned_operation("+"),
    "subtract": _unsigned_operation("-"),
    "multiply": _unsigned_operation("*", _WRAPPED),
    "divide": Template(
        "CAST(({w0} - {w0} % [on_division_by_zero]) / [on_division_by_zero] AS {T})",
        {"on_division_by_zero": {"ERROR": "{w1}", "NULL": "nullif({w1}, 0BD)"}, "on_domain_error": _INTEGER_DOMAIN},
    ),
}


def _round_to_integer(function: str) -> Template:
    """A rounding to integers. Spark's goes through BIGINT; from 2**52 on every double is an integer already."""
    return Template(f"if(abs({{0}}) < 4503599627370496D, CAST({function}({{0}}) AS {{T}}), {{0}})")


# Further digits than these no number has, and Java cannot count them all.
_HALVES = {
    ties: f"CAST({function}({{0}}, if({{1}} < -400, -400, if({{1}} > 400, 400, {{1}}))) AS {{T}})"
    for ties, function in (("TIE_AWAY_FROM_ZERO", "round"), ("TIE_TO_EVEN", "bround"))
}
_ROUND = Template("[rounding]", {"rounding": _HALVES}, literal_arguments=(1,))

ROUNDING: Table = {"ceil": _round_to_integer("ceil"), "floor": _round_to_integer("floor"), "round": _ROUND}

ROUNDING_DECIMAL: Table = {
    "ceil": Template("CAST(ceil({0}) AS {T})"),
    "floor": Template("CAST(floor({0}) AS {T})"),
    "round": _ROUND,
}

# The first argument is what the logarithm is of, as the text and the names of the arguments have it; the cases of the
# specification have the base first. No power of 1, and none of a base of 0 or below, is any other number.
_LOGB_X, _LOGB_BASE = "CAST({0} AS DOUBLE)", "CAST({1} AS DOUBLE)"
_LOGB = Template(
    f"CAST(CASE WHEN {_LOGB_X} > 0D AND {_LOGB_BASE} > 0D AND {_LOGB_BASE} != 1D THEN"
    f" (CASE WHEN {_LOGB_BASE} = 10D THEN log10({_LOGB_X}) WHEN {_LOGB_BASE} = 2D THEN log2({_LOGB_X})"
    f" ELSE ln({_LOGB_X}) / ln({_LOGB_BASE}) END)"
    f" WHEN {_LOGB_X} = 0D AND {_LOGB_BASE} > 1D THEN if(isnan({_LOGB_BASE}), {_LOGB_BASE}, [on_log_zero])"
    f" WHEN {_LOGB_X} IS NOT NULL AND {_LOGB_BASE} IS NOT NULL THEN [on_domain_error] END AS {{T}})",
    {
        **NEAREST,
        "on_domain_error": {
            "NAN": "CAST('NaN' AS DOUBLE)",
            "NULL": "NULL",
            "ERROR": failing("logb of a value outside its domain"),
        },
        "on_log_zero": {
            "MINUS_INFINITY": "CAST('-Infinity' AS DOUBLE)",
            "NAN": "CAST('NaN' AS DOUBLE)",
            "ERROR": failing("logb of zero"),
        },
    },
)

LOGARITHMIC: Table = {
    "ln": _logarithm("ln"),
    "log10": _logarithm("log10"),
    "log2": _logarithm("log2"),
    "log1p": _logarithm("log1p", "-1D"),
    "logb": _LOGB,
}
