"""Functions of a user's own extension with other values each time, on Spark."""

from __future__ import annotations

import random

from pyspark.sql import SparkSession

import substrait_dsl as sd
from tests.support import f
from tests.test_nondeterministic_functions import DRAW, NUMBERS, TWICE, my, require_one_draw_for_each_row


def test_values_that_differ_each_time_are_drawn_once(spark: SparkSession) -> None:
    with sd.implement(my.draw, "spark", DRAW):
        require_one_draw_for_each_row(spark)
        drawn = TWICE.collect(spark)
    assert {many for _, _, many in drawn} == {2}, "a shared relation has one result, wherever it is used"
    assert len(drawn) == 200
    with sd.implement(my.draw, "spark", lambda x: random.randrange(-5, 5), takes="values"):
        found = NUMBERS.select(z=lambda r: f.greatest(my.draw(r.n), 0)).collect(spark)
    assert {z for (z,) in found} == {0, 1, 2, 3, 4}
