"""Clients of Spark Connect, and the functions of pyspark for their DataFrames."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_remote(spark: SparkSession) -> bool:
    """Whether a session is a client of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def functions_of(spark: SparkSession) -> ModuleType:
    """Return pyspark's functions for the DataFrames of a session.

    Those of ``pyspark.sql.functions`` are of the one kind of session that pyspark takes a process to have.
    """
    return import_module("pyspark.sql.connect.functions" if is_remote(spark) else "pyspark.sql.functions")
