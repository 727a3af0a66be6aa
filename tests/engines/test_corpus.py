"""Each small plan, lowered to DataFusion, gives the rows that DuckDB gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.differential.engines import case_of
from tests.engines.corpus import PLANS
from tests.engines.runners import canonical_rows, run_on_datafusion

if TYPE_CHECKING:
    import duckdb as duck
    from datafusion import SessionContext


@pytest.mark.parametrize("name", PLANS)
def test_rows_are_those_of_duckdb(name: str, connection: duck.DuckDBPyConnection, context: SessionContext) -> None:
    relation = PLANS[name]()
    rows = canonical_rows(run_on_datafusion(context, relation.to_plan().to_bytes(engine="datafusion")))
    assert case_of(0, relation, connection).difference(rows) is None
