"""Ctrl-C in the middle of an execution: its jobs are cancelled, nothing is changed, and the interrupt is raised."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.changes.commits import STAGING
from substrait_dsl.spark.changes.file_systems import LocalFiles
from substrait_dsl.spark.session.cancellation import Cancellation
from substrait_dsl.spark.session.connect import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"id": "i64", "v": "i64"}
TASKS, SECONDS = 100, 0.2
"""How many tasks a slow relation has, and how long each takes."""
OLD = [(1, 1), (2, 2)]


def slow(spark: SparkSession, tasks: int = TASKS) -> Any:
    """Rows that take long, each in a task of its own."""
    sleep = f"CAST(reflect('java.lang.Thread', 'sleep', {int(SECONDS * 1000)}L) IS NULL AS BIGINT) + id AS v"
    spark.range(0, tasks, 1, tasks).selectExpr("id", sleep).createOrReplaceTempView(f"slow{tasks}")
    return sd.read_named(f"slow{tasks}", COLUMNS)


def running_jobs(spark: SparkSession) -> set[int]:
    return set() if is_remote(spark) else set(spark.sparkContext.statusTracker().getActiveJobsIds())


def interrupted(spark: SparkSession, act: Callable[[], object]) -> float:
    """Do something, and interrupt it once a job of it runs; gives how many seconds it took to end after that."""
    before = running_jobs(spark)
    at: list[float] = []

    def interrupt() -> None:
        while not is_remote(spark) and not running_jobs(spark) - before:
            time.sleep(0.02)
        time.sleep(1.5 if is_remote(spark) else SECONDS / 2)
        at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt) as raised:
        act()
    assert all(note.startswith("nothing was changed; not made: ") for note in notes_of(raised.value))
    took = time.monotonic() - at[0]
    thread.join()
    assert signal.getsignal(signal.SIGINT) is handler
    require_end(spark, before)
    return took


def notes_of(error: BaseException) -> list[str]:
    """What an interrupt says of changes."""
    return list(getattr(error, "__notes__", []))


def require_end(spark: SparkSession, before: set[int]) -> None:
    """Wait for the jobs that are cancelled, and fail if some are not."""
    end = time.monotonic() + 10 * SECONDS
    while running_jobs(spark) - before:
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def stored(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A table and a folder with the old rows; gives the folder."""
    old = sd.read_virtual(OLD, COLUMNS)
    old.write("interrupted", "ctas").execute(spark)
    old.write(sd.files_target(tmp_path / "out", "parquet"), "ctas").execute(spark)
    yield tmp_path / "out"
    spark.sql("DROP TABLE interrupted")


def run_block(spark: SparkSession, out: Path) -> None:
    with slow(spark).running(spark) as frame:
        frame.collect()


def run_block_that_swallows(spark: SparkSession, out: Path) -> None:
    with slow(spark).running(spark) as frame:
        try:
            frame.collect()
        except Exception:
            return


REPLACE: Any = {"create_mode": "replace_if_exists"}
VERBS: dict[str, Callable[[SparkSession, Path], object]] = {
    "collect": lambda spark, out: slow(spark).collect(spark),
    "show": lambda spark, out: slow(spark).show(spark, TASKS),
    "insert": lambda spark, out: slow(spark).write("interrupted").execute(spark),
    "insert with records": lambda spark, out: (
        slow(spark).write("interrupted", output="modified_records").execute(spark)
    ),
    "ctas": lambda spark, out: slow(spark).write("interrupted_new", "ctas").execute(spark),
    "replace": lambda spark, out: slow(spark).write("interrupted", "ctas", **REPLACE).execute(spark),
    "replace by other columns": lambda spark, out: (
        slow(spark).rename(v="w").write("interrupted", "ctas", **REPLACE).execute(spark)
    ),
    "add files": lambda spark, out: slow(spark).write(sd.files_target(out, "parquet")).execute(spark),
    "replace files": lambda spark, out: (
        slow(spark).write(sd.files_target(out, "parquet"), "ctas", **REPLACE).execute(spark)
    ),
    "new files": lambda spark, out: (
        slow(spark).write(sd.files_target(out.with_name("new"), "orc"), "ctas").execute(spark)
    ),
    "running": run_block,
    "running, and the error is swallowed": run_block_that_swallows,
}


