"""Hints: what to write here for what people write elsewhere, and what to do about an error that does not say it.

The words stand in one table by receiver and word, in the files `names.toml` and `arguments.toml`. It is loaded when a
hint is first asked for, which is when an error is shown.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from substrait_dsl.errors import AmbiguousFieldError, InvalidChoiceError, SignatureError, SubstraitDslError

FILES = ("names.toml", "arguments.toml")


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    """What to write for the words of others, by receiver; ``sort()`` is the receiver of the arguments of `sort`."""
    import tomllib  # a program without a mistake need not load it
    from pathlib import Path

    sections: dict[str, Mapping[str, str]] = {}
    arguments: dict[str, Mapping[str, str]] = {}
    for file in FILES:
        read = tomllib.loads(Path(__file__).with_name(file).read_text("utf-8"))
        arguments.update(read.pop("arguments", {}))
        sections.update(read)
    sections["absent"] = dict.fromkeys(sections["absent"]["functions"], "")
    phrases = sections["phrases"]
    table = {receiver: _index_by_word(advice, phrases) for receiver, advice in sections.items()}
    for verbs, advice in arguments.items():
        for verb in verbs.split(", "):
            table[f"{verb}()"] = _index_by_word(advice, {**phrases, "verb": verb})
    return table


def _index_by_word(advice: Mapping[str, str], phrases: Mapping[str, str]) -> dict[str, str]:
    return {word: _fill_phrases(text, phrases) for words, text in advice.items() for word in words.split(", ")}


def _fill_phrases(text: str, phrases: Mapping[str, object]) -> str:
    from string import Template

    return Template(text).safe_substitute(phrases)


def receivers() -> tuple[str, ...]:
    """The receivers that there are words for."""
    return tuple(_table())


def words(receiver: str) -> Mapping[str, str]:
    """What to write for the words of others on a receiver; none for one that the table does not have."""
    return _table().get(receiver, {})


def advice(receiver: str, word: str) -> str | None:
    """What to write for a word of others on a receiver, if the table has it."""
    return words(receiver).get(word)


def phrase(name: str) -> str:
    """A phrase that several hints have in common."""
    return _table()["phrases"][name]


def hint_for(error: SubstraitDslError) -> str | None:
    """What to do about an error, by its fields; None if the table does not say it."""
    match error:
        case SignatureError(function=str(verb)):
            return _argument_hint(error, words(f"{verb}()"))
        case InvalidChoiceError(receiver=str(receiver), word=str(word)):
            found = advice(receiver, word)
            return f"write {found}" if found else None
        case SubstraitDslError(remedy=str(remedy)):
            return _remedy(error, remedy)
    return None


def _argument_hint(error: SignatureError, known: Mapping[str, str]) -> str | None:
    """What to write for an argument that a call has too many, or lacks."""
    if error.unknown:
        found = next((known[each] for each in error.unknown if each in known), known.get("*"))
        return f"write {found}" if found else None
    if error.surplus is not None:
        return f"write {known['']}" if "" in known else None
    return next((f"give {known[f'+{each}']}" for each in error.missing if f"+{each}" in known), None)


def _remedy(error: SubstraitDslError, remedy: str) -> str | None:
    text = advice("errors", remedy)
    if text is None:
        return None
    fields = {**vars(error), **(error.details or {})}
    if isinstance(error, AmbiguousFieldError):
        fields["columns"] = " or ".join(f"col({position})" for position in error.positions)
    return _fill_phrases(text, fields)
