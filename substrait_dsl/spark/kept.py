"""Values that Spark's own tables would change: as the names of folders, or cut to the length of a column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.fitting import most_characters
from substrait_dsl.spark.literals import text_to_sql
from substrait_dsl.spark.settings import TIME_ZONE, UTC
from substrait_dsl.spark.stored import folders_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from substrait_dsl.spark.stored import StoredTable

_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
"""The name of the folder of NULL."""

_LONGEST = 60
"""How many characters of a value an error shows."""


def inserted(
    table: StoredTable, columns: Sequence[str], texts: Sequence[str], what: str, spark: SparkSession
) -> list[str]:
    """Values, given as texts of SQL, as they go into columns of a table: an error where one would be another there.

    Raises `UnsupportedError` for a column that tells partitions apart, and whose values folders cannot have for names.
    """
    fields = {field.name: field for field in table.schema.fields}
    values = []
    for column, text in zip(columns, texts, strict=True):
        failures: list[tuple[str, str]] = []
        if (most := most_characters(fields[column])) is not None:
            # Spark would cut off spaces, and says of other texts neither which they are nor where they were to go.
            failures.append((f"char_length({text}) > {most}", f"is varchar({most}), and this text is longer"))
        if column in table.partitions:
            failures += _as_folder(column, fields[column].dataType.simpleString(), text, what, spark)
        values.append(_checked(column, text, failures))
    return values


def _checked(column: str, text: str, failures: Sequence[tuple[str, str]]) -> str:
    """A value that is an error under some conditions, each with what is told of the column then."""
    cases = ""
    for condition, told in failures:
        start = text_to_sql(f'column "{column}" {told}: "')
        shown = f"replace(left({text}, {_LONGEST}), chr(0), '\u2400')"  # a symbol for NUL, which shows as nothing
        cases += f" WHEN {condition} THEN raise_error(concat({start}, {shown}, '\"'))"
    return f"CASE{cases} ELSE {text} END" if cases else text


def _as_folder(column: str, kind: str, text: str, what: str, spark: SparkSession) -> Iterator[tuple[str, str]]:
    """When a value cannot be the name of a folder, and what is told of the column then."""
    if kind == "binary":
        raise UnsupportedError(f"{_partitioned(column, what)}, of binary values")
    if kind == "timestamp":
        require_utc(_partitioned(column, what), "writes", spark)
    if kind == "string":
        null = f"{text} IN ('', '{_NULL_FOLDER}')"
        yield null, "tells partitions apart, where Spark would make this value NULL"
        yield (
            f"contains({text}, chr(0))",
            "tells partitions apart, and no folder's name has a NUL character, as here",
        )


def _partitioned(column: str, what: str) -> str:
    return f'{what}: the table is partitioned by column "{column}"'


def require_utc(what: str, does: str, spark: SparkSession) -> None:
    """Raise `UnsupportedError` if the session would have local times for points in time in the names of folders.

    Args:
        what: whose folders are named after which column, for the message.
        does: what the session does, ``reads`` or ``writes``.
        spark: the session.
    """
    zone = spark.conf.get(TIME_ZONE)
    if zone not in UTC:
        raise UnsupportedError(
            f"{what}, of points in time, which the session {does} as local times of {zone}: in another zone these are "
            "other points in time, and some of them are two",
            hint=f'spark.conf.set("{TIME_ZONE}", "{UTC[0]}")',
        )


def require_folders_read(
    names: tuple[str, ...], found: StructType, declared: Collection[str], what: str, spark: SparkSession
) -> None:
    """Raise `UnsupportedError` if a table has points in time for the names of folders, and the session another zone.

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
            require_utc(_partitioned(column, what), "reads", spark)
