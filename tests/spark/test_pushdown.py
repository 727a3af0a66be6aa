"""Comparisons over files: of constants that Spark's readers are wrong about no row is lost, others the readers get."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

import substrait_dsl as sd
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

UTC = dt.UTC
OLD = dt.datetime(1500, 3, 1, tzinfo=UTC)
GAP = dt.date(1582, 10, 10)
GAP_MOMENT = dt.datetime(1582, 10, 10, tzinfo=UTC)
FULL_WIDTH, EMOJI = "\uff22", "\U0001f600"
LATE = dt.datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC)

Case = tuple[str, str, list[Any], Any, Sequence[Callable[[Any, Any], Any]]]

EQUAL: Sequence[Callable[[Any, Any], Any]] = [
    lambda x, c: x == c,
    lambda x, c: x >= c,
    lambda x, c: ~(x < c),
    lambda x, c: x.between(c, c),
    lambda x, c: x.is_in([c]),
    lambda x, c: f.is_not_distinct_from(x, c),
    lambda x, c: sd.record(x, x).is_in([(c, c)]),
    lambda x, c: sd.record(c if isinstance(c, sd.Expr) else sd.lit(c), sd.lit(1)).is_in([(x, 1)]),
    lambda x, c: sd.switch(x, {c: True}, False),
    lambda x, c: f.nullif(x, c).is_null(),
    lambda x, c: x.cast("string?") == sd.lit(c).cast("string"),
]
"""What holds for one row, that which equals the constant: it is the last, and none is NULL."""
BELOW: Sequence[Callable[[Any, Any], Any]] = [
    lambda x, c: x < c,
    lambda x, c: x != c,
    lambda x, c: ~x.is_in([c]),
    lambda x, c: ~(x >= c),
    lambda x, c: f.is_distinct_from(x, c),
]
"""What holds for one row, the only one, which is below the constant."""

CASES: list[Case] = [
    # UTF-16 has the emoji first, UTF-8 and Spark the letter.
    ("orc", "string?", ["a", FULL_WIDTH, EMOJI], FULL_WIDTH, [EQUAL[0], *EQUAL[3:]]),
    ("orc", "string?", ["b", EMOJI], "\uff21", [lambda x, c: x > c, lambda x, c: ~(x <= c)]),
    ("orc-spark", "precision_timestamp_tz<6>?", [OLD], OLD, EQUAL[:-1]),
    ("orc-spark", "date?", [OLD.date()], OLD.date(), EQUAL),
    ("parquet", "string?", ["a", EMOJI], EMOJI, EQUAL),
    ("parquet", "date?", [dt.date(1000, 1, 1), GAP], GAP, EQUAL),
    ("parquet", "precision_timestamp_tz<6>?", [GAP_MOMENT], GAP_MOMENT, EQUAL[:-1]),
    ("parquet", "precision_timestamp_tz<6>?", [LATE.replace(microsecond=999_000)], LATE, BELOW),
]  # fmt: skip

ARROW = {"string?": pa.string(), "date?": pa.date32(), "precision_timestamp_tz<6>?": pa.timestamp("ms", "UTC")}


def stored(form: str, kind: str, values: list[Any], folder: Path, spark: SparkSession) -> sd.Relation[Any]:
    if form == "orc-spark":
        sd.read_virtual([(value,) for value in values], {"x": kind}).select("x", n=1).execute(spark).coalesce(
            1
        ).write.option("orc.bloom.filter.columns", "x").orc(str(folder / "o"))
        return sd.read_files(folder / "o", {"x": kind, "n": "i64?"}, format="orc", kind="folder")
    path = folder / f"x.{form}"
    table = pa.table({"x": pa.array(values, ARROW[kind]), "n": [1] * len(values)})
    write: Any = {"orc": pyarrow.orc.write_table, "parquet": pyarrow.parquet.write_table}[form]
    write(table, path)
    read: Any = sd.read_files
    rows: sd.Relation[Any] = read(path, {"x": kind, "n": "i64?"}, format=form)
    return rows


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}-{case[3]!a}")
def test_no_row_is_lost(case: Case, tmp_path: Path, spark: SparkSession) -> None:
    form, kind, values, constant, conditions = case
    rows = stored(form, kind, values, tmp_path, spark)
    one = sd.read_virtual([(constant,)], {"c": kind.rstrip("?")})
    computed = sd.scalar_subquery(one)
    of_constants = (EQUAL[8], EQUAL[10])
    tests = [test(rows.c.x, constant) for test in conditions]
    tests += [test(rows.c.x, computed) for test in conditions if test not in of_constants]
    assert [len(rows.filter(test).collect(spark)) for test in tests] == [1] * len(tests)
    column = rows.with_columns(c=lambda r: sd.lit(constant))
    tests = [test(column.c.x, column.c.c) for test in conditions if test not in of_constants]
    assert [len(column.filter(test).collect(spark)) for test in tests] == [1] * len(tests)
    other = rows.select(c=lambda r: sd.lit(constant))
    first = conditions[0]
    joined = [
        rows.join(other, lambda x, y: first(x.x, y.c), "left_semi"),
        other.join(rows, lambda x, y: first(y.x, x.c), "right_semi"),
        rows.filter(lambda r: sd.exists(other.filter(lambda o: first(r.x, o.c)))),
    ]
    assert [len(each.collect(spark)) for each in joined] == [1, 1, 1]


def test_what_readers_are_right_about_they_get(tmp_path: Path, spark: SparkSession) -> None:
    """Whatever filters them: a day, a text, a number, and a time reckoned from now."""
    day = dt.date(2024, 2, 29)
    pushed: list[tuple[str, list[Any], Callable[[Any], Any], str]] = [
        ("date?", [day], lambda r: r.x == day, "EqualTo(x,2024-02-29)"),
        ("date?", [day], lambda r: r.x > sd.current_date() - sd.YearMonths(0, 1), "GreaterThan(x,"),
        (
            "date?",
            [day],
            lambda r: r.x >= (sd.current_date() - dt.timedelta(days=7)).cast(sd.Date),
            "GreaterThanOrEqual(x,",
        ),
        (
            "precision_timestamp_tz<6>?",
            [LATE.replace(microsecond=0)],
            lambda r: r.x >= sd.current_timestamp() - dt.timedelta(days=7) - dt.timedelta(hours=1),
            "GreaterThanOrEqual(x,",
        ),
        ("string?", ["é"], lambda r: r.x.is_in(["é", "a"]), "In(x, ["),
        ("string?", ["é"], lambda r: r.n < 2, "LessThan(n,2)"),
        (
            "precision_timestamp_tz<6>?",
            [LATE.replace(microsecond=0)],
            lambda r: r.x >= sd.current_timestamp() - dt.timedelta(days=7),
            "GreaterThanOrEqual(x,",
        ),
    ]
    for kind, values, condition, filter_ in pushed:
        rows = stored("parquet", kind, values, tmp_path, spark).filter(condition)
        assert filter_ in rows.explain(spark, "formatted"), kind


def test_decimals_with_more_digits_than_a_file_has(tmp_path: Path, spark: SparkSession) -> None:
    """Spark's reader takes the last 32 or 64 bits of a constant for a file whose decimals have no more."""
    for kind, number in (("DECIMAL(5,2)", "1.25"), ("DECIMAL(12,2)", "2.25"), ("DECIMAL(20,2)", "3.25")):
        spark.sql(f"SELECT CAST({number} AS {kind}) v").write.mode("append").parquet(str(tmp_path))
    spark.read.schema("v DECIMAL(38,2)").parquet(str(tmp_path)).createOrReplaceTempView("pushdown_decimals")
    t: Any = sd.read_named("pushdown_decimals", {"v": "decimal<38,2>?"})
    numbers = [Decimal("1.25"), Decimal("2.25"), Decimal("3.25")]
    above = sd.read_virtual([(Decimal("42949673.00"),)], {"c": "decimal<38,2>"})
    below: list[Callable[[Any], Any]] = [
        lambda r: r.v < Decimal("42949673.00"),  # 2**32 units and 4
        lambda r: r.v != Decimal("42949674.21"),  # 2**32 units and 125
        lambda r: ~r.v.is_in([Decimal("42949674.21")]),
        lambda r: r.v < Decimal("9" * 36),
        lambda r: r.v > Decimal("-42949673.00"),
        lambda r: r.v < sd.scalar_subquery(above),
    ]
    for condition in below:
        assert sorted(row.v for row in t.filter(condition).collect(spark)) == numbers
    constant = t.with_columns(c=sd.lit(Decimal("42949673.00"), sd.Decimal(38, 2))).filter(lambda r: r.v < r.c)
    assert sorted(row.v for row in constant.collect(spark)) == numbers
    few = t.filter(lambda r: r.v < Decimal("2.25"))
    assert [row.v for row in few.collect(spark)] == numbers[:1]
    assert "LessThan(v,2.25)" in few.explain(spark, "formatted")


