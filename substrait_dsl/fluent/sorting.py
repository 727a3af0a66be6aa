"""Sort keys: how to order by a column or an expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from substrait_dsl.fluent.expr import ExprBase, Nulls, SortKey, sort_key

Sortable = str | int | ExprBase | Callable[[Any], ExprBase]
"""A column's name or position, an expression, or a lambda that gets the row."""


def asc(column: Sortable, nulls: Nulls = "first") -> SortKey:
    """Smallest first; NULLs ``"first"`` (the default, as in Spark) or ``"last"``.

    Raises `InvalidChoiceError` for another word. Specification: ``SortField``.
    """
    return sort_key(column, "asc", nulls)


def desc(column: Sortable, nulls: Nulls = "last") -> SortKey:
    """Largest first; NULLs ``"last"`` (the default, as in Spark) or ``"first"``.

    Raises `InvalidChoiceError` for another word. Specification: ``SortField``.
    """
    return sort_key(column, "desc", nulls)


def clustered(column: Sortable) -> SortKey:
    """Equal values next to each other, in whatever order. Specification: ``SORT_DIRECTION_CLUSTERED``."""
    return SortKey(column, "clustered")
