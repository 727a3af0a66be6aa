"""Random pipelines give the same rows on Spark as in DuckDB, and on Spark exactly the derived schema.

How many there are, and which, two environment variables say::

    DIFFERENTIAL_PIPELINES=20000 DIFFERENTIAL_SEED=7 pytest tests/differential

A pipeline that fails is shown by the smallest relation in it that fails by itself, as text and as SQL. Once mended, run
the pipeline of that seed and that number again: ``engines.case_of(number, pipeline(seed, number), duckdb_engine())``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, get_args

import pytest

from substrait_dsl.algebra.expressions import AnyExpression
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import AnyRelation
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES, SET_OPS
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark import lowering
from substrait_dsl.spark.relations import sql_fragments
from tests.differential.engines import SPARK_FAILS, Case, case_of, duckdb_engine, result_of, smallest, spark_engines
from tests.differential.pipelines import pipeline

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

PIPELINES = int(os.environ.get("DIFFERENTIAL_PIPELINES", "700"))
"""Of seed 1, every kind of node, option, function and type that 1,200 pipelines have is in the first 900; 700 with rows
are among the first 1,120."""
SEED = int(os.environ.get("DIFFERENTIAL_SEED", "1"))

TOGETHER = 20
"""How many pipelines a thread takes at once; of those without rows, it leaves most out."""
THREADS = 2
"""How many pipelines run at the same time."""
SHOWN = 5
"""How many failures are shown; after as many, no more are looked for."""
KEPT_EMPTY = 11
"""Of so many pipelines without rows one is run: two relations without rows seldom differ."""

Failures = list[tuple[int, str]]


def cases(numbers: range, connection: duckdb.DuckDBPyConnection, counted: Counter[str]) -> list[Case]:
    """The pipelines of these numbers that DuckDB runs."""
    import duckdb

    found = []
    for number in numbers:
        try:
            case = case_of(number, pipeline(SEED, number), connection)
        except (duckdb.OutOfRangeException, duckdb.ConversionException):
            counted["fail in DuckDB"] += 1  # as they may: whether an overflow is met depends on what is computed first
            continue
        if case.rows or number % KEPT_EMPTY == 0:
            found.append(case)
    return found


def run(sessions: Sequence[SparkSession], wanted: int) -> tuple[Counter[str], list[str]]:
    """Run as many pipelines as wanted, some at a time: what became of them, and what is wrong with some that failed."""
    connection = duckdb_engine()
    enough = Event()

    def work(start: int) -> tuple[Counter[str], Failures]:
        counted: Counter[str] = Counter()
        failed: Failures = []
        if not enough.is_set():
            for case in cases(range(start, start + TOGETHER), connection.cursor(), counted):
                result = result_of(case, session_of(case.number, sessions))
                counted["run"] += 1
                if isinstance(result, UnsupportedError):
                    counted[f"refused: {result}"] += 1
                    counted["refused, and let through by check"] += bool(case.relation.check("spark"))
                elif result is not None:
                    failed.append((case.number, result))
        return counted, failed

    everything: Counter[str] = Counter()
    failures: Failures = []
    with ThreadPoolExecutor(THREADS) as pool:
        for counted, failed in pool.map(work, range(0, 2 * wanted + TOGETHER, TOGETHER)):
            everything += counted
            failures += failed
            if everything["run"] >= wanted or len(failures) >= SHOWN:
                enough.set()
    some = [(number, result, session_of(number, sessions)) for number, result in failures[:SHOWN]]
    return everything, [shown(*one, connection) for one in some]


def session_of(number: int, sessions: Sequence[SparkSession]) -> SparkSession:
    """Which session a pipeline runs in."""
    return sessions[number % len(sessions)]


def shown(number: int, result: str, session: SparkSession, connection: duckdb.DuckDBPyConnection) -> str:
    """What is wrong with a pipeline, by the smallest part of it that is wrong."""
    whole = case_of(number, pipeline(SEED, number), connection)
    part, result = smallest(whole, session, connection) or (whole, result)
    return f"--- pipeline {number} of seed {SEED}\n{part.relation}\n\n{part.query}\n\n{result}\n"


@pytest.fixture(scope="module")
def sessions(duckdb: None, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[SparkSession]:
    return spark_engines(spark, tmp_path_factory.mktemp("tables"))


def check(sessions: Sequence[SparkSession], wanted: int) -> None:
    """Check that Spark agrees with DuckDB on so many pipelines, and can run almost all."""
    counted, failed = run(sessions, wanted)
    print(*counted.most_common(), sep="\n")
    assert not failed, "\n" + "\n".join(failed)
    assert counted["run"] >= wanted
    refused = sum(many for what, many in counted.items() if what.startswith("refused:"))
    assert refused <= max(3, 0.05 * wanted), counted
    failed_later = sum(many for what, many in counted.items() if what.startswith(f"refused: {SPARK_FAILS}"))
    assert failed_later <= max(3, 0.003 * wanted), counted
    assert counted["refused, and let through by check"] <= max(2, 0.002 * wanted), counted
    assert counted["fail in DuckDB"] <= max(3, 0.02 * wanted), counted


def test_spark_agrees_with_duckdb(sessions: list[SparkSession]) -> None:
    check(sessions, PIPELINES)


def test_plans_that_are_cut_into_pieces_agree(sessions: list[SparkSession], monkeypatch: pytest.MonkeyPatch) -> None:
    """As plans of more than some dozens of relations are."""
    monkeypatch.setattr(lowering, "MAX_RELATIONS_PER_STATEMENT", 5)
    monkeypatch.setattr(sql_fragments, "MIN_FRAGMENT_SIZE", 2)
    check(sessions, PIPELINES // 7)


# --- what the pipelines are made of

NEVER = {
    # DuckDB has none of them
    "Ddl", "Update", "Write", "ExtensionLeaf", "ExtensionSingle", "ExtensionMulti", "DynamicParameter",
    # the clock
    "ExecutionContextVariable",
    # nested values have tests of their own, as the engines write them differently: only structs, and lists to unnest
    "Lambda", "LambdaInvocation", "MaskedReference", "NestedMap",
    "MultiOrList",
}  # fmt: skip
"""The nodes that the pipelines leave out."""


def test_the_pipelines_have_every_kind_of_relation() -> None:
    """What they never held would be tested nowhere."""
    kinds: Counter[str] = Counter()
    for number in range(300):
        for node in walk(pipeline(1, number)._rel):
            kinds[type(node).__name__] += 1
            for word in ("how", "op"):
                kinds[f"{type(node).__name__} {getattr(node, word, '')}"] += 1
    wanted = {kind.__name__ for kind in (*get_args(AnyRelation), *get_args(AnyExpression))} - NEVER
    wanted |= {f"Join {how}" for how in JOIN_TYPES} | {f"LateralJoin {how}" for how in LATERAL_JOIN_TYPES}
    wanted |= {f"Set {op}" for op in SET_OPS}
    assert sorted(wanted - kinds.keys()) == []
