"""What others have attached to a plan or a relation: messages that only they can read.

Specification: ``AdvancedExtension`` in ``extensions/extensions.proto``. The library never looks inside such a message:
it carries it from a plan that is read to a plan that is written.
"""

from __future__ import annotations

import attrs

from substrait_dsl.errors import InvalidArgumentError


def _check_type_url(instance: AnyMessage, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str):
        raise InvalidArgumentError(f"a type URL is a string, got {value!r}")


def _check_bytes(instance: AnyMessage, attribute: attrs.Attribute[bytes], value: object) -> None:
    if not isinstance(value, bytes):
        raise InvalidArgumentError(f"the value of an extension message is bytes, got {value!r}")


@attrs.frozen
class AnyMessage:
    """A protobuf message of any type: ``google.protobuf.Any``."""

    type_url: str = attrs.field(validator=_check_type_url)
    """Which message it is, such as ``type.googleapis.com/acme.Hint``."""
    value: bytes = attrs.field(default=b"", validator=_check_bytes)
    """The message in protobuf's binary form."""


def _check_optimizations(
    instance: AdvancedExtension, attribute: attrs.Attribute[tuple[AnyMessage, ...]], value: tuple[object, ...]
) -> None:
    for message in value:
        if not isinstance(message, AnyMessage):
            raise InvalidArgumentError(f"an optimization is an AnyMessage, got {message!r}")


def _check_enhancement(
    instance: AdvancedExtension, attribute: attrs.Attribute[AnyMessage | None], value: object
) -> None:
    if value is not None and not isinstance(value, AnyMessage):
        raise InvalidArgumentError(f"an enhancement is an AnyMessage, got {value!r}")


@attrs.frozen
class AdvancedExtension:
    """Messages of others about a plan or a relation."""

    optimizations: tuple[AnyMessage, ...] = attrs.field(default=(), validator=_check_optimizations)
    """Advice that does not change the result: whoever does not know it may ignore it."""
    enhancement: AnyMessage | None = attrs.field(default=None, validator=_check_enhancement)
    """Something that changes the meaning: whoever does not know it must refuse."""
