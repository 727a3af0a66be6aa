"""Pipelines on Sail have the rows that DuckDB has: random ones, or they are refused, and the queries of TPC-H."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from examples.tpch import data
from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES as TPCH_TABLES
from substrait_dsl.errors import UnsupportedError
from tests.differential.engines import case_of, duckdb_engine, result_of
from tests.differential.pipelines import pipeline
from tests.differential.tables import TABLES, rows
from tests.spark.rows import values
from tests.support import f
from tests.tpch_answers import require_rows_of_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

MAX_REFUSED = 0.2
"""The share of random pipelines that Sail may be unable to run: most have correlated subqueries."""
MAX_LET_THROUGH = 4
"""How many of these `check` may let through: they fail for values, or for what Sail's own planner trips over."""


@pytest.fixture(scope="module")
def tables(sail: SparkSession) -> SparkSession:
    """The session with the tables that random pipelines read."""
    for name, (columns, _) in TABLES.items():
        sd.read_virtual(rows(name), columns).execute(sail).createOrReplaceTempView(name)
    return sail


PIPELINES = [
    (1, (*range(100), 271)),
    (2, (22, 109, 148, 363, 392, 439, 943, 1103, 1408, 1574, 1685)),
    (3, (169, 507)),
    (5, (362, 911, 1175, 1683)),
    (6, (846,)),
    (7, (616,)),
]
"""Of some seeds some numbers: the first ones, and such as Sail had other rows for before there was a guard."""


def test_random_pipelines_are_right_or_refused(duckdb: None, tables: SparkSession) -> None:
    import duckdb as engine

    connection = duckdb_engine()
    became: Counter[str] = Counter()
    wrong: list[str] = []
    let_through: list[tuple[int, int]] = []
    for seed, numbers in PIPELINES:
        for number in numbers:
            try:
                case = case_of(number, pipeline(seed, number), connection)
            except (engine.OutOfRangeException, engine.ConversionException):
                continue
            if not case.rows:
                continue
            result = result_of(case, tables)
            if result is None:
                became["right"] += 1
            elif isinstance(result, UnsupportedError) or ("Exception: " in result and "AssertionError" not in result):
                became["refused"] += 1
                if case.relation.check("sail"):
                    let_through.append((seed, number))
            else:
                wrong.append(f"pipeline {number} of seed {seed}: {result}")
    assert wrong == []
    assert became["right"] > 50
    assert became["refused"] <= MAX_REFUSED * became.total()
    assert len(let_through) <= MAX_LET_THROUGH, let_through


def test_constant_conditions_stay_above_aggregates(sail: SparkSession) -> None:
    """Below an aggregate of all rows, a condition that is false would leave the row that it makes of none."""

    def decimal(value: float) -> Any:
        return f.ceil(sd.lit(value)).cast("decimal<10,2>?", on_failure="return_null")

    two = values({"n": "i64"}, (1,), (2,))
    counted = two.aggregate(n=f.count())
    never = decimal(2.5).between(decimal(0.0), sd.lit(Decimal("1.00"), sd.Decimal(10, 2)))
    assert counted.filter(lambda r: (r.n >= 0) & never).collect(sail) == []
    assert counted.cross(two.select(m=sd.col("n"))).filter(never).collect(sail) == []
    assert two.join(counted.select(m=sd.col("n")), lambda a, b: never, "left").sort("n").collect(sail) == [
        (1, None),
        (2, None),
    ]
    assert counted.filter(~never).collect(sail) == [(2,)]


@pytest.mark.parametrize(
    ("constant", "target", "value"),
    [
        (sd.lit("1e3"), "decimal<10,2>", Decimal("1000.00")),
        (f.add(sd.lit(2.5), 1.5), "decimal<10,2>", Decimal("4.00")),
        (f.upper(sd.lit("2024-01-01 10:00:00")), "date", dt.date(2024, 1, 1)),
        (f.add(sd.lit(2.5), 1.5), "varchar<10>", "4.0"),
    ],
)
def test_casts_of_constants(constant: Any, target: str, value: Any, sail: SparkSession) -> None:
    """Sail computes a constant first, which then has no NULL, and a lambda has the type of before."""
    assert values({"n": "i64"}, (1,)).select(x=constant.cast(target)).collect(sail) == [(value,)]


# --- TPC-H


@pytest.fixture(scope="module")
def tpch(sail: SparkSession, tpch_folder: Path) -> Iterator[SparkSession]:
    data.register_in_spark(sail, tpch_folder)
    yield sail
    for name in TPCH_TABLES:  # a test of the session has no table "orders"
        sail.catalog.dropTempView(name)


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_the_queries_of_tpch(name: str, tpch: SparkSession, tpch_in_duckdb: DuckDBPyConnection) -> None:
    frame = QUERIES[name]().execute(tpch)
    assert frame.schema == QUERIES[name]().schema.to_spark()
    require_rows_of_query(name, frame.collect(), tpch_in_duckdb)
