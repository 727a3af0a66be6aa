"""What the hints of from_sql say to write is read, and gives rows."""

from __future__ import annotations

import datetime as dt

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.sql_queries.hints import IN_A_VERB, OF_FUNCTIONS, OF_RANGES, OF_ROWS, OF_WINDOWS

pytestmark = pytest.mark.usefixtures("datafusion")

T = sd.read_virtual(
    [
        ("Ab", 1, 2, 1.5, True, dt.date(2024, 1, 31), dt.datetime(2024, 2, 29, 12)),
        ("2024-05-06", 3, 0, -2.5, False, dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 10)),
    ],
    {
        "text": "string",
        "number": "i64",
        "other": "i64",
        "value": "fp64",
        "condition": "boolean",
        "day": "date",
        "at": "precision_timestamp<6>",
    },
)


@pytest.mark.parametrize("name", OF_FUNCTIONS)
def test_the_hint_of_a_function_is_followed(name: str) -> None:
    calls = [f"{name}({arguments})" for arguments in ("value", "number", "text", "value, 0.5", "number, other", "at")]
    errors = []
    for call in calls:
        with pytest.raises(SubstraitDslError) as raised:
            sd.from_sql(f"select {call} as x from t", t=T)
        errors.append(raised.value.hint)
    written = OF_FUNCTIONS[name]
    assert f"write {written}" in errors
    rows = T.filter(lambda t: t.text == "2024-05-06") if written.startswith("cast(text as date)") else T
    if "decimal" in written:
        rows = T.with_columns(text=sd.lit("1.25"))
    assert sd.from_sql(f"select {written} as x from t", t=rows).collect()


def test_the_hint_of_a_function_that_sql_lacks_is_followed() -> None:
    with pytest.raises(SubstraitDslError) as raised:
        sd.from_sql("select soundex(text) as x from orders", orders=T)
    assert raised.value.hint == IN_A_VERB
    more = T.with_columns(x=lambda t: sd.functions.char_length(t.text))
    assert sorted(row[0] for row in sd.from_sql("select x from orders", orders=more).collect()) == [2, 10]


def test_the_hint_of_a_lateral_limit_is_followed() -> None:
    query = (
        "select a.number, b.other from t a join (select *, row_number() over (partition by number order by at) as n"
        " from t) b on b.number = a.number and b.n = 1"
    )
    assert sorted(map(tuple, sd.from_sql(query, t=T).collect())) == [(1, 2), (3, 0)]


def test_the_hint_of_a_range_of_times_is_followed() -> None:
    assert "order by cast(extract(epoch from t) * 1000000 as bigint) range" in OF_RANGES
    query = (
        "select count(*) over (order by cast(extract(epoch from at) * 1000000 as bigint)"
        " range between {} preceding and current row) as n from t"
    )
    for microseconds, counts in ((600_000_000, [1, 2]), (599_999_999, [1, 1])):  # the rows are ten minutes apart
        got = sd.from_sql(query.format(microseconds), t=T).collect()
        assert sorted(row[0] for row in got) == counts


VALUES = sd.read_virtual([(1, None), (2, "a"), (3, None), (4, "b"), (5, None), (6, "a")], {"t": "i64", "x": "string?"})


def test_the_hint_of_values_without_null_is_followed() -> None:
    assert "max(x) over (partition by n)" in OF_WINDOWS["IGNORE NULLS"]
    counted = "select *, count(x) over (order by t) as n from v"
    query = f"select t, max(x) over (partition by n) as x from ({counted}) q order by t"
    filled = [None, "a", "a", "b", "b", "a"]
    assert [row[1] for row in sd.from_sql(query, v=VALUES).collect()] == filled


def test_the_hint_of_distinct_values_of_a_window_is_followed() -> None:
    assert "select k, count(distinct x) as n from t group by k" in OF_WINDOWS["DISTINCT"]
    grouped = "select t % 2 as k, count(distinct x) as n from v group by t % 2"
    query = f"select v.t, q.n from v join ({grouped}) q on q.k = v.t % 2"
    got = sorted(map(tuple, sd.from_sql(query, v=VALUES).collect()))
    assert got == [(1, 0), (2, 2), (3, 0), (4, 2), (5, 0), (6, 2)]


