"""What goes wrong on Spark only where certain relations and functions meet; random pipelines have found each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.errors import UnsupportedError
from tests.spark.rows import collected, counted, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table() -> Any:
    return values({"a": "i64", "b": "string?"}, (3, "z"), (1, "y"), (2, None), (1, "x"))


# --- an aggregate over all rows is one row


def test_nothing_of_the_one_row_is_used(spark: SparkSession) -> None:
    one = table().aggregate(n=f.count())
    assert counted(one.expand(v=sd.switching(sd.lit("p"), sd.lit("q"))), spark) == Counter([("p", 0), ("q", 1)])
    assert counted(one.select(v=sd.lit(7)), spark) == Counter([(7,)])
    assert counted(values({"k": "i64"}, (1,), (2,)).cross(one).select("k"), spark) == Counter([(1,), (2,)])


def test_a_subquery_about_the_one_row(spark: SparkSession) -> None:
    one = table().aggregate(n=f.count(), m=f.max(sd.col("a")))
    marked = one.join(values({"k": "i64"}, (4,), (5,)), on=lambda x, y: x.n == y.k, how="left_mark")
    assert counted(marked, spark) == Counter([(4, 3, True)])
    some = table()
    asked = one.select(any=lambda x: sd.exists(some.filter(lambda y: y.a == x.n)), n=sd.col("n"))
    assert counted(asked, spark) == Counter([(False, 4)])


# --- an order that stays


# By a column, which the properties of a relation tell, and by an expression, which they do not.
@pytest.mark.parametrize("by", [sd.desc("a"), lambda r: r.a * -1], ids=["column", "expression"])
def test_a_window_keeps_the_order_of_its_input(by: Any, spark: SparkSession) -> None:
    places = table().sort(by, "b").window(order_by="a", place=f.rank())
    assert [row[0] for row in collected(places, spark)] == [3, 2, 1, 1]
    assert collected(places.fetch(2), spark) == [(3, "z", 4), (2, None, 3)]


def test_a_streaming_aggregate_keeps_the_order_of_its_input(spark: SparkSession) -> None:
    groups = table().sort(sd.desc("a")).aggregate("a", n=f.count(), method="streaming")
    assert groups.properties.ordering
    assert collected(groups, spark) == [(3, 1), (2, 1), (1, 2)]
    assert collected(groups.fetch(1, 1), spark) == [(2, 1)]


@pytest.fixture
def large_tables(spark: SparkSession) -> Iterator[SparkSession]:
    """A session that joins tables as if they were large: by sorting both."""
    setting = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(setting)
    assert before is not None
    spark.conf.set(setting, "-1")
    yield spark
    spark.conf.set(setting, before)


@pytest.mark.parametrize("by", [sd.desc("k"), lambda r: r.k * -1], ids=["column", "expression"])
def test_subqueries_keep_the_order(by: Any, large_tables: SparkSession) -> None:
    numbers = values({"k": "i64"}, *((number * 7 % 20,) for number in range(20)))
    lookup = values({"x": "i64?"}, *((number,) for number in range(0, 20, 3)))
    ordered = numbers.sort(by)
    found = {
        "scalar": ordered.project(
            n=lambda r: sd.scalar_subquery(lookup.filter(lambda y: y.x == r.k).aggregate(n=f.count()))
        ),
        "exists": ordered.project(n=lambda r: sd.exists(lookup.filter(lambda y: y.x == r.k))),
        "in": ordered.project(n=lambda r: r.k.is_in(lookup)),
        "filter": ordered.fetch(18).filter(lambda r: (r.k < 0) | ~sd.exists(lookup.filter(lambda y: y.x == r.k))),
    }
    for name, relation in found.items():
        wanted = [number for number in range(19, 1, -1) if name != "filter" or number % 3]
        assert [row[0] for row in collected(relation.fetch(5), large_tables)] == wanted[:5], name


# --- types


def test_a_quotient_of_floats_is_a_float(spark: SparkSession) -> None:
    divided = values({"x": "fp32"}, (1.0,)).select(q=lambda r: r.x / sd.lit(4.0, sd.FP32))
    assert [field.dataType.simpleString() for field in divided.execute(spark).schema] == ["float"]
    assert counted(divided, spark) == Counter([(0.25,)])


# --- texts joined in an order, beside distinct values


@pytest.mark.parametrize(
    ("direction", "joined"),
    [
        (sd.asc("b", nulls="first"), "-,x,y,z"),
        (sd.asc("b", nulls="last"), "x,y,z,-"),
        (sd.desc("b", nulls="first"), "-,z,y,x"),
        (sd.desc("b", nulls="last"), "z,y,x,-"),
    ],
)
def test_texts_in_order_beside_distinct_values(direction: Any, joined: str, spark: SparkSession) -> None:
    measures: dict[str, Any] = {
        "texts": lambda r: f.string_agg(f.coalesce(r.b, "-"), ",").order_by(direction),
        "sums": lambda r: f.sum(r.a).distinct(),
        "counts": lambda r: f.count(r.b).distinct().filter(r.a < 3),
    }
    assert collected(table().aggregate(**measures), spark) == [(joined, 6, 2)]


def test_distinct_texts_in_order(spark: SparkSession) -> None:
    texts = values({"b": "string?", "k": "i64"}, ("x", 1), ("y", 2), (None, 3), ("x", 4), ("w", 5))
    joined: dict[str, Any] = {
        "t": lambda r: f.string_agg(r.b, ",").distinct().order_by(sd.desc(r.b)).filter(r.k < 5),
        "none": lambda r: f.string_agg(r.b, ",").distinct().order_by(r.b).filter(r.k > 5),
    }
    assert collected(texts.aggregate(**joined), spark) == [("y,x", "")]
    other = f.string_agg(sd.col("b"), ",").distinct().order_by("k")
    for measure in (other, other.filter(sd.col("k") < 5)):
        with pytest.raises(UnsupportedError, match="ordered by something else"):
            texts.aggregate(t=measure).execute(spark)
