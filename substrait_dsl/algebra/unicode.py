"""Checks of texts: the strings of protobuf are UTF-8."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.errors import InvalidArgumentError


def is_unicode(text: str) -> bool:
    """Return whether a text has no lone surrogates, which Python has for bytes that are no text."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def require_unicode(text: str, what: str) -> None:
    """Raise `InvalidArgumentError` for a name that has lone surrogates; `what` it names is for the message."""
    if not is_unicode(text):
        raise InvalidArgumentError(f"{what} is Unicode text, got {text!r}, which has a lone surrogate")


def require_name(parts: Sequence[str], what: str) -> None:
    """Raise `InvalidArgumentError` for a name that has no parts, or an empty one, or one that is no Unicode text."""
    if not parts or not all(parts):
        raise InvalidArgumentError(f"{what} needs at least one part and none empty, got {tuple(parts)}")
    for part in parts:
        require_unicode(part, what)
