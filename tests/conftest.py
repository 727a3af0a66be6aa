"""Fixtures that several test modules share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import hypothesis
import pytest

from substrait_dsl.tracebacks import FULL_TRACEBACK
from tests.markers import ENGINES, MARKERS, add_markers, fixtures
from tests.projects import LIBRARY, Project

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyspark.sql import SparkSession
    from selenium.webdriver.remote.webdriver import WebDriver

SETTINGS = {
    # The tests are thousands of tiny plans: Java's second compiler would take about as much time as they do. Without it
    # there is little room for compiled code by default, and when that is full, everything is interpreted.
    "spark.driver.extraJavaOptions": (
        "-Xss16m -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:+UseSerialGC"
    ),
    "spark.driver.memory": "2g",  # with 1 GB, a tenth of the time would be the garbage collector's
    # Rows that are sent to all tasks by other keys than one number take a page for each join, and rows that are sorted
    # take one for each task. As large as Spark would make them, 32 MB, some dozens fill the memory, and to tidy it up
    # again and again was a third of all the time.
    "spark.buffer.pageSize": "1m",
    # What a user interface would show of past queries is no use here, and takes memory.
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
}
"""How the session of the tests starts otherwise than one for users."""

# What a test takes depends on the machine, and what it loads first.
hypothesis.settings.register_profile("without a clock", deadline=None)
hypothesis.settings.load_profile("without a clock")

NO_JAVA = "/no Java for tests that use neither the fixture spark nor java"
"""The ``JAVA_HOME`` of tests that are not marked ``spark``. Nothing is there; whoever looks for it says its name."""

SHARED = Path(__file__).parents[2] / "shared"
"""Data outside of the project."""

SESSIONS = 2
"""How many workers have a session of Spark. One uses less than a core, and the tests of Spark are most of a run."""

FIRST = ("test_lake.py",)
"""Modules whose tests take minutes each: every worker begins with one of these, and goes on with tests of Spark."""

NEXT = ("test_pipelines.py", "test_cluster.py", "test_connect.py")
"""Modules whose tests take minutes each, too: they come before all that is short, so that workers end together."""

SET_UP_ONCE = {
    "sayings": "typing plugin",
    "outcome": "typing agreement",
    "reports": "typing internals",
    "watched": "typing loading",
    "cold": "typing caches",
    "probed": "probes",
}
"""Fixtures of a module that take up to a minute, and the groups of their tests: one worker sets them up."""


def pytest_configure(config: pytest.Config) -> None:
    os.environ.setdefault(FULL_TRACEBACK, "1")  # where a test fails, the frames of the library are what one looks for
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts what runs in its background so. Tests send interrupts, to processes of their own, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if version("pyspark").startswith("4.1."):
        # With every result this pyspark leaves it to Python to close the socket that the rows came by.
        config.addinivalue_line("filterwarnings", "ignore:unclosed <socket:ResourceWarning")
        ignored = "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
        config.addinivalue_line("filterwarnings", ignored)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--session",
        choices=["classic", "connect", "cluster", "sail"],
        default="classic",
        help="what runs the tests of Spark: a session in this process, a client of Spark Connect, a cluster, or Sail",
    )
    parser.addoption("--no-skips", action="store_true", help="a test that is skipped fails, as it does in CI")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected, and later not among them: ten thousand stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()  # the classes that attrs makes others of, which `__subclasses__` names as long as they are there
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With ``--no-skips`` a test that is skipped has failed, unless it needs data outside of the project."""
    report = yield
    may_skip = not item.config.getoption("--no-skips") or item.get_closest_marker("shared") is not None
    if report.skipped and not hasattr(report, "wasxfail") and not may_skip:
        report.outcome = "failed"
        report.longrepr = f"skipped, with --no-skips: {report.longrepr}"
    return report


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long starts first. The modules of Spark are two halves, and of several workers two have one each."""
    for item in items:
        add_markers(item)
        used = fixtures(item)
        if "spark" in used:
            module = item.nodeid.partition("::")[0]
            item.add_marker(pytest.mark.xdist_group(f"spark-{crc32(module.encode()) % SESSIONS}"))
        for fixture in sorted(used & SET_UP_ONCE.keys()):
            item.add_marker(pytest.mark.xdist_group(SET_UP_ONCE[fixture]))
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """The place of a test among all: lower numbers run before higher ones."""
    group = item.get_closest_marker("xdist_group")
    turns = (
        item.path.name in FIRST,
        group is not None and "spark" in fixtures(item),
        item.path.name in NEXT,
        group is not None,
    )
    return turns.index(True) if any(turns) else len(turns)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool | None, bool | None]:
    """Hide Java, also from the processes that a test starts, and the packages of engines, where the markers lack."""
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("spark") is None:
            patch.setenv("JAVA_HOME", NO_JAVA)
        if item.get_closest_marker("engines") is None:
            for name in ENGINES:
                patch.setitem(sys.modules, name, None)
        return (yield)


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The one Spark session of a process; a classic one ends with the process, which is faster than stopping it."""
    kind = request.config.getoption("--session")
    if kind == "classic":
        from substrait_dsl.spark.session import local as local

        with pytest.MonkeyPatch.context() as patch:
            for name, value in SETTINGS.items():
                patch.setitem(local.SETTINGS, name, value)
            started = local.local_session("substrait-dsl tests")
        yield started
    elif kind == "cluster":
        from tests.spark.cluster import cluster_session

        with cluster_session() as session:
            yield session
    elif kind == "sail":
        from substrait_dsl.spark.sail.engine import SAIL
        from substrait_dsl.spark.session.embedded import embedded_session
        from substrait_dsl.spark.session.engines import write_for

        with write_for(SAIL):  # also what tests write themselves
            yield embedded_session()
    else:
        from tests.spark.connect_server import connect_session

        with connect_session() as session:
            yield session


