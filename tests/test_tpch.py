"""The 22 queries of TPC-H on Spark, compared row by row with what DuckDB answers to their SQL text on the same files.

What equal means: `tests/tpch_answers.py`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import substrait_dsl as sd
from examples.tpch import data
from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES
from tests.tpch_answers import FRACTIONS, answer, each_query, ordered_by, require_rows_of_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

SCALE = 0.01
RUNS = [*((SCALE, name) for name in sorted(QUERIES)), (0.02, "q08"), (0.02, "q17")]
"""The scale factors and queries to run. At 0.01 query 8 gives zeros and query 17 NULL: they run on more data, too."""

KINDS: dict[type[sd.Type], str] = {
    sd.I32: "INTEGER",
    sd.I64: "BIGINT",
    sd.String: "VARCHAR",
    sd.Date: "DATE",
}
"""What DuckDB calls the types that are the same in both. Decimals are compared by scale."""


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tpch_folder: Path) -> SparkSession:
    data.register_in_spark(spark, tpch_folder)
    return spark


def test_the_order_by_clause_is_found() -> None:
    assert ordered_by("q06") == []
    assert ordered_by("q03") == ["revenue", "o_orderdate"]
    assert ordered_by("q16") == ["supplier_cnt", "p_brand", "p_type", "p_size"]


def test_the_schemas_are_those_of_the_files(tpch_folder: Path) -> None:
    import pyarrow.parquet as pq

    for name, table in TABLES.items():
        stored = pq.read_schema(tpch_folder / f"{name}.parquet")
        assert sd.read_named(name, stored).schema == table.schema


@each_query
def test_columns_are_those_of_the_sql_text(name: str, tpch_in_duckdb: DuckDBPyConnection) -> None:
    schema, sql = QUERIES[name]().schema, answer(tpch_in_duckdb, name)
    assert list(schema.names) == sql.columns
    for field, theirs in zip(schema, map(str, sql.types), strict=True):
        match field.type:
            case sd.Decimal(scale=scale):
                fraction = field.name in FRACTIONS.get(name, ())
                assert theirs == "DOUBLE" if fraction else re.fullmatch(rf"DECIMAL\(\d+,{scale}\)", theirs), field.name
            case sd.I64() if theirs == "HUGEINT":  # a sum of integers
                assert name == "q12"
            case type_:
                assert theirs == KINDS[type(type_)], field.name


@each_query
def test_the_plan_survives_its_bytes(name: str) -> None:
    from substrait.plan_pb2 import Plan

    plan = QUERIES[name]().to_plan()
    parsed = Plan.FromString(plan.to_bytes())
    assert parsed == plan.to_proto()
    assert list(parsed.relations[0].root.names) == list(QUERIES[name]().schema.names)


@pytest.mark.parametrize(("tpch_folder", "name"), RUNS, indirect=["tpch_folder"], scope="module")
def test_rows_are_those_of_the_sql_text(name: str, tables: SparkSession, tpch_in_duckdb: DuckDBPyConnection) -> None:
    frame = QUERIES[name]().execute(tables)
    assert frame.schema == QUERIES[name]().schema.to_spark()
    require_rows_of_query(name, frame.collect(), tpch_in_duckdb)
