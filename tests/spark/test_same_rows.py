"""The rows, the Arrow tables and the text of a relation are the same on Spark and on DataFusion."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import substrait_dsl as sd

if TYPE_CHECKING:
    from datafusion import SessionContext

COLUMNS: dict[str, tuple[str, pa.DataType, list[Any]]] = {
    "b": ("boolean?", pa.bool_(), [True, False]),
    "i8": ("i8?", pa.int8(), [-128, 127]),
    "i64": ("i64?", pa.int64(), [2**63 - 1, -1]),
    "f32": ("fp32?", pa.float32(), [0.1, 3.3e20]),
    "small32": ("fp32?", pa.float32(), [1e-10, 16777216.0]),
    "f64": ("fp64?", pa.float64(), [0.1, 1e7]),
    "large": ("fp64?", pa.float64(), [123456789.25, 9999999.0]),
    "small": ("fp64?", pa.float64(), [0.001, 0.00099]),
    "odd": ("fp64?", pa.float64(), [float("nan"), float("-inf")]),
    "zero": ("fp64?", pa.float64(), [0.0, -0.0]),
    "dec": ("decimal<10,2>?", pa.decimal128(10, 2), [Decimal("1.50"), Decimal("-0.01")]),
    "tiny": ("decimal<38,20>?", pa.decimal128(38, 20), [Decimal(0), Decimal("1e-20")]),
    "text": ("string?", pa.string(), ["twenty-one characters", "a\tb\nc\\"]),
    "wide": ("string?", pa.string(), ["日本語", "\uff46"]),
    "bytes": ("binary?", pa.binary(), [b"\x00\xff", b""]),
    "day": ("date?", pa.date32(), [dt.date(2024, 2, 29), dt.date(1, 1, 1)]),
    "at": ("precision_timestamp<6>?", pa.timestamp("us"), [dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime.min]),
    "tz": ("precision_timestamp_tz<6>?", pa.timestamp("us", "UTC"), [0, 1_700_000_000_500_000]),
    "list": ("list<i64?>?", pa.list_(pa.int64()), [[1, None], []]),
}  # fmt: skip


def given() -> tuple[sd.Relation, dict[str, pa.Table]]:
    relation = sd.read_named("t", {name: kind for name, (kind, _, _) in COLUMNS.items()})
    arrays = {name: pa.array([*values, None], kind) for name, (_, kind, values) in COLUMNS.items()}
    return relation, {"t": pa.table(arrays)}


@pytest.fixture
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    return SessionContext()


def same(left: Any, right: Any) -> bool:
    if isinstance(left, Decimal):
        return bool(left == right)
    return repr(left) == repr(right)  # which tells 0.0 from -0.0, and takes NaN for itself


def test_rows_and_arrow_tables(spark: SparkSession, context: SessionContext) -> None:
    relation, tables = given()
    theirs, mine = relation.collect(spark, tables=tables), relation.collect(context, tables=tables)
    assert len(mine) == 3
    for row, other in zip(theirs, mine, strict=True):
        for name in COLUMNS:
            assert same(row[name], other[name]), name
            assert type(row[name]) is type(other[name])
    assert theirs[0].asDict(True).keys() == mine[0].asDict(True).keys()
    arrow, of_spark = relation.to_arrow(context, tables=tables), relation.to_arrow(spark, tables=tables)
    assert arrow.schema.equals(relation.schema.to_arrow(), check_metadata=True)
    assert of_spark.schema.equals(arrow.schema, check_metadata=True)
    for name, column in zip(arrow.column_names, arrow.columns, strict=True):
        assert all(map(same, column.to_pylist(), of_spark[name].to_pylist())), name


def test_columns_of_one_name(spark: SparkSession, context: SessionContext) -> None:
    relation = sd.read_named("t", {"i": "i64"})
    joined = relation.join(relation, on=lambda a, b: a.i == b.i)
    tables = {"t": pa.table({"i": [5]})}
    for session in (spark, context):
        assert joined.collect(session, tables=tables) == [(5, 5)]
        assert joined.to_arrow(session, tables=tables).column_names == ["i", "i"]


SHOWN: dict[str, dict[str, Any]] = {
    "all": {},
    "some": {"n": 1},
    "none": {"n": 0},
    "whole": {"truncate": False},
    "short": {"truncate": 2},
    "vertical": {"vertical": True},
    "vertical some": {"vertical": True, "n": 1, "truncate": 7},
    "vertical none": {"vertical": True, "n": 0},
}


def test_show_prints_the_same(spark: SparkSession, context: SessionContext, capsys: pytest.CaptureFixture[str]) -> None:
    relation, tables = given()
    for case, arguments in SHOWN.items():
        texts = []
        for session in (spark, context):
            relation.show(session, tables=tables, **arguments)
            texts.append(capsys.readouterr().out)
        assert texts[0] == texts[1], case


def test_one_instant_in_another_zone(
    spark: SparkSession, context: SessionContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        relation = sd.read_named("t", {"at": "precision_timestamp_tz<6>"})
        tables = {"t": pa.table({"at": pa.array([0], pa.timestamp("us", "UTC"))})}
        for session in (spark, context):
            assert relation.collect(session, tables=tables) == [(dt.datetime(1970, 1, 1, 9),)]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_required_fields_of_a_struct_that_is_null(spark: SparkSession) -> None:
    schema = {"id": sd.I64, "place": sd.Struct.of({"zip": sd.I32()}, nullable=True)}
    table = sd.read_virtual([(1, (1,)), (2, None)], schema).to_arrow(spark)
    assert table.to_pylist() == [{"id": 1, "place": {"zip": 1}}, {"id": 2, "place": None}]
    assert not table.schema.field("place").type.field(0).nullable
