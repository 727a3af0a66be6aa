"""The examples in the documentation run as they stand there."""

from __future__ import annotations

import doctest
from pathlib import Path

from substrait_dsl.partiql.operations import FUNCTIONS, OPERATORS
from substrait_dsl.partiql.values import MOST_LEVELS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_about_partiql() -> None:
    done = doctest.testfile(str(DOCS / "partiql.md"), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.attempted > 15
    assert done.failed == 0


def test_the_page_names_every_operator_and_function() -> None:
    section = (DOCS / "partiql.md").read_text(encoding="utf-8").partition("## Operators and functions")[2]
    section = section.partition("\n## ")[0]
    assert [name for name in (*OPERATORS, *FUNCTIONS) if name not in section] == []
    assert f"at most {MOST_LEVELS} levels deep" in section
