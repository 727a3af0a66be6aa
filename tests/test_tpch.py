"""The 22 queries of TPC-H on Spark, compared row by row with what DuckDB answers to their SQL text on the same files.

Equal means equal in value and in order: the same rows, counted, and the columns that the SQL text orders by in the same
sequence, which together fix the order of all rows that the text does not leave open.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from examples.tpch import data
from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation
    from pyspark.sql import SparkSession

SCALE = 0.01
RUNS = [*((SCALE, name) for name in sorted(QUERIES)), (0.02, "q08"), (0.02, "q17")]
"""The scale factors and queries to run. At 0.01 query 8 gives zeros and query 17 NULL: they run on more data, too."""

SQL = Path(data.__file__).parent / "sql"

FRACTIONS = {
    "q01": ("avg_qty", "avg_price", "avg_disc"),  # avg(decimal<P,S>) is decimal<38,S>
    "q08": ("mkt_share",),  # decimal<38,4> / decimal<38,4> is decimal<38,6>
    "q14": ("promo_revenue",),  # decimal<38,6> / decimal<38,4> is decimal<38,6>
    "q17": ("avg_yearly",),  # decimal<38,2> / decimal<2,1> is decimal<38,6>
}
"""The columns that are averages or quotients of decimals: DOUBLE in DuckDB, in Substrait decimals of a fixed scale.

DuckDB's value, rounded half up to that scale, must be ours. Every other column must be equal as it is.
"""

KINDS: dict[type[sd.Type], str] = {
    sd.I32: "INTEGER",
    sd.I64: "BIGINT",
    sd.String: "VARCHAR",
    sd.Date: "DATE",
}
"""What DuckDB calls the types that are the same in both. Decimals are compared by scale."""

each_query = pytest.mark.parametrize("name", sorted(QUERIES))


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tpch_folder: Path) -> SparkSession:
    data.register_in_spark(spark, tpch_folder)
    return spark


def answer(duck: DuckDBPyConnection, name: str) -> DuckDBPyRelation:
    return duck.sql(sql_text(name))


def sql_text(name: str) -> str:
    return (SQL / f"{name}.sql").read_text(encoding="utf-8")


def rounded(value: float | None, column: sd.Type) -> Decimal | None:
    """A double as a decimal of the column's scale; `repr` gives the shortest decimal, so that a tie stays one."""
    assert isinstance(column, sd.Decimal)
    if value is None:
        return None
    return Decimal(repr(value)).quantize(Decimal(1).scaleb(-column.scale), ROUND_HALF_UP)


def expected_rows(name: str, schema: sd.RelationSchema, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    fractions = FRACTIONS.get(name, ())
    return [
        tuple(
            rounded(value, field.type) if field.name in fractions else value
            for field, value in zip(schema, row, strict=True)
        )
        for row in rows
    ]


def ordered_by(name: str) -> list[str]:
    """The columns in the last ORDER BY of the SQL text."""
    clause = re.search(r"order by([^()]*?)(?:limit \d+)?\s*$", sql_text(name))
    return [column.split()[0] for column in clause[1].split(",")] if clause else []


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
            case kind:
                assert theirs == KINDS[type(kind)], field.name


@each_query
def test_the_plan_survives_its_bytes(name: str) -> None:
    from substrait.plan_pb2 import Plan

    plan = QUERIES[name]().to_plan()
    parsed = Plan.FromString(plan.to_bytes())
    assert parsed == plan.to_proto()
    assert list(parsed.relations[0].root.names) == list(QUERIES[name]().schema.names)


@pytest.mark.parametrize(("tpch_folder", "name"), RUNS, indirect=["tpch_folder"], scope="module")
def test_rows_are_those_of_the_sql_text(name: str, tables: SparkSession, tpch_in_duckdb: DuckDBPyConnection) -> None:
    query = QUERIES[name]()
    expected = expected_rows(name, query.schema, answer(tpch_in_duckdb, name).fetchall())

    frame = query.execute(tables)
    rows = [tuple(row) for row in frame.collect()]

    assert frame.schema == query.schema.to_spark()
    assert Counter(rows) == Counter(expected)
    keys = [query.schema.names.index(column) for column in ordered_by(name)]
    assert [[row[key] for key in keys] for row in rows] == [[row[key] for key in keys] for row in expected]
