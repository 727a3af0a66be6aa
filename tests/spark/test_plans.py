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
        "Generate",
        "HashAggregate",
        "ObjectHashAggregate",
        "ShuffledHashJoin",
        "Sort",
        "SortAggregate",
        "SortMergeJoin",
        "Window",
    )
)


THRESHOLD = "spark.sql.autoBroadcastJoinThreshold"
COLUMNS = {"plans_t": ("a", "b"), "plans_u": ("c", "d"), "plans_v": ("e", "f")}


@pytest.fixture(scope="module")
def names(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Three tables of two columns."""
    broadcast = spark.conf.get(THRESHOLD)
    spark.conf.set(THRESHOLD, "-1")
    folder: Path = tmp_path_factory.mktemp("plans")
    for name, (one, two) in COLUMNS.items():
        spark.range(3).selectExpr(f"id AS {one}", f"id AS {two}").write.parquet(str(folder / name))
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)
    names = list(COLUMNS)
    yield names
    for name in names:
        spark.catalog.dropTempView(name)
    spark.conf.set(THRESHOLD, str(broadcast))


def tables(names: list[str], kind: str = "i64?") -> list[sd.Relation[Any]]:
    return [sd.read_named(name, dict.fromkeys(COLUMNS[name], kind)) for name in names]


def operators(relation: sd.Relation[Any], spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    capsys.readouterr()
    relation.execute(spark).explain()
    lines = capsys.readouterr().out.splitlines()
    words = (line.lstrip(" :+-*()0123456789").split("(")[0].split(" ")[0] for line in lines)
    return dict(Counter(word for word in words if word in OPERATORS))


@pytest.fixture
def sent(names: list[str], spark: SparkSession) -> Iterator[list[str]]:
    """The same tables, small enough to send to all tasks, as far as Spark knows."""
    spark.conf.set(THRESHOLD, "10mb")
    yield names
    spark.conf.set(THRESHOLD, "-1")


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


SENT = {"BroadcastHashJoin": 1, "BroadcastExchange": 1, "FileScan": 2}
IN_ONE_TASK = {**SENT, "Sort": 1, "Window": 1}
LOOKED_UP: dict[str, tuple[Callable[[Any], Any], dict[str, int]]] = {
    "a table": (lambda u: u, IN_ONE_TASK),
    "rows of one": (lambda u: u.filter(lambda r: r.d >= 0).select(d=lambda r: r.d + 0, c=sd.col("c")), IN_ONE_TASK),
    "its groups": (lambda u: u.distinct().select("c"), {**IN_ONE_TASK, "Exchange": 2, "HashAggregate": 2}),
    "a window over it": (
        lambda u: u.with_columns(d=lambda r: f.row_number().over(partition_by="c", order_by="d")),
        {**IN_ONE_TASK, "Exchange": 1, "Window": 2},
    ),
}


@pytest.mark.parametrize("how", ["left_single", "right_single"])
@pytest.mark.parametrize("case", LOOKED_UP)
def test_the_rows_of_a_small_table_are_counted_where_they_are(
    case: str, how: Any, sent: list[str], spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    make, wanted = LOOKED_UP[case]
    t, u, _ = tables(sent)
    one, other = t, make(u)
    joined = (
        one.join(other, lambda x, y: x.a == y.c, how)
        if how == "left_single"
        else other.join(one, lambda x, y: x.c == y.a, how)
    )
    assert operators(joined, spark, capsys) == wanted
    assert sorted(row[:2] for row in joined.select("a", "c").collect(spark)) == [(0, 0), (1, 1), (2, 2)]


ONE = "SELECT a + 1 - 1 AS a, b FROM plans_t WHERE b >= 0"
BOTH = "SELECT * FROM plans_t UNION ALL SELECT * FROM plans_v"
VIEWS = {
    "one": (ONE, 0),
    "one of one": (f"SELECT * FROM ({ONE}) AS below WHERE a >= 0", 0),
    "a union": (BOTH, 1),
    "a union that is taken away": (f"{BOTH} WHERE false", 1),
    "a union below": (f"SELECT a, b FROM ({BOTH} WHERE false) AS below WHERE a >= 0", 1),
    "a union that is named first": (f"WITH named AS ({BOTH} WHERE false) SELECT a, b FROM named", 1),
}


@pytest.mark.parametrize("is_cached", [False, True])
@pytest.mark.parametrize("case", VIEWS)
def test_marks_of_views(
    case: str, is_cached: bool, names: list[str], spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spark's optimizer fails at a look-up straight over a union (SPARK-59042), also one that it then takes away.

    A generator keeps the two apart, which costs time where there is no union.
    """
    text, generators = VIEWS[case]
    spark.sql(text).createOrReplaceTempView("a_view")
    if is_cached:
        spark.catalog.cacheTable("a_view")
    try:
        _, u, _ = tables(names)
        view = sd.read_named("a_view", dict.fromkeys(COLUMNS["plans_t"], "i64?"))
        marked = view.join(u, lambda x, y: x.a == y.c, "left_mark")
        assert [row[2] for row in marked.collect(spark)] == [True] * (6 if case == "a union" else 3)
        assert operators(marked, spark, capsys).get("Generate", 0) == generators
    finally:
        spark.catalog.uncacheTable("a_view")
        spark.catalog.dropTempView("a_view")


@pytest.mark.parametrize(("files", "exchanges"), [(2, 0), (8, 0), (9, 1)])
def test_many_files_are_read_by_many_tasks(
    files: int, exchanges: int, sent: list[str], spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(files):
        spark.range(number, number + 1).coalesce(1).write.mode("append").parquet(str(tmp_path / "many"))
    t, *_ = tables(sent)
    many = sd.read_files(str(tmp_path / "many"), {"id": "i64"})
    joined = t.join(many, lambda x, y: x.a == y.id, "left_single")
    wanted = {**IN_ONE_TASK, "Exchange": exchanges} if exchanges else IN_ONE_TASK
    assert operators(joined, spark, capsys) == wanted
    assert [row.id for row in joined.sort("a").collect(spark)] == [
        number if number < files else None for number in range(3)
    ]


REPEATING = ("minus_primary_all", "minus_multiset", "intersection_multiset_all")
"""These give a row as often as its counts in the inputs tell."""


@pytest.mark.parametrize("many", [2, 3])
@pytest.mark.parametrize("op", SET_OPS)
def test_sets_are_one_aggregation(
    op: Any, many: int, names: list[str], spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = tables(names)[:many]
    counting = {} if op == "union_all" else {"Exchange": 1, "HashAggregate": 2}
    repeating = {"Generate": 1} if op in REPEATING else {}
    assert operators(first.set_op(op, *others), spark, capsys) == {"FileScan": many, **counting, **repeating}


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda t: t.distinct(), {"Exchange": 1, "HashAggregate": 2, "FileScan": 1}),
        (
            lambda t: t.aggregate("a", "b", n=f.count(), grouping_sets=[["a", "b"], ["a"], ["b"], ["a"]]),
            {"Generate": 1, "Exchange": 1, "HashAggregate": 2, "FileScan": 1},
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
