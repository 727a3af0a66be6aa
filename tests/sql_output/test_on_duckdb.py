"""What queries give on DuckDB: the rows of the plan, with its types."""

from __future__ import annotations

import os
from collections import Counter
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from examples.tpch.queries import QUERIES
from substrait_dsl import functions as f
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.fluent.base import wrap_relation
from tests.differential.engines import case_of, duckdb_engine, duckdb_rows
from tests.differential.pipelines import pipeline
from tests.differential.tables import duckdb_type
from tests.engines.test_function_cases import outcome_of_cases
from tests.sql_output.rare_relations import KEYED, KEYS, PAIRED, PAIRS, RARE
from tests.sql_output.rich_pipelines import EXTREMES, overflowing
from tests.tpch_answers import each_query, require_rows_of_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PIPELINES = int(os.environ.get("SQL_PIPELINES", "300"))
SEED = int(os.environ.get("SQL_SEED", "1"))
MIN_RIGHT = 0.5
"""Of how many of the pipelines queries are written, at least: they have everything that there is."""

MIN_CASES = 360
"""How many of the specification's cases of scalar functions are computed as stated, at least."""

pytestmark = pytest.mark.usefixtures("duckdb")


@each_query
def test_queries_of_tpch_have_the_known_answers(name: str, tpch_in_duckdb: DuckDBPyConnection) -> None:
    result = tpch_in_duckdb.execute(QUERIES[name]().to_sql("duckdb"))
    described = [str(column[1]) for column in result.description or ()]
    assert described == [duckdb_type(field.type) for field in QUERIES[name]().schema]
    require_rows_of_query(name, result.fetchall(), tpch_in_duckdb)


def test_random_pipelines_have_the_rows_of_the_plan() -> None:
    """As the tests' own generator of SQL has them, which shares nothing with the library's."""
    import duckdb

    connection = duckdb_engine()
    counted: Counter[str] = Counter()
    failures: list[str] = []
    for number in range(PIPELINES):
        relation = pipeline(SEED, number)
        try:
            query = relation.to_sql("duckdb")
        except UnsupportedError:
            counted["refused"] += 1
            continue
        try:
            case = case_of(number, relation, connection)
        except (duckdb.OutOfRangeException, duckdb.ConversionException):
            counted["fails"] += 1
            continue
        difference = case.difference(duckdb_rows(connection, query))
        described = [str(column[1]) for column in connection.execute(query).description or ()]
        if difference is None and described != [duckdb_type(field.type) for field in relation.schema]:
            difference = f"the types are {described}"
        counted["right, with rows"] += difference is None and bool(case.rows)
        if difference is not None:
            failures.append(f"--- pipeline {number} of seed {SEED}\n{relation}\n\n{query}\n\n{difference}")
    assert not failures, "\n".join(failures[:3])
    assert counted["right, with rows"] >= MIN_RIGHT * PIPELINES - 5, counted


NUMBERS = sd.read_named("numbers", {"k": "i64", "x": "i64?", "y": "i64?"})
"""Of the rows (1, NULL, -1), (2, 7, NULL), (3, the smallest, -1)."""

