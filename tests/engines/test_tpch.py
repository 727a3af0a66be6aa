"""The 22 queries of TPC-H, unchanged, on DataFusion: rows and order are those of DuckDB's answers to the SQL text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES
from tests.tpch_answers import each_query, require_rows_of_query

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
    require_rows_of_query(name, QUERIES[name]().collect(context), tpch_in_duckdb)
