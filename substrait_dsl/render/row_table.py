"""The rows of a result as HTML: a table, for the cells of notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import islice

from substrait_dsl.markup import element, fragment
from substrait_dsl.render.literals import name_text
from substrait_dsl.texts import shorten

MAX_ROWS = 60
"""A table of more rows shows the first ones, and says how many there are."""

MAX_COLUMNS = 40
"""A table of more columns shows the first ones, and says how many there are."""

MAX_CHARACTERS = 200
"""A value is cut after so many characters."""


def rows_html(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as HTML: how many there are, and a table of the first ones.

    Args:
        names: the names of the columns.
        rows: the rows, each with a value for each column.
    """
    size = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}, {len(names):,} column{'' if len(names) == 1 else 's'}"
    if len(rows) > MAX_ROWS:
        size += f"; the first {MAX_ROWS} rows"
    if len(names) > MAX_COLUMNS:
        size += f"; the first {MAX_COLUMNS} columns"
    head = element("tr", *(element("th", name_text(name)) for name in names[:MAX_COLUMNS]))
    lines = [element("tr", *(_cell(value) for value in islice(row, MAX_COLUMNS))) for row in rows[:MAX_ROWS]]
    return fragment(element("div", element("i", size)), element("table", head, *lines))


def _cell(value: object) -> str:
    """Return the cell of a value; a NULL looks otherwise than any text, and numbers stand to the right."""
    if value is None:
        return element("td", element("i", "NULL"))
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return element("td", shorten(str(value), MAX_CHARACTERS), **({"class_": "sd-number"} if is_number else {}))
