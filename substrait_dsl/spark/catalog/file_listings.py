"""Refresh cached file listings of tables after files were written.

A session caches the listing of each table that it has read, even if files are added to its folder. Spark invalidates
cached views over files, but not tables of the catalog.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from substrait_dsl.spark.catalog.table_metadata import split_catalog
from substrait_dsl.spark.catalog.table_names import SESSION_CATALOG, statement_name
from substrait_dsl.spark.session.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOKED_AT: WeakKeyDictionary[SparkSession, set[tuple[str, ...]]] = WeakKeyDictionary()
"""The tables that a session has refreshed since files were written, by the current database and their names."""
_WRITTEN = Event()
"""Whether this process has written files."""


def files_written() -> None:
    """Make every session refresh its tables when they are read next: any of them may have the files."""
    _WRITTEN.set()
    _LOOKED_AT.clear()


def refresh_if_written(names: tuple[str, ...], spark: SparkSession) -> bool:
    """Refresh the file listing of a table, or of a view's tables, if files were written since the last refresh.

    Returns whether it was refreshed: DataFrames of the table that were made before have the old files.
    """
    if not _WRITTEN.is_set() or split_catalog(names, spark)[0] != SESSION_CATALOG:
        return False
    # Taken out before Spark looks: a write that comes between begins with other sets.
    known = _LOOKED_AT.setdefault(spark, set())
    key = (spark.catalog.currentDatabase(), *names)
    if key in known:
        return False
    with suppress(*spark_errors()):  # what cannot be looked up, such as a snapshot, has no files that come and go
        spark.catalog.refreshTable(statement_name(names))
    known.add(key)
    return True
