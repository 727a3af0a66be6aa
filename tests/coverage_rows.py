"""The rows of docs/coverage: what the specification asks, where it is, and which tests show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[1]
INDEX = ROOT / "docs" / "coverage.md"
PAGES = sorted((ROOT / "docs" / "coverage").glob("*.md"))

HEADING = "| row | asks | where | test |"
PATH = re.compile(r"`(substrait_dsl\.[\w.]+)`")
TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+)(?:\[([^`]+)\])?)?`")
NOT_OFFERED = re.compile(r"not offered(?: yet)?: (\S.*)")


@attrs.frozen
class Row:
    """One line of a table."""

    id: str
    asks: str
    where: str
    test: str


def rows_of(text: str) -> Iterator[Row]:
    """The lines of the tables in a page, whatever else it says."""
    lines = iter(text.splitlines())
    for line in lines:
        if line == HEADING:
            next(lines)  # the rule below the heading
            for row in lines:
                if not row.startswith("|"):
                    break
                number, *cells = (cell.strip() for cell in row.strip("|").split("|"))
                yield Row(number.strip("`"), *cells)


ROWS = [row for page in PAGES for row in rows_of(page.read_text(encoding="utf-8"))]
