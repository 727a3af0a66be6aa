"""Plans for substrait-java: Isthmus makes queries of what `check` lets through, and DuckDB gives the right rows."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from examples.tpch.queries import QUERIES
from substrait_dsl import functions
from tests.differential.engines import duckdb_engine
from tests.engines.test_verdicts import CORPUS, judge_of, outcome
from tests.producers.isthmus import queries_of_isthmus
from tests.tpch_answers import require_rows_of_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

f: Any = functions

ALL_COLUMNS = "read with a subset of columns"
"""The plan of a table with more columns than it declares: Isthmus names those that are declared by ``*``."""

MIN_LET_THROUGH = 220

T = sd.read_named("t", {"k": "i64", "s": "string?"})
U = sd.read_named("u", {"k": "i64", "b": "i32"})

REFUSED: dict[str, tuple[Any, str]] = {
    "a text that Calcite cannot hold": (lambda: T.filter(lambda t: t.s == "\u017f"), "ISO 8859-1"),
    "such a text in a row": (lambda: sd.read_virtual([("\U0001d11e",)], {"s": "string"}), "ISO 8859-1"),
    "no text": (lambda: T.select(s=sd.lit(None, sd.String(nullable=True))), "ISO 8859-1"),
    "a constant that is no number": (lambda: T.select(v=sd.lit(math.nan, "fp64")), "NaN, infinite or -0.0"),
    "an infinite constant": (lambda: T.filter(lambda t: sd.lit(-math.inf, "fp32") < 0), "NaN, infinite or -0.0"),
    "a negative zero": (lambda: sd.read_virtual([(-0.0,)], {"v": "fp64"}), "NaN, infinite or -0.0"),
    "a fetch without a count": (lambda: T.fetch(None, 3), "without a count"),
    "a large count": (lambda: T.fetch(2**31), "2^31 - 1 rows"),
    "a quotient": (lambda: T.select(v=lambda t: f.divide(t.k, 3)), "divide:i64_i64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_it_is_known_to_get_wrong_is_refused(name: str) -> None:
    make, words = REFUSED[name]
    report = make().check("substrait-java")
    assert (report.engine, report.verdict) == ("substrait-java-0.89", "refused")
    assert words in report.findings[0].why


def test_groups_that_are_grouped_again_are_joined_to_one_row() -> None:
    """Of an aggregate right above another Isthmus makes one query, with names that mean other columns."""
    counts = T.group_by("s").agg(n=f.count()).filter(lambda r: r.n > 1).aggregate(m=lambda r: f.max(r.n))
    assert "cross" in str(counts.to_plan().lower("substrait-java"))


def test_semi_joins_are_written_by_all_columns() -> None:
    """A row without a match is left out, however many are equal to it: these are joined to no row."""
    lowered = T.join(U, lambda t, u: (t.k == u.k) & (u.b > 1), "left_semi").to_plan().lower("substrait-java")
    assert "left_semi" not in str(lowered)
    assert str(lowered).count("join left on") == 2


@pytest.fixture(scope="module")
def connection(duckdb: None) -> DuckDBPyConnection:
    return duckdb_engine()


def test_what_is_let_through_is_right(isthmus_cache: Path, connection: DuckDBPyConnection) -> None:
    plans, judges = {}, {}
    for name, form in CORPUS.items():
        made = form.make()
        plan = made if isinstance(made, sd.Plan) else made.to_plan()
        if plan.check("substrait-java"):
            plans[name] = plan.to_bytes(engine="substrait-java")
            judges[name] = judge_of(form, made, connection)
    queries = queries_of_isthmus(isthmus_cache, plans)
    found = {
        name: outcome(partial(lambda text: connection.execute(text).fetchall(), text), judges[name])
        for name, text in queries.items()
    }
    found[ALL_COLUMNS] = "right" if queries[ALL_COLUMNS].split() == ["SELECT", "*", "FROM", '"ints"'] else "wrong"
    assert {name: f"{what}\n{queries[name]}" for name, what in found.items() if what != "right"} == {}
    assert len(found) >= MIN_LET_THROUGH


DIVIDED = {"q01", "q08", "q14", "q17", "q22"}
"""The queries of TPC-H with averages or quotients of decimals: DuckDB computes these as floating-point numbers."""


def test_queries_of_tpch_have_the_rows_of_the_sql_text(isthmus_cache: Path, tpch_in_duckdb: DuckDBPyConnection) -> None:
    plans = {name: make().to_plan() for name, make in QUERIES.items()}
    assert {name for name, plan in plans.items() if not plan.check("substrait-java")} == DIVIDED
    data = {name: plan.to_bytes(engine="substrait-java") for name, plan in plans.items() if name not in DIVIDED}
    for name, text in queries_of_isthmus(isthmus_cache, data).items():
        require_rows_of_query(name, tpch_in_duckdb.execute(text).fetchall(), tpch_in_duckdb)
