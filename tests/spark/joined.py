"""Joins written down in Python: what the specification says that their rows are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import substrait_dsl as sd

Row = tuple[Any, ...]

LEFT: list[Row] = [(1, 10), (1, None), (2, 20), (None, 30), (4, 40), (4, 40), (None, None)]
RIGHT: list[Row] = [(1, 10), (2, None), (None, 30), (5, 50), (4, 40)]
L = {"a": "i32?", "b": "i32?"}
R = {"c": "i32?", "d": "i32?"}


def equal(x: Any, y: Any) -> bool | None:
    return None if x is None or y is None else x == y


def less(x: Any, y: Any) -> bool | None:
    return None if x is None or y is None else x < y


def both(x: bool | None, y: bool | None) -> bool | None:
    return False if x is False or y is False else None if x is None or y is None else True


def either(x: bool | None, y: bool | None) -> bool | None:
    return True if x is True or y is True else None if x is None or y is None else False


def expected(
    how: str, left: list[Row], right: list[Row], test: Callable[[Row, Row], bool | None]
) -> Counter[Row] | str:
    """The rows of a join as the specification's table of join types says, or what it fails with."""
    if how.startswith("right"):
        mirrored = expected(how.replace("right", "left"), right, left, lambda y, x: test(x, y))
        if how in ("right", "right_single") and isinstance(mirrored, Counter):
            return Counter({row[2:] + row[:2]: count for row, count in mirrored.items()})
        return mirrored
    rows: list[Row] = []
    matched_right: set[int] = set()
    for x in left:
        answers = [test(x, y) for y in right]
        matches = [number for number, answer in enumerate(answers) if answer]
        matched_right.update(matches)
        if how == "left_semi":
            rows += [x] if matches else []
        elif how == "left_anti":
            rows += [] if matches else [x]
        elif how == "left_mark":
            rows.append((*x, True if matches else None if None in answers else False))
        elif how == "left_single" and len(matches) > 1:
            return "a second match"
        else:
            rows += [x + right[number] for number in matches]
            rows += [(*x, None, None)] if not matches and how != "inner" else []
    if how == "outer":
        rows += [(None, None, *y) for number, y in enumerate(right) if number not in matched_right]
    return Counter(rows)


CONDITIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Row, Row], bool | None]]] = {
    "one key": (lambda x, y: x.a == y.c, lambda x, y: equal(x[0], y[0])),
    "two keys": (lambda x, y: (x.a == y.c) & (y.d == x.b), lambda x, y: both(equal(x[0], y[0]), equal(x[1], y[1]))),
    "key and more": (lambda x, y: (x.a == y.c) & (x.b < y.d), lambda x, y: both(equal(x[0], y[0]), less(x[1], y[1]))),
    "key and each side": (
        lambda x, y: (x.a == y.c) & (x.b < 25) & (y.d > 5),
        lambda x, y: both(equal(x[0], y[0]), both(less(x[1], 25), less(5, y[1]))),
    ),
    "no key": (lambda x, y: x.b < y.d, lambda x, y: less(x[1], y[1])),
    "either": (lambda x, y: (x.a == y.c) | (x.b == y.d), lambda x, y: either(equal(x[0], y[0]), equal(x[1], y[1]))),
    "key that is NULL on the left": (
        lambda x, y: (x.a == y.c) & x.a.is_null(),
        lambda x, y: both(equal(x[0], y[0]), x[0] is None),
    ),
    "key that is NULL on the right": (
        lambda x, y: (x.a == y.c) & y.c.is_null(),
        lambda x, y: both(equal(x[0], y[0]), y[0] is None),
    ),
    "left side alone, in the end": (lambda x, y: ((x.a == y.c) | (x.b < 25)) & (x.b < 25), lambda x, y: less(x[1], 25)),
    "right side alone, in the end": (lambda x, y: (y.d > 5) | ((x.a == y.c) & (y.d > 5)), lambda x, y: less(5, y[1])),
    "computed key": (lambda x, y: x.a + 1 == y.c * 1, lambda x, y: x[0] and y[0] and x[0] + 1 == y[0]),
    "true": (lambda x, y: sd.lit(True), lambda x, y: True),
    "false": (lambda x, y: sd.lit(False), lambda x, y: False),
    "unknown": (lambda x, y: sd.null(sd.Boolean), lambda x, y: None),
}
