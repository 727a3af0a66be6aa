"""Message classes with the fields that were removed: a superset of the current messages.

A parser of the current messages keeps a removed field aside as unknown, and a ``LIMIT`` or a column's type is lost in
silence. The messages here have those fields under their old names, so that bytes and JSON of old plans are read as
their writers meant them. The current descriptors reserve every number of a removed field.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import attrs
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan

PACKAGE = "substrait."


@attrs.frozen
class OldField:
    """A removed field of a message. Names omit the package."""

    message: str
    number: int
    name: str
    type: str
    """A scalar type as protobuf calls it, or the name of a message or enumeration."""
    repeated: bool = False
    oneof: str | None = None
    """The oneof of the field; it also tells an unset number from 0."""
    unwritten: str | None = None
    """Why the legacy encoding does not write the field; None: `legacy_fields` writes it."""


@attrs.frozen
class NewField:
    """A field that a later version of the specification has."""

    message: str
    number: int
    name: str
    since: str


INTERVAL_DAY = "Expression.Literal.IntervalDayToSecond"
FILE = "ReadRel.LocalFiles.FileOrFiles"
DECLARATION = "extensions.SimpleExtensionDeclaration"

_EXCLUDES = (
    "excludes today's field, of one oneof; who does not know that one refuses a type or a literal without a kind"
)
_ARGUMENTS = "no reader of plans with URIs takes it for the arguments: all read `arguments`, which is older than those"
_FORMATS = "each format has had a message of its own since before 0.23"

REMOVED_FIELDS: tuple[OldField, ...] = (
    # URIs named extensions before URNs did (0.75), and went with 0.85
    OldField("Plan", 1, "extension_uris", "extensions.SimpleExtensionURI", repeated=True),
    OldField("ExtendedExpression", 1, "extension_uris", "extensions.SimpleExtensionURI", repeated=True),
    OldField(f"{DECLARATION}.ExtensionType", 1, "extension_uri_reference", "uint32"),
    OldField(f"{DECLARATION}.ExtensionTypeVariation", 1, "extension_uri_reference", "uint32"),
    OldField(f"{DECLARATION}.ExtensionFunction", 1, "extension_uri_reference", "uint32"),
    # gone with 0.88
    OldField("AggregateRel.Grouping", 1, "grouping_expressions", "Expression", repeated=True),
    OldField("Type", 14, "timestamp", "Type.Timestamp", oneof="kind", unwritten=_EXCLUDES),
    OldField("Type", 17, "time", "Type.Time", oneof="kind", unwritten=_EXCLUDES),
    OldField("Type", 29, "timestamp_tz", "Type.TimestampTZ", oneof="kind", unwritten=_EXCLUDES),
    OldField("Expression.Literal", 14, "timestamp", "int64", oneof="literal_type", unwritten=_EXCLUDES),
    OldField("Expression.Literal", 17, "time", "int64", oneof="literal_type", unwritten=_EXCLUDES),
    OldField("Expression.Literal", 27, "timestamp_tz", "int64", oneof="literal_type", unwritten=_EXCLUDES),
    # gone with 0.93
    OldField("Expression.ScalarFunction", 2, "args", "Expression", repeated=True, unwritten=_ARGUMENTS),
    OldField("Expression.WindowFunction", 8, "args", "Expression", repeated=True, unwritten=_ARGUMENTS),
    OldField("AggregateFunction", 2, "args", "Expression", repeated=True, unwritten=_ARGUMENTS),
    OldField("Expression", 10, "enum", "Expression.Enum", oneof="rex_type", unwritten=_ARGUMENTS),
    # gone with 0.95
    OldField("Type", 31, "user_defined_type_reference", "uint32", oneof="kind", unwritten=_EXCLUDES),
    # gone with 0.98
    OldField("FetchRel", 3, "offset", "int64", oneof="offset_mode"),
    OldField("FetchRel", 4, "count", "int64", oneof="count_mode"),
    OldField("ReadRel.VirtualTable", 1, "values", "Expression.Literal.Struct", repeated=True),
    OldField("HashJoinRel", 4, "left_keys", "Expression.FieldReference", repeated=True),
    OldField("HashJoinRel", 5, "right_keys", "Expression.FieldReference", repeated=True),
    OldField("MergeJoinRel", 4, "left_keys", "Expression.FieldReference", repeated=True),
    OldField("MergeJoinRel", 5, "right_keys", "Expression.FieldReference", repeated=True),
    OldField(INTERVAL_DAY, 3, "microseconds", "int32", oneof="microseconds_mode"),
    # gone before 0.23: each format has a message of its own since
    OldField(FILE, 5, "format", f"{FILE}.FileFormat", unwritten=_FORMATS),
)
"""The removed fields of messages that current plans and extended expressions contain."""

CHANGED_FIELDS: tuple[OldField, ...] = (
    # the alternative of `microseconds`, hence the only old number that differed from an unset one; here each has
    # a oneof of its own, since plans in the legacy encoding have both
    OldField(INTERVAL_DAY, 4, "precision", "int32", oneof="precision_mode"),
)
"""Fields that still exist, in their former form."""

REMOVED_MESSAGES: dict[str, tuple[OldField, ...]] = {
    "extensions.SimpleExtensionURI": (
        OldField("extensions.SimpleExtensionURI", 1, "extension_uri_anchor", "uint32"),
        OldField("extensions.SimpleExtensionURI", 2, "uri", "string"),
    ),
    **{
        name: (
            OldField(name, 1, "type_variation_reference", "uint32"),
            OldField(name, 2, "nullability", "Type.Nullability"),
        )
        for name in ("Type.Timestamp", "Type.Time", "Type.TimestampTZ")
    },
    "Expression.Enum": (
        OldField("Expression.Enum", 1, "specified", "string", oneof="enum_kind"),
        OldField("Expression.Enum", 2, "unspecified", "Expression.Enum.Empty", oneof="enum_kind"),
    ),
    "Expression.Enum.Empty": (),
}
"""The messages that only removed fields used; nested ones come after their parent."""

REMOVED_ENUM_VALUES: dict[str, dict[str, int]] = {
    "JoinRel.JoinType": {"JOIN_TYPE_SEMI": 5, "JOIN_TYPE_ANTI": 6, "JOIN_TYPE_SINGLE": 7},  # LEFT_* since 0.54
    "WriteRel.OutputMode": {"OUTPUT_MODE_MODIFIED_TUPLES": 2},  # MODIFIED_RECORDS since 0.40
    f"{FILE}.FileFormat": {"FILE_FORMAT_UNSPECIFIED": 0, "FILE_FORMAT_PARQUET": 1},
}
"""Former names of enum numbers, for JSON; and the enumerations that only removed fields used."""

NEW_FIELDS: tuple[NewField, ...] = (
    NewField("Rel", 25, "detached_rel_ordinal", "0.107"),
    NewField("PlanRel", 4, "detached_rels", "0.107"),
    NewField("ExtendedExpression", 10, "detached_rels", "0.107"),
    NewField("Plan", 11, "named_lambdas", "0.107"),
    NewField("Expression", 19, "named_lambda_reference", "0.107"),
    NewField("Expression.LambdaInvocation", 3, "named_lambda", "0.107"),
)
"""Fields that the installed messages may lack because they are older than the plan."""


def old_class(message_class: type[Message]) -> type[Message]:
    """Return the class of a message, such as ``Plan``, with the current and the removed fields."""
    return GetMessageClass(_old_pool().FindMessageTypeByName(message_class.DESCRIPTOR.full_name))


def old_plan_class() -> type[Message]:
    """Return the class of ``Plan`` with the current and the removed fields."""
    return old_class(Plan)


@functools.cache
def _old_pool() -> DescriptorPool:
    # extended expressions have the versions of plans, so that their file depends on that of plans, and on all others
    files = [_copy(file) for file in _with_dependencies(ExtendedExpression.DESCRIPTOR.file)]
    messages = {name: message for file in files for name, message in _messages_of(file)}
    _add_removed(messages, {file.package + ".": file for file in files})
    pool = DescriptorPool()
    for file in files:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def _with_dependencies(file: FileDescriptor) -> Iterator[FileDescriptor]:
    """Return a file after all that it depends on."""
    seen: dict[str, FileDescriptor] = {}

    def visit(each: FileDescriptor) -> None:
        for dependency in each.dependencies:
            visit(dependency)
        seen.setdefault(each.name, each)

    visit(file)
    return iter(seen.values())


def _copy(file: FileDescriptor) -> FileDescriptorProto:
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    return proto


def _messages_of(file: FileDescriptorProto) -> Iterator[tuple[str, DescriptorProto]]:
    """Return the messages of a file by their full names, also nested ones."""
    stack = [(f"{file.package}.{message.name}", message) for message in file.message_type]
    while stack:
        name, message = stack.pop()
        yield name, message
        stack.extend((f"{name}.{inner.name}", inner) for inner in message.nested_type)


def _add_removed(messages: dict[str, DescriptorProto], files: dict[str, FileDescriptorProto]) -> None:
    for full_name in REMOVED_MESSAGES:
        parent, _, name = (PACKAGE + full_name).rpartition(".")
        added = messages[parent].nested_type.add() if parent in messages else files[f"{parent}."].message_type.add()
        added.name = name
        messages[PACKAGE + full_name] = added
    for enum, values in REMOVED_ENUM_VALUES.items():
        _add_enum_values(messages, enum, values)
    for field in (*REMOVED_FIELDS, *CHANGED_FIELDS, *(field for each in REMOVED_MESSAGES.values() for field in each)):
        _add_field(messages, field)


def _add_enum_values(messages: dict[str, DescriptorProto], enum: str, values: dict[str, int]) -> None:
    parent, _, name = enum.rpartition(".")
    enums = messages[PACKAGE + parent].enum_type
    proto = next((each for each in enums if each.name == name), None) or enums.add(name=name)
    used = {value.number for value in proto.value}
    proto.options.allow_alias = not used.isdisjoint(values.values())
    for value, number in values.items():
        proto.value.add(name=value, number=number)


def _add_field(messages: dict[str, DescriptorProto], old: OldField) -> None:
    message = messages[PACKAGE + old.message]
    del message.reserved_range[:], message.reserved_name[:]
    field = next((each for each in message.field if each.number == old.number), None) or message.field.add()
    field.name, field.number = old.name, old.number
    field.label = FieldDescriptorProto.LABEL_REPEATED if old.repeated else FieldDescriptorProto.LABEL_OPTIONAL
    if old.type in _SCALARS:
        field.type = _SCALARS[old.type]
    else:
        field.type_name = f".{PACKAGE}{old.type}"
        is_message = PACKAGE + old.type in messages
        field.type = FieldDescriptorProto.TYPE_MESSAGE if is_message else FieldDescriptorProto.TYPE_ENUM
    if old.oneof is not None:
        oneofs = [oneof.name for oneof in message.oneof_decl]
        if old.oneof not in oneofs:
            message.oneof_decl.add(name=old.oneof)
            oneofs.append(old.oneof)
        field.oneof_index = oneofs.index(old.oneof)


_SCALARS: dict[str, Any] = {
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "string": FieldDescriptorProto.TYPE_STRING,
}
