"""Relations that queries seldom have, with their rows, which a reader can derive."""

from __future__ import annotations

from typing import Any

import substrait_dsl as sd
from substrait_dsl import functions as f

PAIRS = """
SELECT CAST(a AS BIGINT) AS a, CAST(b AS BIGINT) AS b
FROM (VALUES (1, 1), (1, 1), (2, 1), (NULL, 1), (3, NULL)) AS t (a, b)
"""
KEYS = """
SELECT CAST(k AS BIGINT) AS k, CAST(v AS BIGINT) AS v
FROM (VALUES (1, 10), (2, NULL), (2, 20), (5, 20), (6, 50)) AS t (k, v)
"""
PAIRED = sd.read_named("pairs", {"a": "i64?", "b": "i64?"})
KEYED = sd.read_named("keyed", {"k": "i64", "v": "i64?"})


def pair(a: Any, b: Any) -> Any:
    """A record of two numbers that may be NULL."""
    return sd.record(sd.lit(a, "i64?"), sd.lit(b, "i64?"))


def matches(k: Any) -> sd.Relation[Any]:
    """The pairs of a key from 2 on, with a sum with its row."""
    return PAIRED.filter(lambda p: (p.a == k.k) & (p.a > 1)).select("b", s=lambda p: p.b + k.v)


RARE: dict[str, tuple[sd.Relation[Any], list[tuple[Any, ...]]]] = {
    # minus_multiset: (1, 1) and (NULL, 1) are in both others; (3, NULL) is in one of them
    "rows that not all others have": (
        PAIRED.set_op(
            "minus_multiset", PAIRED.filter(lambda p: p.b == 1), PAIRED.filter(lambda p: f.coalesce(p.a, 1) != 2)
        ),
        [(2, 1), (3, None)],
    ),
    "rows that another has not": (
        PAIRED.set_op("minus_multiset", PAIRED.filter(lambda p: p.a > 1)),
        [(None, 1), (1, 1), (1, 1)],
    ),
    # of v: 50, then 20 twice, of which one is skipped
    "ties behind an offset": (
        KEYED.top_n(1, sd.desc("v"), offset=1, with_ties=True).select("v"),
        [(20,), (20,)],
    ),
    "ties behind two": (KEYED.top_n(1, sd.desc("v"), offset=2, with_ties=True).select("v"), [(20,)]),
    "ties of no row": (KEYED.top_n(0, sd.desc("v"), offset=2, with_ties=True).select("v"), []),
    "unique rows": (
        KEYED.filter(lambda k: sd.unique(PAIRED.filter(lambda p: p.a == k.k).select("a"))).select("k"),
        [(2,), (2,), (5,), (6,)],  # of 1 there are two
    ),
    "NULL is no second": (
        KEYED.filter(
            lambda k: sd.unique(
                PAIRED.filter(lambda p: p.b.is_null()).union_all(PAIRED.filter(lambda p: p.b.is_null()))
            )
        ).select("k"),
        [(1,), (2,), (2,), (5,), (6,)],
    ),
    # (1, 1) is there; (1, NULL) may be (1, 1); (2, 2) is none, also not (NULL, 1); (4, 1) may be (NULL, 1)
    "IN of several columns": (
        KEYED.filter(lambda k: k.k == 1).select(
            a=pair(1, 1).is_in(PAIRED),
            b=pair(1, None).is_in(PAIRED),
            c=pair(2, 2).is_in(PAIRED),
            d=pair(4, 1).is_in(PAIRED),
        ),
        [(True, None, False, None)],
    ),
    "NOT IN of several columns": (
        KEYED.filter(lambda k: ~sd.record(k.v - 9, k.k).is_in(PAIRED)).select("k"),
        [(2,), (5,), (6,)],
    ),
    "IN of several columns that refers to rows around it": (
        KEYED.filter(lambda k: sd.record(k.k, sd.lit(1)).is_in(PAIRED.filter(lambda p: p.a < k.v))).select("k"),
        [(1,), (2,)],
    ),
    # k = 1 has two rows of pairs, whose sum of v is 20
    "aggregates of an outer row": (
        KEYED.select(
            "k",
            s=lambda k: sd.scalar_subquery(PAIRED.filter(lambda p: p.a == k.k).aggregate(s=f.sum(k.v))),
            n=lambda k: sd.scalar_subquery(PAIRED.filter(lambda p: p.a == k.k).aggregate(n=f.count().filter(k.v > 10))),
        ),
        [(1, 20, 0), (2, None, 0), (2, 20, 1), (5, None, 0), (6, None, 0)],
    ),
    "a single match": (
        KEYED.join(PAIRED.filter(lambda p: p.a > 1), on=lambda k, p: k.k == p.a, how="left_single").select(
            "k", "v", "b"
        ),
        [(1, 10, None), (2, None, 1), (2, 20, 1), (5, 20, None), (6, 50, None)],
    ),
    "a single match on the left": (
        PAIRED.filter(lambda p: p.a > 1)
        .join(KEYED, on=lambda p, k: k.k == p.a, how="right_single")
        .select("b", "k", "v"),
        [(None, 1, 10), (None, 5, 20), (None, 6, 50), (1, 2, None), (1, 2, 20)],
    ),
    # (2, 1) matches k = 2, and its b and 20 are 21; no a is 5 or 6, and that of k = 1 is left out
    "a single match of rows that are computed for each": (
        KEYED.lateral_join(matches, how="left_single"),
        [(1, 10, None, None), (2, None, 1, None), (2, 20, 1, 21), (5, 20, None, None), (6, 50, None, None)],
    ),
    "a single match of rows that are computed for each of those that are computed": (
        KEYED.filter(lambda k: k.k > 1)
        .lateral_join(matches, how="left_single")
        .filter(lambda r: r.b == 1)
        .select("k", "s"),
        [(2, None), (2, 21)],
    ),
}
