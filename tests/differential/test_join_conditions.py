"""Joins of every type on conditions with a subquery that sees both inputs, or none: the same on Spark as in DuckDB.

Of the first Spark has inner joins alone. Of the others it may want the value before it has it. Random pipelines seldom
make them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES
from tests.differential.engines import case_of, result_of
from tests.differential.tables import read

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

INTS: Any = read("ints")
OTHERS: Any = INTS.rename(k="k2", a="a2", b="b2", h="h2", y="y2")
THIRD: Any = read("parts").select(k3=sd.col("k"), b3=sd.col("a").cast(sd.I64(nullable=True)))


def count(relation: Any) -> Any:
    return sd.scalar_subquery(relation.aggregate(n=f.count()))


def largest(relation: Any) -> Any:
    return sd.scalar_subquery(relation.aggregate(largest=lambda t: f.max(t.b3)))


def chosen(one: Any, other: Any) -> Any:
    """One of them, by a value that is the same for all rows."""
    return sd.when(count(THIRD) > 1).then(one).otherwise(other)


ON: dict[str, Callable[[Any, Any], Any]] = {
    "exists": lambda l, r: sd.exists(THIRD.filter(lambda t: (t.k3 == l.k) & (t.b3 >= r.b2))),
    "equal and not exists": lambda l, r: (
        (l.k == r.k2) & ~sd.exists(THIRD.filter(lambda t: (t.k3 == l.k) & (t.b3 >= r.b2)))
    ),
    "equal or exists": lambda l, r: (l.a == r.a2) | sd.exists(THIRD.filter(lambda t: (t.k3 == l.k) & (t.b3 == r.k2))),
    "in": lambda l, r: l.b.is_in(THIRD.filter(lambda t: t.b3 >= r.b2).select("b3")),
    "not in": lambda l, r: ~r.b2.is_in(THIRD.filter(lambda t: t.b3 == l.k).select("b3")),
    "in, of both": lambda l, r: f.coalesce(l.b, r.b2).is_in(THIRD.select("b3")),
    "any": lambda l, r: l.b >= sd.any_of(THIRD.filter(lambda t: t.k3 == r.k2).select("b3")),
    "equal and all": lambda l, r: (l.a == r.a2) & (l.b >= sd.all_of(THIRD.filter(lambda t: t.k3 == r.k2).select("b3"))),
    "count": lambda l, r: count(THIRD.filter(lambda t: (t.b3 == l.b) | (t.b3 == r.b2))) > 1,
    "largest": lambda l, r: largest(THIRD.filter(lambda t: (t.k3 <= l.k) & (t.b3 <= r.b2))) >= l.b,
    "equal and exists, of the right row": lambda l, r: (l.k == r.k2) & sd.exists(THIRD.filter(lambda t: t.b3 == r.b2)),
    "a constant beside the right row": lambda l, r: chosen(r.b2, r.k2) == l.b,
    "a constant beside the left row": lambda l, r: r.b2 == f.coalesce(l.b, count(THIRD)),
    "a constant beside each": lambda l, r: (chosen(l.k, l.b) == chosen(r.b2, r.k2)) & (l.b >= r.b2),
    "a constant beside both": lambda l, r: chosen(l.b, r.b2) >= r.k2,
    "a constant or equal": lambda l, r: (largest(THIRD) > 1000) | (l.b == r.b2),
    "largest, of the right row": lambda l, r: l.b == largest(THIRD.filter(lambda t: t.k3 == r.k2)),
}


@pytest.mark.parametrize("name", ON)
def test_conditions_that_see_both(name: str, session: SparkSession, connection: duckdb.DuckDBPyConnection) -> None:
    joins: dict[str, Any] = {how: INTS.join(OTHERS, ON[name], how) for how in JOIN_TYPES}
    joins |= {f"lateral {how}": INTS.lateral_join(lambda l: OTHERS, ON[name], how) for how in LATERAL_JOIN_TYPES}
    wrong = {}
    for how, joined in joins.items():
        if "single" in how:  # of these matches most are several
            continue
        if result := result_of(case_of(0, joined, connection), session):
            wrong[how] = result
    assert not wrong
