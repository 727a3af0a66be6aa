"""Iceberg tables made of rows and by definitions, altered and dropped; and what does not fit them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.lake.tables import COLUMNS, TWICE, Rows, bag, new_name, new_table, snapshots, stored, values
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# --- new tables


def test_each_create_mode(spark: SparkSession) -> None:
    first, second = [(1, "a", 1.0)], [(2, None, None), (2, None, None)]
    for mode, expected in {
        "error_if_exists": first,
        "ignore_if_exists": first,
        "append_if_exists": first + second,
        "replace_if_exists": second,
    }.items():
        name = new_name()
        values(first).write(name, "ctas", create_mode=mode).execute(spark)
        again = values(second).write(name, "ctas", create_mode=mode, output="modified_records")
        if mode == "error_if_exists":
            with refused(ExecutionError, "execute", "already"):
                again.execute(spark)
        else:
            assert bag(again.collect(spark)) == bag([] if mode == "ignore_if_exists" else second)
        assert stored(spark, name) == bag(expected), mode


def test_a_table_is_replaced_by_a_query_over_it(spark: SparkSession) -> None:
    name = new_table(spark, TWICE)
    table: Any = sd.read_named(name, COLUMNS)
    table.filter(lambda r: r.id > 2).select("id").write(name, "ctas", create_mode="replace_if_exists").execute(spark)
    assert stored(spark, name) == bag([(3,), (4,)])
    # What is required in the rows is required of those that come later.
    with refused(SchemaError, "execute", '"id" is required'):
        values([(None,)], {"id": "i64?"}).write(name).execute(spark)


def test_what_was_required_is_not_required_for_ever(spark: SparkSession) -> None:
    def made() -> Any:
        name = new_name()
        values([(1, 2)], {"id": "i64", "k": "i64"}).write(name, "ctas").execute(spark)
        return name

    def replaced(name: Any, columns: Any) -> Any:
        return values([], columns).write(name, "ctas", create_mode="replace_if_exists")

    nulls: Rows = [(None, None)]
    loose = {"id": "i64?", "k": "i64?"}
    for change in (
        sd.alter_table(relaxed := made(), loose),
        replaced(by_rows := made(), loose),
        sd.create_table(by_name := made(), loose, or_replace=True),
    ):
        change.execute(spark)
    for name in (relaxed, by_rows, by_name):
        values(nulls, loose).write(name).execute(spark)
    assert stored(spark, relaxed) == bag([(1, 2), *nulls])

    name = made()
    sd.alter_table(name, {"number": "i64", "k": "i64"}).execute(spark)
    with refused(SchemaError, "execute", '"number" is required'):
        values(nulls, {"number": "i64?", "k": "i64?"}).write(name).execute(spark)
    sd.alter_table(name, {"number": "i64"}).execute(spark)
    sd.alter_table(name, {"number": "i64", "k": "i64?"}).execute(spark)
    values([(2, None)], {"number": "i64", "k": "i64?"}).write(name).execute(spark)
    assert stored(spark, name) == bag([(1, None), (2, None)])


def test_parts_of_a_column_that_are_required(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.parts (id BIGINT, s STRUCT<x: INT NOT NULL, y: INT>) USING iceberg")
    name = ("lake", "db", "parts")

    def columns(*, x: bool) -> Any:
        return {"id": "i64", "s": sd.Struct((sd.I32(nullable=x), sd.I32(nullable=True)), ("x", "y"))}

    values([(1, {"x": 1, "y": None})], columns(x=False)).write(name).execute(spark)
    with refused(SchemaError, "execute", 'column "s" has required parts'):
        values([(2, {"x": None, "y": None})], columns(x=True)).write(name).execute(spark)
    assert stored(spark, name) == bag([(1, (1, None))])


def test_types_that_iceberg_would_change_are_refused(spark: SparkSession) -> None:
    for kind in ("interval_year", "interval_day<6>?", "list<precision_time<6>>"):
        with refused(UnsupportedError, "execute", '"odd"', "Iceberg"):
            sd.create_table(("lake", "db", "never"), {"odd": kind}).execute(spark)
    with refused(UnsupportedError, "execute", '"small"'):
        values([(1,)], {"small": "i16"}).write(("lake", "db", "never"), "ctas").execute(spark)
    with refused(UnsupportedError, "execute", '"small"'):
        sd.create_table(("lake", "db", "never"), {"small": sd.List(sd.I8())}).execute(spark)


# --- data definition


def test_tables_are_made_altered_and_dropped(spark: SparkSession) -> None:
    name = new_name()

    def alter(columns: Any) -> None:
        sd.alter_table(name, columns).execute(spark)

    def columns() -> dict[str, str]:
        return {field.name: field.dataType.simpleString() for field in spark.table(".".join(name)).schema}

    sd.create_table(name, {"id": "i64", "n": "i32", "d": "decimal<5,2>?"}).execute(spark)
    values([(1, 2, None)], {"id": "i64", "n": "i32", "d": "decimal<5,2>?"}).write(name).execute(spark)
    alter({"id": "i64", "n": "i32", "d": "decimal<5,2>?", "extra": "string?"})
    assert stored(spark, name) == bag([(1, 2, None, None)])
    alter({"id": "i64", "number": "i64?", "d": "decimal<9,2>?", "extra": "string?"})  # renamed, widened, relaxed
    assert columns() == {"id": "bigint", "number": "bigint", "d": "decimal(9,2)", "extra": "string"}
    values([(2, None)], {"id": "i64", "number": "i64?"}).write(name).execute(spark)
    alter({"id": "i64", "d": "decimal<9,2>?"})
    assert stored(spark, name) == bag([(1, None), (2, None)])
    for wrong, told in [
        ({"id": "i64", "d": "decimal<9,3>?"}, '"d"'),
        ({"id": "i32", "d": "decimal<9,2>?"}, '"id"'),
        ({"id": "i64", "d": "decimal<9,2>"}, "required"),
        ({"id": "i64", "x": "i64?", "y": "i64?"}, "renamed"),
        ({"d": "decimal<9,2>?", "id": "i64"}, "order"),
        ({"new": "i64?", "id": "i64", "d": "decimal<9,2>?"}, "order"),
    ]:
        with refused(UnsupportedError, "execute", told):
            alter(wrong)
    with refused(UnsupportedError, "execute", "default"):
        sd.alter_table(name, {"id": "i64", "d": "decimal<9,2>?", "e": "i64?"}, {"e": 5}).execute(spark)
    with refused(UnsupportedError, "execute", "case", '"id"'):
        alter({"ID": "i64", "d": "decimal<9,2>?"})
    spark.sql(f"ALTER TABLE {'.'.join(name)} ADD PARTITION FIELD d")
    with pytest.raises(ExecutionError, match="Cannot find source column for partition field"):  # and no other writer
        alter({"id": "i64"})
    with refused(ExecutionError, "execute", "already"):
        sd.create_table(name, COLUMNS).execute(spark)
    sd.create_table(name, {"other": "i64"}, or_replace=True).execute(spark)
    assert (columns(), stored(spark, name)) == ({"other": "bigint"}, bag([]))
    sd.drop_table(name).execute(spark)
    with refused(ExecutionError, "execute", "there is no table"):
        sd.drop_table(name).execute(spark)
    sd.drop_table(name, if_exists=True).execute(spark)


def test_a_view_of_a_lake_table(spark: SparkSession) -> None:
    table: Any = sd.read_named(new_table(spark, TWICE), COLUMNS)
    with refused(UnsupportedError, "execute", "views"):
        sd.create_view(("lake", "db", "v"), table).execute(spark)
    sd.create_view(("plain", "of_lake"), table.filter(lambda r: r.id > 2).select("id")).execute(spark)
    assert stored(spark, ("plain", "of_lake")) == bag([(3,), (4,)])


# --- reads of the same tables


@pytest.mark.parametrize("setting", ["spark.wap.branch", "spark.wap.id"])
def test_a_table_is_not_replaced_by_who_writes_it_apart(setting: str, spark: SparkSession) -> None:
    """Iceberg would leave it empty for all others."""
    name = new_table(spark, [(1, "a", 1.0)], clauses="TBLPROPERTIES ('write.wap.enabled'='true')")
    spark.sql(f"ALTER TABLE {'.'.join(name)} CREATE BRANCH apart")
    spark.conf.set(setting, "apart")
    try:
        for replace in (
            values([(2, "b", 2.0)]).write(name, "ctas", create_mode="replace_if_exists"),
            sd.create_table(name, COLUMNS, or_replace=True),
        ):
            with refused(UnsupportedError, "execute", f"the session has {setting}"):
                replace.execute(spark)
    finally:
        spark.conf.unset(setting)
    assert stored(spark, name) == bag([(1, "a", 1.0)])


def test_what_a_table_was_before(spark: SparkSession) -> None:
    pytest.importorskip("pyiceberg", reason="reads by a metadata file need the extra iceberg")
    name = new_table(spark, [(1, "a", 1.0), (2, "b", 2.0)])
    sd.update(name, COLUMNS, {"price": 0.0}, where=lambda r: r.id == 2).execute(spark)
    metadata = spark.sql(f"SELECT file FROM {'.'.join(name)}.metadata_log_entries ORDER BY timestamp DESC").first()
    times = spark.sql(f"SELECT min(unix_micros(committed_at)) FROM {'.'.join(name)}.snapshots").collect()
    assert metadata is not None
    first, second = snapshots(spark, name)

    def read(**when: Any) -> Counter[tuple[Any, ...]]:
        return bag(sd.read_iceberg(metadata[0], COLUMNS, **when).collect(spark))

    before, after = bag([(1, "a", 1.0), (2, "b", 2.0)]), bag([(1, "a", 1.0), (2, "b", 0.0)])
    assert bag(sd.read_named(name, COLUMNS).collect(spark)) == after
    assert (read(), read(snapshot_id=str(second)), read(snapshot_id=str(first))) == (after, after, before)
    assert read(snapshot_timestamp=times[0][0]) == before


# --- guards


def test_tables_that_do_not_fit_are_refused_before_anything_is_touched(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0)])
    for columns, row, told in [
        ({"id": "i64?", "name": "string?"}, (1, "a"), '"id" is required'),
        ({"name": "string?"}, ("a",), '"id" is required'),
        ({"id": "i64", "nome": "string?"}, (1, "a"), '"nome"'),
        ({"id": "i32", "name": "string?"}, (1, "a"), '"id" is bigint'),
    ]:
        with refused(SchemaError, "execute", told):
            values([row], columns).write(name).execute(spark)
    assert len(snapshots(spark, name)) == 1
    with refused(ExecutionError, "execute", "there is no table"):
        values([(1, "a", 1.0)]).write((*name[:2], name[2] + "x")).execute(spark)
    with refused(SchemaError, "execute", '"price" is double'):
        sd.update(name, {"id": "i64", "price": "i64?"}, {"price": 1}, where=True).execute(spark)


def test_a_plan_of_bytes_changes_a_table(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0)])
    plan = sd.Plan(
        values([(2, "b", 2.0)]).write(name),
        sd.update(name, COLUMNS, {"name": "z"}, where=lambda r: r.id == 2),
        sd.read_named(name, COLUMNS),
    )
    _, updated, read = sd.Plan.from_bytes(plan.to_bytes()).execute(spark)
    assert updated.collect()[0][0] == 1
    assert bag(read.collect()) == bag([(1, "a", 1.0), (2, "z", 2.0)])
