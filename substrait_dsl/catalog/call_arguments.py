"""Arguments of a function call, as far as a caller knows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.types import Type, may_have_field_names


class Typed(NamedTuple):
    """An expression of a known type. `integer` is its value if it is an integer literal.

    `constant` says whether it is a constant; None where the caller cannot tell. A named tuple, which is made, hashed
    and compared faster than other records: there is one for each argument of each call.
    """

    type: Type
    integer: int | None = None
    constant: bool | None = None

    def __str__(self) -> str:
        return str(self.type)


@attrs.frozen(eq=False, repr=False)
class EnumValue(FrozenValue):
    """A word for an enumeration argument, in any case."""

    name: str

    def __str__(self) -> str:
        return self.name


@attrs.frozen(eq=False, repr=False)
class TypeValue(FrozenValue):
    """A type passed as an argument itself."""

    type: Type

    def __str__(self) -> str:
        return f"type {self.type}"


@attrs.frozen(eq=False, repr=False)
class Open(FrozenValue):
    """A bare Python value, which becomes a literal of the type that the overload needs.

    Args:
        default: The type it has by nature: `i64` for an int. None if it has none.
        accepts: Whether the value fits a type exactly.
        enum: Its text, if it may also be an enumeration value.
        also: Other types it has by nature, tried where a type with parameters is wanted: `decimal<1,0>` for 3.
        integer: The value, if it is an integer.
        text: How to show it in messages.
    """

    default: Type | None
    accepts: Callable[[Type], bool]
    enum: str | None = None
    also: tuple[Type, ...] = ()
    integer: int | None = None
    text: str = ""

    @property
    def types(self) -> tuple[Type, ...]:
        """The types it has by nature, the default first."""
        return ((self.default,) if self.default else ()) + self.also

    def __str__(self) -> str:
        return self.text or str(self.default or "a value")


CallArgument = Typed | EnumValue | TypeValue | Open


def stands_for_equals(argument: CallArgument) -> bool:
    """Return whether what is found out about an argument holds for all arguments that equal it.

    Not for a bare value, which would never be met again, nor for types whose equals may have other field names.
    """
    match argument:
        case Typed(type=type_) | TypeValue(type=type_):
            return not may_have_field_names(type_)
        case EnumValue():
            return True
        case Open():
            return False
