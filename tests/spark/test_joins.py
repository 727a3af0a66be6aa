"""The twelve joins on Spark, against the specification's definitions written down in Python."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.rules import JOIN_TYPES
from substrait_dsl.errors import UnsupportedError
from tests.spark.joined import CONDITIONS, LEFT, RIGHT, L, R, both, equal, expected, less
from tests.spark.rows import SECOND_MATCH, by_tag, collected, counted, register, tagged, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
        with pytest.raises(Exception, match=SECOND_MATCH):
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
