"""With any of mypy's caches, and in its daemon, the plugin says what it says without a cache.

The project under ``typing/cached`` is edited, one edit after the other, and checked after each: what mypy says must be
what it says of the same text when it sees it for the first time. Every edit either breaks something or mends it all, so
that nobody who remembers too much can be right.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs
import pytest

from tests.projects import SETTINGS, Project

PROJECT = Path(__file__).parent / "typing" / "cached"
FILES = sorted(file.name for file in PROJECT.glob("*.py"))

Change = tuple[str, str, str]
"""A file, a text in it, and what stands there instead."""


@attrs.frozen
class Edit:
    """A state of the project: changes of the right one, and what mypy must object to, by file and by words."""

    name: str
    changes: Sequence[Change] = ()
    said: Sequence[tuple[str, str]] = ()

    def texts(self) -> dict[str, str]:
        texts = {name: (PROJECT / name).read_text(encoding="utf-8") for name in FILES}
        for file, old, new in self.changes:
            assert texts[file].count(old) == 1, f"{file} has not one {old!r}"
            texts[file] = texts[file].replace(old, new)
        return texts


HOME = "    home: sd.Struct[Address]\n"
NOTE = "    note: sd.Nullable[sd.String]\n"
DECLARED = (
    "base.py",
    "load() -> sd.Relation[Orders]:\n    return orders",
    "load() -> sd.Relation[Archive]:\n    return archive",
)

EDITS = (
    Edit("as it is"),
    Edit(
        "a column less",
        [("schemas.py", NOTE + HOME, HOME)],
        [
            ("base.py", 'select: there is no column "note"'),
            ("pipelines.py", 'select: there is no column "note"'),
            ("pipelines.py", 'drop: there is no column "note"'),
        ],
    ),
    Edit(
        "a column more",
        [("schemas.py", HOME, HOME + "    more: sd.I8\n")],
        [("pipelines.py", "must have the same number of columns")],
    ),
    Edit(
        "another type",
        [("schemas.py", "price: Money", "price: sd.FP64")],
        [("base.py", "price is fp64, declared decimal<15,2>"), ("nested.py", "fp64")],
    ),
    Edit("right again, after types"),
    Edit(
        "nullable",
        [("schemas.py", "price: Money", "price: sd.Nullable[Money]")],
        [("base.py", "price is nullable (decimal<15,2>?), declared required")],
    ),
    Edit(
        "another order",
        [("schemas.py", "    price: Money\n    day: sd.Date\n", "    day: sd.Date\n    price: Money\n")],
        [("pipelines.py", "the columns of input 2 have the names of input 1 in another order")],
    ),
    Edit(
        "another name",
        [("schemas.py", "    day: sd.Date\n" + NOTE + HOME, "    date: sd.Date\n" + NOTE + HOME)],
        [("base.py", 'group_by: there is no column "day"'), ("pipelines.py", 'select: there is no column "day"')],
    ),
    Edit(
        "another type in the base",
        [("schemas.py", "class Keyed(sd.Schema):\n    key: sd.I64", "class Keyed(sd.Schema):\n    key: sd.String")],
        [("base.py", "key is string, declared i64"), ("pipelines.py", 'expected "HasKey"')],
    ),
    Edit(
        "another base",
        [("schemas.py", "class Orders(Keyed)", "class Orders(sd.Schema)")],
        [("base.py", 'select: there is no column "key"'), ("pipelines.py", 'select: there is no column "key"')],
    ),
    Edit("right again, after bases"),
    Edit(
        "a base without columns",
        [("schemas.py", "class Keyed(sd.Schema)", "class Keyed")],
        [("base.py", 'Value of type variable "S2" of "read_named" cannot be "Orders"')],
    ),
    Edit(
        "another name inside a struct",
        [("addresses.py", "city: sd.String", "town: sd.String")],
        [("nested.py", 'there is no field "city"')],
    ),
    Edit(
        "another type under the same name",
        [("addresses.py", "Money = sd.Decimal[L[15], L[2]]", "Money = sd.String")],
        [("base.py", "price is string, declared decimal<15,2>"), ("nested.py", "string")],
    ),
    Edit(
        "another inferred result",
        [("base.py", '.select("key", "price", "note")', '.select("day", "price")')],
        [("pipelines.py", 'filter: there is no column "note"'), ("pipelines.py", 'join: there is no column "key"')],
    ),
    Edit(
        "another result of a result",
        [("pipelines.py", 'o.price < 10).select("key")', 'o.price < 10).select("day")')],
        [("reports.py", 'there is no column "key"; there is "day"')],
    ),
    Edit(
        "another value of a variable",
        [("base.py", "RATE = sd.lit(2, sd.I64)", "RATE = sd.lit(2, sd.FP64)")],
        [("pipelines.py", "multiply(i64, fp64)")],
    ),
    Edit(
        "another value of a list",
        [("pipelines.py", 'KEYS = ["day", "note"]', 'KEYS = ["day", "nope"]')],
        [("pipelines.py", 'select: there is no column "nope"')],
    ),
    Edit("another declared result", [DECLARED]),
    Edit(
        "a column less of what is declared now",
        [
            DECLARED,
            (
                "schemas.py",
                "    day: sd.Date\n" + NOTE + "    home: sd.Nullable",
                "    day: sd.Date\n    home: sd.Nullable",
            ),
        ],
        [("pipelines.py", 'select: there is no column "note"')],
    ),
    Edit(
        "half written",
        [("schemas.py", "    day: sd.Date\n" + NOTE + HOME, "    day: Dat\n" + NOTE + HOME)],
        [("schemas.py", 'Name "Dat" is not defined')],
    ),
    Edit("no Python", [("schemas.py", "class Orders(Keyed):", "class Orders(Keyed:")], [("schemas.py", "[syntax]")]),
    Edit("right again, at the end"),
)


Cold = Callable[[Edit], list[str]]


@pytest.fixture(scope="module")
def cold(library_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Cold:
    """What mypy says of a state that it sees for the first time."""
    project = Project(tmp_path_factory.mktemp("cold") / "project")
    said: dict[str, list[str]] = {}

    def seen(edit: Edit) -> list[str]:
        if edit.name not in said:
            project.write(edit.texts())
            shutil.rmtree(project.path / "cache", ignore_errors=True)
            shutil.copytree(library_cache, project.path / "cache")
            said[edit.name] = project.checked("--cache-dir", "cache", *FILES)
        return said[edit.name]

    return seen


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: str(edit.name))
def test_edits_break_and_mend(edit: Edit, cold: Cold) -> None:
    said = cold(edit)
    assert bool(said) == bool(edit.said), said
    for file, words in edit.said:
        assert any(line.startswith(f"{file}:") and words in line for line in said), (words, said)


def test_the_first_sight_of_a_module_is_that_without_any_cache(cold: Cold, tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    edit = EDITS[1]
    project.write(edit.texts())
    assert project.checked("--no-incremental", *FILES) == cold(edit)


@pytest.mark.parametrize(
    ("options", "edits"),
    [
        ([], EDITS),
        (["--no-fixed-format-cache", "--no-sqlite-cache"], EDITS[::2]),
        (["--num-workers", "2"], EDITS[1::2]),
    ],
    ids=["as by default", "files of JSON", "in parallel"],
)
def test_a_warm_cache_changes_nothing(
    options: Sequence[str], edits: Sequence[Edit], library_cache: Path, cold: Cold, tmp_path: Path
) -> None:
    project = Project(tmp_path / "project", library_cache)
    for edit in edits:
        project.write(edit.texts())
        assert (edit.name, project.checked(*options, *FILES)) == (edit.name, cold(edit))


class Daemon:
    """A project that mypy's daemon checks."""

    def __init__(self, path: Path) -> None:
        self.project = Project(path)

    def run(self, *arguments: str) -> list[str]:
        return self.project.checked("--status-file", "daemon.json", *arguments, program="mypy.dmypy")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A project whose daemon ends with the test, or soon after it."""
    daemon = Daemon(tmp_path / "project")
    yield daemon
    daemon.run("stop")


def test_the_daemon_says_the_same(daemon: Daemon, cold: Cold) -> None:
    daemon.project.write(EDITS[0].texts())
    daemon.run("start", "--timeout", "600")
    assert daemon.run("check", *FILES) == cold(EDITS[0])
    for edit in EDITS[1:]:
        daemon.project.write(edit.texts())
        assert (edit.name, daemon.run("recheck")) == (edit.name, cold(edit))


def test_the_daemon_says_the_same_when_it_starts_from_a_cache(daemon: Daemon, cold: Cold) -> None:
    daemon.project.write(EDITS[0].texts())
    assert daemon.project.checked("--cache-fine-grained", *FILES) == cold(EDITS[0])
    for edit in EDITS[1::3]:
        daemon.project.write(edit.texts())
        daemon.run("start", "--timeout", "600", "--", "--use-fine-grained-cache")
        assert (edit.name, daemon.run("check", *FILES)) == (edit.name, cold(edit))
        daemon.run("stop")


CHOSEN = {
    "mypy.ini": f"""{SETTINGS}
[mypy-asked]
enable_error_code = substrait-dynamic
disable_error_code = substrait-unknown-field
""",
    "asked.py": """
import substrait_dsl as sd

orders = sd.read_named("orders", {"key": sd.I64})
orders.select("nope")


def some(names: list[str]) -> None:
    orders.select(*names)
""",
}
"""A project that sets codes as the page about types has it: mypy knows them only when it has loaded the plugin."""


def chosen(said: Sequence[str]) -> list[str]:
    return [line.partition(" ")[0] + line[line.rindex("[") :] for line in said]


def test_codes_set_by_module_reach_the_workers(library_cache: Path, tmp_path: Path) -> None:
    project = Project(tmp_path / "project", library_cache)
    project.write(CHOSEN)
    assert chosen(project.checked("--num-workers", "2", "asked.py")) == ["asked.py:9:[substrait-dynamic]"]


def test_codes_set_by_module_reach_a_daemon_that_run_starts(daemon: Daemon) -> None:
    daemon.project.write(CHOSEN)
    for _ in ("that starts", "that runs"):
        said = daemon.run("run", "--timeout", "600", "--", "asked.py")
        assert chosen(said) == ["asked.py:9:[substrait-dynamic]"]
