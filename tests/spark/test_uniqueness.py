"""Which columns tell the rows of a relation apart, and that a single join then counts no matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.spark.relations.uniqueness import is_unique
from tests.spark.rows import SECOND_MATCH, collected, counted, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = values(
    {"a": "i64?", "b": "i64?", "c": "i64?"}, (1, 1, 1), (1, 2, 1), (1, 2, 3), (None, 2, 3), (None, 2, 3), (4, 4, 4)
)
SUMS = T.aggregate("a", "b", n=lambda r: f.sum(r.c))
"""Unique by its columns 0 and 1."""

CASES: dict[str, tuple[Callable[[], Any], Collection[tuple[int, ...]]]] = {
    "a table": (lambda: T, []),
    "groups": (lambda: SUMS, [(0, 1)]),
    "one row": (lambda: T.aggregate(n=f.count()), [()]),
    "grouping sets": (lambda: T.aggregate("a", n=f.count(), grouping_sets=[["a"], []]), [(0, 2)]),
    "distinct": (lambda: T.distinct(), [(0, 1, 2)]),
    "a column and its copy": (lambda: SUMS.select("n", "b", "a", x=sd.col("a")), [(1, 2), (1, 3)]),
    "a column less": (lambda: SUMS.select("n", "b"), []),
    "a computed key": (lambda: SUMS.select("b", a=lambda r: r.a + 1), []),
    "a filter, a sort and a fetch": (lambda: SUMS.filter(lambda r: r.n > 1).sort("n").limit(3), [(0, 1)]),
    "a top-n": (lambda: SUMS.top_n(3, "n", with_ties=True), [(0, 1)]),
    "an exchange": (lambda: SUMS.exchange(sd.scatter("a")).simple_capture(), [(0, 1)]),
    "a set without repetitions": (lambda: T.select("a", "b").intersect(T.select("a", "b")), [(0, 1)]),
    "a set with some": (lambda: SUMS.union_all(SUMS), []),
    "what matches": (lambda: SUMS.join(T, lambda l, r: l.a == r.a, "left_semi"), [(0, 1)]),
    "a mark": (lambda: SUMS.join(T, lambda l, r: l.a == r.a, "left_mark"), [(0, 1)]),
    "all matches": (lambda: SUMS.join(T, lambda l, r: l.a == r.a), []),
    "expand": (lambda: SUMS.expand(a=sd.col("a"), b=sd.switching(sd.col("b"), sd.col("b"))), []),
}


@pytest.mark.parametrize("case", CASES)
def test_what_tells_rows_apart(case: str) -> None:
    make, keys = CASES[case]
    rel = make()._rel
    everything = range(len(rel.schema))
    for size in range(len(everything) + 1):
        for columns in combinations(everything, size):
            assert is_unique(rel, columns) == any(set(columns) >= set(key) for key in keys), columns


def test_a_long_pipeline() -> None:
    rows: Any = SUMS
    for number in range(2000):
        rows = rows.filter(lambda r, number=number: r.n != number)
    assert is_unique(rows._rel, (0, 1))


def test_rows_that_are_unique_are_not_counted(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    left, totals = values({"x": "i64?"}, (1,), (4,), (5,), (None,)), T.aggregate("a", n=f.count())
    wanted = Counter([(1, 1, 3), (4, 4, 1), (5, None, None), (None, None, None)])
    forms = {
        "a join": left.join(totals, lambda l, r: l.x == r.a, "left_single"),
        "the other way": totals.join(left, lambda l, r: r.x == l.a, "right_single").emit([2, 0, 1]),
        "a hash join": left.hash_join(totals, [("x", "a")], "left_single"),
        "and a condition": left.join(totals, lambda l, r: (l.x == r.a) & (l.x > 0) & (r.n > 0), "left_single"),
    }
    for name, relation in forms.items():
        assert counted(relation, spark) == wanted, name
        relation.execute(spark).explain()
        assert "Window" not in capsys.readouterr().out, name
    several = left.join(T.aggregate("a", "b", n=f.count()), lambda l, r: l.x == r.a, "left_single")
    with pytest.raises(Exception, match=SECOND_MATCH):
        collected(several, spark)
