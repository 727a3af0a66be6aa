"""The functions for everyday work on Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

import substrait_dsl as sd
from substrait_dsl import everyday as e
from substrait_dsl.errors import UnsupportedError
from tests.relations.test_describe import statistics_are_right
from tests.test_everyday import json_is_right, odd_names_are_names, rows_are_right


def test_rows(spark: SparkSession) -> None:
    rows_are_right(spark, without=set())
    json_is_right(spark)
    odd_names_are_names(spark)


@pytest.mark.parametrize(
    ("make", "said", "other", "words"),
    [
        (lambda r: e.get_json(r.s, "$.path"), "$.path", "$.*", "takes a constant path"),
        (lambda r: e.from_json(r.s, {"path": "i64?"}), '[\\"path\\"]', "[]", "from_json says other names of fields"),
        (lambda r: e.from_json(r.s, {"path": "i64?"}), '[\\"path\\"]', "path", "from_json says other names of fields"),
        (lambda r: e.to_json(sd.struct_of(path=r.s)), '[\\"path\\"]', "[1]", "to_json says other names of fields"),
    ],
)
def test_a_plan_of_others_that_says_something_else_is_refused(
    make: Callable[[Any], Any], said: str, other: str, words: str, spark: SparkSession
) -> None:
    rows = sd.read_virtual([("{}",)], {"s": "string"})
    text = rows.select(x=make).to_plan().to_json()
    assert said in text
    with pytest.raises(UnsupportedError, match=words):
        sd.Plan.from_json(text.replace(said, other)).execute(spark)


def test_columns_are_described(spark: SparkSession) -> None:
    statistics_are_right(spark)
