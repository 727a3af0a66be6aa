"""Numbers of rows on DataFusion, which have no sign there: what is computed of them is the arithmetic of integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from tests.engines.runners import run_on_datafusion

f: Any = functions
TABLE: sd.Relation[Any] = sd.read_named("t", {"k": "i64"})
WINDOWS: dict[str, tuple[Callable[[], Any], list[int]]] = {
    "row_number": (lambda: f.row_number().over(order_by="k"), [1, 2, 3]),
    "rank": (lambda: f.rank().over(order_by="k"), [1, 2, 3]),
    "dense_rank": (lambda: f.dense_rank().over(order_by="k"), [1, 2, 3]),
    "ntile": (lambda: f.ntile(3).over(order_by="k"), [1, 2, 3]),
}


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("is_apart", [True, False])
@pytest.mark.parametrize("name", WINDOWS)
def test_what_is_computed_of_ranks_is_an_integer(name: str, is_apart: bool) -> None:
    from datafusion import SessionContext

    window, ranks = WINDOWS[name]
    context = SessionContext()
    context.from_arrow(pa.table({"k": [10, 20, 30]}, schema=TABLE.schema.to_arrow()), name="t")
    if is_apart:
        numbered = TABLE.project(r=window())
        values = numbered.select("k", lambda x: x.r, half=lambda x: f.divide(x.r, 2), less=lambda x: x.r - x.k)
    else:
        values = TABLE.select("k", r=window(), half=f.divide(window(), 2), less=lambda x: window() - x.k)
    rows = run_on_datafusion(context, values.sort("k").to_plan().to_bytes(engine="datafusion"))
    expected = [(k, rank, rank // 2, rank - k) for k, rank in zip([10, 20, 30], ranks, strict=True)]
    assert rows == expected
    assert {type(value) for row in rows for value in row} == {int}
