"""Fixtures that several test modules share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.projects import LIBRARY, Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """The one Spark session of a run; it ends with the process, which is faster than stopping it."""
    from substrait_dsl.spark.session import local_session

    return local_session("substrait-dsl tests")


@pytest.fixture(scope="session")
def library_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of mypy's that knows the library, and no project."""
    project = Project(tmp_path_factory.mktemp("library") / "project")
    project.write({"library.py": LIBRARY})
    assert project.checked("--cache-dir", "cache", "library.py") == []
    return project.path / "cache"
