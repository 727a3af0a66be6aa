"""Write guards: values that Spark would silently alter, as partition values or by truncation to a column's length."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.spark.catalog.table_metadata import folders_of
from substrait_dsl.spark.session.time_zone import TIME_ZONE, UTC
from substrait_dsl.spark.sources.partition_values import failing, require_utc, write_checked_value
from substrait_dsl.spark.sources.schema_compatibility import fixed_length, most_characters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from substrait_dsl.spark.catalog.table_metadata import StoredTable


def write_inserted_values(
    table: StoredTable, columns: Sequence[str], texts: Sequence[str], what: str, spark: SparkSession
) -> list[str]:
    """Write values as they are inserted into columns: an error for a value that would be altered.

    Raises `UnsupportedError` for a partition column of a type that directories cannot be named after.
    """
    fields = {field.name: field for field in table.schema.fields}
    values = []
    for column, text in zip(columns, texts, strict=True):
        failures: list[tuple[str, str]] = []
        if (most := most_characters(fields[column])) is not None:
            # Spark would cut off spaces, and says of other texts neither which they are nor where they were to go.
            failures.append((f"char_length({text}) > {most}", f"is varchar({most}), and this text is longer"))
        if (length := fixed_length(fields[column])) is not None:
            failures.append((f"char_length({text}) > {length}", f"is char({length}), and this text is longer"))
        if column in table.partitions:
            type_name = fields[column].dataType.simpleString()
            failures += failing(type_name, text, _write_partition_value(column, what), spark)
        values.append(write_checked_value(column, text, failures))
    return values


def _write_partition_value(column: str, what: str) -> str:
    return f'{what}: the table is partitioned by column "{column}"'


def require_folders_read(
    names: tuple[str, ...], found: StructType, declared: Collection[str], what: str, spark: SparkSession
) -> None:
    """Raise `UnsupportedError` if a table is partitioned by timestamps, unless the session's time zone is UTC.

    Args:
        names: the name of a table or view; what a view reads is not known.
        found: its columns.
        declared: those of them that are read.
        what: the table, for the message.
        spark: the session.
    """
    points = {
        field.name for field in found.fields if field.name in declared and field.dataType.simpleString() == "timestamp"
    }
    if not points or spark.conf.get(TIME_ZONE) in UTC:  # to have a table described takes a while
        return
    for column in folders_of(names, spark):
        if column in points:
            require_utc(_write_partition_value(column, what), "reads", spark)
