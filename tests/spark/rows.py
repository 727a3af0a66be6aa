"""What the tests of relations on Spark share: small tables, rows as they come back, and a second opinion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import substrait_dsl as sd

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Tables = dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]]
"""By name: the columns with their types in text syntax, and the rows."""

SECOND_MATCH = "more than one match"
"""What Spark's error says of a second match in a single join."""

DUCKDB_TYPES = {"i32": "INTEGER", "i64": "BIGINT", "string": "VARCHAR", "boolean": "BOOLEAN", "fp64": "DOUBLE"}


def values(columns: Mapping[str, Any], *rows: tuple[Any, ...]) -> Any:
    """A virtual table."""
    return sd.read_virtual(rows, columns)


def collected(relation: sd.Relation[Any], spark: SparkSession) -> list[tuple[Any, ...]]:
    """The rows of a relation, in the order they come."""
    return [tuple(row) for row in relation.execute(spark).collect()]


def counted(relation: sd.Relation[Any], spark: SparkSession) -> Counter[tuple[Any, ...]]:
    """The rows of a relation, without an order."""
    return Counter(collected(relation, spark))


def register(tables: Tables, spark: SparkSession) -> dict[str, Any]:
    """Views of these tables in Spark, and a read of each."""
    reads = {}
    for name, (columns, rows) in tables.items():
        values(columns, *rows).execute(spark).createOrReplaceTempView(name)
        reads[name] = sd.read_named(name, columns)
    return reads


DuckdbRows = Callable[[str, Tables], Counter[tuple[Any, ...]]]
"""What the fixture `duckdb_rows` gives: what DuckDB answers to a query over tables."""


def duckdb_answer(query: str, tables: Tables) -> Counter[tuple[Any, ...]]:
    """What DuckDB answers to a query over these tables."""
    import duckdb

    with duckdb.connect() as connection:
        for name, (columns, rows) in tables.items():
            declared = ", ".join(f"{column} {DUCKDB_TYPES[kind.rstrip('?')]}" for column, kind in columns.items())
            connection.execute(f"CREATE TABLE {name} ({declared})")
            if rows:
                connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
        return Counter(map(_plain, connection.execute(query).fetchall()))


def _plain(row: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(int(value) if isinstance(value, Decimal) and value == int(value) else value for value in row)


def tagged(relations: Mapping[Any, sd.Relation[Any]]) -> sd.Relation[Any]:
    """Relations of one schema as one relation with their names in front: one job of Spark instead of many."""
    first, *others = (relation.project(tag=sd.lit(name)) for name, relation in relations.items())
    return first.union_all(*others) if others else first


def by_tag(relation: sd.Relation[Any], spark: SparkSession) -> dict[str, Counter[tuple[Any, ...]]]:
    """The rows of a `tagged` relation, by name."""
    found: dict[str, Counter[tuple[Any, ...]]] = {}
    for *row, tag in collected(relation, spark):
        found.setdefault(tag, Counter())[tuple(row)] += 1
    return found
