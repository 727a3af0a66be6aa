"""Ctrl-C in the middle of an execution: its jobs are cancelled, nothing is changed, and the interrupt is raised."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.commits import STAGING
from substrait_dsl.spark.workspace import is_remote

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
    with pytest.raises(KeyboardInterrupt):
        act()
    took = time.monotonic() - at[0]
    thread.join()
    assert signal.getsignal(signal.SIGINT) is handler
    require_end(spark, before)
    return took


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
    # A server may still write to a staging folder when its client has removed that.
    left = {STAGING} if is_remote(spark) else set()
    assert {*os.listdir(stored.parent)} - left == {"out"}
    assert {name for name in os.listdir(stored) if name.startswith("_")} - left == {"_SUCCESS"}
    sd.read_virtual(OLD, COLUMNS).write("interrupted").execute(spark)
    assert spark.table("interrupted").count() == 2 * len(OLD)


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
        one.select(a=lambda r: sd.lit(1, sd.I64) / (r.a - 1)).collect(spark)
