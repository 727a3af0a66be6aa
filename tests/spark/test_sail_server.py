"""A server of Sail in a process of its own: its client gets rows, and is told of a pyspark that it does not know."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import substrait_dsl as sd
from examples.tpch import data
from examples.tpch.queries import QUERIES
from substrait_dsl import functions as f
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.spark.connect_server import LOCAL, find_free_port, wait_for_server
from tests.support import refused
from tests.tpch_answers import require_rows_of_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

PROGRAM = """
import sys
import pyspark
from pysail.spark import SparkConnectServer
pyspark.__version__ = sys.argv[2]
SparkConnectServer("127.0.0.1", int(sys.argv[1])).start(background=False)
"""
"""A server as `sail spark server` starts it, in an environment with a pyspark of some version."""


@contextmanager
def client_of_server(pyspark: str, folder: Path) -> Iterator[SparkSession]:
    """A client of a server in whose environment pyspark has a version."""
    from pyspark.sql.connect.session import SparkSession

    port, log = find_free_port(), folder / f"log-{pyspark}"
    with (
        log.open("wb") as output,
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(port), pyspark], stdout=output, stderr=output) as server,
    ):
        try:
            wait_for_server(port, server, log)
            session = SparkSession(f"sc://{LOCAL}:{port}")
            try:
                yield session  # type: ignore[misc]  # pyspark's two sessions are one to its users
            finally:
                session.client.close()  # first: a client whose server has gone waits for it
        finally:
            server.kill()


@pytest.fixture(scope="module")
def client(sail: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A client of a server; `sail` has loaded pyspark's client in a way that does not end the process."""
    with client_of_server("4.2.0", tmp_path_factory.mktemp("server")) as session:
        yield session


@pytest.mark.parametrize("name", ["q01", "q13", "q21"])
def test_queries_have_their_rows(
    name: str, client: SparkSession, tpch_folder: Path, tpch_in_duckdb: DuckDBPyConnection
) -> None:
    data.register_in_spark(client, tpch_folder)
    require_rows_of_query(name, QUERIES[name]().collect(client), tpch_in_duckdb)


def test_it_is_known_to_be_sail(client: SparkSession) -> None:
    rows = sd.read_virtual([(1, 0), (6, 3)], {"a": "i64", "b": "i64"})
    assert [
        tuple(row) for row in rows.filter(lambda r: r.b > 0).project(c=lambda r: f.divide(r.a, r.b)).collect(client)
    ] == [(6, 3, 2)]
    with refused(ExecutionError, "division by zero in a / b"):
        rows.project(c=lambda r: f.divide(r.a, r.b)).collect(client)
    with refused(UnsupportedError, "Sail cannot run a plan that changes something"):
        rows.write("t", "ctas").execute(client)


@pytest.mark.parametrize("pyspark", ["4.3.0", "5.0.1"])
def test_a_pyspark_that_the_server_does_not_know_is_named(pyspark: str, sail: SparkSession, tmp_path: Path) -> None:
    with client_of_server(pyspark, tmp_path) as client:
        for run in (sd.Relation.collect, sd.Relation.show, sd.Relation.execute):
            with refused(UnsupportedError, "does not know the pyspark", f"where it runs, {pyspark}", "pyspark-client"):
                run(sd.read_virtual([(1,)], {"a": "i64"}).aggregate(n=f.count()), client)
