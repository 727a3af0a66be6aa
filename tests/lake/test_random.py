"""Random sequences of changes, each made by the library and, in the words of SQL, by another engine."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"id": "i64", "k": "i64?", "name": "string?"}
NAME = ("lake", "db", "random")

ids = st.integers(0, 3)
keys = st.none() | st.integers(0, 2)
names = st.none() | st.sampled_from(["a", "b", ""])
rows = st.lists(st.tuples(ids, keys, names), max_size=5)


@attrs.frozen
class Change:
    """A change, as a relation and as statements of SQL."""

    relation: Any
    statements: tuple[str, ...]
    counts: str | None = None
    """A query for the number of rows that an update changes, asked before it."""


def literal(value: Any) -> str:
    return "NULL" if value is None else repr(value)


def insert(given: list[tuple[Any, ...]]) -> Change:
    made = sd.read_virtual(given, COLUMNS).write(NAME)
    texts = [f"INSERT INTO t VALUES ({', '.join(map(literal, row))})" for row in given]
    return Change(made, tuple(texts))


def delete(given: list[tuple[Any, ...]]) -> Change:
    """Each row takes one copy with it: the first of those that equal it."""
    made = sd.read_virtual(given, COLUMNS).write(NAME, "delete")
    same = " AND ".join(f"{column} IS NOT DISTINCT FROM {{}}" for column in COLUMNS)
    texts = [
        f"DELETE FROM t WHERE rowid = (SELECT min(rowid) FROM t WHERE {same.format(*map(literal, row))})"
        for row in given
    ]
    return Change(made, tuple(texts))


CONDITIONS: dict[str, Any] = {
    "k > 0": lambda r: r.k > 0,
    "k IS NULL OR name = 'a'": lambda r: r.k.is_null() | (r.name == "a"),
    "NOT (k = 1)": lambda r: ~(r.k == 1),
    "id IN (1, 3) AND name <> ''": lambda r: r.id.is_in([1, 3]) & (r.name != ""),
    "true": True,
    "k IN (SELECT id FROM t WHERE name IS NOT NULL)": lambda r: r.k.is_in(
        sd.read_named(NAME, COLUMNS).filter(lambda t: t.name.is_not_null()).select("id")
    ),
}
VALUES: dict[str, dict[str, Any]] = {
    "k": {"k + 1": lambda r: r.k + 1, "NULL": None, "id": lambda r: r.id},
    "name": {"name || 'x'": lambda r: f.concat(r.name, "x"), "'new'": "new", "NULL": None},
    "id": {"id": lambda r: r.id, "coalesce(k, 7)": lambda r: f.coalesce(r.k, 7).assert_not_null()},
}


def update(where: str, changes: dict[str, str]) -> Change:
    made = sd.update(
        NAME, COLUMNS, {column: VALUES[column][text] for column, text in changes.items()}, CONDITIONS[where]
    )
    sets = ", ".join(f"{column} = {text}" for column, text in changes.items())
    return Change(made, (f"UPDATE t SET {sets} WHERE {where}",), f"SELECT count(*) FROM t WHERE {where}")


sets = st.fixed_dictionaries({}, optional={column: st.sampled_from(sorted(texts)) for column, texts in VALUES.items()})
changes = st.one_of(
    rows.map(insert),
    rows.map(delete),
    st.builds(update, st.sampled_from(sorted(CONDITIONS)), sets.filter(bool)),
)


@pytest.mark.usefixtures("duckdb")
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(first=rows, steps=st.lists(changes, min_size=1, max_size=6))
def test_sequences_of_changes(first: list[tuple[Any, ...]], steps: list[Change], spark: SparkSession) -> None:
    import duckdb

    sd.read_virtual(first, COLUMNS).write(NAME, "ctas", create_mode="replace_if_exists").execute(spark)
    with duckdb.connect() as other:
        other.sql("CREATE TABLE t (id BIGINT, k BIGINT, name VARCHAR)")
        for statement in insert(first).statements:
            other.execute(statement)
        for step in steps:
            expected = None if step.counts is None else other.sql(step.counts).fetchall()
            for statement in step.statements:
                other.execute(statement)
            given = [tuple(row) for row in step.relation.collect(spark)]
            assert expected is None or given == expected, step.statements
            mine = Counter(map(tuple, spark.table(".".join(NAME)).collect()))
            assert mine == Counter(other.sql("FROM t").fetchall()), step.statements
