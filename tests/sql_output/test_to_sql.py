"""The text of queries: as a person writes it, and refused by name where it would not be exact."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
import sqlglot

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, SchemaError, UnsupportedError
from substrait_dsl.sql_output.dialects import DIALECTS, SQL_DIALECTS, UNCHECKED, SqlDialect
from substrait_dsl.sql_output.names import RESERVED

ORDERS = sd.read_named(
    "orders", {"id": "i64", "customer": "i64?", "price": "decimal<10,2>?", "day": "date", "note": "string?"}
)
CUSTOMERS = sd.read_named("customers", {"key": "i64", "name": "string", "country": "string?"})

Relation = sd.Relation[Any]

DUTCH = CUSTOMERS.filter(lambda c: c.country == "NL")
MONTH = sd.lit(sd.YearMonths(0, 1))
PLACED = ORDERS.join(CUSTOMERS, on=lambda o, c: o.customer == c.key)
SPENT = ORDERS.group_by("customer").agg(spent=lambda o: f.sum(o.price))

WRITTEN: dict[str, tuple[Relation, str]] = {
    "a read": (CUSTOMERS, "SELECT key, name, country FROM customers"),
    "a filter": (ORDERS.filter(lambda o: o.price > 5).select("id"), "SELECT id FROM orders WHERE price > 5.00"),
    "filters": (
        ORDERS.filter(lambda o: (o.price > 5) | o.note.is_null()).filter(lambda o: o.customer != 3).select("id"),
        "SELECT id FROM orders WHERE (price > 5.00 OR note IS NULL) AND customer <> 3",
    ),
    "columns": (
        ORDERS.select("id", next=lambda o: o.id + 1, text=lambda o: f.concat(o.note, "!")),
        "SELECT id, id + 1 AS next, note || '!' AS text FROM orders",
    ),
    "a column of its own name": (
        ORDERS.select(id=lambda o: o.id * 2).sort("id"),
        "SELECT orders.id * 2 AS id FROM orders ORDER BY id",
    ),
    "an order": (
        ORDERS.sort(sd.desc("price"), "id").select("id", "price").limit(3),
        "SELECT id, price FROM orders ORDER BY price DESC NULLS LAST, id LIMIT 3",
    ),
    "a filter of the first": (
        ORDERS.sort("id").limit(9).filter(lambda o: o.price > 5).select("id"),
        "WITH first_rows AS (SELECT id, customer, price, day, note FROM orders ORDER BY id LIMIT 9) "
        "SELECT id FROM first_rows WHERE price > 5.00 ORDER BY id",
    ),
    "the first in any order": (
        ORDERS.sort("id").limit(2).merging_capture().select("id"),
        "SELECT id FROM orders ORDER BY id LIMIT 2",
    ),
    "a join": (
        PLACED.filter(lambda r: r.country == "NL").select("id", "name"),
        "SELECT orders.id, customers.name FROM orders JOIN customers ON orders.customer = customers.key "
        "WHERE customers.country = 'NL'",
    ),
    "a left join of filtered rows": (
        CUSTOMERS.join(ORDERS.filter(lambda o: o.price > 5), on=lambda c, o: c.key == o.customer, how="left").select(
            "name", "id"
        ),
        "SELECT customers.name, orders.id FROM customers LEFT JOIN orders ON customers.key = orders.customer "
        "AND orders.price > 5.00",
    ),
    "a semi join": (
        CUSTOMERS.join(ORDERS, on=lambda c, o: c.key == o.customer, how="left_semi").select("name"),
        "SELECT customers.name FROM customers WHERE EXISTS(SELECT 1 FROM orders WHERE customers.key = orders.customer)",
    ),
    "a self join": (
        ORDERS.join(ORDERS, on=lambda a, b: a.id == b.customer).emit([0, 5]),
        "SELECT orders.id, orders_2.id FROM orders JOIN orders AS orders_2 ON orders.id = orders_2.customer",
    ),
    "groups": (
        ORDERS.group_by("customer").agg(n=f.count(), last=lambda o: f.max(o.day)).filter(lambda g: g.n > 1),
        "SELECT customer, COUNT(*) AS n, MAX(day) AS last FROM orders GROUP BY customer HAVING COUNT(*) > 1",
    ),
    "groups in an order": (
        ORDERS.group_by("customer").agg(n=f.count()).sort(sd.desc("n")),
        "SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer ORDER BY n DESC",
    ),
    "groups of groups": (
        ORDERS.group_by("customer").agg(n=f.count()).group_by("n").agg(customers=f.count()),
        "WITH grouped AS (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) "
        "SELECT n, COUNT(*) AS customers FROM grouped GROUP BY n",
    ),
    "one group of which nothing is put out": (
        ORDERS.aggregate(n=f.count()).select(one=1),
        "WITH grouped AS (SELECT COUNT(*) AS n, CAST(1 AS BIGINT) AS one FROM orders) SELECT one FROM grouped",
    ),
    "distinct rows in an order": (
        ORDERS.select("customer").distinct().sort("customer"),
        "SELECT DISTINCT customer FROM orders ORDER BY customer NULLS FIRST",
    ),
    "distinct rows": (ORDERS.select("customer").distinct(), "SELECT DISTINCT customer FROM orders"),
    "a union": (
        ORDERS.select(k="id").union_all(CUSTOMERS.select(k="key")),
        "SELECT id AS k FROM orders UNION ALL SELECT key AS k FROM customers",
    ),
    "a subquery": (
        ORDERS.filter(lambda o: o.customer.is_in(DUTCH.select("key"))).select("id"),
        "SELECT orders.id FROM orders WHERE orders.customer IN (SELECT key FROM customers WHERE country = 'NL')",
    ),
    "a choice": (
        ORDERS.select(size=lambda o: sd.when(o.price > 100).then("large").otherwise("small")),
        "SELECT CASE WHEN price > 100.00 THEN 'large' ELSE 'small' END AS size FROM orders",
    ),
    "what may be NULL": (
        ORDERS.select(small=lambda o: o.id.cast("i32?", on_failure="return_null")),
        "SELECT TRY_CAST(id AS INT) AS small FROM orders",
    ),
    "texts in a group": (
        ORDERS.group_by("customer").agg(notes=lambda o: f.string_agg(o.note, ", ").order_by("day")),
        "SELECT customer, COALESCE(LISTAGG(note, ', ' ORDER BY day), '') AS notes FROM orders GROUP BY customer",
    ),
    "days later": (
        ORDERS.select(due=lambda o: o.day + timedelta(days=30), next=lambda o: f.add(o.day, MONTH)),
        "SELECT day + INTERVAL '30' DAY AS due, CAST(day + INTERVAL '1' MONTH AS DATE) AS next FROM orders",
    ),
    "the best, with ties": (
        ORDERS.top_n(2, sd.desc("day"), with_ties=True).select("id"),
        "WITH numbered AS (SELECT id, customer, price, day, note, RANK() OVER (ORDER BY day DESC) AS place "
        "FROM orders) SELECT id FROM numbered WHERE place <= 2 ORDER BY day DESC",
    ),
    "ranks": (
        ORDERS.select("id", place=f.rank().over(partition_by="customer", order_by=sd.desc("price"))),
        "SELECT id, RANK() OVER (PARTITION BY customer ORDER BY price DESC NULLS LAST) AS place FROM orders",
    ),
    "the latest of each": (
        ORDERS.first_of(1, partition_by="customer", order_by=sd.desc("day")).select("id"),
        "WITH numbered AS (SELECT id, customer, price, day, note, ROW_NUMBER() OVER (PARTITION BY customer "
        "ORDER BY day DESC) AS row_number FROM orders) SELECT id FROM numbered WHERE row_number <= 1",
    ),
    "columns as rows": (
        CUSTOMERS.select("name", "country").unpivot("name", "country"),
        "WITH computed AS (SELECT name, country FROM customers), united AS ("
        "SELECT 'name' AS name, computed.name AS value, 0 AS index FROM computed UNION ALL "
        "SELECT 'country' AS name, country AS value, 1 AS index FROM computed AS computed_2) "
        "SELECT name, value FROM united",
    ),
    "a year": (
        ORDERS.filter(lambda o: o.day >= date(2024, 1, 1)).select("id"),
        "SELECT id FROM orders WHERE day >= DATE '2024-01-01'",
    ),
    "rows for each": (
        CUSTOMERS.lateral_join(
            lambda c: ORDERS.filter(lambda o: o.customer == c.key).select("id").sort(sd.desc("id")).limit(1)
        ).select("name", "id"),
        "SELECT customers.name, first_rows.id FROM customers CROSS JOIN LATERAL (SELECT orders.id FROM orders "
        "WHERE orders.customer = customers.key ORDER BY orders.id DESC LIMIT 1) AS first_rows",
    ),
    "a mark": (
        CUSTOMERS.join(ORDERS, on=lambda c, o: c.key == o.id, how="left_mark").select("name", "mark"),
        "WITH computed AS (SELECT customers.key, customers.name, customers.country, EXISTS(SELECT 1 FROM orders "
        "WHERE customers.key = orders.id) AS mark FROM customers) SELECT name, mark FROM computed",
    ),
    "elements of lists": (
        sd.read_named("baskets", {"id": "i64", "items": "list<string>"}).unnest("items").select("id", "element"),
        "WITH unnested AS (SELECT id, items, UNNEST(items) AS element, UNNEST(RANGE(LEN(items))) AS \"offset\" "
        "FROM baskets) SELECT id, element FROM unnested",
    ),
    "what is used twice": (
        (shared := sd.shared(SPENT)).join(shared, on=lambda a, b: a.customer == b.customer).emit([0, 3]),
        "WITH grouped AS (SELECT customer, SUM(price) AS spent FROM orders GROUP BY customer) "
        "SELECT grouped.customer, grouped_2.spent FROM grouped JOIN grouped AS grouped_2 "
        "ON grouped.customer = grouped_2.customer",
    ),
}  # fmt: skip
"""Relations with the query in DuckDB's dialect that a person writes for each."""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_query_is_as_a_person_writes_it(name: str) -> None:
    relation, query = WRITTEN[name]
    assert relation.to_sql("duckdb", pretty=False) == query