@pytest.mark.parametrize("verb", VERBS)
def test_an_interrupt(verb: str, stored: Path, spark: SparkSession) -> None:
    took = interrupted(spark, lambda: VERBS[verb](spark, stored))
    assert took < TASKS * SECONDS / 4
    assert Counter(map(tuple, spark.table("interrupted").collect())) == Counter(OLD)
    assert Counter(map(tuple, sd.read_files(stored, COLUMNS).collect(spark))) == Counter(OLD)
    assert [table.name for table in spark.catalog.listTables("default", "interrupted*")] == ["interrupted"]
    assert {*os.listdir(stored.parent)} - {STAGING} == {"out"}
    assert {name for name in os.listdir(stored) if name.startswith("_")} - {STAGING} == {"_SUCCESS"}
    old = sd.read_virtual(OLD, COLUMNS)
    old.write("interrupted").execute(spark)
    assert spark.table("interrupted").count() == 2 * len(OLD)
    # A task that ends late may still write to a staging folder that is removed; the next writes remove that.
    end = time.monotonic() + 10 * SECONDS
    while STAGING in {*os.listdir(stored), *os.listdir(stored.parent)}:
        assert time.monotonic() < end
        for target in (stored, stored.with_name("next")):
            shutil.rmtree(stored.with_name("next"), ignore_errors=True)
            old.write(sd.files_target(target, "parquet"), "ctas", create_mode="append_if_exists").execute(spark)


def test_other_jobs_go_on(spark: SparkSession) -> None:
    others: list[Any] = []
    other = threading.Thread(target=lambda: others.append(len(slow(spark, 8).collect(spark))))
    other.start()
    time.sleep(2 * SECONDS)
    interrupted(spark, lambda: slow(spark).collect(spark))
    other.join()
    assert others == [8]


def test_jobs_that_nobody_waits_for_at_the_end_of_a_block(spark: SparkSession) -> None:
    """By an exception of the program's, and without one."""
    if is_remote(spark):
        pytest.skip("which jobs of a server run, a client is not told")
    before = running_jobs(spark)
    with pytest.raises(ValueError, match="mine"):
        take_one(spark, ValueError("mine"))
    require_end(spark, before)
    take_one(spark)
    require_end(spark, before)


def take_one(spark: SparkSession, error: Exception | None = None) -> None:
    """Take one row of many in a block, while Spark computes the next ones."""
    with slow(spark).running(spark) as frame:
        next(frame.toLocalIterator(prefetchPartitions=True))
        if error is not None:
            raise error


def test_an_execution_that_fails_is_no_interrupt(spark: SparkSession) -> None:
    one: Any = sd.read_virtual([(1,)], {"a": "i64"})
    with pytest.raises(ExecutionError, match="division by zero"):
        one.select(a=lambda r: sd.functions.divide(sd.lit(1, sd.I64), r.a - 1)).collect(spark)


QUICK: Any = sd.read_virtual([(3, 3)], COLUMNS)


def rows_of(spark: SparkSession, name: str) -> list[Any]:
    return sorted(map(tuple, spark.table(name).collect()))


def rows_in(spark: SparkSession, path: Path, form: str = "parquet") -> list[Any]:
    return sorted(map(tuple, spark.read.format(form).load(str(path)).collect()))


NEW = [(3, 3)]
CHANGES: dict[str, tuple[Callable[[Any, Path], Any], Callable[[SparkSession, Path], object], object]] = {
    "insert": (
        lambda rows, out: rows.write("interrupted"),
        lambda spark, out: rows_of(spark, "interrupted"),
        [*OLD, *NEW],
    ),
    "ctas": (
        lambda rows, out: rows.write("interrupted_new", "ctas"),
        lambda spark, out: rows_of(spark, "interrupted_new"),
        NEW,
    ),
    "replace": (
        lambda rows, out: rows.write("interrupted", "ctas", **REPLACE),
        lambda spark, out: rows_of(spark, "interrupted"),
        NEW,
    ),
    "alter": (
        lambda rows, out: sd.alter_table("interrupted_new", {**COLUMNS, "new": "i64?"}),
        lambda spark, out: spark.table("interrupted_new").columns,
        ["id", "v", "new"],
    ),
    "view": (
        lambda rows, out: sd.create_view("interrupted_view", sd.read_named("interrupted", COLUMNS)),
        lambda spark, out: rows_of(spark, "interrupted_view"),
        NEW,
    ),
    "replace by other columns": (
        lambda rows, out: rows.rename(v="w").write("interrupted", "ctas", **REPLACE),
        lambda spark, out: (spark.table("interrupted").columns, rows_of(spark, "interrupted")),
        (["id", "w"], NEW),
    ),
    "drop": (
        lambda rows, out: sd.drop_table("interrupted_new"),
        lambda spark, out: spark.catalog.tableExists("interrupted_new"),
        False,
    ),
    "add files": (
        lambda rows, out: rows.write(sd.files_target(out, "parquet")),
        lambda spark, out: rows_in(spark, out),
        [*OLD, *NEW],
    ),
    "replace files": (
        lambda rows, out: rows.write(sd.files_target(out, "parquet"), "ctas", **REPLACE),
        lambda spark, out: rows_in(spark, out),
        NEW,
    ),
    "new files": (
        lambda rows, out: rows.write(sd.files_target(out.with_name("new"), "orc"), "ctas"),
        lambda spark, out: rows_in(spark, out.with_name("new"), "orc"),
        NEW,
    ),
}
"""Changes, each with what is to be seen of it, and what that is. They are made one after the other."""


