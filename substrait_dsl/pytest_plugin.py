"""The pytest plugin: a session of the embedded engine for tests of pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def embedded_session() -> SparkSession:
    """Return the session of the embedded engine, one for all tests: `substrait_dsl.testing` uses it, too."""
    from substrait_dsl.spark.session.embedded import embedded_session

    return embedded_session()
