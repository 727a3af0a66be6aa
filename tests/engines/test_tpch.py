"""The 22 queries of TPC-H, unchanged, on DataFusion: rows and order are those of DuckDB's answers to the SQL text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES
from tests.test_tpch import answer, each_query, expected_rows, ordered_by

if TYPE_CHECKING:
    from datafusion import SessionContext
    from duckdb import DuckDBPyConnection


@pytest.fixture(scope="module")
def context(datafusion: None, tpch_folder: Path) -> SessionContext:
    from datafusion import SessionContext

    made = SessionContext()
    for name in TABLES:
        made.register_parquet(name, str(tpch_folder / f"{name}.parquet"))
    return made


@each_query
def test_rows_are_those_of_the_sql_text(name: str, context: SessionContext, tpch_in_duckdb: DuckDBPyConnection) -> None:
    query = QUERIES[name]()
    expected = expected_rows(name, query.schema, answer(tpch_in_duckdb, name).fetchall())

    rows = [tuple(row) for row in query.collect(context)]

    assert Counter(rows) == Counter(expected)
    keys = [query.schema.names.index(column) for column in ordered_by(name)]
    assert [[row[key] for key in keys] for row in rows] == [[row[key] for key in keys] for row in expected]
