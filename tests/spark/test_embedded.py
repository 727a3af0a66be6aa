"""The embedded engine: a session in the process without Java. Each program runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions

import substrait_dsl as sd
from substrait_dsl import demo
from substrait_dsl.errors import ExecutionError, InvalidChoiceError, UnsupportedError
from substrait_dsl.spark.session import embedded, versions
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.local import local_session
from substrait_dsl.spark.session.servers import Server, server_of
from substrait_dsl.spark.session.versions import require_supported
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = """
import substrait_dsl as sd
from substrait_dsl.spark.session import local_session
spark = local_session(engine='sail')
rows = sd.read_virtual([(1, "a"), (2, None)], {"k": "i64", "s": "string?"}).filter(lambda r: r.k > 0).sort(sd.desc("k"))
"""
SECONDS = 60
"""What a program may take on a machine that does much else; it takes two seconds."""


def output(program: str, *, start: str = START) -> str:
    """What a program prints on the standard output; on the other it prints nothing."""
    command = [sys.executable, "-c", start + program]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (result.stderr, result.returncode) == ("", 0)
    return result.stdout


def test_rows_without_another_word_and_one_session_in_all_threads() -> None:
    program = """
import os, sys, threading
print(rows.collect(spark))
found = []
threads = [threading.Thread(target=lambda: found.append(local_session(engine="sail"))) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print([each is spark for each in found])
print(spark.conf.get("spark.sql.ansi.enabled"), spark.conf.get("spark.sql.session.timeZone"))
print("pyspark.testing.sqlutils" in sys.modules, hasattr(sys.modules["__main__"], "__file__"))
print("SPARK_CONNECT_MODE_ENABLED" in os.environ, "SAIL_SPARK__SESSION_TIMEOUT_SECS" in os.environ)
"""
    assert output(program).splitlines() == [
        "[Row(k=2, s=None), Row(k=1, s='a')]",
        "[True, True, True, True]",
        "true UTC",
        "False False",  # a program without a file is none of pyspark's tests, which want Spark
        "False False",
    ]


DEMONSTRATION = [
    ("US", "Grace", 1, "225.0000", 0),  # 300 less a quarter
    ("GB", "Ada", 2, "188.5000", 0),  # 120 less a tenth, and 80.50
    ("NULL", "Jim", 1, "10.0000", 0),
    ("US", "NULL", 1, "225.0000", 1),
    ("GB", "NULL", 2, "188.5000", 1),
    ("NULL", "NULL", 1, "10.0000", 1),
    ("NULL", "NULL", 4, "423.5000", 2),
]


def test_the_demonstration_runs_on_it_without_java_and_prints_nothing_else() -> None:
    command = [sys.executable, "-m", "substrait_dsl.cli", "demo"]
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment["PATH"] = os.path.dirname(sys.executable)
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=SECONDS)
    assert result.stderr == ""
    _, heading, rows = result.stdout.rpartition(
        "Its rows, from the embedded engine\n----------------------------------\n"
    )
    assert heading
    cells = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in rows.splitlines() if "|" in line]
    assert cells[1:] == [tuple(map(str, row)) for row in DEMONSTRATION]


def test_threads_that_ask_first_at_the_same_time_get_one_session() -> None:
    program = """
import threading
from substrait_dsl.spark.session.embedded import embedded_session
found, barrier = [], threading.Barrier(4)
def ask():
    barrier.wait()
    found.append(embedded_session())
threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), len(set(map(id, found))))
"""
    assert output(program, start="") == "4 1\n"


def test_a_session_after_one_that_was_stopped_has_none_of_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = """
spark.sql("SELECT 1 AS k").createOrReplaceTempView("v")
spark.sql("CREATE TABLE t AS SELECT 1 AS k")
print(sd.read_named("t", {"k": "i32?"}).collect())
spark.stop()
again = local_session(engine="sail")
print(again is spark, [again.catalog.tableExists(name) for name in ("v", "t")], len(rows.collect(again)))
again.sql("CREATE TABLE t AS SELECT 2 AS k")
"""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert output(program) == "[Row(k=1)]\nFalse [False, False] 2\n"
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_others_have_stopped_starts_anew() -> None:
    program = """
from substrait_dsl.spark.session import embedded
spark.stop()
embedded._servers[0].stop()
print(len(rows.collect(local_session(engine="sail"))))
"""
    assert output(program) == "2\n"


@pytest.mark.parametrize("end", ["", "sys.exit()", "os._exit(0)"])
def test_a_process_that_is_forked_says_that_it_has_none_and_ends(end: str) -> None:
    program = f"""
