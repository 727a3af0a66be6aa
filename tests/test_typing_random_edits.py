"""Random sequences of edits of the project under ``typing/cached``: with any cache mypy says what it says without one.

Each step takes some of the edits of `tests.test_typing_caches`, and some more, in any combination in which they apply.
What is broken and what is mended by a step, nobody has thought out before.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.projects import Project
from tests.test_typing_caches import EDITS, FILES, PROJECT, Change, Daemon

STEPS = 5
"""How many states of the project there are in a sequence; one more costs each way of checking a run of mypy."""

MORE: tuple[Change, ...] = (
    (
        "schemas.py",
        "class Archive(sd.Schema):\n    key: sd.I64",
        "class Archive(sd.Schema):\n    key: sd.Nullable[sd.I64]",
    ),
    ("schemas.py", "class Brief(sd.Schema):\n    key: sd.I64", "class Brief(sd.Schema):\n    key: sd.I32"),
    ("base.py", "o.price > 100", 'o.price > "100"'),
    ("base.py", "f.sum(o.price), count", "f.max(o.price), count"),
    ("base.py", 'DAY = sd.col("day")', 'DAY = sd.col("date")'),
    ("base.py", 'self.notes = orders.select("key", "note")', 'self.notes = orders.select("key")'),
)

CHANGES = sorted({*MORE, *(change for edit in EDITS for change in edit.changes if edit.name != "no Python")})
"""Every change that a step may take."""


def states(seed: str) -> list[dict[str, str]]:
    """The texts of the project in each state of a sequence; the first one is as it is, the last one, too."""
    random = Random(seed)
    original = {name: (PROJECT / name).read_text(encoding="utf-8") for name in FILES}
    found = [original]
    for _ in range(STEPS - 2):
        texts = dict(original)
        for file, old, new in random.sample(CHANGES, random.randint(1, 5)):
            if texts[file].count(old) == 1:
                texts[file] = texts[file].replace(old, new)
        found.append(texts)
    return [*found, original]


def in_parallel(project: Project) -> list[str]:
    """What mypy says with two workers; it gives up if a busy machine does not start them within seconds."""
    for _ in range(5):
        try:
            return project.checked("--cache-dir", "cache", "--num-workers", "2", *FILES)
        except AssertionError as error:
            if "Failed to establish connection with worker" not in str(error):
                raise
    raise TimeoutError("mypy could not start its workers")


@pytest.mark.parametrize("seed", ["a sequence"])
def test_random_edits_are_seen_with_any_cache(seed: str, library_cache: Path, tmp_path: Path) -> None:
    projects = {name: Project(tmp_path / name) for name in ("cold", "warm", "json", "parallel")}
    for name in ("warm", "json", "parallel"):
        shutil.copytree(library_cache, projects[name].path / "cache")
    daemon = Daemon(tmp_path / "daemon")
    daemon.project.write(states(seed)[0])
    daemon.run("start", "--timeout", "600")
    ways: dict[str, Callable[[], list[str]]] = {
        "warm": lambda: projects["warm"].checked("--cache-dir", "cache", *FILES),
        "json": lambda: projects["json"].checked(
            "--cache-dir", "cache", "--no-fixed-format-cache", "--no-sqlite-cache", *FILES
        ),
        "parallel": lambda: in_parallel(projects["parallel"]),
        "daemon": lambda: daemon.run("check", *FILES),
    }
    said: list[list[str]] = []
    try:
        for step, texts in enumerate(states(seed)):
            for project in (*projects.values(), daemon.project):
                project.write(texts)
            shutil.rmtree(projects["cold"].path / "cache", ignore_errors=True)
            shutil.copytree(library_cache, projects["cold"].path / "cache")
            said.append(projects["cold"].checked("--cache-dir", "cache", *FILES))
            for name, way in ways.items():
                assert (step, name, way()) == (step, name, said[-1])
    finally:
        daemon.run("stop")
    assert said[0] == said[-1] == []
    assert sum(map(bool, said)) >= STEPS // 2, "the sequence breaks little"
