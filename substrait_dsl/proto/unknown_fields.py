"""Unknown fields of a message and of the messages inside.

To visit every message takes as long in Python as protobuf takes for all else, and hardly any plan has such a field. So
protobuf drops them, and the size tells whether there were any. Its depth is limited, though.
"""

from __future__ import annotations

import functools
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass
from substrait import algebra_pb2 as pb

_DROP_LEVELS = 62
"""The number of levels that `DiscardUnknownFields` visits at least; then it stops in silence."""
_FAR_LEVEL = 40
"""From this level it reaches all deeper ones: parsers accept messages 100 deep."""


def drop_unknown_fields(document: Message, data: bytes) -> bool:
    """Drop the unknown fields of a message that was parsed from these bytes; return whether it had any."""
    size = document.ByteSize()
    document.DiscardUnknownFields()
    if not _is_low(document, data):
        for message in _far_inside(document):
            message.DiscardUnknownFields()
    return document.ByteSize() != size


# --- messages that are low, as most are

_OPEN, _CLOSE = b"\x0b", b"\x0c"
_OPEN_DOCUMENT, _CLOSE_DOCUMENT = b"\x13", b"\x14"
_AROUND = 100 - _DROP_LEVELS


def _is_low(document: Message, data: bytes) -> bool:
    """Whether a message has at most `_DROP_LEVELS` levels: then parsers accept it with so many more around it."""
    around = _AROUND - 1
    try:
        _nest(document.DESCRIPTOR).FromString(
            _OPEN * around + _OPEN_DOCUMENT + data + _CLOSE_DOCUMENT + _CLOSE * around
        )
    except DecodeError:
        return False
    return True


@functools.cache
def _nest(descriptor: Any) -> type[Message]:
    """Return a message class that contains itself (field 1), or a message of another class (field 2).

    Both fields are groups: a tag opens and a tag closes them, so that bytes are put into them without being counted.
    """
    name = f"Nest{descriptor.name}"
    package = "substrait_dsl.unknown_fields"
    file = FileDescriptorProto(name=f"{package}.{name}", package=package, dependency=[descriptor.file.name])
    nest = file.message_type.add(name=name)
    group, once = FieldDescriptorProto.TYPE_GROUP, FieldDescriptorProto.LABEL_OPTIONAL
    nest.field.add(name="nest", number=1, type=group, type_name=f".{package}.{name}", label=once)
    nest.field.add(name="whole", number=2, type=group, type_name=f".{descriptor.full_name}", label=once)
    descriptor.file.pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(descriptor.file.pool.FindMessageTypeByName(f"{package}.{name}"))


# --- messages that are high

_MESSAGE = FieldDescriptor.TYPE_MESSAGE


def _far_inside(document: Message) -> list[Any]:
    """Return the messages at `_FAR_LEVEL`, except those too short to contain others below `_DROP_LEVELS`."""
    relations, current = _relations(), [document]
    for level in range(_FAR_LEVEL):
        # A message inside another takes two bytes at least, its tag and its length. Relations are not measured: that
        # takes the longer the more stands inside, and most of them lead far.
        short = 2 * (_DROP_LEVELS - level - 2)
        inside: list[Any] = []
        for message in current:
            for field, value in message.ListFields():
                if field.type == _MESSAGE:
                    inside += value if field.is_repeated else (value,)
        current = [message for message in inside if type(message) in relations or message.ByteSize() > short]
    return current


@functools.cache
def _relations() -> frozenset[type[Message]]:
    """Return the classes of relations, and of their bodies."""
    fields: Any = pb.Rel.DESCRIPTOR.oneofs_by_name["rel_type"].fields
    return frozenset({pb.Rel, *(GetMessageClass(field.message_type) for field in fields)})
