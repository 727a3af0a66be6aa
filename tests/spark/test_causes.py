"""The last cause of what fails on Spark: from the bottom of Java's stack, and from the system. Nothing here runs."""

from __future__ import annotations

from typing import Any

import pytest

from substrait_dsl.algebra.expressions import ScalarFunction
from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.diagnostics.error_locations import locate_failure, locate_missing_tables
from substrait_dsl.spark.diagnostics.explanations import describe_failure
from substrait_dsl.spark.session.causes import last_cause, system_words, with_cause
from substrait_dsl.spark.session.failures import Failure, failure_of, message_of
from substrait_dsl.spark.session.source_map import Record
from tests.support import table

WRITE = """\
An error occurred while calling o12.sql.
: org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows to file:/data/t. SQLSTATE: 58030
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.taskFailedWhileWritingRowsError(QueryExecutionErrors.scala:774)
Caused by: org.apache.parquet.util.AutoCloseables$ParquetCloseResourceException: Unable to close resource
\tat org.apache.parquet.hadoop.ParquetFileWriter.close(ParquetFileWriter.java:1)
Caused by: {}
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\t... 31 more
"""
ABORTED = """\
An error occurred while calling o12.sql.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 2.0 failed 1 times, most recent \
failure: Lost task 1.0 in stage 2.0 (TID 9) (localhost executor driver): {}
\tat org.apache.parquet.hadoop.util.HadoopOutputFile.create(HadoopOutputFile.java:74)

Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:3040)
Caused by: {}
\tat org.apache.hadoop.fs.ChecksumFileSystem.create(ChecksumFileSystem.java:505)
"""
MKDIRS = "java.io.IOException: Mkdirs failed to create file:/data/t/_temporary/0/_temporary/attempt_1 (exists=false)"


def raised(text: str) -> Exception:
    """What py4j raises, by what it says."""
    protocol = pytest.importorskip("py4j.protocol")

    class Raised(protocol.Py4JError):  # type: ignore[misc,name-defined]  # what it extends is imported here
        def __str__(self) -> str:
            return text

    return Raised()


@pytest.mark.parametrize(
    ("bottom", "words"),
    [
        ("java.io.IOException: No space left on device", ": No space left on device"),
        ("org.apache.hadoop.fs.FSError: java.io.IOException: Disk quota exceeded", ": Disk quota exceeded"),
        ("java.io.FileNotFoundException: /data/t/x (Permission denied)", ": /data/t/x (Permission denied)"),
        ("java.nio.file.AccessDeniedException: /data/t/x", ": permission denied: /data/t/x"),
        ("java.nio.file.FileSystemException: /data/t: Read-only file system", ": /data/t: Read-only file system"),
        ("java.net.ConnectException: Connection refused", ": Connection refused"),
        ("java.lang.OutOfMemoryError: Java heap space", ": Java ran out of memory"),
        (MKDIRS, ": no folder can be made in /data/t: it may not be written to"),
        ("java.lang.IllegalStateException: whatever", ""),  # of Spark's own, which does not say more
    ],
)
def test_a_write_tells_the_last_cause(bottom: str, words: str) -> None:
    assert message_of(raised(WRITE.format(bottom))) == f"Task failed while writing rows to file:/data/t{words}"


def test_a_task_is_not_told_by_its_number() -> None:
    said = message_of(raised(ABORTED.format(MKDIRS, MKDIRS)))
    assert said == "no folder can be made in /data/t: it may not be written to"
    said = message_of(raised(ABORTED.format(*["java.io.IOException: Disk quota exceeded"] * 2)))
    assert said == "Disk quota exceeded"


def test_a_cause_is_not_said_twice() -> None:
    assert with_cause("it ended: Connection refused", "Connection refused") == "it ended: Connection refused"
    assert with_cause("File does not exist", "File file:/x does not exist") == "File does not exist"
    assert with_cause("it ended", None) == "it ended"


def test_errors_of_the_system() -> None:
    assert last_cause(OSError(28, "No space left on device")) == "no space left on device"
    assert system_words(PermissionError(13, "Permission denied", "/x/y")) == 'permission denied: "/x/y"'
    assert system_words(OSError("timed out")) == "timed out"
    assert system_words(ConnectionResetError()) == "ConnectionResetError"
    assert last_cause(ValueError("no")) is None


@pytest.mark.parametrize(
    "text",
    [
        ABORTED.format(*["java.lang.ArithmeticException: Division impossible"] * 2),
        WRITE.format("java.lang.ArithmeticException: Division impossible"),
    ],
)
def test_what_java_cannot_compute_has_its_place(text: str) -> None:
    rel = table("a: decimal<38,0>, b: decimal<38,38>").project(m=lambda r: r.a % r.b)
    node = rel._rel.children()[1]
    assert isinstance(node, ScalarFunction)
    record = Record(rel._rel)
    record.written.append((node, {id(node): "(c0 % c1)"}))
    failure = failure_of(raised(text))
    assert isinstance(failure, Failure)
    (place,) = locate_failure(failure, record)
    assert place.node is node
    assert (
        describe_failure(failure, place, record)
        == "a remainder cannot be computed, as the whole quotient has too many digits"
    )


def test_a_table_that_is_looked_up_again_and_gone() -> None:
    """As a client of Spark Connect does each time; a table of another name is not the plan's."""
    record = Record(table("a: i64", "Orders")._rel)
    frame: Any = None  # which is not asked
    for name, found in (("`orders`", 1), ("`spark_catalog`.`default`.`orders`", 1), ("`other`", 0), ("", 0)):
        failure = Failure("TABLE_OR_VIEW_NOT_FOUND", "", {"relationName": name})
        assert len(locate_missing_tables(failure, record, frame)) == found
    (place,) = locate_missing_tables(Failure("TABLE_OR_VIEW_NOT_FOUND", "", {"relationName": "orders"}), record, frame)
    assert (
        describe_failure(Failure("TABLE_OR_VIEW_NOT_FOUND", "", {}), place, record) == "the table is not there any more"
    )


def test_the_stack_of_a_client_is_no_part_of_what_it_says() -> None:
    errors = pytest.importorskip("pyspark.errors")
    error = errors.ArithmeticException(
        "Division impossible\n\nJVM stacktrace:\njava.lang.ArithmeticException\n\tat java.X"
    )
    assert message_of(error) == "a remainder cannot be computed, as the whole quotient has too many digits"
    other = errors.ArithmeticException("BigInteger out of range\n\nJVM stacktrace:\njava.lang.ArithmeticException")
    assert message_of(other) == "Java cannot compute a number: BigInteger out of range"


def test_a_session_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    from substrait_dsl.spark.session import local

    def fails(error: OSError) -> None:
        monkeypatch.setattr(local, "_start", lambda name: (_ for _ in ()).throw(error))

    monkeypatch.setattr(sql.SparkSession, "getActiveSession", lambda: None)
    fails(OSError(28, "No space left on device", "/x/blockmgr"))
    with pytest.raises(ExecutionError, match='Spark does not start: no space left on device: "/x/blockmgr"') as caught:
        local.local_session()
    assert "SPARK_LOCAL_DIRS" in (caught.value.hint or "")
    fails(PermissionError(13, "Permission denied", "/home/x"))
    with pytest.raises(ExecutionError, match='Spark does not start: permission denied: "/home/x"'):
        local.local_session()
