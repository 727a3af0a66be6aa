"""docs/coverage.md says where each thing is that the specification asks for, and which test shows it: all is there."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.coverage_rows import INDEX, NOT_OFFERED, PAGES, PATH, ROOT, ROWS, TEST, Row, rows_of

TEXTS = [page.read_text(encoding="utf-8") for page in [INDEX, *PAGES]]


def test_the_index_has_every_page_and_counts_its_rows() -> None:
    counted = re.findall(r"\]\(coverage/(\w+\.md)\) \|.*\| (\d+) \| (\d+) \|", INDEX.read_text(encoding="utf-8"))
    pages = {page.name: list(rows_of(page.read_text(encoding="utf-8"))) for page in PAGES}
    assert {page: (int(rows), int(without)) for page, rows, without in counted} == {
        page: (len(rows), sum(NOT_OFFERED.fullmatch(row.where) is not None for row in rows))
        for page, rows in pages.items()
    }


def test_no_row_stands_twice() -> None:
    assert [number for number, count in Counter(row.id for row in ROWS).items() if count > 1] == []


def test_every_row_says_where_and_which_test_or_why_not() -> None:
    def is_complete(row: Row) -> bool:
        reason = NOT_OFFERED.fullmatch(row.where)
        if reason is not None:
            return len(reason[1].split()) > 2
        return all(
            cell and all(kind.fullmatch(part) for part in cell.split("<br>"))
            for kind, cell in ((PATH, row.where), (TEST, row.test))
        )

    assert [row for row in ROWS if not row.asks or not is_complete(row)] == []


# --- what is named is there


def is_there(path: str) -> bool:
    """Whether a dotted path leads through modules to something inside the last."""
    found: object = None
    walked = ""
    for name in path.split("."):
        walked = f"{walked}.{name}" if walked else name
        try:
            found = importlib.import_module(walked)  # before a function of that name, which its package may have
        except ModuleNotFoundError:
            if not hasattr(found, name):
                return False
            found = getattr(found, name)
    return True


def test_a_path_that_leads_nowhere_is_noticed() -> None:
    assert is_there("substrait_dsl.algebra.relations.filtering.Filter.condition")
    assert not is_there("substrait_dsl.algebra.relations.filtering.Filter.conditions")
    assert not is_there("substrait_dsl.algebra.relations.row.Filter")


def test_every_path_leads_somewhere() -> None:
    paths = {path for text in TEXTS for path in PATH.findall(text)}
    assert paths
    assert [path for path in sorted(paths) if not is_there(path)] == []


@functools.cache
def functions_in(file: str) -> tuple[dict[str, bool], set[str]]:
    """The tests in a file and whether they are run with several parameters; and all texts in it, some of them ids."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return (
        {each.name: any("parametrize" in ast.unparse(mark) for mark in each.decorator_list) for each in functions},
        {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)},
    )


def is_test(file: str, name: str, parameters: str) -> bool:
    """Whether a file has a test, if one is named, and whether these parameters can be its."""
    if not (ROOT / file).is_file():
        return False
    tests, texts = functions_in(file)
    return not name or (name in tests and (not parameters or (tests[name] and parameters in texts)))


def test_a_test_that_is_not_there_is_noticed() -> None:
    file = "tests/relations/test_inputs.py"
    assert is_test(file, "", "")
    assert is_test(file, "test_inputs_and_outputs", "hash join")
    assert not is_test("tests/relations/test_input.py", "", "")
    assert not is_test(file, "test_inputs", "")
    assert not is_test(file, "test_inputs_and_outputs", "hashed join")
    assert not is_test(file, "test_every_kind_of_relation_is_here", "hash join")


def test_every_test_is_there() -> None:
    named = {each for text in TEXTS for each in TEST.findall(text)}
    assert named
    assert [each for each in sorted(named) if not is_test(*each)] == []


# --- nothing is left out

BESIDE_THE_CHECKLIST = ("001:5c", "001:5d", "001:5e", "003:WriteRel.OutputMode-2")
"""Rows for sentences that the checklist has no line of its own for."""


def checklist(text: str) -> Iterator[str]:
    """The ids of a checklist's rows: document and line, document and message, or document and number."""
    seen: set[str] = set()
    document, count = "", 0
    for line in text.splitlines():
        if heading := re.match(r"### .* Mission document `(\d+)`", line):
            document, count = heading[1], 0
        if "- [ ] " not in line:
            continue
        if message := re.search(r"\] (?:enum )?`([A-Za-z][\w.]*)`:", line):
            row = f"{document}:{message[1]}"
        elif numbered := re.search(r"\] `(\d+:\d+)`", line):
            row = numbered[1]
        else:
            count += 1
            row = f"{document}:{'rule-' if document == '003' else ''}{count}"
        while row in seen:
            row += "b"  # one line may ask for two things
        seen.add(row)
        yield row


def test_every_row_of_the_checklist_is_here(shared: Path) -> None:
    _, _, rows = (shared / "studies" / "spec.md").read_text(encoding="utf-8").partition("\n## 8. ")
    asked = list(checklist(rows))
    assert len(asked) == 556  # 154 + 26 + 110 + 239 + 27, as it says of itself
    assert sorted(row.id for row in ROWS) == sorted([*asked, *BESIDE_THE_CHECKLIST])
