"""Messages that only others can read, as people give them."""

from __future__ import annotations

from typing import Any, Protocol

from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.errors import InvalidArgumentError


class ProtobufMessage(Protocol):
    """What a message of protobuf has."""

    @property
    def DESCRIPTOR(self) -> Any: ...  # noqa: N802  # protobuf's name
    def SerializeToString(self, *, deterministic: bool = ...) -> bytes: ...  # noqa: N802  # protobuf's name


AnyLike = AnyMessage | ProtobufMessage
"""A message for others: an `AnyMessage`, or a message of protobuf, packed or not."""


def any_message(given: object, what: str) -> AnyMessage:
    """A message of others, packed. Raises `InvalidArgumentError` for what is no message."""
    match given:
        case AnyMessage():
            return given
        case object(type_url=str() as url, value=bytes() as value):  # a google.protobuf.Any
            return AnyMessage(url, value)
        case object(DESCRIPTOR=descriptor, SerializeToString=serialize) if not isinstance(given, type):
            return AnyMessage(f"type.googleapis.com/{descriptor.full_name}", serialize(deterministic=True))
    raise InvalidArgumentError(
        f"{what} is a message, got {given!r}", hint="write AnyMessage(type_url, value), or give a protobuf message"
    )


def require_extension(given: object, what: str) -> None:
    """Raise `InvalidArgumentError` for what is neither None nor an `AdvancedExtension`."""
    if given is not None and not isinstance(given, AdvancedExtension):
        raise InvalidArgumentError(
            f"{what} is an AdvancedExtension, got {given!r}",
            hint="write AdvancedExtension(optimizations=(...), enhancement=...)",
        )
