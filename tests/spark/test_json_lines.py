"""Files of JSON lines on Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import substrait_dsl as sd
from tests.test_json_lines import lines_are_objects, misfits_are_named, other_files_are_read, rows_are_right

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_rows(tmp_path: Path, spark: SparkSession) -> None:
    rows_are_right(tmp_path, spark, 11, 150)


def test_what_is_no_value_is_named(tmp_path: Path, spark: SparkSession) -> None:
    misfits_are_named(tmp_path, spark)


def test_lines_are_objects(tmp_path: Path, spark: SparkSession) -> None:
    lines_are_objects(tmp_path, spark)


def test_other_files(tmp_path: Path, spark: SparkSession) -> None:
    other_files_are_read(tmp_path, spark)


def test_rows_are_those_of_sparks_reader(tmp_path: Path, spark: SparkSession) -> None:
    """Where that one has values of these types, and not NULL for what is none of them."""
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"a": 1, "b": [1.5, null], "c": {"d": "x", "e": 5}}\n{"c": {}, "a": null}\n\n'
        '{"b": [], "f": {"x": "y", "z": ""}}\n'
    )
    of_spark = spark.read.schema("a BIGINT, b ARRAY<DOUBLE>, c STRUCT<d: STRING>, f MAP<STRING, STRING>").json(
        str(path)
    )
    inner = sd.Struct.of({"d": sd.String(nullable=True)}).as_nullable()
    read = sd.read_json(path, {"a": "i64?", "b": "list?<fp64?>", "c": inner, "f": "map?<string, string?>"})
    assert read.collect(spark) == of_spark.collect()
