"""Plans that other libraries wrote for the queries of TPC-H run on Spark and give what another engine gave."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from tests.conftest import SHARED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = SHARED / "third_party_plans"
MANIFEST = FOLDER / "manifest.json"
PLANS = [plan for plan in json.loads(MANIFEST.read_text())["plans"] if plan["execute"]] if MANIFEST.exists() else []

pytestmark = pytest.mark.usefixtures("shared")

Register = Callable[[str], None]


@pytest.fixture(scope="module")
def register(spark: SparkSession) -> Iterator[Register]:
    """Makes the tables there, with keys as wide as a plan declares them."""
    source = importlib.util.spec_from_file_location("tpch_data", FOLDER / "tpch_data.py")
    assert source is not None
    assert source.loader is not None
    data = importlib.util.module_from_spec(source)
    source.loader.exec_module(data)
    tables = data.typed_tables()
    there: list[str] = []

    def with_keys(keys: str) -> None:
        if there == [keys]:
            return
        for name, rows in tables.items():
            frame = spark.createDataFrame(rows, data.spark_ddl(name, keys == "i64")).coalesce(1).cache()
            frame.createOrReplaceTempView(name)
        there[:] = [keys]

    yield with_keys
    spark.catalog.clearCache()
    for name in tables:
        spark.catalog.dropTempView(name)


@pytest.mark.parametrize("entry", PLANS, ids=lambda entry: entry["id"])
def test_plans_of_others_run(entry: dict[str, Any], register: Register, spark: SparkSession) -> None:
    register(entry["keys"])
    (frame,) = sd.Plan.load(FOLDER / entry["plan"]).execute(spark)
    expected = json.loads((FOLDER / "expected.json").read_text())[entry["query"]]
    rows = [tuple(row) for row in frame.collect()]
    wanted = [tuple(row) for row in expected["rows"]]
    if expected["order"] != "sequence":
        rows.sort(key=_sortable)
        wanted.sort(key=_sortable)
    assert len(frame.columns) == len(expected["columns"])
    assert len(rows) == len(wanted)
    for mine, theirs in zip(rows, wanted, strict=True):
        assert all(_same(*pair) for pair in zip(mine, theirs, strict=True)), (mine, theirs)


def _same(mine: object, theirs: object) -> bool:
    """Whether a value of Spark is one of the file, which has decimals as text and the averages as rounded floats."""
    match mine, theirs:
        case Decimal(), float() | int():  # our decimal has as many digits as the specification says
            digits = -int(mine.as_tuple().exponent)
            return abs(mine - Decimal(repr(theirs))) <= Decimal(5).scaleb(-min(digits, 9) - 1)
        case Decimal(), str():
            return mine == Decimal(theirs)
        case float(), float() | int() | str():
            return mine == pytest.approx(float(theirs), rel=1e-8)
        case _:
            return str(mine) == str(theirs)


def _sortable(row: Sequence[object]) -> list[str]:
    return [str(value) for value in row]
