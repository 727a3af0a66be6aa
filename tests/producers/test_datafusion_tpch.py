"""The 22 queries of TPC-H as DataFusion plans them: read here and run on Spark, they give the rows of DataFusion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import substrait_dsl as sd
from examples.tpch import data
from examples.tpch.schemas import TABLES
from tests.producers.values import are_equal, in_order

if TYPE_CHECKING:
    from datafusion import SessionContext
    from pyspark.sql import SparkSession

QUERIES = sorted((Path(data.__file__).parent / "sql").glob("*.sql"))


@pytest.fixture(scope="module")
def context(datafusion: None, tpch: Path) -> SessionContext:
    from datafusion import SessionContext

    made = SessionContext()
    for name in TABLES:
        made.register_parquet(name, str(tpch / f"{name}.parquet"))
    return made


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_a_query_gives_the_rows_of_datafusion(context: SessionContext, spark: SparkSession, path: Path) -> None:
    from datafusion.substrait import Serde

    query = path.read_text(encoding="utf-8")
    (root,) = sd.Plan.from_bytes(bytes(Serde.serialize_bytes(query, context))).roots
    batches = context.sql(query).collect()
    expected = [row for batch in batches for row in zip(*map(pa.Array.to_pylist, batch.columns), strict=True)]
    for relation in (root, sd.from_sql(query, TABLES)):  # of the optimizer's plan, and of the steps of the text
        got = [tuple(row) for row in relation.collect(spark)]
        pairs = zip(in_order(expected), in_order(got), strict=True)
        assert [(a, b) for a, b in pairs if not are_equal(a, b, relative=1e-9)] == []
