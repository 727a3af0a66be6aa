"""Where the tests of lake tables run: with the newest pyspark that Iceberg's runtime for Spark is published for."""

from __future__ import annotations

from pathlib import Path

from tests.producers.environment import installed

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
    return installed(cache / f"pyspark-{PYSPARK}", [f"pyspark=={PYSPARK}"], "--no-deps")