ONES: dict[str, tuple[sd.Relation[Any], list[Any], str]] = {
    "a remainder of NULL by -1": (NUMBERS.select(r=lambda n: n.x % n.y), [None, None, 0], "BIGINT"),
    "a remainder by a constant -1": (NUMBERS.select(r=lambda n: n.x % -1), [None, 0, 0], "BIGINT"),
    "nullif of a constant": (NUMBERS.select(r=lambda n: f.nullif(sd.lit(7, "i64?"), n.x)), [7, None, 7], "BIGINT"),
    "a sum of NULLs": (
        NUMBERS.group_by("k").agg(r=f.sum(sd.lit(None, "decimal<10,2>?"))).sort("k").select("r"),
        [None] * 3,
        "DECIMAL(38,2)",
    ),
    "a sum of a decimal without a point": (
        NUMBERS.aggregate(r=f.sum(sd.lit(2, "decimal<10,0>"))),
        [Decimal(6)],
        "DECIMAL(38,0)",
    ),
    "decimals without a point, of more than 32 bits": (
        NUMBERS.select(r=lambda n: sd.lit(2_000_000_000, "decimal<10,0>") + sd.lit(2_000_000_000, "decimal<10,0>")),
        [Decimal(4_000_000_000)] * 3,
        "DECIMAL(11,0)",
    ),
    "a year of no date": (NUMBERS.select(r=lambda n: f.extract("YEAR", sd.lit(None, "date?"))), [None] * 3, "BIGINT"),
    "a text like sqlglot's line break": (
        NUMBERS.limit(1).select(r=sd.lit("__SQLGLOT__LB__ a\nb")),
        ["__SQLGLOT__LB__ a\nb"],
        "VARCHAR",
    ),
    "joined texts that are not NULL": (
        NUMBERS.aggregate(r=lambda n: f.string_agg(n.k.cast(sd.String), ",").order_by("k"), top=lambda n: f.max(n.k))
        .filter(lambda a: a.r.is_not_null() & ~(a.r == "1"))
        .select("r"),
        ["1,2,3"],
        "VARCHAR",
    ),
    "a text of SQL": (
        NUMBERS.limit(1).select(r=sd.lit("\\'; DROP TABLE numbers; --")),
        ["\\'; DROP TABLE numbers; --"],
        "VARCHAR",
    ),
}


@pytest.mark.parametrize("name", ONES)
def test_a_column_has_the_values_and_the_type_of_the_plan(name: str) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE numbers (k BIGINT, x BIGINT, y BIGINT)")
    connection.execute(f"INSERT INTO numbers VALUES (1, NULL, -1), (2, 7, NULL), (3, {-(2**63)}, -1)")
    relation, values, type_ = ONES[name]
    result = connection.execute(relation.to_sql("duckdb"))
    assert [str(column[1]) for column in result.description or ()] == [type_]
    assert result.fetchall() == [(value,) for value in values]


