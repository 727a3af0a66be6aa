"""Files that are written are read back as the rows that went in; what would not be is an error."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.spark.column_files import stored
from tests.spark.written import BIG, COLUMNS, FIRST, SECOND, failing, values
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_files_of_each_format(kind: Any, tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "out"
    target = sd.files_target(folder, kind)
    read: Any = sd.read_files(folder, COLUMNS, format=kind)
    values(FIRST).write(target, "ctas").execute(spark)
    with refused(ExecutionError, "execute", "out"):
        values(SECOND).write(target, "ctas").execute(spark)
    values(SECOND).write(target, "ctas", create_mode="ignore_if_exists").execute(spark)
    assert Counter(map(tuple, read.collect(spark))) == Counter(FIRST)
    values(SECOND).write(target).execute(spark)
    assert Counter(map(tuple, read.collect(spark))) == Counter(FIRST + SECOND)
    read.filter(lambda r: r.id > 2).write(target, "ctas", create_mode="replace_if_exists").execute(spark)
    with pytest.raises(ExecutionError, match="overflow"):
        failing(FIRST).write(target, "ctas", create_mode="replace_if_exists").execute(spark)
    assert Counter(map(tuple, read.collect(spark))) == Counter(SECOND)
    with refused(UnsupportedError, "execute", "not changed"):
        values(SECOND).write(target, "delete").execute(spark)
    with refused(UnsupportedError, "execute", "ARROW"):
        values(SECOND).write(sd.files_target(folder, "arrow")).execute(spark)


def test_tables_have_the_files_that_were_written(tmp_path: Path, spark: SparkSession) -> None:
    """Spark keeps which files a table of its catalog has, and those below a view of such a table."""
    target, columns = sd.files_target(folder := tmp_path / "out", "parquet"), {"id": "i64"}
    values([(0,)], columns).write(target, "ctas").execute(spark)
    spark.sql(f"CREATE TABLE written_below (id BIGINT) USING parquet LOCATION '{folder}'")
    spark.sql("CREATE TEMPORARY VIEW view_of_below AS SELECT * FROM written_below")
    spark.read.parquet(str(folder)).createOrReplaceTempView("kept_of_files")
    spark.catalog.cacheTable("kept_of_files")
    tables: list[Any] = [
        sd.read_named(name, {"id": "i64?"}) for name in ("view_of_below", "written_below", "kept_of_files")
    ]
    try:
        for number, table in enumerate(tables, 1):
            values([(number,)], columns).write(target).execute(spark)
            assert Counter(row.id for row in table.collect(spark)) == Counter(range(number + 1))
            assert table.aggregate(n=f.count()).collect(spark) == [(number + 1,)]
        _, after = sd.Plan(values([(4,)], columns).write(target), tables[1]).execute(spark)
        assert after.count() == 5
        values([(5,)], columns).write(target).execute(spark)

        def is_in_all(row: Any) -> Any:  # which reads the tables as text
            one, two, three = (sd.exists(table.filter(lambda t: t.id == row.id)) for table in tables)
            return one & two & three

        assert values([(5,), (6,)], columns).filter(is_in_all).collect(spark) == [(5,)]
        assert spark.catalog.isCached("kept_of_files")
    finally:
        spark.catalog.uncacheTable("kept_of_files")
        spark.sql("DROP TABLE written_below")
        for view in ("view_of_below", "kept_of_files"):
            spark.catalog.dropTempView(view)


LOST_BY_ORC: dict[str, list[Any]] = {
    "date": [dt.date(1582, 10, 5), dt.date(1582, 10, 14)],
    "precision_timestamp_tz<6>": [
        dt.datetime(1582, 10, 10, tzinfo=dt.UTC),
        dt.datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=dt.UTC),
    ],
}
KEPT_BY_ORC: dict[str, list[Any]] = {
    "date": [dt.date(1000, 2, 28), dt.date(1582, 10, 4), dt.date(1582, 10, 15)],
    "precision_timestamp_tz<6>": [
        dt.datetime(1969, 12, 31, 23, 59, 58, 999999, tzinfo=dt.UTC),
        dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC),
        dt.datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=dt.UTC),
    ],
    "precision_timestamp<6>": [dt.datetime(1582, 10, 10), dt.datetime(1969, 12, 31, 23, 59, 59, 1)],
}


def test_orc_files_hold_what_is_written_or_that_is_an_error(tmp_path: Path, spark: SparkSession) -> None:
    """The calendar of ORC files has ten days less in 1582."""
    for kind, some in KEPT_BY_ORC.items():
        values = [*some, None]
        rows = sd.read_virtual([(value,) for value in values], {"d": f"{kind}?"})
        rows.write(sd.files_target(tmp_path / kind, "orc"), "ctas").execute(spark)
        read = sd.read_files(tmp_path / kind, {"d": f"{kind}?"}, format="orc", kind="folder")
        assert Counter(read.execute(spark).toArrow()["d"].to_pylist()) == Counter(values)
    for kind, some in LOST_BY_ORC.items():
        for value in some:
            shapes: dict[str, Any] = {
                f"{kind}?": value,
                f"list<{kind}?>?": [None, value],
                f"map<string, list<{kind}>>": {"a": [], "b": [value]},
                f"struct<i64, struct<{kind}?>?>": (1, (value,)),
            }
            for shape, held in shapes.items():
                lost = sd.read_virtual([(held,)], {"d": shape})
                with pytest.raises(ExecutionError, match="ORC files can hold"):
                    lost.write(sd.files_target(tmp_path / "lost", "orc"), "ctas").execute(spark)
    name = "days_lost"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (d DATE) USING orc")
    lost = sd.read_virtual([(dt.date(1582, 10, 10),)], {"d": "date?"})
    for write in (lost.write(name), lost.write(name, "ctas", create_mode="replace_if_exists")):
        with pytest.raises(ExecutionError, match="ORC files can hold"):
            write.execute(spark)
    spark.sql(f"DROP TABLE {name}")
    spark.sql(f"CREATE TABLE {name} (n BIGINT, d DATE) USING orc PARTITIONED BY (d)")
    both = sd.read_virtual([(1, dt.date(1582, 10, 10))], {"n": "i64?", "d": "date?"})
    both.write(name).execute(spark)  # a day in the name of a folder is kept
    assert sd.read_named(name, {"n": "i64?", "d": "date?"}).collect(spark) == [(1, dt.date(1582, 10, 10))]
    spark.sql(f"DROP TABLE {name}")


def test_files_that_could_not_be_written_are_not_in_the_way(tmp_path: Path, spark: SparkSession) -> None:
    target = sd.files_target(tmp_path / "new")
    with pytest.raises(ExecutionError, match="overflow"):
        # In one task, so that no other is still writing.
        values([(BIG, "a", 1.0)]).with_columns(id=lambda r: r.id + 1).write(target, "ctas").execute(spark)
    values(FIRST).write(target, "ctas").execute(spark)
    read = sd.read_files(tmp_path / "new", COLUMNS, kind="folder")
    assert Counter(map(tuple, read.collect(spark))) == Counter(FIRST)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ExecutionError, match="something already"):  # somebody made it
        values(FIRST).write(sd.files_target(tmp_path / "empty"), "ctas").execute(spark)


_BARE = sd.DelimitedText(header_lines_to_skip=1, quote="")


def test_what_cannot_be_written_removes_no_old_files(tmp_path: Path, spark: SparkSession) -> None:
    text = sd.DelimitedText(null_value="NULL")
    cases: list[tuple[Any, str, Any, Any]] = [
        (text, "string?", "kept", "NULL"),
        (text, "string?", "kept", "two\nlines"),
        ("orc", "date", dt.date(2024, 1, 1), dt.date(1582, 10, 10)),
    ]
    for number, (kind, declared, good, bad) in enumerate(cases):
        columns = {"a": declared}
        target = sd.files_target(tmp_path / str(number), kind)
        values([(good,)], columns).write(target, "ctas").execute(spark)
        with pytest.raises(ExecutionError, match="write to"):
            values([(bad,)], columns).write(target, "ctas", create_mode="replace_if_exists").execute(spark)
        assert sd.read_files(tmp_path / str(number), columns, format=kind, kind="folder").collect(spark) == [(good,)]


def test_names_that_orc_files_lose_and_structs_that_parquet_files_lack(tmp_path: Path, spark: SparkSession) -> None:
    named: list[dict[str, Any]] = [{"a`b": "i64"}, {"": "i64"}, {"s": sd.Struct((sd.I64(),), ("a`b",))}]
    for columns in named:
        row = values([(1,) if "s" not in columns else ((1,),)], columns)
        with refused(UnsupportedError, "execute", f'"{next(iter(columns))}" in files of ORC'):
            row.write(sd.files_target(tmp_path / "orc", "orc"), "ctas").execute(spark)
    stored(tmp_path / "x.orc", **{"a`b": [1], "c": [2]})
    with refused(UnsupportedError, "execute", '"a`b" in files of ORC'):
        sd.read_files(tmp_path / "x.orc", {"a`b": "i64?"}, format="orc").execute(spark)
    assert sd.read_files(tmp_path / "x.orc", {"c": "i64?"}, format="orc").collect(spark) == [(2,)]
    spark.sql("DROP TABLE IF EXISTS orc_names")
    spark.sql("CREATE TABLE orc_names USING orc AS SELECT 1L AS `a``b`, 2L AS c")
    declared = "orc_view (`a``b` BIGINT, c BIGINT)"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {declared} USING orc OPTIONS (path '{tmp_path / 'x.orc'}')")
    for name in ("orc_names", "orc_view"):
        with refused(UnsupportedError, "execute", '"a`b" in files of ORC'):
            sd.read_named(name, {"a`b": "i64?"}).execute(spark)
        assert sd.read_named(name, {"c": "i64?"}).collect(spark) == [(2,)]
    spark.sql("DROP TABLE orc_names")
    empty: sd.Struct[Any] = sd.Struct(())
    held: Any
    for type_, held in ((empty, ()), (sd.List(empty), [()])):
        with refused(UnsupportedError, "execute", "structs without fields", '"e"'):
            values([(1, held)], {"a": "i64", "e": type_}).write(sd.files_target(tmp_path / "p"), "ctas").execute(spark)


def test_fields_apart_by_several_characters(tmp_path: Path, spark: SparkSession) -> None:
    both, kind = {"a": "string", "b": "string"}, sd.DelimitedText(field_delimiter="||")
    rows = [("|a", "|b"), ("x||", "y"), ("||", ""), ('"', "a|b")]
    values(rows, both).write(sd.files_target(tmp_path / "out", kind)).execute(spark)
    assert Counter(map(tuple, sd.read_files(tmp_path / "out", both, format=kind).collect(spark))) == Counter(rows)


def test_parquet_files_have_the_names_of_their_columns(tmp_path: Path, spark: SparkSession) -> None:
    with refused(UnsupportedError, "execute", '"${user.dir}"', "Spark would write another"):
        values([(1,)], {"${user.dir}": "i64"}).write(sd.files_target(tmp_path / "bad")).execute(spark)
    assert not (tmp_path / "bad").exists()


def test_delimited_text_is_read_as_it_was_written(tmp_path: Path, spark: SparkSession) -> None:
    columns = {"a": "string", "b": "string?"}
    rows = [("x,y", None), (' "quoted" ', "back\\slash"), ("  spaces  ", "ü"), ("", "'")]
    kind = sd.DelimitedText(null_value="NULL", header_lines_to_skip=1)
    values(rows, columns).write(sd.files_target(tmp_path / "out", kind)).execute(spark)
    read = sd.read_files(tmp_path / "out", columns, format=kind)
    assert Counter(map(tuple, read.collect(spark))) == Counter(rows)
    for row, told in [
        (("two\nlines", None), "several lines"),
        (("a \0", None), "NUL character"),
        (("x", "NULL"), 'stands for NULL in this delimited text, in column "b"'),
    ]:
        with pytest.raises(ExecutionError, match=told):
            values([row], columns).write(sd.files_target(tmp_path / "bad", kind)).execute(spark)
    told_apart: dict[tuple[str, str], tuple[str, str]] = {
        ('a"b', 'c"'): ('"', ""),
        ("a,b", "c"): ("", "\\"),
        ("a", ","): ("", ""),
    }
    for row, (quote, escape) in told_apart.items():
        bare = sd.DelimitedText(quote=quote, escape=escape)
        with pytest.raises(ExecutionError, match="a value of delimited text holds the"):
            values([row], {"a": "string", "b": "string"}).write(sd.files_target(tmp_path / "bad", bare)).execute(spark)
    both = {"a": "string", "b": "string"}
    for delimiter, row in (("||", ("a|", "b")), ("||", ("a", "b|")), ("\t\t", ("a\t", "")), ("aba", ("ab", "x"))):
        several = sd.DelimitedText(field_delimiter=delimiter)
        with pytest.raises(ExecutionError, match="ends as its delimiter begins, in column"):
            values([row], both).write(sd.files_target(tmp_path / "bad", several)).execute(spark)
    empty, tabs = sd.DelimitedText(null_value=""), sd.DelimitedText(field_delimiter="\t")
    blank: list[tuple[tuple[Any, ...], dict[str, str], sd.DelimitedText]] = [
        ((None,), {"a": "string?"}, empty),
        (("  ",), {"a": "string"}, empty),
        (("", " "), {"a": "string", "b": "string"}, tabs),
    ]
    for fields, declared, text in blank:
        with pytest.raises(ExecutionError, match="empty line"):  # which a reader passes over
            values([fields], declared).write(sd.files_target(tmp_path / "bad", text)).execute(spark)
    marked = values([("\ufeffa", "b")], both)
    with pytest.raises(ExecutionError, match=r"begins with U\+FEFF"):
        marked.write(sd.files_target(tmp_path / "marked", sd.DelimitedText())).execute(spark)
    below = sd.DelimitedText(header_lines_to_skip=1)
    marked.write(sd.files_target(tmp_path / "below", below)).execute(spark)
    assert sd.read_files(tmp_path / "below", both, format=below).collect(spark) == [("\ufeffa", "b")]
    values([("", "")], both).write(sd.files_target(tmp_path / "commas", sd.DelimitedText())).execute(spark)
    assert sd.read_files(tmp_path / "commas", both, format=sd.DelimitedText()).collect(spark) == [("", "")]
    for name in ("", " ", "\t", "\0", "a\nb", "a\rb"):  # of which a reader would skip another line, or a part
        with refused(UnsupportedError, "execute", "header line"):
            values([("x",)], {name: "string"}).write(sd.files_target(tmp_path / "bad", below)).execute(spark)
    for name, text in (('a"b', sd.DelimitedText(header_lines_to_skip=1, escape="")), ("a,b", _BARE)):
        with refused(UnsupportedError, "execute", repr(name)[1:-1]):
            values([("x",)], {name: "string"}).write(sd.files_target(tmp_path / "bad", text)).execute(spark)
