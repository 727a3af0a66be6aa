"""Plans of DataFusion that list a key of an aggregate twice: how many columns that makes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    from datafusion import DataFrame, SessionContext
    from duckdb import DuckDBPyConnection

pytestmark = pytest.mark.usefixtures("datafusion", "duckdb")

ROWS = pa.table({"id": [100, 101, 102, 102], "k": [1, 1, 2, None], "j": [5, 6, 6, 7]})

KEYS = ("id", "k", "id + k")

LISTS = [keys for number in (2, 3) for keys in itertools.product(KEYS, repeat=number) if len({*keys}) < number]
"""All lists of two and three keys in which one is repeated."""


@pytest.fixture(scope="module")
def context() -> SessionContext:
    from datafusion import SessionContext

    context = SessionContext()
    context.from_arrow(ROWS, name="c")
    return context


@pytest.fixture(scope="module")
def connection() -> Iterator[DuckDBPyConnection]:
    import duckdb

    with duckdb.connect() as connection:
        connection.register("c", ROWS)
        yield connection


def plans(context: SessionContext, frame: DataFrame) -> Iterator[sd.Relation[Any]]:
    """DataFusion's plan of a query as it is written, and as it is optimised."""
    from datafusion.substrait import Producer

    for plan in (frame.logical_plan(), frame.optimized_logical_plan()):
        yield sd.Plan.from_bytes(bytes(Producer.to_substrait_plan(plan, context).encode())).roots[0]


def rows_of(relation: sd.Relation[Any]) -> list[str]:
    return sorted(map(repr, map(tuple, relation.collect(tables={"c": ROWS}))))


@pytest.mark.parametrize("keys", LISTS, ids=", ".join)
def test_repeated_keys_give_the_rows_of_duckdb(
    context: SessionContext, connection: DuckDBPyConnection, keys: tuple[str, ...]
) -> None:
    columns = ", ".join(f"{key} as c{number}" for number, key in enumerate(keys))
    query = f"select {columns}, count(*) as n, sum(j) as s from c group by {', '.join(keys)} having count(*) > 0"
    expected = sorted(map(repr, connection.sql(query).fetchall()))
    read = sd.from_sql(query, c=sd.read_named("c", {"id": "i64?", "k": "i64?", "j": "i64?"}))
    for relation in (read, *plans(context, context.sql(query))):
        assert rows_of(relation) == expected


def test_names_for_one_key_are_columns_each(context: SessionContext) -> None:
    from datafusion import col, functions

    keys = [col("id").alias("a"), col("id").alias("b")]
    frame = context.table("c").aggregate(keys, [functions.count(col("k")).alias("n")])
    for relation in (*plans(context, frame), *plans(context, frame.select("a", "b", "n"))):
        assert rows_of(relation) == ["(100, 100, 1)", "(101, 101, 1)", "(102, 102, 1)"]


def test_a_key_of_which_nothing_says_how_many_columns_it_is_is_refused(context: SessionContext) -> None:
    from datafusion import col, functions

    keys = [col("id").alias("a"), col("id").alias("b")]
    frame = context.table("c").aggregate(keys, []).aggregate([col("b")], [functions.count(col("a")).alias("n")])
    with pytest.raises(UnsupportedError, match="nothing above it says how many columns it has"):
        list(plans(context, frame))


def test_a_key_that_counts_once_is_a_finding(context: SessionContext) -> None:
    from datafusion.substrait import Producer

    plan = context.sql("select id as a, id as b, count(*) as n from c group by 1, 2").logical_plan()
    read = sd.Plan.from_bytes(bytes(Producer.to_substrait_plan(plan, context).encode()))
    assert "DataFusion counts a key once that an aggregate lists twice" in str(read.findings)
