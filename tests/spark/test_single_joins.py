"""Single joins on Spark: a second match is an error, in whichever way Spark looks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from tests.spark.joined import CONDITIONS, LEFT, RIGHT, L, R, expected
from tests.spark.rows import SECOND_MATCH, by_tag, collected, counted, register, tagged, values
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
SINGLE = ("left_single", "right_single")
TOGETHER, SHUFFLED = "Coalesce 1", "Exchange hashpartitioning"
"""What Spark's plan shows of the two ways to count the rows of a key."""


@pytest.fixture(params=[TOGETHER, SHUFFLED])
def form(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    """Small tables are sent to all tasks, or no table is."""
    before = spark.conf.get(THRESHOLD)
    if request.param == SHUFFLED:
        spark.conf.set(THRESHOLD, "-1")
    yield request.param
    spark.conf.set(THRESHOLD, str(before))


def shown(relation: sd.Relation[Any], spark: SparkSession) -> set[str]:
    """Which of the two ways Spark's plan shows."""
    plan = relation.explain(spark).partition("--- on Spark")[2]
    return {way for way in (TOGETHER, SHUFFLED) if way in plan}


@pytest.mark.parametrize("how", SINGLE)
def test_rows_and_errors(how: Any, form: str, spark: SparkSession) -> None:
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


@pytest.mark.parametrize("how", SINGLE)
def test_the_way_that_was_meant(how: Any, form: str, spark: SparkSession) -> None:
    reads = register({"lefts": (L, LEFT), "rights": (R, RIGHT)}, spark)
    assert shown(reads["lefts"].join(reads["rights"], on=lambda x, y: x.a == y.c, how=how), spark) == {form}
    assert shown(reads["lefts"].hash_join(reads["rights"], [("a", "c")], how), spark) == {form}


def test_a_second_match_is_an_error_even_if_nothing_uses_the_columns(form: str, spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,)), values({"c": "i64", "d": "string"}, (1, "x"), (1, "y"))
    single = left.join(right, on=lambda x, y: x.a == y.c, how="left_single")
    for relation in (single.select("a"), single.aggregate(n=f.count()), single.select("a").distinct()):
        with pytest.raises(Exception, match=SECOND_MATCH):
            collected(relation, spark)


@pytest.mark.parametrize("columns", [2, 60, 101])
@pytest.mark.parametrize("how", SINGLE)
def test_a_second_match_is_an_error_where_only_the_first_is_wanted(
    how: Any, columns: int, form: str, spark: SparkSession
) -> None:
    """A row with very many columns Spark computes one by one, and no more of them than are asked for."""
    wide = values({f"c{number}": "i64" for number in range(columns)}, (1, *[0] * (columns - 1)))
    two = values({"q": "i64", "y": "i64"}, (1, 100), (1, 200))
    left, right = (wide, two) if how == "left_single" else (two, wide)
    single = left.join(right, on=lambda x, y: x[0] == y[0], how=how)
    for relation in (single.limit(1), wide.filter(lambda r: sd.exists(single))):
        with pytest.raises(Exception, match=SECOND_MATCH):
            relation.execute(spark).collect()


def test_nor_is_it_missed_where_spark_generates_no_code(form: str, spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,)), values({"c": "i64"}, (1,), (1,))
    single = left.join(right, on=lambda x, y: x.a == y.c, how="left_single")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    try:
        with pytest.raises(Exception, match=SECOND_MATCH):
            single.limit(1).execute(spark).collect()
    finally:
        spark.conf.unset("spark.sql.codegen.wholeStage")


@pytest.mark.parametrize("keep", [lambda r: r.c == 2, lambda r: r.c == 5, lambda r: r.a > 5])
def test_a_second_match_is_an_error_whatever_is_filtered(keep: Any, form: str, spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,), (2,)), values({"b": "i64", "c": "i64"}, (1, 5), (1, 2), (2, 3))
    on = lambda l, r: l.a == r.b  # noqa: E731
    single = left.join(right, on, "left_single")
    for relation in (single.filter(keep), left.join(right, on, "left_single", post_filter=keep)):
        with pytest.raises(Exception, match=SECOND_MATCH):
            relation.execute(spark).collect()


def test_rows_that_match_nothing_may_share_a_key(form: str, spark: SparkSession) -> None:
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


def test_two_equal_matches_are_two(form: str, spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,)), values({"c": "i64"}, (1,), (1,))
    with pytest.raises(Exception, match=SECOND_MATCH):
        collected(left.join(right, on=lambda x, y: x.a == y.c, how="left_single"), spark)


def test_a_row_found_with_nothing_but_nulls(form: str, spark: SparkSession) -> None:
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


@pytest.mark.parametrize("below", ["a shuffle", "a generator"])
def test_rows_that_may_be_more_than_was_estimated(below: str, spark: SparkSession) -> None:
    reads = register({"lefts": (L, LEFT), "rights": (R, RIGHT)}, spark)
    right = {
        "a shuffle": lambda: reads["rights"].aggregate("c", "d", n=f.count()),
        "a generator": lambda: reads["rights"].with_columns(n=lambda y: sd.list_of(1, 2)).unnest("n"),
    }[below]()
    single = reads["lefts"].join(right, on=lambda x, y: x.a == y.c, how="left_single")
    assert shown(single, spark) == {SHUFFLED}
