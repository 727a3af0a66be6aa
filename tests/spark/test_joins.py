"""The twelve joins on Spark, against the specification's definitions written down in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES
from substrait_dsl.errors import ExecutionError
from tests.spark.joined import CONDITIONS, LEFT, RIGHT, L, R, Row, both, equal, expected, less
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

    def on_many(x: Any, y: Any) -> Any:
        return sd.exists(t.filter(lambda n: (n.n == x.a) & (n.n < y.d)))

    def has(value: Any) -> bool:
        return value in (1, 4)

    tests: dict[Any, Callable[[Row, Row], bool | None]] = {
        on_left: lambda x, y: both(equal(x[0], y[0]), has(x[0])),
        on_right: lambda x, y: both(equal(x[0], y[0]), less(y[0] if has(y[0]) else None, y[1])),
        on_both: lambda x, y: both(equal(x[0], y[0]), has(x[0]) and less(x[0], y[1]) is True),
        on_many: lambda x, y: has(x[0]) and less(x[0], y[1]) is True,
    }
    for on, test in tests.items():
        for how in JOIN_TYPES:
            joins = [left.join(right, on=on, how=how)]
            if how in LATERAL_JOIN_TYPES:
                joins.append(left.lateral_join(lambda x: right, on, how))
            wanted = expected(how, LEFT, RIGHT, test)
            for joined in joins:
                if isinstance(wanted, Counter):
                    assert counted(joined, spark) == wanted, (on, how)
                    continue
                with pytest.raises(ExecutionError, match=f"a row has more than one match .*{how}"):
                    joined.select(0).collect(spark)


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
