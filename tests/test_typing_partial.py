"""What mypy knows of relations whose columns are known in part is true, and no more than that is said to be wrong.

The random pipelines of `tests.pipelines` are written again, so that mypy knows only some of the columns of their
tables: as parameters that ask for these, or as choices of columns of which it does not know the names.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest

from tests.pipelines.mistakes import add_spoiled
from tests.pipelines.programs import Program
from tests.projects import Project

PIPELINES = 40
SAID = re.compile(r"(?P<file>\w+\.py):(?P<line>\d+): (?P<kind>note|error): (?P<text>.*)")
TABLE = re.compile(r"class Table(\d+)\(sd\.Schema\):\n((?:    .*\n)+)")
FUNCTION = re.compile(r"^def (pipeline_\d+)\(\) -> None:$", re.MULTILINE)
SHOWS = re.compile(r"sd\.reveal_schema\(")


@attrs.define
class Text:
    """A program in which columns are forgotten, with what its functions get when they run."""

    text: str
    arguments: str


def forget(program: Program, random: Random, *, is_parameter: bool) -> Text:
    """Write a program again in which mypy knows some of the columns of each table."""
    text = program.text
    declared, parameters, first, arguments = "", [], [], []
    for found in TABLE.finditer(text):
        number, lines = found[1], found[2].splitlines()
        known = [line for line in lines if random.random() < 0.6] or lines[:1]
        names, others = ([line.split(":")[0].strip() for line in each] for each in (known, set(lines) - set(known)))
        if is_parameter:
            columns = "\n".join(known)
            declared += f"\n\nclass Known{number}(sd.Schema):\n{columns}\n\n\n"
            declared += f'P{number} = TypeVar("P{number}", bound=Known{number})\n'
            parameters.append(f"table{number}: sd.Relation[P{number}]")
            arguments.append(f"whole{number}")
        else:
            chosen = ", ".join(map(repr, names))
            parameters.append(f"names{number}: list[str]")
            first.append(f"    table{number} = whole{number}.select({chosen}, *names{number})\n")
            arguments.append(repr(sorted(others)))
    text = re.sub(r"^table(\d+) = ", r"whole\1 = ", text, flags=re.MULTILINE)
    begin, *functions = re.split(r"(?=^def pipeline_)", text, flags=re.MULTILINE)
    begin = begin.replace("from typing import Any, ", "from typing import Any, TypeVar, ")
    heads = [
        FUNCTION.sub(rf"def \1({', '.join(parameters)}) -> None:", each).replace("\n", "\n" + "".join(first), 1)
        for each in functions
    ]
    return Text(begin + declared + "\n\n" + "".join(heads), ", ".join(arguments))


@attrs.define
class Outcome:
    """What mypy says of the programs, and what happens when they run; by file and line, or by file and function."""

    revealed: dict[tuple[str, int], str] = attrs.Factory(dict)
    shown: dict[tuple[str, int], str] = attrs.Factory(dict)
    errors: dict[tuple[str, str], list[str]] = attrs.Factory(dict)
    own_errors: dict[tuple[str, str], int] = attrs.Factory(dict)
    """The first line of a function in which mypy finds an error by itself."""
    failed: dict[tuple[str, str], Exception | None] = attrs.Factory(dict)


@pytest.fixture(scope="module")
def partial_outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    texts: dict[str, Text] = {}
    for name, is_parameter, is_spoiled in (
        ("asked", True, False),
        ("chosen", False, False),
        ("asked_spoiled", True, True),
        ("chosen_spoiled", False, True),
    ):
        random = Random(f"forgotten {name}")
        program = Program(random)
        for pipeline in range(PIPELINES):
            add_spoiled(program, pipeline) if is_spoiled else program.add(pipeline)
        texts[f"{name}.py"] = forget(program, random, is_parameter=is_parameter)
    project = Project(tmp_path_factory.mktemp("partial") / "programs")
    project.write({file: each.text for file, each in texts.items()})
    found = Outcome()
    for line in project.checked("--no-pretty", "--no-incremental", *texts):
        said = SAID.fullmatch(line)
        assert said is not None, line
        file, number = said["file"], int(said["line"])
        if said["text"].startswith("Schema is"):
            found.revealed[file, number] = said["text"]
        elif said["kind"] == "error" and "[substrait-" in said["text"]:
            function = function_at(texts[file].text, number)
            found.errors.setdefault((file, function), []).append(f"{number}: {said['text']}")
        elif said["kind"] == "error":
            found.own_errors.setdefault((file, function_at(texts[file].text, number)), number)
    for file, each in texts.items():
        run(project.path / file, each, found)
    return found


def function_at(text: str, number: int) -> str:
    heads = re.findall(r"^def (pipeline_\d+)", "\n".join(text.splitlines()[:number]), re.MULTILINE)
    return heads[-1] if heads else ""


def run(path: Path, program: Text, found: Outcome) -> None:
    names: dict[str, Any] = runpy.run_path(str(path))
    arguments = eval(program.arguments, names)
    lines = program.text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("def pipeline_")]
    for first, last in zip(heads, [*heads[1:], len(lines)], strict=True):
        function = function_at(program.text, first + 1)
        asked = [number + 1 for number in range(first, last) if SHOWS.search(lines[number])]
        error = None
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            try:
                names[function](*arguments)
            except Exception as raised:
                error = raised
        found.failed[path.name, function] = error
        said = [line for line in shown.getvalue().splitlines() if line.startswith("Schema is")]
        last_right = found.own_errors.get((path.name, function), last + 1) - 1
        found.shown.update(
            ((path.name, number), line) for number, line in zip(asked, said, strict=False) if number <= last_right
        )


def columns(text: str) -> Iterator[str]:
    """The columns that a text shows: commas in types are no commas between columns."""
    part, depth = "", 0
    for letter in text.removeprefix("Schema is "):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and not depth:
            yield part.strip()
            part = ""
        else:
            part += letter
    yield part.strip()


def test_what_remains_known_is_what_the_run_shows(partial_outcome: Outcome) -> None:
    wrong = []
    known = 0
    for place, text in partial_outcome.revealed.items():
        if text == "Schema is unknown" or place not in partial_outcome.shown:
            continue
        said, shown = list(columns(text)), list(columns(partial_outcome.shown[place]))
        leading = said[: said.index("...")] if "..." in said else said
        is_right = all(each == "..." or agrees(each, shown) for each in said)
        is_right = is_right and all(map(is_same, leading, shown)) and (leading is not said or len(said) == len(shown))
        known += sum(each != "..." and not each.endswith(": unknown") for each in said)
        wrong += [] if is_right else [f"{place}\n  mypy: {said}\n  run:  {shown}"]
    assert not wrong, "\n".join(wrong)
    assert known > 500


def agrees(said: str, shown: list[str]) -> bool:
    return any(is_same(said, each) for each in shown)


def is_same(said: str, shown: str) -> bool:
    """Whether a column is that of the run, or only its name is known."""
    name, _, type_ = said.rpartition(": ")
    return said == shown or (type_ == "unknown" and shown.startswith(f"{name}: "))


def test_no_program_is_refused_that_runs(partial_outcome: Outcome) -> None:
    ran = {place for place, error in partial_outcome.failed.items() if error is None}
    needless = {place: said for place, said in partial_outcome.errors.items() if place in ran}
    assert not needless, "\n".join(f"{place} {each}" for place, said in needless.items() for each in said)
    assert len(ran) > PIPELINES


def test_mistakes_with_known_columns_are_found(partial_outcome: Outcome) -> None:
    failed = {place for place, error in partial_outcome.failed.items() if error is not None and "spoiled" in place[0]}
    found = {place for place in failed if place in partial_outcome.errors}
    assert len(found) > len(failed) // 4, f"{len(found)} of {len(failed)}"
