"""What the tests of producers share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples.tpch import data
from examples.tpch.schemas import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
def go_cache(pytestconfig: pytest.Config) -> Path:
    """A folder for Go and substrait-go, which are installed there once."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("go")


@pytest.fixture(scope="session")
def explain_cache(pytestconfig: pytest.Config) -> Path:
    """A folder for substrait-explain, which is built there once."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("explain")


@pytest.fixture(scope="session")
def validator_cache(pytestconfig: pytest.Config) -> Path:
    """A folder for substrait-validator, which is installed there once."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("validator")


@pytest.fixture(scope="module")
def tpch(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with the tables of TPC-H, which are views of the session as long as the tests of a module run."""
    folder = tmp_path_factory.mktemp("tpch")
    data.generate(folder, 0.01)
    for name in TABLES:
        spark.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
    yield folder
    for name in TABLES:
        spark.catalog.dropTempView(name)
