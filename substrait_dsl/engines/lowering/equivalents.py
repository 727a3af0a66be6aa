"""Calls written by other calls: options that an engine lacks, the larger of two values, signs.

Integers that may overflow are computed with more digits, which shows whether they do.
"""

from __future__ import annotations

import decimal
import math
import sys
from collections.abc import Callable, Mapping, Sequence

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, Literal, ScalarFunction, literal
from substrait_dsl.engines.lowering.terms import (
    as_type,
    call,
    case_when,
    cast,
    compare,
    connect,
    equal,
    is_null,
    negate,
    one_zero,
)

BITS: Mapping[type[t.Type], int] = {t.I8: 8, t.I16: 16, t.I32: 32, t.I64: 64}
"""The bits of integer types."""

WIDEST = t.Decimal(38, 0)


def overflowing(node: ScalarFunction, preferences: Sequence[str]) -> Expression | None:
    """Write an integer call with the overflow behavior that its option asks for; None where there is no way.

    Args:
        node: the call, of ``add``, ``subtract``, ``multiply``, ``divide``, ``negate`` or ``abs``.
        preferences: the values of the option, the first of which that can be had is taken.
    """
    type_ = node.type
    if type(type_) not in BITS or node.function.name not in OVERFLOWING:
        return None
    for preference in preferences:
        match preference.upper():
            case "ERROR":
                return as_type(Cast(_compute_wide(node), type_), type_)
            case "SATURATE":
                return _saturate(node)
            case "SILENT" if node.function.name in ("divide", "negate", "abs"):
                return wrap_around(node)
    return None


def _compute_wide(node: ScalarFunction) -> Expression:
    """Compute the result with so many digits that it does not overflow."""
    arguments = [each for each in node.arguments if isinstance(each, Expression)]
    name = node.function.name
    if not isinstance(node.type, t.I64):
        wide = [cast(each, t.I64()) for each in arguments]
        return call("arithmetic", name, *wide)
    digits = [cast(cast(each, t.Decimal(19, 0)), t.Decimal(19, 0)) for each in arguments]
    match name:
        case "negate" | "abs":
            (value,) = digits
            minus = call("arithmetic_decimal", "subtract", _integer_literal(0, t.Decimal(19, 0)), value)
            if name == "negate":
                return cast(minus, WIDEST)
            is_negative = call("comparison", "lt", value, _integer_literal(0, t.Decimal(19, 0)))
            return case_when([(is_negative, cast(minus, WIDEST))], cast(value, WIDEST))
        case "divide":  # of the one quotient that overflows
            left, right = arguments
            exact = cast(call("arithmetic", "divide", left, right), WIDEST)
            return case_when([(_is_least_by_minus_one(left, right), _integer_literal(2**63, WIDEST))], exact)
        case _:
            return cast(call("arithmetic_decimal", name, *digits), WIDEST)


def _is_least_by_minus_one(left: Expression, right: Expression) -> Expression:
    least = literal(-(2 ** (BITS[type(left.type)] - 1)), left.type.as_required())
    return connect("and", [equal(left, least), equal(right, literal(-1, right.type.as_required()))])


def _integer_literal(value: int, type_: t.Type) -> Literal:
    return (
        Literal(decimal.Decimal(value), type_) if isinstance(type_, t.Decimal) else literal(value, type_.as_required())
    )


def _saturate(node: ScalarFunction) -> Expression:
    """Clamp the result to the range of its type."""
    type_, wide = node.type, _compute_wide(node)
    bits = BITS[type(type_)]
    wanted = wide.type.as_required()
    most, least = _integer_literal(2 ** (bits - 1) - 1, wanted), _integer_literal(-(2 ** (bits - 1)), wanted)
    clamped = case_when(
        [(call("comparison", "gt", wide, most), most), (call("comparison", "lt", wide, least), least)], wide
    )
    return as_type(Cast(clamped, type_), type_)


def wrap_around(node: ScalarFunction) -> Expression:
    """Return ``divide``, ``negate`` or ``abs``, which wrap around for the least integer."""
    first, *others = [each for each in node.arguments if isinstance(each, Expression)]
    least = literal(-(2 ** (BITS[type(node.type)] - 1)), node.type.as_required())
    is_least = _is_least_by_minus_one(first, others[0]) if others else equal(first, least)
    bare = ScalarFunction(node.function, node.arguments, node.type)
    return as_type(case_when([(is_least, as_type(least, node.type))], bare), node.type)


OVERFLOWING = ("add", "subtract", "multiply", "divide", "negate", "abs")
"""Integer functions whose result may exceed their type."""


def floored_modulus(node: ScalarFunction) -> Expression:
    """Compute the remainder of a floored division: it has the sign of the divisor."""
    _, divisor = (each for each in node.arguments if isinstance(each, Expression))
    rest = ScalarFunction(node.function, node.arguments, node.type)
    zero = literal(0, node.type.as_required())
    signs = [call("comparison", "lt", each, zero) for each in (rest, divisor)]
    differs = connect("and", [negate(equal(rest, zero)), call("comparison", "not_equal", *signs)])
    return as_type(case_when([(differs, call("arithmetic", "add", rest, divisor))], rest), node.type)


