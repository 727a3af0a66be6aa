"""The tables of the tests of evaluation."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NUMBERS = count()


@pytest.fixture(scope="package")
def database(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    spark.sql(f"CREATE DATABASE IF NOT EXISTS programs LOCATION '{tmp_path_factory.mktemp('programs')}'")
    return "programs"


@pytest.fixture
def name(database: str, spark: SparkSession) -> tuple[str, str]:
    """A table of one row, 1."""
    name = (database, f"t{next(_NUMBERS)}")
    spark.sql(f"CREATE TABLE {'.'.join(name)} USING parquet AS SELECT 1L AS a")
    return name
