"""Paths of messages in a plan, and walks over messages.

A path names fields as the ``.proto`` files do: ``relations[0].root.input.filter.condition``.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_MESSAGE = FieldDescriptor.TYPE_MESSAGE


def parts(message: Message) -> Iterator[tuple[str, Message]]:
    """Yield the messages inside a message, each with the last step of its path: ``input``, ``relations[0]``."""
    for field, value in message.ListFields():
        if field.type == _MESSAGE:
            if isinstance(value, Message):
                yield field.name, value
            else:
                for position, item in enumerate(value):
                    yield f"{field.name}[{position}]", item


def walk_messages(message: Message) -> Iterator[Message]:
    """Yield a message and all messages inside it."""
    stack = [message]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(part for _, part in parts(current))


def path_of(plan: Message, wanted: Message | None) -> str:
    """Return the path of a message object in a plan; empty for the plan itself, and for other messages."""
    return paths_of(plan, (wanted,))[0]


def paths_of(plan: Message, wanted: Iterable[Message | None]) -> list[str]:
    """Return the paths of message objects in a plan, found in one walk.

    Messages are compared by identity: a message that is referenced is the same object on each access. That holds for an
    unset one, too, which therefore has a path: where it should stand.
    """
    sought = list(wanted)
    missing = {id(message) for message in sought if message is not None}
    paths = _find(plan, missing, absent=()) if missing else {}
    missing -= paths.keys()
    if missing:
        descriptors = {message.DESCRIPTOR for message in sought if message is not None and id(message) in missing}
        paths |= _find(plan, missing, descriptors)
    return ["" if message is None else paths.get(id(message), "") for message in sought]


_Place = tuple[Message, "_Place | None", str, int | None]
"""A message, the location of its parent, and its step; the path is written on demand."""


def _path(place: _Place, *more: str) -> str:
    steps: list[str] = [*reversed(more)]
    around: _Place | None = place
    while around is not None and around[1] is not None:
        steps.append(around[2] if around[3] is None else f"{around[2]}[{around[3]}]")
        around = around[1]
    return ".".join(reversed(steps))


def _find(plan: Message, missing: set[int], absent: Iterable[Any]) -> dict[int, str]:
    """Return the paths of the messages with these `id`, set ones, and unset ones of some classes."""
    paths: dict[int, str] = {}
    waiting: deque[_Place] = deque([(plan, None, "", None)])
    # level by level: what a plan lacks, it mostly lacks near its root
    while waiting and len(paths) < len(missing):
        place = waiting.popleft()
        message = place[0]
        if id(message) in missing:
            paths.setdefault(id(message), _path(place))
        for field, value in message.ListFields():
            if field.type != _MESSAGE:
                continue
            if field.is_repeated:
                waiting.extend([(item, place, field.name, position) for position, item in enumerate(value)])
            else:
                waiting.append((value, place, field.name, None))
        for descriptor in absent:
            paths |= {
                id(part): _path(place, step) for step, part in _absent(message, descriptor) if id(part) in missing
            }
    return paths


def _absent(message: Message, descriptor: Any) -> Iterator[tuple[str, Message]]:
    """Return the unset messages of a class in a message, and those directly inside of such."""
    for step, inner in _ways(message.DESCRIPTOR, descriptor):
        if not message.HasField(step):
            absent = getattr(message, step)
            yield (f"{step}.{inner}", getattr(absent, inner)) if inner else (step, absent)


@functools.cache
def _ways(descriptor: Any, target: Any) -> tuple[tuple[str, str], ...]:
    """Return the fields of a message class that contain another class, and those that lead to one."""
    ways: list[tuple[str, str]] = []
    for field in _single(descriptor):
        if field.message_type is target:
            ways.append((field.name, ""))
        ways += [(field.name, inner.name) for inner in _single(field.message_type) if inner.message_type is target]
    return tuple(ways)


def _single(descriptor: Any) -> list[Any]:
    return [field for field in descriptor.fields if field.type == _MESSAGE and field.has_presence]
