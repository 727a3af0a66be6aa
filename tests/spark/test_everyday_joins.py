"""Joins by name, as-of joins and unions by name on Spark, each with the rows that DuckDB gives for the same tables."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.test_asof_join import MATCHES, lateral_sql, random_sides, rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("duckdb")
START = dt.datetime(2024, 1, 1)


def test_rows_are_those_of_duckdb(spark: SparkSession) -> None:
    trades, quotes = random_sides(4)
    one = trades.select("id", "k", t=lambda r: sd.lit(START) + r.t * dt.timedelta(microseconds=500_000))
    other = quotes.select("k", "v", t=lambda r: sd.lit(START) + f.divide(r.t, 3) * dt.timedelta(microseconds=1_500_000))
    # a third of the times of quotes stand for three: they are often equal
    several: list[sd.Relation[Any]] = []
    expected: Counter[Any] = Counter()
    tables = {"l": one, "r": other}
    for direction in MATCHES:
        for tolerance, text in ((None, None), (dt.timedelta(seconds=3), "INTERVAL '3 seconds'")):
            joined = one.asof_join(
                other.rename(t="s"), on=("t", "s"), by="k", direction=direction, tolerance=tolerance, order_by="v"
            )
            several.append(joined.select(case=sd.lit(f"{direction} {text}"), id="id", s="s", v="v"))
            sql = lateral_sql(direction, text)
            expected += rows_of(f"SELECT '{direction} ' || {_quoted(text)}, id, s, v FROM ({sql})", **tables)
    found = several[0].union_all(*several[1:]).collect(spark)
    assert Counter(map(tuple, found)) == expected
    assert len(found) == 6 * 300


def _quoted(text: str | None) -> str:
    return "'" + str(text).replace("'", "''") + "'"


def test_keys_stand_once_and_unions_go_by_name(spark: SparkSession) -> None:
    one = sd.read_virtual([(1, "a"), (2, "b"), (None, "c")], {"k": "i64?", "x": "string"})
    other = sd.read_virtual([(2, "p"), (3, "q"), (None, "r")], {"k": "i64?", "y": "string"})
    outer = one.join(other, using="k", how="outer")
    again = other.rename(lambda name: {"y": "x", "k": "y"}[name]).with_columns(k=sd.null("i64"))
    result = outer.union_all(again.select("y", "k", "x").with_columns(y=sd.col("y").cast("string")), by_name=True)
    expected = rows_of(
        "SELECT k, x, y FROM l FULL JOIN r USING (k) UNION ALL SELECT NULL, y, k::VARCHAR FROM r", l=one, r=other
    )
    assert Counter(map(tuple, result.collect(spark))) == expected
