"""Hash, merge and nested loop joins on Spark: the rows of the twelve join types, however keys are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.relations import HashJoin, JoinKey
from substrait_dsl.algebra.rules import JOIN_TYPES
from substrait_dsl.errors import UnsupportedError
from tests.spark.joined import LEFT, RIGHT, L, R, Row, both, equal, expected, less
from tests.spark.rows import SECOND_MATCH, by_tag, collected, counted, tagged, values
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def same(x: Any, y: Any) -> bool:
    return bool(x == y)  # NULL is as NULL


def might_equal(x: Any, y: Any) -> bool:
    return equal(x, y) is not False


def key(left: str, right: str, comparison: Any) -> Any:
    return [sd.join_key(left, right, comparison)]


JOINS: dict[str, tuple[Callable[[Any, Any, Any], Any], Callable[[Row, Row], bool | None]]] = {
    "hash": (lambda x, y, how: x.hash_join(y, [("a", "c")], how), lambda x, y: equal(x[0], y[0])),
    "merge": (
        lambda x, y, how: x.merge_join(y, [("a", "c"), ("b", "d")], how),
        lambda x, y: both(equal(x[0], y[0]), equal(x[1], y[1])),
    ),
    "not distinct": (
        lambda x, y, how: x.hash_join(y, key("a", "c", "is_not_distinct_from"), how),
        lambda x, y: same(x[0], y[0]),
    ),
    "might equal": (
        lambda x, y, how: x.merge_join(y, key("a", "c", "might_equal"), how),
        lambda x, y: might_equal(x[0], y[0]),
    ),
    "by a function": (
        lambda x, y, how: x.hash_join(y, key("b", "d", f.lt), how, build="left"),
        lambda x, y: less(x[1], y[1]),
    ),
    "key and residual": (
        lambda x, y, how: x.hash_join(
            y, key("a", "c", "is_not_distinct_from"), how, residual=lambda left, right: left.b < right.d
        ),
        lambda x, y: both(same(x[0], y[0]), less(x[1], y[1])),
    ),
    "might equal and residual": (
        lambda x, y, how: x.merge_join(
            y, key("a", "c", "might_equal"), how, residual=lambda left, right: left.b == right.d
        ),
        lambda x, y: both(might_equal(x[0], y[0]), equal(x[1], y[1])),
    ),
    "nested loop": (
        lambda x, y, how: x.nested_loop_join(y, lambda left, right: left.b < right.d, how),
        lambda x, y: less(x[1], y[1]),
    ),
    "everything": (lambda x, y, how: x.nested_loop_join(y, how=how), lambda x, y: True),
}


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_every_join_and_comparison(how: Any, spark: SparkSession) -> None:
    left, right = values(L, *LEFT), values(R, *RIGHT)
    wanted = {name: expected(how, LEFT, RIGHT, test) for name, (_, test) in JOINS.items()}
    joins = {name: make(left, right, how) for name, (make, _) in JOINS.items()}
    fine = {name: rows for name, rows in wanted.items() if rows != "a second match"}
    assert bool(len(fine) < len(JOINS)) == how.endswith("single")
    found = by_tag(tagged({name: joins[name] for name in fine}), spark)
    for name, rows in fine.items():
        assert found.get(name, Counter()) == rows, name
    for name in list(wanted.keys() - fine.keys())[:1]:
        with pytest.raises(Exception, match=SECOND_MATCH):
            collected(joins[name], spark)


def test_the_post_filter_sees_the_output(spark: SparkSession) -> None:
    left, right = values(L, *LEFT), values(R, *RIGHT)
    joined = left.hash_join(right, [("a", "c")], "left", post_filter=lambda y: y.c.is_null())
    # without a match: NULL equals nothing
    assert counted(joined, spark) == Counter([(None, 30, None, None), (None, None, None, None)])


def test_a_key_in_a_struct_of_the_right_side(spark: SparkSession) -> None:
    left = values({"a": "i64", "b": "i64"}, (1, 7), (2, 8))
    right = values({"z": "i64", "s": "struct<string, i64>"}, (1, ("x", 2)), (2, ("y", 3)))
    joined = left.hash_join(right, [sd.join_key("a", lambda y: y.s[1])]).select("a", "b", "z")
    assert collected(joined, spark) == [(2, 8, 1)]


@pytest.mark.parametrize("how", ["inner", "left_anti"])
def test_subqueries_in_a_residual(how: Any, spark: SparkSession) -> None:
    numbers = values({"n": "i32?"}, (1,), (2,), (None,))
    joined = values(L, *LEFT).hash_join(
        values(R, *RIGHT),
        [("a", "c")],
        how,
        residual=lambda x, y: sd.exists(numbers.filter(lambda n: n.n == x.a)),
    )
    assert counted(joined, spark) == expected(how, LEFT, RIGHT, lambda x, y: both(equal(x[0], y[0]), x[0] in (1, 2)))


def test_a_comparison_that_spark_does_not_know_is_refused(spark: SparkSession) -> None:
    left, right = values(L, *LEFT), values(R, *RIGHT)
    (known,) = left.hash_join(right, [("a", "c")])._rel.keys
    theirs = JoinKey(known.left, known.right, FunctionId("extension:acme:sounds", "alike:any_any"))
    with refused(UnsupportedError, "alike", "extension:acme:sounds"):
        sd.Relation(HashJoin(left._rel, right._rel, "inner", (theirs,))).execute(spark)


@pytest.mark.parametrize(
    ("how", "comparison", "operator"),
    [
        ("inner", "eq", "BroadcastHashJoin"),
        ("left", "is_not_distinct_from", "BroadcastHashJoin"),
        ("right_anti", "is_not_distinct_from", "BroadcastHashJoin"),
        ("left_mark", "eq", "ExistenceJoin"),
        ("right_mark", "is_not_distinct_from", "ExistenceJoin"),
        ("outer", "is_not_distinct_from", "SortMergeJoin"),
    ],
)
def test_equal_keys_are_hashed(
    how: Any, comparison: Any, operator: str, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = "i64" if comparison == "eq" else "i64?"
    left, right = values({"a": kind}, (1,), (2,)), values({"c": kind, "d": "i64"}, (2, 1), (3, 1))
    left.merge_join(right, key("a", "c", comparison), how).execute(spark).explain()
    plan = capsys.readouterr().out
    assert operator in plan
    assert "NestedLoop" not in plan
    assert "Cartesian" not in plan
