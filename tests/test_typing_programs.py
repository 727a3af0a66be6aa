"""Generated programs: the mypy plugin fails on none, and hides nothing that mypy says by itself and Python bears out.

Each case is checked with the plugin and without it, and called with a value of each item of its type. By hand, any
number of them: ``python -m tests.test_typing_programs SEED COUNT``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mypy import api

from substrait_dsl import mypy_plugin
from substrait_dsl.errors import SubstraitDslError
from substrait_dsl.mypy_plugin import calls, schema_classes
from tests.projects import SETTINGS, Project
from tests.typing_programs import Case, cases, module

COUNT = 240
"""How many programs a run of mypy checks: each call, and some of them again."""

OWN = re.compile(r'"(either|passed|next|dict)"')
"""Functions that are none of the library's: what mypy says of their calls it says with the plugin, too."""

NO_SEQUENCE = "a relation is no sequence of rows"
"""The library's words for ``dict(relation)``, which stand in place of mypy's list of the overloads of ``dict``."""

Said = Mapping[Case | None, Sequence[str]]


def said_of(project: Project, lines: Mapping[int, Case], *options: str) -> Said:
    """The errors of each case; under None those of what stands before them."""
    found: dict[Case | None, list[str]] = {}
    for line in project.checked("--show-traceback", *options, "generated.py"):
        error = re.match(r"generated\.py:(\d+): error: (.*)", line)
        if error is not None:
            found.setdefault(lines.get(int(error[1])), []).append(error[2])
    return found


def raised_by(found: Sequence[Case], text: str) -> Mapping[Case, Sequence[str]]:
    """What each case raises, called with each of its values."""
    generated = ModuleType("generated")
    sys.modules["generated"] = generated  # where its classes look for the names of annotations
    try:
        exec(compile(text, "generated", "exec"), vars(generated))
        return {case: [error for value in case.values if (error := _raised(generated, case, value))] for case in found}
    finally:
        del sys.modules["generated"]


def _raised(generated: ModuleType, case: Case, value: str) -> str | None:
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            getattr(generated, case.name)(eval(value, vars(generated)))
        except (SubstraitDslError, AttributeError, TypeError, ValueError, LookupError) as error:
            return f"{type(error).__name__}: {error}"
    return None


def findings(seed: str, count: int, path: Path, cache: Path | None) -> list[str]:
    """What is wrong with what mypy says with the plugin of so many cases."""
    found = cases(seed, count)
    text, lines = module(found)
    with_plugin, alone = Project(path / "with"), Project(path / "alone")
    if cache is not None:
        shutil.copytree(cache, with_plugin.path / "cache")
    alone.write({"mypy.ini": SETTINGS.replace("plugins = substrait_dsl.mypy_plugin\n", "")})
    for project in (with_plugin, alone):
        project.write({"generated.py": text})
    said, without = (said_of(project, lines, "--cache-dir", "cache") for project in (with_plugin, alone))
    raised = raised_by(found, text)
    assert None not in {**said, **without}
    assert len(without) > count // 3, "the cases are wrong too seldom"
    wrong = [
        f"mypy alone says {without[case]}, Python {raised[case]}, of\n{case.text}"
        for case in found
        if case in without and raised[case] and case not in said and "truth value" not in str(raised[case])
    ]
    wrong += [
        f"Python says nothing against, nor does mypy alone, but with the plugin {said[case]}, of\n{case.text}"
        for case in found
        if case in said and case not in without and not raised[case]
    ]
    return wrong + [
        f"mypy says {message} only without the plugin, of\n{case.text}"
        for case in found
        for message in without.get(case, ())
        if OWN.search(message) and message not in said.get(case, ())
        if not any(NO_SEQUENCE in each for each in said.get(case, ()))
    ]


@pytest.mark.parametrize("seed", ["unions"])
def test_the_plugin_fails_on_no_program_and_hides_nothing(seed: str, library_cache: Path, tmp_path: Path) -> None:
    assert findings(seed, COUNT, tmp_path, library_cache) == []


OURS = """
from collections.abc import Callable
class Schema: ...
class Relation:
    def filter(self, x: object) -> "Relation":
        return self
"""
PROGRAM = """
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.fluent.schemas import Schema
class Orders(Schema):
    pass
Relation().filter(1)
"""
FAILED = "the plugin of substrait_dsl has failed here (KeyError), and mypy's own types stand"


@pytest.mark.parametrize("shown", [False, True])
def test_a_failure_of_the_plugin_itself_is_a_note(
    shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(context: object, **_: object) -> Any:
        raise KeyError("x")

    fluent = tmp_path / "substrait_dsl" / "fluent"  # what mypy looks at is small; the plugin is the real one
    fluent.mkdir(parents=True)
    for file, text in {"../__init__": "", "__init__": "", "relation": OURS, "schemas": OURS}.items():
        (fluent / f"{file}.py").write_text(text, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "mypy.ini").write_text("[mypy]\nplugins = substrait_dsl.mypy_plugin\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calls, "infer_method_call", failing)
    monkeypatch.setattr(schema_classes, "check", failing)
    mypy_plugin._method_hook.cache_clear()
    try:
        said, _, status = api.run(["program.py", "--cache-dir", os.devnull, *["--show-traceback"] * shown])
    finally:
        mypy_plugin._method_hook.cache_clear()
    if shown:
        printed, _ = capsys.readouterr()
        assert (status, "KeyError: 'x'" in printed) == (2, True)
    else:
        notes = [line for line in said.splitlines() if FAILED in line]
        assert status == 0, said
        assert [note.partition(": note: ")[0] for note in notes] == ["program.py:4", "program.py:6"], said


def main(seed: str, count: str) -> int:
    """Print what is wrong with so many cases."""
    with tempfile.TemporaryDirectory() as path:
        found = findings(seed, int(count), Path(path), None)
    print(*found, f"{len(found)} of {count}", sep="\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
