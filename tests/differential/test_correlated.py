"""Every relation inside a subquery that depends on the row outside gives the same on Spark as in DuckDB.

Random pipelines seldom put one there in a way that shows: a count of a largest value was wrong on Spark for the rows
outside that nothing matches, and of 60,000 pipelines none told. So here are all relations, with the row outside in all
places, in subqueries of all kinds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.rules import JOIN_TYPES, SET_OPS, JoinType, SetOp
from tests.differential.engines import case_of, result_of
from tests.differential.tables import read

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

Inside = Callable[[Any], Any]
"""Of the row outside makes a relation with a column `b`, or `b2`."""

INTS: Any = read("ints")
OTHERS: Any = INTS.rename(k="k2", a="a2", b="b2", h="h2", y="y2")
PARTS: Any = read("parts")
I64 = sd.I64(nullable=True)

ON: dict[str, Callable[[Any], Any]] = {
    "the row outside alone": lambda o: lambda l, r: o.b > 0,
    "the row outside, and both": lambda o: lambda l, r: (l.a == r.a2) & (o.b >= r.b2),
    "the row outside, or both": lambda o: lambda l, r: (l.k == o.k) | ((l.a == r.a2) & f.is_null(o.a)),
    "a subquery of all": lambda o: (
        lambda l, r: sd.exists(PARTS.filter(lambda p: (p.k == l.k) & (p.a.cast(I64) >= r.b2) & (p.k <= o.k)))
    ),
}
"""Conditions of joins."""


def least(o: Any) -> Any:
    """One row, also where nothing matches."""
    return OTHERS.filter(lambda r: r.b2 < o.b).aggregate(b2=lambda r: f.min(r.b2))


SIDES: dict[str, Inside] = {
    "filtered": lambda o: OTHERS.filter(lambda r: r.b2 <= o.b),
    "computed": lambda o: OTHERS.with_columns(b2=lambda r: f.coalesce(r.b2, o.b)),
    "aggregated": lambda o: least(o).with_columns(k2=sd.lit(0, sd.I64)),
}
"""Inputs of joins that depend on the row outside."""


def joined_on(how: JoinType, on: Callable[[Any], Any], o: Any) -> Any:
    return INTS.join(OTHERS, on(o), how)


def joined_right(how: JoinType, side: Inside, o: Any) -> Any:
    return INTS.join(side(o), lambda l, r: l.k == r.k2, how)


def joined_left(how: JoinType, side: Inside, o: Any) -> Any:
    return side(o).join(INTS, lambda l, r: l.k2 == r.k, how)


def joins(how: JoinType) -> dict[str, Inside]:
    """Joins of one type, with the row outside in the condition and on either side."""
    return {
        **{f"{how} join on {name}": partial(joined_on, how, on) for name, on in ON.items()},
        **{f"{how} join, right {name}": partial(joined_right, how, side) for name, side in SIDES.items()},
        **{f"{how} join, left {name}": partial(joined_left, how, side) for name, side in SIDES.items()},
    }


def sets(op: SetOp) -> dict[str, Inside]:
    """Set operations of one kind, with the row outside in the first input, and in another."""
    numbers, others = INTS.select("b"), OTHERS.select(b=sd.col("b2"))
    return {
        f"{op}, first filtered": lambda o: INTS.filter(lambda r: r.b <= o.b).select("b").set_op(op, others),
        f"{op}, second filtered": lambda o: numbers.set_op(op, others.filter(lambda r: r.b < o.b)),
        f"{op}, first computed": lambda o: INTS.select(b=lambda r: f.coalesce(r.b, o.b)).set_op(op, others),
    }


INSIDE: dict[str, Inside] = {
    "filter": lambda o: INTS.filter(lambda r: r.b < o.b),
    "filter on the row outside alone": lambda o: INTS.filter(lambda r: o.b > 0),
    "filter, or": lambda o: INTS.filter(lambda r: (r.k == o.k) | f.is_null(o.b)),
    "project": lambda o: INTS.select(b=lambda r: f.coalesce(r.b, o.b)),
    "project of the row outside alone": lambda o: INTS.select(b=lambda r: o.b),
    "sort": lambda o: INTS.sort(lambda r: f.coalesce(r.b, o.b), "k", "a").limit(2),
    "fetch": lambda o: INTS.filter(lambda r: r.b <= o.b).sort("k", "b", "a").fetch(2, offset=1),
    "aggregate": lambda o: INTS.filter(lambda r: r.b < o.b).aggregate(b=lambda r: f.max(r.b)),
    "aggregate, filtered": lambda o: INTS.aggregate(b=lambda r: f.max(r.b).filter(r.b < o.b)),
    "aggregate of what is computed": lambda o: INTS.aggregate(b=lambda r: f.max(f.coalesce(r.b, o.b))),
    "aggregate of distinct values": lambda o: INTS.filter(lambda r: r.k == o.k).aggregate(
        b=lambda r: f.max(r.b).distinct()
    ),
    "count": lambda o: INTS.filter(lambda r: r.b < o.b).aggregate(n=f.count()).select(b=lambda r: r.n.cast(I64)),
    "groups": lambda o: INTS.filter(lambda r: r.b < o.b).aggregate("k", b=lambda r: f.min(r.b)),
    "groups by the row outside": lambda o: INTS.aggregate(
        lambda r: f.coalesce(r.a, o.a).alias("a"), b=lambda r: f.min(r.b)
    ),
    "filter of groups": lambda o: INTS.aggregate("k", b=lambda r: f.min(r.b)).filter(lambda r: r.b < o.b),
    "grouping sets": lambda o: INTS.filter(lambda r: r.b < o.b).aggregate(
        "k", grouping_sets=[["k"], [], []], b=lambda r: f.max(r.b)
    ),
    "distinct": lambda o: INTS.filter(lambda r: r.b < o.b).select("b").distinct(),
    "window": lambda o: INTS.with_columns(b=lambda r: f.max(f.coalesce(r.b, o.b)).over(partition_by="k")),
    "window over groups of the row outside": lambda o: INTS.with_columns(
        b=lambda r: f.max(r.b).over(partition_by=f.coalesce(r.a, o.a))
    ),
    "cross": lambda o: INTS.filter(lambda r: r.k == o.k).cross(OTHERS.filter(lambda r: r.b2 < o.b)),
    "cross of one row": lambda o: INTS.cross(least(o)),
    "lateral join": lambda o: INTS.lateral_join(lambda l: OTHERS.filter(lambda r: (r.k2 == l.k) & (r.b2 <= o.b))),
    "left lateral join of one row": lambda o: INTS.drop("b").lateral_join(
        lambda l: least(o).filter(lambda r: f.is_null(r.b2)), how="left"
    ),
    "exists inside": lambda o: INTS.filter(lambda r: sd.exists(OTHERS.filter(lambda s: (s.k2 == r.k) & (s.b2 < o.b)))),
    "in inside": lambda o: INTS.filter(lambda r: r.b.is_in(OTHERS.filter(lambda s: s.b2 <= o.b).select("b2"))),
    "not in one row inside": lambda o: INTS.filter(lambda r: ~r.b.is_in(least(o))),
    "scalar inside": lambda o: INTS.with_columns(b=lambda r: sd.scalar_subquery(least(o))),
    "aggregate of one row inside": lambda o: INTS.with_columns(
        b=lambda r: sd.scalar_subquery(least(o).filter(lambda s: f.is_null(s.b2)).aggregate(n=f.count())).cast(I64)
    ),
    **{name: inside for how in JOIN_TYPES if "single" not in how for name, inside in joins(how).items()},
    **{name: inside for op in SET_OPS for name, inside in sets(op).items()},
}


def count(relation: Any) -> Any:
    return sd.scalar_subquery(relation.aggregate(n=f.count()))


AROUND: dict[str, Callable[[Inside], Any]] = {
    "in": lambda inside: INTS.select("k", v=lambda o: o.b.is_in(inside(o))),
    "all": lambda inside: INTS.filter(lambda o: o.b >= sd.all_of(inside(o))),
    "not exists": lambda inside: INTS.filter(lambda o: ~sd.exists(inside(o))),
    "nulls": lambda inside: INTS.select("k", v=lambda o: count(inside(o).filter(lambda r: r.v.is_null()))),
    "groups": lambda inside: INTS.select("k", v=lambda o: count(inside(o).aggregate("v", n=f.count()))),
    "lateral": lambda inside: INTS.lateral_join(inside, how="left"),
}
"""Relations with a relation inside that has one column `v`."""
DUCKDB_IS_WRONG = {("cross of one row", "lateral")}
"""It loses the row that an aggregate makes of no rows. Nor is there an aggregate in a set operation, for the same."""


@pytest.mark.parametrize("name", INSIDE)
def test_inside_every_kind_of_subquery(name: str, session: SparkSession, connection: duckdb.DuckDBPyConnection) -> None:
    def inside(o: Any) -> Any:
        made = INSIDE[name](o)
        return made.select(v=sd.col("b" if "b" in made.columns else "b2"))

    wrong = {}
    for around, make in AROUND.items():
        if (name, around) in DUCKDB_IS_WRONG:
            continue
        if result := result_of(case_of(0, make(inside), connection), session):
            wrong[around] = result
    assert not wrong
