"""The twelve joins on Spark, against the specification's definitions written down in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.rules import JOIN_TYPES
from substrait_dsl.errors import UnsupportedError
from tests.spark.joined import LEFT, RIGHT, L, R, Row, both, either, equal, expected, less
from tests.spark.rows import by_tag, collected, counted, register, tagged, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONDITIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Row, Row], bool | None]]] = {
    "one key": (lambda x, y: x.a == y.c, lambda x, y: equal(x[0], y[0])),
    "two keys": (lambda x, y: (x.a == y.c) & (y.d == x.b), lambda x, y: both(equal(x[0], y[0]), equal(x[1], y[1]))),
    "key and more": (lambda x, y: (x.a == y.c) & (x.b < y.d), lambda x, y: both(equal(x[0], y[0]), less(x[1], y[1]))),
    "key and each side": (
        lambda x, y: (x.a == y.c) & (x.b < 25) & (y.d > 5),
        lambda x, y: both(equal(x[0], y[0]), both(less(x[1], 25), less(5, y[1]))),
    ),
    "no key": (lambda x, y: x.b < y.d, lambda x, y: less(x[1], y[1])),
    "either": (lambda x, y: (x.a == y.c) | (x.b == y.d), lambda x, y: either(equal(x[0], y[0]), equal(x[1], y[1]))),
    "computed key": (lambda x, y: x.a + 1 == y.c * 1, lambda x, y: x[0] and y[0] and x[0] + 1 == y[0]),
    "true": (lambda x, y: sd.lit(True), lambda x, y: True),
    "false": (lambda x, y: sd.lit(False), lambda x, y: False),
    "unknown": (lambda x, y: sd.null(sd.Boolean), lambda x, y: None),
}


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_every_join_with_nulls_and_duplicates(how: Any, spark: SparkSession) -> None:
    left, right = values(L, *LEFT), values(R, *RIGHT)
    wanted = {name: expected(how, LEFT, RIGHT, test) for name, (_, test) in CONDITIONS.items()}
    joins = {name: left.join(right, on=on, how=how) for name, (on, _) in CONDITIONS.items()}
    found = by_tag(tagged({name: join for name, join in joins.items() if wanted[name] != "a second match"}), spark)
    for name, rows in wanted.items():
        if rows != "a second match":
            assert found.get(name, Counter()) == rows, name
    failing = [name for name, rows in wanted.items() if rows == "a second match"]
    assert bool(failing) == how.endswith("single")
    for name in failing[:2]:
        with pytest.raises(Exception, match="more than one match"):
            collected(joins[name], spark)


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_empty_inputs(how: Any, spark: SparkSession) -> None:
    on = lambda x, y: x.a == y.c  # noqa: E731
    sides = {"left": ([], RIGHT), "right": (LEFT, []), "both": ([], [])}
    joins = {name: values(L, *left).join(values(R, *right), on=on, how=how) for name, (left, right) in sides.items()}
    found = by_tag(tagged(joins), spark)
    for name, (left, right) in sides.items():
        assert found.get(name, Counter()) == expected(how, left, right, lambda x, y: equal(x[0], y[0])), name


def test_required_keys_need_no_third_value(spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,), (2,)), values({"c": "i64"}, (2,), (3,))
    marked = left.join(right, on=lambda x, y: x.a == y.c, how="left_mark")
    assert counted(marked, spark) == Counter([(1, False), (2, True)])


def test_a_second_match_is_an_error_even_if_nothing_uses_the_columns(spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,)), values({"c": "i64", "d": "string"}, (1, "x"), (1, "y"))
    single = left.join(right, on=lambda x, y: x.a == y.c, how="left_single")
    for relation in (single.select("a"), single.aggregate(n=f.count())):
        with pytest.raises(Exception, match="more than one match"):
            collected(relation, spark)


@pytest.mark.parametrize("how", ["left_single", "right_single"])
def test_a_second_match_is_an_error_where_only_the_first_is_wanted(how: Any, spark: SparkSession) -> None:
    """A row with so many columns Spark computes one by one, and no more of them than are asked for."""
    setting = "spark.sql.autoBroadcastJoinThreshold"
    wide = values({f"c{number}": "i64" for number in range(101)}, (1, *[0] * 100))
    two = values({"q": "i64", "y": "i64"}, (1, 100), (1, 200))
    left, right = (wide, two) if how == "left_single" else (two, wide)
    single = left.join(right, on=lambda x, y: x[0] == y[0], how=how)
    before = spark.conf.get(setting)
    spark.conf.set(setting, "-1")
    try:
        for relation in (single.limit(1), wide.filter(lambda r: sd.exists(single))):
            with pytest.raises(Exception, match="more than one match"):
                relation.execute(spark).collect()
    finally:
        spark.conf.set(setting, str(before))


def test_rows_that_match_nothing_may_share_a_key(spark: SparkSession) -> None:
    left = values({"a": "i64?"}, (1,), (None,), (4,))
    right = values(
        {"c": "i64?", "d": "string"}, (1, "x"), (None, "y"), (None, "z"), (3, "x"), (3, "y"), (4, "a"), (4, "b")
    )
    single = left.join(right, on=lambda x, y: (x.a == y.c) & (y.d != "b"), how="left_single")
    assert counted(single, spark) == Counter([(1, 1, "x"), (None, None, None), (4, 4, "a")])
    assert counted(single.filter(lambda r: r.d == "a").select("d"), spark) == Counter([("a",)])
    assert counted(left.filter(lambda r: sd.exists(single.filter(lambda s: s.a == r.a))), spark) == Counter(
        [(1,), (4,)]
    )


def test_two_equal_matches_are_two(spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,)), values({"c": "i64"}, (1,), (1,))
    with pytest.raises(Exception, match="more than one match"):
        collected(left.join(right, on=lambda x, y: x.a == y.c, how="left_single"), spark)


def test_the_post_filter_sees_the_output(spark: SparkSession) -> None:
    left, right = values(L, *LEFT), values(R, *RIGHT)
    on, test = CONDITIONS["one key"]
    outer = left.join(right, on=on, how="left", post_filter=lambda y: y.c.is_null())
    wanted = expected("left", LEFT, RIGHT, test)
    assert isinstance(wanted, Counter)
    assert counted(outer, spark) == Counter({row: n for row, n in wanted.items() if row[2] is None})
    mark = left.join(right, on=on, how="left_mark", post_filter=lambda y: y.mark.is_null())
    assert counted(mark, spark) == Counter([(None, 30, None), (None, None, None)])


def test_a_relation_joined_with_itself(spark: SparkSession) -> None:
    base = values(L, *LEFT).filter(lambda y: y.b.is_not_null())
    pairs = base.join(base, on="a")
    rows = [row for row in LEFT if row[1] is not None]
    assert counted(pairs, spark) == Counter(x + y for x in rows for y in rows if equal(x[0], y[0]))
    for _ in range(3):
        base = base.join(base.select(k=lambda y: y.a), on=lambda x, y: x.a == y.k, how="left_semi")
    assert counted(base, spark) == Counter(row for row in rows if row[0] is not None)


def test_cross(spark: SparkSession) -> None:
    left, right = values({"a": "i64"}, (1,), (2,)), values({"c": "string"}, ("x",), ("x",))
    assert counted(left.cross(right), spark) == Counter({(1, "x"): 2, (2, "x"): 2})


def test_subqueries_in_conditions(spark: SparkSession) -> None:
    t = register({"numbers": ({"n": "i32?"}, [(1,), (4,), (None,)])}, spark)["numbers"]
    left, right = values(L, *LEFT), values(R, *RIGHT)

    def on_left(x: Any, y: Any) -> Any:
        return (x.a == y.c) & sd.exists(t.filter(lambda n: n.n == x.a))

    def on_right(x: Any, y: Any) -> Any:
        return (x.a == y.c) & (y.d > sd.scalar_subquery(t.filter(lambda n: n.n == y.c).select("n")))

    def on_both(x: Any, y: Any) -> Any:
        return (x.a == y.c) & sd.exists(t.filter(lambda n: (n.n == x.a) & (n.n < y.d)))

    numbers = (1, 4)
    on_left_test = lambda x, y: both(equal(x[0], y[0]), x[0] in numbers)  # noqa: E731
    for how in ("inner", "left", "left_semi", "left_mark", "left_anti", "left_single"):
        assert counted(left.join(right, on=on_left, how=how), spark) == expected(how, LEFT, RIGHT, on_left_test), how
    on_right_test = lambda x, y: both(equal(x[0], y[0]), less(y[0] if y[0] in numbers else None, y[1]))  # noqa: E731
    for how in ("inner", "left", "right_anti"):
        assert counted(left.join(right, on=on_right, how=how), spark) == expected(how, LEFT, RIGHT, on_right_test), how
    assert counted(left.join(right, on=on_both), spark) == expected(
        "inner", LEFT, RIGHT, lambda x, y: both(equal(x[0], y[0]), x[0] in numbers and bool(less(x[0], y[1])))
    )
    with pytest.raises(UnsupportedError, match="left join whose condition has a subquery that refers to both"):
        left.join(right, on=on_both, how="left").execute(spark)
    with pytest.raises(UnsupportedError, match="left_mark join whose condition"):
        left.join(right, on=on_right, how="left_mark").execute(spark)


@pytest.mark.parametrize(
    ("how", "operator"),
    [
        ("inner", "BroadcastHashJoin"),
        ("left", "BroadcastHashJoin"),
        ("left_semi", "BroadcastHashJoin"),
        ("left_anti", "BroadcastHashJoin"),
        ("right_semi", "BroadcastHashJoin"),
        ("left_mark", "ExistenceJoin"),
        ("outer", "SortMergeJoin"),
        ("left_single", "BroadcastHashJoin"),
    ],
)
def test_equal_keys_are_hashed(
    how: Any, operator: str, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = values({"a": "i64"}, (1,), (2,)), values({"c": "i64", "d": "i64"}, (2, 1), (3, 1))
    left.join(right, on=lambda x, y: x.a == y.c, how=how).execute(spark).explain()
    plan = capsys.readouterr().out
    assert operator in plan
    assert "NestedLoop" not in plan
    assert "Cartesian" not in plan
