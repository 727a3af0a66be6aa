"""A plan is a program: subtrees have effects, references are one result set, and what was read stays what it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.evaluation.tables import COLUMNS, NEW, rows, stored, table
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# --- subtrees


def test_a_subtree_is_evaluated_for_its_effect(name: tuple[str, str], spark: SparkSession) -> None:
    plan = sd.Plan(sd.subtree(NEW.write(name)), table(name))
    assert plan.to_proto().relations[0].WhichOneof("rel_type") == "rel"
    for each in (plan, sd.Plan.from_bytes(plan.to_bytes())):
        before = stored(name, spark)
        (frame,) = each.execute(spark)
        assert rows(frame) == stored(name, spark) == [*before, 100]
    assert sd.Plan(sd.subtree(NEW.write(name))).execute(spark) == []
    assert stored(name, spark) == [1, 100, 100, 100]


def test_the_rows_of_a_subtree_are_discarded(name: tuple[str, str], spark: SparkSession) -> None:
    records = NEW.write(name, output="modified_records")
    frames = sd.Plan(sd.subtree(records), sd.subtree(table(name)), table(name)).execute(spark)
    assert [rows(frame) for frame in frames] == [[1, 100]]


def test_a_subtree_that_cannot_be_evaluated_is_refused_before_anything_runs(
    name: tuple[str, str], spark: SparkSession
) -> None:
    unknown = table(name).extension_single(sd.AnyMessage("example.com/acme.Rule", b"1"), {"a": sd.I64})
    missing = sd.read_named((name[0], "missing"), COLUMNS)
    for bad, error in ((unknown, UnsupportedError), (missing, ExecutionError)):
        with pytest.raises(error):
            sd.Plan(NEW.write(name), sd.subtree(bad)).execute(spark)
    with pytest.raises(SchemaError):
        sd.Plan(NEW.write(name), sd.read_named(name, {"a": "i64?", "b": "i64?"})).execute(spark)
    assert stored(name, spark) == [1]


def test_trees_are_shown_in_order(name: tuple[str, str]) -> None:
    before = sd.shared(table(name))
    change = before.select(a=lambda r: r.a + 10).write(name)
    plan = sd.Plan(change, before)
    kinds = [isinstance(tree, sd.Subtree) for tree in plan.trees]
    assert kinds == [True, False, False]
    assert [line for line in str(plan).splitlines() if not line.startswith(" ")] == [
        f"shared subtree #1: read {'.'.join(name)} -> a: i64?",
        f"write insert into {'.'.join(name)} columns a: i64? -> no columns",
        f"see #1 above (read {'.'.join(name)})",
    ]
    read, title = table(name), f"read {'.'.join(name)}"
    assert [line for line in str(sd.Plan(read, change, read)).splitlines() if title in line] == [
        f"{title} -> a: i64?",  # evaluated before the change, and again behind it
        f"shared subtree #1: {title} -> a: i64?",
        f"      see #1 above ({title})",
        f"{title} -> a: i64?",
    ]
    assert str(sd.Plan(read, read)).splitlines() == [f"#1: {title} -> a: i64?", f"see #1 above ({title})"]
    assert sd.Plan(*plan.trees) == plan == sd.Plan.from_bytes(plan.to_bytes())
    assert len(plan.to_proto().relations) == 3


# --- order


def test_a_subtree_is_there_for_the_trees_behind_it(name: tuple[str, str], spark: SparkSession) -> None:
    """In front of it the same relation is evaluated on its own, as it is where no subtree has it."""
    read = table(name)
    counted = read.aggregate(n=f.count())
    change, again = (sd.subtree(NEW.write(name)) for _ in range(2))
    plan = sd.Plan(read, counted, change, sd.subtree(read), again, read, counted)
    kinds = [each.WhichOneof("rel_type") for each in plan.to_proto().relations]
    assert kinds == ["root", "root", "rel", "rel", "rel", "root", "root"]
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan == sd.Plan(*plan.trees)
    for each in (plan, sd.Plan.from_bytes(plan.to_bytes())):
        before = stored(name, spark)
        first, n, second, m = each.execute(spark)
        assert (rows(first), rows(n)) == (before, [len(before)])
        assert (rows(second), rows(m)) == ([*before, 100], [len(before) + 1])
        assert stored(name, spark) == [*before, 100, 100]
    last = sd.Plan(read, change, sd.subtree(read))
    assert last == sd.Plan(read, change, sd.subtree(table(name))) == sd.Plan.from_bytes(last.to_bytes())


def test_a_root_has_the_rows_of_its_turn(name: tuple[str, str], spark: SparkSession) -> None:
    counted = table(name).aggregate(n=f.count())
    plan = sd.Plan(counted, NEW.write(name), counted, NEW.write(name), table(name))
    first, _, second, _, last = plan.execute(spark)
    assert (rows(first), rows(second), rows(last)) == ([1], [2], [1, 100, 100])


def test_a_relation_is_evaluated_depth_first(name: tuple[str, str], spark: SparkSession) -> None:
    read, change = table(name), NEW.write(name, output="modified_records")
    assert sorted(read.union_all(change, read).collect(spark)) == [(1,), (1,), (100,), (100,)]
    doubled = read.union_all(NEW.write(name, output="modified_records")).write(name, output="modified_records")
    assert rows(doubled.execute(spark)) == [1, 100, 100]
    assert stored(name, spark) == [1, 1, 100, 100, 100, 100]


def test_the_image_before_a_change(name: tuple[str, str], spark: SparkSession) -> None:
    before = sd.shared(table(name))
    change = before.select(a=lambda r: r.a + 10).write(name)
    for persist_shared in (False, True):
        _, image = sd.Plan(change, before).execute(spark, persist_shared=persist_shared)
        after = stored(name, spark)
        assert rows(image) == after[: len(after) // 2]
    spark.catalog.clearCache()


def test_the_images_before_and_after_and_counts_of_both(name: tuple[str, str], spark: SparkSession) -> None:
    before = sd.shared(table(name))
    after = sd.shared(before.select(a=lambda r: r.a + 10).write(name, output="modified_records"))
    counts = [image.aggregate(n=f.count()) for image in (before, after)]
    frames = sd.Plan(before, after, *counts).execute(spark)
    assert [rows(frame) for frame in frames] == [[1], [11], [1], [1]]
    assert stored(name, spark) == [1, 11]


def test_the_image_before_within_one_relation(name: tuple[str, str], spark: SparkSession) -> None:
    before = sd.shared(table(name))
    both = before.union_all(before.select(a=lambda r: r.a + 10).write(name, output="modified_records"))
    assert rows(both.execute(spark)) == [1, 11]


# --- references


@pytest.mark.parametrize("persist_shared", [False, True])
def test_a_reference_is_one_result_set(persist_shared: bool, spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMP VIEW by_chance AS SELECT id, rand() AS r FROM range(3)")
    chance = sd.shared(sd.read_named("by_chance", {"id": "i64?", "r": "fp64?"}))
    options: Any = {"persist_shared": persist_shared}
    assert chance.join(chance, "id").filter(lambda o: o[1] != o[3]).collect(spark, **options) == []
    first, second = sd.Plan(chance.select("r"), chance.select("r")).execute(spark, **options)
    assert sorted(first.collect()) == sorted(second.collect())
    spark.catalog.clearCache()


def test_a_shared_fetch_takes_the_same_rows_everywhere(spark: SparkSession) -> None:
    spark.range(1000).repartition(7).createOrReplaceTempView("many")
    some = sd.shared(sd.read_named("many", {"id": "i64"}).limit(5))
    first, second = sd.Plan(some, some.select(n=lambda r: r.id)).execute(spark)
    assert rows(first) == rows(second)
    assert some.set_op("minus_primary", some).collect(spark) == []


@pytest.mark.parametrize("is_shared", [False, True])
def test_roots_see_one_change_once(is_shared: bool, name: tuple[str, str], spark: SparkSession) -> None:
    change: Any = NEW.write(name, output="modified_records")
    change = sd.shared(change) if is_shared else change
    plan = sd.Plan(change.select("a"), change.aggregate(n=f.count()))
    assert plan.explain(spark)
    for each in (plan, sd.Plan.from_bytes(plan.to_bytes())):
        records, counted = each.execute(spark)
        assert (rows(records), rows(counted)) == ([100], [1])
    assert stored(name, spark) == [1, 100, 100]
