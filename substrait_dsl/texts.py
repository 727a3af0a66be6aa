"""Texts for messages: printable, short, and with the nearest known name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any


def printable(value: object) -> str:
    """Return a text for a message, on one line, with what is not seen escaped, as texts of plans have it.

    Names and values come from others: a line break in one must not begin a line of a log, nor a control character, or
    one that turns the direction of the text, say something else to a terminal. No encoding has lone surrogates.
    """
    text = value if isinstance(value, str) else str(value)
    if isinstance(text, Listing) or text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


class Listing(str):
    """A text of several lines for a message, each of them `printable`; made by `listing`."""

    __slots__ = ()


def show_lines(value: object, printer: Any, is_cycle: bool) -> None:
    """Show an object as the lines of its text, in IPython and in cells; a class has this as ``_repr_pretty_``."""
    printer.text(str(value))


def listing(head: str, lines: Iterable[str]) -> Listing:
    """Return a text for a message with lines of its own below it."""
    return Listing("\n    ".join(map(printable, (head, *lines))))


def quote(names: Iterable[str], limit: int = 12) -> str:
    """Names for a message: ``"a", "b", "c"``, cut after `limit`."""
    known = list(names)
    text = ", ".join(f'"{name}"' for name in known[:limit])
    return f"{text}, ... ({len(known)} in all)" if len(known) > limit else text or "none"


def constant(text: str) -> str:
    """Return a text as a constant of a program, for hints to paste; in double quotes, unless it has some itself."""
    return repr(text) if '"' in text or "\\" in repr(text) else f'"{text}"'


def table_key(names: Sequence[str]) -> str:
    """Return the key of a table in `tables`, for hints to paste: its name, or a tuple of the parts of one."""
    return constant(names[0]) if len(names) == 1 else f"({', '.join(map(constant, names))})"


def shorten(text: str, limit: int = 200) -> str:
    """Return a text for a message, cut after `limit` characters."""
    return text if len(text) <= limit else f"{text[:limit]}..."


def class_words(value: object) -> str:
    """Return the class of an object in words: "a nested loop join"."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(value).__name__).lower()
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to a misspelt one, as `nearest` finds it, as a hint, or None."""
    near = nearest(name, known)
    return None if near is None else f'did you mean "{near}"?'


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to a misspelt one, or the one that it is a part of, or None.

    No name is better than a far one: people write it. A short name is told from others by one letter only.
    """
    by_lower = {candidate.lower(): candidate for candidate in known}
    lowered = name.lower()
    near = close_matches(lowered, by_lower, 0.75 if len(lowered) > 3 else 0.6)
    if not near and len(lowered) > 2:
        near = [each for each in by_lower if each.startswith(lowered) or each.endswith(f"_{lowered}")]
        near = near if len(near) == 1 else []
    return by_lower[near[0]] if near else None


def close_matches(name: str, known: Iterable[str], cutoff: float) -> list[str]:
    """Return the known name that is most similar to another, if it is similar enough.

    Args:
        name: the other.
        known: the names to choose from.
        cutoff: how similar they have to be, from 0 to 1.

    Returns:
        One name, or none.
    """
    import difflib  # a program without a mistake need not load it

    return difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)


def object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, as `json.loads` asks for one. Raises `ValueError` for a duplicate key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        duplicate = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"an object has the duplicate key {quote([duplicate])}")
    return found
