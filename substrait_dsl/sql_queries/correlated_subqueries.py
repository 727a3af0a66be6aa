"""Correlated subqueries of which DataFusion makes joins with other rows, found in its text of the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

_OF_ALL_ROWS = "Aggregate: groupBy=[[]]"
"""An aggregate without keys gives one row for no rows, where the join that replaces the subquery finds none."""


def find_misread_subquery(shown: str) -> str | None:
    """Return what DataFusion's joins get wrong of the correlated subqueries of a plan; None if nothing is known to be.

    Args:
        shown: the plan before subqueries have become joins, as DataFusion shows it.
    """
    for parent, lines in _correlated_subqueries(shown.splitlines()):
        if any(re.match(r"Limit: skip=[1-9]", line) for line in lines):
            return "OFFSET in a correlated subquery"
        if any(line.startswith("Filter:") and below.startswith(_OF_ALL_ROWS) for line, below in pairwise(lines)):
            return "HAVING without GROUP BY in a correlated subquery"
        if "EXISTS (<subquery>)" in parent and any(line.startswith(_OF_ALL_ROWS) for line in lines):
            return "EXISTS of a correlated subquery that aggregates without GROUP BY"
    return None


def _correlated_subqueries(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the step that each correlated subquery stands in, and the steps of the subquery."""
    depths = [len(line) - len(line.lstrip()) for line in lines]
    for start, line in enumerate(lines):
        if line.strip() != "Subquery:":
            continue
        end = next((at for at in range(start + 1, len(lines)) if depths[at] <= depths[start]), len(lines))
        if any("outer_ref(" in inner for inner in lines[start:end]):
            parent = next(at for at in range(start - 1, -1, -1) if depths[at] < depths[start])
            yield lines[parent], [inner.strip() for inner in lines[start + 1 : end]]