def rare_tables() -> DuckDBPyConnection:
    """A connection with the tables of `RARE`."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW pairs AS {PAIRS}")
    connection.execute(f"CREATE VIEW keyed AS {KEYS}")
    return connection


@pytest.mark.parametrize("name", RARE)
def test_rare_relations_have_the_rows_of_the_plan(name: str) -> None:
    relation, rows = RARE[name]
    assert sorted(rare_tables().execute(relation.to_sql("duckdb")).fetchall(), key=str) == sorted(rows, key=str)


@pytest.mark.parametrize("how", ["left_single", "right_single"])
def test_a_second_match_in_a_single_join_is_an_error(how: Any) -> None:
    import duckdb

    sides = (KEYED, PAIRED) if how == "left_single" else (PAIRED, KEYED)
    key = (lambda k, p: k.k == p.a) if how == "left_single" else (lambda p, k: k.k == p.a)
    query = sides[0].join(sides[1], on=key, how=how).to_sql("duckdb")
    with pytest.raises(duckdb.InvalidInputException, match="a row has two matches in a single join"):
        rare_tables().execute(query).fetchall()


def test_a_second_match_of_rows_that_are_computed_for_each_is_an_error() -> None:
    import duckdb

    query = KEYED.lateral_join(lambda k: PAIRED.filter(lambda p: p.a == k.k), how="left_single").to_sql("duckdb")
    with pytest.raises(duckdb.InvalidInputException, match="a row has two matches in a single join"):
        rare_tables().execute(query).fetchall()


def quotient(x: Decimal, y: Decimal, scale: int) -> Decimal:
    """A quotient that is rounded once, half away from zero."""
    with localcontext(Context(prec=200)):
        return (x / y).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)


NARROW = (((38, 20), (20, 2)), ((38, 30), (10, 0)), ((20, 15), (38, 4)), ((18, 18), (38, 0)))
"""Dividends of more digits after the point than their quotients by such divisors have."""


@pytest.mark.parametrize(("x", "y"), NARROW)
def test_quotients_of_fewer_digits_are_rounded_once(x: tuple[int, int], y: tuple[int, int]) -> None:
    import duckdb

    random = Random(7)
    units = [random.randint(-(10**18) + 1, 10**18 - 1) for _ in range(50)]
    rows = [(Decimal(each).scaleb(-x[1]), random.choice((-7, 3, 8))) for each in units]
    rows += [(Decimal(5 * n).scaleb(-7), n % 2 * 2 - 1) for n in (1, -1, 3, -3, 25)]  # ties, with six digits
    pairs = [(value, Decimal(divisor).scaleb(-y[1])) for value, divisor in rows if abs(value) < 10 ** (x[0] - x[1])]
    table = sd.read_virtual(pairs, {"x": f"decimal<{x[0]},{x[1]}>", "y": f"decimal<{y[0]},{y[1]}>"})
    relation = table.select("x", "y", q=lambda r: f.divide(r.x, r.y))
    type_ = relation._rel.schema.types[-1]
    assert isinstance(type_, sd.Decimal)
    assert type_.scale + y[1] < x[1]
    found = duckdb.connect().execute(relation.to_sql("duckdb")).fetchall()
    assert found == [(a, b, quotient(a, b, type_.scale)) for a, b in pairs]


def test_quotients_of_quotients() -> None:
    import duckdb

    pairs = [(Decimal(n) / 100, Decimal(3 * n + 1) / 100) for n in range(1, 40)]
    table = sd.read_virtual(pairs, {"x": "decimal<10,2>", "y": "decimal<10,2>"})
    relation = table.select("x", "y", q=lambda r: f.divide(f.divide(r.x, r.y), f.divide(r.y, r.x)))
    found = duckdb.connect().execute(relation.to_sql("duckdb")).fetchall()
    first = table.select(q=lambda r: f.divide(r.x, r.y))._rel.schema.types[0]
    second = relation._rel.schema.types[-1]
    assert isinstance(first, sd.Decimal)
    assert isinstance(second, sd.Decimal)
    assert found == [
        (x, y, quotient(quotient(x, y, first.scale), quotient(y, x, first.scale), second.scale)) for x, y in pairs
    ]


def cut(value: int, limit: int, option: str) -> int:
    """An integer as the option has it: from -limit to limit - 1."""
    if option == "SATURATE":
        return max(-limit, min(value, limit - 1))
    return (value + limit) % (2 * limit) - limit


@pytest.mark.parametrize("type_", EXTREMES)
def test_integers_that_overflow_are_cut_as_the_option_says(type_: str) -> None:
    import duckdb

    limit = EXTREMES[type_]
    result = duckdb.connect().execute(overflowing(type_).to_sql("duckdb"))
    names = [column[0] for column in result.description or ()]
    rows = result.fetchall()
    assert len(rows) == 51
    for x, y, *values in rows:
        if x is None or y is None:
            continue
        quotient = abs(x) // abs(y) * (1 if x * y >= 0 else -1)
        exact = {"add": x + y, "subtract": x - y, "multiply": x * y, "divide": quotient, "negate": -x, "abs": abs(x)}
        for name, value in zip(names[2:-1], values[:-1], strict=True):
            function, option = name.split("_")
            assert value == cut(exact[function], limit, option), (name, x, y)
        assert values[-1] == x % y, (x, y)  # Python's remainder has the sign of the divisor


def test_cases_of_functions_are_as_stated_or_refused() -> None:
    import duckdb

    connection = duckdb.connect()

    def run(plan: AlgebraPlan) -> list[tuple[Any, ...]]:
        return connection.execute(wrap_relation(plan.roots[0].input).to_sql("duckdb")).fetchall()

    right, wrong = outcome_of_cases(run)
    assert not wrong, "\n".join(wrong)
    assert right >= MIN_CASES
