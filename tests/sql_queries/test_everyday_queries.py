"""Everyday queries give the rows of DuckDB, or are refused with what to write."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import SubstraitDslError
from tests.sql_queries.everyday_queries import ORACLE, QUERIES, TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

pytestmark = pytest.mark.usefixtures("datafusion")

RELATIONS = {name: sd.read_virtual(rows, columns) for name, (columns, rows) in TABLES.items()}

REFUSED: dict[str, str] = {
    "columns without from": "cast it to a type that Sail has",
    "initcap": "the specification does not say where a word begins",
    "regular expression": "write regexp_like(text, '^[A-Z]')",
    "a text of a date": "write to_char(day, '%Y-%m')",
    "arg_max": "write first_value(number order by other desc nulls last)",
    "count_if": "write count(*) filter (where condition)",
    "lateral with a limit": "row_number() over (partition by k order by t) as n, and join it with n = 1",
    "a recursive cte": "write a join for each level",
    "a moving average": "a frame that begins with the partition, or decimals",
    "a range with an interval": "order by cast(extract(epoch from t) * 1000000 as bigint) range between",
    "lag without nulls": "count(x) over (order by t) as n, and take max(x) over (partition by n)",
    "a distinct count of a window": "select k, count(distinct x) as n from t group by k",
    "unnest": 'from_sql(query, items=orders.unnest("items", element="item"))',
    "unnest in from": 'from_sql(query, items=orders.unnest("items", element="item"))',
    "generate_series": 'from_sql(query, numbers=sd.read_virtual([(1,), (2,)], {"n": "i64"}))',
}
"""The queries that are refused, with what is said."""


@pytest.fixture(scope="module")
def duckdb() -> Iterator[DuckDBPyConnection]:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("set integer_division = true")  # as PostgreSQL and DataFusion
        connection.execute("set default_null_order = 'nulls_last_on_asc_first_on_desc'")
        for name, (columns, rows) in TABLES.items():
            table = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], arrow_schema(name))
            connection.register("given", table)
            connection.execute(f"create table {name} as from given")
        yield connection


def arrow_schema(name: str) -> pa.Schema:
    return pa.schema(RELATIONS[name].schema)


def are_alike(ours: Any, theirs: Any) -> bool:
    """Whether two values are the same; an average of decimals is a float in DuckDB, and has fewer digits here."""
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(are_alike, ours, theirs))
    if isinstance(ours, bool) or isinstance(theirs, bool) or ours is None or theirs is None:
        return ours is theirs
    if isinstance(ours, float) or isinstance(theirs, float):
        digit = 10.0 ** -len(str(ours).partition(".")[2]) if isinstance(ours, Decimal) else 0.0
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=digit)
    if isinstance(ours, dt.date) or isinstance(theirs, dt.date):
        return type(ours) is type(theirs) and bool(ours == theirs)
    return bool(ours == theirs)


def in_any_order(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: [(each is None, re.sub(r"\.0+$", "", str(each))) for each in row])


HAS_ORDER = re.compile(r"order by (?:[^()]|\([^()]*\))*$")


@pytest.mark.parametrize("name", QUERIES)
def test_an_everyday_query_gives_the_rows_of_duckdb_or_is_refused(duckdb: DuckDBPyConnection, name: str) -> None:
    query = QUERIES[name]
    expected = duckdb.execute(ORACLE[name]).fetchall()
    if name in REFUSED:
        with pytest.raises(SubstraitDslError) as raised:
            sd.from_sql(query, RELATIONS).collect()
        assert REFUSED[name] in str(raised.value)
        return
    got = [tuple(row) for row in sd.from_sql(query, RELATIONS).collect()]
    if HAS_ORDER.search(query) is None:
        expected, got = in_any_order(expected), in_any_order(got)
    assert len(got) == len(expected)
    assert [pair for pair in zip(got, expected, strict=True) if not all(map(are_alike, *pair))] == []


def test_every_query_that_is_refused_is_there() -> None:
    assert set(REFUSED) <= set(QUERIES)
