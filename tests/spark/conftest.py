"""What the tests of Spark share."""

from __future__ import annotations

import pytest

from tests.spark.rows import DuckdbRows, duckdb_answer


@pytest.fixture
def duckdb_rows(duckdb: None) -> DuckdbRows:
    """What DuckDB answers to a query over tables: a second opinion."""
    return duckdb_answer
