"""Reads on Spark: named tables and how they may fail to fit, virtual tables."""

from __future__ import annotations

import datetime as dt
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.spark.rows import collected, counted, values
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> str:
    spark.sql("SELECT 1L AS id, 'Ada' AS `first name`, 36 AS age").createOrReplaceTempView("people")
    return "people"


def test_columns_are_read_by_name(people: str, spark: SparkSession) -> None:
    read = sd.read_named(people, {"age": "i32", "id": "i64"})
    assert collected(read, spark) == [(36, 1)]
    odd = sd.read_named(people, {"first name": "string"})
    assert collected(odd.filter(lambda r: r["first name"] == "Ada"), spark) == [("Ada",)]


def test_a_missing_table_is_named_with_near_misses(people: str, spark: SparkSession) -> None:
    with pytest.raises(ExecutionError, match='there is no table "peple"') as refused:
        sd.read_named("peple", {"id": "i64"}).execute(spark)
    assert refused.value.hint == 'did you mean "people"?'
    with pytest.raises(ExecutionError, match=r'there is no table "nowhere\.people"'):
        sd.read_named(("nowhere", "people"), {"id": "i64"}).execute(spark)
    with pytest.raises(ExecutionError, match=r'there is no table "people\.parquet"') as refused:
        sd.read_named("people.parquet", {"id": "i64"}).execute(spark)
    assert "read_files(path, schema)" in (refused.value.hint or "")


def test_every_column_that_does_not_fit_is_told(people: str, spark: SparkSession) -> None:
    declared = {"id": "i32", "firstname": "string", "age": "string?", "height": "i64"}
    with pytest.raises(SchemaError) as refused:
        sd.read_named(people, declared).execute(spark)
    text = str(refused.value)
    assert 'table "people" does not fit the declared schema' in text
    assert 'column "id" is bigint, declared i32 (int)' in text
    assert 'no column "firstname"' in text
    assert 'column "age" is int, declared string? (string)' in text
    assert 'no column "height"' in text
    assert 'did you mean "first name"?' in text


def test_columns_of_one_name_are_ambiguous(spark: SparkSession) -> None:
    """As a DataFrame may have them after a join: none of them is taken for the one that is meant."""
    twice = "SELECT 1L AS id, 100L AS id, 'a' AS name"
    spark.sql(twice).createOrReplaceTempView("twice")
    assert sd.read_named("twice", {"name": "string"}).collect(spark) == [("a",)]
    for rel in (
        sd.read_named("twice", {"id": "i64"}),
        sd.read_named("twice", {"name": "string", "id": "string"}).filter(lambda r: r.name == "a"),
    ):
        with refused(SchemaError, "execute", 'table "twice" does not fit', 'it has 2 columns "id"', "df.toDF"):
            rel.execute(spark)


@pytest.mark.parametrize("column", ["b", "__s0"])  # the second is what the library could call a column of its own
def test_several_tables_are_looked_up_at_once(column: str, spark: SparkSession) -> None:
    spark.sql("SELECT 1L AS k, 'x' AS a, 0.5D AS unused").createOrReplaceTempView("first_of_three")
    spark.sql(f"SELECT 2 AS `{column}`, 1L AS K").createOrReplaceTempView("second_of_three")
    spark.sql("SELECT DATE'2024-02-29' AS day, 1L AS k").createOrReplaceTempView("third_of_three")
    first = sd.read_named("first_of_three", {"a": "string", "k": "i64"})
    second = sd.read_named("second_of_three", {"k": "i64", column: "i32"})
    third = sd.read_named("third_of_three", {"k": "i64", "day": "date"})
    wide = first.join(second, lambda f, s: f[1] == s[0]).join(third, lambda f, t: f[1] == t[0])
    assert collected(wide, spark) == [("x", 1, 1, 2, 1, dt.date(2024, 2, 29))]
    wrong = sd.read_named("third_of_three", {"k": "i64", "day": "string"})
    with pytest.raises(SchemaError, match=r'table "third_of_three" .* column "day" is date, declared string'):
        first.cross(second).cross(wrong).execute(spark)