def extreme_value(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """Compute the largest or the least of values: NULL where one is NULL, or of those that are not NULL."""
    name = "gte" if node.function.name.startswith("greatest") else "lte"
    skips = node.function.name.endswith("_skip_null")
    type_ = node.type
    extreme = as_type(arguments[0], type_)
    for each in arguments[1:]:
        value = as_type(each, type_)
        clauses: list[tuple[Expression, Expression]] = []
        if skips and extreme.type.nullable:
            clauses += [(is_null(extreme), value), (is_null(value), extreme)]
        extreme = as_type(case_when([*clauses, (compare(name, extreme, value), extreme)], value), type_)
    nulls = [is_null(each) for each in arguments if each.type.nullable]
    if skips or not nulls:
        return extreme
    return case_when([(connect("or", nulls), Literal(None, type_.as_nullable()))], extreme)


def sign_of(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """Compute the sign: 1, 0 or -1; NaN of NaN."""
    (value,) = arguments
    required = value.type.as_required()
    one, zero, minus = (_number(each, required) for each in (1, 0, -1))
    clauses: list[tuple[Expression, Expression]] = [(is_null(value), Literal(None, value.type.as_nullable()))]
    if isinstance(required, t.FP32 | t.FP64):
        clauses.append((call("comparison", "is_nan", value), value))
    clauses += [(call("comparison", "gt", value, zero), one), (call("comparison", "lt", value, zero), minus)]
    return as_type(case_when(clauses, zero), node.type)


def _number(value: int, type_: t.Type) -> Literal:
    if isinstance(type_, t.Decimal):
        return Literal(decimal.Decimal(value), type_)
    return literal(float(value) if isinstance(type_, t.FP32 | t.FP64) else value, type_)


CLASSES = ((-1, -math.inf), (1, math.inf), (2, math.nan))
"""The numbers that are not finite, each with the number of its class; finite numbers have class 0."""


def without_extremes(value: Expression) -> tuple[Expression, Expression]:
    """Return a floating-point number, or NULL if it is not finite, and the number of its class; NaN has the largest.

    Engines start the least and the largest of floating-point numbers with the last finite one, and some lose NaN.
    """
    type_ = value.type.as_required()
    nothing, unclassed = (Literal(None, each.as_nullable()) for each in (type_, t.I32()))
    tests = [
        call("comparison", "is_nan", value) if math.isnan(number) else equal(value, Literal(number, type_))
        for _, number in CLASSES
    ]
    classes = [(test, literal(each, t.I32())) for test, (each, _) in zip(tests, CLASSES, strict=True)]
    finite = case_when([(test, nothing) for test in tests], value)
    return finite, case_when([(is_null(value), unclassed), *classes], literal(0, t.I32()))


def extreme_of_class(extreme: Expression, found: Expression, type_: t.Type) -> Expression:
    """Return the extreme of numbers, from that of the finite ones and that of the classes."""
    required = type_.as_required()
    clauses: list[tuple[Expression, Expression]] = [
        (equal(found, literal(each, t.I32())), Literal(number, required)) for each, number in CLASSES
    ]
    return as_type(case_when(clauses, extreme), type_)


LARGEST = {t.FP32: 3.4028234663852886e38, t.FP64: sys.float_info.max}


def is_finite(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """Whether a number is finite."""
    return _compare_to_largest("lte", *arguments)


def is_infinite(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """Whether a number is infinite."""
    return _compare_to_largest("gt", *arguments)


def _compare_to_largest(comparison: str, value: Expression) -> Expression:
    """Whether a value is a number whose absolute value compares in this way to the largest finite one."""
    required = value.type.as_required()
    bound = literal(LARGEST[type(required)], required)
    size = call("arithmetic", "abs", one_zero(value))
    return connect("and", [negate(call("comparison", "is_nan", value)), call("comparison", comparison, size, bound)])


def hide_operand(node: ScalarFunction, arguments: list[Expression]) -> Expression:
    """Hide an operand of a bitwise function in a conditional: engines take -v for ~v."""
    left, right = arguments
    zero = literal(0, right.type.as_required())
    hidden = right if isinstance(right, Literal) else case_when([(equal(right, zero), right)], right)
    if node.function.name == "bitwise_and":  # all bits, without those that only one has
        either, one = (call("arithmetic", name, left, hidden) for name in ("bitwise_or", "bitwise_xor"))
        result = call("arithmetic", "bitwise_xor", either, one)
    else:
        result = call("arithmetic", node.function.name, left, hidden)
    nulls = [is_null(each) for each in arguments if each.type.nullable]
    return case_when([(connect("or", nulls), Literal(None, node.type.as_nullable()))], result) if nulls else result


EQUIVALENTS: Mapping[str, Callable[[ScalarFunction, list[Expression]], Expression]] = {
    "extreme_value": extreme_value,
    "sign": sign_of,
    "is_finite": is_finite,
    "is_infinite": is_infinite,
    "hidden_operand": hide_operand,
}
"""The implementation of each rule that writes a call by other functions, by its name in profiles."""
