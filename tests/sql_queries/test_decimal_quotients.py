"""Quotients and averages of decimals in SQL: the digits of DataFusion, and plans that grow with the query."""

from __future__ import annotations

from decimal import Decimal as Number
from itertools import pairwise
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import ScalarFunction
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.types import Decimal

if TYPE_CHECKING:
    from datafusion import SessionContext

pytestmark = pytest.mark.usefixtures("datafusion")

ROWS = pa.table(
    {
        "k": pa.array([1, 3, 7, 7], pa.int64()),
        "m": pa.array([None, Number("10.00"), Number("-2.55"), Number("999999.99")], pa.decimal128(8, 2)),
    }
)

A = sd.read_named("a", {"k": "i64?", "m": "decimal<8,2>?"})


@pytest.fixture(scope="module")
def context() -> SessionContext:
    from datafusion import SessionContext

    context = SessionContext()
    context.from_arrow(ROWS, name="a")
    return context


QUERIES = (
    "select avg(m) as x from a",
    "select k, avg(m) as x, avg(m) / 3 as y from a group by k",
    "select k, avg(m) over (partition by k) as x from a",
    "select m / 3 as x from a",
    "select m / 3 / 3 as x, k from a",
    "select m / k / 3 as x, m / 3 / k / 7 as y, k from a",
    "select 2 / (m / 3 / 3) as x from a",
    "select case when k <> 3 then m / (k - 3) end as x, m / 3 / 3 as y from a",
)


OTHERS = (
    "select k from a where m / 3 / 3 > 1",
    "select sum(m / 3 / 3) as x from a",
    "select m / 3 / 3 as x, count(*) filter (where k <> 3) as n from a group by m / 3 / 3",
    "select case when k <> 3 then m / (k - 3) / 3 end as x from a",
)
"""Queries whose quotients of quotients are too long for SQL."""


@pytest.mark.parametrize("query", [*QUERIES, *OTHERS])
def test_the_digits_are_those_of_datafusion(context: SessionContext, query: str) -> None:
    relation = sd.from_sql(query, a=A)
    rows = [tuple(row.values()) for row in context.sql(query).to_pylist()]
    assert sorted(map(repr, map(tuple, relation.collect(tables={"a": ROWS})))) == sorted(map(repr, rows))


@pytest.mark.usefixtures("duckdb")
@pytest.mark.parametrize("query", QUERIES)
def test_the_digits_are_the_same_in_the_sql_of_duckdb(context: SessionContext, query: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("a", ROWS)
        found = connection.sql(sd.from_sql(query, a=A).to_sql("duckdb")).fetchall()
    rows = [tuple(row.values()) for row in context.sql(query).to_pylist()]
    assert sorted(map(repr, found)) == sorted(map(repr, rows))


def test_plans_of_quotients_of_quotients_grow_by_the_quotient() -> None:
    sizes = [
        len(sd.from_sql(f"select m{' / 3' * number} as x from a", a=A).to_plan().to_bytes()) for number in range(2, 6)
    ]
    growth = [after - before for before, after in pairwise(sizes)]
    assert max(growth) < 1.1 * min(growth)


@pytest.mark.parametrize("query", ["select avg(m) as x from a", "select m / k / 3 as x from a"])
def test_quotients_have_no_more_digits_on_the_way_than_they_may_have(query: str) -> None:
    """The embedded engine checks operations of 38 digits, and plans such checks inside each other slowly."""
    calls = [node for node in walk(sd.from_sql(query, a=A)._rel) if isinstance(node, ScalarFunction)]
    types = [node.type for node in calls if node.function.name != "divide"]
    assert {type(type_) for type_ in types} == {Decimal}
    assert max(type_.precision for type_ in types if isinstance(type_, Decimal)) < 38
