"""What the mypy plugin knows of a pipeline is what the program itself finds out when it runs.

`tests.pipelines` writes programs of random pipelines, right ones and ones with a mistake. mypy checks all of them at
once, Python runs them, and the two are compared: schema by schema, mistake by mistake.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from random import Random

import attrs
import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES, SET_OPS
from tests.pipelines.mistakes import add_spoiled
from tests.pipelines.programs import Program
from tests.projects import Project

RIGHT, SPOILED, PIPELINES = 6, 4, 60
"""How many modules of right and of spoiled pipelines there are, and how many pipelines each has."""

SAID = re.compile(r"(?P<file>\w+\.py):(?P<line>\d+): (?P<kind>note|error): (?P<text>.*)")

Place = tuple[str, int]
"""A file and a line."""


@attrs.define
class Outcome:
    """What happens to the programs, by the lines of their last statements and of those that show columns."""

    shown: dict[Place, str] = attrs.Factory(dict)
    """The columns of relations, as the run shows them."""
    ended: dict[Place, Exception | None] = attrs.Factory(dict)
    """For each pipeline, whether its last line fails."""
    revealed: dict[Place, str] = attrs.Factory(dict)
    """The columns of relations, as mypy shows them."""
    errors: dict[Place, list[str]] = attrs.Factory(dict)
    """What mypy objects to."""
    texts: dict[str, str] = attrs.Factory(dict)

    def line(self, place: Place) -> str:
        """A line of a program with its place, for messages."""
        file, number = place
        return f"{file}:{number}: {self.texts[file].splitlines()[number - 1].strip()}"


@pytest.fixture(scope="module")
def outcome(library_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    found = Outcome()
    for number in range(RIGHT):
        program = Program(Random(f"right {number}"))
        for pipeline in range(PIPELINES):
            program.add(pipeline)
        found.texts[f"right{number}.py"] = program.text
    for number in range(SPOILED):
        program = Program(Random(f"spoiled {number}"))
        for pipeline in range(PIPELINES):
            add_spoiled(program, pipeline)
        found.texts[f"spoiled{number}.py"] = program.text
    project = Project(tmp_path_factory.mktemp("agreement") / "programs", library_cache)
    project.write(found.texts)
    for said in project.checked("--no-pretty", *found.texts):
        parts = SAID.fullmatch(said)
        assert parts is not None, said
        place = parts["file"], int(parts["line"])
        if parts["kind"] == "error":
            found.errors.setdefault(place, []).append(parts["text"])
        elif parts["text"].startswith("Schema is"):
            found.revealed[place] = parts["text"]
    for file in found.texts:
        run(project.path / file, found)
    return found


def run(file: Path, found: Outcome) -> None:
    """Run the pipelines of a module one by one."""
    names = runpy.run_path(str(file))
    for function in functions(found.texts[file.name]):
        error = None
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            try:
                names[function.name]()
            except Exception as raised:
                error = raised
        found.ended[file.name, function.body[-1].lineno] = error
        lines = [(file.name, statement.lineno) for statement in function.body if shows(statement)]
        found.shown.update(zip(lines, shown.getvalue().splitlines(), strict=error is None))


def functions(text: str) -> Iterator[ast.FunctionDef]:
    return (statement for statement in ast.parse(text).body if isinstance(statement, ast.FunctionDef))


def shows(statement: ast.stmt) -> bool:
    """Whether a statement shows the columns of a relation."""
    value = statement.value if isinstance(statement, ast.Assign | ast.Expr) else None
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "sd.reveal_schema"


def test_mypy_knows_the_columns_of_every_step(outcome: Outcome) -> None:
    wrong = {place: columns for place, columns in outcome.shown.items() if outcome.revealed.get(place) != columns}
    assert not wrong, "\n".join(
        f"{outcome.line(place)}\n  mypy: {outcome.revealed.get(place)}\n  run:  {columns}"
        for place, columns in wrong.items()
    )
    assert len(outcome.shown) > 1000


def test_mypy_objects_to_no_right_program(outcome: Outcome) -> None:
    needless = [
        f"{outcome.line(place)}\n  {said}" for place, said in outcome.errors.items() if is_right(outcome, place)
    ]
    assert not needless, "\n".join(needless)


def is_right(outcome: Outcome, place: Place) -> bool:
    """Whether a line is one at which no program fails."""
    return outcome.ended.get(place) is None


def test_mypy_objects_to_every_mistake(outcome: Outcome) -> None:
    failed = {place: error for place, error in outcome.ended.items() if error is not None}
    missed = [f"{outcome.line(place)}\n  {error}" for place, error in failed.items() if place not in outcome.errors]
    assert not missed, "\n".join(missed)
    assert len(failed) > SPOILED * PIPELINES // 2
    assert all(file.startswith("spoiled") for file, _ in failed)


NO_RELATIONS = {
    "as_value",
    "c",
    "check",
    "collect",
    "columns",
    "execute",
    "explain",
    "lineage",
    "properties",
    "running",
    "schema",
    "show",
    "to_arrow",
    "to_graphviz",
    "to_html",
    "to_mermaid",
    "to_pandas",
    "to_plan",
    "to_polars",
    "to_sql",
}
"""What a relation has that is no verb."""

NOT_WRITTEN = {
    *("check_all", "diff", "errors", "everyday", "from_arrow", "from_sql", "functions", "implement", "parse_type"),
    *("read_capabilities", "register_acero_functions", "schema_of", "standard_catalog", "subtree"),
}
"""Names of the package that are no functions for pipelines."""


def test_every_verb_and_every_function_is_in_the_programs(outcome: Outcome) -> None:
    used: set[str] = set()
    texts: set[str] = set()
    for text in outcome.texts.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute):
                used.add(f"sd.{node.attr}" if ast.unparse(node.value) == "sd" else node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
    verbs = {name for name in dir(sd.Relation) if not name.startswith("_")} - NO_RELATIONS
    own = {name for name in sd.__all__ if name.islower()} - NOT_WRITTEN
    assert sorted(verbs - used) == []
    assert sorted(name for name in own if f"sd.{name}" not in used) == []
    assert sorted({*JOIN_TYPES, *LATERAL_JOIN_TYPES, *SET_OPS} - texts) == []
    assert len(used & set(dir(sd.functions))) > 100
