"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.projects import LIBRARY, Project

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--session",
        choices=["classic", "connect"],
        default="classic",
        help="what runs the tests of Spark: a session in this process, or a client of a Spark Connect server",
    )


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The one Spark session of a run; a classic one ends with the process, which is faster than stopping it."""
    if request.config.getoption("--session") == "classic":
        from substrait_dsl.spark.session import local_session

        yield local_session("substrait-dsl tests")
    else:
        from tests.spark.connect_server import connect_session

        with connect_session() as session:
            yield session


@pytest.fixture(scope="session")
def library_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of mypy's that knows the library, and no project."""
    project = Project(tmp_path_factory.mktemp("library") / "project")
    project.write({"library.py": LIBRARY})
    assert project.checked("--cache-dir", "cache", "library.py") == []
    return project.path / "cache"
