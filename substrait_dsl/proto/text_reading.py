"""How delimited text is read, as messages beside the files: the specification has no fields for it.

Whether the names in headers are checked is an optimization: who does not know it has the same rows. The encoding, and
line breaks in quotes, are an enhancement: others must refuse the read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.proto.private_extensions import choices_in, message_of, read_choice

W = TypeVar("W", bound=str)

_KEY = "delimited_text"
_HEADER, _ENHANCED = "header", ("line_breaks", "encoding")


def with_text_reading(extension: AdvancedExtension | None, text: rl.TextReading) -> AdvancedExtension | None:
    """Return the messages beside files, with those that say how text is read."""
    if text == rl.AS_SPECIFIED:
        return extension
    extended = extension or AdvancedExtension()
    if text.header != rl.AS_SPECIFIED.header:
        extended = attrs.evolve(
            extended, optimizations=(*extended.optimizations, message_of({_KEY: {_HEADER: text.header}}))
        )
    if text.changes_rows:
        changed = {name: getattr(text, name) for name in _ENHANCED}
        changed = {name: value for name, value in changed.items() if value != getattr(rl.AS_SPECIFIED, name)}
        extended = attrs.evolve(extended, enhancement=message_of({_KEY: changed}))
    return extended


def split_text_reading(extension: AdvancedExtension | None) -> tuple[AdvancedExtension | None, rl.TextReading]:
    """Return the messages of others beside files, and how text is read.

    Raises `PlanFormatError` for a choice that cannot be understood.
    """
    text = rl.AS_SPECIFIED
    if extension is None:
        return None, text
    foreign = []
    for message in extension.optimizations:
        choices = _text_choices(message)
        if choices is None or choices.keys() != {_HEADER}:
            foreign.append(message)
        else:
            text = attrs.evolve(text, header=read_choice(_HEADER, choices, _one_of(rl.HEADER_RULES), text.header))
    enhancement = extension.enhancement
    changed = None if enhancement is None else _text_choices(enhancement)
    if changed and changed.keys() <= set(_ENHANCED):  # with others it is of another version, which knows more
        text = attrs.evolve(
            text,
            line_breaks=read_choice("line_breaks", changed, _one_of(rl.LINE_BREAKS), text.line_breaks),
            encoding=read_choice("encoding", changed, _one_of(rl.ENCODINGS), text.encoding),
        )
        enhancement = None
    if text == rl.AS_SPECIFIED:
        return extension, text
    return (AdvancedExtension(tuple(foreign), enhancement) if foreign or enhancement is not None else None), text


def _one_of(words: Iterable[W]) -> Callable[[str], W]:
    """Return a function that returns its argument, and raises `KeyError` for what is none of the words."""
    return {str(word): word for word in words}.__getitem__


def _text_choices(message: AnyMessage) -> Mapping[str, Any] | None:
    choices = choices_in(message)
    found = None if choices is None or choices.keys() != {_KEY} else choices[_KEY]
    return found if isinstance(found, dict) else None
