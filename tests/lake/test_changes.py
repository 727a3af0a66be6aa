"""Iceberg tables: rows inserted, deleted, updated and replaced, and what the tables were before."""

from __future__ import annotations

import math
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[tuple[Any, ...]]

COLUMNS = {"id": "i64", "name": "string?", "price": "fp64?"}
NAN = math.nan
_NUMBERS = count()


def new_table(spark: SparkSession, rows: Rows, columns: Any = None, clauses: str = "") -> tuple[str, str, str]:
    """A table with these rows, made by Spark's own statements."""
    name = ("lake", "db", f"t{next(_NUMBERS)}")
    kinds = {"i64": "BIGINT", "i32": "INT", "string": "STRING", "fp64": "DOUBLE"}
    declared = ", ".join(
        f"{column} {kinds[kind.rstrip('?')]}{'' if kind.endswith('?') else ' NOT NULL'}"
        for column, kind in (columns or COLUMNS).items()
    )
    spark.sql(f"CREATE TABLE {'.'.join(name)} ({declared}) USING iceberg {clauses}")
    if rows:
        values = ", ".join(f"({', '.join(map(_sql, row))})" for row in rows)
        spark.sql(f"INSERT INTO {'.'.join(name)} VALUES {values}")
    return name


def _sql(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"double('{value}')"
    return f"'{value}'" if isinstance(value, str) else str(value)


def stored(spark: SparkSession, name: tuple[str, ...]) -> Counter[tuple[Any, ...]]:
    """The rows of a table, as Spark itself reads them; NaN as a text, which equals itself."""
    return bag(map(tuple, spark.table(".".join(name)).collect()))


def bag(rows: Any) -> Counter[tuple[Any, ...]]:
    return Counter(tuple("NaN" if value != value else value for value in row) for row in rows)


def values(rows: Rows, columns: Any = None) -> Any:
    return sd.read_virtual(rows, columns or COLUMNS)


def snapshots(spark: SparkSession, name: tuple[str, ...]) -> list[int]:
    """The ids of a table's snapshots, oldest first."""
    found = spark.sql(f"SELECT snapshot_id FROM {'.'.join(name)}.snapshots ORDER BY committed_at")
    return [row[0] for row in found.collect()]


TWICE: Rows = [
    (1, "a", 0.5),
    (1, "a", 0.5),
    (1, "a", 0.5),
    (2, None, None),
    (2, None, None),
    (3, "c", NAN),
    (4, "d", 1.0),
]


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
    name = ("lake", "db", f"t{next(_NUMBERS)}")
    sd.create_table(name, columns).execute(spark)
    rows: Rows = [(1, {"x": 1, "ys": ["a", "b"]}), (2, None), (3, {"x": 2, "ys": None})]
    values(rows, columns).write(name).execute(spark)
    read = sd.read_named(name, columns).sort("id").collect(spark)
    assert [(row[0], row[1] and row[1].asDict()) for row in read] == rows


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


def test_a_delete_compares_whole_rows(spark: SparkSession) -> None:
    name = new_table(spark, TWICE)
    with refused(SchemaError, "execute", '"price"'):
        values([(1, "a")], {"id": "i64", "name": "string?"}).write(name, "delete").execute(spark)


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


# --- new tables


def test_each_create_mode(spark: SparkSession) -> None:
    first, second = [(1, "a", 1.0)], [(2, None, None), (2, None, None)]
    for mode, expected in {
        "error_if_exists": first,
        "ignore_if_exists": first,
        "append_if_exists": first + second,
        "replace_if_exists": second,
    }.items():
        name = ("lake", "db", f"t{next(_NUMBERS)}")
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
        name = ("lake", "db", f"t{next(_NUMBERS)}")
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
    name = ("lake", "db", f"t{next(_NUMBERS)}")

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
