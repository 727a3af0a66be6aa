"""The files of a table of Spark's own catalog."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.spark.catalog.session_catalog import refresh_table
from substrait_dsl.spark.catalog.table_metadata import REQUIRED, split_catalog
from substrait_dsl.spark.changes.file_systems import as_uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from substrait_dsl.spark.catalog.table_metadata import StoredTable

_OF_CATALOG = {REQUIRED, "transient_lastDdlTime"}
"""Table properties that the catalog, or this library, sets by itself."""


@attrs.frozen
class TableFiles:
    """The catalog's metadata about the files of a table."""

    location: str
    options: Mapping[str, str]
    """The options of their writer."""
    is_bucketed: bool
    is_tracked: bool
    """Whether the catalog lists the partitions, and others are not read."""
    has_statistics: bool
    is_plain: bool
    """Whether the table is managed, and has nothing but columns and rows."""

    @classmethod
    def of_table(cls, table: StoredTable, spark: SparkSession) -> TableFiles:
        """Return the metadata of a table, which the catalog is asked for if it was not yet."""
        description = table.description
        if description is None:
            ((text,),) = spark.sql(f"DESCRIBE TABLE EXTENDED {table.sql} AS JSON").collect()
            description = json.loads(text)
        options = {key: value for key, value in description.get("storage_properties", {}).items() if key != "path"}
        is_bucketed = "num_buckets" in description
        return cls(
            location=description.get("location", ""),
            options=options,
            is_bucketed=is_bucketed,
            is_tracked=description.get("partition_provider", "").lower() == "catalog" and bool(table.partitions),
            has_statistics="statistics" in description,
            is_plain=description.get("type") == "MANAGED"
            and not (is_bucketed or table.partitions or options or "comment" in description)
            and description.get("table_properties", {}).keys() <= _OF_CATALOG
            and not any(field.metadata for field in table.schema.fields),
        )


def refresh(table: StoredTable, stored: TableFiles, folder: str, spark: SparkSession) -> None:
    """Invalidate what the session has cached of a table's rows and files."""
    if stored.has_statistics:  # they are of the former rows
        spark.sql(f"ANALYZE TABLE {table.sql} COMPUTE STATISTICS NOSCAN")
    spark.catalog.refreshByPath(as_uri(folder))
    if table.description is None:
        spark.catalog.refreshTable(table.sql)
    else:
        refresh_table(split_catalog(table.names, spark)[1], spark)
