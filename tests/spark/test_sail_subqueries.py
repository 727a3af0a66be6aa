"""Subqueries on Sail whose conditions on an outer row stand below a join, and NOT IN of rows that depend on one."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.errors import UnsupportedError
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

A_ROWS = [(1, 10), (2, 20), (3, 30), (4, None)]
B_ROWS = [(1, 10), (1, 5), (2, 99), (5, 1), (None, 20)]
A: Any = sd.read_virtual(A_ROWS, {"a": "i64", "x": "i64?"})
B: Any = sd.read_virtual(B_ROWS, {"b": "i64?", "y": "i64"})
C: Any = sd.read_virtual([(10, 1), (5, 2), (20, 3), (99, None)], {"c": "i64", "z": "i64?"})
"""Of 1 in A there are two rows in B, of 2 one; each y of these is a c of C."""

SEMI, ANTI = "left_semi", "left_anti"

EXISTING: dict[str, tuple[Callable[[Any], Any], list[int]]] = {
    "below an inner join, on its left": (
        lambda a: B.filter(lambda b: b.b == a.a).join(C, lambda b, c: b.y == c.c),
        [1, 2],
    ),
    "on its right": (lambda a: C.join(B.filter(lambda b: b.b == a.a), lambda c, b: b.y == c.c), [1, 2]),
    "on both sides": (
        lambda a: B.filter(lambda b: b.b == a.a).join(C.filter(lambda c: c.c == a.x), lambda b, c: b.y == c.c),
        [1],
    ),
    "in its condition": (lambda a: B.join(C, lambda b, c: (b.y == c.c) & (b.b == a.a)), [1, 2]),
    "alone in its condition": (lambda a: B.join(C, lambda b, c: (b.b == a.a) & (c.c == a.x)), [1, 2]),
    "a comparison": (lambda a: B.filter(lambda b: b.b > a.a).join(C, lambda b, c: b.y == c.c), [1]),
    "beside another": (lambda a: B.filter(lambda b: (b.b == a.a) & (b.y < 9)).join(C, lambda b, c: b.y == c.c), [1]),
    "below a cross join": (lambda a: B.filter(lambda b: b.b == a.a).cross(C), [1, 2]),
    "below a left join": (lambda a: B.filter(lambda b: b.b == a.a).join(C, lambda b, c: b.y == c.z, "left"), [1, 2]),
    "below a right join": (lambda a: C.join(B.filter(lambda b: b.b == a.a), lambda c, b: b.y == c.z, "right"), [1, 2]),
    "below a semi join": (
        lambda a: B.filter(lambda b: b.b == a.a).join(
            C.filter(lambda c: c.c < 9), lambda b, c: b.y == c.c, "left_semi"
        ),
        [1],
    ),
    "below an anti join": (
        lambda a: B.filter(lambda b: b.b == a.a).join(
            C.filter(lambda c: c.c > 9), lambda b, c: b.y == c.c, "left_anti"
        ),
        [1],
    ),
    "below computed columns": (
        lambda a: B.filter(lambda b: b.b == a.a).with_columns(q=lambda b: b.y + 1).join(C, lambda b, c: b.q == c.c + 1),
        [1, 2],
    ),
    "below chosen columns": (
        lambda a: B.filter(lambda b: b.b == a.a).select("y", "b").join(C, lambda b, c: b.y == c.c),
        [1, 2],
    ),
    "below two joins": (
        lambda a: B.filter(lambda b: b.b == a.a).join(C, lambda b, c: b.y == c.c).join(B, lambda r, b: r.y == b.y + 5),
        [1],
    ),
}


def keys(relation: Any, session: SparkSession) -> list[int]:
    return sorted(row[0] for row in relation.collect(session))


@pytest.mark.parametrize("form", EXISTING)
def test_conditions_on_an_outer_row_below_a_join(form: str, sail: SparkSession) -> None:
    inside, expected = EXISTING[form]
    assert keys(A.filter(lambda a: sd.exists(inside(a))), sail) == expected
    others = [key for key, _ in A_ROWS if key not in expected]
    assert keys(A.filter(lambda a: ~sd.exists(inside(a))), sail) == others


def test_other_subqueries_with_such_conditions(sail: SparkSession) -> None:
    def matches(a: Any) -> Any:
        return B.filter(lambda b: b.b == a.a).join(C, lambda b, c: b.y == c.c)

    counts = A.select("a", n=lambda a: sd.scalar_subquery(matches(a).aggregate(n=f.count())))
    assert sorted(map(tuple, counts.collect(sail))) == [(1, 2), (2, 1), (3, 0), (4, 0)]
    assert keys(A.filter(lambda a: a.x.is_in(matches(a).select("y"))), sail) == [1]


def test_what_puts_out_other_rows_above_a_join_stays_below(sail: SparkSession) -> None:
    """An outer join makes rows of what has no match."""

    def inside(a: Any) -> Any:
        return B.join(C.filter(lambda c: c.c == a.x), lambda b, c: b.y == c.c, "left")

    with refused(UnsupportedError, "refers to an outer row"):
        A.filter(lambda a: sd.exists(inside(a))).collect(sail)


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": operator.eq,
    "other": operator.ne,
    "greater": operator.gt,
    "at most": operator.le,
}


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_not_in_of_rows_that_depend_on_an_outer_one(comparison: str, sail: SparkSession) -> None:
    """A NULL counts where it is among the values of this row."""
    compare = COMPARISONS[comparison]
    found = A.filter(lambda a: ~a.a.is_in(B.filter(lambda b: compare(b.y, a.x)).select("b")))
    expected = []
    for key, x in A_ROWS:
        values = [b for b, y in B_ROWS if x is not None and compare(y, x)]
        if key not in values and None not in values:
            expected.append(key)
    assert keys(found, sail) == expected
    assert expected != []
