"""The eight set operations on Spark: the specification's examples, and random rows against multiset arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from substrait_dsl.algebra.rules import SET_OPS, SetOp
from tests.spark.rows import by_tag, counted, tagged, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES: dict[SetOp, tuple[list[list[int]], list[int]]] = {
    "minus_primary": ([[1, 2, 2, 3, 3, 3, 4], [1, 2], [3]], [4]),
    "minus_primary_all": ([[1, 2, 2, 3, 3, 3, 3], [1, 2, 3, 4], [3]], [2, 3, 3]),
    "minus_multiset": ([[1, 2, 3, 4], [1, 2], [1, 2, 3]], [3, 4]),
    "intersection_primary": ([[1, 2, 2, 3, 3, 3, 4], [1, 2, 3, 5], [2, 3, 6]], [1, 2, 3]),
    "intersection_multiset": ([[1, 2, 3, 4], [2, 3], [3, 4]], [3]),
    "intersection_multiset_all": ([[1, 2, 2, 3, 3, 3, 4], [1, 2, 3, 3, 5], [2, 3, 3, 6]], [2, 3, 3]),
    "union_distinct": ([[1, 2, 2, 3, 3, 3, 4], [2, 3, 5], [1, 6]], [1, 2, 3, 4, 5, 6]),
    "union_all": ([[1, 2, 2, 3, 3, 3, 4], [2, 3, 5], [1, 6]], [1, 2, 2, 3, 3, 3, 4, 2, 3, 5, 1, 6]),
}
"""The table "Set Operation Types": inputs and result."""

COPIES: dict[SetOp, Callable[[int, list[int]], int]] = {
    "minus_primary": lambda m, ns: int(m > 0 and not any(ns)),
    "minus_primary_all": lambda m, ns: max(0, m - sum(ns)),
    "minus_multiset": lambda m, ns: 0 if all(ns) else m,
    "intersection_primary": lambda m, ns: int(m > 0 and any(ns)),
    "intersection_multiset": lambda m, ns: int(m > 0 and all(ns)),
    "intersection_multiset_all": lambda m, ns: min(m, *ns),
    "union_distinct": lambda m, ns: int(m + sum(ns) > 0),
    "union_all": lambda m, ns: m + sum(ns),
}
"""How often a row is in the output that is `m` times in the primary input and `ns` times in the others."""


def test_the_examples_of_the_specification(spark: SparkSession) -> None:
    results = {}
    for op, (inputs, _) in EXAMPLES.items():
        first, *others = (values({"x": "i64"}, *((value,) for value in rows)) for rows in inputs)
        results[op] = first.set_op(op, *others)
    found = by_tag(tagged(results), spark)
    assert found == {op: Counter((value,) for value in wanted) for op, (_, wanted) in EXAMPLES.items()}


@pytest.mark.parametrize(
    ("op", "left", "right", "wanted"),
    [
        ("minus_primary", [None, 1, 3], [None, 2, 4], [1, 3]),
        ("intersection_multiset", [None, 1, 3], [None, 2, 3], [None, 3]),  # spec decision 17
        ("union_distinct", [None, 1, 3], [None, 2, 4], [None, 1, 2, 3, 4]),
    ],
)
def test_null_equals_null(op: Any, left: list[Any], right: list[Any], wanted: list[Any], spark: SparkSession) -> None:
    first, second = (values({"x": "i64?"}, *((value,) for value in rows)) for rows in (left, right))
    assert counted(first.set_op(op, second), spark) == Counter((value,) for value in wanted)


ROWS = st.lists(st.tuples(st.sampled_from([None, 0, 1]), st.sampled_from([None, "a"])), max_size=6)


@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(inputs=st.lists(ROWS, min_size=2, max_size=4))
def test_every_operation_counts(inputs: list[list[tuple[Any, ...]]], spark: SparkSession) -> None:
    first, *others = (values({"x": "i64?", "y": "string?"}, *rows) for rows in inputs)
    found = by_tag(tagged({op: first.set_op(op, *others) for op in SET_OPS}), spark)
    m, *ns = map(Counter, inputs)
    for op in SET_OPS:
        wanted = Counter({row: COPIES[op](m[row], [n[row] for n in ns]) for rows in inputs for row in rows})
        assert found.get(op, Counter()) == +wanted, op


def test_columns_that_spark_cannot_compare(spark: SparkSession) -> None:
    maps = values({"m": "map<string, i64>"}, ({"a": 1},), ({"a": 1},), ({"b": 2},))
    other = values({"m": "map<string, i64>"}, ({"a": 1},))
    rows = maps.set_op("minus_primary_all", other).execute(spark).collect()
    assert sorted(str(row.m) for row in rows) == ["{'a': 1}", "{'b': 2}"]


def test_repeated_columns(spark: SparkSession) -> None:
    twice = values({"x": "i64"}, (1,), (2,)).emit([0, 0])
    assert counted(twice.intersect(twice), spark) == Counter([(1, 1), (2, 2)])
