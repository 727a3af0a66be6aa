"""Write, update and data definition relations as messages of ``algebra.proto``.

Specification: https://substrait.io/relations/logical_relations/#write-operator and the two operators after it. Writes
to a table in memory and to files have no message (spec decision 10): they are an ``ExtensionObject`` with a private
message.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING, Any, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import name_for, numbers
from substrait_dsl.proto.extensions import decode_any, decode_own_extension, encode_any
from substrait_dsl.proto.literals import decode_literal, encode_literal
from substrait_dsl.proto.private_extensions import Choices, choices_in, message_of
from substrait_dsl.proto.reads import decode_file_item, decode_named_table, encode_file_item, encode_named_table
from substrait_dsl.proto.scopes import row_of
from substrait_dsl.proto.types import decode_named_struct, encode_named_struct

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

FileMessage = pb.ReadRel.LocalFiles.FileOrFiles

WRITE_OP: dict[rl.WriteOp, pb.WriteRel.WriteOp.ValueType] = numbers(pb.WriteRel.WriteOp, "WRITE_OP", rl.WRITE_OPS)

CREATE_MODE: dict[rl.CreateMode, pb.WriteRel.CreateMode.ValueType] = numbers(
    pb.WriteRel.CreateMode, "CREATE_MODE", rl.CREATE_MODES
)

OUTPUT_MODE: dict[rl.OutputMode, pb.WriteRel.OutputMode.ValueType] = numbers(
    pb.WriteRel.OutputMode, "OUTPUT_MODE", rl.OUTPUT_MODES
)

DDL_OBJECT: dict[rl.DdlObject, pb.DdlRel.DdlObject.ValueType] = numbers(
    pb.DdlRel.DdlObject, "DDL_OBJECT", rl.DDL_OBJECTS
)

DDL_OP: dict[rl.DdlOp, pb.DdlRel.DdlOp.ValueType] = numbers(pb.DdlRel.DdlOp, "DDL_OP", rl.DDL_OPS)


def encode_write(encoder: Encoder, rel: rl.Write, message: pb.WriteRel) -> None:
    """Write a write relation; the table's schema is always written (spec decision 45)."""
    match rel.target:
        case rl.NamedObject():
            encode_named_table(rel.target, message.named_table)
        case rl.ExtensionObject(detail):
            encode_any(detail, message.extension_table.detail)
        case rl.VirtualTarget() | rl.FilesTarget():
            encode_any(message_of(_target_choice(rel.target)), message.extension_table.detail)
        case _:
            assert_never(rel.target)
    encode_named_struct(encoder.declarations, rel.table_schema, message.table_schema)
    message.op = WRITE_OP[rel.op]
    encoder.relation(rel.input, message.input)
    message.output = OUTPUT_MODE[rel.output]
    if rel.create_mode is not None:
        message.create_mode = CREATE_MODE[rel.create_mode]


def decode_write(decoder: Decoder, message: pb.WriteRel, outer: Scope | None) -> rl.Write:
    """Read a write relation; the default schema of the table is that of the input (spec decision 45)."""
    rel = decoder.relation(message.input, outer)
    op = name_for(WRITE_OP, message.op, pb.WriteRel.WriteOp, "WriteRel.op")
    output: rl.OutputMode = "no_output"
    if message.output == pb.WriteRel.OUTPUT_MODE_UNSPECIFIED:
        decoder.report(FindingCode.WRITE_OUTPUT, "a write does not set its output; read as no_output", message)
    else:
        output = name_for(OUTPUT_MODE, message.output, pb.WriteRel.OutputMode, "WriteRel.output")
    target = decode_write_target(decoder, message)
    return rl.Write(rel, target, _table_schema(decoder, message, rel), op, output, _create_mode(decoder, message, op))


def _table_schema(decoder: Decoder, message: pb.WriteRel, rel: Rel) -> NamedStruct:
    if message.HasField("table_schema"):
        return decode_named_struct(decoder, message.table_schema)
    decoder.report(
        FindingCode.WRITE_SCHEMA, "a write does not set the schema of the table; read as that of its input", message
    )
    return rel.schema


