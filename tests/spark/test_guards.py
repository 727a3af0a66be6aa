"""The guards against faults of Spark: each fault is still there, raw, in the versions that its guard names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from substrait_dsl.spark.guards import GUARDS
from substrait_dsl.spark.session.engines import Guard
from tests.spark.canaries import answer, is_answer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "guard_canary"
"""The table that canaries make."""


@pytest.fixture
def raw(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with settings and temporary views of its own."""
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    session = spark.newSession()
    session.conf.set("spark.sql.shuffle.partitions", "1")
    yield session
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")


def what_changed(guard: Guard, found: Any, version: str) -> str | None:
    """What to do about a guard, by the answer of a version of Spark to its canary; None: nothing."""
    release = tuple(map(int, version.split(".")[:2]))
    first, last = (tuple(map(int, guard.versions[end].split("."))) for end in (0, -1))
    if first <= release <= last:
        if is_answer(found, guard.fault):
            return None
        if is_answer(found, guard.right):
            return f"Spark {version} gives the right answer: guard {guard.name!r} may go"
        return f"Spark {version} gives another wrong answer for guard {guard.name!r}: {found!r}"
    if is_answer(found, guard.right):
        return None
    return f"Spark {version} has the fault of guard {guard.name!r}, which does not name that version: {found!r}"


@pytest.mark.parametrize("name", [guard.name for guard in GUARDS])
def test_the_fault_of_a_guard_is_there(name: str, raw: SparkSession, tmp_path: Path) -> None:
    guard = next(each for each in GUARDS if each.name == name)
    changed = what_changed(guard, answer(guard, tmp_path, raw), raw.version)
    assert changed is None, changed
