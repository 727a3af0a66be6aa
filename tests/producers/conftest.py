"""What the tests of producers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.producers.environment import tpcds_folder


@pytest.fixture(scope="session")
def ibis_cache(pytestconfig: pytest.Config) -> Path:
    """A folder for ibis, which is installed there once."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("ibis")


@pytest.fixture(scope="session")
def isthmus_cache(pytestconfig: pytest.Config) -> Path:
    """A folder for the jars of Isthmus, which are fetched once."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("isthmus")


@pytest.fixture(scope="session")
def duckdb_cache(pytestconfig: pytest.Config) -> Path:
    """A folder for DuckDB 1.1.3, which is installed there once."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("duckdb")


@pytest.fixture(scope="session")
def tpcds(pytestconfig: pytest.Config) -> Path:
    """The folder with the tables and the queries of TPC-DS."""
    assert pytestconfig.cache is not None
    return tpcds_folder(pytestconfig.cache.mkdir("tpcds"))
