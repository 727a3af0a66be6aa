"""Tables of Spark's own that are replaced or dropped while others insert: one stands under the name in the end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SubstraitDslError
from substrait_dsl.spark.catalog.table_names import statement_name
from substrait_dsl.spark.changes import inserts, statements, table_replacement
from substrait_dsl.spark.changes.commits import STAGING
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.execution_context import ExecutionContext
from substrait_dsl.spark.sources.arrow_tables import ArrowTables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"a": "i64", "p": "i64"}
OLD: list[Any] = [(1, 1), (2, 2)]
NEW: list[Any] = [(3, 3)]


@pytest.fixture
def folder(spark: SparkSession) -> Iterator[Path]:
    """A table with partitions, which is replaced by two renamings; gives its folder."""
    spark.sql("DROP TABLE IF EXISTS swapped")
    spark.sql("CREATE TABLE swapped (a BIGINT, p BIGINT) USING parquet PARTITIONED BY (p)")
    sd.read_virtual(OLD, COLUMNS).write("swapped").execute(spark)
    location = next(
        row[1] for row in spark.sql("DESCRIBE TABLE EXTENDED swapped").collect() if row[0].strip() == "Location"
    )
    yield Path(location.removeprefix("file:"))
    for name in tables(spark):
        spark.sql(f"DROP TABLE IF EXISTS {name}")


def tables(spark: SparkSession) -> list[str]:
    return [table.name for table in spark.catalog.listTables("default", "swapped*")]


def stored(spark: SparkSession) -> list[Any]:
    return sorted(tuple(row) for row in spark.sql("SELECT a, p FROM swapped").collect())


def replace(spark: SparkSession) -> None:
    sd.read_virtual(NEW, COLUMNS).write("swapped", "ctas", create_mode="replace_if_exists").execute(spark)


def before_second_renaming(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have something happen whenever a table is to get the name."""
    run = statements.run

    def run_late(what: str, text: str, execution: ExecutionContext) -> None:
        if "RENAME TO" in text and "__old_" not in text.partition("RENAME TO")[2]:
            act()
        run(what, text, execution)

    monkeypatch.setattr(table_replacement, "run", run_late)


