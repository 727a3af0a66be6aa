"""Set operations that count repetitions: the rows of DuckDB on the embedded engine, or a refusal by name."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.support import columns, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("datafusion")

RANDOM = Random(11)
COLUMNS = {"k": "i64", "v": "i64?", "s": "string?"}


def some_rows(count: int) -> list[tuple[Any, ...]]:
    """Rows of few values, so that they are there several times."""
    values = (None, 1, 2)
    return [(RANDOM.randint(1, 2), RANDOM.choice(values), RANDOM.choice((None, "a"))) for _ in range(count)]


ROWS = {"a": some_rows(40), "b": some_rows(25), "c": some_rows(12)}
TABLES = {name: sd.read_virtual(rows, COLUMNS) for name, rows in ROWS.items()}

READ = (
    "select k, v, s from a except all select k, v, s from b",
    "select k, v, s from a intersect all select k, v, s from b",
    "select v from a Except /* as often */ All select v from b",
    "select v from a intersect all select v from b",
    "select k from a except all select v from b",  # NULL on one side alone
    "select k from a intersect all select v from b",
    "select v from a intersect all select k from b",
    "select v, k from a except all select v, k from b except all select v, k from c",
    "select v from a except all (select v from b except all select v from c)",
    "select v from a except all select v from b intersect all select v from c",
    "select v from a except all select v from b except select v from c",
    "select v from a except select v from b except all select v from c",
    "select distinct v from a except all select v from b",
    "select v from a group by v except all select v from b",
    "select v, count(*) as n from a group by v except all select v, 3 from b",
    "select v, count(*) as n from a group by rollup (v) intersect all select v, count(*) from b group by rollup (v)",
    "select v from a intersect select v from b intersect all select v from c",
    "select v from a union all select v from b except all select v from c",
    "select v from (select v from a except all select v from b) as t where v > 1",
    "select t.v, count(*) as n from (select v from a except all select v from b) as t group by t.v",
    "with t as (select v from a except all select v from b) select x.v from t as x union all select y.v from t as y",
    "select v from a where v in (select v from b) except all select v from c",
    "select v from a where exists (select 1 from b where b.v = a.v and b.k = 1) except all select v from c",
    "select v from a where not exists (select 1 from b where b.v = a.v and b.k = 1) intersect all select v from c",
    "select k from a where k in (select k from b except all select k from c)",
    "select upper(s) as u, v + 1 as w from a except all select upper(s), v + 1 from b",
    "select * from a except all select * from b",
)


@pytest.mark.parametrize("query", READ)
def test_rows_are_those_of_duckdb(query: str, sail: SparkSession, duckdb: None) -> None:
    from duckdb import connect

    with connect() as connection:
        for name, rows in ROWS.items():
            connection.execute(f"create table {name} (k bigint, v bigint, s varchar)")
            connection.executemany(f"insert into {name} values (?, ?, ?)", rows)
        wanted = connection.execute(query).fetchall()
    assert Counter(map(tuple, sd.from_sql(query, TABLES).collect())) == Counter(wanted)


def test_the_steps_are_set_operations() -> None:
    read = sd.from_sql("select k, v from a except all select k, v from b order by k limit 3", TABLES)
    first, second = (TABLES[name].select("k", "v") for name in "ab")
    written = first.set_op("minus_primary_all", second).sort(sd.asc("k", nulls="last")).fetch(3)
    assert str(read.to_plan()) == str(written.to_plan())
    both = sd.from_sql("select v from a intersect all select k from b", TABLES)
    assert columns(both) == "v: i64?"  # as DataFusion has it, though k is required


@pytest.mark.parametrize(
    "query",
    [
        "select v from a left anti join b on a.v is not distinct from b.v except all select v from c",
        "select v from a where exists (select 1 from b where a.v <=> b.v) intersect all select v from c",
        "select v from a except all select cast(v as int) from b",
    ],
)
def test_joins_that_may_be_others_are_refused(query: str) -> None:
    with refused(UnsupportedError, "says nothing of repetitions", "hint: read both queries, then first.set_op("):
        sd.from_sql(query, TABLES)


def test_words_in_quotes_are_no_operation() -> None:
    query = "select v as \"except all\" from a where s <> 'intersect all' -- except all"
    assert sd.from_sql(query, TABLES).schema.names == ("except all",)
