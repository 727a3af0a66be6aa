"""The functions for everyday work on Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from tests.test_everyday import json_is_right, rows_are_right


def test_rows(spark: SparkSession) -> None:
    rows_are_right(spark, without=set())
    json_is_right(spark)
