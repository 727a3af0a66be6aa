"""Iceberg tables by their metadata file, at one of their snapshots.

Spark's own runtime for Iceberg reads the tables of a catalog, as named tables. A metadata file is read by `pyiceberg`,
which applies deletes, renames of columns and their defaults, and the rows are sent to Spark. Specification:
https://substrait.io/relations/logical_relations/#iceberg-table.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from substrait_dsl.algebra.relations import IcebergTable
from substrait_dsl.errors import ExecutionError, UnsupportedError, quote
from substrait_dsl.installation import install_line
from substrait_dsl.spark.session.engines import ENGINE
from substrait_dsl.spark.sources.iceberg_files import load_static_table
from substrait_dsl.spark.sources.paths import local_path
from substrait_dsl.spark.sources.virtual_tables import table_frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyiceberg.table import StaticTable
    from pyiceberg.types import IcebergType
    from pyspark.sql import DataFrame, SparkSession

_BY_NAME = "read the table by its name, from a catalog of Spark's: read_named(...)"
_UNKNOWN_TYPE = re.compile(r"(Unsupported field type: '|Type not recognized: )(?P<type>\w+)")
"""The message of `pyiceberg` for a type that it does not know, such as ``variant``."""


def read_snapshot(table: IcebergTable, columns: Sequence[str], spark: SparkSession) -> DataFrame:
    """Read a snapshot of a table, through the memory of the driver.

    Args:
        table: the metadata file, and which snapshot.
        columns: the columns that are needed; if one of them is not there under this very name, all are read.
        spark: the session.

    Returns:
        A DataFrame with at least those of the columns that are there.

    Raises:
        ExecutionError: `pyiceberg` is not installed, the file is not there or is none, or has no such snapshot.
        UnsupportedError: `pyiceberg` does not tell NULL from an empty list, or map, in one of the columns, one has
            nanoseconds, which would be cut off, or `pyiceberg` does not know the type of a column of the table.
    """
    stored = _load(table.metadata_uri)
    snapshot = _snapshot(stored, table)
    scan = stored.scan(snapshot_id=snapshot)
    if set(columns) <= set(scan.projection().column_names):
        scan = scan.select(*columns)
    for field in scan.projection().fields:
        if _has_nanoseconds(field.field_type):
            raise UnsupportedError(
                f'column "{field.name}" of the Iceberg table {table.metadata_uri} is a {field.field_type}, and '
                f"{ENGINE} has no nanoseconds"
            )
        if _is_changed(field.field_type, is_optional=field.optional):
            raise UnsupportedError(
                f'pyiceberg reads NULLs in column "{field.name}" of the Iceberg table {table.metadata_uri}, a '
                f"{field.field_type}, as empty lists or maps",
                hint=_BY_NAME,
            )
    try:
        return table_frame(_with_texts(scan.to_arrow()), spark)
    except (OSError, ValueError) as error:
        raise ExecutionError(f"cannot read the Iceberg table {table.metadata_uri}: {error}") from error


def _has_nanoseconds(type_: IcebergType) -> bool:
    """Whether a type is, or holds, a timestamp in nanoseconds."""
    from pyiceberg.types import ListType, MapType, StructType, TimestampNanoType, TimestamptzNanoType

    match type_:
        case StructType(fields=fields):
            return any(_has_nanoseconds(field.field_type) for field in fields)
        case ListType(element_type=element):
            return _has_nanoseconds(element)
        case MapType(key_type=key, value_type=value):
            return _has_nanoseconds(key) or _has_nanoseconds(value)
        case _:
            return isinstance(type_, TimestampNanoType | TimestamptzNanoType)


def _is_changed(type_: IcebergType, *, is_optional: bool) -> bool:
    """Whether `pyiceberg` changes values of a type: it rebuilds structs in lists and maps, also NULL ones."""
    from pyiceberg.types import ListType, MapType, StructType

    match type_:
        case StructType(fields=fields):
            return any(_is_changed(field.field_type, is_optional=field.optional) for field in fields)
        case ListType(element_type=element):
            parts: tuple[IcebergType, ...] = (element,)
        case MapType(key_type=key, value_type=value):
            parts = (key, value)
        case _:
            return False
    holds_struct = any(isinstance(part, StructType) for part in parts)
    return (is_optional and holds_struct) or any(_is_changed(part, is_optional=False) for part in parts)


def _with_texts(rows: pa.Table) -> pa.Table:
    """Convert UUIDs to strings, which Spark has for them."""
    import pyarrow as pa

    for number, field in enumerate(rows.schema):
        if field.type == pa.uuid():
            values = [None if value is None else str(value) for value in rows.column(number).to_pylist()]
            rows = rows.set_column(number, field.name, pa.array(values, pa.string()))
    return rows


def _load(uri: str) -> StaticTable:
    try:
        from pyiceberg.exceptions import ValidationError
    except ImportError as error:
        raise ExecutionError(
            "reading an Iceberg table by its metadata file needs pyiceberg, which is not installed",
            hint=install_line("iceberg"),
        ) from error
    try:
        return load_static_table(local_path(uri) or unquote(uri))
    except (OSError, ValueError, ValidationError) as error:  # what is no metadata, pydantic refuses with a ValueError
        if unknown := _UNKNOWN_TYPE.search(str(error)):
            raise UnsupportedError(
                f"pyiceberg cannot read the Iceberg table {uri}, which has a column of the type {unknown['type']}, "
                "whether it is asked for or not",
                hint=_BY_NAME,
            ) from error
        reason = " ".join(str(error).split())[:_LONGEST]
        raise ExecutionError(f"cannot read the metadata file of an Iceberg table, {uri}: {reason}") from error


_LONGEST = 300
"""The most characters of a message of `pyiceberg` in an error."""


def _snapshot(stored: StaticTable, table: IcebergTable) -> int | None:
    """Return the id of the requested snapshot; None: the current one, if there is any."""
    known = [str(snapshot.snapshot_id) for snapshot in stored.snapshots()]
    if table.snapshot_id is not None:
        if table.snapshot_id not in known:
            raise ExecutionError(
                f'the Iceberg table {table.metadata_uri} has no snapshot "{table.snapshot_id}"; it has {quote(known)}'
            )
        return int(table.snapshot_id)
    if table.snapshot_timestamp is None:
        return None
    found = stored.snapshot_as_of_timestamp(table.snapshot_timestamp // 1000)
    if found is None:
        when = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=table.snapshot_timestamp)
        raise ExecutionError(f"the Iceberg table {table.metadata_uri} has no snapshot of {when.isoformat()} or before")
    return found.snapshot_id
