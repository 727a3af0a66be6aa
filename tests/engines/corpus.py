"""Small plans, one for each relation, join type, set operation, kind of expression and form of a subquery.

They read the tables of the random pipelines, so that DuckDB is the judge of their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES, SET_OPS
from tests.differential.tables import read

f: Any = functions
Relation = sd.Relation[Any]

INTS = read("ints")
FEW = read("ints").select(k2=sd.col("k"), a2=sd.col("a"), h2=sd.col("h"))
TEXTS = read("texts")
REALS = read("reals").select("a", "x", "z")
TIMES = read("times")
NOTHING = read("nothing")


def joined(how: Any) -> Relation:
    if how.endswith("single"):  # a row has one match: that with its own key
        one = FEW.group_by("k2").agg(most=lambda r: f.max(r.a2))
        sides = (INTS, one) if how.startswith("left") else (one, INTS)
        return sides[0].join(sides[1], lambda x, y: x[0] == y[0], how)
    return INTS.join(FEW, lambda x, y: (x.a == y.a2) & (x.k >= y.k2), how)


def hashed(how: Any, comparison: Any) -> Relation:
    return INTS.hash_join(FEW, [sd.join_key("a", "a2", comparison)], how)


def lateral(how: Any) -> Relation:
    if how == "left_single":
        return INTS.lateral_join(lambda x: FEW.filter(lambda y: y.a2 == x.a).aggregate(n=f.count()), how=how)
    return INTS.lateral_join(lambda x: FEW.filter(lambda y: y.a2 == x.a).select("k2"), how=how)


def combined(op: Any) -> Relation:
    return INTS.select("a", "h").set_op(op, FEW.select("a2", "h2"))


def correlated(x: Any) -> Relation:
    return FEW.filter(lambda y: (y.a2 == x.a) & (y.k2 != x.k))


PLANS: dict[str, Callable[[], Relation]] = {
    "read": lambda: INTS,
    "read columns": lambda: sd.read_named("ints", INTS.schema, columns=["h", "k"]),
    "read filter": lambda: sd.read_named("ints", INTS.schema, filter=lambda r: r.a > 0),
    "read nothing": lambda: NOTHING,
    "virtual": lambda: sd.read_virtual([(1, "a"), (None, "b")], {"n": "i32?", "s": "string"}),
    "filter": lambda: INTS.filter(lambda r: (r.a > 0) | (r.b < 0)),
    "project": lambda: INTS.project(c=lambda r: r.h.cast("i32?") + 1),
    "select": lambda: INTS.select("h", double=lambda r: r.h),
    "sort": lambda: INTS.sort("k", "a", "b", "h", "y"),
    "sort reals": lambda: REALS.sort(sd.desc("x", nulls="last"), "z", "a"),
    "fetch": lambda: INTS.sort("k", "a", "b", "h", "y").fetch(3, 2),
    "offset": lambda: INTS.sort("k", "a", "b", "h", "y").fetch(None, 3),
    "top n": lambda: INTS.top_n(2, "k", "a", "b", "h", "y"),
    "top n with ties": lambda: INTS.top_n(2, "k", with_ties=True),
    "cross": lambda: INTS.cross(read("single").select(q=sd.col("a"))),
    "nested loop": lambda: INTS.nested_loop_join(FEW, lambda x, y: x.k > y.k2, "left"),
    "aggregate": lambda: INTS.aggregate(n=f.count(), s=lambda r: f.sum(r.a), m=lambda r: f.avg(r.h)),
    "aggregate nothing": lambda: NOTHING.aggregate(n=f.count(), s=lambda r: f.sum(r.a), z=lambda r: f.sum0(r.a)),
    "group by": lambda: INTS.group_by("a").agg(n=f.count(), low=lambda r: f.min(r.b), mean=lambda r: f.avg(r.h)),
    "group by a real": lambda: REALS.group_by("z").agg(n=f.count()),
    "count distinct": lambda: INTS.group_by("y").agg(n=lambda r: f.count(r.a).distinct()),
    "measure filter": lambda: INTS.group_by("y").agg(n=lambda r: f.sum(r.a).filter(r.k > 0)),
    "grouping sets": lambda: INTS.aggregate("a", "h", grouping_sets=[(0, 1), (0,), ()], n=f.count()),
    "decimal average": lambda: read("reals").group_by("a").agg(n=lambda r: f.avg(r.n)),
    "bool_and": lambda: TEXTS.group_by("u").agg(p=lambda r: f.bool_and(r.p), q=lambda r: f.bool_or(r.p)),
    "expand": lambda: INTS.expand(index="i", k=sd.col("k"), v=lambda r: sd.switching(r.a, r.a)),
    "window": lambda: INTS.window(partition_by=["y"], order_by=["k"], n=f.rank(), d=f.dense_rank()),
    "window sum": lambda: INTS.window(partition_by=["y"], n=lambda r: f.sum(r.a)),
    "exchange": lambda: INTS.exchange(sd.scatter("k")),
    "exists": lambda: INTS.filter(lambda x: sd.exists(correlated(x))),
    "not exists": lambda: INTS.filter(lambda x: ~sd.exists(correlated(x))),
    "exists as a value": lambda: INTS.project(e=lambda x: sd.exists(correlated(x))),
    "unique": lambda: INTS.project(e=lambda x: sd.unique(FEW.filter(lambda y: y.a2 == x.a))),
    "in": lambda: INTS.filter(lambda x: x.a.is_in(FEW.select("a2"))),
    "not in": lambda: INTS.filter(lambda x: ~x.k.is_in(FEW.filter(lambda y: y.a2 > 0).select("k2"))),
    "not in with NULL": lambda: INTS.filter(lambda x: ~x.a.is_in(FEW.select("a2"))),
    "in as a value": lambda: INTS.project(e=lambda x: x.a.is_in(FEW.filter(lambda y: y.k2 > 0).select("a2"))),
    "in, correlated": lambda: INTS.project(e=lambda x: x.a.is_in(correlated(x).select("a2"))),
    "any": lambda: INTS.project(e=lambda x: x.a > sd.any_of(FEW.select("a2"))),
    "all": lambda: INTS.project(e=lambda x: x.k >= sd.all_of(FEW.filter(lambda y: y.a2 == x.a).select("k2"))),
    "all of none": lambda: INTS.project(e=lambda x: x.a >= sd.all_of(NOTHING.select("a"))),
    "scalar": lambda: INTS.project(e=sd.scalar_subquery(FEW.aggregate(m=lambda y: f.max(y.a2)))),
    "scalar, correlated": lambda: INTS.project(e=lambda x: sd.scalar_subquery(correlated(x).aggregate(n=f.count()))),
    "scalar of the first": lambda: INTS.project(
        e=lambda x: sd.scalar_subquery(FEW.filter(lambda y: y.a2 == x.a).select("k2").sort("k2").fetch(1))
    ),
    "nested subqueries": lambda: INTS.filter(
        lambda x: sd.exists(FEW.filter(lambda y: sd.exists(TEXTS.filter(lambda z: (z.k == x.k) & (z.k == y.k2)))))
    ),
    "case": lambda: INTS.project(c=lambda r: sd.when(r.a > 0).then(r.b).otherwise(None)),
    "between": lambda: INTS.filter(lambda r: r.a.between(0, 5)),
    "between NULL": lambda: INTS.project(c=lambda r: r.k.between(20, r.b)),
    "in list": lambda: INTS.project(c=lambda r: r.a.is_in([1, 2])),
    "is distinct": lambda: INTS.project(c=lambda r: f.is_distinct_from(r.a, r.h.cast("i32?"))),
    "coalesce": lambda: INTS.project(c=lambda r: f.coalesce(r.b, r.k)),
    "nullif": lambda: INTS.project(c=lambda r: f.nullif(r.b, r.k)),
    "like": lambda: TEXTS.filter(lambda r: f.like(r.u, "a%")),
    "concat": lambda: TEXTS.project(c=lambda r: f.concat(r.s, r.u)),
    "substring": lambda: TEXTS.project(c=lambda r: f.substring(r.u, 1, 2)),
    "year": lambda: TIMES.project(y=lambda r: f.extract("YEAR", r.c), n=lambda r: f.extract("MONTH", "ONE", r.c)),
    "cast": lambda: INTS.project(c=lambda r: r.a.cast("i64?"), s=lambda r: r.y.cast("string")),
    "not": lambda: TEXTS.filter(lambda r: ~r.p),
    "zeros": lambda: REALS.filter(lambda r: r.z == 0.0),
    "NaN": lambda: REALS.filter(lambda r: r.z - r.z == r.z - r.z),
    **{f"join {how}": partial(joined, how) for how in JOIN_TYPES},
    **{f"hash join {how}": partial(hashed, how, "eq") for how in ("inner", "left", "right_semi", "outer")},
    **{f"hash join {by}": partial(hashed, "inner", by) for by in ("is_not_distinct_from", "might_equal")},
    **{f"lateral {how}": partial(lateral, how) for how in LATERAL_JOIN_TYPES},
    **{f"set {op}": partial(combined, op) for op in SET_OPS},
}
"""By what they show."""
