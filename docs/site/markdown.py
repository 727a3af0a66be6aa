"""Markdown as GitHub reads it, as the Markdown that the site is made of."""

from __future__ import annotations

import re

CODE = re.compile(r"(?P<marks>`+)(?P<code>.+?)(?P=marks)")
NAMED_BLOCK = re.compile(r"(?m)^(?P<fence>```+)(?P<language>\w+) file=(?P<file>\S+)$")


def adapt_markdown(text: str) -> str:
    """Return a page whose tables and blocks of code mean on the site what they mean on GitHub.

    In a table GitHub takes the backslash before a bar away, in code, too; here a bar in code separates no cells, and
    has none. The name of a file behind the language of a block becomes its title.
    """
    lines = (unescape_bars(line) if line.startswith("|") else line for line in text.split("\n"))
    return NAMED_BLOCK.sub(r'\g<fence>\g<language> title="\g<file>"', "\n".join(lines))


def unescape_bars(row: str) -> str:
    """Return a row of a table with bars in code as they are."""
    return CODE.sub(lambda found: found[0].replace("\\|", "|"), row)
