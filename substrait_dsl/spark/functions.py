"""The scalar functions that Spark runs exactly: comparison, logic, numbers; strings and dates have tables elsewhere.

Specification: the files ``functions_*.yaml``. A function, or an option of one, that is in no table is refused by
name. Where an option is not given, its first value here holds: overflow and division by zero are errors, as Spark's
ANSI mode has it, and what floating point gives (NaN, infinity) where the specification offers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.expressions import Expression, Lambda, Literal, ScalarFunction
from substrait_dsl.algebra.types import Decimal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.functions_datetime import DATETIME
from substrait_dsl.spark.functions_regexp import REGEXP
from substrait_dsl.spark.functions_string import STRING
from substrait_dsl.spark.templates import Call, Table, Template, failing, lower
from substrait_dsl.spark.types import spark_sql_type

NEAREST = {"rounding": {"TIE_TO_EVEN": ""}}
"""What floating-point hardware does; Spark offers no other rounding."""


def function_to_sql(call: ScalarFunction, texts: Sequence[str]) -> str:
    """Write the call of a scalar function; `texts` are its value arguments.

    Raises:
        UnsupportedError: Spark cannot run the function, with these options and arguments, exactly.
    """
    return lower(call, texts, SCALAR_FUNCTIONS)


def _integer(native: str, exact: str, **options: Mapping[str, str]) -> Template:
    """An integer operation: what Spark has, and the same on wide operands, whose result is exact."""
    overflow = {
        "ERROR": native,
        # least and greatest would take a limit for NULL
        "SATURATE": f"if({{nulls}}, NULL, CAST(least(greatest({exact}, {{MIN}}), {{MAX}}) AS {{T}}))",
        "SILENT": f"CAST(pmod({exact} - {{MIN}}, {{SPAN}}) + {{MIN}} AS {{T}})",
    }
    return Template("[overflow]", {"overflow": overflow, **options})


def _double(function: str) -> Template:
    """A function that Spark computes in double precision."""
    return Template(f"CAST({function}(CAST({{0}} AS DOUBLE)) AS {{T}})", NEAREST)


def _double_on(domain: str, function: str) -> Template:
    """The same for a function that is NaN outside its domain."""
    text = f"CAST({function}(CAST({{0}} AS DOUBLE)) AS {{T}})"
    error = f"if({domain}, {text}, {failing(f'{function} of a value outside its domain')})"
    # NULL and NaN lie in no domain, and are no domain error either.
    error = f"if({{0}} IS NULL OR {{0}} = CAST('NaN' AS DOUBLE), {text}, {error})"
    return Template("[on_domain_error]", {**NEAREST, "on_domain_error": {"NAN": text, "ERROR": error}})


def _logarithm(function: str, zero: str = "0D") -> Template:
    """A logarithm, with the argument that it takes to minus infinity. Spark gives NULL there and below."""
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


_ANY_OVERFLOW = {"ERROR": "", "SATURATE": "", "SILENT": ""}
_INTEGER_DOMAIN = {"ERROR": "", "NULL": ""}  # the errors it speaks of are those of NaN and infinity
_DIVISOR = {"ERROR": "{1}", "NULL": "if({1} = 0, NULL, {1})"}
_QUOTIENT = "CAST({0} div [on_division_by_zero] AS {T})"
_OVERFLOWS = "{0} = {MIN} AND {1} = -1"  # no other quotient does

ARITHMETIC: Table = {
    "add:int": _integer("({0} + {1})", "({w0} + {w1})"),
    "add:fp": Template("({0} + {1})", NEAREST),
    "subtract:int": _integer("({0} - {1})", "({w0} - {w1})"),
    "subtract:fp": Template("({0} - {1})", NEAREST),
    "multiply:int": _integer("({0} * {1})", "({w0} * {w1})"),
    "multiply:fp": Template("({0} * {1})", NEAREST),
    "divide:int": Template(
        "[overflow]",
        {
            "overflow": {
                "ERROR": _QUOTIENT,
                "SATURATE": f"if({_OVERFLOWS}, CAST({{MAX}} AS {{T}}), {_QUOTIENT})",
                "SILENT": f"if({_OVERFLOWS}, {{0}}, {_QUOTIENT})",
            },
            "on_division_by_zero": _DIVISOR,
            "on_domain_error": _INTEGER_DOMAIN,
        },
    ),
    # What the specification calls IEEE is not what IEEE 754 says, and LIMIT does not say which infinity.
    "divide:fp": Template(
        "({0} / [on_division_by_zero])", {**NEAREST, "on_division_by_zero": _DIVISOR, "on_domain_error": {"NAN": ""}}
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
    "negate:int": _integer("(- {0})", "(- {w0})"),
    "negate:fp": Template("(- {0})"),
    "abs:int": _integer("abs({0})", "abs({w0})"),
    "abs:fp": Template("abs({0})"),
    "sign": Template("CAST(sign(CAST({0} AS DOUBLE)) AS {T})"),
    # By repeated multiplication, as Spark's own power goes through doubles. Above 64 only -1, 0 and 1 have a power that
    # fits, and of those it depends on the parity alone. The product begins with 1, but with NULL for a NULL.
    "power:int": Template(
        f"if({{1}} < 0L, {failing('a negative power of an integer')}, aggregate(array_repeat({{0}},"
        " CAST(if({1} > 64L, 64L + {1} % 2L, {1}) AS INT)), {0} * 0L + 1L, (p, x) -> p * x))",
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
    "acosh": _double_on("{0} >= 1", "acosh"),
    "atanh": _double_on("{0} BETWEEN -1 AND 1", "atanh"),
    **{
        name: _double(name)
        for name in ("exp", "cos", "sin", "tan", "cosh", "sinh", "tanh", "atan", "asinh", "radians", "degrees")
    },
    "atan2": Template("CAST(atan2(CAST({0} AS DOUBLE), CAST({1} AS DOUBLE)) AS {T})", NEAREST),
    "bitwise_not": Template("(~ {0})"),
    "bitwise_and": Template("({0} & {1})"),
    "bitwise_or": Template("({0} | {1})"),
    "bitwise_xor": Template("({0} ^ {1})"),
    "shift_left": Template("shiftleft({0}, {1})"),
    "shift_right": Template("shiftright({0}, {1})"),
    "shift_right_unsigned": Template("shiftrightunsigned({0}, {1})"),
}


def _unsigned(operator: str, silent: str | None = None) -> Template:
    """An operation on unsigned integers. Its exact value is known up to 38 digits, which only a product of u64 has."""
    exact = f"({{w0}} {operator} {{w1}})"
    name = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}[operator]
    tried = f"coalesce({name}({{w0}}, {{w1}}), {{MAX}})"
    checked = (
        f"CASE WHEN v BETWEEN {{MIN}} AND {{MAX}} THEN CAST(v AS {{T}}) WHEN v IS NOT NULL THEN"
        f" {failing('a result does not fit an unsigned integer')} END"
    )
    overflow = {
        "ERROR": f"transform(array({exact}), v -> {checked})[0]",
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
    "add": _unsigned("+"),
    "subtract": _unsigned("-"),
    "multiply": _unsigned("*", _WRAPPED),
    "divide": Template(
        "CAST(({w0} - {w0} % [on_division_by_zero]) / [on_division_by_zero] AS {T})",
        {"on_division_by_zero": {"ERROR": "{w1}", "NULL": "nullif({w1}, 0BD)"}, "on_domain_error": _INTEGER_DOMAIN},
    ),
}


def _divide_decimals(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """A quotient of decimals, rounded once.

    Spark counts fewer digits before the point of a quotient than the specification does (reading 37), hence keeps more
    after it; to round that to the specification's scale would be to round twice. With wider operands Spark arrives at
    the specification's type by itself.
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
            f"Spark cannot divide {x} by {y} exactly: it would round twice, first to {scale} digits",
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
        kind = call.output_type
        assert isinstance(kind, Decimal)
        return (native if kind.precision <= 34 else of_text).format(texts[0], T=spark_sql_type(kind))

    return Template(text)