def test_a_query_is_written_in_lines() -> None:
    assert PLACED.filter(lambda r: r.country == "NL").select("id").sort("id").to_sql("duckdb").splitlines() == [
        "SELECT",
        "  orders.id",
        "FROM orders",
        "JOIN customers",
        "  ON orders.customer = customers.key",
        "WHERE",
        "  customers.country = 'NL'",
        "ORDER BY",
        "  orders.id",
    ]


def test_spark_is_the_dialect_that_needs_no_name() -> None:
    relation = ORDERS.select(n=lambda o: f.char_length(o.note), when=lambda o: o.day.cast("string?"))
    assert relation.to_sql(pretty=False) == (
        "SELECT CAST(LENGTH(note) AS BIGINT) AS n, CAST(day AS STRING) AS `when` FROM orders"
    )


# --- what is refused


def _remainders(value: Any, count: int) -> Any:
    """Remainders of remainders, of which each is written with its operands twice."""
    for number in range(count):
        value = value % (value + 7 if count > 30 else number)
    return value


PAIR = sd.Struct.of({"a": sd.I64(), "b": sd.String()})
OTHER_PAIR = sd.Struct.of({"b": sd.I64(), "a": sd.String()})

REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "a misspelt dialect": (lambda: ORDERS.to_sql("duckbd"), InvalidChoiceError, 'did you mean "duckdb"'),  # type: ignore[arg-type]
    "no name": (lambda: ORDERS.to_sql(5), InvalidArgumentError, "to_sql: the dialect is a name, got 5"),  # type: ignore[arg-type]
    "a dialect that is not tested": (
        lambda: ORDERS.to_sql("postgres"),  # type: ignore[arg-type]
        UnsupportedError,
        "to_sql: what postgres computes is not tested.*write=\"postgres\"",
    ),
    "no flag": (lambda: ORDERS.to_sql(pretty="yes"), InvalidArgumentError, "pretty"),  # type: ignore[arg-type]
    "the start of an hour on Spark": (
        lambda: sd.read_named("events", {"at": "precision_timestamp<6>"})
        .select(x=lambda r: sd.everyday.date_trunc("HOUR", r.at))
        .to_sql("spark"),
        UnsupportedError,
        "FLOOR HOUR DAY, which is date_trunc in a query, is not known to be exact in the SQL of Spark",
    ),
    "a function": (
        lambda: ORDERS.select(x=lambda o: f.reverse(o.note)).to_sql("duckdb"),
        UnsupportedError,
        "to_sql: reverse is not known to be exact in the SQL of DuckDB",
    ),
    "an option": (
        lambda: ORDERS.select(x=lambda o: f.like(o.note, "a%", case_sensitivity="CASE_INSENSITIVE")).to_sql("duckdb"),
        UnsupportedError,
        "like with the option case_sensitivity = CASE_INSENSITIVE is not known to be exact",
    ),
    "a cast": (
        lambda: ORDERS.select(x=lambda o: o.note.cast("i64?")).to_sql("duckdb"),
        UnsupportedError,
        r"a cast from string\? to i64\? is not known to be exact",
    ),
    "an order of structs": (
        lambda: sd.read_named("t", {"x": PAIR}).sort("x").to_sql("duckdb"),
        UnsupportedError,
        "values of struct<i64, string> are not written as SQL of DuckDB",
    ),
    "structs of other names": (
        lambda: sd.read_named("t", {"x": PAIR}).union_all(sd.read_named("u", {"x": OTHER_PAIR})).to_sql("duckdb"),
        UnsupportedError,
        "structs whose fields have different names are not put together",
    ),
    "a choice of structs of other names": (
        lambda: (
            sd.read_named("t", {"x": PAIR, "y": OTHER_PAIR, "p": "boolean"})
            .select(z=lambda r: sd.when(r.p).then(r.x).otherwise(r.y))
            .to_sql("spark")
        ),
        UnsupportedError,
        "structs whose fields have different names are not put together",
    ),
    "a struct with capital letters": (
        lambda: sd.read_named("t", {"x": sd.Struct.of({"A": sd.I64(), "a": sd.I64()})}).distinct().to_sql("duckdb"),
        UnsupportedError,
        "values of struct<i64, i64> are not written",
    ),
    "a struct with floats": (
        lambda: sd.read_named("t", {"x": sd.Struct.of({"a": sd.FP64()})}).distinct().to_sql("duckdb"),
        UnsupportedError,
        "values of struct<fp64> are not written",
    ),
    "a type": (
        lambda: sd.read_named("t", {"x": "list<i64>"}).distinct().to_sql("duckdb"),
        UnsupportedError,
        "values of list<i64> are not written as SQL of DuckDB",
    ),
    "files": (
        lambda: sd.read_files("x.parquet", {"x": "i64"}).to_sql("duckdb"),
        UnsupportedError,
        "a read of files is not written as SQL",
    ),
    "a write": (lambda: ORDERS.write("copy").to_sql("duckdb"), UnsupportedError, "a write is not written as SQL"),
    "a mark on Spark": (
        lambda: ORDERS.join(CUSTOMERS, on=lambda o, c: o.customer == c.key, how="left_mark").to_sql(),
        UnsupportedError,
        'a join with how="left_mark" is not written as SQL of Spark',
    ),
    "a join that fails for a second match": (
        lambda: ORDERS.join(CUSTOMERS, on=lambda o, c: o.customer == c.key, how="left_single").to_sql(),
        UnsupportedError,
        'a join with how="left_single" is not written as SQL of Spark',
    ),
    "a row around two subqueries on Spark": (
        lambda: CUSTOMERS.filter(
            lambda c: sd.exists(
                ORDERS.filter(lambda o: sd.exists(ORDERS.filter(lambda i: (i.customer == c.key) & (i.id > o.id))))
            )
        ).to_sql(),
        UnsupportedError,
        "the column key of a row around two subqueries",
    ),
    "digits of floating-point numbers": (
        lambda: ORDERS.select(x=lambda o: f.round(o.id.cast("fp64"), 2)).to_sql("duckdb"),
        UnsupportedError,
        "round with digits after the point",
    ),
    "an exponent that may be NaN": (
        lambda: ORDERS.select(x=lambda o: f.power(2.0, o.id.cast("fp64"))).to_sql(),
        UnsupportedError,
        "power with an exponent that is no constant",
    ),
    "an aggregate of rows outside and inside, on Spark": (
        lambda: CUSTOMERS.select(
            "key",
            n=lambda c: sd.scalar_subquery(ORDERS.aggregate(n=lambda o: f.count().filter((o.id > 1) & (c.key > 2)))),
        ).to_sql(),
        UnsupportedError,
        "the column key of a row around a subquery, in an aggregate of columns of its own, is unknown to Spark",
    ),
    "an expression that would grow": (
        lambda: ORDERS.select(x=lambda o: _remainders(o.id, 20)).to_sql("duckdb"),
        UnsupportedError,
        r"would be there several times.*by with_columns",
    ),
    "an expression that has grown": (
        lambda: ORDERS.select(x=lambda o: _remainders(o.id, 60)).to_sql("duckdb"),
        UnsupportedError,
        r"an expression of \d+ parts.*by with_columns",
    ),
    "the value of IN on Spark": (
        lambda: ORDERS.select(x=lambda o: o.id.is_in(CUSTOMERS.select("key"))).to_sql(),
        UnsupportedError,
        "an IN subquery whose value is put out",
    ),
    "IN of several columns of which one may be NULL on Spark": (
        lambda: ORDERS.filter(lambda o: sd.record(o.id, o.customer).is_in(ORDERS.select("id", "customer"))).to_sql(),
        UnsupportedError,
        "an IN subquery of several columns of which one may be NULL is not written as SQL of Spark",
    ),
    "an empty name": (
        lambda: CUSTOMERS.select("key").rename({"key": ""}).to_sql("duckdb"),
        UnsupportedError,
        "an empty name is not written as SQL.*rename",
    ),
    "columns that differ in capital letters": (
        lambda: sd.read_named("t", {"x": "i64", "X": "i64"}).to_sql("duckdb"),
        UnsupportedError,
        "the columns 'x' and 'X' of the table t are one to DuckDB",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_not_be_exact_is_refused_by_name(name: str) -> None:
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=f"(?s){words}"):
        call()


