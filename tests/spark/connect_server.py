"""A Spark Connect server on this machine, in a process of its own, and a session that is its client."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pyspark

from substrait_dsl.spark.session.local import SETTINGS, java_environment
from tests.conftest import SETTINGS as TESTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "127.0.0.1"
MAX_SECONDS = 300
"""How long a server may take to start on a machine that is busy."""

GUARD = '"$@" & server=$!; cat; kill -9 $server'
"""Ends the server when the input of this shell ends: so it does, too, when the process that holds it is killed."""


@contextmanager
def connect_session() -> Iterator[SparkSession]:
    """A client of a server of its own, which has the settings of the tests' session."""
    from pyspark.sql import SparkSession

    with TemporaryDirectory() as folder, _server(Path(folder)) as address:
        session = SparkSession.builder.remote(address).getOrCreate()
        yield session
        session.stop()  # first: a client whose server has gone waits for it


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    """Start a server that keeps its files in a folder; gives its address."""
    home = Path(pyspark.__file__).parent
    port = find_free_port()
    settings = {
        **SETTINGS,
        **TESTS,
        "spark.master": "local[*]",
        "spark.local.dir": str(folder),
        "spark.connect.grpc.binding.address": LOCAL,
        "spark.connect.grpc.binding.port": str(port),
    }
    command = [
        *("sh", "-c", GUARD, "sh", str(home / "bin" / "spark-submit")),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *(word for setting in settings.items() for word in ("--conf", "=".join(setting))),
        "spark-internal",
    ]
    environment = {**os.environ, **java_environment(), "SPARK_LOCAL_IP": LOCAL, "SPARK_HOME": str(home)}
    log = folder / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=output, stderr=output, env=environment, cwd=folder
        ) as guard,
    ):
        try:
            wait_for_server(port, guard, log)
            yield f"sc://{LOCAL}:{port}"
        finally:
            assert guard.stdin is not None
            guard.stdin.close()


def find_free_port() -> int:
    """Find a port of this machine that nobody listens at."""
    with socket.socket() as found:
        found.bind((LOCAL, 0))
        return int(found.getsockname()[1])


def wait_for_server(port: int, guard: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server answers; fail with what it said, if it does not."""
    end = time.monotonic() + MAX_SECONDS
    while time.monotonic() < end and guard.poll() is None:
        try:
            socket.create_connection((LOCAL, port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError(f"the server of Spark Connect does not start:\n{log.read_text()[-4000:]}")
