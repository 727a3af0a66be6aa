"""Another value of the same kind: what a broken rule would give."""

from __future__ import annotations

import functools
import itertools
import sys
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import attrs

NAME = "__corrupted__"
"""What the function is called in modules that have been broken."""


changes = 0
"""How many values have been changed in this process: a break that never changed one broke nothing."""


def corrupted(value: Any) -> Any:
    """Something else of the same kind, or the value itself, where there is nothing else that is sure to be one."""
    global changes
    new = _other(value)
    changes += new is not value
    return new


def _other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float() if not isinstance(value, Enum):
            return value + 1
        case str() if not isinstance(value, Enum):
            return _other_words().get(value, value + "_")
        case bytes():
            return value + b"_"
        case tuple() | list():
            return type(value)(_other_order(value)) if type(value) in (tuple, list) else value
        case set() | frozenset():
            return type(value)(itertools.islice(value, 1, None))
        case dict():
            return dict(itertools.islice(value.items(), len(value) - 1))
        case Mapping():
            return value
        case Iterator():
            return iter(_other_order(list(value)))
    return _other_object(value) if attrs.has(type(value)) else value


@functools.cache
def _other_words() -> dict[str, str]:
    """For each word of the library's closed lists another one of its list."""
    others: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("substrait_dsl."):
            for alias in vars(module).values():
                if typing.get_origin(alias) is typing.Literal:
                    words = [word for word in typing.get_args(alias) if isinstance(word, str)]
                    others |= dict(zip(words, [*words[1:], *words[:1]], strict=True))
    return others


def _other_order(values: Any) -> list[Any]:
    """The same backwards; if that is the same, all but the last."""
    backwards = [*values][::-1]
    same = all(one is other or one == other for one, other in zip(backwards, values, strict=True))
    return [*values][:-1] if same else backwards


def _other_object(value: Any) -> Any:
    """An object with another value in the first field that can have one."""
    for field in attrs.fields(type(value)):
        if not field.init or not field.eq:
            continue
        old = getattr(value, field.name)
        new = _other(old)
        if new is old:
            continue
        try:
            return attrs.evolve(value, **{field.alias or field.name: new})
        except Exception:  # what the class does not take: another field may do
            continue
    return value


def corrupt_field(instance: Any, name: str) -> None:
    """Give a field of an object another value, whatever the object says to that."""
    global changes
    old = getattr(instance, name, None)
    field: Any = next((field for field in attrs.fields(type(instance)) if field.name == name), None)
    new = _other(old)
    if new is old and field is not None and field.default is None:
        new = None
    changes += new is not old
    object.__setattr__(instance, name, new)
