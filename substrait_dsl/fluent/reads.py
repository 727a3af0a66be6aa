"""Reads, the start of pipelines: named tables, virtual tables, Iceberg tables, extension tables."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from typing_extensions import Unpack

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.extensions import AnyLike, any_message
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import (
    InvalidArgumentError,
    LiteralError,
    SchemaError,
    UnknownFieldError,
    error_context,
    require,
)
from substrait_dsl.fluent.base import S2, Condition, table_name
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.declared_properties import Distributed, Ordering
from substrait_dsl.fluent.expr import ExprBase, unwrap_constants
from substrait_dsl.fluent.read_options import Known, read
from substrait_dsl.fluent.schema_forms import Declared
from substrait_dsl.fluent.schemas import DynRow, SchemaLike, as_struct
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

Row = Mapping[str, object] | Sequence[object]


@overload
def read_named(
    name: str | Sequence[str],
    schema: type[S2],
    *,
    filter: Condition | Callable[[S2], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S2], Condition] | None = ...,
    columns: None = ...,
    **known: Unpack[Known],
) -> Relation[S2]: ...
@overload
def read_named(
    name: str | Sequence[str],
    schema: type[S2],
    *,
    filter: Condition | Callable[[S2], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S2], Condition] | None = ...,
    columns: Sequence[str],
    **known: Unpack[Known],
) -> Relation[DynRow]: ...
@overload
def read_named(
    name: str | Sequence[str],
    schema: Declared,
    *,
    filter: Condition | Callable[[Any], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[Any], Condition] | None = ...,
    columns: Sequence[str] | None = ...,
    **known: Unpack[Known],
) -> Relation[DynRow]: ...
def read_named(
    name: str | Sequence[str],
    schema: SchemaLike,
    *,
    filter: Any = None,
    best_effort_filter: Any = None,
    columns: Sequence[str] | None = None,
    ordering: Ordering = (),
    distribution: Distributed | None = None,
    properties: Mapping[str, str] | None = None,
) -> Relation[Any]:
    """Read a table that the engine knows by name.

    Args:
        name: the table's name; several parts as a tuple: ``("catalog", "db", "orders")``.
        schema: its columns: a Schema class, a dict ``{name: type}``, a pyarrow or a PySpark schema.
        filter: a condition that the rows must fulfil; it sees all columns of the schema.
        best_effort_filter: a condition that the engine may apply to read less; rows that fail it may come all the same.
        columns: the columns to read, in order; by default all.
        ordering: the order that the rows are known to be in, as keys of `sort`: a name, ``asc(...)``, or several.
        distribution: the columns by which the rows are known to lie in partitions; ``"singleton"`` if all are in one.
        properties: names and values that the engine takes along with the read.

    Output: the columns of the schema, or those chosen. Raises `SchemaError`, `UnknownFieldError`, `TypeMismatchError`.
    Specification: ``ReadRel.NamedTable``.

    Example:
        >>> print(sd.read_named(("shop", "orders"), {"id": "i64", "price": "fp64?"}, columns=["price"]))
        read shop.orders (1 of 2 columns) -> price: fp64?
    """
    with error_context(verb="read_named"):
        struct, table = as_struct(schema), rl.NamedTable(table_name(name))
        return read(struct, table, filter, best_effort_filter, columns, ordering, distribution, properties)


_RECORDS: Mapping[str, str] = {
    "to_pylist": "write table.to_pylist()",
    "to_dicts": "write frame.to_dicts()",
    "to_dict": 'write frame.to_dict("records")',
}
"""Hints for tables of Arrow, Polars and pandas, by a method that such a table has."""


@overload
def read_virtual(rows: Iterable[Row], schema: type[S2], **known: Unpack[Known]) -> Relation[S2]: ...
@overload
def read_virtual(rows: Iterable[Row], schema: Declared, **known: Unpack[Known]) -> Relation[DynRow]: ...
def read_virtual(
    rows: Iterable[Row],
    schema: SchemaLike,
    *,
    ordering: Ordering = (),
    distribution: Distributed | None = None,
    properties: Mapping[str, str] | None = None,
) -> Relation[Any]:
    """Read rows that are written into the plan.

    Args:
        rows: tuples, in the order of the schema, or dicts with a value for each column. Values are Python values that
            fit the column's type exactly, None for NULL, or constant expressions. There may be no rows.
        schema: the columns.
        ordering: as for `read_named`.
        distribution: as for `read_named`.
        properties: as for `read_named`.

    Output: the columns of the schema. Raises `LiteralError` for a value that does not fit (NULL in a required column
    too), `SchemaError` for a row of another width, `UnknownFieldError` for a key that is no column.
    Specification: ``ReadRel.VirtualTable``.

    Example:
        >>> print(sd.read_virtual([(1, "Ada"), (2, None)], {"key": "i64", "name": "string?"}))
        read values (1, 'Ada'), (2, null:string) -> key: i64, name: string?
    """
    with error_context(verb="read_virtual"):
        struct = as_struct(schema)
        hint = next((advice for method, advice in _RECORDS.items() if hasattr(rows, method)), None)
        require(rows, Iterable if hint is None else list, "the rows are a list of tuples or dicts", hint)
        scope = Scope("read_virtual", (), NamedStruct(()))
        records = tuple(record_of(row, number, struct, scope) for number, row in enumerate(rows))
        return read(struct, rl.VirtualTable(records), None, None, None, ordering, distribution, properties)


def record_of(row: Row, number: int, struct: NamedStruct, scope: Scope) -> rl.Record:
    """Return a row that is given as a tuple or a dict. Raises as `read_virtual` says."""
    if isinstance(row, Mapping):
        for name in row:
            if name not in struct.names:
                raise UnknownFieldError(f"row {number}", reason=UnknownFieldError.of_name(str(name), struct.names))
        missing = [name for name in struct.names if name not in row]
        if missing:
            raise SchemaError(
                f'row {number} has no value for "{missing[0]}"', names=[missing[0]], hint="write None for NULL"
            )
        row = [row[name] for name in struct.names]
    elif isinstance(row, str | bytes) or not isinstance(row, Sequence):
        raise InvalidArgumentError(f"row {number} must be a tuple or a dict", got=row)
    if len(row) != len(struct):
        raise SchemaError(f"row {number} has {len(row)} values, the schema has {len(struct)} columns: {struct}")
    return rl.Record(tuple(_value(v, f, number, scope) for v, f in zip(row, struct, strict=True)))


def _value(value: object, field: Field, number: int, scope: Scope) -> ex.Expression:
    if isinstance(value, ExprBase):
        return bind(value, scope)
    try:
        return ex.literal(unwrap_constants(value), field.type)
    except LiteralError as error:
        nullable = f'"{field.type.as_nullable()}", or Nullable[...] in a class, is a type that NULL fits'
        hint = error.hint or (nullable if value is None else None)
        raise LiteralError(
            f'row {number}, column "{field.name}"', reason=error, names=[field.name], hint=hint
        ) from None


@overload
def read_iceberg(
    metadata_uri: str | os.PathLike[str],
    schema: type[S2],
    *,
    snapshot_id: str | int | None = ...,
    snapshot_timestamp: dt.datetime | int | None = ...,
    filter: Condition | Callable[[S2], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S2], Condition] | None = ...,
    columns: None = ...,
    **known: Unpack[Known],
) -> Relation[S2]: ...
@overload
def read_iceberg(
    metadata_uri: str | os.PathLike[str],
    schema: type[S2],
    *,
    snapshot_id: str | int | None = ...,
    snapshot_timestamp: dt.datetime | int | None = ...,
    filter: Condition | Callable[[S2], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S2], Condition] | None = ...,
    columns: Sequence[str],
    **known: Unpack[Known],
) -> Relation[DynRow]: ...
@overload
def read_iceberg(
    metadata_uri: str | os.PathLike[str],
    schema: Declared,
    *,
    snapshot_id: str | int | None = ...,
    snapshot_timestamp: dt.datetime | int | None = ...,
    filter: Condition | Callable[[Any], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[Any], Condition] | None = ...,
    columns: Sequence[str] | None = ...,
    **known: Unpack[Known],
) -> Relation[DynRow]: ...
def read_iceberg(
    metadata_uri: str | os.PathLike[str],
    schema: SchemaLike,
    *,
    snapshot_id: str | int | None = None,
    snapshot_timestamp: dt.datetime | int | None = None,
    filter: Any = None,
    best_effort_filter: Any = None,
    columns: Sequence[str] | None = None,
    ordering: Ordering = (),
    distribution: Distributed | None = None,
    properties: Mapping[str, str] | None = None,
) -> Relation[Any]:
    """Read an Iceberg table: its current snapshot, or an older one.

    Args:
        metadata_uri: the URI of the table's metadata file.
        schema: the columns.
        snapshot_id: the number of the snapshot to read.
        snapshot_timestamp: the time whose snapshot to read: a datetime with time zone, or microseconds since
            1970-01-01 UTC.
        filter: as for `read_named`.
        best_effort_filter: as for `read_named`.
        columns: as for `read_named`.
        ordering: as for `read_named`.
        distribution: as for `read_named`.
        properties: as for `read_named`.

    Output: the columns of the schema, or those chosen. Raises `InvalidArgumentError` for both kinds of snapshot, and as
    `read_named`. Specification: ``ReadRel.IcebergTable``.

    Example:
        >>> print(sd.read_iceberg("s3://lake/orders/metadata/7.json", {"id": "i64"}, snapshot_id=41))
        read iceberg 's3://lake/orders/metadata/7.json' snapshot '41' -> id: i64
    """
    from substrait_dsl.fluent.files import file_uri

    with error_context(verb="read_iceberg"):
        table = rl.IcebergTable(
            file_uri(metadata_uri, "file"), _snapshot(snapshot_id), _microseconds(snapshot_timestamp)
        )
        struct = as_struct(schema)
        return read(struct, table, filter, best_effort_filter, columns, ordering, distribution, properties)


def _snapshot(value: Any) -> str | None:
    if value is None or (type(value) in (str, int) and str(value)):
        return None if value is None else str(value)
    raise InvalidArgumentError("the id of a snapshot is a number or its text", got=value)


def _microseconds(value: Any) -> int | None:
    match value:
        case None:
            return None
        case dt.datetime(tzinfo=dt.tzinfo()):
            return (value - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
        case int() if not isinstance(value, bool):
            return value
    raise InvalidArgumentError(
        "the time of a snapshot is a datetime with time zone, or microseconds since 1970-01-01 UTC", got=value
    )


@overload
def read_extension(
    detail: AnyLike,
    schema: type[S2],
    *,
    filter: Condition | Callable[[S2], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S2], Condition] | None = ...,
    columns: None = ...,
    **known: Unpack[Known],
) -> Relation[S2]: ...
@overload
def read_extension(
    detail: AnyLike,
    schema: type[S2],
    *,
    filter: Condition | Callable[[S2], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[S2], Condition] | None = ...,
    columns: Sequence[str],
    **known: Unpack[Known],
) -> Relation[DynRow]: ...
@overload
def read_extension(
    detail: AnyLike,
    schema: Declared,
    *,
    filter: Condition | Callable[[Any], Condition] | None = ...,
    best_effort_filter: Condition | Callable[[Any], Condition] | None = ...,
    columns: Sequence[str] | None = ...,
    **known: Unpack[Known],
) -> Relation[DynRow]: ...
def read_extension(
    detail: AnyLike,
    schema: SchemaLike,
    *,
    filter: Any = None,
    best_effort_filter: Any = None,
    columns: Sequence[str] | None = None,
    ordering: Ordering = (),
    distribution: Distributed | None = None,
    properties: Mapping[str, str] | None = None,
) -> Relation[Any]:
    """Read a table that only those know who know the message.

    Args:
        detail: the message: an `AnyMessage`, or one of protobuf.
        schema: the columns.
        filter: as for `read_named`.
        best_effort_filter: as for `read_named`.
        columns: as for `read_named`.
        ordering: as for `read_named`.
        distribution: as for `read_named`.
        properties: as for `read_named`.

    Output and errors: as for `read_named`. Specification: ``ReadRel.ExtensionTable``.

    Example:
        >>> print(sd.read_extension(sd.AnyMessage("type.acme.com/Ticks", b""), {"at": "i64"}))
        read extension 'type.acme.com/Ticks' -> at: i64
    """
    with error_context(verb="read_extension"):
        struct, table = as_struct(schema), rl.ExtensionTable(any_message(detail, "the detail of an extension table"))
        return read(struct, table, filter, best_effort_filter, columns, ordering, distribution, properties)
