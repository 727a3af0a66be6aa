"""Reads: where rows come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import attrs

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.types import PrecisionTimestampTZ
from substrait_dsl.render.description_parts import (
    Clause,
    Column,
    Parts,
    condition_clause,
    declared_clause,
    extension_clauses,
    join_names,
    message_text,
    quote,
)
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.literals import constant_text, name_text
from substrait_dsl.render.scopes import Row

SHOWN_ROWS = 5
"""So many rows of a virtual table are shown."""


def read_parts(read: r.Read, writer: ExpressionWriter) -> Parts:
    """Return the parts of a read's description."""
    row = Row((read.base_schema,))
    projection = None
    if read.projection is not None:
        partly = ", some in part" if any(item.child is not None for item in read.projection.items) else ""
        projection = Clause("", (f"({len(read.schema)} of {len(read.base_schema)} columns{partly})",))
    arguments = (
        _source(read.definition, writer),
        condition_clause("where", read.filter, row, writer),
        condition_clause("where perhaps", read.best_effort_filter, row, writer),
        projection,
        declared_clause(read.declared, row),
        Clause("with", tuple(f"{name_text(name)} = {quote(value)}" for name, value in read.name_values))
        if read.name_values
        else None,
        *_source_extensions(read.definition),
    )
    return arguments, (Column(field.name, field.type) for field in read.schema)


def _source(definition: r.ReadDefinition, writer: ExpressionWriter) -> Clause:
    match definition:
        case r.NamedTable(names):
            return Clause("", (join_names(names),))
        case r.VirtualTable(rows):
            shown = [
                f"({', '.join(writer.text(field, Row(())) for field in record.fields)})" for record in rows[:SHOWN_ROWS]
            ]
            more = [f"... ({len(rows) - SHOWN_ROWS} more)"] if len(rows) > SHOWN_ROWS else []
            return Clause("values" if rows else "values (no rows)", (*shown, *more))
        case r.LocalFiles(items):
            return Clause("files", tuple(_file_text(item) for item in items))
        case r.IcebergTable():
            return Clause("iceberg", (_iceberg_text(definition),))
        case r.ExtensionTable(detail):
            return Clause("extension", (message_text(detail),))
        case _:
            assert_never(definition)


def _source_extensions(definition: r.ReadDefinition) -> Iterator[Clause]:
    match definition:
        case r.NamedTable():
            yield from extension_clauses(definition.extension, "table ")
        case r.LocalFiles():
            yield from _text_reading(definition.text)
            yield from extension_clauses(definition.extension, "files ")
        case r.VirtualTable() | r.IcebergTable() | r.ExtensionTable():
            pass
        case _:
            assert_never(definition)


def _text_reading(text: r.TextReading) -> Iterator[Clause]:
    """Return what the specification has no field for, as it is said: ``header "skip"``."""
    for field in attrs.fields(r.TextReading):
        if (value := getattr(text, field.name)) != field.default:
            yield Clause(field.name, (quote(value),))


def _iceberg_text(table: r.IcebergTable) -> str:
    text = quote(table.metadata_uri)
    if table.snapshot_id is not None:
        return f"{text} snapshot {quote(table.snapshot_id)}"
    if table.snapshot_timestamp is not None:
        return f"{text} at {constant_text(table.snapshot_timestamp, PrecisionTimestampTZ(6))}"
    return text


def _file_text(item: r.FileItem) -> str:
    path_kind = "" if item.kind == "path" else f" {item.kind}"
    part = [f"{name} {getattr(item, name)}" for name in ("partition_index", "start", "length") if getattr(item, name)]
    inside = f" ({', '.join(part)})" if part else ""
    return f"{format_text(item.format)}{path_kind} {quote(item.uri)}{inside}"


def format_text(file_format: r.FileFormat) -> str:
    """Return the format's name, and its settings that are not the usual ones."""
    if isinstance(file_format, r.ExtensionFormat):
        return f"extension {message_text(file_format.detail)}"
    settings = [
        f"{field.name} {quote(value) if isinstance(value, str) else value}"
        for field in attrs.fields(type(file_format))
        if (value := getattr(file_format, field.name)) != field.default
    ]
    match file_format:
        case r.Parquet() | r.Arrow() | r.Orc() | r.Dwrf():
            name = type(file_format).__name__.lower()
        case r.DelimitedText():
            name = "delimited text"
        case _:
            assert_never(file_format)
    return f"{name} ({', '.join(settings)})" if settings else name
