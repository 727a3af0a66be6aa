"""Calls of one argument or none, and sums of no decimals: rows on DataFusion, DuckDB 1.1.3 and Acero, by arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.errors import LiteralError
from tests.engines.runners import Rows, run_on_datafusion
from tests.support import refused

f: Any = functions
Relation = sd.Relation[Any]

COLUMNS = {"id": "i64", "g": "string", "d": "decimal<10,2>?", "b": "boolean?"}
ROWS: Rows = [(1, "x", Decimal("1.25"), True), (2, "x", Decimal("2.50"), None), (3, "y", None, False)]
T: Relation = sd.read_named("little", COLUMNS)
TABLE = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in ROWS], T.schema.to_arrow())
OTHERS = T.select(k=sd.col("id"), q=sd.col("d"))
NOTHING = Decimal("0.00")

CASES: dict[str, tuple[Callable[[], Relation], Rows]] = {
    "a sum of decimals": (lambda: T.aggregate(v=lambda r: f.sum0(r.d)), [(Decimal("3.75"),)]),
    "a sum of no decimals": (lambda: T.filter(lambda r: r.id > 9).aggregate(v=lambda r: f.sum0(r.d)), [(NOTHING,)]),
    "sums of groups, with a filter": (
        lambda: T.group_by("g").agg(v=lambda r: f.sum0(r.d), w=lambda r: f.sum0(r.d).filter(r.id == 2)),
        [("x", Decimal("3.75"), Decimal("2.50")), ("y", NOTHING, NOTHING)],
    ),
    "a sum of different decimals": (
        lambda: T.union_all(T).aggregate(v=lambda r: f.sum0(r.d).distinct()), [(Decimal("3.75"),)],
    ),
    "a sum for each row": (
        lambda: T.select(
            "id", v=lambda r: sd.scalar_subquery(OTHERS.filter(lambda o: o.k > r.id).aggregate(v=lambda o: f.sum0(o.q)))
        ),
        [(1, Decimal("2.50")), (2, NOTHING), (3, NOTHING)],
    ),
    "and of one": (lambda: T.select("id", v=lambda r: f.and_(r.b)), [(1, True), (2, None), (3, False)]),
    "or of one": (lambda: T.select("id", v=lambda r: f.or_(r.b)), [(1, True), (2, None), (3, False)]),
    "and of one, as a condition": (lambda: T.filter(lambda r: f.and_(f.or_(r.b))).select("id"), [(1,)]),
    "and of none, or of none": (
        lambda: T.select("id", v=lambda r: f.and_(), w=lambda r: f.or_()),
        [(1, True, False), (2, True, False), (3, True, False)],
    ),
    "and of one, in a join": (
        lambda: T.join(OTHERS, lambda a, b: f.and_(a.id == b.k) & f.or_(a.b), "left").select("id", "k"),
        [(1, 1), (2, None), (3, None)],
    ),
}  # fmt: skip


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("engine", ["datafusion", "duckdb", "acero"])
@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_that_are_due(case: str, engine: str, request: pytest.FixtureRequest) -> None:
    make, expected = CASES[case]
    data = make().to_plan().to_bytes(engine=engine)
    if engine == "datafusion":
        from datafusion import SessionContext

        context = SessionContext()
        context.register_record_batches("little", [TABLE.to_batches()])
        rows = run_on_datafusion(context, data)
    else:
        process = request.getfixturevalue({"duckdb": "duckdb_substrait", "acero": "acero"}[engine])
        process.add_tables({"little": TABLE})
        table = process.run(data)
        rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert Counter(rows) == Counter(expected)


def test_a_decimal_is_no_integer_and_no_float() -> None:
    for value in (0, 1.5, "1.5", True):
        with refused(LiteralError, f"{value!r} does not fit decimal<10,2>: it takes a Decimal"):
            Literal(value, t.Decimal(10, 2))
    assert Literal(Decimal("1.50"), t.Decimal(10, 2)).type == t.Decimal(10, 2)
    assert Literal(None, t.Decimal(10, 2, nullable=True)).value is None
