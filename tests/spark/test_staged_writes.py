"""Rows that are inserted are staged beside those of a table of Spark's own: what it is otherwise stays what it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.commits import STAGING
from substrait_dsl.spark.workspace import is_remote
from tests.support import refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

ROWS: list[Any] = [(1, "abc", 1, "x/y z"), (2, "abd", None, "a=b"), (3, "abd", 2, None), (4, "zzz", 1, "ä'\\q%")]
COLUMNS = {"id": "i64", "c": "fixedchar<3>", "p": "i32?", "q": "string?"}


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A table with partitions, defaults, and options; gives its folder."""
    columns = "id BIGINT, v BIGINT DEFAULT 5+1, c CHAR(3), d VARCHAR(4), p INT, q STRING"
    options = f"USING parquet OPTIONS (compression 'zstd') PARTITIONED BY (p, q) LOCATION '{tmp_path / 'staged'}'"
    spark.sql(f"CREATE TABLE staged ({columns}) {options}")
    yield tmp_path / "staged"
    spark.sql("DROP TABLE staged")


def stored(spark: SparkSession) -> list[Any]:
    return sorted(tuple(row) for row in spark.sql("SELECT id, v, c, d, p, q FROM staged").collect())


def test_partitions_defaults_and_options(table: Path, spark: SparkSession) -> None:
    rows = sd.read_virtual(ROWS, COLUMNS)
    once = [(number, 6, c, None, p, q) for number, c, p, q in ROWS]
    rows.write("staged").execute(spark)
    assert stored(spark) == once
    rows.write("staged").execute(spark)  # its partitions are known now
    assert stored(spark) == sorted(once * 2)
    partitions = {row[0] for row in spark.sql("SHOW PARTITIONS staged").collect()}
    assert len(partitions) == len(ROWS)
    assert {str(path.parent.relative_to(table)) for path in table.rglob("part-*.zstd.parquet")} == partitions
    assert not (table / STAGING).exists()


def test_a_partition_elsewhere(table: Path, tmp_path: Path, spark: SparkSession) -> None:
    spark.sql(f"ALTER TABLE staged ADD PARTITION (p = 7, q = 'z') LOCATION '{tmp_path / 'own'}'")
    sd.read_virtual([(1, "abc", 7, "z"), (2, "abc", 8, "z")], COLUMNS).write("staged").execute(spark)
    assert stored(spark) == [(1, 6, "abc", None, 7, "z"), (2, 6, "abc", None, 8, "z")]
    assert list((tmp_path / "own").glob("part-*"))


def test_statistics_are_not_those_of_former_rows(table: Path, spark: SparkSession) -> None:
    spark.sql("ANALYZE TABLE staged COMPUTE STATISTICS")

    def statistics() -> str:
        rows = spark.sql("DESCRIBE TABLE EXTENDED staged").collect()
        return next(str(row["data_type"]) for row in rows if row["col_name"] == "Statistics")

    assert statistics() == "0 bytes, 0 rows"
    sd.read_virtual(ROWS, COLUMNS).write("staged").execute(spark)
    assert not statistics().startswith("0 bytes")


def test_tables_that_are_not_staged(tmp_path: Path, spark: SparkSession) -> None:
    """Spark alone knows which file a row of a bucketed table goes to; what others left it would add."""
    folder = tmp_path / "bucketed"
    spark.sql(f"CREATE TABLE bucketed (a BIGINT) USING orc CLUSTERED BY (a) INTO 2 BUCKETS LOCATION '{folder}'")
    rows = sd.read_virtual([(1,), (2,), (3,)], {"a": "i64"})
    try:
        rows.write("bucketed").execute(spark)
        left = folder / "_temporary" / "0" / "task_1"
        left.mkdir(parents=True)
        with refused(ExecutionError, "execute", "another writer", "_temporary"):
            rows.write("bucketed").execute(spark)
        shutil.rmtree(folder / "_temporary")
        rows.write("bucketed").execute(spark)
        assert sorted(row.a for row in spark.table("bucketed").collect()) == [1, 1, 2, 2, 3, 3]
    finally:
        spark.sql("DROP TABLE bucketed")


def test_what_a_former_writer_left_is_not_added(table: Path, spark: SparkSession) -> None:
    """The folder that all writers of Hadoop's share is nobody's here."""
    left = table / "_temporary" / "0" / "task_1" / "p=1" / "q=x"
    left.mkdir(parents=True)
    (left / "part-left.zstd.parquet").write_bytes(b"not even Parquet")
    sd.read_virtual(ROWS, COLUMNS).write("staged").execute(spark)
    assert len(stored(spark)) == len(ROWS)


NEW: dict[str, tuple[Any, Any]] = {"same columns": ([(3,)], {"a": "i64"}), "others": ([("x",)], {"b": "string"})}


@pytest.mark.parametrize("columns", NEW)
def test_a_table_that_is_replaced(columns: str, spark: SparkSession) -> None:
    """One with the same columns keeps its place; in either case nothing else is left."""
    rows, schema = NEW[columns]
    new: Any = sd.read_virtual(rows, schema)
    sd.read_virtual([(1,), (2,)], {"a": "i64"}).write("replaced", "ctas").execute(spark)
    try:
        before = spark.table("replaced")
        assert before.count() == 2
        new.write("replaced", "ctas", create_mode="replace_if_exists").execute(spark)
        assert [tuple(row) for row in spark.table("replaced").collect()] == rows
        new.write("replaced", "ctas", create_mode="append_if_exists").execute(spark)
        assert spark.table("replaced").count() == 2
        sd.create_table("replaced", {"a": "i64"}, or_replace=True).execute(spark)
        assert spark.table("replaced").collect() == []
        assert [table.name for table in spark.catalog.listTables("default", "replaced*")] == ["replaced"]
        if not is_remote(spark):
            warehouse = (spark.conf.get("spark.sql.warehouse.dir") or "").removeprefix("file:")
            assert [name for name in os.listdir(warehouse) if name.startswith(("replaced", STAGING))] == ["replaced"]
    finally:
        spark.sql("DROP TABLE replaced")


def test_a_new_table_that_fails_leaves_nothing(spark: SparkSession) -> None:
    one: Any = sd.read_virtual([(1,)], {"a": "i64"})
    failing = one.select(a=lambda r: sd.lit(1, sd.I64) / (r.a - 1))
    for mode in ("error_if_exists", "replace_if_exists"):
        with pytest.raises(ExecutionError, match="division by zero"):
            failing.write("failed", "ctas", create_mode=mode).execute(spark)
        if not is_remote(spark):
            warehouse = (spark.conf.get("spark.sql.warehouse.dir") or "").removeprefix("file:")
            assert [name for name in os.listdir(warehouse) if name.startswith(("failed__", STAGING))] == []
        if mode == "error_if_exists":
            one.write("failed", "ctas").execute(spark)
    assert spark.table("failed").count() == 1
    spark.sql("DROP TABLE failed")
