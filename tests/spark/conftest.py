"""What the tests of Spark share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from substrait_dsl.spark.embedded import embedded_session
from tests.spark.rows import DuckdbRows, duckdb_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def sail() -> SparkSession:
    """A session of Sail, the embedded engine; there is one in a process."""
    return embedded_session()


@pytest.fixture
def duckdb_rows(duckdb: None) -> DuckdbRows:
    """What DuckDB answers to a query over tables: a second opinion."""
    return duckdb_answer
