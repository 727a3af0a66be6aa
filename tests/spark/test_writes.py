"""Tables of Spark's own catalog and in memory: what is written there, made, altered and dropped."""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.spark.written import COLUMNS, FIRST, SECOND, Rows, failing, values
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NUMBERS = count()


@pytest.fixture(scope="module")
def database(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database whose tables lie in a folder of their own."""
    name = "written"
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {name} LOCATION '{tmp_path_factory.mktemp('tables')}'")
    return name


@pytest.fixture
def name(database: str) -> tuple[str, str]:
    """The name of a table that is not there."""
    return database, f"t{next(_NUMBERS)}"


def stored(spark: SparkSession, name: tuple[str, ...]) -> Counter[tuple[Any, ...]]:
    return Counter(map(tuple, spark.table(".".join(name)).collect()))


def tables(spark: SparkSession, database: str) -> set[str]:
    return {table.name for table in spark.catalog.listTables(database)}


# --- tables


def test_insert(name: tuple[str, str], spark: SparkSession) -> None:
    sd.create_table(name, COLUMNS).execute(spark)
    nothing = values(FIRST).write(name).execute(spark)
    assert (nothing.columns, nothing.count()) == ([], 0)
    records = values(SECOND).write(name, output="modified_records").execute(spark)
    assert [tuple(row) for row in records.collect()] == SECOND
    values([]).write(name).execute(spark)
    sd.read_named(name, COLUMNS).write(name).execute(spark)  # of itself
    assert stored(spark, name) == Counter((FIRST + SECOND) * 2)


def test_rows_that_a_user_keeps_are_kept(name: tuple[str, str], spark: SparkSession) -> None:
    spark.sql("SELECT id FROM range(3)").createOrReplaceTempView("kept_by_a_user")
    read = sd.read_named("kept_by_a_user", {"id": "i64"})
    frame = read.execute(spark).cache()
    try:
        for op in ("ctas", "insert"):
            read.write(name, op).execute(spark)
            assert frame.storageLevel.useMemory, op
    finally:
        frame.unpersist()


def test_every_type_comes_back(name: tuple[str, str], spark: SparkSession) -> None:
    nested = sd.Struct((sd.I32(), sd.List(sd.String(nullable=True))), ("x", "the y"), nullable=True)
    columns: Any = {
        "a": "boolean?",
        "b": "i8",
        "c": "i16?",
        "d": "i32",
        "e": "fp32?",
        "f": "decimal<38,10>?",
        "g": "binary?",
        "h": "date?",
        "i": "precision_timestamp<6>?",
        "j": "precision_timestamp_tz<6>",
        "k": "list<i64?>?",
        "l": "map<string, fp64?>?",
        "m": nested,
        "select": "string",
    }
    moment = dt.datetime(1969, 12, 31, 23, 59, 59, 999999)
    row: tuple[Any, ...] = (None, -128, 32767, -5, 0.5, Decimal("-1e-10"), b"\x00", dt.date(1600, 2, 29), moment)
    row += (moment.replace(tzinfo=dt.UTC), [1, None], {"k": None}, {"x": 1, "the y": ["", None]}, "x")
    sd.create_table(name, columns).execute(spark)
    values([row], columns).write(name).execute(spark)
    values([row], columns).write((name[0], name[1] + "c"), "ctas").execute(spark)
    expected = values([row], columns).collect(spark)
    for written in (name, (name[0], name[1] + "c")):
        assert sd.read_named(written, columns).collect(spark) == expected


def test_each_create_mode(database: str, spark: SparkSession) -> None:
    for mode, expected in {
        "error_if_exists": FIRST,
        "ignore_if_exists": FIRST,
        "append_if_exists": FIRST + SECOND,
        "replace_if_exists": SECOND,
    }.items():
        name = (database, f"m_{mode}")
        values(FIRST).write(name, "ctas", create_mode=mode).execute(spark)
        again = values(SECOND).write(name, "ctas", create_mode=mode, output="modified_records")
        if mode == "error_if_exists":
            with refused(ExecutionError, "execute", "already"):
                again.execute(spark)
        else:
            assert [tuple(row) for row in again.collect(spark)] == ([] if mode == "ignore_if_exists" else SECOND)
        assert stored(spark, name) == Counter(expected), mode


def test_a_table_is_replaced_by_a_query_over_it(name: tuple[str, str], spark: SparkSession) -> None:
    values(FIRST).write(name, "ctas").execute(spark)
    before = tables(spark, name[0])
    table: Any = sd.read_named(name, COLUMNS)
    table.filter(lambda r: r.price.is_null()).select("id").write(name, "ctas", create_mode="replace_if_exists").execute(
        spark
    )
    assert stored(spark, name) == Counter([(2,), (2,)])
    assert tables(spark, name[0]) == before, "nothing else is left"


def test_a_task_that_fails_changes_nothing(name: tuple[str, str], spark: SparkSession) -> None:
    values(FIRST).write(name, "ctas").execute(spark)
    before = tables(spark, name[0])
    for change in (
        failing(FIRST).write(name),
        failing(FIRST).write(name, output="modified_records"),
        failing(FIRST).write(name, "ctas", create_mode="replace_if_exists"),
        failing(FIRST).write(name, "ctas", create_mode="append_if_exists"),
        failing(FIRST).write((name[0], "never"), "ctas"),
    ):
        with pytest.raises(ExecutionError, match=r"overflow in id \+ 1"):
            change.execute(spark)
        assert stored(spark, name) == Counter(FIRST)
        assert tables(spark, name[0]) == before


def test_what_is_required_stays_so(name: tuple[str, str], spark: SparkSession) -> None:
    """Spark's own tables forget NOT NULL."""
    sd.create_table(name, COLUMNS).execute(spark)
    with refused(SchemaError, "execute", "the rows", 'column "id" is required in the table, in the rows i64?'):
        values([(None,)], {"id": "i64?"}).write(name).execute(spark)
    with refused(SchemaError, "execute", 'column "id" is required in the table, and gets no value'):
        values([("x",)], {"name": "string?"}).write(name).execute(spark)
    spark.sql("CREATE OR REPLACE TEMP VIEW with_null AS SELECT CAST(NULL AS BIGINT) AS id")
    wrongly = sd.read_named("with_null", {"id": "i64"})
    with pytest.raises(ExecutionError, match='column "id" is required, but it is NULL'):
        wrongly.write(name).execute(spark)
    assert stored(spark, name) == Counter()


def test_tables_that_do_not_fit_are_refused(name: tuple[str, str], spark: SparkSession) -> None:
    values(FIRST).write(name, "ctas").execute(spark)
    with refused(SchemaError, "execute", 'it has no column "nome"', "name"):
        values([(1, "x")], {"id": "i64", "nome": "string"}).write(name).execute(spark)
    there = 'its columns are "id", "name"'
    with refused(SchemaError, "execute", 'does not fit the rows: it has no column "x"', there):
        values([(1, "x")], {"id": "i64", "x": "string"}).write(name).execute(spark)
    with refused(SchemaError, "execute", 'does not fit the rows: column "id" is bigint, in the rows i32', there):
        values([(1,)], {"id": "i32"}).write(name).execute(spark)
    with refused(SchemaError, "execute", '"ID"'):
        values([(1, 2)], {"id": "i64", "ID": "i64"}).write(name).execute(spark)
    with refused(ExecutionError, "execute", "there is no table", name[1]):
        values(FIRST).write((name[0], name[1] + "x")).execute(spark)
    with refused(ExecutionError, "execute", "there is no table", 'op="ctas" makes the table'):
        values(FIRST).write((name[0], "quite_another")).execute(spark)
    with refused(UnsupportedError, "execute", "${"):
        values(FIRST).write((name[0], "${env:HOME}"), "ctas").execute(spark)
    for change in (values(FIRST).write(name, "delete"), sd.update(name, COLUMNS, {"id": 1}, where=True)):
        with refused(UnsupportedError, "execute", "parquet", "Iceberg"):
            change.execute(spark)
    assert stored(spark, name) == Counter(FIRST)


def test_values_that_a_column_would_change_are_refused(
    name: tuple[str, str], tmp_path: Path, spark: SparkSession
) -> None:
    table = ".".join(name)
    spark.sql(f"CREATE TABLE {table} (id BIGINT, k STRING, b BINARY) USING parquet PARTITIONED BY (k, b)")
    kept = {"k": "string?", "id": "i64"}
    with refused(UnsupportedError, "execute", '"b"', "binary"):
        values([(b"x", 1)], {"b": "binary", "id": "i64"}).write(name).execute(spark)
    values([(" x ", 1), (None, 2)], kept).write(name).execute(spark)
    for folder in ("", "__HIVE_DEFAULT_PARTITION__", "a\0b"):
        with pytest.raises(ExecutionError, match='column "k" tells partitions apart'):
            values([("y", 3), (folder, 4)], kept).write(name).execute(spark)
    assert stored(spark, name) == Counter([(1, " x ", None), (2, None, None)])

    spark.sql(f"CREATE TABLE {table}_char (a CHAR(3), s STRUCT<x: CHAR(2)>, v VARCHAR(3)) USING parquet")
    char = (name[0], name[1] + "_char")
    for columns, row in [({"a": "string"}, ("x",)), ({"a": "fixedchar<4>"}, ("abcd",))]:
        with refused(UnsupportedError, "execute", '"a" is char(3)', "fixedchar<3>"):
            values([row], columns).write(char).execute(spark)
    with refused(UnsupportedError, "execute", '"s" is struct<x:char(2)>'):
        values([({"x": "a"},)], {"s": sd.Struct((sd.String(),), ("x",))}).write(char).execute(spark)
    values([("abc", "x")], {"a": "fixedchar<3>", "v": "varchar<3>"}).write(char).execute(spark)
    assert stored(spark, char) == Counter([("abc", None, "x")])

    spark.sql(f"CREATE TABLE {table}_text (id BIGINT) USING json")
    with refused(UnsupportedError, "execute", "json"):
        values([(1,)], {"id": "i64"}).write((name[0], name[1] + "_text")).execute(spark)
    never = (name[0], "never")
    spark.conf.set("spark.sql.sources.default", "csv")
    try:
        for change in (values(FIRST).write(never, "ctas"), sd.create_table(never, COLUMNS)):
            with refused(UnsupportedError, "execute", "csv"):
                change.execute(spark)
    finally:
        spark.conf.unset("spark.sql.sources.default")
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
    try:
        moments = values([(dt.datetime(2020, 1, 1, microsecond=1, tzinfo=dt.UTC),)], {"t": "precision_timestamp_tz<6>"})
        for target in (never, sd.files_target(tmp_path / "never", "parquet")):
            with refused(UnsupportedError, "execute", '"t"', "microseconds"):
                moments.write(target, "ctas").execute(spark)
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")


def test_texts_longer_than_a_column_are_an_error(name: tuple[str, str], spark: SparkSession) -> None:
    """Spark cuts spaces off them, and does not tell which of the others is too long for what."""
    table = ".".join(name)
    spark.sql(
        f"CREATE TABLE {table} (v VARCHAR(3), s STRUCT<string: STRING, x: VARCHAR(2)>, a ARRAY<VARCHAR(2)>, "
        "m MAP<VARCHAR(2), STRING>, p VARCHAR(2)) USING parquet PARTITIONED BY (p)"
    )
    for column, text in [("v", "abc "), ("v", "abcd"), ("p", "ab "), ("p", "")]:
        for kind in ("string", "varchar<9>"):
            with pytest.raises(ExecutionError, match=f'column "{column}" .*: "{text}"'):
                values([(text,)], {column: kind}).write(name).execute(spark)
    long, short = sd.String(), sd.VarChar(2)
    fields = ("string", "x")
    wrong: list[tuple[str, sd.Type, Any]] = [
        ("s", sd.Struct((long, long), fields), {"string": "", "x": "ab "}),
        ("s", sd.Struct((short, sd.VarChar(3)), fields), {"string": "", "x": "ab "}),
        ("a", sd.List(long), ["ab "]),
        ("m", sd.Map(long, long), {"ab ": ""}),
    ]
    for column, declared, value in wrong:
        with refused(UnsupportedError, "execute", f'"{column}" is ', "varchar(2)", "spaces", "varchar<n>"):
            values([(value,)], {column: declared}).write(name).execute(spark)
    assert stored(spark, name) == Counter()
    fitting: Any = {"v": "string", "s": sd.Struct((long, short), fields), "a": sd.List(sd.FixedChar(2)), "p": "string"}
    longest = ("\U0001f600b ", {"string": "and longer", "x": "ab"}, ["ab"], "b ")
    values([longest], fitting).write(name).execute(spark)
    values([({"ab": "longer"},)], {"m": sd.Map(short, long)}).write(name).execute(spark)
    read: Any = sd.read_named(name, {"v": "string?", "p": "string?"})
    assert read.filter(lambda r: r.v.is_not_null()).collect(spark) == [("\U0001f600b ", "b ")]
    # A new table of such rows has texts of any length.
    columns = {"v": "string?", "p": "string?"}
    read.limit(0).union_all(values([("longer", "p")], columns)).write(
        new := (name[0], f"{name[1]}_new"), "ctas"
    ).execute(spark)
    values([("longest", "and longer")], columns).write(new).execute(spark)
    assert stored(spark, new) == Counter([("longer", "p"), ("longest", "and longer")])


def test_points_in_time_for_folders_are_in_utc(name: tuple[str, str], tmp_path: Path, spark: SparkSession) -> None:
    """The names of folders are local times, of which a session with another zone has one for two points in time."""
    spark.sql(
        f"CREATE TABLE {'.'.join(name)} (id BIGINT, t TIMESTAMP, n TIMESTAMP_NTZ) USING parquet PARTITIONED BY (t, n)"
    )
    columns = {"id": "i64", "t": "precision_timestamp_tz<6>?", "n": "precision_timestamp<6>?"}
    hour = dt.datetime(2024, 10, 27, 0, 30)
    moments = [(n, (hour + dt.timedelta(hours=n)).replace(tzinfo=dt.UTC), hour) for n in (0, 1)]
    values(moments, columns).write(name).execute(spark)
    folders = tmp_path / "folders"
    values(moments, columns).execute(spark).write.partitionBy("t").parquet(str(folders))
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        for change in (
            values(moments, columns).write(name),
            values(moments, columns).write(name, "ctas", create_mode="append_if_exists"),
            sd.read_named(name, columns),
            sd.read_files(folders, columns),
            values([(1,)], {"x": "i64"}).filter(sd.exists(sd.read_named(name, {"t": columns["t"]}))),
        ):
            with refused(UnsupportedError, "execute", '"t"', "Europe/Berlin", '"UTC"'):
                change.execute(spark)
        values([(2, hour)], {"id": "i64", "n": "precision_timestamp<6>?"}).write(name).execute(spark)
        assert sd.read_named(name, {"id": "i64", "n": columns["n"]}).sort("id").collect(spark) == [
            (number, hour) for number in range(3)
        ]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    for read in (sd.read_named(name, columns), sd.read_files(folders, columns)):
        kept = read.filter(sd.col("id") < 2).sort("id").collect(spark)
        assert [row[1].astimezone(dt.UTC) for row in kept] == [row[1] for row in moments]


def test_a_required_column_may_be_left_to_its_default(name: tuple[str, str], spark: SparkSession) -> None:
    # DESCRIBE lists columns with defaults among what it says of the table, such as its Type and Provider.
    columns = {"id": "i64", "Type": "string", "Provider": "i64", "currency": "string"}
    sd.create_table(name, columns, {"Type": "VIEW", "Provider": 7, "currency": "EUR"}).execute(spark)
    values([(1,)], {"id": "i64"}).write(name).execute(spark)
    with refused(SchemaError, "execute", 'column "id" is required in the table, and gets no value'):
        values([("USD",)], {"currency": "string"}).write(name).execute(spark)
    assert stored(spark, name) == Counter([(1, "VIEW", 7, "EUR")])


def test_a_table_is_replaced_in_its_format_and_by_any_of_its_names(name: tuple[str, str], spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE {'.'.join(name)} (id BIGINT) USING orc")
    before = tables(spark, name[0])
    here = spark.catalog.currentDatabase()
    spark.sql(f"USE {name[0]}")
    try:
        for number, called in enumerate([name, ("spark_catalog", *name), name[1:]]):
            values([(number,)], {"id": "i64"}).write(called, "ctas", create_mode="replace_if_exists").execute(spark)
            assert stored(spark, name) == Counter([(number,)])
    finally:
        spark.sql(f"USE {here}")
    assert tables(spark, name[0]) == before, "nothing else is left"
    details = dict(
        map(tuple, spark.sql(f"DESCRIBE TABLE EXTENDED {'.'.join(name)}").select("col_name", "data_type").collect())
    )
    assert details["Provider"] == "orc"


def test_names_of_all_kinds(database: str, spark: SparkSession) -> None:
    columns = {"a b": "i64", "select": "i64", "x.y": "i64", "größe": "i64"}
    name = (database, "TABLE_of_NAMES")
    values([(1, 2, 3, 4)], columns).write(name, "ctas").execute(spark)
    values([(5, 6, 7, 8)], columns).write(name).execute(spark)
    assert sd.read_named(name, columns).sort("a b").collect(spark) == [(1, 2, 3, 4), (5, 6, 7, 8)]
    folders = set(os.listdir("."))
    for other, hint in (("a table", ""), ("out/t.parquet", "files_target"), ("a.b", "a tuple of them")):
        for made in (values([(1, 2, 3, 4)], columns).write((database, other), "ctas"), sd.create_table(other, columns)):
            with refused(ExecutionError, "execute", other, "names of letters, digits and _", hint):
                made.execute(spark)
    assert set(os.listdir(".")) == folders


# --- definitions


def test_tables_are_made_altered_and_dropped(name: tuple[str, str], spark: SparkSession) -> None:
    def given() -> Rows:
        return sorted(map(tuple, spark.table(".".join(name)).collect()))

    sd.create_table(name, {"id": "i64", "k": "i32?", "s": "string?"}, {"k": 5, "s": "it's"}).execute(spark)
    values([(1,)], {"id": "i64"}).write(name).execute(spark)
    assert given() == [(1, 5, "it's")]
    after = {"id": "i64", "k": "i32?", "s": "string?", "d": "decimal<5,2>?"}
    sd.alter_table(name, after, {"k": 6, "d": Decimal("1.50")}).execute(spark)
    values([(2,)], {"id": "i64"}).write(name).execute(spark)
    assert given() == [(1, 5, "it's", Decimal("1.50")), (2, 6, None, Decimal("1.50"))]
    for wrong, word in [
        ({"id": "i64", "k": "i32?", "s": "string?"}, "dropped"),
        ({**after, "k": "i64?"}, "retyped"),
        ({"id": "i64", "number": "i32?", "s": "string?", "d": "decimal<5,2>?"}, "renamed"),
    ]:
        with refused(UnsupportedError, "execute", word):
            sd.alter_table(name, wrong).execute(spark)
    with refused(ExecutionError, "execute", "already"):
        sd.create_table(name, COLUMNS).execute(spark)
    before = tables(spark, name[0])
    sd.create_table(name, {"other": "i64"}, or_replace=True).execute(spark)
    assert (given(), spark.table(".".join(name)).columns) == ([], ["other"])
    assert tables(spark, name[0]) == before
    sd.drop_table(name).execute(spark)
    with refused(ExecutionError, "execute", "there is no table", "if_exists"):
        sd.drop_table(name).execute(spark)
    sd.drop_table(name, if_exists=True).execute(spark)


def test_views(name: tuple[str, str], spark: SparkSession) -> None:
    values(FIRST).write(name, "ctas").execute(spark)
    table: Any = sd.read_named(name, COLUMNS)
    view = (name[0], name[1] + "_view")
    sd.create_view(view, table.filter(lambda r: r.id > 1).aggregate("id", n=f.count())).execute(spark)
    assert stored(spark, view) == Counter([(2, 2)])
    values([(2, "x", None)]).write(name).execute(spark)
    assert stored(spark, view) == Counter([(2, 3)])
    with refused(ExecutionError, "execute", "already"):
        sd.create_view(view, table).execute(spark)
    sd.create_view(view, table.select("id").distinct(), or_replace=True).execute(spark)
    assert stored(spark, view) == Counter([(1,), (2,)])
    sd.alter_view(view, table.select(doubled=lambda r: r.id * 2)).execute(spark)
    assert spark.table(".".join(view)).columns == ["doubled"]
    with refused(UnsupportedError, "execute", "is a view"):
        values([(1,)], {"doubled": "i64"}).write(view).execute(spark)
    with refused(ExecutionError, "execute", "is a view, not a table"):
        sd.drop_table(view).execute(spark)
    with refused(ExecutionError, "execute", "is a table, not a view"):
        sd.drop_view(name).execute(spark)
    sd.drop_view(view).execute(spark)
    with refused(ExecutionError, "execute", "there is no"):
        sd.drop_view(view).execute(spark)
    sd.drop_view(view, if_exists=True).execute(spark)
    spark.range(3).createOrReplaceTempView("of_the_session")
    with refused(UnsupportedError, "execute", "temporary view"):
        sd.create_view(view, sd.read_named("of_the_session", {"id": "i64"})).execute(spark)
    with refused(UnsupportedError, "execute", "one query"):
        sd.create_view(view, sd.read_files("/somewhere", COLUMNS)).execute(spark)
    for change in (sd.create_view("OF_the_session", table, or_replace=True), sd.alter_view("of_the_session", table)):
        with refused(ExecutionError, "execute", "a temporary view of the session has this name"):
            change.execute(spark)
    assert not [row for row in spark.sql("SHOW VIEWS").collect() if not row.isTemporary]


# --- what is given, and what is shown


def test_what_a_change_gives_can_be_computed_with(name: tuple[str, str], spark: SparkSession) -> None:
    sd.create_table(name, COLUMNS).execute(spark)
    written: Any = values(FIRST + SECOND).write(name, output="modified_records")
    counted = written.aggregate("name", n=f.count()).sort("name")
    assert [tuple(row) for row in counted.collect(spark)] == [(None, 2), ("a", 1), ("c", 1)]
    assert stored(spark, name) == Counter(FIRST + SECOND), "written once"
    audit = (name[0], name[1] + "_audit")
    written.select("id").write(audit, "ctas").execute(spark)
    assert stored(spark, audit) == Counter([(1,), (2,), (2,), (3,)])


def test_nothing_is_changed_if_a_change_around_it_is_refused(name: tuple[str, str], spark: SparkSession) -> None:
    sd.create_table(name, COLUMNS).execute(spark)
    written: Any = values(FIRST).write(name, output="modified_records")
    unknown = written.extension_single(sd.AnyMessage("example.com/acme.Rule", b"1"), {"a": sd.I64})
    missing = (name[0], "missing")
    for change in (
        written.write(missing),
        written.write(name, "ctas"),
        written.write(name, "delete"),
        written.select("id").write(sd.virtual_target("missing")),
        unknown.write(missing, "ctas"),
        written.write((name[0], "never"), "ctas", output="modified_records").write(missing),
    ):
        with pytest.raises((ExecutionError, UnsupportedError)):
            change.execute(spark)
    assert stored(spark, name) == Counter()
    assert not {"missing", "never"} & tables(spark, name[0])
    # What an inner change makes is not there yet when the outer one is looked at.
    fresh = (name[0], name[1] + "_fresh")
    twice = written.write(fresh, "ctas", output="modified_records").write(fresh, output="modified_records")
    assert len(twice.collect(spark)) == 3
    assert (stored(spark, name), stored(spark, fresh)) == (Counter(FIRST), Counter(FIRST * 2))


def test_explain_changes_nothing(name: tuple[str, str], spark: SparkSession) -> None:
    sd.create_table(name, COLUMNS).execute(spark)
    shown = values(FIRST).filter(lambda r: r.id > 1).write(name).explain(spark)
    assert "--- on Spark" in shown
    for change in (sd.drop_table(name), sd.update(name, COLUMNS, {"id": 1}, where=True)):
        assert change.explain(spark) == change.explain()
    assert stored(spark, name) == Counter()


# --- memory, and what else is there


def test_tables_in_memory(spark: SparkSession) -> None:
    name = "kept in memory"
    target = sd.virtual_target(name, pin=True)
    read = sd.read_named((name,), COLUMNS)
    with refused(ExecutionError, "execute", "there is none"):
        values(FIRST).write(target).execute(spark)
    values(FIRST).write(target, "ctas").execute(spark)
    with refused(ExecutionError, "execute", "already"):
        values(FIRST).write(target, "ctas").execute(spark)
    values(SECOND).write(sd.virtual_target("KEPT in memory")).execute(spark)
    assert Counter(map(tuple, read.collect(spark))) == Counter(FIRST + SECOND)
    read.limit(0).write(sd.virtual_target(name), "ctas", create_mode="replace_if_exists").execute(spark)
    assert read.collect(spark) == []
    spark.catalog.dropTempView(name)


def test_mistakes_in_names(database: str, name: tuple[str, str], spark: SparkSession) -> None:
    with refused(ExecutionError, "execute", 'no catalog "lake"', "spark.sql.catalog.lake"):
        values(FIRST).write(("lake", *name)).execute(spark)
    with refused(ExecutionError, "execute", 'no table "nowhere.t"', 'nor a database "nowhere"'):
        values(FIRST).write(("nowhere", "t")).execute(spark)
    with refused(ExecutionError, "execute", "nowhere", "CREATE DATABASE"):
        values(FIRST).write(("nowhere", "t"), "ctas").execute(spark)
    values(FIRST).write((database, "of_this"), "ctas").execute(spark)
    with refused(ExecutionError, "execute", "of the view", "nowhere", "CREATE DATABASE"):
        sd.create_view(("nowhere", "v"), sd.read_named((database, "of_this"), COLUMNS)).execute(spark)
    with refused(ExecutionError, "execute", "4 parts"):
        values(FIRST).write(("spark_catalog", "a", "b", "c")).execute(spark)
    for change in (sd.drop_view(name), sd.alter_view(name, sd.read_named("any", COLUMNS))):
        with refused(ExecutionError, "execute", f'no view "{".".join(name)}"'):
            change.execute(spark)
    with refused(SchemaError, "execute", '"a", "A"', "case"):
        sd.create_table(name, {"a": "i64", "A": "i64"}).execute(spark)

    # A number for a name is one that Spark gives a new table, but not one that is there.
    number = (database, "2024")
    values(FIRST).write(number, "ctas").execute(spark)
    with refused(UnsupportedError, "execute", "2024", "number"):
        values(SECOND).write(number, "ctas", create_mode="replace_if_exists").execute(spark)
    assert Counter(map(tuple, spark.table(f"{database}.`2024`").collect())) == Counter(FIRST)
    values(SECOND).write((database, "2024e"), "ctas").execute(spark)
    values(FIRST).write((database, "2024e"), "ctas", create_mode="replace_if_exists").execute(spark)


def test_a_temporary_view_before_a_table(name: tuple[str, str], spark: SparkSession) -> None:
    values(FIRST).write(name, "ctas").execute(spark)
    spark.range(1).createOrReplaceTempView(name[1])
    try:
        with refused(UnsupportedError, "execute", "is a view", "temporary", "database"):
            values(FIRST).write(name[1]).execute(spark)
        for change in (sd.create_table(name[1], COLUMNS), sd.drop_table(name[1])):
            with refused(ExecutionError, "execute", "is a view", "temporary", "database"):
                change.execute(spark)
        values(SECOND).write(name).execute(spark)
    finally:
        spark.catalog.dropTempView(name[1])
    assert stored(spark, name) == Counter(FIRST + SECOND)


def test_a_table_with_required_parts_gets_columns(name: tuple[str, str], spark: SparkSession) -> None:
    parts = {"id": "i64", "s": sd.Struct.of({"x": sd.I32()}), "l": sd.List(sd.I64())}
    values([(1, {"x": 1}, [1])], parts).write(name, "ctas").execute(spark)
    sd.alter_table(name, {**parts, "extra": "i64?"}).execute(spark)
    assert [tuple(row) for row in spark.table(".".join(name)).collect()] == [(1, (1,), [1], None)]


def test_a_view_of_what_is_there_no_longer(name: tuple[str, str], spark: SparkSession) -> None:
    table: Any = sd.read_named(source := (name[0], "soon_gone"), COLUMNS)
    for after in (lambda: sd.drop_table(source), lambda: values([], {"x": "i64"}).write(source, "ctas", **_REPLACED)):
        values(FIRST).write(source, "ctas", **_REPLACED).execute(spark)
        sd.create_view(name, table.select("id")).execute(spark)
        after().execute(spark)
        with refused(ExecutionError, "execute", "already"):
            sd.create_view(name, table).execute(spark)
        with refused(UnsupportedError, "execute", "is a view"):
            values(FIRST).write(name).execute(spark)
        with refused(ExecutionError, "collect"):
            sd.read_named(name, {"id": "i64"}).collect(spark)
        sd.drop_view(name).execute(spark)
        with refused(ExecutionError, "execute", "there is no view"):
            sd.drop_view(name).execute(spark)


_REPLACED: Any = {"create_mode": "replace_if_exists"}


def test_a_view_and_a_folder_that_are_there(name: tuple[str, str], tmp_path: Path, spark: SparkSession) -> None:
    values(FIRST).write((name[0], "of_view"), "ctas").execute(spark)
    sd.create_view(name, sd.read_named((name[0], "of_view"), COLUMNS)).execute(spark)
    with refused(ExecutionError, "execute", "read itself"):
        sd.create_view(name, sd.read_named(name, COLUMNS), or_replace=True).execute(spark)
    target = sd.files_target(tmp_path / "out")
    values(FIRST).write(target, "ctas").execute(spark)
    with refused(ExecutionError, "execute", "already", "replace_if_exists"):
        values(FIRST).write(target, "ctas").execute(spark)


def test_a_table_that_is_not_there_in_its_turn(spark: SparkSession) -> None:
    """Trees are evaluated in order: what a later one makes, or an earlier one dropped, is not there."""
    rows = sd.read_virtual([(1,)], {"a": "i64"})
    made = sd.subtree(rows.write("made_in_turn", "ctas", create_mode="replace_if_exists"))
    read = sd.read_named("made_in_turn", {"a": "i64"})
    dropped = sd.subtree(sd.drop_table("made_in_turn"))
    later, before = "put the tree that makes it first", "put the tree that reads it first"
    plans = [
        (sd.Plan(read, made), later),
        (sd.Plan(sd.subtree(rows.write("made_in_turn")), made), later),
        (sd.Plan(sd.subtree(read.write("copy_of_made", "ctas")), made), later),
    ]
    for plan, hint in plans:
        with pytest.raises(ExecutionError, match='there is no table "made_in_turn"') as caught:
            plan.execute(spark)
        assert hint in str(caught.value)
        assert caught.value.table == ("made_in_turn",)
    try:
        (frame,) = sd.Plan(made, read).execute(spark)
        assert list(map(tuple, frame.collect())) == [(1,)]
        with refused(ExecutionError, 'there is no table "made_in_turn"', before):
            sd.Plan(dropped, read).execute(spark)
    finally:
        spark.sql("DROP TABLE IF EXISTS made_in_turn")
    with refused(ExecutionError, 'there is no table "made_in_turn"', "register a DataFrame"):
        read.execute(spark)
