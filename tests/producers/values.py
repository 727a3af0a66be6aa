"""Values that producers compute with, and how rows of two engines are compared."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

Row = tuple[Any, ...]

_DECIMALS = {
    "d": (pa.decimal128(7, 2), ["0.62", "0.63", "-1.05", None, "99999.99", "-0.01"]),
    "e": (pa.decimal128(15, 4), ["0.0007", "3.0000", "-7.5000", "1.0000", "3.1415", None]),
    "w": (pa.decimal128(38, 6), ["1.000001", "-2.5", None, "123456789.123456", "0.000001", "7"]),
}
_DATES = ["2020-01-31", "1969-12-31", "2024-02-29", None, "1600-01-01", "2021-12-26"]
_TIMES = [
    dt.datetime(2020, 1, 31, 1, 2, 3, 456789),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
    dt.datetime(2024, 2, 29),
    None,
    dt.datetime(1900, 1, 1, 12),
    dt.datetime(2021, 12, 26, 23, 30),
]

VALUES = pa.table(
    {
        "k": pa.array(range(6), pa.int64()),
        "i": pa.array([1, -7, None, 2147483647, 0, 3], pa.int32()),
        "j": pa.array([2, 3, 5, None, -4, 7], pa.int64()),
        **{
            name: pa.array([None if text is None else Decimal(text) for text in texts], kind)
            for name, (kind, texts) in _DECIMALS.items()
        },
        "s": ["abcde", "ab%c", None, " x y ", "", "\u00c4\U0001f600b"],
        "r": ["b", "ab", "x", None, "", "\U0001f600"],
        "p": ["a\\b", "100%", "a_b", "aXb", "\\%", None],
        "x": [1.5, -2.5, 2.5, None, 0.0, 1e10],
        "y": [0.1, 2.0, -0.0, 3.0, None, 4.0],
        "n": [math.nan, 1.0, None, -1.0, math.inf, -math.inf],
        "day": [None if text is None else dt.date.fromisoformat(text) for text in _DATES],
        "day2": [dt.date(2020, 2, 1)] * 5 + [None],
        "ts": pa.array(_TIMES, pa.timestamp("us")),
        "b": [True, False, None, True, False, None],
        "c": [True, True, True, None, None, None],
    }
)
"""A column for each type; NULL, negative numbers, numbers that end in a half, wildcards, characters beyond 16 bits."""


def are_equal(left: Row, right: Row, *, relative: float = 1e-12) -> bool:
    """Whether two rows have the same values of the same types; floats but for the last digits."""
    return len(left) == len(right) and all(_same(a, b, relative) for a, b in zip(left, right, strict=True))


def _same(left: Any, right: Any, relative: float) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        both = math.isnan(left) and math.isnan(right)
        return both or math.isclose(left, right, rel_tol=relative, abs_tol=1e-12)
    return type(left) is type(right) and left == right


def in_order(rows: Sequence[Row]) -> list[Row]:
    """The rows in an order that does not depend on the last digits of floats."""
    return sorted(rows, key=lambda row: repr([f"{value:.5g}" if isinstance(value, float) else value for value in row]))