def test_a_part_of_a_subquery_is_refused() -> None:
    parts: list[Relation] = []

    def keep(row: Any) -> Any:
        parts.append(CUSTOMERS.filter(lambda c: c.key == row.customer))
        return sd.exists(parts[0])

    ORDERS.filter(keep)
    with pytest.raises(SchemaError, match="to_sql: the relation refers to a column of an outer relation"):
        parts[0].to_sql()


def test_without_sqlglot_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(UnsupportedError, match=r"(?s)sqlglot, which is not installed.*\[sql\]"):
        ORDERS.to_sql()


def test_the_hint_for_other_dialects_can_be_followed() -> None:
    text = ORDERS.filter(lambda o: o.price > Decimal("1.5")).select("id").to_sql("duckdb")
    (written,) = sqlglot.transpile(text, read="duckdb", write="postgres")
    assert written == "SELECT id FROM orders WHERE price > 1.50"


def test_dialects_are_those_of_the_annotation() -> None:
    assert set(get_args(SqlDialect)) == set(SQL_DIALECTS) == set(DIALECTS)
    assert not UNCHECKED & set(SQL_DIALECTS)


# --- names


def test_names_that_are_words_of_sql_are_in_quotes(duckdb: None) -> None:
    import duckdb as engine

    connection = engine.connect()
    words = [name for (name,) in connection.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()]
    names = sorted({*words, *RESERVED, "Capital", "with space", 'a "quote"', "ünï", "1st"})
    columns = ", ".join('"' + name.replace('"', '""') + '" INT' for name in names)
    connection.execute(f"CREATE TABLE words ({columns})")
    connection.execute(f"INSERT INTO words VALUES ({', '.join(map(str, range(len(names))))})")
    relation = sd.read_named("words", dict.fromkeys(names, "i32")).filter(lambda r: r[3] > 0).sort(4)
    renamed = relation.emit(list(range(len(names)))[::-1])
    assert connection.execute(renamed.to_sql("duckdb")).fetchall() == [tuple(range(len(names)))[::-1]]
    assert tuple(column[0] for column in connection.description or ()) == renamed.columns


