"""Plans that DataFusion writes: read and written again, they give DataFusion the rows of the SQL they came from."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from datafusion import SessionContext
from datafusion.substrait import Consumer, Serde

from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes

T = pa.table({"a": [1, 2, 3], "b": [1.5, None, -2.0], "s": ["x", "y", "x"]})
U = pa.table({"k": [1, 3, 3], "d": [Decimal("1.50"), None, Decimal("2.25")], "day": [dt.date(2020, 1, 1)] * 3})


@pytest.fixture(scope="module")
def context() -> SessionContext:
    made = SessionContext()
    made.from_arrow(T, name="t")
    made.from_arrow(U.cast(pa.schema([("k", pa.int64()), ("d", pa.decimal128(15, 2)), ("day", pa.date32())])), name="u")
    return made


QUERIES = [
    "SELECT a, b * 2 FROM t WHERE a > 1 ORDER BY a DESC LIMIT 3",
    "SELECT s, sum(a), avg(b), count(*), count(DISTINCT a) FROM t GROUP BY s HAVING sum(a) > 1",
    "SELECT * FROM t JOIN u ON t.a = u.k WHERE u.d > 1.5",
    "SELECT * FROM t LEFT JOIN u ON t.a = u.k AND u.d IS NOT NULL",
    "SELECT * FROM t FULL JOIN u ON a = k",
    "SELECT * FROM t CROSS JOIN u",
    "SELECT * FROM t WHERE a IN (SELECT k FROM u)",
    "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.a)",
    "SELECT a, (SELECT max(d) FROM u WHERE u.k = t.a) FROM t",
    "SELECT CASE WHEN a > 1 THEN 'many' WHEN a < 0 THEN 'none' END FROM t",
    "SELECT a, row_number() OVER (PARTITION BY s ORDER BY a) FROM t",
    "SELECT a FROM t UNION ALL SELECT k FROM u",
    "SELECT a FROM t INTERSECT SELECT k FROM u",
    "SELECT DISTINCT s FROM t",
    "SELECT s, a, sum(b) FROM t GROUP BY GROUPING SETS ((s), (a), ())",
    "SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v(n, m)",
    "SELECT a IN (1, 2, 3), a NOT IN (3), a BETWEEN 2 AND 3 FROM t",
    "SELECT upper(s), abs(a), coalesce(b, 1.0), CAST(a AS INT) FROM t",
]


@pytest.mark.parametrize("query", QUERIES)
def test_plans_of_datafusion_mean_what_they_meant(context: SessionContext, query: str) -> None:
    plan, _ = from_bytes(bytes(Serde.serialize_bytes(query, context)))
    sent = Serde.deserialize_bytes(to_bytes(encode_plan(plan)))
    again = context.create_dataframe_from_logical_plan(Consumer.from_substrait_plan(context, sent))
    assert rows(again.to_arrow_table()) == rows(context.sql(query).to_arrow_table())


def rows(table: pa.Table) -> list[str]:
    return sorted(repr(tuple(row.values())) for row in table.to_pylist())


def test_a_function_that_says_no_type_and_is_not_known_is_refused(context: SessionContext) -> None:
    data = bytes(Serde.serialize_bytes("SELECT stddev(b) FROM t", context))
    with pytest.raises(PlanFormatError, match=r'stddev.*there is no aggregate function "stddev"'):
        from_bytes(data)
