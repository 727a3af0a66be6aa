"""Fixtures that several test modules share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The one Spark session of a run; it ends with the process, which is faster than stopping it."""
    from substrait_dsl.spark.session import local_session

    return local_session("substrait-dsl tests")
