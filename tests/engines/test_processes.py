"""Plans lowered to engines that run in processes of their own: no row is wrong, and none of them dies of a plan.

What is not let through is refused by name, before it is sent. Types are those of the plan, too, and not only values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pytest

import substrait_dsl as sd
from examples.tpch.queries import QUERIES
from examples.tpch.schemas import TABLES
from substrait_dsl.errors import UnsupportedError
from tests.differential.engines import case_of
from tests.differential.pipelines import pipeline
from tests.differential.test_pipelines import PIPELINES, SEED
from tests.engines.corpus import PLANS
from tests.engines.processes import Crashed, Engine, Refused
from tests.engines.runners import canonical_rows, random_tables
from tests.tpch_answers import require_rows_of_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

REFUSED_QUERIES: dict[str, dict[str, str]] = {
    "acero": {},
    "duckdb": {},
}
"""The queries of TPC-H that are refused, by engine and name, and why."""

LEAST: dict[str, tuple[float, float]] = {"acero": (0.85, 0.08), "duckdb": (0.85, 0.1)}
"""Which parts of the small plans and of the random pipelines are let through, at least."""

MAX_REJECTED = 0.02
"""Which part of what is let through the engine may refuse at most: that is no wrong row."""


@pytest.fixture(params=sorted(LEAST))
def engine(request: pytest.FixtureRequest) -> Engine:
    fixture = {"duckdb": "duckdb_substrait"}.get(request.param, request.param)
    made: Engine = request.getfixturevalue(fixture)
    return made


@attrs.define
class Outcome:
    """What became of plans."""

    counted: Counter[str] = attrs.field(factory=Counter)
    faults: list[str] = attrs.field(factory=list)

    def part(self, what: str) -> float:
        return self.counted[what] / self.counted.total()


def run_all(engine: Engine, plans: Iterable[tuple[str, sd.Relation[Any]]], connection: DuckDBPyConnection) -> Outcome:
    """Run plans, and hold what comes against what DuckDB computes of their SQL."""
    from duckdb import ConversionException, OutOfRangeException

    outcome = Outcome()
    for name, relation in plans:
        try:
            table = engine.run(relation.to_plan().to_bytes(engine=engine.name))
            case = case_of(0, relation, connection)
        except UnsupportedError:
            outcome.counted["refused"] += 1
        except (Refused, ConversionException, OutOfRangeException):
            outcome.counted["rejected"] += 1
        except Crashed as error:
            outcome.faults.append(f"{name}: {error}")
        else:
            outcome.counted["run"] += 1
            fault = case.difference(canonical_rows(rows_of(table))) or other_types(table, relation)
            outcome.faults += [f"{name}: {fault}"] if fault else []
    return outcome


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def other_types(table: pa.Table, relation: sd.Relation[Any]) -> str | None:
    """How the types of columns differ from those of the plan."""
    expected = relation.schema.to_arrow().types
    return None if table.schema.types == expected else f"the types are {table.schema.types}, not {expected}"


def test_small_plans_have_the_rows_of_duckdb(engine: Engine, connection: DuckDBPyConnection) -> None:
    engine.add_tables(random_tables())
    outcome = run_all(engine, ((name, make()) for name, make in PLANS.items()), connection)
    assert outcome.faults == []
    assert outcome.part("run") >= LEAST[engine.name][0]
    assert outcome.counted["rejected"] == 0


def test_random_pipelines_have_the_rows_of_duckdb(engine: Engine, connection: DuckDBPyConnection) -> None:
    engine.add_tables(random_tables())
    numbers = range(PIPELINES // 2)
    outcome = run_all(engine, ((str(number), pipeline(SEED, number)) for number in numbers), connection)
    assert outcome.faults == []
    assert outcome.part("run") >= LEAST[engine.name][1]
    assert outcome.part("rejected") <= MAX_REJECTED


def test_queries_of_tpch_have_the_rows_of_their_sql_text(
    engine: Engine, tpch_folder: Path, tpch_in_duckdb: DuckDBPyConnection
) -> None:
    engine.add_files({name: tpch_folder / f"{name}.parquet" for name in TABLES})
    refused = {}
    for name, make in QUERIES.items():
        query = make()
        try:
            data = query.to_plan().to_bytes(engine=engine.name)
        except UnsupportedError as error:
            refused[name] = error.message
            continue
        table = engine.run(data)
        require_rows_of_query(name, rows_of(table), tpch_in_duckdb)
        assert other_types(table, query) is None, name
    expected_refusals = REFUSED_QUERIES[engine.name]
    assert set(refused) == set(expected_refusals)
    assert all(words in refused[name] for name, words in expected_refusals.items())
