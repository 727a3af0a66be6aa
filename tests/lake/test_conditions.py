"""Conditions over Iceberg tables, some of which Iceberg would answer by itself, and otherwise than SQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.differential import engines
from tests.differential.test_pipelines import check
from tests.lake.tables import Rows, bag, new_name, values
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"id": "i64", "k": "i32?", "p": "string?", "b": "boolean?"}
KINDS = {"id": "BIGINT", "k": "INT", "p": "STRING", "b": "BOOLEAN"}
ROWS: Rows = [(1, 1, "a", True), (2, None, None, None), (3, 2, "b", False), (4, 9, "ab", True)]

Condition = Callable[[Any], Any]

CONDITIONS: list[tuple[Condition, set[int]]] = [  # of which rows each is true: of none that the NULLs leave open
    (lambda r: (r.k != 1) | (r.k == 9), {3, 4}),
    (lambda r: ~((r.k == 1) & (r.p == "a")), {3, 4}),
    (lambda r: ~r.b | (r.k == 9), {3, 4}),
    (lambda r: (r.b == False) | (r.k == 9), {3, 4}),  # noqa: E712  # it is an expression
    (lambda r: (r.b != True) | (r.k == 9), {3, 4}),  # noqa: E712
    (lambda r: ~r.k.is_in([1]) | (r.k == 9), {3, 4}),
    (lambda r: ~f.like(r.p, "a") | (r.k == 9), {3, 4}),
    (lambda r: ~f.like(r.p, "a%") | (r.k == 9), {3, 4}),
    (lambda r: ~f.starts_with(r.p, "a") | (r.k == 9), {3, 4}),
    (lambda r: f.is_true(r.b) | (r.k != 1), {1, 3, 4}),
    (lambda r: f.xor(r.b, r.k == 1), {4}),
    (lambda r: r.k != 1, {3, 4}),
    (lambda r: ~(r.k == 1), {3, 4}),
    (lambda r: ~r.b, {3}),
    (lambda r: f.is_distinct_from(r.k, 1), {2, 3, 4}),
    (lambda r: ~f.is_not_distinct_from(r.p, "a"), {2, 3, 4}),
    (lambda r: f.is_distinct_from(r.k, 1) | (r.p == "a"), {1, 2, 3, 4}),
    (lambda r: f.is_true((r.k < 2) | sd.null(sd.Boolean)), {1}),
    (lambda r: f.is_false((r.k < 2) & sd.null(sd.Boolean)), {3, 4}),
    (lambda r: f.is_true(r.k.is_in([1, None])), {1}),
    (lambda r: f.is_not_true(r.k == 1), {2, 3, 4}),
]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> list[Any]:
    """A table with each row in a file, by each way to keep the rows apart."""
    made = []
    for clauses in (
        "PARTITIONED BY (k)",
        "PARTITIONED BY (p)",
        "PARTITIONED BY (b)",
        "PARTITIONED BY (k, p, b)",
        "PARTITIONED BY (truncate(10, k), bucket(2, p))",
        "TBLPROPERTIES ('write.format.default'='orc')",
    ):
        name = new_name()
        columns = ", ".join(f"{column} {kind}" for column, kind in KINDS.items())
        spark.sql(f"CREATE TABLE {'.'.join(name)} ({columns}) USING iceberg {clauses}")
        for row in ROWS:
            values([row], COLUMNS).write(name).execute(spark)
        made.append(name)
    return made


@pytest.mark.parametrize(("condition", "ids"), CONDITIONS)
def test_unknown_is_not_true(condition: Condition, ids: set[int], tables: list[Any], spark: SparkSession) -> None:
    """The filters of one statement reach each its own scan: Iceberg answers them as if each stood alone."""
    answers: list[Any] = []
    expected: Rows = []
    for number, name in enumerate(tables):
        table: Any = sd.read_named(name, COLUMNS)
        computed = table.with_columns(t=condition).filter(lambda r: r.t)
        joined = table.join(values([(0,)], {"n": "i64"}), lambda r, n: condition(r) & (n.n == 0))
        counted = table.filter(condition).aggregate(id=f.count())
        for way, relation in enumerate((table.filter(condition), computed, joined, counted)):
            answers.append(relation.select("id").with_columns(table=sd.lit(number), way=sd.lit(way)))
            expected += [(each, number, way) for each in (ids if relation is not counted else (len(ids),))]
    assert bag(answers[0].union_all(*answers[1:]).collect(spark)) == bag(expected)


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_an_update_leaves_what_is_unknown(mode: str, spark: SparkSession) -> None:
    name = new_name()
    spark.sql(
        f"CREATE TABLE {'.'.join(name)} (id BIGINT, k INT) USING iceberg PARTITIONED BY (k) "
        f"TBLPROPERTIES ('write.update.mode'='{mode}')"
    )
    columns = {"id": "i64", "k": "i32?"}
    values([(1, 1), (2, None), (3, 2)], columns).write(name).execute(spark)
    changed = sd.update(name, columns, {"id": 7}, where=lambda r: (r.k != 1) | (r.k == 9)).collect(spark)
    assert [tuple(row) for row in changed] == [(1,)]
    assert bag(sd.read_named(name, columns).collect(spark)) == bag([(1, 1), (2, None), (7, 2)])


def test_the_least_integers(spark: SparkSession) -> None:
    least = -(2**31)
    name = new_name()
    spark.sql(f"CREATE TABLE {'.'.join(name)} (i INT) USING iceberg PARTITIONED BY (truncate(10, i))")
    columns = {"i": "i32?"}
    values([(5,), (50,), (None,)], columns).write(name).execute(spark)
    table: Any = sd.read_named(name, columns)
    for condition in (
        lambda r: r.i >= least,
        lambda r: ~(r.i < least),
        lambda r: ~r.i.is_in([least, least + 1]),
        lambda r: r.i.between(least, 60),
    ):
        assert bag(table.filter(condition).collect(spark)) == bag([(5,), (50,)])


def test_points_in_time_that_orc_files_lack(spark: SparkSession) -> None:
    name = new_name()
    clauses = "TBLPROPERTIES ('write.format.default'='orc')"
    spark.sql(f"CREATE TABLE {'.'.join(name)} (m TIMESTAMP_NTZ, d DATE) USING iceberg {clauses}")
    columns = {"m": "precision_timestamp<6>?", "d": "date?"}
    kept: Rows = [(dt.datetime(1969, 12, 31, 23, 59, 59), dt.date(1582, 10, 10)), (dt.datetime(1970, 1, 1), None)]
    values(kept, columns).write(name).execute(spark)
    assert bag(sd.read_named(name, columns).collect(spark)) == bag(kept)
    lost: Rows = [(dt.datetime(1969, 12, 31, 23, 59, 59, 500_000), None)]
    with refused(ExecutionError, "execute", "a fraction of the last second before 1970"):
        values(lost, columns).write(name).execute(spark)
    with refused(ExecutionError, "execute", "a fraction of the last second before 1970"):
        sd.update(name, columns, {"m": lost[0][0]}, lambda r: r.d.is_null()).execute(spark)
    assert sd.update(name, columns, {"m": kept[0][0]}, lambda r: r.d.is_null()).collect(spark) == [(1,)]
    assert bag(sd.read_named(name, columns).collect(spark)) == bag([kept[0], (kept[0][0], None)])


def test_a_metadata_file_whose_nulls_would_be_lost(spark: SparkSession) -> None:
    name = new_name()
    table = ".".join(name)
    kinds = "id INT, l ARRAY<STRUCT<a:INT>>, s STRUCT<m: MAP<STRING,STRUCT<a:INT>>>, xs ARRAY<INT>"
    spark.sql(f"CREATE TABLE {table} ({kinds}) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1, NULL, NULL, NULL)")
    found = spark.sql(f"SELECT file FROM {table}.metadata_log_entries ORDER BY timestamp DESC").first()
    assert found is not None
    inside = sd.Struct((sd.I32(nullable=True),), ("a",), nullable=True)
    lists = sd.List(inside, nullable=True)
    maps = sd.Struct((sd.Map(sd.String(), inside, nullable=True),), ("m",), nullable=True)
    for columns in ({"l": lists}, {"s": maps}):
        with refused(UnsupportedError, "execute", f'in column "{next(iter(columns))}"', "read_named"):
            sd.read_iceberg(found[0], columns).execute(spark)
    assert sd.read_iceberg(found[0], {"id": "i32?", "xs": "list<i32?>?"}).collect(spark) == [(1, None)]


def test_an_empty_name_is_refused(spark: SparkSession) -> None:
    with refused(UnsupportedError, "execute", "one that is empty"):
        sd.create_table(new_name(), {"": "i64"}).execute(spark)


@pytest.mark.usefixtures("duckdb")
def test_random_pipelines(spark: SparkSession, tmp_path: Path) -> None:
    check(engines.spark_engines(spark, tmp_path, engines.OF_ICEBERG), 60)


UUIDS = (
    "0a1b2c3d-0000-4000-8000-00000000abcd",
    "7fffffff-0000-4000-8000-000000000000",
    "f0000000-0000-4000-8000-000000000000",
)


def test_uuids_that_are_declared_as_texts_are_compared_as_texts(spark: SparkSession) -> None:
    name = new_name()
    jvm: Any = spark._jvm
    iceberg, column = jvm.org.apache.iceberg, jvm.org.apache.iceberg.types.Types.NestedField.optional
    columns = [column(1, "id", iceberg.types.Types.LongType.get()), column(2, "u", iceberg.types.Types.UUIDType.get())]
    catalog = iceberg.hadoop.HadoopCatalog(
        spark._jsc.hadoopConfiguration(), spark.conf.get("spark.sql.catalog.lake.warehouse")
    )
    catalog.createTable(
        iceberg.catalog.TableIdentifier.parse(".".join(name[1:])),
        iceberg.Schema(columns),
        iceberg.PartitionSpec.unpartitioned(),
    )
    for number, text in enumerate(UUIDS):  # each in a file of its own
        spark.sql(f"INSERT INTO {'.'.join(name)} VALUES ({number}, '{text}')")
    table: Any = sd.read_named(name, {"id": "i64?", "u": "string?"})
    capitals = UUIDS[0].upper()
    conditions: list[tuple[Condition, set[int]]] = [
        (lambda r: r.u > UUIDS[0], {1, 2}),
        (lambda r: r.u <= UUIDS[1], {0, 1}),
        (lambda r: r.u.between(UUIDS[1], UUIDS[2]), {1, 2}),
        (lambda r: r.u == UUIDS[2], {2}),
        (lambda r: r.u > capitals, {0, 1, 2}),
        (lambda r: r.u != capitals, {0, 1, 2}),
        (lambda r: ~r.u.is_in([capitals, UUIDS[1]]), {0, 2}),
        (lambda r: r.u < sd.all_of(values([(UUIDS[2],)], {"t": "string"})), {0, 1}),
        (lambda r: r.u < "f", {0, 1}),
    ]
    for condition, ids in conditions:
        assert {row.id for row in table.filter(condition).collect(spark)} == ids
    computed = table.with_columns(t=sd.lit(UUIDS[0])).filter(lambda r: r.u > r.t)
    assert {row.id for row in computed.collect(spark)} == {1, 2}
    given = table.filter(lambda r: r.u == UUIDS[0]).explain(spark, "formatted")
    assert f"filters=u IS NOT NULL, u = '{UUIDS[0]}'" in given, "to look for one is left to Iceberg"
