"""Tables and views of text records: CSV, JSON and XML.

Spark pushes the columns and filters of a plan down to the readers of such records, and they parse a record no further
than needed. So they miss the last of two values of one name, or that a record is malformed, which makes all its values
NULL. Whether a malformed record is dropped, is an error or fills a column depends on the columns that are read.

So such tables are read with all of their columns, whatever the plan uses.
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
"""A condition that is true for every row, and uses all columns; Spark does not simplify it."""

_PLAIN_OPTIONS = frozenset(
    (
        *("charset", "codec", "compression", "encoding", "header", "path"),
        *("delimiter", "escape", "linesep", "nullvalue", "quote", "sep"),
        *("dateformat", "timestampformat", "timestampntzformat"),
    )
)
"""The options of a CSV table under which a value does not depend on the other columns that are read."""
_OPTION = "option."
"""The prefix of the table properties that are options of its reader."""
_BROKEN = "spark.sql.columnNameOfCorruptRecord"
_LENIENT = "PERMISSIVE"


@attrs.frozen
class ReaderRestrictions:
    """What must not be pushed down to the readers of a table or view."""

    all_columns: bool = False
    """Whether all columns are read, whatever the plan uses."""
    filters: bool = False
    """Whether no filters are pushed down."""
    partitions: frozenset[str] = frozenset()
    """The partition columns: filters on them may be pushed down all the same."""


def read_no_records(names: Iterable[tuple[str, ...]], joined: DataFrame, spark: SparkSession) -> bool:
    """Whether no text records are read for some tables and views, by the plan of their join."""
    if any(is_of_iceberg(each, spark) for each in names):
        return False
    scan = scan_of(joined)
    return scan is not None and not scan.records and not scan.is_empty


def restrictions_of(names: tuple[str, ...], frame: DataFrame, spark: SparkSession) -> ReaderRestrictions:
    """Return what must not be pushed down to a table or view, so that its rows do not depend on the plan."""
    scan = None if is_of_iceberg(names, spark) else scan_of(frame)
    if scan is None or not scan.records or not frame.columns:
        return ReaderRestrictions()
    # The options of a view are unknown; only views have names in which Spark would substitute variables.
    table = None if any("${" in name for name in names) else find_object(names, spark)
    if table is not None and table.format == "csv" and _takes_values_alone(table, spark):
        return ReaderRestrictions()
    pushed = (spark.conf.get(f"spark.sql.{format_}.filterPushdown.enabled", "true") for format_ in scan.records)
    filters = any(value != "false" for value in pushed)
    return ReaderRestrictions(True, filters, frozenset() if table is None else frozenset(table.partitions))


def _takes_values_alone(table: StoredTable, spark: SparkSession) -> bool:
    """Whether the values of a CSV table do not depend on the columns that are read."""
    properties = {key.lower(): value for key, value in table.properties.items()}
    options = {key.removeprefix(_OPTION): value for key, value in properties.items() if key.startswith(_OPTION)}
    broken = options.pop("columnnameofcorruptrecord", None) or spark.conf.get(_BROKEN) or ""
    is_lenient = options.pop("mode", _LENIENT).upper() == _LENIENT
    has_broken = broken.lower() in map(str.lower, table.schema.names)
    return is_lenient and not has_broken and options.keys() <= _PLAIN_OPTIONS
