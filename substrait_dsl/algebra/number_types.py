"""Numeric types: which of them hold every value of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    INTEGER_RANGES,
    INTEGER_TYPES,
    Decimal,
    Type,
)

NUMBERS: tuple[type[Type], ...] = (*INTEGER_TYPES, FP32, FP64)
"""The numeric types without parameters."""

WIDER: Mapping[type[Type], tuple[type[Type], ...]] = {
    I8: (I16, I32, I64, FP32, FP64),
    I16: (I32, I64, FP32, FP64),
    I32: (I64, FP64),
    I64: (),
    FP32: (FP64,),
    FP64: (),
}
"""The types that hold every value of a numeric type, the nearest first: an fp32 has 24 bits for them, an fp64 53."""

MAX_DIGITS = 38
"""How many digits a decimal has at most."""


def common_number(types: Sequence[Type]) -> Type | None:
    """Return the narrowest numeric type that holds every value of several ones, None if there is none.

    It is nullable if any of them is. Integers beside decimals are decimals without a scale; a decimal and a float have
    none in common.
    """
    if any(type_.variation is not None for type_ in types):
        return None
    nullable = any(type_.nullable for type_ in types)
    if any(isinstance(type_, Decimal) for type_ in types):
        return _common_decimal(types, nullable)
    classes = {type(type_) for type_ in types}
    for number in NUMBERS:
        if all(each is number or number in WIDER.get(each, ()) for each in classes):
            return number(nullable=nullable)
    return None


def digits(type_: Type) -> tuple[int, int] | None:
    """Return how many digits the values of an integer or decimal type have at most, before and after the point."""
    if isinstance(type_, Decimal):
        return int(type_.precision) - int(type_.scale), int(type_.scale)
    return (len(str(INTEGER_RANGES[type(type_)][1])), 0) if type(type_) in INTEGER_RANGES else None


def decimal_type(integer_digits: int, scale: int, nullable: bool) -> Type:
    """Return the decimal of so many digits before and after the point."""
    return Decimal(integer_digits + scale, scale, nullable=nullable)  # type: ignore[type-var]  # known only now


def _common_decimal(types: Sequence[Type], nullable: bool) -> Type | None:
    parts = [part for part in map(digits, types) if part is not None]
    integer_digits, scale = (max(each) for each in zip(*parts, strict=True))
    if len(parts) < len(types) or integer_digits + scale > MAX_DIGITS:
        return None
    return decimal_type(integer_digits, scale, nullable)
