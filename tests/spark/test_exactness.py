"""Plans that Spark computes exactly only if it is kept from rewriting them; each was once wrong or refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = sd.read_virtual([(1,), (2,)], {"a": sd.I64})
TWICE = sd.read_virtual([(1, 5), (1, 2), (2, 3)], {"b": sd.I64, "c": sd.I64})


def rows(relation: sd.Relation[Any], spark: SparkSession) -> list[tuple[Any, ...]]:
    frame = relation.execute(spark)
    assert frame.schema == relation.schema.to_spark()
    return sorted(map(tuple, frame.collect()))


def test_a_decimal_that_is_all_fraction(spark: SparkSession) -> None:
    value = Decimal("0." + "9" * 38)
    table = sd.read_virtual([(value,)], {"x": sd.Decimal(38, 38)})
    assert rows(table.select(n=lambda r: -r.x), spark) == [(value.copy_negate(),)]


def test_points_in_time_as_rows(spark: SparkSession) -> None:
    moment = dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    table = sd.read_virtual([(moment,)], {"at": sd.PrecisionTimestampTZ(6)})
    text = table.execute(spark).selectExpr("CAST(at AS STRING)").collect()[0][0]
    assert text == "2020-01-01 10:00:00"  # the session is in UTC


def test_subqueries_as_operands(spark: SparkSession) -> None:
    assert rows(T.filter(lambda o: sd.exists(T) == (o.a > 1)), spark) == [(2,)]
    assert rows(T.select("a", x=lambda o: o.a.is_in(T).is_null()), spark) == [(1, False), (2, False)]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("minus_primary", [(1, True, False), (2, False, True)]),
        ("minus_primary_all", [(1, True, False), (2, False, True)]),
        ("intersection_multiset", []),
    ],
)
def test_sets_of_looked_up_rows(op: Any, expected: list[tuple[Any, ...]], spark: SparkSession) -> None:
    larger = T.project(e=lambda o: sd.exists(T.filter(lambda i: i.a > o.a)))
    both = larger.project(g=lambda o: sd.exists(T.filter(lambda i: i.a < o.a)))
    other = sd.read_virtual([(1, True, True)], {"a": sd.I64, "e": sd.Boolean, "g": sd.Boolean})
    assert rows(both.set_op(op, other), spark) == expected


def test_no_rows_stay_no_rows(spark: SparkSession) -> None:
    sd.read_virtual([], {"a": sd.I64}).execute(spark).createOrReplaceTempView("no_rows")
    T.select(k=sd.col("a")).execute(spark).createOrReplaceTempView("some_rows")
    frame = spark.sql("SELECT no_rows.a, k FROM no_rows LEFT JOIN some_rows ON no_rows.a = k")
    assert frame.collect() == []


def test_joined_texts_of_no_rows_are_the_empty_text(spark: SparkSession) -> None:
    table = sd.read_virtual([("k", "a"), ("k", "b")], {"k": sd.String, "s": sd.String})
    joined = table.group_by("k").agg(x=lambda r: f.string_agg(r.s, ",").filter(r.s > "z"))
    assert rows(joined, spark) == [("k", "")]


def test_correlation_where_spark_has_none_of_its_own(spark: SparkSession) -> None:
    looked_up: Any = lambda o: T.filter(lambda i: i.a == o.a).distinct()  # noqa: E731
    inner: Any = lambda o: looked_up(o).join(T, lambda l, r: l[0] == r[0], "right_semi")  # noqa: E731
    found = T.filter(lambda o: sd.exists(inner(o))).collect(spark)
    assert found == T.filter(lambda o: o.a.is_not_null()).collect(spark)  # each row finds itself
