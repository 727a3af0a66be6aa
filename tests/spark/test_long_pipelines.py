"""Pipelines of many steps run, and so do the other plans that are deep; on Spark Connect, which cuts them, too."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.execution_context import VIEW_PREFIX
from substrait_dsl.spark.session.local import drop_views
from tests.spark.rows import counted, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_thousand_steps_with_functions(spark: SparkSession) -> None:
    t = values({"x": "i64"}, (0,), (5,))
    for step in range(500):
        t = t.filter(lambda r, step=step: f.abs(r.x) >= step // 4)
        t = t.with_columns(x=(lambda r: f.abs(r.x) + 1) if step % 4 == 0 else (lambda r: r.x))
    assert counted(t, spark) == Counter([(125,), (130,)])


def test_many_steps_of_every_kind(spark: SparkSession) -> None:
    keys = values({"k": "i64"}, (1,), (2,))
    t: Any = values({"k": "i64", "x": "i64"}, (1, 0), (2, 0), (3, 0))
    rounds = 8
    for step in range(rounds):
        t = t.with_columns(x=lambda r: f.abs(r.x) + 1)
        t = t.join(keys, lambda r, s: r.k == s.k, "left_mark")
        t = t.select("k", x=lambda r: r.x + sd.when(r.mark).then(10).otherwise(0))
        t = t.aggregate("k", x=lambda r: f.max(r.x)).select("k", x=lambda r: f.coalesce(r.x, 0))
        t = t.union_all(values({"k": "i64", "x": "i64"}, (100 + step, 0))).filter(lambda r: r.k < 100)
        t = t.filter(lambda r: ~sd.exists(keys.filter(lambda s: s.k == r.k + 1000)))
        t = t.sort("x").fetch(50 - step)
    # in each round every x grows by 1, and those of the keys 1 and 2 by 10
    assert counted(t, spark) == Counter([(1, 11 * rounds), (2, 11 * rounds), (3, rounds)])


def test_a_union_of_many(spark: SparkSession) -> None:
    first, *others = (values({"x": "i64"}, (number,)) for number in range(301))
    assert counted(first.union_all(*others).filter(lambda r: r.x >= 299), spark) == Counter([(299,), (300,)])


def test_the_views_that_cut_plans_can_be_dropped(spark: SparkSession) -> None:
    t = values({"x": "i64"}, (0,))
    for _ in range(70):
        t = t.with_columns(x=lambda r: r.x + 1)
    frame = t.execute(spark)
    assert [tuple(row) for row in frame.filter("x > 0").collect()] == [(70,)]
    assert (drop_views(spark) >= 2) == is_remote(spark)
    assert not [table for table in spark.catalog.listTables() if table.name.startswith(VIEW_PREFIX)]
