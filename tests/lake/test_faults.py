"""What fails in the middle leaves a table as it was, and two writers lose nothing to each other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from tests.lake.tables import COLUMNS, bag, new_table, snapshots, stored, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
BIG = 2**63 - 1
SMALL_WRITES = int(os.environ.get("LAKE_WRITES", "150"))
"""How many rows are written one by one: enough for Iceberg to have put its lists of files together once.

Each takes as long as the one before. Set ``LAKE_WRITES=1000`` for as many as a long day has.
"""
ROWS: list[tuple[Any, ...]] = [(number, "a", 1.0) for number in range(1, 40)]


def failing(rows: list[tuple[Any, ...]]) -> Any:
    """Rows of which the last, in a task of its own, cannot be computed."""
    read: Any = sd.read_virtual([*rows, (BIG, "a", 1.0)], COLUMNS)
    spread = read.exchange(sd.round_robin(), partition_count=4)
    return spread.select("name", "price", id=lambda r: r.id + 1).select("id", "name", "price")


Make = Callable[[tuple[str, ...]], Any]

FAILURES: dict[str, Make] = {
    "insert": lambda name: failing(ROWS).write(name),
    "insert with records": lambda name: failing(ROWS).write(name, output="modified_records"),
    "delete": lambda name: failing(ROWS).write(name, "delete"),
    "update by key": lambda name: failing(ROWS).write(name, "update"),
    "update": lambda name: sd.update(name, COLUMNS, {"id": lambda r: r.id + (BIG - 20)}, where=lambda r: r.id > 2),
    "condition": lambda name: sd.update(name, COLUMNS, {"id": 1}, where=lambda r: r.id + (BIG - 20) > 3),
    "replace": lambda name: failing(ROWS).write(name, "ctas", create_mode="replace_if_exists"),
    "append": lambda name: failing(ROWS).write(name, "ctas", create_mode="append_if_exists"),
}


@pytest.mark.parametrize("make", FAILURES.values(), ids=FAILURES)
def test_a_task_that_fails_changes_nothing(make: Make, spark: SparkSession) -> None:
    name = new_table(spark, ROWS)
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET IDENTIFIER FIELDS id")
    before = snapshots(spark, name)
    with pytest.raises(ExecutionError, match="overflow in id"):
        make(name).execute(spark)
    second = spark.newSession()
    assert stored(second, name) == bag(ROWS)
    assert snapshots(second, name) == before


def test_a_new_table_that_fails_is_not_there(spark: SparkSession) -> None:
    name = ("lake", "db", "never_made")
    with pytest.raises(ExecutionError, match="overflow in id"):
        failing(ROWS).write(name, "ctas").execute(spark)
    assert not spark.newSession().catalog.tableExists(".".join(name))


WRITER = """
import sys
from pyspark.sql import SparkSession
import substrait_dsl as sd
from substrait_dsl.spark.session.local import SETTINGS, local_session
from tests.lake.environment import SETTINGS as LAKE

SETTINGS.update(LAKE, **{"spark.sql.catalog.lake.warehouse": sys.argv[1]})
spark = local_session()
spark.range(30_000_000).createOrReplaceTempView("numbers")
rows = sd.read_named("numbers", {"id": "i64"})
many = rows.select("id", name=lambda r: sd.functions.concat(r.id.cast(sd.String), "x"), price=1.0)
print("begins", flush=True)
many.write(sys.argv[2].split("."), "insert").execute(spark)
"""


def test_a_writer_that_is_killed_changes_nothing(spark: SparkSession) -> None:
    name = new_table(spark, ROWS)
    warehouse = Path(str(spark.conf.get("spark.sql.catalog.lake.warehouse")))
    data = warehouse.joinpath(*name[1:], "data")
    before = set(data.iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(warehouse), ".".join(name)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(ROOT)])},
        text=True,
        start_new_session=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begins\n"
        while writer.poll() is None and set(data.iterdir()) == before:  # until rows are on their way to a file
            threading.Event().wait(0.05)
        assert writer.poll() is None, "it was still writing"
        os.killpg(writer.pid, signal.SIGKILL)
    assert stored(spark, name) == bag(ROWS)
    assert len(snapshots(spark, name)) == 1
    values([(0, "after", None)]).write(name).execute(spark)
    assert stored(spark, name) == bag([*ROWS, (0, "after", None)])


def test_two_writers_add_rows_at_once(spark: SparkSession) -> None:
    name = new_table(spark, [])
    failed: list[BaseException] = []

    def add(writer: int) -> None:
        try:
            for number in range(5):
                values([(writer * 100 + number, None, None)]).write(name).execute(spark)
        except BaseException as error:  # told by the thread that waits
            failed.append(error)

    writers = [threading.Thread(target=add, args=(number,)) for number in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not failed
    # Iceberg keeps a table for the session, and of two threads that look for its newest state the later may be behind.
    spark.catalog.refreshTable(".".join(name))
    assert stored(spark, name) == bag((writer * 100 + number, None, None) for writer in range(2) for number in range(5))


def test_of_two_that_change_the_same_rows_one_is_told(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 0.0)])
    stop = threading.Event()
    others = 0

    def other() -> None:
        nonlocal others
        while not stop.is_set():
            try:
                spark.sql(f"UPDATE {'.'.join(name)} SET price = price + 1")
            except Exception as error:
                if "Found conflicting files" not in str(error):  # it may be the second, too
                    raise
            else:
                others += 1

    thread = threading.Thread(target=other)
    thread.start()
    made = 0
    told: list[str] = []
    try:
        while not told:
            try:
                made += sd.update(name, COLUMNS, {"price": lambda r: r.price + 1.0}, where=True).collect(spark)[0][0]
            except ExecutionError as error:
                told.append(str(error))
    finally:
        stop.set()
        thread.join()
    assert "another writer has changed the same table" in told[0]
    assert stored(spark, name) == bag([(1, "a", float(made + others))]), "nothing was lost"


def test_two_threads_of_one_session_are_told_of_their_own_changes(spark: SparkSession) -> None:
    name = new_table(spark, [(number, None, None) for number in range(8)])
    told: list[int] = []
    counted: list[int] = []

    def delete(first: int) -> None:
        for number in range(first, 4, 2):
            rows = values([(number, None, None)]).write(name, "delete", output="modified_records").collect(spark)
            told.extend(row[0] for row in rows)
            changed = sd.update(name, COLUMNS, {"name": "x"}, sd.col("id") == number + 4)
            counted.append(changed.collect(spark)[0][0])

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(delete, (0, 1)))
    assert sorted(told) == [0, 1, 2, 3]
    assert counted == [1, 1, 1, 1]
    assert stored(spark, name) == bag([(number, "x", None) for number in range(4, 8)])


def test_many_small_writes(spark: SparkSession) -> None:
    name = new_table(spark, [])
    row = sd.read_virtual([(1, "a", 1.0)], COLUMNS).write(name)
    for _ in range(SMALL_WRITES):
        row.execute(spark)
    assert stored(spark, name) == {(1, "a", 1.0): SMALL_WRITES}