def test_a_table_in_a_catalog(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.sql("SELECT 1L AS x").write.parquet(path)
    spark.sql("CREATE DATABASE IF NOT EXISTS shop")
    spark.sql(f"CREATE TABLE shop.things USING parquet LOCATION '{path}'")
    try:
        for names in (("shop", "things"), ("spark_catalog", "shop", "things")):
            assert collected(sd.read_named(names, {"x": "i64"}), spark) == [(1,)]
    finally:
        spark.sql("DROP DATABASE shop CASCADE")


def test_structs_of_tables_are_addressed_by_position(spark: SparkSession) -> None:
    spark.sql("SELECT named_struct('a b', 1L, 'c', 'x') AS s").createOrReplaceTempView("with_struct")
    read = sd.read_named("with_struct", {"s": sd.Struct.of({"a b": sd.I64(), "c": sd.String()})})
    assert collected(read.select(v=lambda r: r.s["c"], w=lambda r: r.s["a b"]), spark) == [("x", 1)]
    assert collected(read, spark)[0][0].asDict() == {"a b": 1, "c": "x"}
    other = sd.read_named("with_struct", {"s": sd.Struct.of({"a": sd.I64(), "c": sd.String()})})
    with pytest.raises(SchemaError, match='column "s" is struct'):
        other.execute(spark)


def test_filters_and_masks(spark: SparkSession) -> None:
    spark.sql("SELECT * FROM VALUES (1L, 'x'), (2L, 'y'), (3L, NULL) AS t(a, b)").createOrReplaceTempView("masked")
    named = sd.read_named("masked", {"a": "i64", "b": "string?"}, filter=lambda r: r.a > 1, columns=["b"])
    assert counted(named, spark) == Counter([("y",), (None,)])
    helped = sd.read_named("masked", {"a": "i64", "b": "string?"}, best_effort_filter=lambda r: r.a > 1)
    assert counted(helped.filter(lambda r: r.a > 1), spark) == Counter([(2, "y"), (3, None)])


def test_a_mask_of_a_struct(spark: SparkSession) -> None:
    inner = sd.Struct.of({"x": sd.I64(), "y": sd.String()})
    schema = NamedStruct.of({"s": sd.Struct.of({"i": inner, "z": sd.Boolean()}, nullable=True)})
    record = values({"s": schema.fields[0].type}, (((1, "one"), True),), (None,))._rel
    only_y = ex.StructMask((ex.MaskItem(1),))
    z_and_y = ex.StructMask((ex.MaskItem(1), ex.MaskItem(0, only_y)))
    mask = ex.StructMask((ex.MaskItem(0, z_and_y),))
    masked = sd.Relation(rl.Read(schema, record.definition, projection=mask))
    found = [row.s and row.s.asDict(recursive=True) for row in masked.execute(spark).collect()]
    assert found == [{"z": True, "i": {"y": "one"}}, None]


def test_virtual_tables_of_expressions(spark: SparkSession) -> None:
    computed = values({"x": "i64", "y": "string?"}, (sd.lit(1) + 1, None), (3, "a"))
    assert counted(computed, spark) == Counter([(2, None), (3, "a")])
    months = values({"m": "interval_year"}, (sd.YearMonths(1, 2),)).execute(spark)
    assert months.selectExpr("CAST(m AS STRING)").head() == ("INTERVAL '1-2' YEAR TO MONTH",)


def test_virtual_tables_without_rows_or_columns(spark: SparkSession) -> None:
    assert collected(values({"x": "i64", "m": "interval_year"}).select("x"), spark) == []
    assert values({"x": "i64"}, (1,), (2,)).emit([]).execute(spark).count() == 2
    no_columns = rl.Read(NamedStruct(()), rl.VirtualTable((rl.Record(()), rl.Record(()))))
    assert sd.Relation(no_columns).execute(spark).count() == 2


@pytest.mark.parametrize("columns", [{"A": "i32", "a": "i32"}, {"a": "i32"}, {"A": "i32"}], ids=" ".join)
def test_columns_that_differ_in_case_alone(columns: dict[str, str], spark: SparkSession) -> None:
    spark.sql("SELECT 1 AS a, 2 AS A").createOrReplaceTempView("alike")
    alike, name = sd.read_named("alike", columns), next(iter(columns))
    row = tuple({"a": 1, "A": 2}[column] for column in columns)
    assert collected(alike, spark) == [row]
    assert collected(alike.filter(lambda r: r[name] > 0).sort(name), spark) == [row]
    assert collected(alike.union_all(alike, alike), spark) == [row] * 3
    keys = sd.read_virtual([(1,), (2,)], {"k": "i32"})
    assert collected(keys.filter(lambda k: sd.exists(alike.filter(lambda r: r[name] == k.k))), spark) == [row[:1]]
    counts = keys.project(n=lambda k: sd.scalar_subquery(alike.filter(lambda r: r[name] == k.k).aggregate(n=f.count())))
    assert sorted(collected(counts, spark)) == [(key, int(key == row[0])) for key in (1, 2)]
    each = keys.lateral_join(lambda k: alike.filter(lambda r: r[name] == k.k))
    assert collected(each, spark) == [(row[0], *row)]
    many = alike.cross(alike.limit(1)).cross(keys.filter(lambda k: k.k == 1))
    assert collected(many, spark) == [(*row, *row, 1)]


ODD = {"__frame0__": "i64", "__frame1__": "i64", "__s0": "i64", "__unused": "i64", "s": "string"}


@pytest.mark.parametrize("view", ["odd", "__frame0__"])
def test_names_and_texts_that_look_like_those_of_the_library(view: str, spark: SparkSession) -> None:
    row = (1, 2, 3, 4, "__frame0__")
    columns = "1L AS `__frame0__`, 2L AS `__frame1__`, 3L AS `__s0`, 4L AS `__unused`, '__frame0__' AS s"
    spark.sql(f"SELECT {columns}").createOrReplaceTempView(view)
    odd = sd.read_named(view, ODD)
    assert collected(sd.read_named(view, {"__frame0__": "i64"}), spark) == [row[:1]]
    assert collected(odd.filter(lambda r: r.s == "__frame0__"), spark) == [row]
    many = sd.read_virtual([(number,) for number in range(300)], {"k": "i64"})  # so it is a DataFrame in a text

    def check(column: str, value: Any) -> None:
        inside = odd.filter(lambda r: sd.exists(many.filter(lambda m: m.k == r[column])), lambda r: r.s == "__frame0__")
        assert collected(inside, spark) == [row]
        outside = many.filter(lambda m: sd.exists(odd.filter(lambda r: m.k == r[column])))
        assert collected(outside, spark) == [(value,)]

    for name, value in zip(list(ODD)[:4], row, strict=False):
        check(name, value)
    texts = ("__frame0__", "'__frame0__", "`__frame1__{0}\\")
    written = odd.select(**{f"__frame{number}__": sd.lit(text) for number, text in enumerate(texts)})
    beside = many.filter(lambda m: sd.exists(odd.filter(lambda r: m.k == r["__s0"]))).cross(written)
    assert collected(beside, spark) == [(3, *texts)]
    assert beside.schema.names == ("k", "__frame0__", "__frame1__", "__frame2__")


def test_a_table_whose_name_spark_would_change(spark: SparkSession) -> None:
    spark.range(1).createOrReplaceTempView("`x``b`")
    spark.conf.set("my.v", "b")
    try:
        with pytest.raises(UnsupportedError, match="Spark puts a setting"):
            sd.read_named("x`${my.v}", {"id": "i64"}).execute(spark)
        assert collected(sd.read_named("x`b", {"id": "i64"}), spark) == [(0,)]
    finally:
        spark.conf.unset("my.v")
        spark.catalog.dropTempView("x`b")


def test_tables_are_listed_while_others_make_views(spark: SparkSession) -> None:
    """As every text over a DataFrame does, of which this session has some in other threads."""
    many = sd.read_virtual([(i,) for i in range(80)], {"k": "i32"})  # more than a text holds
    work = values({"k": "i32"}, (1,)).filter(lambda r: r.k.is_in(many.select("k")))
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            work.execute(spark)

    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(busy) for _ in range(2)]
        try:
            for _ in range(20):
                with pytest.raises(ExecutionError, match='there is no table "none"') as refused:
                    sd.read_named("none", {"a": "i32"}).execute(spark)
                assert "_pyspark_" not in str(refused.value)
        finally:
            stop.set()
        for one in running:
            one.result()
