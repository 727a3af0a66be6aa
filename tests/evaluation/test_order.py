"""The trees of a plan are evaluated in order: random plans over Spark's own tables, against an interpreter."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.evaluation.programs import Name, Programs, check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLANS = 40
TABLES: list[Name] = [("in_order", "t1"), ("in_order", "t2")]
VIEWS: dict[Name, Name] = {("in_order", "view_of_t1"): TABLES[0]}


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two tables, and a view of the first."""
    folder: Path = tmp_path_factory.mktemp("in_order")
    spark.sql(f"CREATE DATABASE IF NOT EXISTS in_order LOCATION '{folder}'")
    for name in TABLES:
        spark.sql(f"CREATE TABLE {'.'.join(name)} (k BIGINT, v BIGINT) USING parquet")
    for view, name in VIEWS.items():
        spark.sql(f"CREATE VIEW {'.'.join(view)} AS SELECT * FROM {'.'.join(name)}")


@pytest.mark.parametrize("seed", range(PLANS))
@pytest.mark.usefixtures("tables")
def test_random_plans(seed: int, spark: SparkSession) -> None:
    programs = Programs(Random(seed), TABLES, VIEWS, changes_rows=False)
    assert check(programs, TABLES, VIEWS, spark) is None