def test_an_interrupt_while_a_change_becomes_visible(
    stored: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is raised when the change is made, and says so; the session sees what was made."""
    hold = Cancellation.hold_interrupts

    @contextmanager
    def hold_one(self: Cancellation, *, cancels: bool) -> Iterator[None]:
        with hold(self, cancels=cancels):
            os.kill(os.getpid(), signal.SIGINT)
            yield

    monkeypatch.setattr(Cancellation, "hold_interrupts", hold_one)
    for name, (change, see, right) in CHANGES.items():
        with pytest.raises(KeyboardInterrupt) as raised:
            change(QUICK, stored).execute(spark)
        assert [note.split(": ")[0] for note in notes_of(raised.value)] == ["made before the interrupt"], name
        assert see(spark, stored) == right, name
        assert STAGING not in {*os.listdir(stored), *os.listdir(stored.parent)}, name
    assert [table.name for table in spark.catalog.listTables("default", "interrupted*")] == [
        "interrupted",
        "interrupted_view",
    ]
    spark.sql("DROP VIEW interrupted_view")


def test_an_interrupt_while_a_change_fails(stored: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change is undone, the interrupt is raised, and says that nothing was changed."""

    def fail(self: LocalFiles, source: str, target: str) -> None:
        if "/rows" in source:
            os.kill(os.getpid(), signal.SIGINT)
            raise PermissionError(13, "Permission denied", source)
        os.rename(source, target)

    for name in ("insert", "add files", "new files"):
        with monkeypatch.context() as patch:
            for method in ("rename", "rename_folder"):
                patch.setattr(LocalFiles, method, fail)
            with pytest.raises(KeyboardInterrupt) as raised:
                CHANGES[name][0](QUICK, stored).execute(spark)
        assert [note.split("; ")[0] for note in notes_of(raised.value)] == ["nothing was changed"], name
    assert rows_of(spark, "interrupted") == rows_in(spark, stored) == OLD
    assert os.listdir(stored.parent) == ["out"]


def test_an_interrupt_after_changes_says_which_were_made(stored: Path, spark: SparkSession) -> None:
    """In the order of the plan, of whatever is done with its rows."""
    insert, add, drop = (CHANGES[name][0](QUICK, stored) for name in ("insert", "add files", "drop"))
    plan = sd.Plan(insert, add, slow(spark))

    def compute() -> None:
        with plan.running(spark) as frames:
            interrupt_later(spark)
            frames[-1].collect()

    with pytest.raises(KeyboardInterrupt) as raised:
        compute()
    (note,) = notes_of(raised.value)
    assert note == f'made before the interrupt: insert into table "interrupted", write to "file://{stored}"'
    QUICK.write("interrupted_new", "ctas").execute(spark)
    interrupt_later(spark)
    with pytest.raises(KeyboardInterrupt) as raised:
        sd.Plan(insert, slow(spark).write("interrupted"), drop).execute(spark)
    spark.sql("DROP TABLE interrupted_new")
    (note,) = notes_of(raised.value)
    into = 'insert into table "interrupted"'
    assert note == f'made before the interrupt: {into}; not made: {into}, drop of table "interrupted_new"'


def interrupt_later(spark: SparkSession) -> None:
    """Interrupt the main thread once tasks run that take long."""

    def interrupt() -> None:
        end = time.monotonic() + TASKS * SECONDS
        while not is_remote(spark) and time.monotonic() < end and not is_busy(spark):
            time.sleep(0.02)
        time.sleep(4 if is_remote(spark) else SECONDS)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()


def is_busy(spark: SparkSession) -> bool:
    tracker = spark.sparkContext.statusTracker()
    infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return any(info is not None and info.numTasks == TASKS for info in infos)
