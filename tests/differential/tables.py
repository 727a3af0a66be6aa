"""The tables that random pipelines read, in both engines: full of NULLs, repetitions and extremes, and one empty."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyarrow import parquet

import substrait_dsl as sd
from substrait_dsl.algebra import types as t

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import DataFrame, SparkSession

DECIMAL = t.Decimal(10, 2)
MOMENT = t.PrecisionTimestamp(6)
FIELDS = ("a", "b")
PAIR = t.Struct((t.I32(nullable=True), t.String(nullable=True)), FIELDS)
"""What is compared for equality alone: the engines order structs with NULLs in them otherwise."""

VALUES: dict[t.Type, list[Any]] = {
    t.Boolean(): [True, False],
    t.I8(): [0, 1, -1, 3, 127, -128],
    t.I16(): [0, 1, -1, 7, 32767, -32768],
    t.I32(): [0, 1, 2, -1, -7, 2147483647, -2147483648],
    t.I64(): [0, 1, 2, -1, 10, 9223372036854775807, -9223372036854775808],
    t.FP32(): [0.0, -0.0, 1.5, -2.25, inf, nan],
    t.FP64(): [0.0, -0.0, 1.0, -0.5, 1e308, -1e-308, 5e-324, inf, -inf, nan],
    DECIMAL: [Decimal(x) for x in ("0.00", "1.00", "-0.01", "2.50", "-2.50", "99999999.99", "-99999999.99")],
    t.String(): ["", "a", "A", "b", " a ", "ab%_", "12", "ß", "é𝄞", "\uff22", "a\\'\"", "${x}{y}"],
    t.Date(): list(map(dt.date.fromisoformat, ("1970-01-01", "2024-02-29", "1582-10-10", "1000-01-01", "9999-12-31"))),
    MOMENT: [
        dt.datetime(1970, 1, 1),
        dt.datetime(2024, 2, 29, 23, 59, 59, 999999),
        dt.datetime(1969, 12, 31, 23, 59, 59, 500000),
        dt.datetime(1000, 1, 1, 0, 0, 1),
        dt.datetime(9999, 12, 31, 12),
    ],
    PAIR: [(0, "a"), (None, "a"), (1, None), (None, None), (1, "b")],
}
"""What columns and constants of each type hold."""

KINDS = tuple(VALUES)

TABLES: dict[str, tuple[dict[str, Any], int]] = {
    "ints": ({"k": "i64", "a": "i32?", "b": "i64?", "h": "i16?", "y": "i8"}, 9),
    "texts": ({"k": "i64", "s": "string?", "u": "string", "p": "boolean?"}, 9),
    "reals": ({"a": "i32", "x": "fp64?", "z": "fp64", "r": "fp32?", "n": "decimal<10,2>?"}, 8),
    "times": ({"b": "i64?", "d": "date?", "m": "precision_timestamp<6>?", "c": "date", "q": "boolean"}, 8),
    "parts": ({"k": "i64", "v": PAIR.as_nullable(), "w": PAIR, "a": "i32?"}, 7),
    "nothing": ({"a": "i32?", "b": "i64", "s": "string", "n": "decimal<10,2>"}, 0),
    "single": ({"a": "i32", "s": "string?", "d": "date", "p": "boolean?"}, 1),
}
"""By name: the columns with their types, and how many rows there are."""


def type_of(declared: Any) -> t.Type:
    """The type of a column."""
    return sd.parse_type(declared) if isinstance(declared, str) else declared


def rows(name: str) -> list[tuple[Any, ...]]:
    """The rows of a table. The n-th has in each column the value that comes next there, every fifth or so is NULL."""
    columns, count = TABLES[name]
    kinds = list(map(type_of, columns.values()))
    made = []
    for number in range(count):
        row = []
        for place, type_ in enumerate(kinds):
            some = VALUES[type_.as_required()]
            step = number * (place + 1) + place
            row.append(None if type_.nullable and step % 5 == 3 else some[step % len(some)])
        made.append(tuple(row))
    return made + made[:2]  # so there are duplicates


def read(name: str) -> sd.Relation[Any]:
    """A read of a table."""
    return sd.read_named(name, TABLES[name][0])


Store = Literal["cache", "parquet", "orc", "iceberg", "iceberg_orc", "iceberg_parts"]
"""Where Spark has the rows: they are read as data is read, not from the plan."""

TOGETHER = 2
"""How many rows files keep statistics of: few, so that conditions leave some out."""


def register_in_spark(spark: SparkSession, store: Store, folder: Path) -> None:
    """Views of the tables, whose files, if they are in files, are in a folder."""
    for name, (columns, _) in TABLES.items():
        frame = sd.read_virtual(rows(name), columns).execute(spark).coalesce(1)
        stored(frame, store, folder / f"{name}.{store}").createOrReplaceTempView(name)


def stored(frame: DataFrame, store: Store, path: Path) -> DataFrame:
    """The same rows, read from where they are stored."""
    if any(kind == "date" for _, kind in frame.dtypes) and store == "orc":
        store = "parquet"  # of dates files of ORC do not hold all
    match store:
        case "cache":
            return frame.cache()
        case "parquet":
            parquet.write_table(frame.toArrow(), path, row_group_size=TOGETHER, write_page_index=True)
            return frame.sparkSession.read.parquet(str(path))
        case "orc":
            # To a file of each so many rows, as no part of one has statistics that is so small.
            frame.write.option("maxRecordsPerFile", TOGETHER).orc(str(path))
            return frame.sparkSession.read.orc(str(path))
        case "iceberg" | "iceberg_parts" | "iceberg_orc":
            return _in_iceberg(frame, store, path.stem)


PARTITIONS = {
    "ints": "bucket(2, k)",
    "texts": "s, p",
    "reals": "a, n",
    "times": "b, q, years(m)",
    "parts": "a",
    "nothing": "a",
    "single": "s, p",
}
"""By what the Iceberg tables of `iceberg_parts` are partitioned."""


def _in_iceberg(frame: DataFrame, store: Store, name: str) -> DataFrame:
    """The same rows, each in a file of its own, in a table of the catalog ``lake``."""
    spark = frame.sparkSession
    table = f"lake.db.{store}_{name}"
    small = {"tinyint": "int", "smallint": "int"}  # Iceberg has none of these
    declared = ", ".join(f"{column} {small.get(kind, kind)}" for column, kind in frame.dtypes)
    clause = f"PARTITIONED BY ({PARTITIONS[name]})" if store == "iceberg_parts" else ""
    form = "orc" if store == "iceberg_orc" and name != "times" else "parquet"  # ORC does not hold all times
    properties = (
        f"'write.format.default'='{form}', 'write.distribution-mode'='none', 'write.spark.fanout.enabled'='true'"
    )
    spark.sql(f"CREATE TABLE {table} ({declared}) USING iceberg {clause} TBLPROPERTIES ({properties})")
    many = max(frame.count(), 1)
    frame.repartition(many).writeTo(table).append()
    columns = [f"cast({column} AS {kind}) AS {column}" if kind in small else column for column, kind in frame.dtypes]
    return spark.table(table).selectExpr(*columns)


DUCKDB_TYPES: dict[str, str] = {
    "boolean": "BOOLEAN", "i8": "TINYINT", "i16": "SMALLINT", "i32": "INTEGER", "i64": "BIGINT", "fp32": "FLOAT",
    "fp64": "DOUBLE", "string": "VARCHAR", "date": "DATE", "precision_timestamp": "TIMESTAMP",
    "precision_timestamp_tz": "TIMESTAMP WITH TIME ZONE",
}  # fmt: skip


def duckdb_type(type_: t.Type) -> str:
    """What a type is called in DuckDB."""
    if isinstance(type_, t.Decimal):
        return f"DECIMAL({type_.precision},{type_.scale})"
    if isinstance(type_, t.List):
        return f"{duckdb_type(type_.element)}[]"
    if isinstance(type_, t.Struct):
        fields = zip(FIELDS, map(duckdb_type, type_.types), strict=True)
        return f"STRUCT({', '.join(map(' '.join, fields))})"
    return DUCKDB_TYPES[type_.keyword]


def register_in_duckdb(connection: duckdb.DuckDBPyConnection) -> None:
    """The tables. Their columns are nullable, whatever the plan declares, so that nothing is concluded from that."""
    for name, (columns, _) in TABLES.items():
        declared = ", ".join(f"{column} {duckdb_type(type_of(kind))}" for column, kind in columns.items())
        connection.execute(f"CREATE TABLE {name} ({declared})")
        for row in rows(name):
            given = [dict(zip(FIELDS, value, strict=True)) if isinstance(value, tuple) else value for value in row]
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", given)
