"""The session of the tests of lake tables. With another pyspark, `tests/test_lake.py` starts a process for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyspark
import pytest

from tests.conftest import SETTINGS as TESTS
from tests.lake.environment import PYSPARK, SETTINGS
from tests.producers.environment import locked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

collect_ignore_glob = [] if pyspark.__version__ == PYSPARK else ["test_*.py"]


@pytest.fixture(scope="session")
def spark(lake: None, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session with a catalog of Iceberg tables, ``lake``, and a database of Spark's own, ``plain``."""
    from substrait_dsl.spark.session import local as local

    folder = tmp_path_factory.mktemp("warehouse")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**TESTS, **SETTINGS, "spark.sql.catalog.lake.warehouse": str(folder / "lake")}.items():
            patch.setitem(local.SETTINGS, name, value)
        # Two processes that bring Iceberg's package into one folder at once would each find a part of it.
        with locked(tmp_path_factory.getbasetemp().parent / "lake"):
            started = local.local_session("substrait-dsl lake tests")
    started.sql("CREATE NAMESPACE lake.db")
    started.sql(f"CREATE DATABASE plain LOCATION '{folder / 'plain'}'")
    return started
