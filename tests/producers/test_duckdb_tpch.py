"""The 22 queries of TPC-H as DuckDB 1.1.3 plans them: read here and run on Spark, they give the rows of DuckDB.

Seven of them DuckDB cannot write as a plan, and two are refused here, by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from examples.tpch import data
from substrait_dsl.errors import SubstraitDslError, UnsupportedError
from tests.producers.environment import planned_by_duckdb
from tests.producers.values import are_equal, in_order
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = {path.stem: path for path in sorted((Path(data.__file__).parent / "sql").glob("*.sql"))}

NOT_WRITTEN = dict.fromkeys(("q02", "q04", "q17", "q20", "q21", "q22"), "DELIM_JOIN") | {"q16": "join type MARK"}
"""The queries that DuckDB cannot write as a plan, with what it says: all of them have subqueries."""

REFUSED: Mapping[str, tuple[type[SubstraitDslError], str]] = {
    "q11": (UnsupportedError, "gt(decimal"),  # decimals of two scales, which the specification does not compare
    "q13": (UnsupportedError, "NOT LIKE"),  # NOT LIKE and not_equal are written alike
}
"""The queries that are refused when they are read or run, and words of the error."""

Planned = Mapping[str, tuple[bytes, list[Any]] | str]


@pytest.fixture(scope="module")
def planned(duckdb_cache: Path, tpch: Path, tmp_path_factory: pytest.TempPathFactory) -> Planned:
    texts = {name: path.read_text(encoding="utf-8").strip().rstrip(";") for name, path in QUERIES.items()}
    return planned_by_duckdb(duckdb_cache, tmp_path_factory.mktemp("planned"), tpch, texts)


def plain(value: Any) -> Any:
    """An integer for a whole decimal: the plan declares a sum of integers as a decimal, DuckDB gives an integer."""
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value


@pytest.mark.parametrize("name", sorted(QUERIES.keys() - NOT_WRITTEN.keys() - REFUSED.keys()))
def test_a_query_gives_the_rows_of_duckdb(name: str, planned: Planned, spark: SparkSession) -> None:
    found = planned[name]
    assert isinstance(found, tuple)
    plan, expected = found
    (root,) = sd.Plan.from_bytes(plan).roots
    got = [tuple(map(plain, row)) for row in root.collect(spark)]
    pairs = zip(in_order([tuple(map(plain, row)) for row in expected]), in_order(got), strict=True)
    assert [(a, b) for a, b in pairs if not are_equal(a, b, relative=1e-9)] == []


@pytest.mark.parametrize("name", NOT_WRITTEN)
def test_duckdb_cannot_write_the_others(name: str, planned: Planned) -> None:
    """The day it can, the query belongs to the others."""
    error = planned[name]
    assert isinstance(error, str)
    assert NOT_WRITTEN[name] in error


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_mean_something_else_is_refused(name: str, planned: Planned, spark: SparkSession) -> None:
    found = planned[name]
    assert isinstance(found, tuple)
    plan, _ = found
    error, words = REFUSED[name]
    with refused(error, words):
        sd.Plan.from_bytes(plan).execute(spark)
