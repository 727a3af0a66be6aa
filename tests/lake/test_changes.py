"""Iceberg tables: rows inserted, deleted and updated."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.lake.tables import COLUMNS, NAN, TWICE, Rows, bag, new_name, new_table, snapshots, stored, values
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# --- insert


def test_rows_are_added_and_given_back(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0)])
    more: Rows = [(1, "a", 1.0), (2, None, None), (2, None, None), (3, "c", NAN)]
    written = values(more).write(name, output="modified_records")
    assert bag(written.collect(spark)) == bag(more)
    assert stored(spark, name) == bag([(1, "a", 1.0), *more])
    nothing = values([]).write(name).execute(spark)
    assert (nothing.columns, nothing.collect()) == ([], [])
    assert stored(spark, name) == bag([(1, "a", 1.0), *more])


def test_columns_are_found_by_name_and_the_others_are_null(spark: SparkSession) -> None:
    name = new_table(spark, [])
    values([(2.5, 7)], {"price": "fp64", "id": "i64"}).write(name).execute(spark)
    assert stored(spark, name) == bag([(7, None, 2.5)])


def test_a_table_is_read_while_it_is_written(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0), (2, None, None)])
    sd.read_named(name, COLUMNS).write(name).execute(spark)
    assert stored(spark, name) == bag([(1, "a", 1.0), (2, None, None)] * 2)


def test_nested_values(spark: SparkSession) -> None:
    inside = (sd.I32(), sd.List(sd.String(), nullable=True))
    columns: Any = {"id": sd.I64, "s": sd.Struct(inside, ("x", "ys"), nullable=True)}
    name = new_name()
    sd.create_table(name, columns).execute(spark)
    rows: Rows = [(1, {"x": 1, "ys": ["a", "b"]}), (2, None), (3, {"x": 2, "ys": None})]
    values(rows, columns).write(name).execute(spark)
    read = sd.read_named(name, columns).sort("id").collect(spark)
    assert [(row[0], row[1] and row[1].asDict()) for row in read] == rows


def test_values_that_tell_partitions_apart_are_kept(tmp_path: Path, spark: SparkSession) -> None:
    """Spark's own tables have them for the names of folders, and cut texts to the length of a column."""
    name = new_name()
    spark.sql(
        f"CREATE TABLE {'.'.join(name)} (t TIMESTAMP, k STRING, v VARCHAR(3)) USING iceberg PARTITIONED BY (t, k, v)"
    )
    hour = dt.datetime(2024, 10, 27, 0, 30, tzinfo=dt.UTC)
    rows: Rows = [(hour, "", "abc   "), (hour + dt.timedelta(hours=1), "a\0b", "abcd")]
    columns = {"t": "precision_timestamp_tz<6>?", "k": "string?", "v": "string?"}
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        values([(1,)], {"id": "i64"}).write(sd.files_target(tmp_path / "beside")).execute(spark)
        values(rows, columns).write(name).execute(spark)
        read = sd.read_named(name, columns).sort("v").collect(spark)
        when = {"made_current_at": "precision_timestamp_tz<6>?"}
        assert len(sd.read_named((*name, "history"), when).collect(spark)) == 1
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert [(row.t.astimezone(dt.UTC), row.k, row.v) for row in read] == rows


# --- delete


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        pytest.param([], TWICE, id="no rows"),
        pytest.param([(1, "a", 0.5)], TWICE[1:], id="one copy of three"),
        pytest.param([(1, "a", 0.5)] * 5, TWICE[3:], id="more copies than there are"),
        pytest.param(
            [(2, None, None), (3, "c", NAN)], [*TWICE[:4], TWICE[6]], id="NULL and NaN are equal to themselves"
        ),
        pytest.param([(2, "b", None), (1, "a", None)], TWICE, id="no such rows"),
        pytest.param(TWICE, [], id="all rows"),
    ],
)
@pytest.mark.parametrize("clauses", ["", "PARTITIONED BY (bucket(3, id))"], ids=["plain", "partitions"])
def test_as_many_copies_are_deleted_as_there_are_rows(
    gone: Rows, left: Rows, clauses: str, spark: SparkSession
) -> None:
    name = new_table(spark, TWICE, clauses=clauses)
    deleted = values(gone).write(name, "delete", output="modified_records").collect(spark)
    assert stored(spark, name) == bag(left)
    assert bag(deleted) == bag(TWICE) - bag(left)
    assert len(snapshots(spark, name)) == 2, "one statement"


