"""How what refers to much else is pickled and copied: as a list, in which everything stands before what refers to it.

A pipeline may be thousands of steps deep, and `pickle` recurses into what an object refers to. So an object is pickled
as the list of all that it is made of, in such an order that whatever an entry refers to was pickled before it, and is
written as a reference. What is shared stays shared, also between several objects of one pickle, and the size of the
pickle is linear in what an object is made of. Each object is made anew by its class, from what it was made from: what
it derives, it derives again.

All that is immutable; so a copy of it is the object itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Self
from weakref import WeakValueDictionary

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue

Recipe = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments, which make an object."""


class Immutable:
    """What is its own copy."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


class Picklable(Immutable):
    """What pickles without recursion. By default an instance is its attributes: those of attrs, or its slots."""

    __slots__ = ()

    def _recipe(self) -> Recipe:
        """What makes an equal object."""
        own_class = type(self)
        if attrs.has(own_class):
            return _from_fields, (own_class, *(getattr(self, name) for name, _ in _fields_of(own_class)))
        return _from_slots, (own_class, *(getattr(self, name) for name in slots_of(own_class)))

    def _components(self) -> Sequence[Picklable]:
        """What stands before the object in a pickle: what its recipe refers to."""
        return [*_inside(self._recipe()[1])]

    def __reduce__(self) -> Recipe:
        return _last, (tuple(_entry(each) for each in _in_order(self)),)


class PickledByFields(FrozenValue, Immutable):
    """A class of attrs whose instances are pickled as what they were made from, and are their own copies."""

    __slots__ = ()

    def __reduce__(self) -> Recipe:
        return _from_fields, (type(self), *(getattr(self, name) for name, _ in _fields_of(type(self))))


def _from_fields(of_class: type[Any], *values: Any) -> Any:
    return of_class(**{alias: value for (_, alias), value in zip(_fields_of(of_class), values, strict=True)})


def _from_slots(of_class: type[Any], *values: Any) -> Any:
    instance = object.__new__(of_class)
    for name, value in zip(slots_of(of_class), values, strict=True):
        object.__setattr__(instance, name, value)
    return instance


def _last(entries: tuple[Any, ...]) -> Any:
    return entries[-1]


class _Fields(dict[type, tuple[tuple[str, str], ...]]):
    """For each class of attrs the fields that it is made from: their names, and those of the arguments."""

    def __missing__(self, of_class: type[Any]) -> tuple[tuple[str, str], ...]:
        self[of_class] = tuple(
            (field.name, field.alias or field.name) for field in attrs.fields(of_class) if field.init
        )
        return self[of_class]


_FIELDS = _Fields()


def _fields_of(of_class: type[Any]) -> tuple[tuple[str, str], ...]:
    return _FIELDS[of_class]


def slots_of(of_class: type[Any]) -> list[str]:
    """The slots of a class and of those that it extends, these first."""
    names = (name for base in reversed(of_class.__mro__) for name in vars(base).get("__slots__", ()))
    return [name for name in names if name != "__weakref__"]


class _Entry:
    """Stands for an object in a pickle. Read back, it is that object.

    There is one for each object as long as a pickle is written, which knows by its identity what it has written.
    """

    __slots__ = ("__weakref__", "of")

    def __init__(self, of: Picklable) -> None:
        self.of = of

    def __reduce__(self) -> Recipe:
        make, arguments = self.of._recipe()
        return make, tuple(map(_with_entries, arguments))


_ENTRIES: WeakValueDictionary[int, _Entry] = WeakValueDictionary()
"""The entries by the identity of their objects, which they keep alive."""


def _entry(of: Picklable) -> _Entry:
    entry = _ENTRIES.get(id(of))
    if entry is None:
        entry = _ENTRIES[id(of)] = _Entry(of)
    return entry


def _with_entries(value: Any) -> Any:
    """A value with entries in place of what is `Picklable` in it."""
    if isinstance(value, Picklable):
        return _entry(value)
    value_class = type(value)
    if value_class is tuple or value_class is list:
        changed = [_with_entries(item) for item in value]
        if all(new is old for new, old in zip(changed, value, strict=True)):
            return value  # the very same, which may stand in other objects, too
        return value_class(changed)
    if value_class is dict:
        return {key: _with_entries(item) for key, item in value.items()}
    if value_class is partial:
        keywords = {name: _with_entries(item) for name, item in value.keywords.items()}
        return partial(_with_entries(value.func), *map(_with_entries, value.args), **keywords)
    return value


def _inside(value: Any) -> Iterator[Picklable]:
    """What `_with_entries` has entries for."""
    if isinstance(value, Picklable):
        yield value
        return
    value_class = type(value)
    if value_class is tuple or value_class is list:
        for item in value:
            yield from _inside(item)
    elif value_class is dict:
        yield from _inside(list(value.values()))
    elif value_class is partial:
        yield from _inside([value.func, *value.args, *value.keywords.values()])


def _in_order(root: Picklable) -> Iterator[Picklable]:
    """All that an object is made of, each once and behind what it is made of; the object itself is the last."""
    done: set[int] = set()
    stack: list[tuple[Picklable, bool]] = [(root, False)]
    while stack:
        current, is_ready = stack.pop()
        if id(current) in done:
            continue
        if is_ready:
            done.add(id(current))
            yield current
            continue
        stack.append((current, True))
        stack.extend((each, False) for each in reversed(current._components()) if id(each) not in done)
