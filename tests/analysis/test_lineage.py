"""Lineage: where columns come from. What it leaves out has no influence: DuckDB gives the same values without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.errors import UnknownFieldError
from tests.differential.engines import Rows, duckdb_engine, duckdb_rows
from tests.differential.pipelines import pipeline
from tests.differential.sql import to_sql
from tests.differential.tables import TABLES

if TYPE_CHECKING:
    import duckdb

ORDERS = sd.read_named(("shop", "orders"), {"id": "i64", "customer": "i64", "price": "fp64?", "tags": "list<string>"})
CUSTOMERS = sd.read_named("customers", {"key": "i64", "name": "string"})


def lines(relation: sd.Relation[Any]) -> list[str]:
    return str(relation.lineage()).splitlines()


def test_a_column_is_copied_computed_or_aggregated() -> None:
    grouped = (
        ORDERS.with_columns(net=lambda o: o.price * 0.8)
        .group_by(who="customer")
        .agg(total=lambda o: f.sum(o.net).filter(o.id > 3), rows=f.count())
    )
    assert lines(grouped) == [
        "who: shop.orders.customer (identity)",
        "total: shop.orders.price (aggregation), shop.orders.id (filter)",
        "rows: constant",
        "rows: shop.orders.customer (group_by)",
    ]


def test_conditions_and_windows_decide_about_a_value() -> None:
    chosen = ORDERS.select(
        x=lambda o: sd.when(o.id > 3).then(o.price).otherwise(0.0),
        n=lambda o: f.row_number().over(partition_by=o.customer, order_by=sd.desc(o.price)),
        s=lambda o: sd.switch(o.customer, {1: o.id}, 0),
    )
    assert lines(chosen) == [
        "x: shop.orders.price (transformation), shop.orders.id (conditional)",
        "n: shop.orders.customer (window), shop.orders.price (window)",
        "s: shop.orders.id (transformation), shop.orders.customer (conditional)",
        "rows: all",
    ]


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ("inner", ["id: shop.orders.id (identity)", "name: customers.name (identity)", "rows: {}"]),
        ("left", ["id: shop.orders.id (identity)", "name: customers.name (identity)", "rows: {}"]),
        ("left_single", ["id: shop.orders.id (identity)", "name: customers.name (identity), {}", "rows: all"]),
        ("right_single", ["id: shop.orders.id (identity), {}", "name: customers.name (identity)", "rows: all"]),
    ],
)
def test_a_join_decides_about_rows_or_about_what_stands_beside_them(how: Any, wanted: list[str]) -> None:
    joined = ORDERS.join(CUSTOMERS, lambda o, c: o.customer == c.key, how=how).select("id", "name")
    keys = "customers.key (join), shop.orders.customer (join)"
    assert lines(joined) == [line.format(keys) for line in wanted]


def test_a_mark_comes_from_what_is_compared() -> None:
    marked = ORDERS.join(CUSTOMERS.filter(lambda c: c.name == "x"), lambda o, c: o.customer == c.key, how="left_mark")
    assert lines(marked.select("id", "mark")) == [
        "id: shop.orders.id (identity)",
        "mark: customers.key (join), customers.name (filter), shop.orders.customer (join)",
        "rows: all",
    ]


def test_a_subquery_sees_the_row_around_it_at_any_depth() -> None:
    inner = sd.read_named("inner", {"a": "i64", "b": "i64"})
    nested = ORDERS.select(
        "id",
        x=lambda o: sd.scalar_subquery(
            CUSTOMERS.filter(
                lambda c: sd.exists(inner.filter(lambda i: (i.a == o.customer) & (i.b == c.key)))
            ).aggregate(most=lambda c: f.max(c.key))
        ),
    )
    assert lines(nested) == [
        "id: shop.orders.id (identity)",
        "x: customers.key (aggregation), customers.key (filter), inner.a (filter), inner.b (filter), "
        "shop.orders.customer (filter)",
        "rows: all",
    ]


def test_a_lateral_join_sees_the_left_row() -> None:
    lateral = ORDERS.lateral_join(
        lambda o: CUSTOMERS.select(same=lambda c: c.key + o.customer).filter(lambda c: c.same > o.id)
    )
    assert lines(lateral.select("same")) == [
        "same: customers.key (transformation), shop.orders.customer (transformation)",
        "rows: customers.key (filter), shop.orders.customer (filter), shop.orders.id (filter)",
    ]


def test_a_union_has_the_values_of_all_and_a_difference_those_of_the_first() -> None:
    keys = ORDERS.select(key="id")
    assert lines(keys.union_all(CUSTOMERS.select("key"))) == [
        "key: customers.key (identity), shop.orders.id (identity)",
        "rows: all",
    ]
    assert lines(keys.subtract(CUSTOMERS.select("key"))) == [
        "key: shop.orders.id (identity)",
        "rows: customers.key (set_operation), shop.orders.id (set_operation)",
    ]


def test_changes_are_about_what_they_write() -> None:
    written = ORDERS.filter(lambda o: o.id > 1).select("price").write("t", op="ctas")
    assert lines(written) == ["price: shop.orders.price (identity)", "rows: shop.orders.id (filter)"]
    updated = sd.update("t", {"a": "i64", "b": "i64"}, {"b": lambda t: t.a + t.b}, where=lambda t: t.a > 5)
    assert lines(updated) == ["b: t.a (transformation), t.b (transformation)", "rows: t.a (filter)"]
    view = sd.create_view("v", CUSTOMERS.select("name"))
    assert lines(view) == ["name: customers.name (identity)", "rows: all"]


def test_what_it_says_for_programs() -> None:
    lineage = ORDERS.filter(lambda o: o.id > 1).select("customer", half=lambda o: o.price / 2.0).lineage()
    price, key = (sd.SourceColumn("table", ("shop", "orders"), name) for name in ("price", "id"))
    assert lineage.column("half").direct == (sd.ColumnOrigin(price, "transformation"),)
    assert [column.name for column in lineage] == ["customer", "half"]
    assert lineage.depending_on(price) == ("half",)
    assert lineage.depending_on(key) == ("customer", "half")
    assert [str(source) for source in lineage.sources] == [
        "shop.orders.customer", "shop.orders.id", "shop.orders.price",
    ]  # fmt: skip
    with pytest.raises(UnknownFieldError, match='column: there is no column "halv"') as caught:
        lineage.column("halv")
    assert caught.value.hint == 'did you mean "half"?'


def test_files_and_rows_of_the_plan_are_sources() -> None:
    files = sd.read_files(["s3://lake/a.parquet", "s3://lake/b.parquet"], {"x": "i64"})
    assert lines(files) == ['x: "s3://lake/a.parquet" and 1 more.x (identity)', "rows: all"]
    assert lines(sd.read_virtual([(1,)], {"x": "i64"})) == ["x: (rows of the plan).x (identity)", "rows: all"]


def test_a_long_chain_and_a_wide_one() -> None:
    """It does not recurse, and what is used twice is looked at once."""
    chain: sd.Relation[Any] = CUSTOMERS
    for _ in range(3_000):
        chain = chain.with_columns(key=lambda c: c.key + 1)
    assert lines(chain)[0] == "key: customers.key (transformation)"
    doubled = CUSTOMERS.select(x=lambda c: c.key + 0)
    for _ in range(60):
        doubled = doubled.select(x=lambda c: c.x + c.x)
    assert lines(doubled) == ["x: customers.key (transformation)", "rows: all"]


# --- what is left out has no influence

OTHER_VALUES = "SELECT * REPLACE (coalesce(lead({0}) OVER (ORDER BY rowid), first({0}) OVER (ORDER BY rowid)) AS {0})"
"""The rows of a table with the values of a column one row further up."""


@pytest.fixture(scope="module")
def connection(duckdb: None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the tables, and with a schema for each column in which its values are others."""
    connection = duckdb_engine()
    for table, (columns, _) in TABLES.items():
        for column in columns:
            connection.execute(f"CREATE SCHEMA {table}_{column}")
            query = f"{OTHER_VALUES.format(column)} FROM main.{table} ORDER BY rowid"
            connection.execute(f"CREATE TABLE {table}_{column}.{table} AS {query}")
    yield connection
    connection.close()


