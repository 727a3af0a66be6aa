"""Rows that are inserted are staged beside those of a table of Spark's own: what it is otherwise stays what it is."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.changes.commits import STAGING, Staging
from substrait_dsl.spark.changes.file_systems import JavaFiles, LocalFiles
from substrait_dsl.spark.session.connect import is_remote
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
    return sorted((tuple(row) for row in spark.sql("SELECT id, v, c, d, p, q FROM staged").collect()), key=str)


def test_partitions_defaults_and_options(table: Path, spark: SparkSession) -> None:
    rows = sd.read_virtual(ROWS, COLUMNS)
    once = [(number, 6, c, None, p, q) for number, c, p, q in ROWS]
    rows.write("staged").execute(spark)
    assert stored(spark) == once
    rows.write("staged").execute(spark)  # its partitions are known now
    assert stored(spark) == sorted(once * 2, key=str)
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
    failing = one.select(a=lambda r: sd.functions.divide(sd.lit(1, sd.I64), r.a - 1))
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


class Killed(BaseException):
    """Stands for the end of the process: nothing is cleaned up behind it."""


@pytest.mark.parametrize("renamed", [0, 1, 3, 4])
def test_a_commit_that_was_killed(
    renamed: int, table: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next writer finishes it, and has the catalog know its partitions; before that a reader sees what it says."""
    rows = sd.read_virtual(ROWS, COLUMNS)
    with monkeypatch.context() as patch:
        left = [renamed]
        rename = LocalFiles.rename

        def rename_some(self: LocalFiles, source: str, target: str) -> None:
            if "/rows/" in source:
                if not left[0]:
                    raise Killed
                left[0] -= 1
            rename(self, source, target)

        patch.setattr(LocalFiles, "rename", rename_some)
        patch.setattr(Staging, "_is_undone", lambda self, moves, error, is_written: True)
        patch.setattr(Staging, "remove", lambda self: None)
        with pytest.raises(Killed):
            rows.write("staged").execute(spark)
    assert stored(spark) == []  # the catalog knows no partition yet
    sd.read_virtual([(9, "new", 9, "z")], COLUMNS).write("staged").execute(spark)
    old = [(number, 6, c, None, p, q) for number, c, p, q in ROWS]
    assert stored(spark) == sorted([*old, (9, 6, "new", None, 9, "z")], key=str)
    assert not (table / STAGING).exists()


@pytest.mark.parametrize("is_table", [True, False])
def test_writers_at_once(is_table: bool, table: Path, tmp_path: Path, spark: SparkSession) -> None:
    """All of them get all of their rows in, whichever is first; one that fails adds none, and takes none away."""
    target: Any = "staged" if is_table else sd.files_target(tmp_path / "out" / "{p}", "parquet")
    columns = {"id": "i64", "p": "i32", "q": "string"}
    if not is_table:
        sd.read_virtual([(0, 0, "x")], columns).write(target, "ctas").execute(spark)
    pause = "CAST(reflect('java.lang.Thread', 'sleep', 100L) IS NULL AS BIGINT)"
    for number in range(3):
        texts = (f"{pause} + id AS id", "CAST(id % 3 AS INT) AS p", f"'x{number}' AS q")
        spark.range(1, 11, 1, 10).selectExpr(*texts).createOrReplaceTempView(f"writer{number}")
    rows: list[Any] = [sd.read_named(f"writer{number}", columns) for number in range(3)]
    rows.append(rows[0].with_columns(id=lambda r: sd.functions.divide(sd.lit(1, sd.I64), r.id - 8)))
    ends: list[type[Exception] | None] = []

    def run(each: Any) -> None:
        try:
            each.write(target).execute(spark)
        except ExecutionError as error:
            ends.append(type(error))
        else:
            ends.append(None)

    threads = [threading.Thread(target=run, args=(each,)) for each in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends, key=str) == [ExecutionError, None, None, None]
    read: Any = (
        sd.read_named("staged", columns) if is_table else sd.read_files(tmp_path / "out", columns, kind="folder")
    )
    found = Counter((row.id, row.q) for row in read.collect(spark) if row.id)
    assert found == Counter((id_, f"x{number}") for number in range(3) for id_ in range(1, 11))


@pytest.mark.parametrize("is_ctas", [True, False])
def test_writers_that_make_a_folder_at_once(is_ctas: bool, tmp_path: Path, spark: SparkSession) -> None:
    """Neither finds one when it begins; the folder has the rows of both."""
    spark.range(2000).createOrReplaceTempView("many")
    target = sd.files_target(tmp_path / "out")
    rows: Any = sd.read_named("many", {"id": "i64"})
    write = rows.write(target, "ctas", create_mode="append_if_exists") if is_ctas else rows.write(target)
    threads = [threading.Thread(target=write.execute, args=(spark,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = Counter(row.id for row in spark.read.parquet(str(tmp_path / "out")).collect())
    assert found == Counter([*range(2000)] * 2)


def test_a_folder_of_hadoops_is_moved_into_no_other(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file systems move a folder into one that is there."""
    if is_remote(spark):
        return  # a client has no Java of its own
    files, exists = JavaFiles(spark, f"file:{tmp_path}"), JavaFiles.exists
    (tmp_path / "new" / "p=1").mkdir(parents=True)
    (tmp_path / "new" / "p=1" / "file").write_text("new")
    new, out = f"{files.root}/new", f"{files.root}/out"
    made = tmp_path / "out"

    def make(self: JavaFiles, path: str) -> bool:
        if path == out and not made.exists():
            made.mkdir()
            (made / "other").write_text("other")
            return False
        return exists(self, path)

    with monkeypatch.context() as patch:
        patch.setattr(JavaFiles, "exists", make)
        patch.setattr(JavaFiles, "is_folder", lambda self, path: False)  # nor is it seen just before
        with pytest.raises(FileExistsError):
            files.rename_folder(new, out)
    with pytest.raises(FileExistsError):
        files.rename_folder(new, out)
    assert files.files(out) == ["other"]
    assert files.files(new) == ["p=1/file"]
    files.rename_folder(new, f"{files.root}/third")
    assert files.files(f"{files.root}/third") == ["p=1/file"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "third"]


def test_a_partition_is_called_by_its_value(tmp_path: Path, spark: SparkSession) -> None:
    """Spark would put a setting, or a variable of the environment, in the place of some values."""
    values = ["${env:PATH}", "${spark.app.name}", "a${b", "$", "it's", "a\\b", "${system:user.name}'${x}"]
    spark.sql(
        f"CREATE TABLE called (a BIGINT, region STRING) USING parquet PARTITIONED BY (region) LOCATION '{tmp_path}'"
    )
    rows = sd.read_virtual([*enumerate(values)], {"a": "i64", "region": "string"})
    for _ in range(2):
        rows.write("called").execute(spark)
    assert sorted(tuple(row) for row in spark.table("called").collect()) == sorted([*enumerate(values)] * 2)
    spark.sql("DROP TABLE called")
