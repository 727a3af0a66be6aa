"""Engines with the tables of random pipelines: DuckDB, the judge, DataFusion, and those in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import substrait_dsl as sd
from tests.differential.engines import duckdb_engine
from tests.engines.processes import Engine
from tests.engines.runners import with_random_tables
from tests.producers.environment import DUCKDB_SUBSTRAIT, installed

if TYPE_CHECKING:
    from datafusion import SessionContext
    from duckdb import DuckDBPyConnection

FOLDER = "SUBSTRAIT_DSL_DUCKDB"
"""The variable that names a folder with the packages of DuckDB 1.1.3 and its Substrait extension."""


@pytest.fixture(scope="module")
def connection(duckdb: None) -> DuckDBPyConnection:
    """DuckDB with the tables."""
    return duckdb_engine()


@pytest.fixture(scope="module")
def context(datafusion: None) -> SessionContext:
    """DataFusion with the tables."""
    return with_random_tables()


@pytest.fixture(scope="session")
def duckdb_substrait(pytestconfig: pytest.Config) -> Iterator[Engine]:
    """DuckDB 1.1.3, whose packages are installed aside once, unless a variable says where they are."""
    given = os.environ.get(FOLDER)
    packages = Path(given) if given else installed(_folder(pytestconfig), DUCKDB_SUBSTRAIT, "--no-deps")
    with Engine("duckdb", packages) as engine:
        yield engine


def _folder(config: pytest.Config) -> Path:
    assert config.cache is not None
    return config.cache.mkdir("duckdb") / "duckdb-1.1.3"


@pytest.fixture(scope="session")
def acero() -> Iterator[Engine]:
    """Pyarrow's engine, with the functions of the library; the process that writes its plans has them, too."""
    sd.register_acero_functions()
    with Engine("acero") as engine:
        yield engine
