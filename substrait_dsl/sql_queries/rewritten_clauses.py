"""Clauses of which DataFusion has no Substrait, or another name, written as others that give the same rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from substrait_dsl.sql_queries.text_edits import Token, apply, find_close, split_at_commas, text_of, tokenize

Edit = tuple[int, int, str]

_WORDS = re.compile(r"\b(?:distinct\s+on|fetch|filter|sign|mod)\b", re.IGNORECASE)


def rewrite_clauses(query: str) -> str:
    """Return a query with clauses that DataFusion writes to Substrait.

    ``DISTINCT ON`` becomes ``QUALIFY`` of a row number, ``FETCH FIRST`` becomes ``LIMIT``, ``FILTER`` of a window
    becomes ``CASE``, ``sign`` becomes ``signum``, and ``mod`` the operator. What is not rewritten, DataFusion refuses.

    Args:
        query: the text of a query.
    """
    if _WORDS.search(query) is None:
        return query
    for find in (_rename_functions, _find_fetch, _find_filters, _find_distinct_on):
        query = apply(query, [*find(query, tokenize(query))])
    return query


def _is(tokens: Sequence[Token], start: int, *words: str) -> bool:
    """Whether some words follow one another."""
    return tuple(token.text for token in tokens[start : start + len(words)]) == words


def _rename_functions(query: str, tokens: Sequence[Token]) -> Iterator[Edit]:
    for at, token in enumerate(tokens):
        if not _is(tokens, at + 1, "(") or (at > 0 and tokens[at - 1].text == "."):
            continue
        if token.text == "SIGN":
            yield token.start, token.end, "signum"
        elif token.text == "MOD" and (close := find_close(tokens, at + 1)) is not None:
            arguments = split_at_commas(tokens, at + 2, close)
            if len(arguments) == 2:
                comma = tokens[arguments[0][1]]
                yield token.start, tokens[at + 1].end, "(("
                yield comma.start, comma.end, ") % ("
                yield tokens[close].start, tokens[close].end, "))"


def _find_fetch(query: str, tokens: Sequence[Token]) -> Iterator[Edit]:
    for at, token in enumerate(tokens):
        if token.text != "FETCH" or tokens[at + 1 : at + 2] == [] or tokens[at + 1].text not in ("FIRST", "NEXT"):
            continue
        has_number = tokens[at + 2].text.isdigit() if at + 2 < len(tokens) else False
        rows = at + 2 + has_number
        if _is(tokens, rows, "ROWS", "ONLY") or _is(tokens, rows, "ROW", "ONLY"):
            yield token.start, tokens[rows + 1].end, f"limit {tokens[at + 2].text if has_number else 1}"


_PASSES_OVER_NULL = frozenset(
    {"COUNT", "SUM", "AVG", "MIN", "MAX", "BOOL_AND", "BOOL_OR", "STDDEV", "VAR_POP", "STDDEV_POP"}
)


def _find_filters(query: str, tokens: Sequence[Token]) -> Iterator[Edit]:
    """Yield the edits for ``f(x) filter (where c) over``, as ``f(case when c then x end) over``."""
    for at, token in enumerate(tokens):
        if token.text != "FILTER" or not _is(tokens, at + 1, "(", "WHERE") or not _is(tokens, at - 1, ")"):
            continue
        close = find_close(tokens, at + 1)
        opening = next(
            (i for i in range(at - 2, 0, -1) if tokens[i].text == "(" and tokens[i].depth == tokens[at].depth), 0
        )
        if close is None or not _is(tokens, close + 1, "OVER") or tokens[opening - 1].text not in _PASSES_OVER_NULL:
            continue
        argument = text_of(query, tokens, opening + 1, at - 1) if opening + 1 < at - 1 else "*"
        is_plain = len(split_at_commas(tokens, opening + 1, at - 1)) == 1 and tokens[opening + 1].text not in (
            "DISTINCT",
            "ALL",
        )
        if is_plain and not any(token.text == "ORDER BY" for token in tokens[opening + 1 : at - 1]):
            condition = text_of(query, tokens, at + 3, close)
            value = "1" if argument == "*" else f"({argument})"
            yield tokens[opening].end, tokens[close].end, f"case when ({condition}) then {value} end)"


_BEHIND = frozenset({"ORDER BY", "LIMIT", "OFFSET", "FETCH", "FOR"})
_ENDS = frozenset({"UNION", "EXCEPT", "INTERSECT", ";"})


def _find_distinct_on(query: str, tokens: Sequence[Token]) -> Iterator[Edit]:
    """Yield the edits for ``select distinct on (k)``: the first row of each key, by its number."""
    for at in range(1, len(tokens)):
        if not _is(tokens, at - 1, "SELECT", "DISTINCT", "ON", "(") or (close := find_close(tokens, at + 2)) is None:
            continue
        depth = tokens[at].depth
        clauses = {"": close + 1}
        end = at
        for end in range(close + 1, len(tokens) + 1):
            if (
                end == len(tokens)
                or tokens[end].depth < depth
                or (tokens[end].depth == depth and tokens[end].text in _ENDS)
            ):
                break
            if tokens[end].depth == depth and tokens[end].text in _BEHIND | {"FROM", "QUALIFY"}:
                clauses.setdefault(tokens[end].text, end)
        if "FROM" not in clauses or "QUALIFY" in clauses:
            continue
        items = _name_items(query, tokens, close + 1, clauses["FROM"])
        behind = min([clauses[word] for word in _BEHIND & clauses.keys()], default=end)
        keys = [_mean(query, tokens, start, stop, items) for start, stop in split_at_commas(tokens, at + 3, close)]
        window = f"partition by {', '.join(keys)}"
        if "ORDER BY" in clauses:
            limits = [clauses[word] for word in (_BEHIND - {"ORDER BY"}) & clauses.keys()]
            parts = split_at_commas(tokens, clauses["ORDER BY"] + 1, min([end, *limits]))
            window += f" order by {', '.join(_mean(query, tokens, start, stop, items) for start, stop in parts)}"
        place = tokens[behind - 1].end
        yield tokens[at].start, tokens[close].end, ""
        yield place, place, f" qualify row_number() over ({window}) = 1"


def _name_items(query: str, tokens: Sequence[Token], start: int, end: int) -> dict[str, str]:
    """Return the expressions of a SELECT by their numbers and by the names that they are given."""
    items: dict[str, str] = {}
    for number, (begin, stop) in enumerate(split_at_commas(tokens, start, end), 1):
        if stop - begin > 2 and tokens[stop - 2].text == "AS":
            items[tokens[stop - 1].text] = f"({text_of(query, tokens, begin, stop - 2)})"
            stop -= 2
        items[str(number)] = text_of(query, tokens, begin, stop)
    return items


def _mean(query: str, tokens: Sequence[Token], start: int, stop: int, items: dict[str, str]) -> str:
    """Return a key, with the expression of the item that it names, or of which it is the number."""
    first = tokens[start]
    is_alone = stop == start + 1 or tokens[start + 1].text in ("ASC", "DESC", "NULLS")
    if not is_alone or first.text not in items:
        return text_of(query, tokens, start, stop)
    return items[first.text] + query[first.end : tokens[stop - 1].end]
