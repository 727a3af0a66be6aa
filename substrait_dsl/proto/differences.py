"""Differences between a declared type and the derived type."""

from __future__ import annotations

import typing

from substrait_dsl.algebra import types as t

Difference = typing.Literal["nullability", "parameters", "kind"]
"""The difference of two types: in nullability; in size, precision or variation; in the values."""

_FAMILIES: dict[type[t.Type], str] = {
    **dict.fromkeys(t.INTEGER_TYPES, "integers"),
    **dict.fromkeys((t.FP32, t.FP64), "floating point"),
    **dict.fromkeys((t.String, t.VarChar, t.FixedChar), "texts"),
    **dict.fromkeys((t.Binary, t.FixedBinary), "bytes"),
}
"""Types of the same values in other sizes."""

_ORDER: tuple[Difference, ...] = typing.get_args(Difference)


def difference_of(declared: t.Type, derived: t.Type) -> Difference | None:
    """Return the largest difference between a declared and a derived type; None if they are equal."""
    if declared == derived:
        return None
    if isinstance(declared, t.Unbound) or isinstance(derived, t.Unbound):
        return "parameters"
    if _family(declared) != _family(derived):
        return "kind"
    declared_parts, derived_parts = _parts(declared), _parts(derived)
    if len(declared_parts) != len(derived_parts):
        return "kind"
    found = {difference_of(one, other) for one, other in zip(declared_parts, derived_parts, strict=True)} - {None}
    if not found:
        return "nullability" if declared.matches(derived) else "parameters"
    if declared.variation != derived.variation:
        found.add("parameters")
    return max((each for each in found if each is not None), key=_ORDER.index)


def _family(type_: t.Type) -> object:
    if isinstance(type_, t.UserDefined):
        return type_.urn, type_.name
    return _FAMILIES.get(type(type_), type(type_))


def _parts(type_: t.Type) -> tuple[t.Type, ...]:
    match type_:
        case t.Struct():
            return type_.types
        case t.List():
            return (type_.element,)
        case t.Map():
            return type_.key, type_.value
        case _:
            return ()
