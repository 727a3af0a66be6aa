"""The first pages: their examples run as they stand there, on the engines that they name."""

from __future__ import annotations

import doctest
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOCS = Path(__file__).parent.parent / "docs"


def attempted(name: str) -> int:
    """Run the examples of a page, none of which fails; how many there are."""
    done = doctest.testfile(str(DOCS / name), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.failed == 0
    return done.attempted


@pytest.mark.usefixtures("datafusion")
def test_the_tutorial_runs(sail: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert attempted("tutorial.md") > 30
    assert sorted(os.listdir(tmp_path)) == ["best.plan", "orders.parquet"]


def test_the_page_on_concepts_runs() -> None:
    assert attempted("concepts.md") > 10