def rows_with(connection: duckdb.DuckDBPyConnection, schema: str, query: str) -> Rows | None:
    """The rows of a query where the tables of a schema come first; None where it fails for the values there."""
    import duckdb

    connection.execute(f"SET search_path = '{schema},main'")
    try:
        return duckdb_rows(connection, query)
    except duckdb.Error:
        return None


def check(number: int, connection: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """Change each column that a pipeline has nothing of, or not for all columns; returns how often each was seen."""
    relation = pipeline(11, number)
    query, _ = to_sql(relation._rel)
    before = rows_with(connection, "main", query)
    if before is None:
        return 0, 0
    lineage = relation.lineage()
    read = {access.names[0] for access in relation.to_plan().accesses().reads}
    unrelated = partly = 0
    for table in read:
        for column in TABLES[table][0]:
            influenced = lineage.depending_on(sd.SourceColumn("table", (table,), column))
            if len(influenced) == len(relation.columns):
                continue
            after = rows_with(connection, f"{table}_{column}", query)
            if after is None:
                continue
            unrelated, partly = unrelated + (not influenced), partly + bool(influenced)
            for place, (name, origin) in enumerate(zip(relation.columns, lineage, strict=True)):
                assert name == origin.name
                if name not in influenced:
                    values, others = (Counter(row[place] for row in rows) for rows in (before, after))
                    assert values == others, f"pipeline {number}: {name} depends on {table}.{column}\n{relation}"
            if not influenced:
                assert Counter(after) == Counter(before), f"pipeline {number} depends on {table}.{column}\n{relation}"
    return unrelated, partly


@pytest.mark.parametrize("part", range(3))
def test_other_values_of_a_column_that_it_does_not_name_change_nothing(
    part: int, connection: duckdb.DuckDBPyConnection
) -> None:
    found = [check(50 * part + number, connection) for number in range(50)]
    unrelated, partly = (sum(numbers) for numbers in zip(*found, strict=True))
    assert unrelated > 50
    assert partly > 5