def test_tables_have_names_of_several_parts(duckdb: None) -> None:
    table = sd.read_named(("lake", "sales", "orders"), {"id": "i64"})
    assert table.to_sql(pretty=False) == "SELECT id FROM lake.sales.orders"
    assert sd.read_named(("sales", "orders"), {"id": "i64"}).to_sql(pretty=False) == "SELECT id FROM sales.orders"
    with pytest.raises(UnsupportedError, match="at most 3 parts"):
        sd.read_named(("a", "b", "c", "d"), {"id": "i64"}).to_sql()


def test_a_part_in_front_has_not_the_name_of_a_table(duckdb: None) -> None:
    table = sd.read_named("grouped", {"id": "i64"})
    twice = table.group_by("id").agg(n=f.count()).group_by("n").agg(m=f.count())
    assert twice.to_sql("duckdb", pretty=False) == (
        "WITH grouped_2 AS (SELECT id, COUNT(*) AS n FROM grouped GROUP BY id) "
        "SELECT n, COUNT(*) AS m FROM grouped_2 GROUP BY n"
    )


@pytest.mark.parametrize("value", [Decimal("12.50"), 5, "it's \\ ' \n", True, 2.5, -(2**63), None])
def test_constants_are_values_of_their_types(duckdb: None, value: Any) -> None:
    import duckdb as engine

    constant = sd.lit(None, t.I64(nullable=True)) if value is None else sd.lit(value)
    relation = sd.read_virtual([(1,)], {"one": "i64"}).select(x=constant)
    connection = engine.connect()
    assert connection.execute(relation.to_sql("duckdb")).fetchall() == [(value,)]


def test_expressions_that_grow_are_written_of_columns() -> None:
    """As the hint for them says: each of the columns is computed once."""
    relation = ORDERS.select("id")
    for _ in range(60):
        relation = relation.with_columns(id=lambda o: o.id % (o.id + 7))
    assert len(relation.to_sql("duckdb")) < 60_000


def test_each_part_of_a_cast_that_tries_does() -> None:
    relation = ORDERS.select(x=lambda o: o.price.cast("i32?", on_failure="return_null"))
    query = relation.to_sql("spark", pretty=False)
    assert query == "SELECT TRY_CAST(TRY_CAST(price AS BIGINT) AS INT) AS x FROM orders"
