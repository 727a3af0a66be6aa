"""The first rows of an order are the first of all, also where Spark would take those of the machine that is done first.

Where rows lie on several machines, the parts that they have sorted come in as they come. So a limit must stand on the
sort itself, with conditions and one projection between them: Spark takes these together, as a `TakeOrderedAndProject`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from tests.spark.rows import collected, values
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = [(3, [7, 8]), (1, [5, 6, 4]), (2, []), (4, [9])]
T: Any = values({"k": "i64", "xs": "list<i64>"}, *ROWS)

STEPS: dict[str, Callable[[Any], Any]] = {
    "a condition": lambda t: t.filter(lambda r: r.k < 9),
    "a projection": lambda t: t.with_columns(a=lambda r: r.k + 1),
    "an unnest": lambda t: t.unnest("xs"),
    "an expand": lambda t: t.expand(k=lambda r: r.k, n=sd.switching(1, 2)),
    "projections that Spark does not make one": lambda t: (
        t.with_columns(a=lambda r: f.concat("a", r.k.cast(sd.String)))
        .with_columns(b=lambda r: f.concat(r.a, r.a))
        .with_columns(c=lambda r: f.concat(r.b, r.b))
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_limit_stands_on_the_sort(name: str, spark: SparkSession) -> None:
    relation = STEPS[name](T.sort("k")).limit(2)
    assert relation.properties.ordering
    plan = relation.distinct().explain(spark)
    assert "TakeOrderedAndProject" in plan
    assert "GlobalLimit" not in plan


def test_elements_stay_in_the_order_of_their_list(spark: SparkSession) -> None:
    first = T.sort(sd.desc("k")).unnest("xs").fetch(4, 1).select("k", "element")
    assert collected(first, spark) == [(3, 7), (3, 8), (1, 5), (1, 6)]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """Two files, of which Spark reads the larger one first, which has the later rows."""
    for name, numbers in (("a", range(10)), ("b", range(10, 50_000))):
        pq.write_table(pa.table({"k": pa.array(numbers, pa.int64()), "v": [n % 7 for n in numbers]}), tmp_path / name)
    return str(tmp_path)


@pytest.mark.parametrize("distribution", [None, "singleton"])
def test_the_first_rows_of_an_order_that_is_declared(distribution: Any, folder: str, spark: SparkSession) -> None:
    read: Any = sd.read_files(
        folder, {"k": "i64?", "v": "i64?"}, kind="folder", ordering=["k"], distribution=distribution
    )
    assert collected(read.fetch(3, 1).select("k"), spark) == [(1,), (2,), (3,)]
    assert collected(read.fetch(5).aggregate(s=lambda r: f.sum(r.v)), spark) == [(0 + 1 + 2 + 3 + 4,)]
    outer = values({"x": "i64"}, (2,))
    inner = outer.select(first=lambda r: sd.scalar_subquery(read.filter(lambda t: t.v >= r.x).fetch(1).select("v")))
    assert collected(inner, spark) == [(2,)]


def test_rows_come_in_an_order_that_is_declared_of_all(folder: str, spark: SparkSession) -> None:
    read: Any = sd.read_files(folder, {"k": "i64?"}, kind="folder", ordering=["k"], distribution="singleton")
    assert collected(read.filter(lambda r: r.k < 12), spark) == [(n,) for n in range(12)]


STREAMED = values({"k": "i64", "v": "i64"}, *((n % 3, n % 2) for n in range(12)))
STREAMS: dict[str, tuple[Any, list[Any]]] = {
    "two sets": (STREAMED.sort("k", "v").aggregate("k", "v", grouping_sets=[("k", "v"), ("k",)], method="streaming"),
                 [0, 0, 0, 1, 1, 1, 2, 2, 2]),
    "downwards": (STREAMED.sort(sd.desc("k"), "v").aggregate(
        "k", "v", grouping_sets=[("k",), ("k", "v"), ("k",)], method="streaming", n=f.count()),
        [2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0]),
    "above it": (STREAMED.sort("k", "v").aggregate("k", "v", grouping_sets=[("k", "v"), ("k",)], method="streaming")
                 .filter(lambda r: r.k > 0), [1, 1, 1, 2, 2, 2]),
    "one set": (STREAMED.sort("k").aggregate("k", method="streaming", n=f.count()), [0, 1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
def test_a_streaming_aggregate_keeps_the_order_that_it_claims(name: str, spark: SparkSession) -> None:
    relation, wanted = STREAMS[name]
    assert relation.properties.ordering[0].field == (0,)
    assert [row[0] for row in collected(relation, spark)] == wanted
