"""Values that a program computes or changes: to the mypy plugin they are not known, whatever they were first."""

from __future__ import annotations

import re
from pathlib import Path

from tests.projects import Project

PROGRAM = (Path(__file__).parent / "typing" / "computed.py").read_text(encoding="utf-8")


def test_what_is_computed_is_not_taken_for_known(library_cache: Path, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", library_cache)
    project.write({"program.py": PROGRAM})
    said = "\n".join(project.checked("program.py"))
    assert " error: " not in said
    shown = {int(line): text for line, text in re.findall(r"^program.py:(\d+): note: (Schema is .*)$", said, re.M)}
    lines = [line.strip() for line in PROGRAM.splitlines()]
    assert shown == {number: line[5:] for number, line in enumerate(lines) if line.startswith("# N: ")}
