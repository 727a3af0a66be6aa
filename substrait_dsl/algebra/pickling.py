"""Pickling and copying of deep structures without recursion.

A pipeline may be thousands of steps deep, and `pickle` recurses into the objects that an object refers to. So an object
is pickled as a list of all its components in topological order: whatever an entry refers to was pickled before it, and
is written as a reference. Shared components stay shared, also between several objects of one pickle, and the size of
the pickle is linear in the number of components. Each object is built again by its class from its fields, and derives
the rest again.

All these objects are immutable, so a copy is the object itself.
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
    """Base of classes whose instances are their own copies."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


class Picklable(Immutable):
    """Base of classes that pickle without recursion: by the attributes of attrs, or by the slots."""

    __slots__ = ()

    def _recipe(self) -> Recipe:
        """Return a function and arguments that build an equal object."""
        own_class = type(self)
        if attrs.has(own_class):
            return _from_fields, (own_class, *(getattr(self, name) for name, _ in _fields_of(own_class)))
        return _from_slots, (own_class, *(getattr(self, name) for name in slots_of(own_class)))

    def _components(self) -> Sequence[Picklable]:
        """Return the objects that the recipe refers to: they stand before this one in a pickle."""
        return [*_picklable_parts(self._recipe()[1])]

    def __reduce__(self) -> Recipe:
        return _last, (tuple(_entry(each) for each in _walk_components(self)),)


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
    """Return the slots of a class and of those that it extends, these first."""
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
    """Return a value with entries in place of what is `Picklable` in it."""
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


def _picklable_parts(value: Any) -> Iterator[Picklable]:
    """Yield the objects for which `_with_entries` makes entries."""
    if isinstance(value, Picklable):
        yield value
        return
    value_class = type(value)
    if value_class is tuple or value_class is list:
        for item in value:
            yield from _picklable_parts(item)
    elif value_class is dict:
        yield from _picklable_parts(list(value.values()))
    elif value_class is partial:
        yield from _picklable_parts([value.func, *value.args, *value.keywords.values()])


def _walk_components(root: Picklable) -> Iterator[Picklable]:
    """Yield all that an object is made of, each once and behind what it is made of; the object itself is the last."""
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
