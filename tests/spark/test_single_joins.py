"""Single joins on Spark: a second match is an error, however Spark joins."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from tests.spark.joined import CONDITIONS, LEFT, RIGHT, L, R, expected
from tests.spark.rows import SECOND_MATCH, by_tag, collected, counted, tagged, values
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
SINGLE = ("left_single", "right_single")


@pytest.fixture(params=["sent", "merged"], autouse=True)
def joining(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    """How Spark joins: small tables are sent to all tasks, or no table is."""
    before = spark.conf.get(THRESHOLD)
    if request.param == "merged":
        spark.conf.set(THRESHOLD, "-1")
    yield
    spark.conf.set(THRESHOLD, str(before))


@pytest.mark.parametrize("how", SINGLE)
def test_rows_and_errors(how: Any, spark: SparkSession) -> None:
    left, right = values(L, *LEFT), values(R, *RIGHT)
    wanted = {name: expected(how, LEFT, RIGHT, test) for name, (_, test) in CONDITIONS.items()}
    joins = {name: left.join(right, on=on, how=how) for name, (on, _) in CONDITIONS.items()}
    failing = [name for name, rows in wanted.items() if rows == "a second match"]
    found = by_tag(tagged({name: join for name, join in joins.items() if name not in failing}), spark)
    for name, rows in wanted.items():
        if name not in failing:
            assert found.get(name, Counter()) == rows, name
    assert 0 < len(failing) < len(CONDITIONS)
    for name in failing:
        with pytest.raises(ExecutionError, match=f"a row has more than one match .*{how}"):
            joins[name].collect(spark)


def test_a_second_match_is_an_error_even_if_nothing_uses_the_columns(spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,)), values({"c": "i64", "d": "string"}, (1, "x"), (1, "y"))
    single = left.join(right, on=lambda x, y: x.a == y.c, how="left_single")
    for relation in (single.select("a"), single.aggregate(n=f.count()), single.select("a").distinct()):
        with pytest.raises(Exception, match=SECOND_MATCH):
            collected(relation, spark)


@pytest.mark.parametrize("columns", [2, 60, 101])
@pytest.mark.parametrize("how", SINGLE)
def test_a_second_match_is_an_error_where_only_the_first_is_wanted(how: Any, columns: int, spark: SparkSession) -> None:
    """A row with very many columns Spark computes one by one, and no more of them than are asked for."""
    wide = values({f"c{number}": "i64" for number in range(columns)}, (1, *[0] * (columns - 1)))
    two = values({"q": "i64", "y": "i64"}, (1, 100), (1, 200))
    left, right = (wide, two) if how == "left_single" else (two, wide)
    single = left.join(right, on=lambda x, y: x[0] == y[0], how=how)
    for relation in (single.limit(1), wide.filter(lambda r: sd.exists(single))):
        with pytest.raises(Exception, match=SECOND_MATCH):
            relation.execute(spark).collect()


def test_nor_is_it_missed_where_spark_generates_no_code(spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,)), values({"c": "i64"}, (1,), (1,))
    single = left.join(right, on=lambda x, y: x.a == y.c, how="left_single")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    try:
        with pytest.raises(Exception, match=SECOND_MATCH):
            single.limit(1).execute(spark).collect()
    finally:
        spark.conf.unset("spark.sql.codegen.wholeStage")


@pytest.mark.parametrize("keep", [lambda r: r.c == 2, lambda r: r.c == 5, lambda r: r.a > 5])
def test_a_second_match_is_an_error_whatever_is_filtered(keep: Any, spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,), (2,)), values({"b": "i64", "c": "i64"}, (1, 5), (1, 2), (2, 3))
    on = lambda l, r: l.a == r.b  # noqa: E731
    single = left.join(right, on, "left_single")
    for relation in (single.filter(keep), left.join(right, on, "left_single", post_filter=keep)):
        with pytest.raises(Exception, match=SECOND_MATCH):
            relation.execute(spark).collect()


def test_rows_that_match_nothing_may_share_a_key(spark: SparkSession) -> None:
    left = values({"a": "i64?"}, (1,), (None,), (4,))
    right = values(
        {"c": "i64?", "d": "string"}, (1, "x"), (None, "y"), (None, "z"), (3, "x"), (3, "y"), (4, "a"), (4, "b")
    )
    single = left.join(right, on=lambda x, y: (x.a == y.c) & (y.d != "b"), how="left_single")
    assert counted(single, spark) == Counter([(1, 1, "x"), (None, None, None), (4, 4, "a")])
    assert counted(single.filter(lambda r: r.d == "a").select("d"), spark) == Counter([("a",)])
    assert counted(single.filter(lambda r: f.coalesce(r.d, "") < "b").select("a"), spark) == Counter([(None,), (4,)])
    assert counted(left.filter(lambda r: sd.exists(single.filter(lambda s: s.a == r.a))), spark) == Counter(
        [(1,), (4,)]
    )


def test_two_equal_matches_are_two(spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,)), values({"c": "i64"}, (1,), (1,))
    with pytest.raises(Exception, match=SECOND_MATCH):
        collected(left.join(right, on=lambda x, y: x.a == y.c, how="left_single"), spark)


def test_a_row_found_with_nothing_but_nulls(spark: SparkSession) -> None:
    """And of joins among further steps, and on the looked-up side of a further one."""
    left = values({"a": "i64", "x": "string?"}, (1, "p"), (2, None), (3, "q"))
    right = values({"c": "i64", "d": "string?", "e": "struct<i64?, list<i64?>>?"}, (1, None, None), (2, "r", (5, [6])))
    halves = left.union_all(left.select("a", x=sd.null(sd.String)))
    found = halves.join(right, on=lambda x, y: x.a == y.c, how="left_single").select("a", "d", "e")
    wanted = [(1, None, None), (2, "r", (5, [6])), (3, None, None)]
    assert collected(found.distinct().sort("a"), spark) == wanted
    twice = left.join(
        right.join(left, on=lambda x, y: x.c == y.a, how="left_single").select("c", "x"),
        on=lambda x, y: x.a == y.c,
        how="left_single",
    )
    assert counted(twice, spark) == Counter([(1, "p", 1, "p"), (2, None, 2, None), (3, "q", None, None)])


def test_the_error_tells_the_key_beside_other_conditions(spark: SparkSession) -> None:
    """As of a dimension that changes slowly, where the rows that hold at a time are looked up."""
    sales = values({"product": "i64", "day": "i64"}, (7, 5), (8, 5))
    prices = values({"id": "i64", "since": "i64"}, (7, 1), (7, 2), (7, 9), (8, 1))
    found = sales.join(prices, lambda s, p: (s.product == p.id) & (s.day >= p.since), "left_single")
    lateral = sales.lateral_join(
        lambda s: prices.filter(lambda p: s.day >= p.since), on=lambda s, p: s.product == p.id, how="left_single"
    )
    told = "single join: 2 rows match that have id = 7"
    for used in (found, found.select("day"), found.limit(1)):
        with pytest.raises(ExecutionError, match=rf"{told} \(step: join left_single"):
            used.collect(spark)
    with pytest.raises(ExecutionError, match=rf"{told} \(step: lateral join left_single"):
        lateral.collect(spark)


MANY_KEYS: dict[str, tuple[dict[str, str], tuple[Any, ...], Any, str]] = {
    "two columns": (
        {"k": "i64?", "s": "string"},
        (1, "it's ${x}"),
        lambda l, r: (l.k == r.k) & (r.s == l.s),
        "2 rows have k = 1 and s = it's ${x}",
    ),
    "a computed key": ({"k": "i64"}, (1,), lambda l, r: l.k + 0 == r.k * 1, "2 rows have the key 1"),
    "a long text": ({"k": "string"}, ("x" * 100,), lambda l, r: l.k == r.k, f"2 rows have k = {'x' * 60}"),
    "a decimal and a day": (
        {"k": "decimal<5,2>", "d": "date"},
        (Decimal("1.50"), dt.date(2020, 2, 29)),
        lambda l, r: (l.k == r.k) & (l.d == r.d),
        "2 rows have k = 1.50 and d = 2020-02-29",
    ),
    "bytes": ({"k": "binary"}, (b"\xff",), lambda l, r: l.k == r.k, "2 rows have the same k"),
    "lists": ({"k": "list<i64>"}, ([1],), lambda l, r: l.k == r.k, "2 rows have the same k"),
}


@pytest.mark.parametrize("case", MANY_KEYS)
@pytest.mark.parametrize("how", SINGLE)
def test_the_error_tells_the_key(how: Any, case: str, spark: SparkSession) -> None:
    columns, row, on, told = MANY_KEYS[case]
    one, two = values(columns, row), values(columns, row, row)
    left, right = (one, two) if how == "left_single" else (two, one)
    with pytest.raises(ExecutionError) as caught:
        left.join(right, on, how).collect(spark)
    assert caught.value.message.startswith(f"a row has more than one match in a single join: {told} (step: join {how}")
