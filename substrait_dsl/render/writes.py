"""Relations that change something: write, update, data definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.render.description_parts import (
    Clause,
    Column,
    OutputColumn,
    Parts,
    columns_clause,
    condition_clause,
    extension_clauses,
    join_names,
    message_text,
    quote,
)
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.literals import name_text
from substrait_dsl.render.reads import format_text
from substrait_dsl.render.scopes import NO_ROW, Row

_WORDS: dict[r.WriteOp, str] = {"insert": "into", "delete": "from", "update": "to", "ctas": "as"}
"""The words between a write operation and the table."""


def write_parts(write: r.Write) -> Parts:
    """Return the parts of a write's description; modified records have the columns of the table."""
    modified = write.output == "modified_records"
    arguments = (
        Clause("", (write.op,)),
        Clause(_WORDS[write.op], (_target_text(write.target),)),
        None if write.create_mode is None else Clause("", (write.create_mode,)),
        Clause("output", (write.output,)) if modified else columns_clause(write.table_schema),
        *_target_extensions(write.target),
    )
    return arguments, _columns(write.schema)


def update_parts(update: r.Update, writer: ExpressionWriter) -> Parts:
    """Return the parts of an update's description."""
    row = Row((update.table_schema,))
    changes = [f"{row.label(change.column)} = {writer.text(change.value, row)}" for change in update.transformations]
    arguments = (
        Clause("", (join_names(update.table.names),)),
        columns_clause(update.table_schema),
        condition_clause("where", update.condition, row, writer),
        Clause("set", tuple(changes)),
        *extension_clauses(update.table.extension, "table "),
    )
    return arguments, _columns(update.schema)


def ddl_parts(ddl: r.Ddl, writer: ExpressionWriter) -> Parts:
    """Return the parts of a data definition's description."""
    arguments = (
        Clause("", (f"{ddl.op} {ddl.object}",)),
        Clause("", (_target_text(ddl.target),)),
        None if ddl.table_schema is None else _defined_columns(ddl, ddl.table_schema, writer),
        *_target_extensions(ddl.target),
    )
    return arguments, ()


def _defined_columns(ddl: r.Ddl, schema: NamedStruct, writer: ExpressionWriter) -> Clause:
    clause = columns_clause(schema)
    if not ddl.defaults:
        return clause
    defaults = [writer.text(default, NO_ROW) for default in ddl.defaults]
    items = [f"{column} default {default}" for column, default in zip(clause.items, defaults, strict=True)]
    return Clause(clause.label, tuple(items))


def _columns(schema: NamedStruct) -> list[OutputColumn]:
    return [Column(field.name, field.type) for field in schema]


def _target_text(target: r.WriteTarget) -> str:
    match target:
        case r.NamedObject(names):
            return join_names(names)
        case r.ExtensionObject(detail):
            return f"extension {message_text(detail)}"
        case r.VirtualTarget(name, pin):
            return f"virtual table {name_text(name)}{' pinned' if pin else ''}"
        case r.FilesTarget(uri, file_format, partition_columns):
            folders = f" in folders by {', '.join(map(name_text, partition_columns))}" if partition_columns else ""
            return f"files {format_text(file_format)} {quote(uri)}{folders}"
        case _:
            assert_never(target)


def _target_extensions(target: r.WriteTarget) -> Iterator[Clause]:
    if isinstance(target, r.NamedObject):
        yield from extension_clauses(target.extension, "table ")