@pytest.fixture
def java() -> None:
    """For tests that start Spark in processes of their own."""


@pytest.fixture(scope="session")
def duckdb() -> None:
    """For tests that run queries in DuckDB."""


@pytest.fixture(scope="session")
def datafusion() -> None:
    """For tests that run queries or plans in DataFusion."""


@pytest.fixture(scope="module")
def tpch_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of TPC-H of one scale factor, which a test may choose."""
    from examples.tpch import data

    made = tmp_path_factory.mktemp("tpch")
    data.generate(made, getattr(request, "param", 0.01))
    return made


@pytest.fixture(scope="module")
def tpch_in_duckdb(duckdb: None, tpch_folder: Path) -> Iterator[DuckDBPyConnection]:
    """DuckDB with the tables of TPC-H."""
    from duckdb import connect

    from examples.tpch import data

    with connect() as connection:
        data.register_in_duckdb(connection, tpch_folder)
        yield connection


@pytest.fixture(scope="session")
def tpcds(pytestconfig: pytest.Config) -> Path:
    """The folder with the tables and the queries of TPC-DS."""
    from tests.producers.environment import tpcds_folder

    assert pytestconfig.cache is not None
    return tpcds_folder(pytestconfig.cache.mkdir("tpcds"))


@pytest.fixture(scope="session")
def sail() -> SparkSession:
    """A session of Sail, the embedded engine; there is one in a process."""
    from substrait_dsl.spark.session.embedded import embedded_session

    return embedded_session()


@pytest.fixture(scope="session")
def browser() -> Iterator[WebDriver]:
    """A window of Chromium."""
    from tests.browser import chromium

    with chromium() as driver:
        yield driver


@pytest.fixture(scope="session")
def lake() -> None:
    """For tests of Iceberg tables."""


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with data outside of the project; what needs it is skipped where it is not."""
    if not SHARED.is_dir():
        pytest.skip(f"there is no folder {SHARED.name} beside the project")
    return SHARED


@pytest.fixture
def compiled(spark: SparkSession) -> Iterator[None]:
    """Spark compiles what it computes for rows of constants, too, as for those of tables, instead of while it plans."""
    rules = "spark.sql.optimizer.excludedRules"
    spark.conf.set(rules, "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation")
    yield
    spark.conf.unset(rules)


@pytest.fixture(scope="session")
def library_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of mypy's that knows the library, and no project."""
    project = Project(tmp_path_factory.mktemp("library") / "project")
    project.write({"library.py": LIBRARY})
    assert project.checked("--cache-dir", "cache", "library.py") == []
    return project.path / "cache"
