"""Decimals as DataFusion computes with them: the types of Arrow's arithmetic, quotients truncated to their scale.

Arrow divides integers: it multiplies the dividend by a power of ten, and truncates the digits after the last digit of
the result. The specification's quotient has more digits, or fewer, and is rounded. The expression for a quotient
computes the same by remainders of integers, which every engine has exactly; where the numbers are too large for 38
digits on the way, the plan fails instead of giving another number.
"""

from __future__ import annotations

from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra.expressions import Argument, Expression, literal
from substrait_dsl.algebra.types import Decimal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.construction import cast_to, scalar_call

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder

MAX_DIGITS = 38
"""The maximal precision of decimals."""

DIVISION_SCALE = 4
"""The digits that a quotient has after the point beyond those of its dividend."""

_SCALE_THAT_STAYS = 6
"""The largest scale that a product of any two decimals keeps."""


AnyDecimal = Decimal[Any, Any]


def _decimal(precision: int, scale: int) -> AnyDecimal:
    type_: AnyDecimal = Decimal(max(1, min(precision, MAX_DIGITS)), min(scale, MAX_DIGITS))
    return type_


def arithmetic_type(name: str, x: AnyDecimal, y: AnyDecimal) -> AnyDecimal:
    """Return Arrow's type for ``add``, ``subtract``, ``multiply``, ``divide`` or ``modulus`` of two decimals."""
    before_x, before_y = x.precision - x.scale, y.precision - y.scale
    scale = max(x.scale, y.scale)
    match name:
        case "multiply":
            return _decimal(x.precision + y.precision + 1, x.scale + y.scale)
        case "divide":
            scale = min(x.scale + DIVISION_SCALE, MAX_DIGITS)
            return _decimal(x.precision + scale - x.scale + y.scale, scale)
        case "modulus":
            return _decimal(min(before_x, before_y) + scale, scale)
        case _:
            return _decimal(max(before_x, before_y) + scale + 1, scale)


def sum_type(x: AnyDecimal) -> AnyDecimal:
    """Return DataFusion's type of a sum."""
    return _decimal(x.precision + 10, x.scale)


def average_type(x: AnyDecimal) -> AnyDecimal:
    """Return DataFusion's type of an average."""
    return _decimal(x.precision + 4, x.scale + 4)


def decimal_arithmetic(
    decoder: Decoder, name: str, arguments: tuple[Argument, ...], declared: AnyDecimal | None
) -> Expression | None:
    """Compute with two decimals as DataFusion does, to the type that its plan declares; None for other arguments.

    Raises:
        UnsupportedError: the result has more digits than a decimal of the specification holds.
    """
    match arguments:
        case (Expression(type=Decimal() as dividend) as x, Expression(type=Decimal() as divisor) as y):
            result = arithmetic_type(name, dividend, divisor) if declared is None else declared
        case _:
            return None
    if name == "divide":
        return truncate_quotient(decoder, x, y, result)
    call = scalar_call(decoder, "arithmetic_decimal", name, x, y)
    if _scale(call) < result.scale:  # the specification would round it
        call = scalar_call(decoder, "arithmetic_decimal", name, *_narrow(name, x, y))
    return cast_to(call, result)


def truncate_quotient(decoder: Decoder, x: Expression, y: Expression, result: AnyDecimal) -> Expression:
    """Return the quotient of two decimals or integers, truncated to the scale of its type.

    Raises:
        UnsupportedError: the whole numbers that it is computed by have more than 38 digits, whatever the values are.
    """
    scale, in_y = result.scale, _scale(y)
    if scale + in_y >= MAX_DIGITS:
        raise UnsupportedError(
            f"DataFusion divides {x.type} by {y.type} to {scale} digits after the point, and cuts the rest: 38 digits "
            "are too few to compute that by integers",
            hint="cast the operands to fewer digits after the point",
        )
    decoder.count_repeated(x.size + y.size)
    dividend, divisor = _scale_to_integer(decoder, x, scale + in_y), _scale_to_integer(decoder, y, in_y)
    remainder = scalar_call(decoder, "arithmetic_decimal", "modulus", dividend, divisor)
    multiple = scalar_call(decoder, "arithmetic_decimal", "subtract", dividend, remainder)
    quotient = scalar_call(decoder, "arithmetic_decimal", "divide", multiple, divisor)
    if scale == 0:
        return cast_to(quotient, result)
    digits = MAX_DIGITS if scale <= _SCALE_THAT_STAYS else MAX_DIGITS - 1 - scale
    if digits < 1:
        raise UnsupportedError(f"a quotient with {scale} digits after the point, cut there, cannot be computed")
    unit = literal(Number(1).scaleb(-scale), _decimal(scale, scale))
    # The divisor is 1 at least, so that the quotient has no more digits than the dividend.
    integer = cast_to(quotient, _decimal(min(digits, _precision(dividend)), 0))
    return cast_to(scalar_call(decoder, "arithmetic_decimal", "multiply", integer, unit), result)


def _scale_to_integer(decoder: Decoder, value: Expression, power: int) -> Expression:
    """Scale a value by a power of ten to an integer of no more digits than it may have: engines check those of 38."""
    value = cast_to_decimal(value)
    type_ = _decimal(_precision(value) - _scale(value) + power, 0)
    if power:
        tens = literal(Number(10**power), _decimal(power + 1, 0))
        value = scalar_call(decoder, "arithmetic_decimal", "multiply", value, tens)
    return cast_to(value, type_)


def cast_to_decimal(value: Expression) -> Expression:
    """Return a decimal as it is, and an integer as a decimal."""
    return value if isinstance(value.type, Decimal) else cast_to(value, Decimal(19, 0))


def _precision(value: Expression) -> int:
    assert isinstance(value.type, Decimal)
    return int(value.type.precision)


def _scale(value: Expression) -> int:
    return value.type.scale if isinstance(value.type, Decimal) else 0


def _narrow(name: str, x: Expression, y: Expression) -> tuple[Expression, Expression]:
    """Cast two decimals to so few integer digits that the specification's result is exact; others fail.

    Raises:
        UnsupportedError: no digits are left before the point.
    """
    assert isinstance(x.type, Decimal)
    assert isinstance(y.type, Decimal)
    before_x, before_y = x.type.precision - x.type.scale, y.type.precision - y.type.scale
    if name == "multiply":
        room = MAX_DIGITS - 1 - x.type.scale - y.type.scale
        room_x = min(before_x, max(room // 2, room - before_y))
        room_y = min(before_y, room - room_x)
    else:
        room_x = room_y = MAX_DIGITS - 1 - max(x.type.scale, y.type.scale)
    if min(room_x, room_y) < 1:
        raise UnsupportedError(f"{name} of {x.type} and {y.type} would be rounded, which DataFusion does not do")
    return (
        cast_to(x, _decimal(min(before_x, room_x) + x.type.scale, x.type.scale)),
        cast_to(y, _decimal(min(before_y, room_y) + y.type.scale, y.type.scale)),
    )
