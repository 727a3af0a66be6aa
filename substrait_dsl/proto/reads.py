"""Reads as messages of ``algebra.proto``.

Specification: https://substrait.io/relations/logical_relations/#read-operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.node import Expression
from substrait_dsl.algebra.properties import NO_PROPERTIES
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.constants import with_type_of
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.extensions import (
    decode_any,
    decode_own_extension,
    encode_advanced_extension,
    encode_any,
)
from substrait_dsl.proto.masks import decode_mask, encode_mask
from substrait_dsl.proto.private_extensions import (
    declared_properties,
    decode_choices,
    encode_choices,
    properties_choice,
    read_choice,
)
from substrait_dsl.proto.scopes import Scope, row_of
from substrait_dsl.proto.text_reading import split_text_reading, with_text_reading
from substrait_dsl.proto.types import decode_named_struct, encode_named_struct

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder


def encode_read(encoder: Encoder, rel: rl.Read, message: pb.ReadRel) -> None:
    """Write a read."""
    encode_named_struct(encoder.declarations, rel.base_schema, message.base_schema)
    match rel.definition:
        case rl.NamedTable():
            encode_named_table(rel.definition, message.named_table)
        case rl.VirtualTable():
            encode_virtual_table(encoder, rel.definition, message.virtual_table)
        case rl.LocalFiles():
            encode_local_files(rel.definition, message.local_files)
        case rl.IcebergTable():
            encode_iceberg_table(rel.definition, message.iceberg_table)
        case rl.ExtensionTable(detail):
            encode_any(detail, message.extension_table.detail)
        case _:
            assert_never(rel.definition)
    if rel.filter is not None:
        encoder.expression(rel.filter, message.filter)
    if rel.best_effort_filter is not None:
        encoder.expression(rel.best_effort_filter, message.best_effort_filter)
    if rel.projection is not None:
        encode_mask(encoder, rel.projection, message.projection)
    if rel.declared != NO_PROPERTIES or rel.name_values:
        names = {"name_values": [list(pair) for pair in rel.name_values]} if rel.name_values else {}
        encode_choices({**properties_choice(rel.declared), **names}, message.common)


def decode_read(decoder: Decoder, message: pb.ReadRel, outer: Scope | None) -> rl.Read:
    """Read a read; its filters see the base schema."""
    read_type = message.WhichOneof("read_type")
    if read_type is None:
        raise PlanFormatError("a read does not set its read_type")
    source = READ_TYPES[read_type](decoder, getattr(message, read_type), outer)
    schema = _base_schema(decoder, message, source)
    scope = row_of(decoder, message, outer, types=schema.types)
    mask = decode_mask(decoder, message.projection) if message.HasField("projection") else None
    choices = decode_choices(message.common)
    if isinstance(source, rl.VirtualTable):
        source = _as_declared(decoder, source, schema, message.virtual_table)
    return rl.Read(
        schema,
        source,
        decoder.expression(message.filter, scope) if message.HasField("filter") else None,
        decoder.expression(message.best_effort_filter, scope) if message.HasField("best_effort_filter") else None,
        mask,
        declared_properties(choices),
        read_choice("name_values", choices, lambda pairs: tuple((str(a), str(b)) for a, b in pairs), ()),
        anchor=scope.anchor,
    )


def _base_schema(decoder: Decoder, message: pb.ReadRel, source: object) -> NamedStruct:
    """Return the schema of a read; of a virtual table without one that of its rows."""
    if message.HasField("base_schema"):
        decoder.is_in_stored_schema = not isinstance(source, rl.VirtualTable)
        schema = decode_named_struct(decoder, message.base_schema)
        decoder.is_in_stored_schema = False
        return schema
    if isinstance(source, rl.VirtualTable) and source.rows:
        text = "a virtual table does not set its base_schema: read as that of its first row"
        decoder.report(FindingCode.ROW_SCHEMA, text, message)
        first = source.rows[0].fields
        return NamedStruct.of([(str(position), value.type) for position, value in enumerate(first)])
    decoder.report(FindingCode.READ_SCHEMA, "a read does not set its base_schema: read as one of no columns", message)
    return NamedStruct(())


def _as_declared(decoder: Decoder, table: rl.VirtualTable, schema: NamedStruct, message: Any) -> rl.VirtualTable:
    """Return a virtual table whose integer literals have the width of their columns.

    The types of a row should be those of the columns: a required value in a nullable column is reported, too.
    """
    fitted_rows: dict[int, list[Expression]] = {}
    for number, row in enumerate(table.rows):
        for position, (value, column) in enumerate(zip(row.fields, schema.fields, strict=False)):
            type_ = column.type
            if type(value.type) is not type(type_):
                fitted = with_type_of(decoder, value, type_, "a value of a virtual table", message)
                if fitted is not value:
                    fitted_rows.setdefault(number, list(row.fields))[position] = fitted
            if type_.nullable and not value.type.nullable:
                decoder.report(
                    FindingCode.ROW_NULLABILITY,
                    f'column "{column.name}" of a virtual table is {type_}, a value {value.type}: read as nullable',
                    message,
                    column.name,
                )
    if not fitted_rows:
        return table
    rows = [*table.rows]
    for number, fields in fitted_rows.items():
        rows[number] = rl.Record(tuple(fields))
    return rl.VirtualTable(tuple(rows))


def encode_named_table(
    table: rl.NamedTable | rl.NamedObject, message: pb.ReadRel.NamedTable | pb.NamedTable | pb.NamedObjectWrite
) -> None:
    """Write the name of a table."""
    message.names.extend(table.names)
    encode_advanced_extension(table.extension, message.advanced_extension)


def decode_named_table(
    decoder: Decoder, message: pb.ReadRel.NamedTable | pb.NamedTable, outer: Scope | None
) -> rl.NamedTable:
    """Read the name of a table."""
    return rl.NamedTable(tuple(message.names), decode_own_extension(message))


def encode_virtual_table(encoder: Encoder, table: rl.VirtualTable, message: pb.ReadRel.VirtualTable) -> None:
    """Write the rows of a virtual table, perhaps none."""
    message.SetInParent()
    for row in table.rows:
        fields = message.expressions.add().fields
        for value in row.fields:
            encoder.expression(value, fields.add())


def decode_virtual_table(decoder: Decoder, message: pb.ReadRel.VirtualTable, outer: Scope | None) -> rl.VirtualTable:
    """Read the rows of a virtual table, whose expressions see no row."""
    nothing = Scope((), outer)
    return rl.VirtualTable(
        tuple(
            rl.Record(tuple(decoder.expression(field, nothing) for field in row.fields)) for row in message.expressions
        )
    )


PATH_FIELDS: dict[rl.PathKind, str] = {
    "path": "uri_path",
    "glob": "uri_path_glob",
    "file": "uri_file",
    "folder": "uri_folder",
}


def encode_local_files(files: rl.LocalFiles, message: pb.ReadRel.LocalFiles) -> None:
    """Write the paths of a read of files."""
    for item in files.items:
        encode_file_item(item, message.items.add())
    encode_advanced_extension(with_text_reading(files.extension, files.text), message.advanced_extension)


def decode_local_files(decoder: Decoder, message: pb.ReadRel.LocalFiles, outer: Scope | None) -> rl.LocalFiles:
    """Read the paths of a read of files."""
    items = tuple(decode_file_item(decoder, item) for item in message.items)
    return rl.LocalFiles(items, *split_text_reading(decode_own_extension(message)))


def encode_iceberg_table(table: rl.IcebergTable, message: pb.ReadRel.IcebergTable) -> None:
    """Write the metadata location of an Iceberg table, and the snapshot to read."""
    message.direct.metadata_uri = table.metadata_uri
    if table.snapshot_id is not None:
        message.direct.snapshot_id = table.snapshot_id
    if table.snapshot_timestamp is not None:
        message.direct.snapshot_timestamp = table.snapshot_timestamp


def decode_iceberg_table(decoder: Decoder, message: pb.ReadRel.IcebergTable, outer: Scope | None) -> rl.IcebergTable:
    """Read the metadata location of an Iceberg table, and the snapshot to read."""
    direct = message.direct
    return rl.IcebergTable(
        direct.metadata_uri,
        direct.snapshot_id if direct.HasField("snapshot_id") else None,
        direct.snapshot_timestamp if direct.HasField("snapshot_timestamp") else None,
    )


def decode_extension_table(
    decoder: Decoder, message: pb.ReadRel.ExtensionTable, outer: Scope | None
) -> rl.ExtensionTable:
    """Read the message of an extension table."""
    return rl.ExtensionTable(decode_any(message.detail))


def encode_file_item(item: rl.FileItem, message: pb.ReadRel.LocalFiles.FileOrFiles) -> None:
    """Write one path of a read of files."""
    setattr(message, PATH_FIELDS[item.kind], item.uri)
    message.partition_index = item.partition_index
    message.start = item.start
    message.length = item.length
    match item.format:
        case rl.Parquet():
            message.parquet.SetInParent()
        case rl.Arrow():
            message.arrow.SetInParent()
        case rl.Orc():
            message.orc.SetInParent()
        case rl.Dwrf():
            message.dwrf.SetInParent()
        case rl.DelimitedText():
            encode_delimited_text(item.format, message.text)
        case rl.ExtensionFormat(detail):
            encode_any(detail, message.extension)
        case _:
            assert_never(item.format)


def decode_file_item(decoder: Decoder, message: pb.ReadRel.LocalFiles.FileOrFiles) -> rl.FileItem:
    """Read one path of a read of files."""
    path, form = message.WhichOneof("path_type"), message.WhichOneof("file_format")
    if path is None or form is None:
        decoder.mark_location(message)
        raise PlanFormatError("an item of local files must have a path and a format")
    path_type = next(path_type for path_type, field in PATH_FIELDS.items() if field == path)
    return rl.FileItem(
        getattr(message, path),
        FILE_FORMATS[form](getattr(message, form)),
        path_type,
        message.partition_index,
        message.start,
        message.length,
    )


def encode_delimited_text(
    text: rl.DelimitedText, message: pb.ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions
) -> None:
    """Write the options of delimited text files."""
    message.field_delimiter = text.field_delimiter
    message.quote = text.quote
    message.escape = text.escape
    message.header_lines_to_skip = text.header_lines_to_skip
    message.max_line_size = text.max_line_size
    if text.null_value is not None:
        message.value_treated_as_null = text.null_value


def decode_delimited_text(
    message: pb.ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions,
) -> rl.DelimitedText:
    """Read the options of delimited text files."""
    return rl.DelimitedText(
        message.field_delimiter,
        message.quote,
        message.escape,
        message.header_lines_to_skip,
        message.max_line_size,
        message.value_treated_as_null if message.HasField("value_treated_as_null") else None,
    )


READ_TYPES: dict[str, Callable[[Decoder, Any, Scope | None], rl.ReadDefinition]] = {
    "named_table": decode_named_table,
    "virtual_table": decode_virtual_table,
    "local_files": decode_local_files,
    "iceberg_table": decode_iceberg_table,
    "extension_table": decode_extension_table,
}
"""The decoder of each ``ReadRel.read_type``."""

FILE_FORMATS: dict[str, Callable[[Any], rl.FileFormat]] = {
    "parquet": lambda _: rl.Parquet(),
    "arrow": lambda _: rl.Arrow(),
    "orc": lambda _: rl.Orc(),
    "dwrf": lambda _: rl.Dwrf(),
    "text": decode_delimited_text,
    "extension": lambda message: rl.ExtensionFormat(decode_any(message)),
}
"""The decoder of each ``FileOrFiles.file_format``."""
