"""Clauses that DataFusion's parser takes, and that its plan then does not have: the rows would be others."""

from __future__ import annotations

import re

from substrait_dsl.errors import UnsupportedError

_QUOTED = re.compile(
    r"""\b[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*` | \$(\w*)\$.*?\$\1\$
    | (?P<comment>--[^\n]* | /\*.*?\*/)""",
    re.DOTALL | re.VERBOSE,
)
"""Texts, names in quotes and comments, in which words are no clauses."""

_DROPPED = {
    r"tablesample\b": ("TABLESAMPLE", "filter by a column of the table"),
    r"prewhere\b": ("PREWHERE", "write WHERE"),
    r"with\s+(?:rollup|cube)\b(?!\s*(?:\(|as\b))": (
        "WITH ROLLUP or WITH CUBE",
        "write GROUP BY ROLLUP (a, b) or GROUP BY CUBE (a, b)",
    ),
    r"with\s+totals\b(?!\s*(?:\(|as\b))": ("WITH TOTALS", "write GROUP BY GROUPING SETS ((a), ())"),
    r"connect\s+by\b": ("CONNECT BY", None),
    r"with\s+ordinality\b(?!\s*(?:\(|as\b))": ("WITH ORDINALITY", "write row_number() over (order by ...)"),
    r"with\s*\(": ("WITH (...) behind a table", "leave it out"),
    r"partition\s*\(": ("PARTITION (...) of a table", "write a condition behind WHERE"),
    r"for\s+(?:update|share)\b": ("FOR UPDATE or FOR SHARE", "leave it out: a relation locks nothing"),
}
"""For the text of each clause what it is called, and what to write."""


def without_quotes(query: str) -> str:
    """Return the text of a query with a question mark for each text and name in quotes, and without comments."""
    return _QUOTED.sub(lambda found: " " if found["comment"] else " ? ", query)


def check_clauses(query: str) -> None:
    """Raise `UnsupportedError` where a query has a clause that DataFusion leaves out."""
    text = without_quotes(query)
    for pattern, (clause, hint) in _DROPPED.items():
        if re.search(rf"\b{pattern}", text, re.IGNORECASE) is not None:
            raise UnsupportedError(f"DataFusion leaves out the {clause}", hint=hint)
