"""Iceberg tables by their metadata file, at one of their snapshots.

Spark's own runtime for Iceberg reads the tables of a catalog, as named tables. A metadata file is read by `pyiceberg`,
which keeps to deletes, to columns that were renamed and to their defaults, and the rows are sent to Spark.
Specification: https://substrait.io/relations/logical_relations/#iceberg-table.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra.relations import IcebergTable
from substrait_dsl.errors import ExecutionError, quoted
from substrait_dsl.spark.virtual import table_frame

if TYPE_CHECKING:
    from pyiceberg.table import StaticTable
    from pyspark.sql import DataFrame, SparkSession


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
    """
    stored = _load(table.metadata_uri)
    snapshot = _snapshot(stored, table)
    scan = stored.scan(snapshot_id=snapshot)
    if set(columns) <= set(scan.projection().column_names):
        scan = scan.select(*columns)
    try:
        return table_frame(scan.to_arrow(), spark)
    except (OSError, ValueError) as error:
        raise ExecutionError(f"cannot read the Iceberg table {table.metadata_uri}: {error}") from error


def _load(uri: str) -> StaticTable:
    try:
        from pyiceberg.table import StaticTable
    except ImportError as error:
        raise ExecutionError(
            "reading an Iceberg table by its metadata file needs pyiceberg, which is not installed",
            hint='pip install "substrait-dsl[iceberg]"',
        ) from error
    try:
        return StaticTable.from_metadata(uri)
    except (OSError, ValueError) as error:  # what is no metadata, pydantic refuses with a ValueError
        told = str(error).strip().partition("\n")[0]
        raise ExecutionError(f"cannot read the metadata file of an Iceberg table, {uri}: {told}") from error


def _snapshot(stored: StaticTable, table: IcebergTable) -> int | None:
    """The id of the snapshot that is meant; None: the current one, if there is any."""
    known = [str(snapshot.snapshot_id) for snapshot in stored.snapshots()]
    if table.snapshot_id is not None:
        if table.snapshot_id not in known:
            raise ExecutionError(
                f'the Iceberg table {table.metadata_uri} has no snapshot "{table.snapshot_id}"; it has {quoted(known)}'
            )
        return int(table.snapshot_id)
    if table.snapshot_timestamp is None:
        return None
    found = stored.snapshot_as_of_timestamp(table.snapshot_timestamp // 1000)
    if found is None:
        when = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(microseconds=table.snapshot_timestamp)
        raise ExecutionError(f"the Iceberg table {table.metadata_uri} has no snapshot of {when.isoformat()} or before")
    return found.snapshot_id
