"""Canaries of guards: the queries that show the raw faults of an engine, and what it gives for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from substrait_dsl.spark.session.engines import ErrorWords, Guard

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def answer(guard: Guard, folder: Path, spark: SparkSession) -> Any:
    """What an engine gives for a canary, or the error that it raises."""
    try:
        for statement in guard.canary.split(";\n"):
            frame = spark.sql(statement.replace("{folder}", str(folder)))
        return frame.schema.fields[0].nullable if guard.is_of_schema else frame.collect()[0][0]
    except Exception as error:
        return error


def is_answer(found: Any, expected: Any) -> bool:
    """Whether an answer is the value that is expected, or an error with its words."""
    if isinstance(found, Exception):
        return isinstance(expected, ErrorWords) and expected.words in str(found)
    return type(found) is type(expected) and bool(found == expected)
