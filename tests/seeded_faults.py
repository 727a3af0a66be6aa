r"""Faults that are seeded in the modules of two teams, ``typing/team``: each a small edit of correct code.

They are written in ``typing/team/seeds``, a file for each module: a line ``old => new`` for each fault, in which ``\n``
stands for the end of a line, under the kind of fault in brackets. The modules and the faults were written from the
documentation, without a look at the mypy plugin or its tests.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from attrs import frozen

TEAM = Path(__file__).parent / "typing" / "team"
PACKAGES = ("grid", "care")
"""The packages of the teams: an electricity grid, and a hospital with its carrier."""

PACKAGE_OF = {path.stem: package for package in PACKAGES for path in sorted((TEAM / package).glob("[!_]*.py"))}
"""The package of each module."""

_ENTRY_POINT = "build"
"""The function of each module that builds all its pipelines."""


@frozen
class Fault:
    """A fault in a module of the team.

    Args:
        module: the name of the module.
        line: the line of the file of seeds that says it.
        kind: what kind of fault it is.
        old: a piece of the module, which is there once.
        new: what is written in its place.
    """

    module: str
    line: int
    kind: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.module}.txt:{self.line} [{self.kind}] {self.old!r} => {self.new!r}"


@frozen
class Copy:
    """A copy of a module with faults, each in another function."""

    package: str
    name: str
    text: str
    places: Sequence[tuple[Fault, range]]
    """The faults, with the lines in which mypy has to report them."""


def read_text(module: str) -> str:
    """Return the text of a module of the team."""
    return (TEAM / PACKAGE_OF[module] / f"{module}.py").read_text(encoding="utf-8")


def read_faults(module: str) -> list[Fault]:
    """Return the faults of a module."""
    path, kind = TEAM / "seeds" / f"{module}.txt", ""
    found: list[Fault] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), 1):
        if " =>" in line:
            old, _, new = line.replace("\\n", "\n").partition(" =>")
            found.append(Fault(module, number, kind, old, new.removeprefix(" ")))
        else:
            kind = line.strip("[]")
    return found


def build(module: str, text: str) -> None:
    """Build the pipelines of a text of a module."""
    if str(TEAM) not in sys.path:
        sys.path.insert(0, str(TEAM))
    name = f"{PACKAGE_OF[module]}.changed"
    sys.modules[name] = changed = ModuleType(name)
    try:
        exec(compile(text, f"{module}.py", "exec"), vars(changed))
        if module != "tables":
            getattr(changed, _ENTRY_POINT)()
    finally:
        del sys.modules[name]


def make_copies(module: str) -> Iterator[Copy]:
    """Make copies of a module with its faults: in each copy at most one for each function.

    A fault outside of functions, or in the function that builds the pipelines, is alone in its copy, and may be
    reported anywhere in it. Faults of functions that others call are in other copies than those of the others.
    """
    text = read_text(module)
    tree = ast.parse(text)
    definitions = set(_find_functions(tree.body))
    called = set(_find_called(tree))
    layers: defaultdict[tuple[bool, int], dict[int, Fault]] = defaultdict(dict)
    counts: defaultdict[tuple[int, int], int] = defaultdict(int)
    alone: list[Fault] = []
    for fault in read_faults(module):
        start = text.index(fault.old)
        first, last = (1 + text.count("\n", 0, place) for place in (start, start + len(fault.old)))
        around = next((each for each in definitions if each[0] <= first and last <= each[1]), None)
        if around is None:
            alone.append(fault)
        else:
            layers[around in called, counts[around]][start] = fault
            counts[around] += 1
    for number, faults in enumerate(layers.values()):
        yield _make_copy(PACKAGE_OF[module], f"{module}_{number}", text, faults, definitions)
    for number, fault in enumerate(alone, len(layers)):
        changed = text.replace(fault.old, fault.new)
        yield Copy(PACKAGE_OF[module], f"{module}_{number}", changed, [(fault, range(1, changed.count("\n") + 2))])


def _find_functions(statements: Sequence[ast.stmt]) -> Iterator[tuple[int, int]]:
    """Return the first and the last line of each function and method, but of the one that builds the pipelines."""
    for node in statements:
        match node:
            case ast.FunctionDef(name=name) if name != _ENTRY_POINT:
                yield node.lineno, node.end_lineno or node.lineno
            case ast.ClassDef(body=body):
                yield from _find_functions(body)


def _find_called(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Return the first and the last line of each function and method that others name."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name != _ENTRY_POINT]
    for function in functions:
        others = (part for other in functions if other is not function for part in ast.walk(other))
        if any(getattr(part, "id", getattr(part, "attr", None)) == function.name for part in others):
            yield function.lineno, function.end_lineno or function.lineno


def _make_copy(package: str, name: str, text: str, faults: dict[int, Fault], definitions: set[tuple[int, int]]) -> Copy:
    """Make a copy with some faults, by the places where they begin."""
    changed, places = text, []
    for start, fault in sorted(faults.items(), reverse=True):
        changed = changed[:start] + fault.new + changed[start + len(fault.old) :]
    added = 0
    for start, fault in sorted(faults.items()):
        line = 1 + text.count("\n", 0, start)
        first, last = next((each[0], each[1]) for each in definitions if each[0] <= line <= each[1])
        lines = fault.new.count("\n") - fault.old.count("\n")
        places.append((fault, range(first + added, last + added + lines + 1)))
        added += lines
    return Copy(package, name, changed, places)
