"""Markdown as GitHub reads it, as the Markdown that the site is made of."""

from __future__ import annotations

import re

CODE = re.compile(r"(?P<marks>`+)(?P<code>.+?)(?P=marks)")
SESSION = re.compile(r"(?ms)^(?P<fence>```+)python\n(?P<lines>>>> .*?)^(?P=fence)$")
NAMED_BLOCK = re.compile(r"(?m)^(?P<fence>```+)(?P<language>\w+) file=(?P<file>\S+)$")


def adapt_markdown(text: str) -> str:
    """Return a page whose tables and blocks of code mean on the site what they mean on GitHub.

    In a table GitHub takes the backslash before a bar away, in code, too; here a bar in code separates no cells, and
    has none. The name of a file behind the language of a block becomes its title. What is typed at a prompt is shown
    so, and the mark of an empty line, which doctest needs, is one.
    """
    lines = (unescape_bars(line) if line.startswith("|") else line for line in text.split("\n"))
    text = NAMED_BLOCK.sub(r'\g<fence>\g<language> title="\g<file>"', "\n".join(lines))
    return SESSION.sub(write_session, text)


def write_session(block: re.Match[str]) -> str:
    """Return a block of code as what is typed at a prompt."""
    lines = re.sub(r"(?m)^<BLANKLINE>$", "", block["lines"])
    return f"{block['fence']}pycon\n{lines}{block['fence']}"


def unescape_bars(row: str) -> str:
    """Return a row of a table with bars in code as they are."""
    return CODE.sub(lambda found: found[0].replace("\\|", "|"), row)