def test_rows_of_a_table_are_deleted_by_a_query_over_it(spark: SparkSession) -> None:
    name = new_table(spark, TWICE)
    table: Any = sd.read_named(name, COLUMNS)
    table.filter(lambda r: r.name.is_null()).write(name, "delete").execute(spark)
    assert stored(spark, name) == bag(row for row in TWICE if row[1] is not None)


def test_names_of_all_kinds(spark: SparkSession) -> None:
    columns = {"a b": "i64", "select": "i64?", "{x}": "string?", "x.y": "string?", "q`": "i64?", "größe": "i64?"}
    rows: Rows = [(1, 2, "c", "d", 5, 6), (1, 2, "c", "d", 5, None)]
    name = ("lake", "db", "a table's `name`, {really}")
    values(rows, columns).write(name, "ctas").execute(spark)
    values(rows, columns).write(name).execute(spark)
    read: Any = sd.read_named(name, columns)
    assert bag(values(rows[:1], columns).write(name, "delete", output="modified_records").collect(spark)) == bag(
        rows[:1]
    )
    assert bag(read.collect(spark)) == bag([rows[0], rows[1], rows[1]])
    changes = {"{x}": "new", "q`": lambda r: r["q`"] + r["select"]}
    assert sd.update(name, columns, changes, where=lambda r: r["größe"] == 6).collect(spark)[0][0] == 1
    assert bag(read.collect(spark)) == bag([(1, 2, "new", "d", 7, 6), rows[1], rows[1]])


def test_rows_with_uuids_are_found_in_either_spelling(spark: SparkSession) -> None:
    one, other = UUID("0a1b2c3d-0000-4000-8000-00000000abcd"), UUID("ffffffff-ffff-4fff-bfff-ffffffffffff")
    first, second = str(one), str(other)
    columns = {"u": "uuid", "inside": "struct<list<uuid?>?, i64>?"}
    name = new_name()
    spark.sql(
        f"CREATE TABLE {'.'.join(name)} (u STRING NOT NULL, inside STRUCT<f0: ARRAY<STRING>, f1: BIGINT>) USING iceberg"
    )
    rows = [
        f"('{first.upper()}', struct(array('{second.upper()}', NULL), 1L))",
        f"('{first}', struct(array('{second}', NULL), 1L))",
        f"('{first.upper()}', NULL)",
        f"('{second.upper()}', NULL)",
    ]
    spark.sql(f"INSERT INTO {'.'.join(name)} VALUES {', '.join(rows)}")
    gone = values([(one, ([other, None], 1)), (one, None), (other, ([], 1))], columns)
    assert len(gone.write(name, "delete", output="modified_records").collect(spark)) == 2
    assert sorted(str(row[0]).lower() for row in spark.table(".".join(name)).collect()) == [first, second]
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET IDENTIFIER FIELDS u")
    new = values([(other, ([one], 7))], columns).write(name, "update", output="modified_records")
    assert [row[1][1] for row in new.collect(spark)] == [7]
    found = spark.sql(f"SELECT inside.f0 FROM {'.'.join(name)} WHERE u = '{second.upper()}'")
    assert found.collect()[0][0] == [first]


def test_a_delete_compares_whole_rows(spark: SparkSession) -> None:
    columns = {"id": "i64", "name": "string", "price": "fp64?"}
    name = new_table(spark, [(1, "a", None)], columns)
    with refused(SchemaError, "delete from", "known by all their columns", 'lack "name", "price"'):
        values([(1,)], {"id": "i64"}).write(name, "delete").execute(spark)


# --- update


def test_updates_by_a_condition_and_their_count(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0), (1, "a", 1.0), (2, None, None), (3, "c", 4.0)])

    def changed(changes: Any, where: Any) -> list[tuple[int]]:
        return [tuple(row) for row in sd.update(name, COLUMNS, changes, where).collect(spark)]

    assert changed({"price": lambda r: r.price * 2.0, "name": "x"}, lambda r: r.price < 4.0) == [(2,)]
    assert stored(spark, name) == bag([(1, "x", 2.0), (1, "x", 2.0), (2, None, None), (3, "c", 4.0)])
    assert changed({"name": None}, lambda r: r.price.is_null()) == [(1,)]  # the same as before, and counted
    assert changed({"id": 9}, lambda r: r.id > 5) == [(0,)]
    assert changed({"name": lambda r: f.coalesce(r.name, "?")}, True) == [(4,)]
    assert stored(spark, name) == bag([(1, "x", 2.0), (1, "x", 2.0), (2, "?", None), (3, "c", 4.0)])
    assert len(snapshots(spark, name)) == 5, "each is one statement"


