"""Tables and views of records that are text: CSV, JSON and XML.

Spark tells the readers of such records which columns a plan uses and which filters it has, and they take a record apart
no further. So they pass over a record before they have seen the whole of it: the last of two values of one name, or
that the record is broken, which makes all its values NULL. And whether a record is broken, which may leave it out, be
an error or fill a column, depends on the columns that are looked at.

So such tables are read as they are when all of their columns are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import attrs

from substrait_dsl.spark.explain import spark_plan
from substrait_dsl.spark.failures import spark_errors
from substrait_dsl.spark.named import SESSION_CATALOG, is_temporary
from substrait_dsl.spark.stored import ICEBERG, catalog_format, find_object, in_catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.spark.stored import StoredTable

EVERY_COLUMN = "transform(array(struct(*)), v -> true)[0]"
"""A condition that is true of every row, and that Spark needs all columns for: it does not see what it comes to."""

_SCAN = re.compile(r"^[^A-Za-z\n]*(?:File|Batch)?Scan (csv|json|xml)\b", re.MULTILINE | re.IGNORECASE)
"""The line of Spark's plan for what reads such files."""
_EMPTY = "<empty>"
"""What Spark's plan has in place of all that is joined with what has no rows."""

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
class Kept:
    """What is kept from the readers of a table or view."""

    whole: bool = False
    """They read all columns, whatever the plan uses."""
    filters: bool = False
    """They get no filters."""
    partitions: frozenset[str] = frozenset()
    """The columns that may have filters all the same: they stand in the names of folders."""


def read_no_records(names: Iterable[tuple[str, ...]], joined: DataFrame, spark: SparkSession) -> bool:
    """Whether none of some tables and views reads such records, as far as all of their columns, joined, tell."""
    if any(_is_of_iceberg(each, spark) for each in names):
        return False
    return _formats(joined) == frozenset()


def kept_from_readers(names: tuple[str, ...], frame: DataFrame, spark: SparkSession) -> Kept:
    """What has to be kept from the readers of a table or view, so that its rows do not depend on the plan."""
    formats = frozenset() if _is_of_iceberg(names, spark) else (_formats(frame) or frozenset()) - {_EMPTY}
    if not formats or not frame.columns:
        return Kept()
    # What options a view has, Spark does not tell; only views have names that Spark would change in a statement.
    table = None if any("${" in name for name in names) else find_object(names, spark)
    if table is not None and table.format == "csv" and _takes_values_alone(table, spark):
        return Kept()
    filters = any(spark.conf.get(f"spark.sql.{kind}.filterPushdown.enabled", "true") != "false" for kind in formats)
    return Kept(True, filters, frozenset() if table is None else frozenset(table.partitions))


def _takes_values_alone(table: StoredTable, spark: SparkSession) -> bool:
    """Whether the reader of a CSV table has each record, and takes each value for what it is alone."""
    given = {key.lower(): value for key, value in table.properties.items()}
    options = {key.removeprefix(_OPTION): value for key, value in given.items() if key.startswith(_OPTION)}
    broken = options.pop("columnnameofcorruptrecord", None) or spark.conf.get(_BROKEN) or ""
    is_lenient = options.pop("mode", _LENIENT).upper() == _LENIENT
    has_broken = broken.lower() in map(str.lower, table.schema.names)
    return is_lenient and not has_broken and options.keys() <= _PLAIN_OPTIONS


def _is_of_iceberg(names: tuple[str, ...], spark: SparkSession) -> bool:
    """Whether a name is that of a table in a catalog of Iceberg's: to make a plan for one takes long."""
    catalog, _ = in_catalog(names, spark)
    if catalog == SESSION_CATALOG or catalog_format(catalog, spark) != ICEBERG:
        return False
    return len(names) > 1 or not is_temporary(names[0], spark)


_KNOWN: WeakKeyDictionary[SparkSession, dict[int, frozenset[str]]] = WeakKeyDictionary()
"""What `_formats` found in a session, as to make a plan takes longer than all else that an execution does."""
_MOST_KNOWN = 10_000


def _formats(frame: DataFrame) -> frozenset[str] | None:
    """The formats of such records that tables and views read, and `_EMPTY`, if the plan has it; None: there is no plan.

    Spark's hash of what a DataFrame stands for tells whether it is the same as before: another table or view of that
    name has another one.
    """
    known = _KNOWN.setdefault(frame.sparkSession, {})
    try:
        meant = frame.semanticHash()
        if (found := known.get(meant)) is not None:
            return found
        plan = spark_plan(frame, "simple")
    except spark_errors():
        return None  # it is told when the rows are asked for
    if len(known) == _MOST_KNOWN:
        known.clear()
    formats = {kind.lower() for kind in _SCAN.findall(plan)}
    found = known[meant] = frozenset(formats | {_EMPTY} if _EMPTY in plan else formats)
    return found
