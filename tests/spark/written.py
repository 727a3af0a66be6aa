"""Rows that tests of writes write."""

from __future__ import annotations

import math
from typing import Any

import substrait_dsl as sd

Rows = list[tuple[Any, ...]]

BIG = 2**63 - 1
COLUMNS = {"id": "i64", "name": "string?", "price": "fp64?"}
FIRST: Rows = [(1, "a", 1.0), (2, None, None), (2, None, None)]
SECOND: Rows = [(3, "c", math.inf)]


def values(rows: Rows, columns: Any = None) -> Any:
    return sd.read_virtual(rows, columns or COLUMNS)


def failing(rows: Rows) -> Any:
    """Rows of which the last, in a task of its own, cannot be computed."""
    spread: Any = values([*rows, (BIG, "a", 1.0)]).exchange(sd.round_robin(), partition_count=4)
    return spread.select("name", "price", id=lambda r: r.id + 1).select("id", "name", "price")
