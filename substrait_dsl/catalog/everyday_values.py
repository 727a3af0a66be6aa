"""The scalar functions of ``everyday.yaml`` over values of Python, for engines that have no functions of the kind."""

from __future__ import annotations

import datetime as dt
import hashlib
import struct
from calendar import monthrange
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from substrait_dsl.catalog.everyday_json import get_json


def _propagate_null(function: Callable[..., Any]) -> Callable[..., Any]:
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


_WORD = 2**64 - 1
_PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def _rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & _WORD


def _round(sum_: int, word: int) -> int:
    return _rotated((sum_ + word * _PRIMES[1]) & _WORD, 31) * _PRIMES[0] & _WORD


def _xxhash64(x: str | bytes) -> int:
    """XXH64 with the seed 42: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md."""
    data, seed = x.encode() if isinstance(x, str) else x, 42
    one, two, three, four, five = _PRIMES
    stripes = len(data) // 32 * 32
    if stripes:
        lanes = [(seed + start) & _WORD for start in (one + two, two, 0, -one)]
        for position in range(0, stripes, 32):
            words = struct.unpack_from("<4Q", data, position)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
        found = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _WORD
        for lane in lanes:
            found = ((found ^ _round(0, lane)) * one + four) & _WORD
    else:
        found = (seed + five) & _WORD
    found = (found + len(data)) & _WORD
    position = stripes
    while position + 8 <= len(data):
        (word,) = struct.unpack_from("<Q", data, position)
        found = (_rotated(found ^ _round(0, word), 27) * one + four) & _WORD
        position += 8
    if position + 4 <= len(data):
        (word,) = struct.unpack_from("<I", data, position)
        found = (_rotated(found ^ word * one & _WORD, 23) * two + three) & _WORD
        position += 4
    for byte in data[position:]:
        found = _rotated(found ^ byte * five & _WORD, 11) * one & _WORD
    for shift, prime in ((33, two), (29, three), (32, 1)):
        found = (found ^ found >> shift) * prime & _WORD
    return found - 2**64 if found >= 2**63 else found


VALUES: Mapping[str, Callable[..., Any]] = {
    "date_diff_days": _propagate_null(_days),
    "date_diff_months": _propagate_null(_months),
    "last_day": _propagate_null(_last_day),
    "md5": _propagate_null(_digest("md5")),
    "sha256": _propagate_null(_digest("sha256")),
    "sha512": _propagate_null(_digest("sha512")),
    "xxhash64": _propagate_null(_xxhash64),
    "get_json": _propagate_null(get_json),
}
"""By the names of the functions; a NULL among the arguments makes the result NULL."""
