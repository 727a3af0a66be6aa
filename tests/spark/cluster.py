"""A standalone Spark cluster on this machine, a master and two workers, and a session whose executors are there."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyspark

from substrait_dsl.spark.session.local import SETTINGS, java_environment
from tests.conftest import SETTINGS as TESTS
from tests.spark.connect_server import GUARD, LOCAL, MAX_SECONDS, find_free_port

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKERS = 2

NO_PYTHON = "there-is-no-python-on-the-workers"
"""What executors would start for code in Python: so it fails if a plan has such code."""


@contextmanager
def cluster_session() -> Iterator[SparkSession]:
    """A session on a cluster of its own, with the settings of the tests' session."""
    from pyspark.sql import SparkSession

    os.environ.update(java_environment())
    os.environ["SPARK_LOCAL_IP"] = LOCAL
    os.environ["PYSPARK_PYTHON"] = NO_PYTHON
    with TemporaryDirectory() as folder, _cluster(Path(folder)) as address:
        settings = {
            **SETTINGS,
            **TESTS,
            "spark.executor.memory": "1g",
            "spark.executor.cores": "1",
            "spark.executor.extraJavaOptions": "-Xss16m",
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
        }
        builder = SparkSession.builder.master(address).appName("substrait-dsl tests")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("FATAL")
        _wait_for_executors(session)
        yield session
        session.stop()


@contextmanager
def _cluster(folder: Path) -> Iterator[str]:
    """Start a master and its workers, which keep their files in a folder; gives the address of the master."""
    port, page = find_free_port(), find_free_port()
    address = f"spark://{LOCAL}:{port}"
    with ExitStack() as stack:
        arguments = ["--host", LOCAL, "--port", str(port), "--webui-port", str(page)]
        stack.enter_context(_java("master.Master", arguments, folder / "master"))
        _wait_for_page(f"http://{LOCAL}:{page}/json/", folder / "master")
        for number in range(WORKERS):
            files = folder / f"worker{number}"
            arguments = [
                "--host",
                LOCAL,
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(files),
                "--webui-port",
                "0",
            ]
            stack.enter_context(_java("worker.Worker", [*arguments, address], files))
        yield address


@contextmanager
def _java(name: str, arguments: list[str], folder: Path) -> Iterator[None]:
    """Run a class of Spark's package ``deploy`` until the block ends, or this process does."""
    folder.mkdir()
    home = Path(pyspark.__file__).parent
    environment: Mapping[str, str] = {**os.environ, "SPARK_HOME": str(home), "SPARK_NO_DAEMONIZE": "1"}
    script = home / "bin" / "spark-class"
    command = ["sh", "-c", GUARD, "sh", str(script), f"org.apache.spark.deploy.{name}", *arguments]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, cwd=folder) as guard,
    ):
        try:
            yield
        finally:
            assert guard.stdin is not None
            guard.stdin.close()


def _wait_for_page(page: str, folder: Path) -> None:
    """Return when the master answers; fail with what it said, if it does not."""
    end = time.monotonic() + MAX_SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(page, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"the master does not start:\n{(folder / 'log').read_text()[-4000:]}")


def _wait_for_executors(spark: SparkSession) -> None:
    """Return when each worker runs an executor, so that no test runs on one of them alone."""
    end = time.monotonic() + MAX_SECONDS
    java = spark.sparkContext._jsc
    assert java is not None
    while java.sc().getExecutorMemoryStatus().size() < WORKERS + 1:  # the driver is one of them
        assert time.monotonic() < end, "the workers run no executors"
        time.sleep(0.2)
