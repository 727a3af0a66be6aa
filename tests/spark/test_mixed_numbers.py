"""Expressions over numbers of two types, on Spark, against Python's exact numbers."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.widening import expressions, is_right, relation, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_expressions_over_mixed_numbers_are_exact(spark: SparkSession) -> None:
    random = Random(11)
    values, columns = rows(random, 20), expressions(random)
    found = relation(values).select(**{name: column for name, (column, _) in columns.items()}).collect(spark)
    for row, given in zip(found, values, strict=True):
        for name, (_, expected) in columns.items():
            assert is_right(row[name], expected(given)), (name, row[name], expected(given), given)
