"""The markers of tests are true: they come from fixtures, and who lacks one cannot do what it stands for."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import NO_JAVA, SET_UP_ONCE
from tests.markers import BY_FIXTURE, ENGINES, MARKERS, QUICK_ON_SPARK, SLOW, TESTS
from tests.spark import test_cluster, test_connect
from tests.support import environment_without_options

USERS = """
import pytest

@pytest.fixture
def table(spark): ...

@pytest.fixture(autouse=True, params=[1])
def always(request): ...

def test_direct(spark): ...
def test_through_another(table): ...
@pytest.mark.usefixtures("java")
def test_process(): ...
@pytest.mark.parametrize("spark", ["a parameter of that name"])
def test_parameter(spark): ...
@pytest.mark.parametrize("n", [1])
def test_with_parameters(n, table): ...
class TestClass:
    def test_method(self, spark): ...
def test_engine(duckdb): ...
def test_lake(lake): ...
def test_outside(shared): ...
def test_none(tmp_path): ...
"""


def collected(program: Path, expression: str) -> set[str]:
    """The tests of a program outside of the project that an expression of markers selects."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "tests.conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-m", expression, str(program)], cwd=TESTS.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {line.split("::")[-1].split("[")[0] for line in done.stdout.splitlines() if "::" in line}


def test_markers_follow_from_fixtures(tmp_path: Path) -> None:
    program = tmp_path / "test_users.py"
    program.write_text(USERS)
    of_spark = {"test_direct", "test_through_another", "test_process", "test_with_parameters", "test_method"}
    assert collected(program, "spark") == collected(program, "slow") == of_spark | {"test_lake"}
    assert collected(program, "lake") == {"test_lake"}
    assert collected(program, "engines") == {"test_engine"}
    assert collected(program, "shared") == {"test_outside"}
    assert collected(program, "not spark and not slow") == {
        "test_parameter",
        "test_engine",
        "test_outside",
        "test_none",
    }


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_that_is_written_by_hand_is_refused(marker: str, tmp_path: Path) -> None:
    program = tmp_path / "test_by_hand.py"
    program.write_text(f"import pytest\n\n@pytest.mark.{marker}\ndef test_it(): ...\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", str(program)]
    done = subprocess.run(
        command, cwd=TESTS.parent, capture_output=True, text=True, check=False, env=environment_without_options()
    )
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"test_it: the marker {marker} is written by hand; take a fixture" in done.stderr


def test_every_fixture_gives_markers_that_there_are() -> None:
    assert {marker for markers in BY_FIXTURE.values() for marker in markers} == MARKERS.keys()


def test_what_is_quick_on_spark_is_there() -> None:
    assert [module for module in sorted(QUICK_ON_SPARK) if not (TESTS / module).is_file()] == []


def is_there(entry: str) -> bool:
    """Whether an entry, a path below the folder of the tests with or without a function, names what is there."""
    module, _, function = entry.partition("::")
    if not (TESTS / module).is_file():
        return False
    tree = ast.parse((TESTS / module).read_text(encoding="utf-8"))
    return not function or function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_what_the_table_calls_slow_is_there() -> None:
    assert [entry for entry in SLOW if not is_there(entry)] == []
    assert [entry for entry in SLOW if "::" in entry and entry.partition("::")[0] in SLOW] == []


@pytest.mark.parametrize("module", [test_cluster, test_connect])
def test_what_runs_once_more_on_another_session_is_there(module: ModuleType) -> None:
    selected: Sequence[str] = module.SELECTED_TESTS
    assert [entry for entry in selected if not is_there(entry.removeprefix("tests/"))] == []


def test_fixtures_that_one_worker_sets_up_are_of_one_module_each() -> None:
    found: Counter[str] = Counter()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                decorators = " ".join(map(ast.unparse, node.decorator_list))
                found[node.name] += "fixture(scope='module'" in decorators
    assert {name: found[name] for name in SET_UP_ONCE} == dict.fromkeys(SET_UP_ONCE, 1)


SKIPPED = """
import pytest

@pytest.mark.skip(reason="no Java here")
def test_without_a_tool(): ...
def test_skipped_on_its_way(tmp_path): pytest.importorskip("no_module_of_that_name")
@pytest.mark.xfail(strict=True)
def test_that_fails_as_expected(): assert False
"""


def test_what_is_skipped_fails_where_no_tool_may_be_missing(tmp_path: Path) -> None:
    program = tmp_path / "test_skipped.py"
    program.write_text(SKIPPED)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", "-p", "no:cacheprovider", str(program)]
    for option, summary in ((), "2 skipped, 1 xfailed"), (("--no-skips",), "1 failed, 1 xfailed, 1 error"):
        done = subprocess.run(
            [*command, *option],
            cwd=TESTS.parent,
            capture_output=True,
            text=True,
            check=False,
            env=environment_without_options(),
        )
        assert summary in done.stdout, done.stdout + done.stderr


def test_every_test_is_in_the_line_of_the_readme_or_in_the_rest() -> None:
    line = re.findall(r"(?m)^python3 .* -m pytest (.*)$", (TESTS.parent / "README.md").read_text(encoding="utf-8"))
    rest = re.findall(r"(?m)^\S+python -m pytest (.*)$", (TESTS.parent / ".ci" / "run").read_text(encoding="utf-8"))
    assert (line, rest) == (['-q -n 2 -m "not slow"'], ["-q -n 2 -m slow"])


MAX_CALLS = 1000
"""How many calls of functions a test may take to be collected, on the average; cases are built when they run."""

PLAIN_COLLECTION = "import pytest; pytest.main(['--collect-only', '-q', '-p', 'no:cacheprovider'])"
"""Leaves the bytecode for the next, in a third of the time that a profile takes."""

COLLECTION = """
import cProfile, pytest

class Count:
    def pytest_collection_finish(self, session):
        self.tests = len(session.items)

count, profile = Count(), cProfile.Profile()
profile.runcall(pytest.main, ["--collect-only", "-q", "-p", "no:cacheprovider"], plugins=[count])
print("", sum(entry.callcount for entry in profile.getstats()) / count.tests, sep="\\n")
"""


def test_tests_are_collected_with_few_calls() -> None:
    """It says nothing of how fast the machine is."""
    variables = {
        name: value for name, value in environment_without_options().items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    for program in (PLAIN_COLLECTION, COLLECTION):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=TESTS.parent,
            env=variables,
            capture_output=True,
            text=True,
            check=True,
        )
    assert float(done.stdout.splitlines()[-1]) < MAX_CALLS, done.stdout[-500:]


# --- engines are hidden, too


def test_no_module_of_tests_imports_an_engine_at_its_top() -> None:
    """Or none of its tests could be collected without it, and all of them would have it."""
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & {*ENGINES}, f"{path}: import it where it is used"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_test_without_the_marker_has_no_engine(engine: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(engine)


@pytest.mark.usefixtures("duckdb", "datafusion")
def test_a_test_with_the_marker_has_the_engines() -> None:
    assert [importlib.import_module(engine).__name__ for engine in ENGINES] == [*ENGINES]


# --- Java is hidden from who lacks the marker

SESSION = "from substrait_dsl.spark.session import local_session; local_session()"
SPARK_ITSELF = "from pyspark.sql import SparkSession; SparkSession.builder.getOrCreate()"


@pytest.mark.parametrize("program", [SESSION, SPARK_ITSELF])
def test_a_test_without_the_marker_starts_no_spark(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert NO_JAVA in done.stderr


def test_a_test_without_the_marker_has_no_java_in_its_own_process() -> None:
    assert os.environ["JAVA_HOME"] == NO_JAVA


@pytest.mark.usefixtures("java")
def test_a_test_with_the_marker_has_java() -> None:
    assert os.environ.get("JAVA_HOME") != NO_JAVA
