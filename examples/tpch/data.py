"""The data of TPC-H: made by `tpchgen-cli`, registered with an engine by the names that the queries use."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from examples.tpch.schemas import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession


def generate(directory: Path, scale: float) -> None:
    """Write the tables as ``<directory>/<table>.parquet``; scale 1 is about 350 MB, 0.01 is made in a second.

    Raises `FileNotFoundError` if `tpchgen-cli` is not installed.
    """
    program = shutil.which("tpchgen-cli", path=sysconfig.get_path("scripts")) or shutil.which("tpchgen-cli")
    if program is None:
        raise FileNotFoundError("tpchgen-cli is not installed; `pip install tpchgen-cli` does that")
    subprocess.run(
        [program, "parquet", "--scale-factor", str(scale), "--output-dir", str(directory)],
        check=True,
        capture_output=True,
    )


def register_in_spark(spark: SparkSession, directory: Path) -> None:
    """Make the tables temporary views of a Spark session."""
    for name in TABLES:
        spark.read.parquet(str(directory / f"{name}.parquet")).createOrReplaceTempView(name)


def register_in_duckdb(connection: DuckDBPyConnection, directory: Path) -> None:
    """Make the tables views of a DuckDB connection."""
    for name in TABLES:
        connection.read_parquet(str(directory / f"{name}.parquet")).create_view(name)
