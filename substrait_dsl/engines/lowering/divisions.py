"""Quotients and averages on engines that divide decimals as floating-point numbers, and by zero without an error."""

from __future__ import annotations

import decimal
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, Literal, ScalarFunction
from substrait_dsl.engines.lowering.terms import as_type, call, case_when, cast, equal, fail_where, number

INTEGER_DIGITS = 18
"""The number of decimal digits that an integer of 64 bits always has."""

MIN_AT_ONCE = 3
"""The minimal number of digits of one step of a long division."""

WIDE = 19
"""From this precision on, DuckDB computes with the full precision; below, it keeps to 18 digits and fails beyond."""


def wide_decimal(node: ScalarFunction, left: Expression, right: Expression) -> Expression:
    """Compute a sum, difference or product of decimals with all digits, and cast it to its derived type."""
    type_ = left.type
    assert isinstance(type_, t.Decimal)
    wider = t.Decimal(max(type_.precision, WIDE), type_.scale, nullable=type_.nullable)
    quotient = ScalarFunction(node.function, (as_type(left, wider), right), node.type)
    return Cast(quotient, node.type)


def guarded_division(node: ScalarFunction, left: Expression, right: Expression) -> Expression:
    """Compute a quotient or modulus of integers that fails for a divisor of zero."""
    if isinstance(right, Literal) and right.value:
        return node
    return case_when([(_is_not_zero(right), node)], Literal(None, node.type.as_nullable()))


def _is_not_zero(divisor: Expression) -> Expression:
    """Return a condition that is true, and fails for zero."""
    is_zero = equal(cast(divisor, t.FP64()), Literal(0.0, t.FP64()))
    return fail_where(is_zero, "division by zero")


def exact_quotient(dividend: Expression, divisor: Expression, type_: t.Decimal) -> Expression:
    """Compute the quotient of two decimals, rounded half away from zero to the scale of a type.

    It is a long division of integers of 64 bits, some digits at a time: the engine divides decimals, and computes their
    remainders, as floating-point numbers. It fails for operands with more than 18 digits, and for remainders without
    room for the next digits.
    """
    scale = max(_scale(dividend), _scale(divisor))
    by = _to_units(divisor, scale)
    digits = _digits(divisor) + scale - _scale(divisor)
    at_once = max(MIN_AT_ONCE, INTEGER_DIGITS - digits)
    rest = _integers("modulus", _to_units(dividend, scale), by)
    value = cast(_integers("divide", _to_units(dividend, scale), by), decimal_type(WIDE, 0))
    behind = 0
    while behind < type_.scale:
        some = min(at_once, type_.scale - behind)
        behind += some
        shifted = _integers("multiply", rest, number(10**some))
        unit = Literal(decimal.Decimal(1).scaleb(-behind), decimal_type(behind + 1, behind))
        value = _sum(value, _product(cast(_integers("divide", shifted, by), decimal_type(WIDE, 0)), unit))
        rest = _integers("modulus", shifted, by)
    last = decimal.Decimal(1).scaleb(-type_.scale)
    none, up, down = (Literal(each, decimal_type(type_.scale + 1, type_.scale)) for each in (0 * last, last, -last))
    is_less = call("comparison", "lt", _magnitude(_integers("multiply", rest, number(2))), _magnitude(by))
    is_negative = call("comparison", "not_equal", _is_negative(dividend), _is_negative(divisor))
    rounded = cast(_sum(value, case_when([(is_less, none), (is_negative, down)], up)), type_)
    return as_type(case_when([(_is_not_zero(divisor), rounded)], Literal(None, type_.as_nullable())), type_)


def _to_units(value: Expression, scale: int) -> Expression:
    """Return a decimal in units of a scale, as an integer; it fails for too many digits."""
    wide = cast(value, decimal_type(38, _scale(value)))
    factor = Literal(decimal.Decimal(10**scale), decimal_type(scale + 1, 0))
    return cast(_product(wide, factor) if scale else wide, t.I64())


def _magnitude(value: Expression) -> Expression:
    return _integers("abs", value)


def _integers(name: str, *arguments: Expression) -> Expression:
    return call("arithmetic", name, *arguments)


def _digits(value: Expression) -> int:
    type_ = value.type
    assert isinstance(type_, t.Decimal)
    return int(type_.precision)


def decimal_type(precision: int, scale: int) -> t.Decimal[Any, Any]:
    """Return a decimal type."""
    return t.Decimal(precision, scale)


def _zero(value: Expression) -> Literal:
    type_ = value.type
    assert isinstance(type_, t.Decimal)
    return Literal(decimal.Decimal(0).scaleb(-type_.scale), type_.as_required())


def _is_negative(value: Expression) -> Expression:
    return call("comparison", "lt", value, _zero(value))


def _sum(left: Expression, right: Expression) -> Expression:
    """Return a sum that keeps its scale; DuckDB fails where it has too many digits."""
    scale = max(_scale(left), _scale(right))
    return cast(call("arithmetic_decimal", "add", left, right), decimal_type(38, scale))


def _product(left: Expression, right: Expression) -> Expression:
    product = call("arithmetic_decimal", "multiply", left, right)
    return cast(product, decimal_type(38, _scale(left) + _scale(right)))


def _scale(value: Expression) -> int:
    type_ = value.type
    assert isinstance(type_, t.Decimal)
    return int(type_.scale)


def integer_average(total: Expression, many: Expression, type_: t.Type) -> Expression:
    """Return the average of integers, without its fraction, from their sum and count."""
    divisor = case_when([(call("comparison", "gt", many, number(0)), many)], Literal(None, t.I64(nullable=True)))
    return as_type(call("arithmetic", "divide", total, divisor), type_)