def test_what_is_told_of_a_change_after_the_columns_have_changed(spark: SparkSession) -> None:
    """An ALTER makes no snapshot; the last one is read with the columns that it was made with."""
    was = {"id": "i64", "x": "fp64?"}
    renamed: dict[str, Any] = {"id": "i64", "price": "fp64?"}
    more: dict[str, Any] = {"id": "i64", "x": "fp64?", "n": "string?"}

    def altered(*columns: Any) -> tuple[str, str, str]:
        name = new_table(spark, [(1, 1.0), (2, 2.0)], was)
        for some in columns:
            sd.alter_table(name, some).execute(spark)
        return name

    name = altered(renamed)
    assert sd.update(name, renamed, {"price": lambda r: r.price * 2}, lambda r: r.price > 1.0).collect(spark) == [(1,)]
    assert stored(spark, name) == bag([(1, 1.0), (2, 4.0)])
    name = altered(renamed)
    prices = sd.read_named(name, renamed).filter(lambda r: r.id == 2).select("price")
    emptied = sd.update(name, renamed, {"price": None}, lambda r: r.price.is_in(prices))
    assert emptied.collect(spark) == [(1,)]
    name = altered({"id": "i64"}, was)  # another column of the same name
    assert sd.update(name, was, {"x": 5.0}, lambda r: r.x.is_null()).collect(spark) == [(2,)]
    name = altered({"id": "i64"}, was)
    gone = values([(1, None)], was).write(name, "delete", output="modified_records")
    assert gone.collect(spark) == [(1, None)]
    name = altered(more)
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET IDENTIFIER FIELDS id")
    new = values([(2, "b"), (3, "c")], {"id": "i64", "n": "string?"}).write(name, "update", output="modified_records")
    assert new.collect(spark) == [(2, "b")]
    assert stored(spark, name) == bag([(1, 1.0, None), (2, 2.0, "b")])


def test_an_update_leaves_the_columns_that_it_does_not_have(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0)], {"id": "i64", "name": "string", "price": "fp64?"})
    with refused(UnsupportedError, "execute", "no identifier fields"):
        values([(1, 2.0)], {"id": "i64", "price": "fp64?"}).write(name, "update").execute(spark)
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET IDENTIFIER FIELDS id")
    values([(1, 2.0)], {"id": "i64", "price": "fp64?"}).write(name, "update").execute(spark)
    assert stored(spark, name) == bag([(1, "a", 2.0)])


def test_columns_that_are_called_like_names_of_the_library(spark: SparkSession) -> None:
    columns = {f"__s{number}": "i64" for number in range(6)}
    name = new_table(spark, [(1, 2, 3, 4, 5, 6), (2, 2, 3, 4, 5, 6)], columns)
    values([(1, 2, 3, 4, 5, 6)], columns).write(name, "delete").execute(spark)
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET IDENTIFIER FIELDS __s0")
    values([(2, 9)], {"__s0": "i64", "__s1": "i64"}).write(name, "update").execute(spark)
    assert stored(spark, name) == bag([(2, 9, 3, 4, 5, 6)])


def test_values_of_updates_that_are_subqueries(spark: SparkSession) -> None:
    columns = {"id": "i64?", "k": "i64?"}
    name = new_table(spark, [(1, 10), (2, 20)], columns)
    table: Any = sd.read_named(name, columns)
    largest = sd.scalar_subquery(table.aggregate(m=lambda r: f.max(r.k)))
    sd.update(name, columns, {"k": lambda r: largest}, True).execute(spark)
    assert stored(spark, name) == bag([(1, 20), (2, 20)])

    def before(r: Any) -> Any:
        return table.filter(lambda q: q.id < r.id)

    both = {"k": lambda r: sd.scalar_subquery(before(r).aggregate(m=lambda q: f.max(q.id)))}
    sd.update(name, columns, both, lambda r: r.k > 5).execute(spark)
    assert stored(spark, name) == bag([(1, None), (2, 1)])
    with refused(UnsupportedError, "execute", "both have a subquery of the table itself"):
        sd.update(name, columns, both, lambda r: sd.exists(before(r))).execute(spark)
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET TBLPROPERTIES ('write.update.mode'='merge-on-read')")
    with refused(UnsupportedError, "execute", "write.update.mode is merge-on-read"):
        sd.update(name, columns, both, True).execute(spark)


