"""Each small plan, lowered to DataFusion, gives the rows that DuckDB gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.differential.engines import case_of, duckdb_engine
from tests.engines.corpus import PLANS
from tests.engines.runners import canonical_rows, run_on_datafusion, with_random_tables

if TYPE_CHECKING:
    import duckdb as duck
    from datafusion import SessionContext


@pytest.fixture(scope="module")
def connection(duckdb: None) -> duck.DuckDBPyConnection:
    return duckdb_engine()


@pytest.fixture(scope="module")
def context(datafusion: None) -> SessionContext:
    return with_random_tables()


@pytest.mark.parametrize("name", PLANS)
def test_rows_are_those_of_duckdb(name: str, connection: duck.DuckDBPyConnection, context: SessionContext) -> None:
    relation = PLANS[name]()
    rows = canonical_rows(run_on_datafusion(context, relation.to_plan().to_bytes(engine="datafusion")))
    assert case_of(0, relation, connection).difference(rows) is None
