"""Where the tests of lake tables run: with the newest pyspark that Iceberg's runtime for Spark is published for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PYSPARK = "4.1.4"
"""The pyspark for the tests, which is installed beside the one that the project pins."""

RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
"""The Spark package with Iceberg, which Spark brings itself from the Maven repository."""

SETTINGS = {
    "spark.jars.packages": RUNTIME,
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
}
"""What a session needs for Iceberg tables, but for ``spark.sql.catalog.lake.warehouse``, the folder they are in."""


def pyspark_folder(cache: Path) -> Path:
    """A folder with that pyspark, to stand before all others on Python's path; installed once.

    Raises:
        AssertionError: it cannot be installed.
    """
    folder = cache / f"pyspark-{PYSPARK}"
    if not (folder / "pyspark" / "version.py").exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
        done = subprocess.run([*command, f"pyspark=={PYSPARK}"], capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, f"cannot install pyspark {PYSPARK}:\n{done.stdout}{done.stderr}"
    return folder