def test_an_update_of_no_rows_at_all(spark: SparkSession) -> None:
    name = new_table(spark, [])
    assert sd.update(name, COLUMNS, {"id": 1}, where=True).collect(spark)[0][0] == 0


def test_subqueries_in_updates(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0), (2, "b", 2.0), (3, "c", None), (4, None, 4.0)])
    table: Any = sd.read_named(name, COLUMNS)
    names: Any = values([("a",), ("c",)], {"n": "string"})
    update = sd.update(name, COLUMNS, {"price": 9.0}, where=lambda r: r.name.is_in(names))
    assert update.collect(spark)[0][0] == 2
    follows = sd.update(
        name,
        COLUMNS,
        {"price": lambda r: sd.scalar_subquery(table.aggregate(top=lambda t: f.max(t.price)).select("top"))},
        where=lambda r: sd.exists(table.filter(lambda t: t.id == r.id + 1)),
    )
    assert follows.collect(spark)[0][0] == 3
    assert stored(spark, name) == bag([(1, "a", 9.0), (2, "b", 9.0), (3, "c", 9.0), (4, None, 4.0)])


def test_what_an_update_gives_can_be_computed_with(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0), (2, "b", 2.0)])
    update: Any = sd.update(name, COLUMNS, {"name": "z"}, where=True)
    assert update.select(twice=lambda r: r.modified_records * 2).collect(spark)[0][0] == 4
    assert len(snapshots(spark, name)) == 2, "run once"
    update = sd.update(name, COLUMNS, {"name": "y"}, where=True)
    both: Any = update.union_all(update)
    assert [row[0] for row in both.collect(spark)] == [2, 2]
    assert len(snapshots(spark, name)) == 3, "run once, also where its count is used twice"


def test_nothing_is_changed_if_what_stands_above_cannot_run(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0)])
    written: Any = values([(2, "b", 2.0)]).write(name, output="modified_records")
    unknown = written.extension_single(sd.AnyMessage("example.com/acme.Rule", b"1"), {"a": sd.I64})
    with refused(UnsupportedError, "execute", "extension single"):
        unknown.execute(spark)
    assert len(snapshots(spark, name)) == 1


def test_rows_replace_those_with_the_same_key(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0), (2, "b", 2.0), (3, None, None)])
    new = values([(2, "B", None), (3, "C", 3.0), (9, "new", 9.0)])
    with refused(UnsupportedError, "execute", "no identifier fields"):
        new.write(name, "update").execute(spark)
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET IDENTIFIER FIELDS id")
    changed = new.write(name, "update", output="modified_records").collect(spark)
    assert bag(changed) == bag([(2, "B", None), (3, "C", 3.0)])
    assert stored(spark, name) == bag([(1, "a", 1.0), (2, "B", None), (3, "C", 3.0)])
    with refused(ExecutionError, "execute", "update"):
        values([(1, "x", 1.0), (1, "y", 1.0)]).write(name, "update").execute(spark)
    assert stored(spark, name) == bag([(1, "a", 1.0), (2, "B", None), (3, "C", 3.0)])


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_changes_of_each_format_and_write_mode(version: int, mode: str, spark: SparkSession) -> None:
    modes = ", ".join(f"'write.{statement}.mode' = '{mode}'" for statement in ("update", "merge", "delete"))
    rows: Rows = [(1, "a", 1.0), (2, "b", 2.0), (2, "b", 2.0)]
    name = new_table(spark, rows, clauses=f"TBLPROPERTIES ('format-version' = '{version}', {modes})")
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET IDENTIFIER FIELDS id")
    update = sd.update(name, COLUMNS, {"price": 3.0}, where=lambda r: r.id == 2)
    delete = values([(2, "b", 3.0)]).write(name, "delete", output="modified_records")
    by_key = values([(1, "A", None)]).write(name, "update", output="modified_records")
    if (version, mode) == (1, "merge-on-read"):
        for change in (update, delete, by_key):
            with refused(UnsupportedError, "execute", "format version 1", "merge-on-read"):
                change.execute(spark)
        assert stored(spark, name) == bag(rows)
        return
    assert [tuple(row) for row in update.collect(spark)] == [(2,)]
    assert bag(delete.collect(spark)) == bag([(2, "b", 3.0)])
    assert bag(by_key.collect(spark)) == bag([(1, "A", None)])
    assert stored(spark, name) == bag([(1, "A", None), (2, "b", 3.0)])


