"""The 22 queries of TPC-H as Isthmus plans them: read here and run on Spark, they give the rows of DuckDB."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from examples.tpch import data
from examples.tpch.schemas import TABLES
from substrait_dsl.algebra import types as t
from tests.producers.isthmus import planned_by_isthmus
from tests.producers.values import are_equal, in_order

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

QUERIES = {path.stem: path.read_text() for path in sorted((Path(data.__file__).parent / "sql").glob("*.sql"))}

TYPES = {t.I64: "BIGINT", t.I32: "INTEGER", t.String: "VARCHAR", t.Date: "DATE"}
"""What types of the tables are called in SQL, but decimals."""


def sql_type(type_: t.Type) -> str:
    return f"DECIMAL({type_.precision},{type_.scale})" if isinstance(type_, t.Decimal) else TYPES[type(type_)]


def create_table(name: str) -> str:
    columns = ", ".join(f"{field.name} {sql_type(field.type)} NOT NULL" for field in TABLES[name].schema)
    return f"CREATE TABLE {name} ({columns})"


@pytest.fixture(scope="module")
def plans(isthmus_cache: Path) -> Mapping[str, bytes]:
    # "value", the name of a column of q11, is a word of Isthmus's SQL
    texts = {name: re.sub(r"\bvalue\b", "worth", text.strip().rstrip(";")) for name, text in QUERIES.items()}
    return planned_by_isthmus(isthmus_cache, [create_table(name) for name in TABLES], texts)


@pytest.fixture(scope="module")
def connection(duckdb: None, tpch: Path) -> Iterator[DuckDBPyConnection]:
    import duckdb as engine

    with engine.connect() as made:
        for name in TABLES:
            made.execute(f"CREATE VIEW {name} AS FROM '{tpch / name}.parquet'")
        yield made


def with_scales(row: tuple[Any, ...], like: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of DuckDB's, whose averages and quotients are floats, with the scales that Isthmus declares for them."""
    return tuple(
        round(Decimal(value), -other.as_tuple().exponent)  # type: ignore[operator]  # no number is infinite or NaN
        if isinstance(value, float) and isinstance(other, Decimal)
        else value
        for value, other in zip(row, like, strict=True)
    )


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_a_query_gives_the_rows_of_duckdb(
    name: str, plans: Mapping[str, bytes], connection: DuckDBPyConnection, spark: SparkSession
) -> None:
    (root,) = sd.Plan.from_bytes(plans[name]).roots
    got = in_order([tuple(row) for row in root.collect(spark)])
    expected = in_order(connection.execute(QUERIES[name]).fetchall())
    pairs = [(with_scales(a, b), b) for a, b in zip(expected, got, strict=True)]
    assert [(a, b) for a, b in pairs if not are_equal(a, b, relative=1e-9)] == []
