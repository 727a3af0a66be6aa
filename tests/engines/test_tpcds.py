"""Twelve queries of TPC-DS on every engine without Java: their rows are those of DuckDB's answers to the SQL text.

What an engine refuses is refused by name before it is sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from examples.tpcds.queries import QUERIES, q44
from examples.tpcds.schemas import TABLES
from substrait_dsl.errors import UnsupportedError
from tests.engines.processes import Engine
from tests.engines.runners import Rows
from tests.producers.environment import queries
from tests.tpch_answers import rounded

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession

Run = Callable[[sd.Relation[Any]], Rows]


@attrs.frozen
class Query:
    """What there is to know of a query beside its text."""

    ordered_by: tuple[str, ...] = ()
    """The columns whose values the text's order fixes, in our names."""
    fractions: tuple[str, ...] = ()
    """The averages and quotients of decimals: DOUBLE in DuckDB, in Substrait decimals of a fixed scale."""


KEYS = ("ca_state", "cd_gender", "cd_marital_status", "cd_dep_count", "cd_dep_employed_count", "cd_dep_college_count")
BUCKETS = tuple(f"bucket{number}" for number in range(1, 6))
ITEMS = ("i_category", "i_class", "i_brand", "i_product_name", "d_year", "d_qoy", "d_moy", "s_store_id")

ANSWERS: dict[str, Query] = {
    "q09": Query(fractions=BUCKETS),
    "q14": Query(("channel", "i_brand_id", "i_class_id", "i_category_id")),
    "q33": Query(("total_sales",)),
    "q35": Query(KEYS, fractions=("avg1", "avg2", "avg3")),
    "q36": Query(("lochierarchy", "rank_within_parent"), fractions=("gross_margin",)),
    "q40": Query(("w_state", "i_item_id")),
    "q43": Query(("s_store_name", "s_store_id", "sun_sales")),
    "q44": Query(("rnk",)),
    "q51": Query(("item_sk", "d_date")),
    "q63": Query(("i_manager_id", "avg_monthly_sales", "sum_sales"), fractions=("avg_monthly_sales",)),
    "q67": Query((*ITEMS, "sumsales", "rk")),
    "q87": Query(),
}

STORE = 1
"""The one store that the tables have at this scale, in place of store 4 of query 44."""

WINDOWS = dict.fromkeys(("q36", "q44", "q67"), "has no window function rank:") | {
    "q51": "has no window function sum:dec",
}

REFUSED: dict[str, dict[str, str]] = {
    "acero": WINDOWS
    | {
        "q14": "it would be written in [0-9]+ parts",
    },
    "datafusion": {"q63": "has no window function avg:dec"},
    "duckdb": WINDOWS,
    "sail": {},
}
"""The queries that are refused, by engine and name, and why."""


@pytest.fixture(scope="module")
def connection(duckdb: None, tpcds: Path) -> Iterator[DuckDBPyConnection]:
    """DuckDB with the tables."""
    from duckdb import connect

    with connect() as made:
        for name in TABLES:
            made.read_parquet(str(tpcds / f"{name}.parquet")).create_view(name)
        yield made


def acero(tpcds: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    sd.register_acero_functions()
    with Engine("acero") as engine:
        yield in_process(engine, tpcds)


def duckdb(tpcds: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    shared: Engine = request.getfixturevalue("duckdb_substrait")
    with Engine("duckdb", shared.packages) as engine:  # TPC-H has a table of customers, too
        yield in_process(engine, tpcds)


def in_process(engine: Engine, tpcds: Path) -> Run:
    """What runs plans on an engine in a process; DuckDB 1.1.3 takes the columns of a table by position."""
    columns = {name: list(table.schema.names) for name, table in TABLES.items()}
    engine.add_tables({name: pq.read_table(tpcds / f"{name}.parquet", columns=columns[name]) for name in TABLES})

    def run(relation: sd.Relation[Any]) -> Rows:
        table = engine.run(relation.to_plan().to_bytes(engine=engine.name))
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    return run


def datafusion(tpcds: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    from datafusion import SessionContext

    context = SessionContext()
    for name in TABLES:
        context.register_parquet(name, str(tpcds / f"{name}.parquet"))
    yield lambda relation: [tuple(row) for row in relation.collect(context)]


def sail(tpcds: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    session: SparkSession = request.getfixturevalue("sail")
    for name in TABLES:
        session.read.parquet(str(tpcds / f"{name}.parquet")).createOrReplaceTempView(name)
    yield lambda relation: [tuple(row) for row in relation.collect(session)]
    for name in TABLES:
        session.catalog.dropTempView(name)


ENGINES = {"acero": acero, "datafusion": datafusion, "duckdb": duckdb, "sail": sail}


@pytest.fixture(scope="module", params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest, tpcds: Path) -> Iterator[tuple[str, Run]]:
    """The name of an engine, and what runs a relation on it over the tables."""
    for run in ENGINES[request.param](tpcds, request):
        yield request.param, run


def relation_of(name: str) -> sd.Relation[Any]:
    return q44(STORE) if name == "q44" else QUERIES[name]()


def expected_rows(name: str, schema: sd.RelationSchema, connection: DuckDBPyConnection, tpcds: Path) -> Rows:
    text = queries(tpcds)[int(name[1:])]
    if name == "q44":
        assert text.count("ss_store_sk = 4") == 4
        text = text.replace("ss_store_sk = 4", f"ss_store_sk = {STORE}")
    fractions = ANSWERS[name].fractions
    return [
        tuple(
            rounded(value, field.type) if field.name in fractions else value
            for field, value in zip(schema, row, strict=True)
        )
        for row in connection.sql(text).fetchall()
    ]


def columns_of(rows: Rows, positions: Sequence[int]) -> Rows:
    return [tuple(row[position] for position in positions) for row in rows]


@pytest.mark.parametrize("name", QUERIES)
def test_rows_are_those_of_the_sql_text(
    name: str, engine: tuple[str, Run], connection: DuckDBPyConnection, tpcds: Path
) -> None:
    engine_name, run = engine
    relation = relation_of(name)
    if name in (refused := REFUSED[engine_name]):
        with pytest.raises(UnsupportedError, match=refused[name]):
            run(relation)
        return
    found = run(relation)
    expected = expected_rows(name, relation.schema, connection, tpcds)
    assert expected, "a query without rows shows nothing"
    assert Counter(found) == Counter(expected)
    keys = [relation.schema.names.index(column) for column in ANSWERS[name].ordered_by]
    assert columns_of(found, keys) == columns_of(expected, keys)
