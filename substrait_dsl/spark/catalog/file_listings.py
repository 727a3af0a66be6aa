"""Which files a table has, as Spark's catalog keeps it: after a write of files it is to look again.

A session keeps this for each table that it has read, whoever adds files to its folder. Views that read the files by
themselves are told by Spark that they are others, tables of the catalog are not.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from substrait_dsl.spark.catalog.table_metadata import in_catalog
from substrait_dsl.spark.catalog.table_names import SESSION_CATALOG, statement_name
from substrait_dsl.spark.session.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOKED_AT: WeakKeyDictionary[SparkSession, set[tuple[str, ...]]] = WeakKeyDictionary()
"""The tables that a session has looked at anew since files were written, by the current database and their names."""
_WRITTEN = Event()
"""Whether this process has written files."""


def files_written() -> None:
    """Have every session look at its tables anew when they are read next: any of them may have the files."""
    _WRITTEN.set()
    _LOOKED_AT.clear()


def looked_at_anew(names: tuple[str, ...], spark: SparkSession) -> bool:
    """Have Spark look up the files of a table, or of those of a view, if files were written since it last did.

    Gives whether it was told to: what was made of the table before has the files of then.
    """
    if not _WRITTEN.is_set() or in_catalog(names, spark)[0] != SESSION_CATALOG:
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
