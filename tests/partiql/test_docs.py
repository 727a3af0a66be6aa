"""The examples in the documentation run as they stand there."""

from __future__ import annotations

import doctest
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_about_partiql() -> None:
    done = doctest.testfile(str(DOCS / "partiql.md"), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.attempted > 15
    assert done.failed == 0
