"""The two engines of the tests that compare single relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.differential.engines import duckdb_engine, spark_engines

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session with the tables in Spark's cache."""
    return spark_engines(spark, tmp_path_factory.mktemp("tables"), [("cache", True)])[0]


@pytest.fixture(scope="module")
def connection(duckdb: None) -> duckdb.DuckDBPyConnection:
    """A database with the tables."""
    return duckdb_engine()
