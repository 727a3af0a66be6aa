"""What it costs to stage rows: an insert of a million rows into a Parquet table, against Spark's own statement.

Run from the repository's root: ``python -m benchmarks.inserting [--rows 1000000] [--repeats 9]``. Both insert the same
rows, of four columns, into tables of their own, which are emptied each time; the ratio is that of the medians.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

import substrait_dsl as sd
from benchmarks.measure import in_turns
from substrait_dsl.spark.session.local import local_session

WARM = 4
"""How often each form runs before it is measured."""
COLUMNS = {"id": "i64", "amount": "fp64", "code": "string", "day": "date"}
ROWS = (
    "id",
    "rand(1) * id AS amount",
    "concat('code ', id % 1000) AS code",
    "DATE '2026-01-01' + CAST(id % 365 AS INT) AS day",
)


def measure(rows: int, repeats: int) -> None:
    """Print the medians of both, and their ratio."""
    spark = local_session()
    spark.range(0, rows, 1, 4).selectExpr(*ROWS).write.saveAsTable("source")
    source = sd.read_named("source", COLUMNS)
    for name in ("staged", "plain"):
        spark.sql(f"CREATE TABLE {name} LIKE source")

    def timed(name: str) -> float:
        spark.sql(f"TRUNCATE TABLE {name}")
        start = time.perf_counter()
        insert(name, source, spark)
        return (time.perf_counter() - start) * 1000

    runs = {name: lambda name=name: timed(name) for name in ("staged", "plain")}
    in_turns(runs, WARM)
    times = {name: median(values) for name, values in in_turns(runs, repeats).items()}
    ratio = times["staged"] / times["plain"]
    print(f"{rows} rows: {times['staged']:.0f} ms staged, {times['plain']:.0f} ms by Spark alone, {ratio:.2f} times")
    assert spark.table("staged").count() == spark.table("plain").count() == rows


def insert(name: str, source: sd.Relation[Any], spark: SparkSession) -> None:
    """Insert the rows into one of the tables."""
    if name == "staged":
        source.write(name).execute(spark)
    else:
        spark.sql(f"INSERT INTO {name} SELECT * FROM source")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    measure(arguments.rows, arguments.repeats)
