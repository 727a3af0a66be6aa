"""The pages about types: mypy says of their programs what they say it does, and they have every code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy.errorcodes import ErrorCode

from substrait_dsl.mypy_plugin.codes import CODES, DYNAMIC, FAILURE, UNEVALUATED
from substrait_dsl.mypy_plugin.versions import NEWEST, OLDEST
from tests.projects import Project

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "docs" / name for name in ("typing.md", "typing/functions.md", "typing/checkers.md", "typing/codes.md")]
PAGE = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)

BLOCK = re.compile(
    r"(?P<first><!-- every program -->\n)?```python\n(?P<program>.*?)```\n(?:```text\n(?P<said>.*?)```)?", re.DOTALL
)
SECTION = re.compile(r"^## `(?P<code>substrait-[\w-]+)`\n(?P<text>.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
LINE = re.compile(
    r"^program_(?P<number>\d+)\.py:\d+: (?P<said>.*(?:\n(?!program_|Found |Success: ).*)*)$", re.MULTILINE
)
"""What mypy says at a line of a program: one line, or, where it shows a class, several."""

[BEGINNING] = [found["program"] for found in BLOCK.finditer(PAGE) if found["first"]]
PROGRAMS = [(found["program"], found["said"] or "") for found in BLOCK.finditer(PAGE) if not found["first"]]
SECTIONS = {found["code"]: found["text"] for found in SECTION.finditer(PAGE)}


@pytest.fixture(scope="module")
def said(library_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says of each program."""
    output = said_of([joined(program) for program, _ in PROGRAMS], tmp_path_factory.mktemp("programs"), library_cache)
    lines: list[list[str]] = [[] for _ in PROGRAMS]
    for found in LINE.finditer(output):
        lines[int(found["number"])].append(f"{found['said'].rstrip()}\n")
    return ["".join(each) for each in lines]


def said_of(programs: list[str], place: Path, cache: Path) -> str:
    """What mypy says of programs, each a module in a folder."""
    project = Project(place / "project", cache)
    texts = {f"program_{number}.py": program for number, program in enumerate(programs)}
    project.write(texts)
    return project.run("mypy", "--no-pretty", *texts)


def joined(program: str) -> str:
    """A program with the common beginning, below the lines that can only stand first."""
    lines = program.splitlines(keepends=True)
    first = [line for line in lines if line.startswith("# mypy: ")]
    return "".join([*first, BEGINNING, *(line for line in lines if line not in first)])


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_mypy_says_what_the_page_says(said: list[str], number: int) -> None:
    program, expected = PROGRAMS[number]
    assert said[number] == expected, program


def test_mypy_finds_no_fault_in_the_recipes(library_cache: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    beginning, *programs = (found["program"] for found in BLOCK.finditer(page))
    output = said_of([beginning + program for program in programs], tmp_path, library_cache)
    assert output == f"Success: no issues found in {len(programs)} source files\n"


def test_the_tested_versions_of_mypy_are_said() -> None:
    tested = "({}.{} to {}.{}".format(*OLDEST, *NEWEST)
    assert f"tested with {tested}:" in PAGE
    assert f"mypy {tested})" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_page_has_every_code() -> None:
    assert list(SECTIONS) == [*(code.code for code in CODES.values()), FAILURE.code, DYNAMIC.code, UNEVALUATED.code]


@pytest.mark.parametrize("code", [*CODES.values(), DYNAMIC, UNEVALUATED], ids=lambda code: str(code.code))
def test_each_code_is_explained_and_shown(code: ErrorCode) -> None:
    text = SECTIONS[code.code]
    assert code.description in " ".join(text.split())
    shown = "".join(found["said"] or "" for found in BLOCK.finditer(text))
    assert f"[{code.code}]" in shown
