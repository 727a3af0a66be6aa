"""Tables and views of records that are text: CSV, JSON and XML.

Spark tells the readers of such records which columns a plan uses and which filters it has, and they take a record apart
no further. So they pass over a record before they have seen the whole of it: the last of two values of one name, or
that the record is broken, which makes all its values NULL. And whether a record is broken, which may leave it out, be
an error or fill a column, depends on the columns that are looked at.

So such tables are read as they are when all of their columns are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.spark.catalog.scans import is_of_iceberg, scan_of
from substrait_dsl.spark.catalog.table_metadata import find_object

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.spark.catalog.table_metadata import StoredTable

EVERY_COLUMN = "transform(array(struct(*)), v -> true)[0]"
"""A condition that is true of every row, and that Spark needs all columns for: it does not see what it comes to."""

_PLAIN_OPTIONS = frozenset(
    (
        *("charset", "codec", "compression", "encoding", "header", "path"),
        *("delimiter", "escape", "linesep", "nullvalue", "quote", "sep"),
        *("dateformat", "timestampformat", "timestampntzformat"),
    )
)
"""The options of a CSV table with which it has each record, and values that do not depend on what else is looked at."""
_OPTION = "option."
"""How the properties of a table begin that are options of its reader."""
_BROKEN = "spark.sql.columnNameOfCorruptRecord"
_LENIENT = "PERMISSIVE"


@attrs.frozen
class ReaderRestrictions:
    """What is kept from the readers of a table or view."""

    whole: bool = False
    """They read all columns, whatever the plan uses."""
    filters: bool = False
    """They get no filters."""
    partitions: frozenset[str] = frozenset()
    """The columns that may have filters all the same: they stand in the names of folders."""


def read_no_records(names: Iterable[tuple[str, ...]], joined: DataFrame, spark: SparkSession) -> bool:
    """Whether none of some tables and views reads such records, as far as all of their columns, joined, tell."""
    if any(is_of_iceberg(each, spark) for each in names):
        return False
    scan = scan_of(joined)
    return scan is not None and not scan.records and not scan.is_empty


def restrictions_of(names: tuple[str, ...], frame: DataFrame, spark: SparkSession) -> ReaderRestrictions:
    """What has to be kept from the readers of a table or view, so that its rows do not depend on the plan."""
    scan = None if is_of_iceberg(names, spark) else scan_of(frame)
    if scan is None or not scan.records or not frame.columns:
        return ReaderRestrictions()
    # What options a view has, Spark does not tell; only views have names that Spark would change in a statement.
    table = None if any("${" in name for name in names) else find_object(names, spark)
    if table is not None and table.format == "csv" and _takes_values_alone(table, spark):
        return ReaderRestrictions()
    pushed = (spark.conf.get(f"spark.sql.{kind}.filterPushdown.enabled", "true") for kind in scan.records)
    filters = any(value != "false" for value in pushed)
    return ReaderRestrictions(True, filters, frozenset() if table is None else frozenset(table.partitions))


def _takes_values_alone(table: StoredTable, spark: SparkSession) -> bool:
    """Whether the reader of a CSV table has each record, and takes each value for what it is alone."""
    given = {key.lower(): value for key, value in table.properties.items()}
    options = {key.removeprefix(_OPTION): value for key, value in given.items() if key.startswith(_OPTION)}
    broken = options.pop("columnnameofcorruptrecord", None) or spark.conf.get(_BROKEN) or ""
    is_lenient = options.pop("mode", _LENIENT).upper() == _LENIENT
    has_broken = broken.lower() in map(str.lower, table.schema.names)
    return is_lenient and not has_broken and options.keys() <= _PLAIN_OPTIONS
