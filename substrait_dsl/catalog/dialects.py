"""Dialect files: the capabilities of a system, in the words of the specification.

A list of types, relations or expressions that is missing or empty means all of them; a missing list of functions
declares nothing. ``system_metadata`` and ``metadata``, which map names to a system, are not read.

Specification: ``dialect_schema.yaml`` beside the extension files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from substrait_dsl.algebra.capabilities import ALL, Capabilities, FunctionCapability, Types, Words
from substrait_dsl.algebra.requirements import (
    EXPRESSION_WORDS,
    RELATION_WORDS,
    TYPE_WORDS,
    USER_DEFINED,
    Forms,
)
from substrait_dsl.catalog.entries import Entry, read_yaml
from substrait_dsl.errors import CatalogError, quote, suggestion

FUNCTION_LISTS: Mapping[str, str] = {
    "supported_scalar_functions": "scalar function",
    "supported_aggregate_functions": "aggregate function",
    "supported_window_functions": "window function",
}
"""The keys of a file that list functions."""

_KEYS = (
    "name", "metadata", "dependencies", "supported_types", "supported_relations", "supported_expressions",
    *FUNCTION_LISTS, "supported_execution_behavior",
)  # fmt: skip
_FUNCTION_KEYS = ("source", "name", "metadata", "system_metadata", "required_options", "supported_impls", "variadic")


def read_dialect(text: str, source: str) -> Capabilities:
    """Read a whole dialect file.

    Args:
        text: the YAML text.
        source: what to call it in messages, and the system, if the file does not: a file name.

    Raises:
        CatalogError: for whatever breaks the rules of dialect files, naming the place.
    """
    file = Entry.of(read_yaml(text, source), source)
    file.require_only(*_KEYS)
    urns = file.mapping("dependencies")
    types = list(_items(file, "supported_types", "type"))
    standard = [(word, entry) for word, entry in types if word != USER_DEFINED]
    behaviour = file.entry("supported_execution_behavior")
    behaviour.require_only("supported_variable_evaluation_mode")
    return Capabilities(
        file.text("name") or source,
        relations=_words(file, "supported_relations", "relation", RELATION_WORDS),
        expressions=_words(file, "supported_expressions", "expression", EXPRESSION_WORDS),
        types=_limits(standard) if types else ALL,
        user_defined_types=[_user_defined(entry, urns) for word, entry in types if word == USER_DEFINED]
        if types
        else None,
        functions={
            kind: [_function(entry, urns) for entry in file.entries(key)]
            for key, kind in FUNCTION_LISTS.items()
            if key in file.values
        },
        evaluation_modes=_read_words(behaviour, "supported_variable_evaluation_mode", ("PER_PLAN", "PER_RECORD"))
        or None,
    )


def _items(file: Entry, key: str, what: str) -> Iterator[tuple[str, Entry]]:
    """Yield the items of a list, each of them a word, or a mapping that says the word and what holds for it."""
    value: Any = file.values.get(key) or []
    if not isinstance(value, list):
        raise CatalogError(f"{file.where}: {key} must be a sequence, got {value!r}")
    for number, item in enumerate(value, 1):
        where = f"{file.where}, {key} {number}"
        entry = Entry({what: item}, where) if isinstance(item, str) else Entry.of(item, where)
        yield entry.require_text(what), entry


def _require_word(entry: Entry, what: str, word: str, known: Mapping[str, object]) -> None:
    if word not in known:
        raise CatalogError(f'{entry.where}: there is no {what} "{word}"', hint=suggestion(word, known))


def _require_new(entry: Entry, what: str, word: str, found: Mapping[str, object]) -> None:
    """Refuse a word that stands in the list already: what one of both says would be lost."""
    if word in found:
        raise CatalogError(f'{entry.where}: the {what} "{word}" is there already', hint="write one item for it")


def _words(file: Entry, key: str, what: str, known: Mapping[str, Forms | None]) -> Words:
    found: dict[str, frozenset[str] | None] = {}
    for word, entry in _items(file, key, what):
        _require_word(entry, what, word, known)
        _require_new(entry, what, word, found)
        forms = known[word]
        entry.require_only(what, "metadata", *([forms.key] if forms else []))
        found[word] = frozenset(_read_words(entry, forms.key, forms.words)) or None if forms else None
    return found or ALL


def _read_words(entry: Entry, key: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a list; none if it is not there."""
    if not entry.values.get(key):
        return ()
    words = entry.words(key)
    for word in words:
        if known and word not in known:
            raise CatalogError(
                f"{entry.where}: {key} has {word!r}; expected {quote(known, limit=20)}",
                hint=suggestion(word, known),
            )
    return words


def _limits(types: list[tuple[str, Entry]]) -> Types:
    """Return the largest number of each kind in each type."""
    found: dict[str, dict[str, int]] = {}
    for word, entry in types:
        _require_word(entry, "type", word, {**TYPE_WORDS, USER_DEFINED: ()})
        _require_new(entry, "type", word, found)
        entry.require_only("type", "metadata", "system_metadata", *(f"max_{name}" for name in TYPE_WORDS[word]))
        limits = {name: entry.count(f"max_{name}") for name in TYPE_WORDS[word]}
        found[word] = {name: limit for name, limit in limits.items() if limit is not None}
    return found


def _user_defined(entry: Entry, urns: Mapping[str, str]) -> tuple[str, str]:
    entry.require_only("type", "source", "name", "metadata", "system_metadata")
    return _urn(entry, urns), entry.require_text("name")


def _urn(entry: Entry, urns: Mapping[str, str]) -> str:
    alias = entry.require_text("source")
    if alias not in urns:
        raise CatalogError(
            f'{entry.where}: the source "{alias}" is none of the dependencies', hint=suggestion(alias, urns)
        )
    return urns[alias]


def _function(entry: Entry, urns: Mapping[str, str]) -> FunctionCapability:
    entry.require_only(*_FUNCTION_KEYS)
    options = entry.entry("required_options").values
    signatures = entry.words("supported_impls")
    variadic = None
    if "variadic" in entry.values:
        bounds = entry.entry("variadic")
        bounds.require_only("min", "max")
        least, most = bounds.count("min") or 0, bounds.count("max")
        if most is not None and most < least:
            raise CatalogError(f"{bounds.where}: max must not be less than min, got {most} and {least}")
        variadic = (least, most)
    return FunctionCapability(
        _urn(entry, urns),
        entry.require_text("name"),
        signatures=signatures,
        options={name: _values(entry, name, value) for name, value in options.items()},
        variadic=variadic,
    )


def _values(entry: Entry, name: str, value: object) -> tuple[str, ...]:
    """Return the values of an option: one word or several."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not values or not all(isinstance(each, str) for each in values):
        raise CatalogError(f"{entry.where}: the option {name} has a word or several, got {value!r}")
    return tuple(values)
