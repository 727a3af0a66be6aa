"""TPC-H, every verb and writes once more, on a standalone cluster whose workers have no Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SELECTED_TESTS = (
    "tests/test_tpch.py::test_rows_are_those_of_the_sql_text",
    "tests/spark/test_tour.py",
    "tests/spark/test_writes.py::test_insert",
    "tests/spark/test_writes.py::test_each_create_mode",
    "tests/spark/test_writes.py::test_a_table_is_replaced_by_a_query_over_it",
    "tests/spark/test_writes.py::test_a_task_that_fails_changes_nothing",
    "tests/spark/test_failures.py::test_the_step_and_the_expression_are_named",
)
"""Every query of TPC-H, every verb, and changes whose files executors write."""


@pytest.mark.usefixtures("java")
def test_a_selection_runs_on_a_cluster(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--session") == "cluster":
        pytest.skip("the whole run is on a cluster")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--session", "cluster", *SELECTED_TESTS]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1500, check=False)
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    assert "skipped" not in run.stdout
