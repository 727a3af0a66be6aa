"""Texts that a stranger's plan may have as names and as constants."""

from __future__ import annotations

from random import Random

PIECES = (
    *("'", '"', "`", "\\", "\\'", "''", "--", "/*", "*/", ";", "\n", "\r\n", "\t", "\x00", "\x1a", "\x7f", "\x85"),
    *("\u2028", "\ufeff", "${", "$", "{", "}", "${x}", "%", "_", "\\u0041", "\\n", "\\0", "\\%", "{0}", "{T}", "{{"),
    *("_0", "$$", "E'", "é", "😀", "?", ":a", "@x", "__SQLGLOT__LBREAK__", "select", " ", "."),
)
"""What ends a text or a name, begins a comment or a variable, or means something to what writes SQL."""

ATTACKS = (
    "'; DROP TABLE victims; --",
    '"; DROP TABLE victims; --',
    "`; DROP TABLE victims; --",
    "\\'; DROP TABLE victims; --",
    "x') UNION SELECT secret FROM victims --",
    'x" FROM victims --',
    "x` FROM victims --",
    "*/ DROP TABLE victims; /*",
)


def odd_texts(count: int) -> list[str]:
    """Return the pieces, the attacks, and so many texts of several pieces, no two of which differ in case alone."""
    random = Random(5)
    mixed = ["".join(random.choices(PIECES, k=random.randint(2, 6))) for _ in range(count)]
    return list({text.casefold(): text for text in (*PIECES, *ATTACKS, *mixed)}.values())
