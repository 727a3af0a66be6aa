"""The names in the package: words that the glossary has a term for do not come back as names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "substrait_dsl"

RETIRED = {
    "told": "message, text, reason",
    "untold": "undeclared, inferred",
    "settle": "validate, resolve",
    "settled": "resolved, bound",
    "space": "execution: an ExecutionContext",
    "workspace": "ExecutionContext",
    "moment": "timestamp, current_time",
    "host": "ExpressionContext, ReferencedRelation",
    "hosts": "ExpressionContext, ReferencedRelation",
    "given": "value, argument, name",
    "kept": "preserved, remaining, stored",
    "whole": "complete, document, plan",
    "apart": "separate, detached, staged",
    "made": "result, converted, or what it is",
    "held": "stored, retained",
    "deferred": "unbound",
    "mine": "left, first, found, or what it is",
    "theirs": "right, other, declared, or what it is",
    "ours": "left, own, or what it is",
}
"""Words that were names once, and what is written for them: see docs/glossary.md."""

OF_THE_FIELD = {
    ("proto.legacy_plan", "host"),  # of a URI
    ("fluent.windows", "WHOLE_PARTITION"),  # a frame
}
"""Names with such a word that mean what everybody means by it."""


PREPOSITIONS = frozenset(
    {
        *("around", "as", "at", "behind", "below", "beside", "beyond", "by", "from", "in", "inside", "on", "only"),
        *("over", "to", "together", "with", "within"),
    }
)
"""What is no name of a function by itself: it does not say what the function does."""

OF_THE_LANGUAGE = {
    ("fluent.calls", "over"),  # SQL's OVER
    ("fluent.windows", "over"),
    ("fluent.relation", "as_"),  # SQL's AS
}
"""Functions that are called so in SQL."""

NO_FIRST_WORDS = frozenset(
    {
        *("above", "at", "behind", "below", "beside", "beyond", "by"),
        *("in", "inside", "of", "only", "over", "within"),
    }
)
"""What no function begins with, as its verb is left out: `lower_modulus`, not `by_quotient`."""

WITHOUT_A_VERB = {
    ("array_functions", "over_arrays"),
    ("catalog.catalog", "by_name"),  # public
}
"""Functions that still begin with such a word."""


def names(path: Path) -> Iterator[str]:
    """The names that a module gives: its own, and those of classes, functions, arguments, variables and attributes."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def words(name: str) -> set[str]:
    """The words of a name, in either spelling: ``told_by`` and ``ToldBy`` have two."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


MODULES = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(PACKAGE.rglob("*.py"))}


@pytest.mark.parametrize("package", sorted({path.parent for path in MODULES.values()}), ids=lambda path: path.name)
def test_no_retired_word_is_a_name(package: Path) -> None:
    found = {
        f"{module}.{name}: write {RETIRED[word]}"
        for module, path in MODULES.items()
        if path.parent == package
        for name in names(path)
        for word in words(name) & RETIRED.keys()
        if (module, name) not in OF_THE_FIELD
    }
    assert found == set()


def functions(path: Path) -> Iterator[str]:
    """The names of the functions and methods of a module; those inside of others stand beside their only use."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    scopes: list[ast.Module | ast.ClassDef] = [
        tree,
        *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)),
    ]
    for scope in scopes:
        yield from (node.name for node in scope.body if isinstance(node, ast.FunctionDef))


def test_no_function_is_called_by_a_preposition_alone() -> None:
    found = {
        (module, name)
        for module, path in MODULES.items()
        for name in functions(path)
        if name.strip("_") in PREPOSITIONS
    }
    assert found - OF_THE_LANGUAGE == set()
    assert OF_THE_LANGUAGE - found == set()


def constructors(path: Path) -> Iterator[str]:
    """The names of the class methods of a module: ``Scope.of_plan(...)`` reads as a noun."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and any(
            ast.unparse(each) == "classmethod" for each in node.decorator_list
        ):
            yield node.name


def test_functions_begin_with_a_verb_and_no_preposition() -> None:
    found = {
        (module, name)
        for module, path in MODULES.items()
        for name in set(functions(path)) - set(constructors(path))
        if name.strip("_").partition("_")[0] in NO_FIRST_WORDS and "_" in name.strip("_")
    }
    assert found - WITHOUT_A_VERB == set()
    assert WITHOUT_A_VERB - found == set()


def test_limits_are_called_max_and_min() -> None:
    """As in ``MAX_ROWS``: one word for each, so that all limits are found by it."""
    found = {(module, name) for module, path in MODULES.items() for name in names(path)}
    assert {each for each in found if each[1].lstrip("_").startswith(("MOST_", "LEAST_"))} == set()


def test_every_exception_is_needed() -> None:
    assert {(module, name) for module, name in OF_THE_FIELD if name not in set(names(MODULES[module]))} == set()


def test_words_are_found_in_either_spelling() -> None:
    assert words("_told_by") == words("ToldBy") == {"told", "by"}
    assert words("MAX_TEXT") == {"max", "text"}
