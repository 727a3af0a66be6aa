"""Floats in files, which tell their least and greatest values without NaN, and 0.0 from -0.0."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ZERO: list[Callable[[Any], Any]] = [
    lambda r: r.x == 0.0,
    lambda r: r.x >= 0.0,
    lambda r: ~(r.x < 0.0),
    lambda r: r.x.between(0.0, 1.0),
    lambda r: r.x.is_in([0.0, 7.0]),
    lambda r: sd.record(r.x, r.x).is_in([(0.0, 0.0)]),
    lambda r: f.is_not_distinct_from(r.x, 0.0),
    lambda r: sd.switch(r.x, {0.0: True}, False),
    lambda r: f.nullif(r.x, 0.0).is_null(),
    lambda r: f.least(r.x, 5.0) == 0.0,
    lambda r: r.x.cast("fp64?") == 0.0,
]
"""What is true of -0.0, which equals 0.0 (IEEE 754)."""

NAN: list[Callable[[Any], Any]] = [
    lambda r: r.x > 5.0,
    lambda r: ~(r.x <= 5.0),
    lambda r: r.x != 1.0,
    lambda r: r.x == float("nan"),
    lambda r: r.x.is_in([float("nan")]),
    lambda r: f.is_nan(r.x),
    lambda r: f.is_distinct_from(r.x, 1.0),
    lambda r: r.x.cast("fp64?") > 5.0,
]
"""What is true of NaN, which equals itself and is the largest number here, and not of 1.0."""


@pytest.mark.parametrize("kind", ["fp32", "fp64"])
def test_no_row_is_lost(kind: str, tmp_path: Path, spark: SparkSession) -> None:
    arrow = pa.float32() if kind == "fp32" else pa.float64()
    for values, conditions, wanted in (([-0.0, -0.0], ZERO, 2), ([1.0, float("nan")], NAN, 1)):
        path = tmp_path / str(wanted)
        path.mkdir()
        pq.write_table(pa.table({"x": pa.array(values, arrow)}), path / "x.parquet")
        spark.read.parquet(str(path / "x.parquet")).write.orc(str(path / "x.orc"))
        for form in ("parquet", "orc"):
            rows = sd.read_files(path / f"x.{form}", {"x": f"{kind}?"}, format=form)
            counts = [len(rows.filter(condition).collect(spark)) for condition in conditions]
            assert counts == [wanted] * len(conditions), (kind, form, values)


Rel = sd.Relation[Any]

LOOKUPS: list[Callable[[Rel, Rel], Rel]] = [
    lambda rows, other: rows.filter(lambda r: r.x.is_in(other)),
    lambda rows, other: other.filter(lambda r: r.c.is_in(rows)),
    lambda rows, other: rows.filter(lambda r: r.x == sd.any_of(other)),
    lambda rows, other: rows.filter(
        lambda r: sd.record(r.x, r.x).is_in(other.select(c=lambda r: r.c, d=lambda r: r.c))
    ),
    lambda rows, other: rows.filter(lambda r: r.x >= sd.all_of(other)),
    lambda rows, other: rows.select(x=lambda r: r.x, m=lambda r: r.x.is_in(other)).filter(lambda r: r.m),
    lambda rows, other: rows.join(other, lambda x, y: x.x == y.c, "left_semi"),
    lambda rows, other: rows.join(other, lambda x, y: x.x == y.c, "right_semi"),
    lambda rows, other: rows.join(other, lambda x, y: x.x == y.c, "left_mark", mark="m").filter(lambda r: r.m),
    lambda rows, other: other.join(rows, lambda x, y: x.c == y.x, "left_mark", mark="m").filter(lambda r: r.m),
    lambda rows, other: rows.hash_join(other, [sd.join_key("x", "c")], "left_semi"),
    lambda rows, other: rows.join(other.limit(1), lambda x, y: x.x == y.c, "left_single").filter(lambda r: r.c >= 0.0),
    lambda rows, other: rows.lateral_join(lambda r: other.filter(lambda y: y.c == r.x).limit(1)),
]
"""Rows that have a match in the constant column of other rows; Spark may look for the constant in the rows' files."""


@pytest.mark.parametrize(
    ("form", "constant"), [("parquet", 0.0), ("orc", 0.0), ("parquet", math.nan), ("orc", math.nan)]
)
def test_no_match_is_lost(form: Any, constant: float, tmp_path: Path, spark: SparkSession) -> None:
    values = [-0.0, -0.0] if constant == 0.0 else [math.nan, math.nan, 1.0]
    pq.write_table(pa.table({"x": values}), tmp_path / "x.parquet")
    spark.read.parquet(str(tmp_path / "x.parquet")).coalesce(1).write.orc(str(tmp_path / "x.orc"))
    rows = sd.read_files(tmp_path / f"x.{form}", {"x": "fp64?"}, format=form)
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "other.parquet")  # of rows in memory Spark sees no constants
    read = sd.read_files(tmp_path / "other.parquet", {"a": "i64?"})
    other = read.select(c=lambda r: sd.lit(constant))
    counts = [len(lookup(rows, other).collect(spark)) for lookup in LOOKUPS]
    assert counts == [2] * len(LOOKUPS)
