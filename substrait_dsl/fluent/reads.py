"""Where pipelines start: named tables, rows written into the plan, files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.schema import Field, NamedStruct, unknown_field
from substrait_dsl.errors import (
    InvalidArgumentError,
    LiteralError,
    SchemaError,
    TypeMismatchError,
    naming,
    unknown_choice,
)
from substrait_dsl.fluent.columns import is_list, on_row, require_condition
from substrait_dsl.fluent.expr import ExprBase, resolve
from substrait_dsl.fluent.relation import Condition, Relation
from substrait_dsl.fluent.schemas import Declared, DynRow, Schema, SchemaLike, as_struct
from substrait_dsl.fluent.scope import Scope

S = TypeVar("S", bound=Schema)

CSV = rl.DelimitedText(escape='"', header_lines_to_skip=1)
"""What ``format="csv"`` stands for: commas, double quotes doubled inside quotes, one header line."""

FormatName = Literal["parquet", "orc", "arrow", "dwrf", "csv"]

FORMATS: dict[FormatName, rl.FileFormat] = {
    "parquet": rl.Parquet(),
    "orc": rl.Orc(),
    "arrow": rl.Arrow(),
    "dwrf": rl.Dwrf(),
    "csv": CSV,
}

Row = Mapping[str, object] | Sequence[object]


@overload
def read_named(
    name: str | Sequence[str],
    schema: type[S],
    *,
    filter: Condition | Callable[[S], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S], Condition] | None = ...,
    columns: None = ...,
) -> Relation[S]: ...
@overload
def read_named(
    name: str | Sequence[str],
    schema: type[S],
    *,
    filter: Condition | Callable[[S], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S], Condition] | None = ...,
    columns: Sequence[str],
) -> Relation[DynRow]: ...
@overload
def read_named(
    name: str | Sequence[str],
    schema: Declared,
    *,
    filter: Condition | Callable[[Any], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[Any], Condition] | None = ...,
    columns: Sequence[str] | None = ...,
) -> Relation[DynRow]: ...
def read_named(
    name: str | Sequence[str],
    schema: SchemaLike,
    *,
    filter: Any = None,
    best_effort_filter: Any = None,
    columns: Sequence[str] | None = None,
) -> Relation[Any]:
    """Read a table that the engine knows by name.

    Args:
        name: the table's name; several parts as a tuple: ``("catalog", "db", "orders")``.
        schema: its columns: a Schema class, a dict ``{name: type}``, a pyarrow or a PySpark schema.
        filter: a condition that the rows must fulfil; it sees all columns of the schema.
        best_effort_filter: a condition that the engine may apply to read less; rows that fail it may come all the same.
        columns: the columns to read, in order; by default all.

    Output: the columns of the schema, or those chosen. Raises `SchemaError`, `UnknownFieldError`, `TypeMismatchError`.
    Specification: ``ReadRel.NamedTable``.
    """
    with naming("read_named"):
        if not isinstance(name, str) and not _are_texts(name):
            raise InvalidArgumentError(f"the name of a table is a str or a tuple of str, got {name!r}")
        names = (name,) if isinstance(name, str) else tuple(name)
        return _read(as_struct(schema), rl.NamedTable(names), filter, best_effort_filter, columns)


@overload
def read_virtual(rows: Iterable[Row], schema: type[S]) -> Relation[S]: ...
@overload
def read_virtual(rows: Iterable[Row], schema: Declared) -> Relation[DynRow]: ...
def read_virtual(rows: Iterable[Row], schema: SchemaLike) -> Relation[Any]:
    """Read rows that are written into the plan.

    Args:
        rows: tuples, in the order of the schema, or dicts with a value for each column. Values are Python values that
            fit the column's type exactly, None for NULL, or constant expressions. There may be no rows.
        schema: the columns.

    Output: the columns of the schema. Raises `LiteralError` for a value that does not fit (NULL in a required column
    too), `SchemaError` for a row of another width, `UnknownFieldError` for a key that is no column.
    Specification: ``ReadRel.VirtualTable``.
    """
    with naming("read_virtual"):
        struct = as_struct(schema)
        scope = Scope("read_virtual", (), NamedStruct(()))
        records = tuple(_record(row, number, struct, scope) for number, row in enumerate(rows))
        return _read(struct, rl.VirtualTable(records), None, None, None)


def _are_texts(parts: object) -> bool:
    return isinstance(parts, Sequence) and all(isinstance(part, str) for part in parts)


def _record(row: Row, number: int, struct: NamedStruct, scope: Scope) -> rl.Record:
    if isinstance(row, Mapping):
        for name in row:
            if name not in struct.names:
                error = unknown_field(str(name), struct.names)
                error.message = f"row {number}: {error.message}"
                raise error
        missing = [name for name in struct.names if name not in row]
        if missing:
            raise SchemaError(f'row {number} has no value for "{missing[0]}"', hint="write None for NULL")
        row = [row[name] for name in struct.names]
    elif isinstance(row, str | bytes) or not isinstance(row, Sequence):
        raise InvalidArgumentError(f"row {number} must be a tuple or a dict, got {row!r}")
    if len(row) != len(struct):
        raise SchemaError(f"row {number} has {len(row)} values, the schema has {len(struct)} columns: {struct}")
    return rl.Record(tuple(_value(v, f, number, scope) for v, f in zip(row, struct, strict=True)))


def _value(value: object, field: Field, number: int, scope: Scope) -> ex.Expression:
    if isinstance(value, ExprBase):
        return resolve(value, scope)
    try:
        return ex.literal(value, field.type)
    except LiteralError as error:
        raise LiteralError(f'row {number}, column "{field.name}": {error.message}', hint=error.hint) from None


@overload
def read_files(
    paths: str | Path | Sequence[str | Path],
    schema: type[S],
    *,
    format: FormatName | rl.FileFormat = ...,
    kind: rl.PathKind = ...,
    filter: Condition | Callable[[S], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S], Condition] | None = ...,
    columns: None = ...,
) -> Relation[S]: ...
@overload
def read_files(
    paths: str | Path | Sequence[str | Path],
    schema: type[S],
    *,
    format: FormatName | rl.FileFormat = ...,
    kind: rl.PathKind = ...,
    filter: Condition | Callable[[S], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S], Condition] | None = ...,
    columns: Sequence[str],
) -> Relation[DynRow]: ...
@overload
def read_files(
    paths: str | Path | Sequence[str | Path],
    schema: Declared,
    *,
    format: FormatName | rl.FileFormat = ...,
    kind: rl.PathKind = ...,
    filter: Condition | Callable[[Any], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[Any], Condition] | None = ...,
    columns: Sequence[str] | None = ...,
) -> Relation[DynRow]: ...
def read_files(
    paths: str | Path | Sequence[str | Path],
    schema: SchemaLike,
    *,
    format: FormatName | rl.FileFormat = "parquet",
    kind: rl.PathKind = "path",
    filter: Any = None,
    best_effort_filter: Any = None,
    columns: Sequence[str] | None = None,
) -> Relation[Any]:
    """Read files.

    Args:
        paths: one or more paths or URIs; a path without scheme is a local one, made absolute now.
        schema: the columns of the files, by name.
        format: ``"parquet"``, ``"orc"``, ``"arrow"``, ``"dwrf"``, ``"csv"``, or a format object such as
            ``DelimitedText(field_delimiter="|", null_value="")``. Delimited text has string columns only.
        kind: what the paths are: ``"file"``, ``"folder"``, ``"path"`` (either), ``"glob"``.
        filter: as for `read_named`.
        best_effort_filter: as for `read_named`.
        columns: as for `read_named`.

    Output: the columns of the schema, or those chosen. Raises `InvalidChoiceError`, `SchemaError`, `TypeMismatchError`.
    Specification: ``ReadRel.LocalFiles``.
    """
    with naming("read_files"):
        if kind not in rl.PATH_KINDS:
            raise unknown_choice("kind", kind, rl.PATH_KINDS)
        each = [paths] if isinstance(paths, str | Path) else paths
        if not is_list(each):
            raise InvalidArgumentError(f"expected a path or a list of paths, got {paths!r}")
        files = tuple(rl.FileItem(_uri(path, kind), _format(format), kind) for path in each)
        return _read(as_struct(schema), rl.LocalFiles(files), filter, best_effort_filter, columns)


def _format(format: FormatName | rl.FileFormat) -> rl.FileFormat:
    if not isinstance(format, str):
        return format
    if format not in FORMATS:
        raise unknown_choice("format", format, FORMATS)
    return FORMATS[format]


def _uri(path: str | Path, kind: rl.PathKind) -> str:
    if isinstance(path, str) and "://" in path:
        return path
    if not str(path):
        raise InvalidArgumentError(f"expected a path or a URI, got {path!r}")
    if kind != "glob" and any(wildcard in str(path) for wildcard in "*?"):
        raise InvalidArgumentError(f"{str(path)!r} is a pattern, not a path", hint='say so: kind="glob"')
    return f"file://{os.path.abspath(path)}"


def _read(
    struct: NamedStruct, definition: rl.ReadDefinition, filter: Any, best_effort_filter: Any, columns: Any
) -> Relation[Any]:
    scope = Scope("read", (), struct)
    conditions = [
        None if condition is None else on_row(condition, scope, "a condition")
        for condition in (filter, best_effort_filter)
    ]
    for condition in conditions:
        if condition is not None:
            require_condition(condition)
    mask = None if columns is None else _mask(columns, struct)
    return Relation(rl.Read(struct, definition, conditions[0], conditions[1], mask, anchor=scope.anchor))


def _mask(columns: Any, struct: NamedStruct) -> rl.StructMask:
    if isinstance(columns, str) or not isinstance(columns, Sequence) or not columns:
        raise TypeMismatchError(f"columns must be a list of at least one name, got {columns!r}")
    return rl.StructMask(tuple(rl.MaskItem(struct.position(column)) for column in columns))
