"""The glossary: one word for one thing, and the specification's names are those of its messages."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "glossary.md").read_text(encoding="utf-8")
HEADER = "| term | means | specification | Spark | SQL | replaces |"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and line != HEADER and not line.startswith("|---")
]


def messages() -> dict[str, set[str]]:
    """Every message and enumeration of the specification, by its name without a package, with its fields."""
    found: dict[str, set[str]] = {}

    def add(prefix: str, types: dict[str, object]) -> None:
        for name, each in types.items():
            found[prefix + name] = {*getattr(each, "fields_by_name", ())}
            found.update((f"{prefix}{name}.{enum}", set()) for enum in getattr(each, "enum_types_by_name", ()))
            add(f"{prefix}{name}.", dict(getattr(each, "nested_types_by_name", {})))

    for module in ("algebra_pb2", "plan_pb2", "type_pb2", "extensions.extensions_pb2"):
        file = import_module(f"substrait.{module}").DESCRIPTOR
        add("", dict(file.message_types_by_name))
        found.update((name, set()) for name in file.enum_types_by_name)
    return found


def test_tables_have_six_columns_and_terms_with_a_meaning() -> None:
    assert [row for row in ROWS if len(row) != 6 or not row[0] or not row[1]] == []
    assert PAGE.count(HEADER) == len(re.findall(r"(?m)^## ", PAGE))


def test_a_term_stands_once() -> None:
    """A word with two meanings says which one in brackets."""
    terms = [term for row in ROWS for term in re.split(r", (?![^(]*\))", row[0])]
    assert len(terms) > 80
    assert sorted({term for term in terms if terms.count(term) > 1}) == []


def test_names_of_the_specification_are_those_of_messages() -> None:
    known = messages()
    missing = []
    for row in ROWS:
        for name in re.findall(r"`([\w.]+)`", row[2]):
            message, _, field = name.rpartition(".")
            if name not in known and field not in known.get(message, ()):
                missing.append(name)
    assert missing == []


@pytest.mark.parametrize(
    "word", ["told", "kept", "given", "settled", "space", "host", "moment", "kind", "whole", "apart"]
)
def test_a_home_made_word_has_its_term(word: str) -> None:
    assert any(re.search(rf"\b{word}\b", row[5]) for row in ROWS)