def test_the_hint_of_a_condition_of_a_window_is_followed() -> None:
    refused = "select string_agg(x, ',') filter (where t > 2) over (order by t) as s from v"
    with pytest.raises(SubstraitDslError) as raised:
        sd.from_sql(refused, v=VALUES)
    assert raised.value.hint == OF_WINDOWS["FILTER"]
    query = "select sum(case when t > 2 then t end) over (order by t) as s from v order by t"
    assert [row[0] for row in sd.from_sql(query, v=VALUES).collect()] == [None, None, 3, 7, 12, 18]


def test_the_hint_of_rows_that_a_function_gives_is_followed() -> None:
    assert 'sd.read_virtual([(1,), (2,)], {"n": "i64"})' in OF_ROWS
    numbers = sd.read_virtual([(1,), (2,)], {"n": "i64"})
    assert sd.from_sql("select sum(n) as s from numbers", numbers=numbers).collect() == [(3,)]


def test_the_hint_of_lists_is_followed() -> None:
    orders = sd.read_virtual([(1, [3, 4]), (2, [5])], {"id": "i64", "items": "list<i64>"})
    for lists in (
        "select id, unnest(items) as item from orders",
        "select o.id, u.item from orders o cross join unnest(o.items) as u(item)",
        "select o.id, u.item from orders o, unnest(o.items) as u(item)",
        "select item from unnest([1, 2]) as u(item)",
    ):
        with pytest.raises(SubstraitDslError, match=r'items=orders\.unnest\("items", element="item"\)'):
            sd.from_sql(lists, orders=orders)
    query = "select id, sum(item) as s from items group by id order by id"
    assert sd.from_sql(query, items=orders.unnest("items", element="item")).collect() == [(1, 7), (2, 5)]


USING = {
    "a star without a column": ("select * exclude (y) from a join b using (k)", "write the join with ON"),
    "a key of three tables": ("select k from a join b using (k) join c on c.k = a.k", "write the join with ON"),
    "a function that gives rows": (
        "select k from a join generate_series(1, 2) as g using (k)",
        "write the join with ON",
    ),
    "a key of two tables": ("select 1 as one from a join b on a.k = b.k join c using (k)", "write the join with ON"),
    "no common column": ("select 1 as one from a natural join (select 1 as z) d", "write CROSS JOIN"),
}
KEYS = {name: sd.read_virtual([(1, 2)], {"k": "i64", name: "i64"}) for name in ("a", "b", "c")}


@pytest.mark.parametrize(("query", "hint"), USING.values(), ids=USING)
def test_a_merged_key_that_is_not_known_is_refused(query: str, hint: str) -> None:
    with pytest.raises(SubstraitDslError) as raised:
        sd.from_sql(query, KEYS)
    assert raised.value.hint == hint


def test_the_hints_of_merged_keys_are_followed() -> None:
    query = "select a.k, b, c from a join b on b.k = a.k join c on c.k = a.k cross join (select 1 as z) d"
    assert sd.from_sql(query, KEYS).collect() == [(1, 2, 2)]


UNCHANGED = {
    "texts": "select 'distinct on (a) using filter (where) over mod(1, 2) fetch first row only' as x from a",
    "comments": "select k /* join b using (k) */ as x from a -- natural join b, sign(1), fetch first 1 row only",
    "names": 'select k as "sign", k as "using", k as natural, k as filter from a',
    "capitals and lines": "SELECT k AS x FROM a\nORDER\n BY k\nFETCH NEXT ROW ONLY",
}


@pytest.mark.parametrize("query", UNCHANGED.values(), ids=UNCHANGED)
def test_words_that_are_no_clauses_stay(query: str) -> None:
    (row,) = sd.from_sql(query, KEYS).collect()
    assert set(row) <= {1, "distinct on (a) using filter (where) over mod(1, 2) fetch first row only"}
