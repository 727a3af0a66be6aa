"""The casts that would make a call fit: the hints of overload resolution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import ge

import attrs

from substrait_dsl.algebra.number_types import NUMBERS, common_number, decimal_type, digits
from substrait_dsl.algebra.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    INTEGER_RANGES,
    LENGTH_TYPES,
    PRECISION_TYPES,
    Date,
    Decimal,
    FixedChar,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    VarChar,
)
from substrait_dsl.catalog.call_arguments import CallArgument, Open, Typed
from substrait_dsl.catalog.derive import Bindings, build
from substrait_dsl.catalog.records import Overload, ValueArgument
from substrait_dsl.catalog.resolve import choose

_SIZED = frozenset(type_class.keyword for type_class in (Decimal, *LENGTH_TYPES, *PRECISION_TYPES))
"""The types whose parameters are numbers, the larger the wider."""

_FAMILIES: Mapping[type[Type], tuple[str, int]] = {
    type_class: (family, place)
    for family, classes in {
        "number": (FP64, FP32, Decimal, I64, I32, I16, I8),
        "text": (String, VarChar, FixedChar),
        "time": (PrecisionTimestampTZ, PrecisionTimestamp, Date),
    }.items()
    for place, type_class in enumerate(classes)
}
"""The types that casts change into each other: their family, and their place in it, those that hold most first."""


def widening_cast(arguments: Sequence[CallArgument], overloads: Sequence[Overload]) -> str | None:
    """Return the first widening cast of one argument that makes the call fit, or of two of them to one type."""
    others = [other.type for other in arguments if isinstance(other, Typed)]
    for position, argument in enumerate(arguments):
        for type_ in _wider_types(argument.type, others) if isinstance(argument, Typed) else ():
            if _fits(arguments, position, type_, overloads):
                return _advice(position, argument, type_)
    both = _decimal_of_all(arguments)
    if both is not None and choose(overloads, [Typed(both)] * len(arguments)) is not None:
        return f"cast both to {both}"
    return None


def possible_cast(arguments: Sequence[CallArgument], overloads: Sequence[Overload]) -> str | None:
    """Return the best cast of a single argument that would make the call fit, though it may fail or lose something."""
    casts: list[tuple[tuple[int, int], int, Type]] = []
    for position, argument in enumerate(arguments):
        if isinstance(argument, Typed):
            for type_ in _wanted_types(arguments, position, overloads):
                order = _order(argument.type, type_)
                if order is not None:
                    casts.append((order, position, type_.with_nullability(argument.type.nullable)))
    for _, position, type_ in sorted(casts, key=lambda cast: cast[:2]):
        if _fits(arguments, position, type_, overloads):
            return _advice(position, arguments[position], type_)
    return None


def _fits(arguments: Sequence[CallArgument], position: int, type_: Type, overloads: Sequence[Overload]) -> bool:
    return choose(overloads, [*arguments[:position], Typed(type_), *arguments[position + 1 :]]) is not None


def _advice(position: int, argument: CallArgument, type_: Type) -> str:
    return f"cast argument {position + 1} from {argument} to {type_}"


def _wanted_types(arguments: Sequence[CallArgument], position: int, overloads: Sequence[Overload]) -> Iterator[Type]:
    """Yield the types that an argument may be wanted to have: those of the others, and those that the overloads name.

    Beside a bare value it is the value that should change, unless the argument is a text.
    """
    argument = arguments[position]
    is_text = isinstance(argument, Typed) and isinstance(argument.type, String | VarChar | FixedChar)
    for other in arguments:
        if isinstance(other, Typed):
            yield other.type
        elif isinstance(other, Open) and other.default is not None and is_text:
            yield other.default
    for overload in overloads:
        if overload.takes_count(len(arguments)):
            declared = overload.argument_at(position)
            type_ = build(declared.pattern, Bindings()) if isinstance(declared, ValueArgument) else None
            if type_ is not None:
                yield type_


def _order(type_: Type, wanted: Type) -> tuple[int, int] | None:
    """Return how good a cast is, less is better.

    Within a family, then from text, then to text; None if it makes no sense.
    """
    own, other = _FAMILIES.get(type(type_)), _FAMILIES.get(type(wanted))
    if own is None or other is None or type_.matches(wanted):
        return None
    within, place = other
    if own[0] == within:
        return 0, place
    return (1, place) if own[0] == "text" else (2, place) if within == "text" else None


def _wider_types(type_: Type, others: Sequence[Type]) -> Iterator[Type]:
    """Yield the types that hold every value of a type.

    Those of wider numbers and texts, and wider ones among `others`.
    """
    if type(type_) in NUMBERS:
        for wider in NUMBERS[NUMBERS.index(type(type_)) + 1 :]:
            if wider is not FP32 or type(type_) in (I8, I16):  # an fp32 holds no more than 24 bits exactly
                yield wider(nullable=type_.nullable)
    if isinstance(type_, FixedChar | VarChar):
        yield String(nullable=type_.nullable)
    for other in others:
        if _holds(other, type_):
            yield other.with_nullability(type_.nullable)
        if (
            isinstance(type_, PRECISION_TYPES)
            and isinstance(other, PRECISION_TYPES)
            and other.precision > type_.precision
        ):
            yield attrs.evolve(type_, precision=other.precision)
        if isinstance(other, Decimal) and type(type_) in INTEGER_RANGES and (parts := digits(type_)):
            yield decimal_type(*parts, type_.nullable)


def _decimal_of_all(arguments: Sequence[CallArgument]) -> Type | None:
    """Return the decimal that holds the values of two arguments which are decimals or integers, if there is one."""
    types = [argument.type for argument in arguments if isinstance(argument, Typed)]
    common = common_number(types) if len(arguments) == len(types) == 2 else None
    return common if isinstance(common, Decimal) else None


def _holds(wide: Type, narrow: Type) -> bool:
    if isinstance(wide, Decimal):
        wide_digits, narrow_digits = digits(wide), digits(narrow)
        if wide == narrow or wide_digits is None or narrow_digits is None:
            return False
        return all(map(ge, wide_digits, narrow_digits))
    if wide == narrow or wide.keyword != narrow.keyword or wide.keyword not in _SIZED:
        return False
    pairs = zip(wide.parameters, narrow.parameters, strict=True)
    return all(isinstance(w, int) and isinstance(n, int) and w >= n for w, n in pairs)
