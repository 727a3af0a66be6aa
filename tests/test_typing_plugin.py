"""What mypy says with the plugin: of faulty programs every mistake, at its line; of right programs nothing.

The programs are under ``typing/plugin``. A comment below a line says what mypy must say of it: ``# E:`` an error, with
its code, ``# N:`` a note, such as that of `reveal_schema`; it goes on in the lines below that are indented further.
mypy may say nothing else: one mistake is one error, in the words that the library itself has for it.
"""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.fluent.grouping import GroupBy
from substrait_dsl.mypy_plugin.reports import format_error

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests" / "typing" / "plugin"
FAULTY = sorted((PROGRAMS / "faulty").glob("*.py"))
RIGHT = sorted((PROGRAMS / "right").glob("*.py"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))

CONFIGURATION = f"""
[mypy]
strict = True
plugins = substrait_dsl.mypy_plugin
mypy_path = {ROOT}
explicit_package_bases = True
pretty = False

[mypy-substrait.*]
follow_untyped_imports = True

[mypy-pyarrow.*,py4j.*]
ignore_missing_imports = True
"""

SAID = re.compile(r"(?P<file>.+?\.pyi?):(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)")
COMMENT = re.compile(r"\s*#(?: (?P<kind>[EN]): |    )(?P<text>\S.*)")
VERB = re.compile(r"(?P<verb>\w+)(, [^:]+)?: ")
CODE = re.compile(r"  \[(?P<code>[\w-]+)\]$")

Saying = tuple[int, str, str]
"""The number of a line, whether it is an error or a note that mypy says of it, and what."""


@pytest.fixture(scope="module")
def sayings(library_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, list[Saying]]:
    """What mypy says of all the programs and examples, in one run."""
    place = tmp_path_factory.mktemp("mypy")
    configuration = place / "mypy.ini"
    configuration.write_text(CONFIGURATION, encoding="utf-8")
    shutil.copytree(library_cache, place / "cache")
    files = [PROGRAMS / "tables.py", *FAULTY, *RIGHT, *EXAMPLES]
    command = [sys.executable, "-m", "mypy", "--config-file", str(configuration), "--cache-dir", str(place / "cache")]
    done = subprocess.run(
        [*command, "--show-traceback", *map(str, files)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    said: dict[Path, list[Saying]] = {}
    for line in done.stdout.splitlines()[:-1]:
        found = SAID.fullmatch(line)
        assert found is not None, line
        said.setdefault((ROOT / found["file"]).resolve(), []).append((int(found["line"]), found["kind"], found["text"]))
    return said


def expected(program: Path) -> list[Saying]:
    """What the comments of a program say that mypy must say."""
    found: list[Saying] = []
    code = 0
    for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), 1):
        comment = COMMENT.fullmatch(line)
        if comment is None:
            code = number
        elif comment["kind"] is not None:
            found.append((code, {"E": "error", "N": "note"}[comment["kind"]], comment["text"]))
        elif found:
            found[-1] = (*found[-1][:2], f"{found[-1][2]} {comment['text']}")
    return found


@pytest.mark.parametrize("program", [*FAULTY, *RIGHT, *EXAMPLES], ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_mypy_says_what_the_comments_say_and_nothing_else(program: Path, sayings: dict[Path, list[Saying]]) -> None:
    assert sorted(sayings.get(program, [])) == sorted(expected(program))


Raised = SubstraitDslError | TypeError | AttributeError | None


def statements(program: Path) -> Iterator[tuple[ast.stmt, list[str], Raised]]:
    """Each statement of a program, the errors that are expected of it, and the one that it raises."""
    names: dict[str, object] = {"__name__": program.stem}
    marked = expected(program)
    for statement in ast.parse(program.read_text(encoding="utf-8")).body:
        last = statement.end_lineno or statement.lineno
        errors = [text for line, kind, text in marked if kind == "error" and statement.lineno <= line <= last]
        raised: Raised = None
        try:
            exec(compile(ast.Module([statement], []), str(program), "exec"), names)
        except (SubstraitDslError, TypeError, AttributeError) as error:
            raised = error
        yield statement, errors, raised


DECLARED = {
    "boundaries",
    "computed_values",
    "function_bodies",
    "generic_functions",
    "helpers",
    "lambda_defaults",
    "open_parameters",
    "partial",
    "parameters",
    "partly_known",
    "truth_in_functions",
}
"""Programs whose mistakes are about what functions declare that they take and give, or are in functions that are not
called: nothing is wrong when they run. Or they are wrong for the class of a value, and Python names the value."""
RUN = [program for program in FAULTY if program.stem not in DECLARED]


@pytest.mark.parametrize("program", RUN, ids=lambda file: str(file.stem))
def test_what_mypy_refuses_python_refuses_in_the_same_words(program: Path) -> None:
    """But a verb calls the lambdas that it is given, and adds its name to what they do wrong."""
    for statement, errors, raised in statements(program):
        where = f"{program.name}:{statement.lineno}"
        assert bool(errors) == (raised is not None), f"{where}: {errors} {raised!r}"
        said = errors[0] if errors else ""
        code = CODE.search(said)
        if isinstance(raised, SubstraitDslError) and code is not None and code["code"].startswith("substrait-"):
            words = re.escape(said[: code.start()]).replace(re.escape("(...: "), r"\(\w+: ")
            assert re.search(rf"(^|: ){words}$", format_error(raised)), f"{where}: {format_error(raised)}"


@pytest.mark.parametrize("program", RIGHT, ids=lambda file: str(file.stem))
def test_right_programs_run(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And where they ask what columns a relation has, they are told the same as by mypy."""
    runpy.run_path(str(program), run_name=program.stem)
    notes = [text for _, kind, text in expected(program) if kind == "note"]
    assert [line for line in capsys.readouterr().err.splitlines() if line.startswith("Schema is")] == notes


FAULTLESS = {
    *("as_value", "check", "collect", "distinct", "execute", "explain", "lineage", "running", "show", "simple_capture"),
    *("to_arrow", "to_graphviz", "to_html", "to_mermaid", "to_pandas", "to_plan", "to_polars", "to_sql"),
}
"""Verbs with which nothing can be wrong, since they take nothing, or of which mypy says all itself."""


def test_there_are_mistakes_with_every_verb() -> None:
    errors = [text for program in FAULTY for _, kind, text in expected(program) if kind == "error"]
    faulty = {found["verb"] for text in errors if (found := VERB.match(text))}
    owners = [
        owner for owner in (*sd.Relation.__mro__, GroupBy) if owner.__module__.startswith("substrait_dsl.fluent.")
    ]
    verbs = {name for owner in owners for name, value in vars(owner).items() if callable(value) and name[0] != "_"}
    assert sorted(verbs - faulty - FAULTLESS) == []
    assert len(errors) >= 150