def _create_mode(decoder: Decoder, message: pb.WriteRel, op: rl.WriteOp) -> rl.CreateMode | None:
    """Read the create mode; a ``ctas`` without one is an error if the table exists."""
    has_mode = message.create_mode != pb.WriteRel.CREATE_MODE_UNSPECIFIED
    if op == "ctas" and has_mode:
        return name_for(CREATE_MODE, message.create_mode, pb.WriteRel.CreateMode, "WriteRel.create_mode")
    if op == "ctas":
        decoder.report(FindingCode.CREATE_MODE, "a ctas does not set its create_mode; read as error_if_exists", message)
        return "error_if_exists"
    if has_mode:
        decoder.report(
            FindingCode.FIELD_WITHOUT_MEANING,
            f"the create_mode of a write that is {op} has no meaning; dropped",
            message,
        )
    return None


def decode_write_target(decoder: Decoder, message: pb.WriteRel) -> rl.WriteTarget:
    """Read the target of a write."""
    if message.WhichOneof("write_type") == "extension_table":
        detail = decode_any(message.extension_table.detail)
        choices = choices_in(detail)
        return rl.ExtensionObject(detail) if choices is None else _target_of(decoder, choices)
    return decode_named_object(message, "named_table")


def decode_named_object(message: pb.WriteRel | pb.DdlRel, field: str) -> rl.NamedObject:
    """Read the name of a table or a view."""
    if message.WhichOneof("write_type") != field:
        raise PlanFormatError(f"{message.DESCRIPTOR.name} does not say what it changes")
    named: pb.NamedObjectWrite = getattr(message, field)
    return rl.NamedObject(tuple(named.names), decode_own_extension(named))


# --- targets that have no message


def _target_choice(target: rl.VirtualTarget | rl.FilesTarget) -> Choices:
    if isinstance(target, rl.VirtualTarget):
        return {"write_target": "virtual_table", "name": target.name, "pin": target.pin}
    choices: Choices = {"write_target": "files", "file": _file_choice(target)}
    return {**choices, "partition_columns": [*target.partition_columns]} if target.partition_columns else choices


def _target_of(decoder: Decoder, choices: Choices) -> rl.VirtualTarget | rl.FilesTarget:
    match choices:
        case {"write_target": "virtual_table", "name": str() as name, "pin": bool() as pin, **others} if not others:
            return rl.VirtualTarget(name, pin)
        case {"write_target": "files", "file": dict() as file, **others} if not others.keys() - {"partition_columns"}:
            return _files_of(decoder, file, others.get("partition_columns", []))
        case _:
            raise PlanFormatError(f"an extension_table of ours cannot be understood: {dict(choices)}")


def _file_choice(target: rl.FilesTarget) -> dict[str, Any]:
    """Return the message of a file to write as JSON; an extension format stays as it is."""
    from google.protobuf import json_format  # few plans write files

    message = FileMessage()
    encode_file_item(rl.FileItem(target.uri, target.format), message)
    if isinstance(target.format, rl.ExtensionFormat):
        message.ClearField("extension")
    choice: dict[str, Any] = json_format.MessageToDict(message, preserving_proto_field_name=True)
    if isinstance(target.format, rl.ExtensionFormat):
        detail = target.format.detail
        choice["extension"] = {"type_url": detail.type_url, "value": b2a_base64(detail.value, newline=False).decode()}
    return choice


def _files_of(decoder: Decoder, choice: dict[str, Any], partition_columns: Any) -> rl.FilesTarget:
    from google.protobuf import json_format

    foreign = choice.pop("extension", None)
    message = FileMessage()
    try:
        json_format.ParseDict(choice, message)
        if foreign is not None:
            encode_any(AnyMessage(foreign["type_url"], a2b_base64(foreign["value"])), message.extension)
    except (json_format.ParseError, LookupError, TypeError, ValueError) as error:
        raise PlanFormatError(f"the files of a write cannot be understood: {choice}") from error
    if message.WhichOneof("path_type") is None or message.WhichOneof("file_format") is None:
        raise PlanFormatError("a write to files must set its path and its format")
    item = decode_file_item(decoder, message)
    if item != rl.FileItem(item.uri, item.format):
        raise PlanFormatError("a write to files goes to one path, and to no part of a file")
    if not isinstance(partition_columns, list):
        raise PlanFormatError(f"the partition columns of a write are a list of names, not {partition_columns!r}")
    return rl.FilesTarget(item.uri, item.format, tuple(partition_columns))


