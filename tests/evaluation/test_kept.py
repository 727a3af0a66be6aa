"""What is kept before a change, by way of which names, paths and other relations; and what is not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.evaluation.tables import COLUMNS, NEW, rows, stored, table
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_what_a_view_or_a_folder_reads_is_kept(name: tuple[str, str], tmp_path: Path, spark: SparkSession) -> None:
    spark.sql(f"CREATE VIEW {'.'.join(name)}_view AS SELECT * FROM {'.'.join(name)}")
    view = sd.read_named((name[0], f"{name[1]}_view"), COLUMNS)
    location = spark.sql(f"DESCRIBE TABLE EXTENDED {'.'.join(name)}").where("col_name = 'Location'").head()
    assert location is not None
    files = sd.read_files(location[1], COLUMNS, kind="folder")
    first, second, _ = sd.Plan(view, files, NEW.write(name)).execute(spark)
    assert (rows(first), rows(second), stored(name, spark)) == ([1], [1], [1, 100])

    target = sd.files_target(str(tmp_path / "out"))
    NEW.write(target, "ctas").execute(spark)
    read = sd.read_files(str(tmp_path / "out"), {"a": "i64?"}, kind="folder")
    pattern = sd.read_files(f"{tmp_path}/*/*.parquet", {"a": "i64?"}, kind="glob")
    frames = sd.Plan(read, pattern, NEW.write(target), read).execute(spark)
    assert [rows(frames[position]) for position in (0, 1, 3)] == [[100], [100], [100, 100]]


def test_what_is_replaced_or_dropped_is_kept(name: tuple[str, str], spark: SparkSession) -> None:
    read = table(name)
    replaced = NEW.write(name, "ctas", create_mode="replace_if_exists")
    first, _, second, _ = sd.Plan(read, replaced, read, sd.drop_table(name)).execute(spark)
    assert (rows(first), rows(second)) == ([1], [100])
    NEW.write(sd.virtual_target("of_memory"), "ctas").execute(spark)
    memory = sd.read_named("of_memory", {"a": "i64"})
    other = sd.read_virtual([(5,)], {"a": "i64"}).write(
        sd.virtual_target("of_memory"), "ctas", create_mode="replace_if_exists"
    )
    first, _, second = sd.Plan(memory, other, memory).execute(spark)
    assert (rows(first), rows(second)) == ([100], [5])
    spark.catalog.dropTempView("of_memory")


def test_what_no_change_concerns_is_computed_when_it_is_asked_for(name: tuple[str, str], spark: SparkSession) -> None:
    """No checkpoint: the plan of the rows reads the table, and an error in them is none of `execute`."""
    other = (name[0], f"{name[1]}_other")
    failing = table(name).project(x=lambda r: f.divide(1, r.a - 1, on_domain_error="ERROR"))
    frame, _ = sd.Plan(failing, NEW.write(other, "ctas")).execute(spark)
    assert stored(other, spark) == [100]
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        frame.collect()
    with refused(ExecutionError, "execute", "division by zero"):
        sd.Plan(failing, NEW.write(name)).execute(spark)
    assert stored(name, spark) == [1]


def test_a_read_inside_a_correlated_subquery_is_kept_with_what_is_around_it(
    name: tuple[str, str], spark: SparkSession
) -> None:
    keys = sd.read_virtual([(1,), (100,)], {"k": "i64"})
    found = keys.filter(lambda r: sd.exists(table(name).filter(lambda x: x.a == r.k)))
    both = found.union_all(NEW.write(name, output="modified_records"))
    assert rows(both.execute(spark)) == [1, 100]
    first, _, second = sd.Plan(found, NEW.write(name), found).execute(spark)
    assert (rows(first), rows(second)) == ([1, 100], [1, 100])


def test_what_cannot_be_kept_is_refused_before_anything_runs(name: tuple[str, str], spark: SparkSession) -> None:
    """A read whose own filter sees the row outside is no relation by itself, and the change stands beside it."""
    keys = sd.read_virtual([(1,)], {"k": "i64"})
    change = NEW.write(name, output="modified_records")
    beside = keys.filter(
        lambda r: sd.exists(sd.read_named(name, COLUMNS, filter=lambda x: x.a == r.k).union_all(change))
    )
    with refused(UnsupportedError, "execute", "with a correlated filter", ".filter(...)"):
        beside.execute(spark)
    assert stored(name, spark) == [1]
    cured = keys.filter(lambda r: sd.exists(table(name).filter(lambda x: x.a == r.k).union_all(change)))
    assert rows(cured.execute(spark)) == [1]
    assert stored(name, spark) == [1, 100]


@pytest.mark.parametrize("persist_shared", [False, True])
def test_what_is_written_and_what_is_returned_is_one_result_set(
    persist_shared: bool, name: tuple[str, str], spark: SparkSession
) -> None:
    """Chance is asked once, for the change, for the change of what it reads, and for the root."""
    spark.sql(f"CREATE OR REPLACE TEMP VIEW drawn AS SELECT CAST(rand() * 1e15 AS BIGINT) AS a FROM {'.'.join(name)}")
    drawn = sd.shared(sd.read_named("drawn", COLUMNS))
    other = (name[0], f"{name[1]}_other")
    plan = sd.Plan(drawn, drawn.write(name), drawn.write(other, "ctas"), drawn.limit(10))
    first, _, _, last = plan.execute(spark, persist_shared=persist_shared)
    found = rows(first)
    assert (rows(last), stored(other, spark), stored(name, spark)) == (found, found, [1, *found])
    spark.catalog.clearCache()


# --- what is kept, by way of others


@pytest.mark.parametrize("persist_shared", [False, True])
def test_a_shared_relation_on_another_is_kept(persist_shared: bool, name: tuple[str, str], spark: SparkSession) -> None:
    other = (name[0], f"{name[1]}_other")
    options: Any = {"persist_shared": persist_shared}
    for again in range(2):
        before = stored(name, spark)
        lower: Any = sd.shared(table(name))
        upper: Any = sd.shared(lower.limit(10) if again else lower.filter(lambda r: r.a > 0))
        first, _, second = sd.Plan(upper, NEW.write(name), upper).execute(spark, **options)
        assert rows(first) == rows(second) == before
        after = stored(name, spark)
        made = upper.write(other, "ctas", create_mode="replace_if_exists")
        sd.Plan(sd.subtree(upper), NEW.write(name), made).execute(spark, **options)
        assert stored(other, spark) == after == [1, *[100] * (2 * again + 1)]
    upper = sd.shared(sd.shared(table(name)).limit(10))
    first, second, _ = sd.Plan(upper, upper, sd.drop_table(name)).execute(spark, **options)
    assert rows(first) == rows(second) == [1, 100, 100, 100, 100]
    spark.catalog.clearCache()


def test_a_reference_in_what_stands_twice_is_a_reference_twice(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMP VIEW twice AS SELECT id, rand() AS r FROM range(3)")
    chance = sd.shared(sd.read_named("twice", {"id": "i64?", "r": "fp64?"}))
    some: Any = chance.filter(lambda r: r.id >= 0)
    assert len(some.filter(lambda o: sd.exists(some.filter(lambda x: x.r == o.r))).collect(spark)) == 3


def test_a_shared_change_whose_input_stands_twice(name: tuple[str, str], spark: SparkSession) -> None:
    read = table(name)
    change = read.union_all(read).write(name, output="modified_records")
    first, counted = sd.Plan(change.select("a"), change.aggregate(n=f.count())).execute(spark)
    assert (rows(first), rows(counted), stored(name, spark)) == ([1, 1], [2], [1, 1, 1])
    both = sd.shared(read.union_all(NEW.write(name, output="modified_records"), read))
    assert rows(both.aggregate(n=f.count()).execute(spark)) == [8]  # three, one, and four
    assert stored(name, spark) == [1, 1, 1, 100]


def test_locations_are_told_as_the_catalog_has_them(tmp_path: Path, spark: SparkSession) -> None:
    """A percent sign in a location is one; in a path of a plan it begins what is encoded."""
    folder = tmp_path / "p%20q"
    spark.sql(f"CREATE DATABASE with_percent LOCATION '{folder}'")
    spark.sql("CREATE TABLE with_percent.t USING parquet AS SELECT 1L AS a")
    files = sd.read_files(folder / "t", COLUMNS, kind="folder")
    first, _ = sd.Plan(files, NEW.write(("with_percent", "t"))).execute(spark)
    assert rows(first) == [1]
    spark.sql("DROP DATABASE with_percent CASCADE")


def test_what_a_plan_makes_is_read_under_any_name(name: tuple[str, str], tmp_path: Path, spark: SparkSession) -> None:
    """The plan is looked at before it is made: what is not there yet is no reason to refuse it."""
    database, known = name
    new = [f"{known}_{number}" for number in range(4)]
    folder = str(tmp_path / "made")
    files = sd.read_files(folder, COLUMNS, kind="folder")
    for op in ("ctas", "insert"):
        (_, frame) = sd.Plan(NEW.write(sd.files_target(f"{folder}"), op), files).execute(spark)
    assert rows(frame) == [100, 100]
    plans = [
        sd.Plan(NEW.write((database, new[0]), "ctas"), table(("spark_catalog", database, new[0]))),
        sd.Plan(sd.drop_table(name), NEW.write(("spark_catalog", *name), "ctas"), table(name)),
    ]
    spark.sql(f"CREATE TABLE {database}.{new[1]} AS SELECT 1L AS a")
    spark.sql(f"CREATE VIEW {database}.{new[2]} AS SELECT a FROM {database}.{new[1]}")
    spark.sql(f"DROP TABLE {database}.{new[1]}")
    plans.append(sd.Plan(NEW.write((database, new[1]), "ctas"), table((database, new[2]))))
    for plan in plans:
        assert rows(plan.execute(spark)[-1]) == [100]
    before = spark.catalog.currentDatabase()
    spark.catalog.setCurrentDatabase(database)
    try:
        (_, frame) = sd.Plan(NEW.write((database, new[3]), "ctas"), table((new[3],))).execute(spark)
        assert rows(frame) == [100]
        first, _ = sd.Plan(table((new[3],)), NEW.write(("spark_catalog", database, new[3]))).execute(spark)
        assert rows(first) == [100]
    finally:
        spark.catalog.setCurrentDatabase(before)