def test_null_among_numbers(tmp_path: Path, spark: SparkSession) -> None:
    """Spark's reader of ORC fails if it is given one."""
    pa.orc.write_table(pa.table({"x": pa.array([1, 2, None], pa.int64())}), tmp_path / "x.orc")
    rows = sd.read_files(tmp_path / "x.orc", {"x": "i64?"}, format="orc")
    assert rows.filter(lambda r: r.x.is_in([1, None])).collect(spark) == [(1,)]
    assert rows.filter(lambda r: ~r.x.is_in([1, None])).collect(spark) == []
    known = rows.select(x=lambda r: r.x, found=lambda r: r.x.is_in([1, None])).collect(spark)
    assert sorted(known, key=str) == [(1, True), (2, None), (None, None)]


def test_a_column_in_a_list_that_turns_out_to_be_null(tmp_path: Path, spark: SparkSession) -> None:
    """As where an outer join meets no rows, which Spark knows before it reads the file."""
    pa.orc.write_table(pa.table({"x": pa.array([1, 2, None], pa.int64())}), tmp_path / "x.orc")
    rows = sd.read_files(tmp_path / "x.orc", {"x": "i64?"}, format="orc")
    none = sd.read_virtual([(1,)], {"y": "i64"}).filter(lambda r: sd.lit(False))
    joined = none.join(rows, lambda l, r: l.y == r.x, "right")
    assert joined.filter(lambda r: r.x.is_in([2, r.y])).collect(spark) == [(None, 2)]