_UNSIGNED = "trim(LEADING '-' FROM CAST({0} AS STRING))"
_NEGATED = f"if({{0}} < 0, {_UNSIGNED}, concat('-', CAST({{0}} AS STRING)))"

_RAISES = {"overflow": {"ERROR": ""}}
_NOT_REAL = "{0} < 0 AND {1} != floor({1})"
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
        pair = f"transform(array(CAST({text} AS DECIMAL(38,0))), v -> named_struct('l', {low('v')}, 'h', {high('v')}))"
        three = f"array(v.l, {low('v.h')}, CAST({high('v.h')} AS BIGINT))"
        return f"transform({pair}, v -> {three})[0]"

    both = f"zip_with({parts('{0}')}, {parts('{1}')}, (a, b) -> a {operator} b)"
    rest = f"(CAST(v[1] AS DECIMAL(20,0)) - if(v[2] < 0L, {unit}, 0BD)) * {unit} + CAST(v[0] AS DECIMAL(20,0))"
    whole = f"CAST(if(v[2] < 0L, v[2] + 1L, v[2]) AS DECIMAL(3,0)) * {square}"
    return Template(f"transform(array({both}), v -> CAST({whole} + ({rest}) AS {{T}}))[0]")


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
    "sqrt": Template(f"if({{0}} < 0, {failing('sqrt of a negative number')}, sqrt(CAST({{0}} AS DOUBLE)))"),
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


