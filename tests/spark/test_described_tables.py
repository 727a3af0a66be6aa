"""What the session's catalog is asked for an insert: once, and it says what Spark's own statements say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.spark.catalog.table_metadata import find_object

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "plain": "(a INT, b STRING) USING parquet",
    "types": "(a CHAR(3), b VARCHAR(4) DEFAULT 'x', c ARRAY<VARCHAR(3)>, d STRUCT<x: INT, y: CHAR(2)>, e TIMESTAMP, "
    "f INTERVAL YEAR TO MONTH, g MAP<STRING, DECIMAL(10, 2)>, h INT COMMENT 'hello') USING parquet",
    "required": "(a INT NOT NULL, b STRUCT<x: INT NOT NULL>) USING parquet",
    "divided": "(a INT, K STRING, l INT) USING orc PARTITIONED BY (K, l) TBLPROPERTIES ('a' = 'b=c, d')",
    "bucketed": "(a INT, k INT) USING orc CLUSTERED BY (k) INTO 3 BUCKETS COMMENT 'hi'",
    "with_options": "(a INT) USING parquet OPTIONS (compression 'gzip')",
    "of_texts": "(a INT) USING csv OPTIONS (header true, sep ';')",
}


@pytest.fixture
def database(spark: SparkSession) -> Iterator[str]:
    spark.sql("CREATE DATABASE described")
    yield "described"
    spark.sql("DROP DATABASE described CASCADE")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_described_as_statements_do(name: str, database: str, spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE {database}.{name} {TABLES[name]}")
    properties = {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {database}.{name}").collect()}
    rows = [tuple(row)[:2] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {database}.{name}").collect()]
    for names in ((database, name), (database, name.upper()), ("spark_catalog", database, name)):
        found = find_object(names, spark)
        assert found is not None
        assert found.schema == spark.table(f"{database}.{name}").schema
        assert found.properties == properties
        assert ("Provider", found.format) in rows
        assert found.partitions == (("K", "l") if name == "divided" else ())


def test_a_temporary_view_goes_before_a_table_of_its_name(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE before_view (a INT) USING parquet")
    spark.range(1).createOrReplaceTempView("before_view")
    try:
        found = find_object(("before_view",), spark)
        assert found is not None
        assert found.is_view
        assert found.schema.names == ["id"]
    finally:
        spark.catalog.dropTempView("before_view")
        spark.sql("DROP TABLE before_view")


def test_an_insert_asks_java_little(database: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from py4j.java_gateway import GatewayClient

    spark.sql(f"CREATE TABLE {database}.t (a BIGINT, b STRING) USING parquet")
    spark.sql(f"CREATE TABLE {database}.s USING parquet AS SELECT 1L AS a, 'x' AS b")
    insert = sd.read_named((database, "s"), {"a": "i64", "b": "string"}).write((database, "t"))
    insert.execute(spark)  # what is found once is kept
    asked: list[str] = []
    send = GatewayClient.send_command

    def counted(self: GatewayClient, command: str, *rest: Any, **options: Any) -> Any:
        if not command.startswith("m\nd"):  # Java may forget an object
            asked.append(command)
        return send(self, command, *rest, **options)

    monkeypatch.setattr(GatewayClient, "send_command", counted)
    insert.execute(spark)
    monkeypatch.undo()
    assert not [each for each in asked if "DESCRIBE" in each or "SHOW" in each or "REFRESH" in each]
    assert len(asked) <= 80
    assert spark.table(f"{database}.t").count() == 2


def test_rows_that_the_session_caches_are_as_the_table_after_an_insert(
    database: str, spark: SparkSession, tmp_path: Any
) -> None:
    spark.sql(f"CREATE TABLE {database}.c (a BIGINT, k STRING) USING parquet PARTITIONED BY (k)")
    spark.sql(f"ALTER TABLE {database}.c ADD PARTITION (k = 'x') LOCATION 'file:{tmp_path}/elsewhere'")
    spark.sql(f"CACHE TABLE {database}.c")
    assert spark.table(f"{database}.c").count() == 0
    spark.sql(f"CREATE VIEW {database}.v AS SELECT a FROM {database}.c WHERE k = 'x'")
    rows = sd.read_virtual([(1, "x"), (2, "y")], {"a": "i64", "k": "string"})
    rows.write((database, "c")).execute(spark)
    assert sorted(map(tuple, spark.table(f"{database}.c").collect())) == [(1, "x"), (2, "y")]
    assert [tuple(row) for row in spark.table(f"{database}.v").collect()] == [(1,)]
    spark.sql(f"UNCACHE TABLE {database}.c")
