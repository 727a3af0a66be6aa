"""Groups that are joined and grouped again: which of a tree they are, and their rows on DataFusion and on Sail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.joined_groups import joined_groups
from substrait_dsl.algebra.node import Rel, walk_upwards
from tests.support import f

if TYPE_CHECKING:
    from datafusion import SessionContext
    from pyspark.sql import SparkSession

Relation = sd.Relation[Any]

TIMES: Any = sd.read_named("times", {"c": "i64"})
PARTS: Any = sd.read_named("parts", {"k": "i64"})
TABLES = {"times": pa.table({"c": [5, 6, 6]}), "parts": pa.table({"k": [1, 1, 2]})}

INNER: dict[str, Relation] = {
    "distinct": TIMES.distinct(),
    "groups": TIMES.group_by("c").agg(x=f.count()).select("c"),
    "a set operation": TIMES.set_op("minus_primary", TIMES.filter(lambda r: r.c > 6)),
}
JOINED: dict[str, Callable[[Any], Any]] = {
    "cross": lambda inner: inner.cross(PARTS),
    "inner": lambda inner: inner.join(PARTS, lambda l, r: l.c > r.k),
    "left": lambda inner: inner.join(PARTS, lambda l, r: l.c > r.k, how="left"),
    "right": lambda inner: PARTS.join(inner, lambda l, r: l.k < r.c, how="right").select("c", "k"),
}
"""Each of 5 and 6 with 1, 1 and 2."""


def counted(joined: Any) -> Any:
    return joined.group_by("c", "k").agg(n=f.count())


AGAIN: dict[str, tuple[Callable[[Any], Any], list[tuple[int, ...]]]] = {
    "by all, some put out": (
        lambda joined: counted(joined).group_by("c", "k", "n").agg(rows=f.count()).select("c", "rows"),
        [(5, 1), (5, 1), (6, 1), (6, 1)],
    ),
    "by a number": (
        lambda joined: counted(joined).group_by("c", "n").agg(s=lambda r: f.sum(r.n)).select("c", "s"),
        [(5, 1), (5, 2), (6, 1), (6, 2)],
    ),
    "distinct": (
        lambda joined: joined.distinct().group_by("c", "k").agg(rows=f.count()).select("c", "rows"),
        [(5, 1), (5, 1), (6, 1), (6, 1)],
    ),
    "one column distinct": (lambda joined: counted(joined).select("c").distinct(), [(5,), (6,)]),
    "different values counted": (
        lambda joined: joined.group_by("c", "k").agg(n=lambda r: f.count(r.k).distinct()).select("n"),
        [(1,), (1,), (1,), (1,)],
    ),
    "sorted": (lambda joined: counted(joined).sort("c", sd.desc("k")).select("c", "k").fetch(1), [(5, 2)]),
    "first": (lambda joined: counted(joined).top_n(1, "c", sd.desc("k")).select("c", "k"), [(5, 2)]),
}


def cases(session: Any) -> list[str]:
    """What has other rows than arithmetic."""
    wrong = []
    for inner, groups in INNER.items():
        for join, joined in JOINED.items():
            for again, (regrouped, rows) in AGAIN.items():
                found = sorted(map(tuple, regrouped(joined(groups)).collect(session, tables=TABLES)))
                wrong += [f"{inner}, {join}, {again}: {found}"] if found != rows else []
    return wrong


def test_on_datafusion(context: SessionContext) -> None:
    assert cases(context) == []


def test_in_a_correlated_subquery(context: SessionContext) -> None:
    """A subquery becomes a join of groups, and whether its rows are unique is found by grouping them once more."""
    found = TIMES.select("c", u=lambda o: sd.unique(PARTS.filter(lambda r: o.c > 0).group_by("k").agg(n=f.count())))
    assert sorted(map(tuple, found.collect(context, tables=TABLES))) == [(5, True), (6, True), (6, True)]


def test_on_sail(sail: SparkSession) -> None:
    assert cases(sail) == []


VIEWS = {
    "distinct": "SELECT DISTINCT c FROM times_of_views",
    "groups": "SELECT c FROM times_of_views GROUP BY c",
    "a set operation": "SELECT c FROM times_of_views INTERSECT SELECT c FROM times_of_views",
}


@pytest.mark.parametrize("view", VIEWS)
def test_of_views_on_sail(view: str, sail: SparkSession) -> None:
    sail.createDataFrame(TABLES["times"]).createOrReplaceTempView("times_of_views")
    sail.sql(VIEWS[view]).createOrReplaceTempView("view_of_groups")
    regrouped, rows = AGAIN["by all, some put out"]
    joined = sd.read_named("view_of_groups", {"c": "i64?"}).cross(PARTS)
    try:
        assert sorted(map(tuple, regrouped(joined).collect(sail, tables={"parts": TABLES["parts"]}))) == rows
    finally:
        sail.catalog.dropTempView("view_of_groups")
        sail.catalog.dropTempView("times_of_views")


def found_in(relation: Any) -> int:
    relations = [node for node in [*walk_upwards(relation._rel)][::-1] if isinstance(node, Rel)]
    return len(joined_groups(relations, lambda rel: rel.inputs))


def test_which_they_are() -> None:
    inner = INNER["groups"]
    assert found_in(counted(inner.cross(PARTS))) == 1
    assert found_in(counted(inner.cross(PARTS.distinct()))) == 2
    assert found_in(inner.cross(PARTS)) == 0  # not grouped again
    assert found_in(counted(TIMES.cross(PARTS))) == 0  # nothing is grouped below
    assert found_in(counted(TIMES.aggregate(c=f.count()).cross(PARTS))) == 0  # one row has no key
    assert found_in(counted(inner.filter(lambda r: r.c > 1).cross(PARTS).sort("k"))) == 1
    assert found_in(TIMES.group_by("c").agg(k=f.count()).group_by("c", "k").agg(n=f.count())) == 0  # no join
