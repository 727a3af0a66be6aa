"""Canaries of guards: the queries that show the raw faults of an engine, and what it gives for them."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from substrait_dsl.spark.session.engines import ErrorWords, Guard

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


PARQUET: dict[str, pa.Table] = {
    "zeros": pa.table({"x": [-0.0]}),
    "nan": pa.table({"x": [1.0, float("nan")]}),
    "milliseconds": pa.table(
        {"x": pa.array([dt.datetime(2024, 2, 29, 23, 59, 59, 999_000, tzinfo=dt.UTC)], pa.timestamp("ms", "UTC"))}
    ),
    "property": pa.table({"${user.dir}": [5]}),
    "key": pa.table({"v": [1], "w": [2]}).replace_schema_metadata(
        {
            "org.apache.spark.sql.parquet.row.metadata": json.dumps(
                {"type": "struct", "fields": [{"name": "v", "type": "long", "nullable": True, "metadata": {}}]}
            )
        }
    ),
}
"""Files that pyarrow writes. The last has Spark's key for one column, and two columns."""


def write_files_of_others(folder: Path) -> None:
    """Write the files of other writers that canaries read."""
    folder.mkdir()
    for name, table in PARQUET.items():
        pq.write_table(table, folder / f"{name}.parquet")
    (folder / "latin.csv").write_bytes(b"\xff\n")


def answer(guard: Guard, folder: Path, spark: SparkSession) -> Any:
    """What an engine gives for a canary, or the error that it raises. The folder is there, and empty."""
    others = folder / "others"
    if "{others}" in guard.canary:
        write_files_of_others(others)
    try:
        for statement in guard.canary.split(";\n"):
            text = statement.replace("{folder}", str(folder / "canary")).replace("{others}", str(others))
            frame = spark.sql(text)
        return frame.schema.fields[0].nullable if guard.is_of_schema else frame.collect()[0][0]
    except Exception as error:
        return error


def is_answer(found: Any, expected: Any) -> bool:
    """Whether an answer is the value that is expected, or an error with its words."""
    if isinstance(found, Exception):
        return isinstance(expected, ErrorWords) and expected.words in str(found)
    return type(found) is type(expected) and bool(found == expected)
