"""The message ``Capabilities``, which the specification had until 0.82: the features that a system supports.

Specification: ``capabilities.proto`` of these versions.
"""

from __future__ import annotations

import functools
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from substrait_dsl.algebra.capabilities import Capabilities, FunctionCapability
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.legacy_plan import urn_of

FIELDS: dict[str, dict[str, int]] = {
    "Capabilities": {"substrait_versions": 1, "advanced_extension_type_urls": 2, "simple_extensions": 3},
    "SimpleExtension": {"uri": 1, "function_keys": 2, "type_keys": 3, "type_variation_keys": 4},
}
"""The fields of the message, and of the nested one, with their numbers. All but ``uri`` are repeated."""


@functools.cache
def capabilities_class() -> type[Message]:
    """Return the class of the message ``substrait.Capabilities``."""
    file = FileDescriptorProto(name="substrait/capabilities.proto", package="substrait", syntax="proto3")
    outer = file.message_type.add(name="Capabilities")
    inner = outer.nested_type.add(name="SimpleExtension")
    _add_fields(outer)
    _add_fields(inner)
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName("substrait.Capabilities"))


def _add_fields(message: DescriptorProto) -> None:
    for name, number in FIELDS[message.name].items():
        field = message.field.add(name=name, number=number, type=FieldDescriptorProto.TYPE_STRING)
        field.label = FieldDescriptorProto.LABEL_OPTIONAL if name == "uri" else FieldDescriptorProto.LABEL_REPEATED
        if name == "simple_extensions":
            field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, ".substrait.Capabilities.SimpleExtension"


def decode_capabilities(source: bytes | str, name: str) -> Capabilities:
    """Read the message, from its binary form or from JSON.

    It lists the extensions that a system supports: a function or a type of another one is not supported. It says
    nothing about relations, expressions, and the types of the specification. No version at all is said nothing, too,
    since a system that supports none is no system.

    Args:
        source: the bytes or the text.
        name: what to call the system.

    Raises:
        PlanFormatError: it is something else.
    """
    message: Any = capabilities_class()()
    try:
        if isinstance(source, str):
            json_format.Parse(source, message)
        else:
            message.MergeFromString(source)
    except (DecodeError, json_format.ParseError, RecursionError) as error:
        raise PlanFormatError(f"{name} is no message substrait.Capabilities: {error}") from error
    extensions = [(_urn(extension.uri), extension) for extension in message.simple_extensions]
    return Capabilities(
        name,
        versions=message.substrait_versions or None,
        messages=message.advanced_extension_type_urls,
        functions=[_function(urn, key) for urn, extension in extensions for key in extension.function_keys],
        user_defined_types=[(urn, key) for urn, extension in extensions for key in extension.type_keys],
        type_variations=[(urn, key) for urn, extension in extensions for key in extension.type_variation_keys],
    )


def _urn(uri: str) -> str:
    if not uri:
        raise PlanFormatError("an extension among the capabilities has no URI")
    return urn_of(uri)


def _function(urn: str, key: str) -> FunctionCapability:
    """Return the function of a key, ``add:i64_i64``; a key without arguments means all overloads."""
    name, colon, signature = key.partition(":")
    return FunctionCapability(urn, name, signatures=[signature] if colon else None)
