"""The 99 queries of TPC-DS as DataFusion plans them: read here and run on Spark, they give the rows of DataFusion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.producers.environment import queries
from tests.producers.values import are_equal, in_order

if TYPE_CHECKING:
    from datafusion import SessionContext
    from pyspark.sql import SparkSession

REFUSED: dict[int, str] = {}
"""The queries whose plans are refused by name, with what is said."""


@pytest.fixture(scope="module")
def context(datafusion: None, tpcds: Path, spark: SparkSession) -> Iterator[SessionContext]:
    from datafusion import SessionContext

    made = SessionContext()
    tables = sorted(tpcds.glob("*.parquet"))
    for table in tables:
        made.register_parquet(table.stem, str(table))
        spark.read.parquet(str(table)).createOrReplaceTempView(table.stem)
    yield made
    for table in tables:
        spark.catalog.dropTempView(table.stem)


@pytest.mark.parametrize("number", range(1, 100))
def test_a_query_gives_the_rows_of_datafusion(
    context: SessionContext, tpcds: Path, spark: SparkSession, number: int
) -> None:
    from datafusion.substrait import Serde

    query = queries(tpcds)[number]
    plan = sd.Plan.from_bytes(bytes(Serde.serialize_bytes(query, context)))
    (root,) = plan.roots
    if number in REFUSED:
        with pytest.raises(UnsupportedError, match=REFUSED[number]):
            root.collect(spark)
        return
    tables = {path.stem: pq.read_schema(path) for path in tpcds.glob("*.parquet")}
    expected = in_order(
        [
            row
            for batch in context.sql(query).collect()
            for row in zip(*map(pa.Array.to_pylist, batch.columns), strict=True)
        ]
    )
    for relation in (root, sd.from_sql(query, tables)):  # of the optimizer's plan, and of the steps of the text
        got = in_order([tuple(row) for row in relation.collect(spark)])
        assert len(got) == len(expected)
        different = [(a, b) for a, b in zip(expected, got, strict=True) if not are_equal(a, b, relative=1e-9)]
        assert different == []
