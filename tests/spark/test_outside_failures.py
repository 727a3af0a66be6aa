"""What fails outside of a plan: Java, a table that is gone, a folder or a disk that takes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.relations import collecting
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

U = sd.read_virtual([(2, 1), (2, 2)], {"k": "i64", "v": "i64"})


@pytest.mark.parametrize(
    ("error", "lacks", "setting"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "Java ran out of memory", "spark.driver.memory"),
        ("java.lang.StackOverflowError", "Java ran out of stack", "-Xss"),
        (
            "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\nIt was created at:",
            "the session is stopped",
            "getOrCreate()",
        ),
    ],
)
def test_java_that_lacks_something(
    error: str, lacks: str, setting: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from py4j.protocol import Py4JError

    java = Py4JError(f"An error occurred while calling o5.collectToPython.\n: {error}\n\tat java.base/java.util.Arrays")
    monkeypatch.setattr(collecting, "collect_rows", Mock(side_effect=java))
    with refused(ExecutionError, f"collect: {lacks}", setting):
        U.collect(spark)
    spark.range(1).createOrReplaceTempView("some_numbers")
    monkeypatch.setattr(type(spark), "sql", Mock(side_effect=java))
    with refused(ExecutionError, f"execute: {lacks}", setting):
        sd.read_named("some_numbers", {"id": "i64"}).execute(spark)


def test_a_table_that_vanishes_while_it_is_used(spark: SparkSession) -> None:
    sd.read_virtual([(1,), (2,)], {"a": "i64"}).write("vanishing", "ctas").execute(spark)
    said = ("running: ", "(step: read vanishing)", "hint: what it reads was removed or replaced")
    with refused(ExecutionError, *said), sd.read_named("vanishing", {"a": "i64?"}).running(spark) as frame:
        spark.sql("DROP TABLE vanishing")
        frame.collect()


def test_where_nothing_may_be_written(spark: SparkSession) -> None:
    rows = sd.read_virtual([(1,)], {"a": "i64"})
    with refused(ExecutionError, 'execute: write to "file:///proc/nothing": no ', "/proc/"):  # what the system says
        rows.write(sd.files_target("/proc/nothing", "parquet"), "ctas").execute(spark)


def test_rows_that_do_not_get_to_spark(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """They go through a file in a folder that may be full; an error of the program's own output stays what it is."""
    from substrait_dsl.spark import execute

    def fails(error: OSError) -> None:
        monkeypatch.setattr(execute, "execute", lambda *_, **__: (_ for _ in ()).throw(error))

    fails(OSError(28, "No space left on device"))
    for verb in (U.collect, U.execute, U.show, sd.Plan(U).execute):
        with refused(ExecutionError, "the rows could not be transferred: no space left on device", "SPARK_LOCAL_DIRS"):
            verb(spark)
    fails(BrokenPipeError(32, "Broken pipe"))
    with pytest.raises(BrokenPipeError):
        U.show(spark)