# --- updates


def encode_update(encoder: Encoder, rel: rl.Update, message: pb.UpdateRel) -> None:
    """Write an update."""
    encode_named_table(rel.table, message.named_table)
    encode_named_struct(encoder.declarations, rel.table_schema, message.table_schema)
    encoder.expression(rel.condition, message.condition)
    for transformation in rel.transformations:
        part = message.transformations.add()
        part.column_target = transformation.column
        encoder.expression(transformation.value, part.transformation)


def decode_update(decoder: Decoder, message: pb.UpdateRel, outer: Scope | None) -> rl.Update:
    """Read an update; its expressions see the table."""
    if message.WhichOneof("update_type") != "named_table":
        raise PlanFormatError("an update does not say what it changes")
    schema = decode_named_struct(decoder, message.table_schema)
    scope = row_of(decoder, message, outer, types=schema.types)
    if not message.HasField("condition"):
        decoder.mark_location(message.condition)
        raise PlanFormatError(
            "an update has no condition",
            hint="the literal true is the condition that changes all rows",
        )
    condition = decoder.expression(message.condition, scope)
    transformations = tuple(
        rl.Transformation(part.column_target, decoder.expression(part.transformation, scope))
        for part in message.transformations
    )
    table = decode_named_table(decoder, message.named_table, outer)
    return rl.Update(table, schema, condition, transformations, anchor=scope.anchor)


# --- data definition


def encode_ddl(encoder: Encoder, rel: rl.Ddl, message: pb.DdlRel) -> None:
    """Write a data definition."""
    match rel.target:
        case rl.NamedObject():
            encode_named_table(rel.target, message.named_object)
        case rl.ExtensionObject(detail):
            encode_any(detail, message.extension_object.detail)
        case _:
            assert_never(rel.target)
    message.object = DDL_OBJECT[rel.object]
    message.op = DDL_OP[rel.op]
    if rel.table_schema is not None:
        encode_named_struct(encoder.declarations, rel.table_schema, message.table_schema)
    for default in rel.defaults:
        encode_literal(encoder.declarations, default, message.table_defaults.fields.add())
    if rel.view_definition is not None:
        encoder.relation(rel.view_definition, message.view_definition)


def decode_ddl(decoder: Decoder, message: pb.DdlRel, outer: Scope | None) -> rl.Ddl:
    """Read a data definition; the schema and the defaults of what is dropped have no meaning."""
    object_type = name_for(DDL_OBJECT, message.object, pb.DdlRel.DdlObject, "DdlRel.object")
    op = name_for(DDL_OP, message.op, pb.DdlRel.DdlOp, "DdlRel.op")
    target = decode_ddl_target(message)
    definition = decoder.relation(message.view_definition, outer) if message.HasField("view_definition") else None
    if op in rl.DROPS:
        if message.HasField("table_schema") or message.HasField("table_defaults"):
            decoder.report(FindingCode.FIELD_WITHOUT_MEANING, f"{op} takes no schema and no defaults; dropped", message)
        return rl.Ddl(target, object_type, op, view_definition=definition)
    schema = decode_named_struct(decoder, message.table_schema) if message.HasField("table_schema") else None
    defaults = tuple(decode_literal(decoder, default) for default in message.table_defaults.fields)
    return rl.Ddl(target, object_type, op, schema, defaults, definition)


def decode_ddl_target(message: pb.DdlRel) -> rl.DdlTarget:
    """Read the target of a data definition."""
    if message.WhichOneof("write_type") == "extension_object":
        return rl.ExtensionObject(decode_any(message.extension_object.detail))
    return decode_named_object(message, "named_object")
