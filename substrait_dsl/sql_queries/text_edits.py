"""Replacements of parts of a query's text, by the places of its tokens: the rest stays as it is written."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.installation import install_line


@attrs.frozen
class Token:
    """A word, a constant, a name in quotes or a sign of a query."""

    text: str
    """In capitals; a constant or a name in quotes as it is written."""
    start: int
    end: int
    """Behind its last character."""
    depth: int
    """How many parentheses are open around it; a parenthesis stands outside of itself."""


def tokenize(query: str) -> list[Token]:
    """Return the tokens of a query, without comments; none for a text that has no tokens of SQL."""
    try:
        import sqlglot
    except ImportError as error:
        raise UnsupportedError(
            "the query is rewritten by sqlglot, which is not installed", hint=install_line("sql")
        ) from error
    try:
        found = sqlglot.tokenize(query, read="duckdb")
    except sqlglot.errors.SqlglotError:
        return []
    tokens: list[Token] = []
    depth = 0
    for each in found:
        written = query[each.start : each.end + 1]
        depth -= written == ")"
        is_word = written[:1].isalpha() or not written[:1].isalnum()
        text = " ".join(written.upper().split()) if is_word and written[:1] not in "'\"" else written
        tokens.append(Token(text, each.start, each.end + 1, depth))
        depth += written == "("
    return tokens


def find_close(tokens: Sequence[Token], opening: int) -> int | None:
    """Return the index of the parenthesis that closes one; None if none does."""
    depth = tokens[opening].depth
    closing = (at for at in range(opening + 1, len(tokens)) if tokens[at].text == ")" and tokens[at].depth == depth)
    return next(closing, None)


def split_at_commas(tokens: Sequence[Token], start: int, end: int) -> list[tuple[int, int]]:
    """Return the parts between commas, each by the indexes of its first token and of the one behind its last."""
    depth = min((token.depth for token in tokens[start:end]), default=0)
    commas = [at for at in range(start, end) if tokens[at].text == "," and tokens[at].depth == depth]
    return [*zip([start, *(at + 1 for at in commas)], [*commas, end], strict=True)]


def text_of(query: str, tokens: Sequence[Token], start: int, end: int) -> str:
    """Return the text of tokens, with what stands between them."""
    return query[tokens[start].start : tokens[end - 1].end]


def apply(query: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Return a text with parts replaced: each from a place to another one, by a text."""
    for start, end, text in sorted(edits, reverse=True):
        query = query[:start] + text + query[end:]
    return query
