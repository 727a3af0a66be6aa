"""The physical plans that Spark makes of joins, sets, groups and windows are the intended ones.

Counted are the operators of plans over files, too large to send to all tasks as far as Spark knows. What a plan has
twice, or a nested loop, a rewrite has lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.rules import JOIN_TYPES, SET_OPS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPERATORS = frozenset(
    (
        "BroadcastExchange",
        "BroadcastHashJoin",
        "BroadcastNestedLoopJoin",
        "CartesianProduct",
        "Exchange",
        "Expand",
        "FileScan",
        "HashAggregate",
        "ObjectHashAggregate",
        "ShuffledHashJoin",
        "Sort",
        "SortAggregate",
        "SortMergeJoin",
        "Window",
    )
)


COLUMNS = {"plans_t": ("a", "b"), "plans_u": ("c", "d"), "plans_v": ("e", "f")}


@pytest.fixture(scope="module")
def names(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Three tables of two columns."""
    broadcast = spark.conf.get("spark.sql.autoBroadcastJoinThreshold")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    folder: Path = tmp_path_factory.mktemp("plans")
    for name, (one, two) in COLUMNS.items():
        spark.range(3).selectExpr(f"id AS {one}", f"id AS {two}").write.parquet(str(folder / name))
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    names = list(COLUMNS)
    yield names
    for name in names:
        spark.catalog.dropTempView(name)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", str(broadcast))


def tables(names: list[str], kind: str = "i64?") -> list[sd.Relation[Any]]:
    return [sd.read_named(name, dict.fromkeys(COLUMNS[name], kind)) for name in names]


def operators(relation: sd.Relation[Any], spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    capsys.readouterr()
    relation.execute(spark).explain()
    lines = capsys.readouterr().out.splitlines()
    words = (line.lstrip(" :+-*()0123456789").split("(")[0].split(" ")[0] for line in lines)
    return dict(Counter(word for word in words if word in OPERATORS))


MERGED = {"SortMergeJoin": 1, "Exchange": 2, "Sort": 2, "FileScan": 2}
COUNTED = {**MERGED, "Window": 1}
"""The rows that are looked up are counted by key as they come, sorted for the join."""
MARKED = {**MERGED, "Exchange": 3, "FileScan": 3, "HashAggregate": 2}
"""Looked up are also whether the other side has a row, and a NULL: one value for all rows."""


@pytest.mark.parametrize("kind", ["i64", "i64?"])
@pytest.mark.parametrize("how", JOIN_TYPES)
def test_equal_keys_are_merged(
    how: Any, kind: str, names: list[str], spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right, _ = tables(names, kind)
    joined = left.join(right, on=lambda x, y: x.a == y.c, how=how)
    wanted = COUNTED if "single" in how else MARKED if "mark" in how and kind == "i64?" else MERGED
    assert operators(joined, spark, capsys) == wanted


@pytest.mark.parametrize("many", [2, 3])
@pytest.mark.parametrize("op", SET_OPS)
def test_sets_are_one_aggregation(
    op: Any, many: int, names: list[str], spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = tables(names)[:many]
    counting = {} if op == "union_all" else {"Exchange": 1, "HashAggregate": 2}
    assert operators(first.set_op(op, *others), spark, capsys) == {"FileScan": many, **counting}


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda t: t.distinct(), {"Exchange": 1, "HashAggregate": 2, "FileScan": 1}),
        (
            lambda t: t.aggregate("a", "b", n=f.count(), grouping_sets=[["a", "b"], ["a"], ["b"], ["a"]]),
            {"Exchange": 1, "HashAggregate": 2, "FileScan": 1},
        ),
        (
            lambda t: t.with_columns(
                n=lambda r: f.row_number().over(partition_by="a", order_by="b"),
                s=lambda r: f.sum(r.b).over(partition_by="a", order_by="b", rows=(-1, 1)),
            ),
            {"Exchange": 1, "Sort": 1, "Window": 1, "FileScan": 1},
        ),
        (
            lambda t: t.with_columns(
                n=lambda r: f.row_number().over(partition_by="a", order_by="b"),
                s=lambda r: f.sum(r.b).over(partition_by="a"),
            ),
            {"Exchange": 1, "Sort": 1, "Window": 2, "FileScan": 1},
        ),
        (
            lambda t: t.aggregate("a", n=f.count()).with_columns(
                r=lambda r: f.row_number().over(partition_by="a", order_by="n")
            ),
            {"Exchange": 1, "HashAggregate": 2, "Sort": 1, "Window": 1, "FileScan": 1},
        ),
    ],
    ids=["distinct", "grouping sets", "windows alike", "windows of one partition", "a window over groups"],
)
def test_rows_are_sent_once(
    make: Callable[[Any], Any],
    wanted: dict[str, int],
    names: list[str],
    spark: SparkSession,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert operators(make(tables(names)[0]), spark, capsys) == wanted