import os, sys
from substrait_dsl.errors import ExecutionError
if (child := os.fork()) == 0:
    try:
        local_session(engine="sail")
    except ExecutionError as error:
        print(error.message.replace(str(os.getppid()), "N"), flush=True)
    {end}
else:
    print(os.waitpid(child, 0)[1], len(rows.collect(spark)))
"""
    said, ended = output(program).splitlines()
    assert said.startswith("this process was forked from process N, in which the embedded engine ran")
    assert ended == "0 2"


def test_a_process_that_is_forked_before_starts_its_own() -> None:
    program = """
import os
from substrait_dsl.spark.session import local_session
if (child := os.fork()) == 0:
    print(local_session(engine="sail").sql("SELECT 2").collect()[0][0])
else:
    print(os.waitpid(child, 0)[1], local_session(engine="sail").sql("SELECT 3").collect()[0][0])
"""
    assert output(program, start="") == "2\n0 3\n"


def test_it_runs_beside_another_session_in_one_process(spark: SparkSession) -> None:
    """In turns; neither is taken for the other, and pyspark's functions stay those of the other."""
    rows = sd.read_virtual([(1, "a"), (2, None)], {"k": "i64", "s": "string?"}).sort(sd.desc("k"))
    embedded_one = local_session(engine="sail")
    frames = [rows.execute(session) for session in (embedded_one, spark, embedded_one)]
    assert [frame.collect() for frame in frames] == [[(2, None), (1, "a")]] * 3
    assert embedded_one is local_session(engine="sail")
    assert (server_of(embedded_one).engine, server_of(spark).engine) == ("sail", "spark")
    assert spark.range(1).select(functions.col("id") + 1).collect() == [(1,)]
    if not is_remote(spark):
        assert local_session() is spark
    embedded_one.stop()
    assert rows.collect(spark) == rows.collect(local_session(engine="sail"))


def test_processes_start_while_it_computes() -> None:
    program = """
import subprocess, threading
def compute():
    for _ in range(20):
        rows.collect(spark)
threads = [threading.Thread(target=compute) for _ in range(2)]
for thread in threads: thread.start()
print({subprocess.run(["true"], preexec_fn=lambda: None).returncode for _ in range(20)})
for thread in threads: thread.join()
"""
    assert output(program) == "{0}\n"


def test_its_session_stays_though_nobody_asks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sail forgets a session that is idle, after as many seconds as the environment says, or else the library."""
    assert int(embedded._ENVIRONMENT["SAIL_SPARK__SESSION_TIMEOUT_SECS"]) > 365 * 24 * 3600
    monkeypatch.setenv("SAIL_SPARK__SESSION_TIMEOUT_SECS", "1")
    command = [sys.executable, "-c", START + "import time; time.sleep(2.5); rows.collect(spark)"]
    assert "is not running" in subprocess.run(command, capture_output=True, text=True, timeout=SECONDS).stderr


@pytest.mark.parametrize(
    ("package", "line"),
    [
        ("pyspark-client", '[local]"'),
        ("none", '[local]"'),
        ("pyspark", '[connect]" "pysail>=0.7.2,<0.8"'),  # its client would replace its files
    ],
)
def test_an_engine_that_is_not_installed(package: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_find_installed_version", {package: "4.2.0"}.get)
    monkeypatch.setitem(sys.modules, "pysail.spark", None)
    monkeypatch.setattr(embedded, "_sessions", [])
    with refused(ExecutionError, "Sail, is not installed", line):
        local_session(engine="sail")


def test_another_engine_is_refused() -> None:
    engine: Any = "duckdb"
    with refused(InvalidChoiceError, "duckdb", "spark", "sail"):
        local_session(engine=engine)


@pytest.mark.parametrize("version", ["0.6.9", "0.8.0", "1.7.0"])
def test_other_versions_of_sail_are_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "server_of", lambda spark: Server("sail", version))
    session: Any = None
    with refused(UnsupportedError, f"plans run on Sail 0.7, and this one is {version}"):
        require_supported(session)


@pytest.mark.parametrize(
    ("installed", "engine"),
    [((), "sail"), (("pyspark",), "spark"), (("pysail",), "sail"), (("pysail", "pyspark"), "sail")],
)
def test_the_engine_of_the_demonstration(
    installed: tuple[str, ...], engine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without any engine the error is of the embedded one, whose line installs it."""
    started = []

    def start(name: str, *, engine: str) -> None:
        started.append(engine)
        raise ExecutionError("not here")

    monkeypatch.setattr(demo, "find_spec", lambda name: name if name in installed else None)
    monkeypatch.setattr("substrait_dsl.spark.session.local.local_session", start)
    with refused(ExecutionError, "not here"):
        demo.run()
    assert started == [engine]