def test_a_subquery_that_gives_null(tmp_path: Path, spark: SparkSession) -> None:
    """Spark's reader of ORC fails if it is given one for an integer."""
    kinds = {"y": "i8?", "h": "i16?", "i": "i32?", "l": "i64?"}
    numbers = pa.array([1, 2, None])
    columns = {name: numbers.cast(kind) for name, kind in zip(kinds, ("int8", "int16", "int32", "int64"), strict=True)}
    pa.orc.write_table(pa.table(columns), tmp_path / "x.orc")
    rows: Any = sd.read_files(tmp_path / "x.orc", kinds, format="orc")
    tests: list[tuple[Callable[[Any, Any], Any], int]] = [
        (lambda x, null: x == null, 0),
        (lambda x, null: x != null, 0),
        (lambda x, null: x < null, 0),
        (lambda x, null: ~x.is_in([null]), 0),
        (f.is_distinct_from, 2),
        (f.is_not_distinct_from, 1),
    ]
    for name in kinds:
        null = sd.scalar_subquery(rows.filter(lambda r: r.l > 5).limit(1).select(name))
        for test, count in tests:
            found = rows.filter(lambda r, name=name, null=null, test=test: test(r[name], null))
            assert len(found.collect(spark)) == count, name


def test_patterns_without_wildcards(tmp_path: Path, spark: SparkSession) -> None:
    rows = stored("orc", "string?", ["a", FULL_WIDTH, EMOJI], tmp_path, spark)
    assert rows.filter(lambda r: f.like(r.x, FULL_WIDTH)).collect(spark) == [(FULL_WIDTH, 1)]
