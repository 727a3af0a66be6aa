"""One module of the plugin uses what mypy does not document: the others get by with its interface for plugins.

That interface has no attribute of mypy's checker but a few, so `mypy --strict` refuses the others, as long as nobody
imports the class of the checker. What it does not refuse is looked for here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from substrait_dsl import mypy_plugin

PLUGIN = Path(mypy_plugin.__file__).parent
INTERNALS = PLUGIN / "mypy_internals.py"
WITH_TESTS_OF_THEIR_OWN = {
    "file_checks": "mypy has no hook for the end of a file: a deferred program calls one",
    "truth_values": "reports at the end of a file belong to the function that a line is in",
}
"""Modules that use more of mypy, for one reason each. Programs of the tests have errors that only they report."""

MODULES = sorted(path for path in set(PLUGIN.glob("*.py")) - {INTERNALS} if path.stem not in WITH_TESTS_OF_THEIR_OWN)

DOCUMENTED = frozenset(("mypy.api", "mypy.plugin", "mypy.nodes", "mypy.patterns", "mypy.types"))
"""The interfaces for programs and for plugins, and the trees and types that the latter hands over."""

LARGE = frozenset(("msg", "options", "errors"))
"""Attributes of the interface, or of the checker behind it, by which everything in mypy can be reached."""


@cache
def own_private_names() -> set[str]:
    """The private names that this library gives to its own objects."""
    names: set[str] = set()
    for path in sorted(set(PLUGIN.parent.rglob("*.py")) - {INTERNALS}):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.ClassDef(body=body):
                    names.update(each.name for each in body if isinstance(each, ast.FunctionDef))
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    names.add(name)
                case ast.Constant(value=str(name)) | ast.AnnAssign(target=ast.Name(id=name)):
                    names.add(name)  # of ``__slots__``, or an attribute of an attrs class
    return names


def uses_of_internals(path: Path) -> Iterator[str]:
    """What a module uses of mypy beyond its documented interface."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "mypy":
                modules = [f"mypy.{alias.name}" for alias in node.names] if module == "mypy" else [module]
                yield from (f"import of {each}" for each in modules if each not in DOCUMENTED)
            case ast.Import(names=names):
                yield from (f"import of {each.name}" for each in names if each.name.partition(".")[0] == "mypy")
            case ast.Attribute(value=ast.Attribute(attr="api"), attr=name) if name in LARGE:
                yield f"api.{name}"
            case ast.Attribute(value=ast.Name(id="api" | "checker"), attr=name) if name in LARGE:
                yield f"api.{name}"
            case ast.Attribute(attr=name) if (
                name.startswith("_") and not name.startswith("__") and name not in own_private_names()
            ):
                yield f"private attribute {name}"
            case ast.Call(func=ast.Name(id="cast")):
                yield "cast"
    yield from re.findall(r"#\s*type: ignore\[(?:assignment|arg-type|attr-defined)\].*mypy.*", text)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.stem))
def test_no_other_module_uses_the_internals_of_mypy(path: Path) -> None:
    assert list(uses_of_internals(path)) == []


def test_every_exemption_is_needed() -> None:
    exempt = [path for path in PLUGIN.glob("*.py") if path.stem in WITH_TESTS_OF_THEIR_OWN]
    assert [path.stem for path in exempt if not list(uses_of_internals(path))] == []


def test_the_rule_finds_what_it_forbids() -> None:
    found = set(uses_of_internals(INTERNALS))
    assert {"import of mypy.checker", "import of mypy.subtypes", "api.msg"} <= found
    assert {"private attribute _watchers", "private attribute _filtered"} <= found
    assert any(each.startswith("# type: ignore[attr-defined]") for each in found)
