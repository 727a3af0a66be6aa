"""Extension messages, which only their owners can read: they are kept unchanged.

Specification: ``AdvancedExtension`` in ``extensions/extensions.proto``.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.any_pb2 import Any as AnyProto
from substrait.extensions import extensions_pb2 as pb

from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage


def encode_any(value: AnyMessage, message: AnyProto) -> None:
    """Write a message of any type."""
    message.type_url = value.type_url
    message.value = value.value


def decode_any(message: AnyProto) -> AnyMessage:
    """Read a message of any type."""
    return AnyMessage(message.type_url, message.value)


def encode_advanced_extension(extension: AdvancedExtension | None, message: pb.AdvancedExtension) -> None:
    """Write the extension messages of a plan or a relation, if it has any; the list may be empty."""
    if extension is None:
        return
    message.SetInParent()
    for optimization in extension.optimizations:
        encode_any(optimization, message.optimization.add())
    if extension.enhancement is not None:
        encode_any(extension.enhancement, message.enhancement)


def decode_advanced_extension(message: pb.AdvancedExtension) -> AdvancedExtension:
    """Read the extension messages of a plan or a relation."""
    return AdvancedExtension(
        tuple(decode_any(optimization) for optimization in message.optimization),
        decode_any(message.enhancement) if message.HasField("enhancement") else None,
    )


def decode_own_extension(message: Any) -> AdvancedExtension | None:
    """Read the ``advanced_extension`` field of a message, if it is there."""
    if not message.HasField("advanced_extension"):
        return None
    return decode_advanced_extension(message.advanced_extension)