def test_a_table_by_its_last_name_alone(spark: SparkSession) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.`the select`")
    spark.sql("USE lake.`the select`")
    try:
        values([(1, "a", 1.0), (2, "b", 2.0)]).write("t", "ctas").execute(spark)
        assert sd.update("t", COLUMNS, {"name": "z"}, where=lambda r: r.id == 1).collect(spark)[0][0] == 1
        some: Any = values([(2,)], {"k": "i64"})
        assert sd.update("t", COLUMNS, {"name": "y"}, where=lambda r: r.id.is_in(some)).collect(spark)[0][0] == 1
        gone = values([(2, "y", 2.0)]).write("t", "delete", output="modified_records")
        assert bag(gone.collect(spark)) == bag([(2, "y", 2.0)])
        assert stored(spark, ("t",)) == bag([(1, "z", 1.0)])
        with refused(UnsupportedError, "execute", "16 bits"):  # a table, though a catalog has the same name
            values([(1,)], {"small": "i16"}).write("lake", "ctas").execute(spark)
        spark.sql("USE spark_catalog.plain")
        values([(1,)], {"small": "i16"}).write("lake", "ctas").execute(spark)
        assert stored(spark, ("lake",)) == bag([(1,)])
    finally:
        spark.sql("USE spark_catalog.default")


@pytest.mark.parametrize("by_name", [True, False], ids=["by its name", "of the session"])
def test_a_branch_is_changed(by_name: bool, spark: SparkSession) -> None:
    rows: Rows = [(1, "a", 1.0), (2, "b", 2.0)]
    table = new_table(spark, rows, clauses="TBLPROPERTIES ('write.wap.enabled' = 'true')")
    spark.sql(f"ALTER TABLE {'.'.join(table)} SET IDENTIFIER FIELDS id")
    name: Any = (*table, "branch_b") if by_name else table
    some: Any = values([(9,)], {"k": "i64"})
    if by_name:
        spark.sql(f"ALTER TABLE {'.'.join(table)} CREATE BRANCH b")
    else:
        spark.conf.set("spark.wap.branch", "b")
    try:
        values([(9, "x", 9.0)]).write(name).execute(spark)
        assert sd.update(name, COLUMNS, {"price": 5.0}, where=lambda r: r.id.is_in(some)).collect(spark)[0][0] == 1
        assert sd.update(name, COLUMNS, {"price": 6.0}, where=lambda r: r.id == 9).collect(spark)[0][0] == 1
        key = values([(1, "A", None)]).write(name, "update", output="modified_records")
        assert bag(key.collect(spark)) == bag([(1, "A", None)])
        gone = values([(2, "b", 2.0)]).write(name, "delete", output="modified_records")
        assert bag(gone.collect(spark)) == bag([(2, "b", 2.0)])
        assert stored(spark, name) == bag([(1, "A", None), (9, "x", 6.0)])
    finally:
        spark.conf.unset("spark.wap.branch")
    assert stored(spark, table) == bag(rows)


def test_parts_of_a_table_are_not_altered_or_dropped(spark: SparkSession) -> None:
    name = new_table(spark, [(1, "a", 1.0)])
    spark.sql(f"ALTER TABLE {'.'.join(name)} CREATE BRANCH b")
    spark.sql(f"ALTER TABLE {'.'.join(name)} CREATE TAG t")
    for part in ("branch_b", "tag_t", "snapshots", "all_files"):
        whole: Any = (*name, part)
        for change in (
            values([(2, "b", 2.0)]).write(whole, "ctas", create_mode="replace_if_exists"),
            sd.create_table(whole, COLUMNS, or_replace=True),
            sd.alter_table(whole, {**COLUMNS, "new": "i64?"}),
            sd.drop_table(whole),
        ):
            with refused(UnsupportedError, "execute", ".".join(name)):
                change.execute(spark)
    assert stored(spark, (*name, "branch_b")) == stored(spark, name) == bag([(1, "a", 1.0)])
    values([(1,)], {"a": "i64"}).write(("lake", "db", "files"), "ctas").execute(spark)  # a name like any other
    sd.drop_table(("lake", "db", "files")).execute(spark)