def _between(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """Unlike in SQL, a NULL bound makes it NULL even where the other bound decides."""
    _, *bounds = (argument.type for argument in call.arguments if isinstance(argument, Expression))
    test = "({0} >= {1} AND {0} <= {2})".format(*texts)
    if any(bound.nullable for bound in bounds):
        return f"if({texts[1]} IS NULL OR {texts[2]} IS NULL, NULL, {test})"
    return test


COMPARISON: Table = {
    # To Spark NaN equals itself and is the largest number, and 0.0 equals -0.0; the specification does not say.
    "equal": Template("({0} = {1})", compares=True),
    "not_equal": Template("({0} != {1})", compares=True),
    "is_not_distinct_from": Template("({0} <=> {1})", compares=True),
    "is_distinct_from": Template("(NOT ({0} <=> {1}))", compares=True),
    "lt": Template("({0} < {1})", compares=True),
    "gt": Template("({0} > {1})", compares=True),
    "lte": Template("({0} <= {1})", compares=True),
    "gte": Template("({0} >= {1})", compares=True),
    "between": Template(_between, compares=True),
    "is_true": Template("({0} IS TRUE)"),
    "is_not_true": Template("({0} IS NOT TRUE)"),
    "is_false": Template("({0} IS FALSE)"),
    "is_not_false": Template("({0} IS NOT FALSE)"),
    "is_null": Template("({0} IS NULL)"),
    "is_not_null": Template("({0} IS NOT NULL)"),
    "is_nan": Template("({0} = CAST('NaN' AS {t0}))"),
    "is_finite": Template("(abs({0}) < CAST('Infinity' AS {t0}))"),
    "is_infinite": Template("(abs({0}) = CAST('Infinity' AS {t0}))"),
    "nullif": Template("if({0} = {1}, NULL, {0})", compares=True),
    "coalesce": Template("coalesce({args:, })"),
    "least": Template("if({nulls}, NULL, least({args:, }))", compares=True),
    "least_skip_null": Template("least({args:, })", compares=True),
    "greatest": Template("if({nulls}, NULL, greatest({args:, }))", compares=True),
    "greatest_skip_null": Template("greatest({args:, })", compares=True),
}

BOOLEAN: Table = {
    "or": Template("({args: OR })", nothing="FALSE"),
    "and": Template("({args: AND })", nothing="TRUE"),
    "and_not": Template("({0} AND NOT {1})"),
    "xor": Template("({0} != {1})"),
    "not": Template("(NOT {0})"),
}


def _whole(function: str) -> Template:
    """A rounding to whole numbers; Spark's goes through BIGINT, but from 2**52 on every double is whole."""
    return Template(f"if(abs({{0}}) < 4503599627370496D, CAST({function}({{0}}) AS {{T}}), {{0}})")


_HALVES = {"TIE_AWAY_FROM_ZERO": "CAST(round({0}, {1}) AS {T})", "TIE_TO_EVEN": "CAST(bround({0}, {1}) AS {T})"}
_ROUND = Template("[rounding]", {"rounding": _HALVES}, constants=(1,))

ROUNDING: Table = {"ceil": _whole("ceil"), "floor": _whole("floor"), "round": _ROUND}

ROUNDING_DECIMAL: Table = {
    "ceil": Template("CAST(ceil({0}) AS {T})"),
    "floor": Template("CAST(floor({0}) AS {T})"),
    "round": _ROUND,
}

# The first argument is what the logarithm is of, as the text and the names of the arguments have it; the cases of the
# specification have the base first. No power of 1, and none of a base of 0 or below, is any other number.
_LOGB_X, _LOGB_BASE = "CAST({0} AS DOUBLE)", "CAST({1} AS DOUBLE)"
_LOGB = Template(
    f"CASE WHEN {_LOGB_X} > 0D AND {_LOGB_BASE} > 0D AND {_LOGB_BASE} != 1D THEN"
    f" (CASE WHEN {_LOGB_BASE} = 10D THEN log10({_LOGB_X}) WHEN {_LOGB_BASE} = 2D THEN log2({_LOGB_X})"
    f" ELSE ln({_LOGB_X}) / ln({_LOGB_BASE}) END)"
    f" WHEN {_LOGB_X} = 0D AND {_LOGB_BASE} > 1D THEN [on_log_zero]"
    f" WHEN {_LOGB_X} IS NOT NULL AND {_LOGB_BASE} IS NOT NULL THEN [on_domain_error] END",
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


def _of_function(name: str) -> Template:
    """A function that takes a list and a function of its elements."""

    def text(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
        match call.arguments[1]:
            case Lambda():
                return f"{name}({texts[0]}, {texts[1]})"
            case Literal(value=None):
                return f"CAST(NULL AS {spark_sql_type(call.output_type)})"
            case _:
                raise UnsupportedError(f"Spark takes a function in {call.function.name} only where it is written out")

    return Template(text)


LIST: Table = {
    "transform": _of_function("transform"),
    "filter": _of_function("filter"),
    "any_match": _of_function("exists"),
    "all_match": _of_function("forall"),
    "cardinality": Template("CAST(array_size({0}) AS BIGINT)"),
    "sort": Template(
        "[direction]",
        {
            "direction": {
                "ASC_NULLS_LAST": "array_sort({0})",
                "ASC_NULLS_FIRST": "sort_array({0}, TRUE)",
                "DESC_NULLS_LAST": "sort_array({0}, FALSE)",
                "DESC_NULLS_FIRST": "reverse(array_sort({0}))",
            }
        },
        compares=True,
    ),
}

SET: Table = {
    "index_in": Template(
        "(nullif(array_position({1}, {0}), 0L) - 1L)", {"nan_equality": {"NAN_IS_NAN": ""}}, compares=True
    ),
}

SCALAR_FUNCTIONS: Mapping[str, Table] = {
    "functions_arithmetic": ARITHMETIC,
    "functions_arithmetic_decimal": ARITHMETIC_DECIMAL,
    "functions_boolean": BOOLEAN,
    "functions_comparison": COMPARISON,
    "functions_datetime": DATETIME,
    "functions_list": LIST,
    "functions_logarithmic": LOGARITHMIC,
    "functions_rounding": ROUNDING,
    "functions_rounding_decimal": ROUNDING_DECIMAL,
    "functions_set": SET,
    "functions_string": {**STRING, **REGEXP},
    "unsigned_integers": UNSIGNED_INTEGERS,
}
"""What each extension's functions become, by what follows ``extension:io.substrait:`` in its URN."""
