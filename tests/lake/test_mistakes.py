"""Mistakes in names, keys and sessions: each is told by what was named, not by what Spark or Iceberg stumbled over."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.lake.tables import COLUMNS, bag, new_name, new_table, stored, values
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROW: list[tuple[Any, ...]] = [(1, "a", 1.0)]


def test_names_of_which_a_part_is_not_there(spark: SparkSession) -> None:
    def insert(*names: str) -> Any:
        return values(ROW).write(names)

    for change in (
        insert("lak", "db", "t"),
        values(ROW).write(("lak", "db", "t"), "ctas"),
        values(ROW).write(("lak", "db", "t"), "delete"),
        sd.update(("lak", "db", "t"), COLUMNS, {"id": 1}, where=True),
        sd.drop_table(("lak", "db", "t"), if_exists=True),
        sd.read_named(("lak", "db", "t"), COLUMNS).write(new_name(), "ctas"),
    ):
        with refused(ExecutionError, "execute", 'no catalog "lak"', '"lake"'):
            change.execute(spark)
    with refused(ExecutionError, "execute", "spark.sql.catalog.ice"):
        insert("ice", "db", "t").execute(spark)
    with refused(ExecutionError, "execute", 'no table "lake.dbb.t"', 'nor a database "lake.dbb"'):
        insert("lake", "dbb", "t").execute(spark)
    with refused(ExecutionError, "execute", 'no table "lake.t"'):
        insert("lake", "t").execute(spark)
    with refused(ExecutionError, "execute", 'no view "lake.db.v"'):
        sd.drop_view(("lake", "db", "v")).execute(spark)
    sd.drop_table(("lake", "dbb", "t"), if_exists=True).execute(spark)

    name = new_table(spark, ROW)
    for change in (
        insert(*name, "branch_b"),
        values(ROW).write((*name, "branch_b"), "delete"),
        sd.update((*name, "branch_b"), COLUMNS, {"id": 2}, where=True),
    ):
        with refused(ExecutionError, "execute", f'table "{".".join(name)}" has no branch "b"', "CREATE BRANCH b"):
            change.execute(spark)
    assert stored(spark, name) == bag(ROW)


def test_what_is_not_there_is_not_logged(spark: SparkSession) -> None:
    from pyspark.logger import PySparkLogger

    told: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    level, listener = logger.level, Listener()
    logger.addHandler(listener)
    logger.setLevel(logging.ERROR)  # as in a session that is not of `local_session`, where this is on the terminal
    try:
        with pytest.raises(AnalysisException):
            spark.sql("TABLE lake.db.not_there")
        assert len(told) == 1, "this is what Spark does"
        name = new_name()
        values(ROW).write(name, "ctas").execute(spark)
        sd.drop_table(name).execute(spark)
        sd.drop_table(name, if_exists=True).execute(spark)
        with pytest.raises(ExecutionError):
            values(ROW).write(name).execute(spark)
        assert len(told) == 1
    finally:
        logger.setLevel(level)
        logger.removeHandler(listener)


def test_two_rows_of_one_key(spark: SparkSession) -> None:
    name = new_table(spark, ROW)
    spark.sql(f"ALTER TABLE {'.'.join(name)} SET IDENTIFIER FIELDS id")
    with refused(ExecutionError, "execute", "several rows of the input have the key of one row"):
        values([(1, "b", 1.0), (1, "c", 1.0)]).write(name, "update").execute(spark)
    for columns in ({"name": "string?", "price": "fp64?"}, {**COLUMNS, "id": "i64?"}):
        with refused(UnsupportedError, "execute", '"id"', "identifier fields"):
            sd.alter_table(name, columns).execute(spark)
    assert stored(spark, name) == bag(ROW)
    sd.alter_table(name, {"number": "i64", "name": "string?", "price": "fp64?"}).execute(spark)
    values([(1, "b", 2.0)], {"number": "i64", "name": "string?", "price": "fp64?"}).write(name, "update").execute(spark)
    assert stored(spark, name) == bag([(1, "b", 2.0)])


def test_a_table_is_altered_beside_columns_with_required_parts(spark: SparkSession) -> None:
    parts = {"id": "i64", "s": sd.Struct.of({"x": sd.I32()}), "l": sd.List(sd.I64())}
    more = {**parts, "extra": "string?"}
    by_rows, by_name, strict = new_name(), new_name(), new_name()
    values([(1, {"x": 1}, [1])], parts).write(by_rows, "ctas").execute(spark)
    sd.create_table(by_name, parts).execute(spark)
    for name in (by_rows, by_name):
        sd.alter_table(name, more).execute(spark)
        values([(2, {"x": 2}, [2], "b")], more).write(name).execute(spark)
    assert [tuple(row) for row in spark.table(".".join(by_name)).collect()] == [(2, (2,), [2], "b")]

    spark.sql(f"CREATE TABLE {'.'.join(strict)} (id BIGINT NOT NULL, s STRUCT<x: INT NOT NULL>) USING iceberg")
    kept = {"id": "i64", "s": sd.Struct.of({"x": sd.I32()}, nullable=True)}
    loose = {"id": "i64", "s": sd.Struct.of({"x": sd.I32(nullable=True)}, nullable=True)}
    with refused(UnsupportedError, "execute", '"s"', "required parts"):
        sd.alter_table(strict, loose).execute(spark)
    sd.alter_table(strict, {**kept, "extra": "i64?"}).execute(spark)
    assert spark.table(".".join(strict)).columns == ["id", "s", "extra"]


def test_two_sessions_see_what_the_other_has_done(spark: SparkSession) -> None:
    name = new_table(spark, [])
    other = spark.newSession()
    row = values(ROW)
    for _ in range(2):  # each has what it knows of the table in a cache of its own
        for one, two in ((spark, other), (other, spark)):
            row.write(name).execute(one)
            assert stored(one, name) == bag(ROW)
            gone = row.write(name, "delete", output="modified_records")
            assert bag(gone.collect(two)) == bag(ROW)
            row.write(name).execute(one)
            update = sd.update(name, COLUMNS, {"name": "b"}, where=True)
            assert update.collect(two)[0][0] == 1
            assert sd.read_named(name, COLUMNS).write(name, "delete", output="modified_records").collect(one)
            assert stored(one, name) == bag([])
    other.sql(f"ALTER TABLE {'.'.join(name)} ADD COLUMN more INT")
    values([(1, "a", 1.0, 5)], {**COLUMNS, "more": "i32"}).write(name).execute(spark)
    assert stored(spark, name) == bag([(1, "a", 1.0, 5)])


def test_a_table_by_its_tags_and_snapshots(spark: SparkSession) -> None:
    name = new_table(spark, ROW)
    table = ".".join(name)
    spark.sql(f"ALTER TABLE {table} CREATE TAG first")
    number = spark.sql(f"SELECT snapshot_id FROM {table}.snapshots").collect()[0][0]
    values([(2, None, None)]).write(name).execute(spark)
    for part in ("tag_first", f"snapshot_id_{number}"):
        assert bag(sd.read_named((*name, part), COLUMNS).collect(spark)) == bag(ROW)
        with refused(UnsupportedError, "execute", "alone can be changed"):
            values(ROW).write((*name, part)).execute(spark)
    assert bag(sd.read_named((*name, "tag_first"), COLUMNS).write(name, "delete").collect(spark)) == bag([])
    assert stored(spark, name) == bag([(2, None, None)])
