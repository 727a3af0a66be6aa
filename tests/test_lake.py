"""The tests of lake tables, in two processes of their own: Iceberg's runtime is not there for every Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.lake.environment import PYSPARK, pyspark_folder

ROOT = Path(__file__).parents[1]
MODULES = frozenset(path.name for path in (ROOT / "tests" / "lake").glob("test_*.py"))
FIRST_HALF = frozenset({"test_changes.py", "test_conditions.py"})
"""The modules that take about as long as all others: a process, and a worker, has each half."""


@pytest.mark.usefixtures("lake")
@pytest.mark.skipif(pyspark.__version__ == PYSPARK, reason="with this pyspark, tests/lake run like all others")
@pytest.mark.parametrize("modules", [FIRST_HALF, MODULES - FIRST_HALF], ids=["first half", "second half"])
def test_the_tests_of_lake_tables_pass(modules: frozenset[str], pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache is not None
    folder = pyspark_folder(pytestconfig.cache.mkdir("lake"))
    paths = [f"tests/lake/{name}" for name in sorted(modules)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-4000:]
