"""The tests of lake tables, in a process of their own: Iceberg's runtime is not there for every Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.lake.environment import PYSPARK, pyspark_folder

ROOT = Path(__file__).parents[1]


@pytest.mark.usefixtures("lake")
@pytest.mark.skipif(pyspark.__version__ == PYSPARK, reason="with this pyspark, tests/lake run like all others")
def test_the_tests_of_lake_tables_pass(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache is not None
    folder = pyspark_folder(pytestconfig.cache.mkdir("lake"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/lake"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-4000:]
