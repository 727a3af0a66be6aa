"""The program that breaks the rules of docs/coverage: what it breaks, and that it sees which tests catch that."""

from __future__ import annotations

import ast
import subprocess
import sys
from typing import Any

import attrs
import pytest

from tests.coverage_rows import NOT_OFFERED, PATH, ROOT, ROWS, Row
from tests.mutations.__main__ import named_tests
from tests.mutations.breaks import breaks_of, written_break
from tests.mutations.corruption import corrupt_field, corrupted
from tests.mutations.places import Place, place_of
from tests.mutations.written import WRITTEN

OFFERED = {row.id: row for row in ROWS if NOT_OFFERED.fullmatch(row.where) is None}


def test_every_path_of_a_row_is_found_in_the_text() -> None:
    paths = {path for row in OFFERED.values() for path in PATH.findall(row.where)}
    assert sorted(path for path in paths if place_of(path) is None) == []


def test_what_is_imported_or_inherited_is_found_where_it_is_defined() -> None:
    relations = "substrait_dsl.algebra.relations"
    assert place_of(f"{relations}.Filter.condition") == Place(f"{relations}.filtering", ("Filter", "condition"))
    assert place_of(f"{relations}.filtering.Filter.anchor") == Place("substrait_dsl.algebra.node", ("Rel", "anchor"))
    assert place_of("substrait_dsl.algebra.rules.JOIN_RULES") == Place("substrait_dsl.algebra.rules", ("JOIN_RULES",))
    assert place_of(f"{relations}.filtering.Fltr") is None


@pytest.mark.parametrize("row", WRITTEN)
def test_written_breaks_are_of_texts_that_are_there(row: str) -> None:
    assert row in OFFERED
    module, old, new = WRITTEN[row]
    edit = written_break(module, old, new)
    assert ast.unparse(edit.tree()) != ast.unparse(ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text()))


def test_breaks_of_a_method() -> None:
    place = place_of("substrait_dsl.algebra.relations.filtering.Filter._validate")
    assert place is not None
    broken = {ast.unparse(edit.tree()) for edit in breaks_of(place)}
    checks = 'rules.require_boolean(self.condition.type, "the condition of a filter")'
    without = [text for text in broken if ast.unparse(ast.parse(checks)) not in text]
    assert any("rules.require_boolean" in text for text in without)  # with another argument
    assert any("class Filter(Rel):" in text for text in broken)
    assert len(broken) == len(breaks_of(place))


@attrs.frozen
class Pair:
    first: int
    second: str | None = None


CORRUPTED: tuple[tuple[Any, Any], ...] = (
    (True, False), (1, 2), ("a", "a_"), (b"a", b"a_"), ((1, 2), (2, 1)), ((1, 1), (1,)), ([1], []), ({1: 2}, {}),
    (None, None), (Pair(1), Pair(2)), ((), ()),
)  # fmt: skip


@pytest.mark.parametrize(("value", "other"), CORRUPTED, ids=repr)
def test_other_values_of_the_same_kind(value: Any, other: Any) -> None:
    assert corrupted(value) == other
    assert type(corrupted(value)) is type(value)


def test_fields_that_hold_something_else() -> None:
    pair = Pair(1, "x")
    corrupt_field(pair, "second")
    assert pair == Pair(1, "x_")


def outcome(*arguments: str) -> tuple[int, str]:
    """What the program says, run as people run it."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.mutations", *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_tests_that_catch_are_told_from_those_that_do_not() -> None:
    caught, said = outcome("000:131", "003:RelCommon.Emit")
    assert (caught, said.splitlines()[-1].partition(": ")[2]) == (0, "2 caught"), said
    missed, said = outcome("000:131", "--test", "tests/relations/test_filter.py::test_the_output_is_the_input")
    assert missed == 1
    assert "000:131: missed: Expression: a boolean condition" in said
    wrong, said = outcome("000:131", "--test", "tests/relations/test_filter.py::test_that_is_not_there")
    assert (wrong, said) == (2, "the tests fail as everything is\n")


def test_rows_that_are_not_there_are_refused() -> None:
    code, said = outcome("000:1310")
    assert code == 2
    assert "000:1310" in said


def test_tests_on_spark_are_not_run() -> None:
    row = Row("x", "y", "z", "`tests/spark/test_rows.py::test_a`<br>`tests/test_rules.py`<br>`tests/lake/test_x.py`")
    assert named_tests(row) == ["tests/test_rules.py"]
