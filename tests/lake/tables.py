"""What the tests of lake tables share: tables made by Spark's own statements, and what is in them."""

from __future__ import annotations

import math
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

import substrait_dsl as sd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[tuple[Any, ...]]

COLUMNS = {"id": "i64", "name": "string?", "price": "fp64?"}
NAN = math.nan
TWICE: Rows = [
    (1, "a", 0.5),
    (1, "a", 0.5),
    (1, "a", 0.5),
    (2, None, None),
    (2, None, None),
    (3, "c", NAN),
    (4, "d", 1.0),
]
_NUMBERS = count()


def new_name() -> tuple[str, str, str]:
    """The name of a table that is not there."""
    return "lake", "db", f"t{next(_NUMBERS)}"


def new_table(spark: SparkSession, rows: Rows, columns: Any = None, clauses: str = "") -> tuple[str, str, str]:
    """A table with these rows, made by Spark's own statements."""
    name = new_name()
    kinds = {"i64": "BIGINT", "i32": "INT", "string": "STRING", "fp64": "DOUBLE"}
    declared = ", ".join(
        f"{column} {kinds[kind.rstrip('?')]}{'' if kind.endswith('?') else ' NOT NULL'}"
        for column, kind in (columns or COLUMNS).items()
    )
    spark.sql(f"CREATE TABLE {'.'.join(name)} ({declared}) USING iceberg {clauses}")
    if rows:
        values = ", ".join(f"({', '.join(map(_sql, row))})" for row in rows)
        spark.sql(f"INSERT INTO {'.'.join(name)} VALUES {values}")
    return name


def _sql(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"double('{value}')"
    return f"'{value}'" if isinstance(value, str) else str(value)


def stored(spark: SparkSession, name: tuple[str, ...]) -> Counter[tuple[Any, ...]]:
    """The rows of a table, as Spark itself reads them; NaN as a text, which equals itself."""
    return bag(map(tuple, spark.table(".".join(name)).collect()))


def bag(rows: Any) -> Counter[tuple[Any, ...]]:
    return Counter(tuple("NaN" if value != value else value for value in row) for row in rows)


def values(rows: Rows, columns: Any = None) -> Any:
    return sd.read_virtual(rows, columns or COLUMNS)


def snapshots(spark: SparkSession, name: tuple[str, ...]) -> list[int]:
    """The ids of a table's snapshots, oldest first."""
    found = spark.sql(f"SELECT snapshot_id FROM {'.'.join(name)}.snapshots ORDER BY committed_at")
    return [row[0] for row in found.collect()]
