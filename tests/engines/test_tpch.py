"""The 22 queries of TPC-H, unchanged, on DataFusion: rows and order are those of DuckDB's answers to the SQL text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples.tpch import data
from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES
from tests.engines.runners import run_on_datafusion
from tests.test_tpch import SCALE, answer, each_query, expected_rows, ordered_by

if TYPE_CHECKING:
    from datafusion import SessionContext
    from duckdb import DuckDBPyConnection


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tpch")
    data.generate(made, SCALE)
    return made


@pytest.fixture(scope="module")
def duck(duckdb: None, directory: Path) -> Iterator[DuckDBPyConnection]:
    from duckdb import connect

    with connect() as connection:
        data.register_in_duckdb(connection, directory)
        yield connection


@pytest.fixture(scope="module")
def context(datafusion: None, directory: Path) -> SessionContext:
    from datafusion import SessionContext

    made = SessionContext()
    for name in TABLES:
        made.register_parquet(name, str(directory / f"{name}.parquet"))
    return made


@each_query
def test_rows_are_those_of_the_sql_text(name: str, context: SessionContext, duck: DuckDBPyConnection) -> None:
    query = QUERIES[name]()
    expected = expected_rows(name, query.schema, answer(duck, name).fetchall())

    rows = run_on_datafusion(context, query.to_plan().to_bytes(engine="datafusion"))

    assert Counter(rows) == Counter(expected)
    keys = [query.schema.names.index(column) for column in ordered_by(name)]
    assert [[row[key] for key in keys] for row in rows] == [[row[key] for key in keys] for row in expected]
