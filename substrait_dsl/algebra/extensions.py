"""What others have attached to a plan or a relation: messages that only they can read.

Specification: ``AdvancedExtension`` in ``extensions/extensions.proto``. The library never looks inside such a message:
it carries it from a plan that is read to a plan that is written.
"""

from __future__ import annotations

from types import NoneType

import attrs

from substrait_dsl.algebra.validators import TEXT, one, several


@attrs.frozen
class AnyMessage:
    """A protobuf message of any type: ``google.protobuf.Any``."""

    type_url: str = attrs.field(validator=TEXT)
    """Which message it is, such as ``type.googleapis.com/acme.Hint``."""
    value: bytes = attrs.field(default=b"", validator=one("bytes", bytes))
    """The message in protobuf's binary form."""


@attrs.frozen
class AdvancedExtension:
    """Messages of others about a plan or a relation."""

    optimizations: tuple[AnyMessage, ...] = attrs.field(
        default=(), validator=several("a tuple of AnyMessage", AnyMessage)
    )
    """Advice that does not change the result: whoever does not know it may ignore it."""
    enhancement: AnyMessage | None = attrs.field(
        default=None, validator=one("an AnyMessage or None", AnyMessage, NoneType)
    )
    """Something that changes the meaning: whoever does not know it must refuse."""
