"""A table of one column: how it is read and looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import substrait_dsl as sd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = {"a": "i64?"}
NEW = sd.read_virtual([(100,)], {"a": "i64"})
"""The row that changes add."""


def rows(frame: DataFrame) -> list[Any]:
    """The values of the first column, sorted."""
    return sorted(row[0] for row in frame.collect())


def stored(name: tuple[str, ...], spark: SparkSession) -> list[Any]:
    """The rows of a table, as Spark reads them."""
    return rows(spark.table(".".join(name)))


def table(name: tuple[str, ...]) -> Any:
    return sd.read_named(name, COLUMNS)
