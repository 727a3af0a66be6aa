"""Extension messages of a plan or a relation, which only their owners can read.

Specification: ``AdvancedExtension`` in ``extensions/extensions.proto``. The library never looks inside such a message:
it carries it from a plan that is read to a plan that is written.
"""

from __future__ import annotations

from types import NoneType
from typing import Any, Protocol

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.validators import TEXT, one, several
from substrait_dsl.errors import InvalidArgumentError


@attrs.frozen(eq=False, repr=False)
class AnyMessage(FrozenValue):
    """A protobuf message of any type: ``google.protobuf.Any``.

    Args:
        type_url: which message it is.
        value: the message in protobuf's binary form.

    Example:
        >>> sd.AnyMessage("type.acme.com/Note", b"").type_url
        'type.acme.com/Note'
    """

    type_url: str = attrs.field(validator=TEXT)
    """Which message it is, such as ``type.googleapis.com/acme.Hint``."""
    value: bytes = attrs.field(default=b"", validator=one("bytes", bytes))
    """The message in protobuf's binary form."""


class ProtobufMessage(Protocol):
    """The members that a protobuf message has."""

    @property
    def DESCRIPTOR(self) -> Any: ...  # noqa: N802  # protobuf's name
    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...  # noqa: N802  # protobuf's name


AnyLike = AnyMessage | ProtobufMessage
"""A message for others: an `AnyMessage`, or a message of protobuf, packed or not."""


def pack_message(value: object) -> AnyMessage | None:
    """Return a message of others, packed; None for what is no message."""
    match value:
        case AnyMessage():
            return value
        case object(type_url=str() as url, value=bytes() as value):  # a google.protobuf.Any
            return AnyMessage(url, value)
        case object(DESCRIPTOR=descriptor, SerializeToString=serialize) if not isinstance(value, type):
            return AnyMessage(f"type.googleapis.com/{descriptor.full_name}", serialize(deterministic=True))
    return None


def any_message(value: object, what: str) -> AnyMessage:
    """Return a message of others, packed. Raises `InvalidArgumentError` for what is no message."""
    message = pack_message(value)
    if message is None:
        raise InvalidArgumentError(
            f"{what} is a message", got=value, hint="write AnyMessage(type_url, value), or give a protobuf message"
        )
    return message


def _pack_any(value: AnyLike | None) -> Any:
    return pack_message(value) or value


def _all_packed(value: tuple[AnyLike, ...]) -> Any:
    return tuple(map(_pack_any, value)) if type(value) is tuple else value  # else the validator refuses it


@attrs.frozen(eq=False, repr=False)
class AdvancedExtension(FrozenValue):
    """Messages of others about a plan or a relation, each as an `AnyMessage` or as a message of protobuf.

    Args:
        optimizations: advice that does not change the result.
        enhancement: something that changes the meaning.

    Specification: ``AdvancedExtension``.

    Example:
        >>> note = sd.AdvancedExtension(optimizations=(sd.AnyMessage("type.acme.com/Note", b""),))
        >>> print(orders.with_extension(common=note))
        read orders common optimization 'type.acme.com/Note' -> id: i64, customer: i64, price: fp64?
    """

    optimizations: tuple[AnyMessage, ...] = attrs.field(
        default=(),
        converter=_all_packed,
        validator=several("a tuple of AnyMessage, or of protobuf messages", AnyMessage),
    )
    """An optimization: it does not change the result, and a consumer that does not know it may ignore it."""
    enhancement: AnyMessage | None = attrs.field(
        default=None,
        converter=_pack_any,
        validator=one("an AnyMessage, a protobuf message or None", AnyMessage, NoneType),
    )
    """An enhancement: it changes the meaning, and a consumer that does not know it must refuse the plan."""
