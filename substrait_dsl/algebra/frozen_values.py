"""The base class of frozen classes of attrs, with the methods that all of them share.

A method that attrs makes is source that is compiled when the class is: of a program that builds a plan and writes it,
the texts of values alone were a tenth of the time, and their comparisons another.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import attrs

IdentityFields = tuple[Any, ...]
"""The values of the fields that two equal instances have in common."""


class _FieldReaders(dict[type, tuple[tuple[str, ...], Callable[[Any], IdentityFields]]]):
    """For each class of attrs the names of its identity fields, and a function that reads them all."""

    def __missing__(self, attrs_class: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], IdentityFields]]:
        fields = [field for field in attrs.fields(attrs_class) if field.eq]
        if any(field.eq_key for field in fields):
            raise TypeError(f"{attrs_class.__name__} compares a field by a function: leave its __eq__ to attrs")
        names = tuple(field.name for field in fields)
        self[attrs_class] = (names, _reader(names))
        return self[attrs_class]


def _reader(names: tuple[str, ...]) -> Callable[[Any], IdentityFields]:
    if not names:
        return lambda value: ()
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda value: (read(value),)


FIELD_READERS = _FieldReaders()

_set = object.__setattr__


class FrozenValue:
    """A frozen class of attrs, made with ``eq=False, repr=False``, that prints as its fields and compares by them."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if self is other:  # as where a plan uses a wide struct thousands of times, inside of other types
            return True
        own_class = type(self)
        if type(other) is not own_class:
            return NotImplemented
        read = FIELD_READERS[own_class][1]
        return read(self) == read(other)

    def __hash__(self) -> int:
        own_class = type(self)
        return hash((own_class, FIELD_READERS[own_class][1](self)))

    def __repr__(self) -> str:
        fields = attrs.fields(type(self))  # type: ignore[arg-type]  # each class that extends this one is of attrs
        shown = [f"{field.name}={getattr(self, field.name)!r}" for field in fields if field.repr]
        return f"{type(self).__qualname__.rpartition('>.')[2]}({', '.join(shown)})"


class HashedOnce(FrozenValue):
    """A frozen value whose hash is computed once, because it is large, or hashed again and again."""

    __slots__ = ("_hash",)

    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:  # it is not computed yet
            _set(self, "_hash", hash((type(self), FIELD_READERS[type(self)][1](self))))
            return self._hash
