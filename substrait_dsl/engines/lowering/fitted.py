"""Decimals on an engine that has 38 digits and checks no cast: values are checked for the digits that they must fit.

Acero takes sums, differences and products of decimals only if their type has at most 38 digits, and truncates quotients
after as many digits as the divisor has. So operands are cast to fewer digits where these are enough, and a value with
more digits fails: the cast of a message to a number.
"""

from __future__ import annotations

import decimal
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.engines.lowering.terms import as_type, call, case_when, connect, equal, is_null
from substrait_dsl.errors import UnsupportedError

MOST = 38
"""The maximal precision of decimals."""

EXACT = decimal.Context(prec=MOST)

INTEGER_DIGITS: dict[type[t.Type], int] = {t.I8: 3, t.I16: 5, t.I32: 10, t.I64: 19}
"""The maximal number of digits of integers."""

ROUND = ex.FunctionId("extension:io.substrait:functions_rounding_decimal", "round:dec_i32")
HALF_UP = (ex.FunctionOption("rounding", ("TIE_AWAY_FROM_ZERO",)),)


def decimal_type(precision: int, scale: int, *, nullable: bool) -> t.Decimal[Any, Any]:
    """Return a decimal type."""
    return t.Decimal(precision, scale, nullable=nullable)


def digits_of(value: ex.Expression) -> tuple[int, int]:
    """Return the number of digits of a decimal before and behind the point."""
    type_ = value.type
    assert isinstance(type_, t.Decimal)
    return int(type_.precision) - int(type_.scale), int(type_.scale)


def with_integer_digits(value: ex.Expression, before: int) -> ex.Expression:
    """Cast a decimal to fewer digits before the point; it fails where it has more."""
    digits, scale = digits_of(value)
    if digits <= before:
        return value
    if before + scale < 1:
        raise UnsupportedError(f"no digit is left of {value.type}, of which {before} are to stand before the point")
    type_ = decimal_type(before + scale, scale, nullable=value.type.nullable)
    return case_when([(_fits(value, before), ex.Cast(value, type_))], ex.Literal(None, type_.as_nullable()))


def as_integer(value: ex.Expression) -> ex.Expression:
    """Return a decimal without fraction as an integer of 64 bits; it fails where it is larger."""
    type_ = t.I64(nullable=value.type.nullable)
    return case_when([(_fits(value, 18), ex.Cast(value, type_))], ex.Literal(None, t.I64(nullable=True)))


def _fits(value: ex.Expression, before: int) -> ex.Expression:
    """Return a condition that is true, and fails for a value with more digits before the point."""
    _, scale = digits_of(value)
    required = value.type.as_required()
    bound = decimal.Decimal(10**before).quantize(decimal.Decimal(1).scaleb(-scale), context=EXACT)
    tests = [
        call("comparison", "lt", value, ex.Literal(bound, required)),
        call("comparison", "gt", value, ex.Literal(bound.copy_negate(), required)),
    ]
    fits: list[tuple[ex.Expression, ex.Expression]] = [(connect("and", tests), ex.Literal("0", t.String()))]
    if value.type.nullable:
        fits.append((is_null(value), ex.Literal("0", t.String())))
    text = case_when(fits, ex.Literal("a decimal of more digits than the engine has for it", t.String()))
    return equal(ex.Cast(text, t.I64()), ex.literal(0, t.I64()))


def has_digits(type_: t.Type) -> bool:
    """Whether the digits of a type can be counted."""
    return isinstance(type_, t.Decimal) or type(type_) in INTEGER_DIGITS


def cast_to_decimal(value: ex.Expression, target: t.Decimal[Any, Any]) -> ex.Expression:
    """Cast a number to a decimal, rounded half away from zero; it fails for more digits."""
    nullable = value.type.nullable
    if not isinstance(value.type, t.Decimal):
        value = ex.Cast(value, decimal_type(INTEGER_DIGITS[type(value.type)], 0, nullable=nullable))
    before, scale = int(target.precision) - int(target.scale), int(target.scale)
    if digits_of(value)[1] > scale:
        value = _round(_with_room(value), scale)
    return ex.Cast(with_integer_digits(value, before), target.with_nullability(nullable))


def _with_room(value: ex.Expression) -> ex.Expression:
    """Cast a decimal to one digit more before the point, which rounding may need: without it the engine gives 0."""
    before, scale = digits_of(value)
    if before + scale == MOST:
        value, before = with_integer_digits(value, before - 1), before - 1
    return ex.Cast(value, decimal_type(before + 1 + scale, scale, nullable=value.type.nullable))


def _round(value: ex.Expression, scale: int) -> ex.Expression:
    """Round a decimal to fewer digits behind the point; the type stays the same."""
    return ex.ScalarFunction(ROUND, (value, ex.literal(scale, t.I32())), value.type, HALF_UP)


def fitted_decimal(node: ex.ScalarFunction, left: ex.Expression, right: ex.Expression) -> ex.Expression:
    """Compute a sum, difference or product of decimals whose operands are cast, so that it has at most 38 digits."""
    (one, scale), (other, scale_of_other) = digits_of(left), digits_of(right)
    type_ = node.type
    assert isinstance(type_, t.Decimal)
    if node.function.name == "multiply":
        behind = scale + scale_of_other
        excess = one + other + behind + 1 - MOST
        smaller = max(1, min(one, one - excess)) if excess > 0 and one >= other else one
        rest = other - max(0, excess - (one - smaller))
    else:
        behind = max(scale, scale_of_other)
        smaller = rest = MOST - 1 - behind
    if min(smaller, rest) < 0 or behind > MOST:
        what = f"{node.function.name} of {left.type} and {right.type}"
        raise UnsupportedError(f"{what} has {behind} digits behind the point, and is not exact")
    left, right = with_integer_digits(left, smaller), with_integer_digits(right, rest)
    result: ex.Expression = ex.ScalarFunction(node.function, (left, right), node.type)
    if behind > type_.scale:
        typed = ex.Cast(result, decimal_type(MOST, behind, nullable=type_.nullable))
        result = with_integer_digits(_round(typed, int(type_.scale)), int(type_.precision) - int(type_.scale))
    return ex.Cast(result, node.type)


def fitted_quotient(dividend: ex.Expression, divisor: ex.Expression, type_: t.Decimal[Any, Any]) -> ex.Expression:
    """Compute the quotient of two decimals, rounded half away from zero to the scale of a type.

    The engine truncates it one digit behind the divisor's integer digits plus the dividend's scale: enough to round it.
    """
    (one, scale), (other, scale_of_other) = digits_of(dividend), digits_of(divisor)
    wider = max(scale, int(type_.scale))
    room = MOST - 1 - wider - scale_of_other
    if one + other > room:
        other = min(other, max(1, room // 2 - 2))
        one = min(one, room - other)
    if one < 1 or other < 1:
        raise UnsupportedError(f"a quotient of {dividend.type} and {divisor.type} is not exact")
    left, right = with_integer_digits(dividend, one), with_integer_digits(divisor, other)
    one = digits_of(left)[0]
    left = as_type(left, decimal_type(one + wider, wider, nullable=left.type.nullable))
    behind = wider + digits_of(right)[0] + 1
    behind = max(4, behind)
    nullable = left.type.nullable or right.type.nullable
    cut = call("arithmetic_decimal", "divide", left, right)
    typed = ex.Cast(cut, decimal_type(min(MOST, one + scale_of_other + behind + 1), behind, nullable=nullable))
    return as_type(ex.Cast(_round(typed, int(type_.scale)), type_.with_nullability(nullable)), type_)
