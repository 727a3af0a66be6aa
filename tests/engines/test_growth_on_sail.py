"""Sail's plans of nested expressions grow with their depth, and not faster: their characters are counted."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.spark.session.explain import spark_plan
from tests.spark.rows import values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

f: Any = functions
NOON = dt.datetime(2024, 1, 1, 12)
T = values(
    {"s": "string?", "k": "i64?", "x": "fp64?", "m": "precision_timestamp<6>?", "day": "string"},
    ("abc", 5, 1.5, NOON, "2024-01-01"),
)
twice: Any = sd.lambda_({"v": "i64?"}, lambda v: f.bitwise_and(v, v))

Step = Callable[[Any, int], Any]
STEPS: dict[str, tuple[str, Step, Any]] = {
    "lengths of texts": ("s", lambda x, number: x.cast(f"varchar<{30 - number}>?"), "abc"),
    "ranges of unsigned integers": ("k", lambda x, _: x.cast("u!u64?").cast("i64?"), 5),
    "fields of structs": (
        "s",
        lambda x, _: sd.when(sd.col("k") > 7).then(None).otherwise(sd.struct_of(v=x))["v"],
        "abc",
    ),
    "texts of floats": ("x", lambda x, _: x.cast("string?").cast("fp64?"), 1.5),
    "floats as decimals": ("x", lambda x, _: x.cast("decimal<10,2>?").cast("fp64?"), 1.5),
    "texts as dates": ("day", lambda x, _: x.cast("date").cast("string"), "2024-01-01"),
    "texts as dates, or NULL": (
        "day",
        lambda x, _: x.cast("date?", on_failure="return_null").cast("string?"),
        "2024-01-01",
    ),
    "formatted times": (
        "m",
        lambda x, _: f.strftime(x, "%Y-%m-%d %H:%M:%S").cast("precision_timestamp<6>?"),
        NOON,
    ),
    "calls of a lambda": ("k", lambda x, _: twice(x), 5),
}
MOST = 1.05
"""How much more than the level below it a level may add: names grow by a digit."""


@pytest.mark.parametrize("case", STEPS)
def test_plans_of_nested_expressions_grow_with_their_depth(case: str, sail: SparkSession) -> None:
    """Of ``list[0]`` Sail makes three lists, so each level of such texts was three times as long as the one below."""
    column, step, value = STEPS[case]

    def size(depth: int) -> int:
        frame = T.select(c=reduce(step, range(depth), sd.col(column))).execute(sail)
        assert [tuple(row) for row in frame.collect()] == [(value,)]
        return len(spark_plan(frame, "simple"))

    small, middle, large = map(size, (2, 3, 4))
    assert 0 < large - middle <= MOST * (middle - small)
    assert size(8) - large <= MOST * 4 * (large - middle)
