"""Unsigned integers: columns of Arrow beside Python integers, and plans of DataFusion over them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import substrait_dsl as sd
from substrait_dsl.errors import LiteralError
from tests.support import refused

if TYPE_CHECKING:
    from datafusion import SessionContext

NAMES = {8: "u8", 16: "u16", 32: "u32", 64: "u64"}
DATA = pa.table(
    {
        "k": pa.array([1, 2, 3], pa.int64()),
        "u": pa.array([200, 3, None], pa.uint8()),
        "v": pa.array([70_000, 1, 4_000_000_000], pa.uint32()),
        "w": pa.array([2**40, 2**63 + 5, 0], pa.uint64()),
    }
)


def unsigned(bits: int) -> sd.UserDefined:
    return sd.UserDefined("extension:io.substrait:unsigned_integers", NAMES[bits])


@pytest.mark.parametrize("bits", NAMES)
def test_python_integers_fit_unsigned_columns(bits: int) -> None:
    rel = sd.read_named("t", pa.schema([("a", getattr(pa, f"uint{bits}")())]))
    largest = 2**bits - 1
    filtered = rel.filter(lambda r: r.a > largest - 1)
    assert sd.Plan.from_bytes(filtered.to_plan().to_bytes(), strict=True) == filtered.to_plan()
    written = filtered.to_plan().to_proto().relations[0].root.input.filter.condition.scalar_function
    structure = written.arguments[1].value.literal.user_defined.struct
    assert [field.string for field in structure.fields] == [str(largest - 1)]
    for wrong in (-1, largest + 1):
        with refused(LiteralError, "does not fit", f"integers from 0 to {largest}"):
            sd.lit(wrong, unsigned(bits))
    assert rel.filter(lambda r: r.a.is_in([0, largest])).schema == rel.schema


QUERIES: dict[str, list[tuple[Any, ...]]] = {
    "SELECT k, u, v FROM un": [(1, 200, 70_000), (2, 3, 1), (3, None, 4_000_000_000)],
    "SELECT k FROM un WHERE u > 100": [(1,)],
    "SELECT k FROM un WHERE u >= 200": [(1,)],
    "SELECT k FROM un WHERE v IN (1, 4000000000)": [(2,), (3,)],
    "SELECT w FROM un WHERE w > 9223372036854775807": [(Decimal(2**63 + 5),)],
    "SELECT u, count(*) FROM un GROUP BY u": [(200, 1), (3, 1), (None, 1)],
}


@pytest.fixture(scope="module")
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    made = SessionContext()
    made.register_record_batches("un", [DATA.to_batches()])
    return made


def test_rows_of_plans_of_datafusion(context: SessionContext, spark: SparkSession, tmp_path: Path) -> None:
    from datafusion.substrait import Serde

    pq.write_table(DATA, tmp_path / "un.parquet")
    spark.read.parquet(str(tmp_path / "un.parquet")).createOrReplaceTempView("un")

    def rows(query: str) -> list[tuple[Any, ...]]:
        plan = sd.Plan.from_bytes(bytes(Serde.serialize_bytes(query, context)))
        return sorted((tuple(row) for row in plan.roots[0].collect(spark)), key=repr)

    for query, expected in QUERIES.items():
        assert rows(query) == sorted(expected, key=repr), query


def test_columns_are_unsigned_and_the_findings_say_so(context: SessionContext) -> None:
    from datafusion.substrait import Serde

    plan = sd.Plan.from_bytes(bytes(Serde.serialize_bytes("SELECT u, v FROM un", context)))
    assert plan.roots[0].schema.types == (unsigned(8).as_nullable(), unsigned(32).as_nullable())
    assert [each.code for each in plan.findings].count(sd.FindingCode.TYPE_UNSIGNED) == 3  # u, v, w
