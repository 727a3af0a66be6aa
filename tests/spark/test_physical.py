"""Physical relations of one input on Spark: top-n, window, expand, exchange, captures; and shared relations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.spark.rows import DuckdbRows, Tables, by_tag, collected, counted, register, tagged, values
from tests.support import refused

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

COLUMNS = {"a": "i64?", "b": "i64?"}
ROWS: list[tuple[Any, ...]] = [(2, 1), (1, 2), (None, 3), (1, 4), (3, 5), (1, 6), (2, None), (None, 8)]
TABLES: Tables = {"t": (COLUMNS, ROWS)}

BY_A = sorted(ROWS, key=lambda row: (row[0] is not None, row[0] or 0))
"""By `a`, NULLs first: two NULLs, three 1, two 2, one 3."""


@pytest.mark.parametrize("form", ["text", "frames"])
def test_top_n_with_ties(form: str, spark: SparkSession) -> None:
    t = register(TABLES, spark)["t"]
    t = t if form == "text" else t.exchange(sd.round_robin())
    # how many rows stay: up to the end of the group that row number offset + count is in
    wanted = {(1, 0): 2, (2, 0): 2, (3, 0): 5, (2, 1): 4, (1, 2): 3, (2, 5): 2, (9, 6): 2, (0, 1): 0, (3, 20): 0}
    tops = {str(limits): t.top_n(limits[0], "a", offset=limits[1], with_ties=True).select("a") for limits in wanted}
    found = by_tag(tagged(tops), spark)
    for (count, offset), many in wanted.items():
        expected = Counter((row[0],) for row in BY_A[offset : offset + many])
        assert found.get(str((count, offset)), Counter()) == expected, (count, offset)


def test_top_n_is_a_sort_and_a_fetch(spark: SparkSession) -> None:
    t = values(COLUMNS, *ROWS)
    by_both = sorted(ROWS, key=lambda row: (row[0] or 0, -(row[1] or -1)))
    assert collected(t.top_n(3, "a", sd.desc("b"), offset=1), spark) == by_both[1:4]
    assert collected(t.top_n(None, "a", sd.desc("b"), offset=6), spark) == by_both[6:]
    tied = collected(t.top_n(4, "a", offset=1, with_ties=True), spark)
    assert [row[0] for row in tied] == [None, 1, 1, 1]
    two = t.top_n(sd.scalar_subquery(values({"n": "i64"}, (2,))), lambda r: r.a * -1, with_ties=True).select("a")
    assert collected(two, spark) == [(None,), (None,)]
    with refused(ExecutionError, "count of a top n must not be negative, it is -1"):
        t.top_n(sd.lit(1) - 2, "a").execute(spark)


def test_ties_are_sought_in_each_partition_first(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    t = values(COLUMNS, *ROWS)
    t.top_n(2, "a", with_ties=True).execute(spark).explain()
    assert "WindowGroupLimit [__s0" in capsys.readouterr().out.replace("\n", "")
    t.top_n(2, "a").execute(spark).explain()
    assert "TakeOrderedAndProject" in capsys.readouterr().out


@pytest.mark.parametrize("method", ["consistent_partition", "hashing"])
def test_windows_share_partitions_and_order(method: Any, spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    t = register(TABLES, spark)["t"]
    window = t.window(
        partition_by="a",
        order_by=sd.desc("b", nulls="last"),
        method=method,
        place=f.rank(),
        before=lambda r: f.sum(r.b).frame(rows=(-1, 0)),
    )
    query = """
        SELECT a, b, rank() OVER w, sum(b) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
        FROM t WINDOW w AS (PARTITION BY a ORDER BY b DESC NULLS LAST)
    """
    assert counted(window, spark) == duckdb_rows(query, TABLES)


def test_a_window_needs_one_sort(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    window = values(COLUMNS, *ROWS).window(
        partition_by="a", order_by="b", place=f.rank(), total=lambda r: f.sum(r.b).frame(rows=(-1, 0))
    )
    window.execute(spark).explain()
    plan = capsys.readouterr().out
    assert (plan.count("Exchange"), plan.count("Sort ["), plan.count("Window [")) == (1, 1, 1)


@pytest.mark.parametrize("form", ["text", "frames"])
def test_expand(form: str, spark: SparkSession) -> None:
    t = register(TABLES, spark)["t"]
    t = t if form == "text" else t.exchange(sd.round_robin())
    copied = t.expand(x=sd.switching(sd.col("a"), sd.col("b") * 2, None), kept=lambda r: r.b, y=sd.switching(1, 2))
    assert counted(copied, spark) == Counter(
        row for a, b in ROWS for row in [(a, b, 1, 0), (None if b is None else b * 2, b, 2, 1), (None, b, None, 2)]
    )
    index = copied.execute(spark).schema.fields[-1]
    assert (index.name, index.dataType.simpleString(), index.nullable) == ("index", "int", False)
    one = t.expand(kept=lambda r: r.a, index="copy")  # nothing switches: one copy
    assert counted(one, spark) == Counter((a, 0) for a, _ in ROWS)


def test_an_expand_computes_its_input_once(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    u = register({"u": ({"k": "i64", "w": "i64"}, [(1, 100), (2, 200)])}, spark)["u"]
    totals = values(COLUMNS, *ROWS).aggregate("a", n=f.count())
    copied = totals.expand(a=sd.switching(sd.col("a"), None), n=sd.col("n"))
    assert counted(copied, spark) == Counter(
        [(None, 2, 0), (None, 2, 1), (1, 3, 0), (None, 3, 1), (2, 2, 0), (None, 2, 1), (3, 1, 0), (None, 1, 1)]
    )
    copied.execute(spark).explain()
    plan = capsys.readouterr().out
    assert (plan.count("Generate inline"), plan.count("Exchange"), "Union" in plan) == (1, 1, False)

    def weight(r: Any) -> Any:
        return sd.scalar_subquery(u.filter(lambda x: x.k == r.a).select("w"))

    weighed = totals.expand(w=lambda r: sd.switching(weight(r), r.n))
    assert counted(weighed, spark) == Counter(
        [(None, 0), (2, 1), (100, 0), (3, 1), (200, 0), (2, 1), (None, 0), (1, 1)]
    )


def partitions(relation: Any, spark: SparkSession) -> list[list[tuple[Any, ...]]]:
    """The rows in each partition that has any."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    for *row, number in relation.execute(spark).selectExpr("*", "spark_partition_id()").collect():
        found.setdefault(number, []).append(tuple(row))
    return [found[number] for number in sorted(found)]


