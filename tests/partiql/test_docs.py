"""The examples in the documentation run as they stand there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import get_args

from substrait_dsl.partiql.bindings import AggregateFunction, JoinHow
from substrait_dsl.partiql.notation import HEADS
from substrait_dsl.partiql.operations import FUNCTIONS, OPERATORS
from substrait_dsl.partiql.values import MAX_LEVELS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_about_partiql() -> None:
    done = doctest.testfile(str(DOCS / "partiql.md"), module_relative=False, optionflags=doctest.REPORT_NDIFF)
    assert done.attempted > 15
    assert done.failed == 0


def test_the_page_names_every_operator_and_function() -> None:
    section = (DOCS / "partiql.md").read_text(encoding="utf-8").partition("## Operators and functions")[2]
    section = section.partition("\n## ")[0]
    assert [name for name in (*OPERATORS, *FUNCTIONS) if name not in section] == []
    assert f"at most {MAX_LEVELS} levels deep" in section


def test_the_page_has_the_grammar_of_every_node() -> None:
    section = (DOCS / "partiql.md").read_text(encoding="utf-8").partition("\nbindings ::=")[2].partition("```")[0]
    found = re.findall(r"\((\w+) ", section)
    parts = {"name", "value"}  # how the parts of lists begin
    assert sorted(word for word in found if word not in parts) == sorted([*HEADS, *OPERATORS])
    for name, operator in OPERATORS.items():
        many = " ".join(["value"] * operator.fewest) + ("" if operator.most == operator.fewest else " ..")
        assert f"({name} {many})" in section
    for words in (JoinHow, AggregateFunction):
        assert "|".join(get_args(words)) in section
