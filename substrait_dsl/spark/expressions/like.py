"""LIKE with a constant pattern, in linear time.

Spark translates a pattern to a regular expression with ``.*`` for each ``%``, and Java backtracks through all of them
where the end does not match: with five, a text of 150 characters takes minutes. But a part between two ``%`` may be
matched at its first occurrence without backtracking: what follows finds at least as much there as after any later one.

Specification: ``functions_string.yaml``, ``like``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from substrait_dsl.spark.expressions.literals import text_to_sql
from substrait_dsl.spark.session.engines import current_engine

_QUOTED = ("\\Q", "\\E")
"""The delimiters of a literal part of a Java pattern."""


def may_go_back(pattern: str) -> bool:
    """Whether Spark's regular expression for a pattern may backtrack.

    With one ``%`` it does not, and a text between two is searched for as a substring.
    """
    if current_engine().has_linear_patterns:
        return False
    return pattern.count("%") > 1 and re.fullmatch("%[^%_]*%", pattern) is None


def like_to_sql(text: str, pattern: str, folded: Callable[[str], str] | None) -> str:
    """Write LIKE with a constant pattern as a match of a regular expression that never goes back.

    Args:
        text: the SQL text of what is matched; if case is ignored, folded.
        pattern: the pattern: ``%`` is any text, ``_`` any character.
        folded: gives the SQL text of a text, given as such, in which case is ignored; None: it is not.

    Returns:
        SQL text, which is NULL where the text is.
    """
    # Several % beside each other are one, also with _ between them, which is then said before it.
    pattern = re.sub("[%_]*%[%_]*", lambda found: "_" * found[0].count("_") + "%", pattern)
    first, *others = pattern.split("%")
    *between, last = others
    parts = [r"(?s)\A", *_part_to_regex(first)]
    for part in between:
        parts += ["(?>.*?", *_part_to_regex(part), ")"]
    parts += [".*", *_part_to_regex(last), r"\z"]
    return f"({text} RLIKE {_concatenate(parts, folded)})"


class _Literal(str):
    """Characters of a pattern that stand for themselves."""

    __slots__ = ()


def _part_to_regex(part: str) -> list[str]:
    """A part of a pattern without ``%``, as parts of a regular expression."""
    pieces = re.findall("_+|[^_]+", part)
    return ["." * len(piece) if piece[0] == "_" else _Literal(piece) for piece in pieces]


def _concatenate(parts: list[str], folded: Callable[[str], str] | None) -> str:
    """The parts of a regular expression as one constant, which Spark folds if case is ignored."""
    if folded is None:
        return text_to_sql("".join(_quote_regex(part) if isinstance(part, _Literal) else part for part in parts))
    begin, end = map(text_to_sql, _QUOTED)
    texts: list[str] = []
    for part in parts:
        if isinstance(part, _Literal):
            # A capital E, which alone could end what is quoted, is a small one when folded.
            texts += [begin, folded(text_to_sql(part)), end]
        else:
            texts.append(text_to_sql(part))
    return f"concat({', '.join(texts)})"


def _quote_regex(text: str) -> str:
    begin, end = _QUOTED
    return begin + text.replace(end, f"{end}\\{end}{begin}") + end
