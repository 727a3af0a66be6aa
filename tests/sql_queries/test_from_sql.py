"""Queries in SQL as relations: their steps, their rows, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from examples.tpch import data
from examples.tpch.schemas import TABLES
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from substrait_dsl.sql_queries.parser import AS_WRITTEN, MOVING_RULES, VOLATILE
from tests.producers.values import are_equal, in_order

if TYPE_CHECKING:
    from datafusion import SessionContext

pytestmark = pytest.mark.usefixtures("datafusion")

ORDERS = sd.read_named("orders", {"key": "i64", "customer": "i64", "price": "fp64?", "note": "string"})

WRITTEN = {
    "a read": ("select * from orders", ORDERS),
    "columns": ("select price, key from orders", ORDERS.select("price", "key")),
    "a condition": ("select * from orders where key > 5", ORDERS.filter(lambda o: o.key > 5)),
    "a limit": ("select * from orders order by key limit 3", ORDERS.sort(sd.asc("key", nulls="last")).limit(3)),
    "a name in capitals": ("select KEY from Orders", ORDERS.select("key")),
    "an expression": (
        "select key, price * 2 as twice from orders",
        ORDERS.select("key", twice=lambda o: o.price * 2.0),
    ),
    "distinct rows": ("select distinct customer from orders", ORDERS.select("customer").distinct()),
    "a union": (
        "select key from orders union all select customer from orders",
        ORDERS.select("key").union_all(ORDERS.select("customer")),
    ),
    "a subquery": (
        "select key from orders where customer in (select key from orders)",
        ORDERS.filter(lambda o: o.customer.is_in(ORDERS.select("key"))).select("key"),
    ),
}
"""Queries, each with what a person writes for it in verbs."""


@pytest.mark.parametrize(("query", "written"), WRITTEN.values(), ids=WRITTEN)
def test_a_query_has_the_steps_that_a_person_writes(query: str, written: sd.Relation) -> None:
    relation = sd.from_sql(query, orders=ORDERS)
    assert relation.to_plan() == written.to_plan()
    assert relation.schema == written.schema


def test_a_name_stands_for_any_relation() -> None:
    dear = ORDERS.filter(lambda o: o.price > 10.0)
    relation = sd.from_sql("select customer, count(*) as n from Dear group by customer", {"Dear": dear})
    assert str(relation).splitlines()[-2:] == ["  filter price > 10.0", f"    {ORDERS}"]


def test_a_schema_stands_for_the_table_of_its_name() -> None:
    relation = sd.from_sql("select * from orders", orders=ORDERS.schema)
    assert relation.to_plan() == ORDERS.to_plan()


def test_correlated_subqueries_are_joins() -> None:
    query = "select key from orders o where exists (select 1 from orders x where x.customer = o.key)"
    assert "join left_semi" in str(sd.from_sql(query, orders=ORDERS))


TYPES = {
    "a": "i8",
    "b": "i16?",
    "c": "i32",
    "d": "i64?",
    "e": "fp32",
    "f": "fp64?",
    "g": "boolean",
    "h": "string?",
    "i": "decimal<38,10>",
    "j": "date",
    "k": "precision_timestamp<6>",
    "l": "precision_timestamp_tz<6>?",
    "m": "binary",
    "n": "list<i64?>",
    "o": "precision_timestamp<3>",
}


def test_types_and_nullability_are_those_of_the_table() -> None:
    table = sd.read_named("t", TYPES)
    assert sd.from_sql("select * from t", t=table).schema == table.schema


TIMES = {"day": "date", "at": "precision_timestamp<6>?", "text": "string"}

PRECISIONS = {
    "a date as a timestamp": ("day::timestamp", 6),
    "the begin of a month": ("date_trunc('month', day) + interval '1 day'", 6),
    "the later of two": ("case when day > '2024-01-01' then day::timestamp else at end", 6),
    "a constant": ("timestamp '2024-01-01 00:00:00.123456'", 6),
    "NULL": ("null::timestamp", 6),
    "a constant with more digits": ("timestamp '2024-01-01 00:00:00.1234567'", 9),
    "a text, which may have more": ("text::timestamp", 9),
}


@pytest.mark.parametrize(("expression", "precision"), PRECISIONS.values(), ids=PRECISIONS)
def test_timestamps_have_six_digits_where_none_has_more(expression: str, precision: int) -> None:
    schema = sd.from_sql(f"select {expression} as x from t", t=sd.read_named("t", TIMES)).schema
    assert str(schema.types[0]).rstrip("?") == f"precision_timestamp<{precision}>"


def test_timestamps_keep_nine_digits_beside_a_column_that_has_them() -> None:
    table = sd.read_named("t", {**TIMES, "exact": "precision_timestamp<9>"})
    schema = sd.from_sql("select day::timestamp as x, exact from t", t=table).schema
    assert [str(type_).rstrip("?") for type_ in schema.types] == ["precision_timestamp<9>"] * 2


REFUSED: dict[str, tuple[str, type[Exception], str]] = {
    "no sql": ("selec 1", InvalidArgumentError, "from_sql: DataFusion does not take the query: SQL error"),
    "nothing": ("", InvalidArgumentError, "No SQL statements"),
    "two queries": ("select 1; select 2", InvalidArgumentError, "a single SQL statement"),
    "an unknown column": ("select pricy from orders", InvalidArgumentError, "No field named pricy. Did you mean"),
    "an unknown table": ("select 1 from orderz", InvalidArgumentError, "from_sql(query, orders=orders)"),
    "tables of the engine": ("show tables", InvalidArgumentError, "there is no table information_schema.tables"),
    "a file": ("select * from 'x.csv'", InvalidArgumentError, "not found"),
    "a definition": ("create table x (a int)", InvalidArgumentError, "create_table(...)"),
    "an external table": (
        "create external table x stored as csv location 'x.csv'",
        InvalidArgumentError,
        "create_table(...)",
    ),
    "an insert": ("insert into orders values (1, 1, 1, '')", InvalidArgumentError, "relation.write(name)"),
    "a copy": ("copy orders to 'x.parquet'", InvalidArgumentError, "relation.write(name)"),
    "a setting": ("set a.b = 3", InvalidArgumentError, "from_sql reads queries"),
    "an explanation": ("explain select 1", UnsupportedError, "DataFusion has no Substrait"),
    "a constant that does not fit": ("select key = 'a' from orders", InvalidArgumentError, "Cannot cast string 'a'"),
    "merged keys of lists": (
        "select key from orders join unnest([1]) as x(key) using (key)",
        UnsupportedError,
        "with ON",
    ),
    "a pattern": ("select key from orders where note like 'a\\%' escape 'b'", UnsupportedError, "from_sql: "),
    "a parameter": ("select key from orders where key = $1", UnsupportedError, "parameter(0, type)"),
    "an aggregate that is always there": (
        "select key from orders o where exists (select count(*) from orders x where x.customer = o.key)",
        UnsupportedError,
        "EXISTS of a correlated subquery that aggregates without GROUP BY",
    ),
    "rows that are skipped for each row": (
        "select key from orders o where exists (select 1 from orders x where x.customer = o.key offset 5)",
        UnsupportedError,
        "OFFSET in a correlated subquery",
    ),
    "a condition of an aggregate for each row": (
        "select key, n from orders o, lateral"
        " (select count(*) as n from orders x where x.customer = o.key having count(*) > 0)",
        UnsupportedError,
        "HAVING without GROUP BY in a correlated subquery",
    ),
    "distinct values of a window": (
        "select sum(n) over () from (select count(distinct customer) over () as n from orders)",
        UnsupportedError,
        "the DISTINCT of a window",
    ),
    "a condition of a window": (
        "select key from orders where note in"
        " (select string_agg(note, ',') filter (where key > 1) over () from orders)",
        UnsupportedError,
        "the FILTER of a window",
    ),
    "a window without NULLs": (
        "select lag(coalesce(price, key)) ignore nulls over (order by key) from orders",
        UnsupportedError,
        "the IGNORE NULLS of a window",
    ),
    "a range of floats": (
        "select sum(key) over (order by key range between 1 preceding and current row),"
        " sum(key) over (order by price range between 1.5 preceding and current row) as x from orders",
        UnsupportedError,
        "the offset of a range",
    ),
    "a range of days": (
        "select sum(key) over (order by day range between interval '1' day preceding and current row) as x"
        " from (select key, cast(note as date) as day from orders)",
        UnsupportedError,
        "the offset of a range",
    ),
    "a NOT IN beside a correlated subquery": (
        "select key from orders o where price not in (select price from orders)"
        " and exists (select 1 from orders x where x.customer = o.key)",
        UnsupportedError,
        "what NULL means to a NOT IN",
    ),
    "an IN that is said of": (
        "select key from orders o where (price in (select price from orders x where x.key = o.key)) is null",
        UnsupportedError,
        "what NULL means to an IN",
    ),
    "an IN under OR that is correlated": (
        "select key from orders o where key > 9 or price not in (select price from orders x where x.key = o.key)",
        UnsupportedError,
        "what NULL means to an IN",
    ),
    "a sample": ("select key from orders tablesample (10)", UnsupportedError, "leaves out the TABLESAMPLE"),
    "a condition before": ("select key from orders PreWhere key > 1", UnsupportedError, "leaves out the PREWHERE"),
    "groups of groups, as MySQL has them": (
        "select key, count(*) as n from orders group by key with rollup",
        UnsupportedError,
        "write GROUP BY ROLLUP (a, b)",
    ),
    "a group of all, as ClickHouse has it": (
        "select key, count(*) as n from orders group by key with totals",
        UnsupportedError,
        "write GROUP BY GROUPING SETS ((a), ())",
    ),
    "a hierarchy": ("select key from orders connect by prior key = customer", UnsupportedError, "the CONNECT BY"),
    "a number of each row": ("select key from orders with ordinality", UnsupportedError, "the WITH ORDINALITY"),
    "a part of a table": ("select key from orders partition (p)", UnsupportedError, "the PARTITION (...) of a table"),
    "a hint": ("select key from orders with (nolock)", UnsupportedError, "the WITH (...) behind a table"),
    "a lock": ("select key from orders for update", UnsupportedError, "the FOR UPDATE or FOR SHARE"),
    "an escape of its own": (
        "select key from orders where note like '50$%_' escape '$'",
        UnsupportedError,
        "without ESCAPE a backslash takes the character behind it as it is",
    ),
    "values without NULL": (
        "select first_value(price order by key) ignore nulls as x from orders",
        UnsupportedError,
        "write filter (where x is not null) behind the function",
    ),
    "a list with NULLs": (
        "select array_agg(price) as x from orders",
        UnsupportedError,
        "write array_agg(x) filter (where x is not null)",
    ),
    "a percentile of falling values": (
        "select percentile_cont(0.9) within group (order by price desc) as x from orders",
        UnsupportedError,
        "write 1 - share, and order by the value itself, without desc",
    ),
    "a function of the engine": ("select sha256(note) from orders", UnsupportedError, '"sha256"'),
}


@pytest.mark.parametrize(("query", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_a_query_is_refused_by_name(query: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        sd.from_sql(query, orders=ORDERS)
    assert words in str(raised.value)


@pytest.mark.parametrize("name", VOLATILE)
def test_clocks_and_random_numbers_are_refused(name: str) -> None:
    call = name if name.startswith("current_") else f"{name}()"
    with pytest.raises(InvalidArgumentError) as raised:
        sd.from_sql(f"select {call} as x from orders", orders=ORDERS)
    assert "plans say the same whenever they are made" in str(raised.value)


def test_a_type_that_the_engine_has_not_is_refused_with_what_to_write() -> None:
    table = sd.read_named("t", {"code": "fixedchar<3>"})
    with pytest.raises(UnsupportedError, match='the column "code" of "t" would be string') as raised:
        sd.from_sql("select code from t", t=table)
    assert str(raised.value).endswith('code=lambda r: r["code"].cast("string")')
    cast = table.select(code=lambda r: r["code"].cast("string"))
    assert sd.from_sql("select code from t", t=cast).schema == cast.schema


@pytest.mark.parametrize(
    "query",
    [
        "select sum(key) over (order by key range between 2 preceding and 3 following) as x from orders",
        "select sum(x) over (order by x range between 2 preceding and current row) as y from"
        " (select sum(key) over (order by key range between 1 preceding and 1 following) as x from orders)",
        "with q as (select sum(key) over (order by key range between 1 preceding and 1 following) as x from orders)"
        " select x from q union all select x from q",
        "select sum(count(distinct key)) over () as x, sum(count(*) filter (where key > 1)) over () as y from orders",
    ],
)
def test_windows_that_are_written_in_full_are_read(query: str) -> None:
    assert sd.from_sql(query, orders=ORDERS).schema.names[0] in ("x", "y")


@pytest.mark.parametrize(
    "query",
    [
        "with rollup as (select key from orders), cube (key) as (select key from rollup) select key from cube",
        "select key from orders where note <> 'prewhere' -- connect by",
        'select key as "tablesample" from orders /* for update */',
        'select key as "a "" tablesample" from orders where note <> E\'it\\\'s prewhere\'',
        "select key from orders where note = 'it''s for update'",
        "select * except (price, note, customer) from orders",
    ],
)
def test_words_of_clauses_are_no_clauses_everywhere(query: str) -> None:
    assert sd.from_sql(query, orders=ORDERS).schema.types == ORDERS.select("key").schema.types


@pytest.mark.parametrize(("op", "keys"), [("minus_primary_all", [1, 2]), ("intersection_multiset_all", [1, 3])])
def test_the_hint_for_all_of_a_set_operation_is_followed(op: Any, keys: list[int]) -> None:
    from datafusion import SessionContext

    tables = {
        "a": sd.read_virtual([(1,), (1,), (2,), (3,)], {"k": "i64"}),
        "b": sd.read_virtual([(1,), (3,), (3,)], {"k": "i64"}),
    }
    first, second = (sd.from_sql(f"select k from {name}", tables) for name in tables)
    assert sorted(row[0] for row in first.set_op(op, second).collect(SessionContext())) == keys


def test_the_hint_for_a_pattern_is_followed() -> None:
    from datafusion import SessionContext

    notes = sd.read_virtual([("50%",), ("50",)], {"note": "string"})
    relation = sd.from_sql("select note from notes where note like '%50\\%'", notes=notes)
    assert relation.collect(SessionContext()) == [("50%",)]


def test_names_in_need_of_quotes_are_read() -> None:
    names = ['a"b', "a.b", "Select", "é ü", "a'b\\"]
    table = sd.read_virtual([(1, 2, 3, 4, 5)], dict.fromkeys(names, "i64"))
    query = """select "a'b\\" as "x.y", "é ü", "Select", "a.b", "a""b" from "we""ird.x" order by "a.b" """
    relation = sd.from_sql(query, {'we"ird.x': table})
    assert relation.schema.names == ("x.y", *names[3::-1])
    assert relation.emit([4, 3, 2, 1, 0]).rename({"x.y": names[4]}).schema == table.schema


def test_arguments_are_checked() -> None:
    untyped: Any = sd.from_sql
    with pytest.raises(InvalidArgumentError, match="from_sql: query is the text of a query, got 5"):
        untyped(5)
    with pytest.raises(InvalidArgumentError, match="from_sql: tables is a dict of relations by their names"):
        untyped("select 1", [ORDERS])
    with pytest.raises(InvalidArgumentError, match='from_sql: the table "orders" is given twice'):
        sd.from_sql("select 1", {"orders": ORDERS}, orders=ORDERS)
    with pytest.raises(InvalidArgumentError, match='the tables "Orders" and "orders" are one to a query'):
        sd.from_sql("select 1", {"Orders": ORDERS}, orders=ORDERS)
    with pytest.raises(sd.SubstraitDslError, match="from_sql"):
        untyped("select 1 from orders", orders=5)


def test_the_names_of_the_rules_are_those_of_the_engine() -> None:
    from datafusion import SessionContext

    context = SessionContext()
    assert [rule for rule in sorted(AS_WRITTEN) if not context.remove_optimizer_rule(rule)] == []


# Rows

REFUSED_HERE = {"q11", "q14", "q17", "q20", "q22"}
"""Queries with casts of decimals to floats or other steps that are not lowered to the engine; Spark runs them."""


@pytest.fixture(scope="module")
def tpch_tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[SessionContext, dict[str, sd.Relation]]:
    from datafusion import SessionContext

    folder = tmp_path_factory.mktemp("tpch")
    data.generate(folder, 0.01)
    context = SessionContext()
    relations = {}
    for name in TABLES:
        path = folder / f"{name}.parquet"
        context.register_parquet(name, str(path))
        relations[name] = sd.read_named(name, pq.read_schema(path))
    return context, relations


@pytest.mark.parametrize("path", sorted((Path(data.__file__).parent / "sql").glob("*.sql")), ids=lambda path: path.stem)
def test_a_query_of_tpch_gives_the_rows_of_datafusion(
    tpch_tables: tuple[SessionContext, dict[str, sd.Relation]], path: Path
) -> None:
    context, relations = tpch_tables
    query = path.read_text(encoding="utf-8")
    relation = sd.from_sql(query, relations)
    if path.stem in REFUSED_HERE:
        with pytest.raises(UnsupportedError):
            relation.collect(context)
        return
    batches = context.sql(query).collect()
    expected = [row for batch in batches for row in zip(*map(pa.Array.to_pylist, batch.columns), strict=True)]
    got = [tuple(row) for row in relation.collect(context)]
    pairs = zip(in_order(expected), in_order(got), strict=True)
    assert [(a, b) for a, b in pairs if not are_equal(a, b, relative=1e-9)] == []


def test_the_rows_of_a_query_over_given_rows() -> None:
    sales = sd.read_virtual(
        [(1, Decimal("2.50")), (1, Decimal("1.25")), (2, Decimal("4.00"))], {"shop": "i64", "price": "decimal<5,2>"}
    )
    query = "select shop, sum(price) as total from sales group by shop having sum(price) < 4"
    relation = sd.from_sql(query, sales=sales)
    assert relation.collect() == [(1, Decimal("3.75"))]


LEFT: list[tuple[int, int | None]] = [(1, 10), (2, None), (3, -5)]
RIGHT: list[tuple[int, int | None]] = [(1, 10), (1, None), (3, 7)]


@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        ("k > 9 or not exists (select 1 from r where r.n = l.n)", [2, 3]),
        ("k > 9 or not exists (select 1 from r where r.k = l.k)", [2]),
        (
            "not (exists (select 1 from r where r.n = l.n) or exists (select 1 from r where r.k = l.k and r.n > 9))",
            [2, 3],
        ),
        ("k > 9 or n > all (select r.n from r where r.k = l.k)", [2]),
        ("k not in (select r.k from r) and not exists (select 1 from r where r.k = l.k and r.k > 2)", [2]),
        ("k not in (select r.k from r where r.k > l.k)", [1, 2, 3]),
        ("n not in (select r.n from r)", []),
        ("k > 2 or n in (select r.n from r where r.k = l.k)", [1, 3]),
        ("k > 2 or k > 1 and (n is null or n in (select r.n from r where r.k = l.k))", [2, 3]),
    ],
)
def test_null_in_subqueries(condition: str, keys: list[int]) -> None:
    from datafusion import SessionContext

    tables = {"l": LEFT, "r": RIGHT}
    given = {name: sd.read_virtual(rows, {"k": "i64", "n": "i64?"}) for name, rows in tables.items()}
    relation = sd.from_sql(f"select k from l where {condition}", given)
    assert sorted(row[0] for row in relation.collect(SessionContext())) == keys


def test_queries_of_both_kinds_are_there() -> None:
    assert MOVING_RULES < AS_WRITTEN