@pytest.mark.parametrize("left", [f"{STAGING}/1/rows/_temporary/0/part", ""])
def test_rows_that_are_staged_in_the_folder_between_two_renamings(
    left: str, folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an insert that has found the table before, and whose tasks still run for a while."""
    turns: list[int] = []

    def stage() -> None:
        if len(turns) < 3:
            turns.append(1)
            (folder / left).mkdir(parents=True)

    before_second_renaming(stage, monkeypatch)
    replace(spark)
    assert tables(spark) == ["swapped"]
    assert stored(spark) == NEW
    assert STAGING not in os.listdir(folder)


def test_the_hint_for_a_folder_that_is_not_of_this_library(
    folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is in it stays; who follows the hint has the old table again."""
    with monkeypatch.context() as patch:
        before_second_renaming(lambda: (folder / "theirs").mkdir(parents=True, exist_ok=True), patch)
        with pytest.raises(ExecutionError, match="could not be renamed") as raised:
            replace(spark)
    assert (folder / "theirs").is_dir()
    hint = raised.value.hint
    assert hint is not None
    assert hint.startswith("remove the folder")
    assert str(folder) in hint
    (folder / "theirs").rmdir()
    folder.rmdir()
    spark.sql(hint[hint.index("ALTER TABLE") :].removesuffix(", in Spark's SQL"))
    assert tables(spark) == ["swapped"]
    assert stored(spark) == OLD


def test_a_table_whose_folder_was_moved_into_another(folder: Path, spark: SparkSession) -> None:
    """As Hadoop does where the folder was made after Spark has looked for it."""
    (inside := folder / "swapped__new_1").mkdir()
    for number in (1, 2):
        (folder / f"p={number}").rename(inside / f"p={number}")
    spark.sql("REFRESH TABLE swapped")
    assert stored(spark) == []
    table_replacement._move_into_place(
        ("swapped__new_1",), ("swapped",), ExecutionContext(spark, ArrowTables({}, spark))
    )
    assert stored(spark) == OLD
    assert not inside.exists()


@pytest.mark.parametrize("moment", ["reach", "recover", "hold_interrupts"])
def test_an_insert_makes_no_folder_of_a_table_that_is_gone(
    moment: str, folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before its rows are staged, before they are written, and before they are made visible."""
    called = getattr(inserts, moment)

    def drop(*arguments: Any) -> Any:
        spark.sql("DROP TABLE IF EXISTS swapped")
        return called(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(inserts, moment, drop)
        with pytest.raises(ExecutionError, match=r"replaced or (removed|dropped)") as raised:
            sd.read_virtual(NEW, COLUMNS).write("swapped").execute(spark)
    assert raised.value.hint == "run it again"
    assert not folder.exists()
    sd.read_virtual(NEW, COLUMNS).write("swapped", "ctas").execute(spark)
    assert stored(spark) == NEW


def test_of_two_that_replace_one_the_loser_is_told_so(
    folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = statements.run
    names: list[str] = []

    def run_after_another(what: str, text: str, execution: ExecutionContext) -> None:
        if "RENAME TO" in text and not names:
            names.append("swapped__old_other")
            execution.sql(f"ALTER TABLE {statement_name(('swapped',))} RENAME TO swapped__old_other")
        run(what, text, execution)

    monkeypatch.setattr(table_replacement, "run", run_after_another)
    with pytest.raises(ExecutionError, match="another writer has replaced or dropped the table meanwhile") as raised:
        replace(spark)
    assert raised.value.hint == "run it again"
    assert tables(spark) == ["swapped__old_other"]
    if not is_remote(spark):
        assert sorted(name for name in os.listdir(folder.parent) if name.startswith("swapped")) == names


ASIDE = "swapped__old_0123456789ab"


@pytest.mark.parametrize("left", [ASIDE, "swapped__new_0123456789ab"])
def test_a_table_that_is_not_there_while_it_is_replaced(left: str, folder: Path, spark: SparkSession) -> None:
    """What a writer calls a table meanwhile is no misspelt name; who follows the hint has the old table again."""
    spark.sql(f"ALTER TABLE swapped RENAME TO {left}")
    acts: list[Callable[[], object]] = [
        lambda: sd.read_virtual(NEW, COLUMNS).write("swapped").execute(spark),
        lambda: sd.read_named("swapped", COLUMNS).collect(spark),
        lambda: sd.drop_table("swapped").execute(spark),
    ]
    for act in acts:
        with pytest.raises(ExecutionError) as raised:
            act()
        assert "did you mean" not in str(raised.value)
        assert ("has called the old one" in raised.value.message) is (left == ASIDE)
        assert (left in raised.value.message) is (left == ASIDE)
    if left == ASIDE:
        spark.sql(f"ALTER TABLE {ASIDE} RENAME TO swapped")
        assert stored(spark) == OLD


FRESH = "swapped__new_0123456789ab"


@pytest.fixture
def half_renamed(folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a catalog of Hive's leaves whose process is killed while it gives a new table its name: gives the folder."""
    spark.sql(f"ALTER TABLE swapped RENAME TO {FRESH}")
    folder.with_name(FRESH).rename(folder)
    monkeypatch.setattr(table_replacement, "_MAX_TURNS", 3)
    return folder


def test_the_name_of_a_table_that_was_being_renamed_is_free(half_renamed: Path, spark: SparkSession) -> None:
    """Its files are moved away, and not removed."""
    files = {path.name for path in half_renamed.rglob("part-*")}
    sd.read_virtual(NEW, COLUMNS).write("swapped", "ctas").execute(spark)
    assert stored(spark) == NEW
    assert tables(spark) == ["swapped"]
    assert {path.name for path in half_renamed.with_name(FRESH).rglob("part-*")} == files
    shutil.rmtree(half_renamed.with_name(FRESH))


def test_a_table_that_is_being_renamed_by_a_writer_at_work(
    half_renamed: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which comes to its end at last: its rows stay, and the other is told that there is a table."""
    sql = ExecutionContext.sql

    def finish(execution: ExecutionContext, text: str, *rest: Any) -> Any:
        if text == f"DROP TABLE `{FRESH}`":
            half_renamed.rename(half_renamed.with_name(FRESH))
            spark.sql(f"ALTER TABLE {FRESH} RENAME TO swapped")
        return sql(execution, text, *rest)

    monkeypatch.setattr(ExecutionContext, "sql", finish)
    with pytest.raises(ExecutionError, match="there is one of this name already"):
        sd.read_virtual(NEW, COLUMNS).write("swapped", "ctas").execute(spark)
    assert stored(spark) == OLD
    assert tables(spark) == ["swapped"]


def test_files_that_are_nobodys_stay_in_the_way(folder: Path, spark: SparkSession) -> None:
    """Where the table that was being made has its own folder, they are none of its files."""
    spark.sql(f"ALTER TABLE swapped RENAME TO {FRESH}")
    (folder / "theirs").mkdir(parents=True)
    with pytest.raises(ExecutionError, match="already exists"):
        sd.read_virtual(NEW, COLUMNS).write("swapped", "ctas").execute(spark)
    assert (folder / "theirs").is_dir()
    assert tables(spark) == [FRESH]
    shutil.rmtree(folder)


def test_a_table_that_was_being_set_aside_gets_no_rows(folder: Path, spark: SparkSession) -> None:
    """It would have these alone; who follows the hint has the old ones, too."""
    folder.rename(folder.with_name(ASIDE))
    with pytest.raises(ExecutionError, match="has begun to rename it") as raised:
        sd.read_virtual(NEW, COLUMNS).write("swapped").execute(spark)
    assert str(folder.with_name(ASIDE)) in raised.value.message
    assert str(raised.value.hint).endswith(f'rename that folder to "{folder}"')
    assert not folder.exists()
    folder.with_name(ASIDE).rename(folder)
    sd.read_virtual(NEW, COLUMNS).write("swapped").execute(spark)
    assert stored(spark) == sorted(OLD + NEW)


def test_a_table_without_a_folder_gets_rows(folder: Path, spark: SparkSession) -> None:
    """Where nothing is beside it, and where that is another table."""
    shutil.rmtree(folder)
    spark.sql(f"CREATE TABLE {ASIDE} (a BIGINT) USING parquet")
    spark.sql("MSCK REPAIR TABLE swapped DROP PARTITIONS")
    sd.read_virtual(NEW, COLUMNS).write("swapped").execute(spark)
    assert stored(spark) == NEW


def test_a_table_whose_partitions_are_gone_was_replaced(folder: Path, spark: SparkSession) -> None:
    spark.sql("CREATE TABLE swapped_plain (a BIGINT) USING parquet")
    for text in (
        "SHOW PARTITIONS swapped_plain",
        "ALTER TABLE swapped_plain ADD IF NOT EXISTS PARTITION (p = 1)",
        "DESCRIBE TABLE EXTENDED swapped PARTITION (p = 77)",
        "SHOW PARTITIONS swapped_none",
    ):
        words = "has replaced or dropped the table meanwhile"
        with pytest.raises(ExecutionError, match=words) as raised, statements.reporting_replaced("insert"):
            spark.sql(text).collect()
        assert raised.value.hint == "run it again"


@pytest.mark.parametrize("name", ["\u00e4 b", ("nosuch_database", "t"), ("default", "a.b"), "a/b"])
def test_no_hint_to_make_a_table_that_cannot_be_made(name: Any, spark: SparkSession) -> None:
    """Who followed it would be refused."""
    rows = sd.read_virtual(NEW, COLUMNS)
    with pytest.raises(ExecutionError) as raised:
        rows.write(name).execute(spark)
    assert "ctas" not in (raised.value.hint or "")
    assert raised.value.hint
    with pytest.raises(SubstraitDslError):
        rows.write(name, "ctas").execute(spark)
