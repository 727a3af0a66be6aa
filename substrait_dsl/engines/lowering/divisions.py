"""Quotients and averages on engines that divide decimals as floating-point numbers, and by zero without an error."""

from __future__ import annotations

import decimal
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, Literal, ScalarFunction, literal
from substrait_dsl.engines.lowering.terms import call, cast, chosen, equal, number, of_type
from substrait_dsl.errors import UnsupportedError

EXACT_DIGITS = 15
"""How many digits of an integer, divided as floating-point numbers, are right after rounding."""

WIDE = 19
"""From so many digits on, DuckDB computes with as many as it has: with fewer it keeps to 18, and fails beyond."""


def wide_decimal(node: ScalarFunction, left: Expression, right: Expression) -> Expression:
    """A sum, difference or product of decimals, computed with all digits, as one of its derived type."""
    kind = left.type
    assert isinstance(kind, t.Decimal)
    wider = t.Decimal(max(kind.precision, WIDE), kind.scale, nullable=kind.nullable)
    made = ScalarFunction(node.function, (of_type(left, wider), right), node.type)
    return Cast(made, node.type)


def guarded_division(node: ScalarFunction, left: Expression, right: Expression) -> Expression:
    """A quotient or a remainder of integers, which fails if the divisor is zero."""
    if isinstance(right, Literal) and right.value:
        return node
    return chosen([(_is_not_zero(right), node)], Literal(None, node.type.as_nullable()))


def _is_not_zero(divisor: Expression) -> Expression:
    """True, or NULL for NULL. Fails for zero: the text that says so is no number."""
    zero = of_type(literal(0, t.I32()), t.I32())
    is_zero = equal(cast(divisor, t.FP64()), Literal(0.0, t.FP64()))
    text = chosen([(is_zero, Literal("division by zero", t.String()))], Literal("0", t.String()))
    return equal(Cast(text, t.I32()), zero)


def exact_quotient(dividend: Expression, divisor: Expression, kind: t.Decimal) -> Expression:
    """The quotient of two decimals, rounded half away from zero to the scale of a type.

    Multiples of the divisor are divided as floating-point numbers, which gives whole numbers exactly: those before the
    point, then, of what remains, those of the last digit. It fails for more than 15 digits before the point.

    Raises:
        UnsupportedError: the type has more than 15 digits behind the point.
    """
    if kind.scale > EXACT_DIGITS:
        raise UnsupportedError(f"a quotient of decimals with {kind.scale} digits behind the point is not exact")
    unit = Literal(decimal.Decimal(1).scaleb(-kind.scale), t.Decimal(kind.scale + 1, kind.scale))
    one, other = _magnitude(dividend), _magnitude(divisor)
    twice = _sum(other, other)
    rounded = _sum(_sum(one, one), _product(other, unit))
    rest = _remainder(rounded, twice)
    before = cast(_exactly_divided(rounded, rest, twice), decimal_type(EXACT_DIGITS, 0))
    behind = cast(_exactly_divided(rest, _remainder(rest, _product(twice, unit)), twice), unit.type)
    value = cast(_sum(before, behind), kind)
    is_negative = call("comparison", "not_equal", _is_negative(dividend), _is_negative(divisor))
    signed = chosen([(is_negative, _negative(value))], value)
    return of_type(chosen([(_is_not_zero(divisor), signed)], Literal(None, kind.as_nullable())), kind)


def _remainder(dividend: Expression, divisor: Expression) -> Expression:
    return cast(call("arithmetic_decimal", "modulus", dividend, divisor), dividend.type)


def _exactly_divided(dividend: Expression, rest: Expression, divisor: Expression) -> Expression:
    """A dividend without its remainder, divided as floating-point numbers."""
    whole = call("arithmetic_decimal", "subtract", dividend, rest)
    return call("arithmetic", "divide", cast(whole, t.FP64()), cast(divisor, t.FP64()))


def decimal_type(precision: int, scale: int) -> t.Decimal[Any, Any]:
    """A type of decimals."""
    return t.Decimal(precision, scale)


def _zero(value: Expression) -> Literal:
    kind = value.type
    assert isinstance(kind, t.Decimal)
    return Literal(decimal.Decimal(0).scaleb(-kind.scale), kind.as_required())


def _is_negative(value: Expression) -> Expression:
    return call("comparison", "lt", value, _zero(value))


def _negative(value: Expression) -> Expression:
    return cast(call("arithmetic_decimal", "subtract", _zero(value), value), value.type)


def _magnitude(value: Expression) -> Expression:
    wide = cast(value, _all_digits(value))
    return chosen([(_is_negative(wide), _negative(wide))], wide)


def _all_digits(value: Expression) -> t.Decimal:
    kind = value.type
    assert isinstance(kind, t.Decimal)
    return t.Decimal(38, kind.scale)


def _sum(left: Expression, right: Expression) -> Expression:
    """A sum that keeps its scale; DuckDB fails where it has too many digits."""
    scale = max(_scale(left), _scale(right))
    return cast(call("arithmetic_decimal", "add", left, right), decimal_type(38, scale))


def _product(left: Expression, right: Expression) -> Expression:
    made = call("arithmetic_decimal", "multiply", left, right)
    return cast(made, decimal_type(38, _scale(left) + _scale(right)))


def _scale(value: Expression) -> int:
    kind = value.type
    assert isinstance(kind, t.Decimal)
    return int(kind.scale)


def integer_average(total: Expression, many: Expression, kind: t.Type) -> Expression:
    """The average of integers, without its fraction, of their sum and their number."""
    divisor = chosen([(call("comparison", "gt", many, number(0)), many)], Literal(None, t.I64(nullable=True)))
    return of_type(call("arithmetic", "divide", total, divisor), kind)
