"""The trees of a plan are evaluated in order: random plans over Iceberg tables, against an interpreter."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

import substrait_dsl as sd
from tests.evaluation.programs import COLUMNS, Name, Programs, check
from tests.lake.tables import new_name, new_table, snapshots, stored, values
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLANS = 20
TABLES: list[Name] = [("lake", "db", "order1"), ("lake", "db", "order2")]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> None:
    for name in TABLES:
        spark.sql(f"CREATE TABLE {'.'.join(name)} (k BIGINT, v BIGINT) USING iceberg")


@pytest.mark.parametrize("seed", range(PLANS))
@pytest.mark.usefixtures("tables")
def test_random_plans(seed: int, spark: SparkSession) -> None:
    programs = Programs(Random(seed), TABLES, {}, changes_rows=True)
    assert check(programs, TABLES, {}, spark) is None


def test_the_image_before_a_delete_and_the_one_after(spark: SparkSession) -> None:
    """As the specification says it: references to subplans, and several trees whose rows are returned."""
    name = new_table(spark, [(1, 10), (2, 20), (3, 30)], COLUMNS)
    table = sd.read_named(name, COLUMNS)
    gone = sd.shared(table.filter(lambda r: r.k > 1))
    frames = sd.Plan(gone, sd.subtree(gone.write(name, "delete")), table).execute(spark)
    assert [sorted(map(tuple, frame.collect())) for frame in frames] == [[(2, 20), (3, 30)], [(1, 10)]]


def test_the_image_before_an_update_its_count_and_the_image_after(spark: SparkSession) -> None:
    name = new_table(spark, [(1, 10), (2, 20)], COLUMNS)
    before = sd.shared(sd.read_named(name, COLUMNS))
    change = sd.update(name, COLUMNS, {"v": lambda r: r.v + 1}, where=lambda r: r.k > 1)
    plan = sd.Plan(before, change, before.aggregate(n=f.count()), sd.read_named(name, COLUMNS))
    frames = plan.execute(spark)
    found = [sorted(map(tuple, frame.collect())) for frame in frames]
    assert found == [[(1, 10), (2, 20)], [(1,)], [(2,)], [(1, 10), (2, 21)]]


def test_a_table_is_read_at_its_snapshot(spark: SparkSession) -> None:
    """No rows are computed for it: what is read later names the snapshot."""
    name = new_table(spark, [(1, 10)], COLUMNS)
    (first,) = snapshots(spark, name)
    before, _ = sd.Plan(sd.read_named(name, COLUMNS), values([(2, 20)], COLUMNS).write(name)).execute(spark)
    assert str(first) in before._jdf.queryExecution().toString()  # a classic session
    assert [tuple(row) for row in before.collect()] == [(1, 10)]


def test_a_table_without_a_snapshot_and_one_that_was_altered(spark: SparkSession) -> None:
    for rows in ([], [(1, 10)]):
        name = new_table(spark, rows, COLUMNS)
        spark.sql(f"ALTER TABLE {'.'.join(name)} ADD COLUMN w BIGINT")
        wide = {**COLUMNS, "w": "i64?"}
        change = values([(2, 20, 200)], wide).write(name)
        before, _ = sd.Plan(sd.read_named(name, wide), change).execute(spark)
        assert [tuple(row) for row in before.collect()] == [(*row, None) for row in rows]


def test_a_table_that_is_dropped_and_one_that_is_made(spark: SparkSession) -> None:
    name, other = new_table(spark, [(1, 10)], COLUMNS), new_name()
    table = sd.read_named(name, COLUMNS)
    made = sd.subtree(table.write(other, "ctas"))
    rows = sd.read_named(other, COLUMNS)
    (first, second) = sd.Plan(table, made, sd.subtree(sd.drop_table(name)), rows).execute(spark)
    assert [tuple(row) for row in first.collect()] == [tuple(row) for row in second.collect()] == [(1, 10)]
    assert stored(spark, other) == {(1, 10): 1}


def test_a_table_that_is_changed_and_then_dropped_or_made_anew(spark: SparkSession) -> None:
    name = new_table(spark, [(1, 10)], COLUMNS)
    table, change = sd.read_named(name, COLUMNS), values([(2, 20)], COLUMNS).write(name)
    made = values([(5, 50)], COLUMNS).write(name, "ctas")
    frames = sd.Plan(table, change, table, sd.drop_table(name), made, table).execute(spark)
    found = [sorted(map(tuple, frames[position].collect())) for position in (0, 2, 5)]
    assert found == [[(1, 10)], [(1, 10), (2, 20)], [(5, 50)]]
    kept = sd.shared(table)
    first, _, _ = sd.Plan(kept, change, sd.drop_table(name)).execute(spark)
    assert [tuple(row) for row in first.collect()] == [(5, 50)]


def test_a_table_of_the_current_namespace_and_what_it_says_of_itself(spark: SparkSession) -> None:
    name = new_table(spark, [(1, 10)], COLUMNS)
    before = spark.catalog.currentCatalog(), spark.catalog.currentDatabase()
    spark.sql("USE lake.db")
    try:
        first, _ = sd.Plan(sd.read_named(name[-1], COLUMNS), values([(2, 20)], COLUMNS).write(name)).execute(spark)
        assert [tuple(row) for row in first.collect()] == [(1, 10)]
    finally:
        spark.catalog.setCurrentCatalog(before[0])
        spark.catalog.setCurrentDatabase(before[1])
    told = sd.read_named((*name, "snapshots"), {"snapshot_id": "i64?"}).aggregate(n=f.count())
    frames = sd.Plan(told, values([(3, 30)], COLUMNS).write(name), told).execute(spark)
    assert [frames[position].collect()[0][0] for position in (0, 2)] == [2, 3]
