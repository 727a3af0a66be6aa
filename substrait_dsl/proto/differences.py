"""Differences between a declared type and the derived type."""

from __future__ import annotations

import typing

from substrait_dsl.algebra.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    FixedBinary,
    FixedChar,
    List,
    Map,
    String,
    Struct,
    Type,
    Unbound,
    UserDefined,
    VarChar,
)

Difference = typing.Literal["nullability", "parameters", "kind"]
"""The difference of two types: in nullability; in size, precision or variation; in the values."""

_FAMILIES: dict[type[Type], str] = {
    **dict.fromkeys((I8, I16, I32, I64), "integers"),
    **dict.fromkeys((FP32, FP64), "floating point"),
    **dict.fromkeys((String, VarChar, FixedChar), "texts"),
    **dict.fromkeys((Binary, FixedBinary), "bytes"),
}
"""Types of the same values in other sizes."""

_ORDER: tuple[Difference, ...] = typing.get_args(Difference)


def difference_of(declared: Type, derived: Type) -> Difference | None:
    """Return the largest difference between a declared and a derived type; None if they are equal."""
    if declared == derived:
        return None
    if isinstance(declared, Unbound) or isinstance(derived, Unbound):
        return "parameters"
    if _family(declared) != _family(derived):
        return "kind"
    mine, theirs = _parts(declared), _parts(derived)
    if len(mine) != len(theirs):
        return "kind"
    found = {difference_of(one, other) for one, other in zip(mine, theirs, strict=True)} - {None}
    if not found:
        return "nullability" if declared.matches(derived) else "parameters"
    if declared.variation != derived.variation:
        found.add("parameters")
    return max((each for each in found if each is not None), key=_ORDER.index)


def _family(type_: Type) -> object:
    if isinstance(type_, UserDefined):
        return type_.urn, type_.name
    return _FAMILIES.get(type(type_), type(type_))


def _parts(type_: Type) -> tuple[Type, ...]:
    match type_:
        case Struct():
            return type_.types
        case List():
            return (type_.element,)
        case Map():
            return type_.key, type_.value
        case _:
            return ()
