"""The scalar functions of ``everyday.yaml`` over values of Python, for engines that have no functions of the kind."""

from __future__ import annotations

import datetime as dt
import hashlib
from calendar import monthrange
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any


def _of_null_null(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is NULL where an argument is."""

    @wraps(function)
    def run(*values: Any) -> Any:
        return None if None in values else function(*values)

    return run


def _days(start: dt.date, end: dt.date) -> int:
    return (end - start).days


def _months(start: dt.date, end: dt.date) -> int:
    months = (end.year - start.year) * 12 + end.month - start.month
    if end > start and end.day < start.day:
        return months - 1
    return months + 1 if end < start and end.day > start.day else months


def _last_day(x: dt.date) -> dt.date:
    return x.replace(day=monthrange(x.year, x.month)[1])


def _digest(name: str) -> Callable[[str | bytes], str]:
    def digest(x: str | bytes) -> str:
        data = x.encode() if isinstance(x, str) else x
        return hashlib.new(name, data, usedforsecurity=False).hexdigest()

    return digest


VALUES: Mapping[str, Callable[..., Any]] = {
    "date_diff_days": _of_null_null(_days),
    "date_diff_months": _of_null_null(_months),
    "last_day": _of_null_null(_last_day),
    "md5": _of_null_null(_digest("md5")),
    "sha256": _of_null_null(_digest("sha256")),
    "sha512": _of_null_null(_digest("sha512")),
}
"""By the names of the functions; a NULL among the arguments makes the result NULL."""
