"""Finding what a dotted path names: the file, and the part of its syntax tree."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import attrs

from tests.coverage_rows import ROOT

Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@attrs.frozen
class Place:
    """Something that a module defines."""

    module: str
    names: tuple[str, ...]
    """The names that lead to it from the module on: ``("Filter", "condition")``."""


@functools.cache
def source_of(module: str) -> str | None:
    """The text of a module; None for what is none."""
    path = file_of(module)
    return None if path is None else path.read_text(encoding="utf-8")


@functools.cache
def file_of(module: str) -> Path | None:
    """The file of a module; None for what is none."""
    base = ROOT.joinpath(*module.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


@functools.cache
def tree_of(module: str) -> ast.Module:
    """The syntax tree of a module, which nobody may change."""
    source = source_of(module)
    assert source is not None, module
    return ast.parse(source)


def place_of(path: str) -> Place | None:
    """What a dotted path names, where it is defined; None if that cannot be told from the text."""
    parts = path.split(".")
    for size in range(len(parts) - 1, 0, -1):  # the module is the longest part of the path that is a file
        module = ".".join(parts[:size])
        if file_of(module) is not None:
            return _defined(module, tuple(parts[size:]))
    return None


def _defined(module: str, names: tuple[str, ...]) -> Place | None:
    """The place of names that a module has, which may be another one that it imports them from."""
    definition = definition_in(tree_of(module).body, names[0])
    if definition is None:
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for alias in node.names:
                    if (alias.asname or alias.name) == names[0]:
                        return _defined(node.module, (alias.name, *names[1:]))
        return None
    if len(names) == 1:
        return Place(module, names)
    if not isinstance(definition, ast.ClassDef):
        return Place(module, names[:1])
    if definition_in(definition.body, names[1]) is not None:
        return Place(module, names[:2])
    for base in definition.bases:  # it may be inherited
        name = base.value if isinstance(base, ast.Subscript) else base
        found = _defined(module, (name.id, *names[1:])) if isinstance(name, ast.Name) else None
        if found is not None:
            return found
    return None


def definition_in(body: list[ast.stmt], name: str) -> Definition | None:
    """What defines a name in a module or a class; the last definition holds."""
    found: Definition | None = None
    for statement in body:
        match statement:
            case ast.FunctionDef() | ast.ClassDef() if statement.name == name:
                found = statement
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                found = statement
            case ast.AnnAssign(target=ast.Name(id=target)) if target == name:
                found = statement
    return found


def definition_of(place: Place, tree: ast.Module) -> tuple[Definition, ast.ClassDef | None]:
    """The definition in a tree of its module, and the class that it stands in."""
    first = definition_in(tree.body, place.names[0])
    assert first is not None, place
    if len(place.names) == 1:
        return first, None
    assert isinstance(first, ast.ClassDef), place
    inner = definition_in(first.body, place.names[1])
    assert inner is not None, place
    return inner, first