def test_exchanges_lay_rows_out_and_change_none(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    t = values({"n": "i32", "k": "i64"}, *((n, n % 3) for n in range(12))).sort(sd.desc("n"))
    kinds = {
        "scatter": t.exchange(sd.scatter("k"), partition_count=4),
        "bucket": t.exchange(sd.single_bucket(lambda r: r.n - 3), partition_count=5),
        "about": t.exchange(sd.round_robin(), partition_count=4),
        "exact": t.exchange(sd.round_robin(exact=True), partition_count=5),
        "one": t.exchange(sd.scatter("n"), partition_count=1),
        "any": t.exchange(sd.single_bucket("n")),
        "broadcast": t.exchange(sd.broadcast()),
    }
    laid = {name: partitions(relation, spark) for name, relation in kinds.items()}
    for name, parts in laid.items():
        assert Counter(row for part in parts for row in part) == Counter((n, n % 3) for n in range(12)), name
        assert all(part == sorted(part, reverse=True) for part in parts), name  # spec decision 8
    assert [len(laid[name]) for name in ("bucket", "exact", "one")] == [5, 5, 1]
    for name in ("scatter", "about"):  # of these some may be empty
        kinds[name].execute(spark).explain()
        assert "4), REPARTITION_BY_NUM" in capsys.readouterr().out
    for k in range(3):
        assert sum(any(row[1] == k for row in part) for part in laid["scatter"]) == 1
    assert [{(n - 3) % 5 for n, _ in part} for part in laid["bucket"]] == [{0}, {1}, {2}, {3}, {4}]
    assert laid["exact"] == [[(n, n % 3) for n in range(11 - turn, -1, -5)] for turn in range(5)]


def test_captures(spark: SparkSession) -> None:
    t = values(COLUMNS, *ROWS).sort("a", sd.desc("b"))
    spread = t.exchange(sd.round_robin(exact=True), partition_count=3)
    assert collected(spread.merging_capture(), spark) == collected(t, spark)
    assert counted(spread.simple_capture(), spark) == Counter(ROWS)


def test_an_exchange_where_rows_are_looked_up(spark: SparkSession) -> None:
    t = values(COLUMNS, *ROWS)
    moved = t.exchange(sd.scatter("a"), partition_count=2)
    keys = values({"k": "i64"}, (1,), (4,))
    for right in (moved, moved.merging_capture().simple_capture()):
        found = keys.filter(lambda r, right=right: sd.exists(right.filter(lambda x: x.a == r.k)))
        assert collected(found, spark) == [(1,)]
    correlated = keys.filter(
        lambda r: sd.exists(t.filter(lambda x: x.a == r.k).exchange(sd.round_robin()).merging_capture())
    )
    assert collected(correlated, spark) == [(1,)]


def test_exchanges_that_spark_cannot_make(spark: SparkSession) -> None:
    t = values({"n": "i32", "ns": "list<i32>"}, (1, [1, 2]))
    with refused(UnsupportedError, "execute", "exchange by several buckets"):
        t.exchange(sd.multi_bucket("ns"), partition_count=2).execute(spark)
    with refused(UnsupportedError, "execute", "targets"):
        t.exchange(sd.scatter("n"), targets=[sd.exchange_target("file:/t")]).execute(spark)


def test_shared_relations_may_be_persisted(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    both = sd.shared(values(COLUMNS, *ROWS).filter(lambda r: r.b > 2))
    marked = both.join(both.select(c=lambda r: r.a), on=lambda x, y: x.a == y.c, how="left_semi")
    counts = marked.union_all(both.lateral_join(lambda r: both.filter(lambda x: x.a == r.a), how="left_semi"))
    wanted = Counter({(1, 4): 2, (3, 5): 2, (1, 6): 2})
    assert counted(counts, spark) == wanted
    try:
        (frame,) = sd.Plan(counts).execute(spark, persist_shared=True)
        assert Counter(tuple(row) for row in frame.collect()) == wanted
        frame.explain()
        plan = capsys.readouterr().out
        initial = plan.partition("Initial Plan")[2] or plan  # a remote session tells no other
        assert initial.count("InMemoryTableScan") == 4  # everywhere, and nothing is computed beside
        assert initial.count("LocalTableScan") == 4
        assert "OneRowRelation" not in initial
    finally:
        spark.catalog.clearCache()
    counts.execute(spark).explain()
    assert "InMemory" not in capsys.readouterr().out


def test_what_is_persisted_is_no_other_relations(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "x.parquet")
    files = sd.read_files(tmp_path, {"a": "i64?"}, kind="folder")
    both = sd.shared(files)
    try:
        one, other = sd.Plan(both, both).execute(spark, persist_shared=True)
        assert sorted(row.a for row in one.collect()) == [1, 2]
        pq.write_table(pa.table({"a": [3]}), tmp_path / "y.parquet")
        (tmp_path / "x.parquet").unlink()
        assert sorted(row.a for row in other.collect()) == [1, 2]
        assert [row.a for row in files.collect(spark)] == [3]
        assert [row.a for row in sd.Plan(both, both).execute(spark, persist_shared=True)[1].collect()] == [3]
    finally:
        spark.catalog.clearCache()
