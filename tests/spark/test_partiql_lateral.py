"""Right sides that refer to the left one, outer joins and unpivots on Spark, at their edges."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import partiql as pq
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.partiql import (
    Bindings,
    Values,
    bag,
    bag_of,
    desc,
    list_of,
    scan,
    struct,
    struct_concat,
    table,
    unpivot,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAN = float("nan")
ROWS = [
    {
        "id": 1,
        "maps": [{"a": 1}, {"b": 2}],
        "lists": [[1, None], [], [3]],
        "floats": [NAN, 1.0, -0.0],
        "days": [dt.date(2024, 2, 29)],
        "prices": [Decimal("1.50")],
        "s": {"k": 1, "v": {"w": "x"}},
    },
    {
        "id": 2,
        "maps": [],
        "lists": [],
        "floats": [0.0, NAN],
        "days": [],
        "prices": [],
        "s": {"k": 2, "v": {"w": None}},
    },
    {
        "id": 3,
        "maps": [{"a": 1}],
        "lists": None,
        "floats": [],
        "days": [],
        "prices": [Decimal("2.25"), Decimal("0.10")],
        "s": {"k": 2, "v": {"w": "y"}},
    },
]
INNER = sd.Struct.of({"w": sd.String(nullable=True)})
SCHEMA = {
    "id": "i64",
    "maps": "list<map<string, i64>>",
    "lists": "list<list<i64?>>?",
    "floats": "list<fp64>",
    "days": "list<date>",
    "prices": "list<decimal<10,2>>",
    "s": sd.Struct.of({"k": sd.I64(), "v": INNER}),
}
TABLE = table("t", sd.read_virtual(ROWS, SCHEMA))
DATA = {"t": bag(ROWS)}
O = scan(TABLE, as_="o")
E = scan([{"k": 1, "l": [1, 2], "z": None}, {"k": 2, "l": [3]}, {"k": 9, "l": [], "z": 1}], as_="e", at="place")

LATERAL: dict[str, Bindings | Values] = {
    "maps": O.cross_join(lambda t: scan(t.o.maps, as_="m", at="i")).map_values(lambda t: struct(a=t.m.a, i=t.i)),
    "lists in lists": O.cross_join(lambda t: scan(t.o.lists, as_="r", at="i"))
    .cross_join(lambda t: scan(t.r, as_="x", at="j"))
    .map_values(lambda t: struct(id=t.o.id, i=t.i, j=t.j, x=t.x)),
    "lists in lists, inside": O.cross_join(
        lambda t: scan(t.o.lists, as_="r", at="i").cross_join(
            lambda u: scan(u.r, as_="x", at="j").filter(lambda v: v.x >= t.o.id)
        )
    ).map_values(lambda t: struct(id=t.o.id, i=t.i, j=t.j, x=t.x)),
    "a limit inside a limit": O.cross_join(
        lambda t: (
            scan(t.o.floats, as_="f", at="i")
            .order_by(lambda u: u.i)
            .limit(2)
            .cross_join(lambda u: scan(list_of(u.i, t.o.id), as_="x", at="j").order_by(lambda v: v.j).offset(1))
        )
    ).map_values(lambda t: struct(id=t.o.id, i=t.i, f=t.f, x=t.x)),
    "a left join with a limit": O.join(
        lambda t: scan(t.o.floats, as_="f", at="i").order_by(lambda u: u.i).limit(2), on=lambda t: t.f > 0, how="left"
    ).map_values(lambda t: struct(id=t.o.id, f=t.f, i=t.i)),
    "groups of NaN": O.cross_join(
        lambda t: scan(t.o.floats, as_="f").group_by({"g": lambda u: u.f}, {"n": pq.count(lambda u: u.f)})
    ).map_values(lambda t: struct(id=t.o.id, g=t.g, n=t.n)),
    "sums of nothing": O.cross_join(
        lambda t: scan(t.o.prices, as_="p").group_by(measures={"total": pq.sum(lambda u: u.p)})
    ).map_values(lambda t: struct(id=t.o.id, total=t.total)),
    "several": O.cross_join(lambda t: scan(t.o.days, as_="d")).cross_join(lambda t: scan(t.o.prices, as_="p", at="n")),
    "a table": O.cross_join(
        lambda t: (
            scan(TABLE, as_="p")
            .filter(lambda u: u.p.s.k == t.o.s.k)
            .cross_join(lambda u: scan(u.p.floats, as_="f"))
            .group_by(measures={"n": pq.count(lambda v: v.f), "m": pq.max(lambda v: v.f)})
        )
    ).map_values(lambda t: struct(id=t.o.id, n=t.n, m=t.m)),
    "an index that is made anew": O.cross_join(
        lambda t: scan(scan(t.o.floats, as_="f").filter(lambda u: u.f >= 0).map_values(lambda u: u.f), as_="g", at="i")
    ).map_values(lambda t: struct(id=t.o.id, g=t.g, i=t.i)),
    "literal lists of several sizes": E.cross_join(lambda t: scan(t.e.l, as_="x", at="i")),
    "what is no list": E.cross_join(lambda t: scan(t.e.z, as_="x", at="i")).map_values(
        lambda t: struct(x=t.x, is_missing=t.x.is_missing(), i=t.i)
    ),
    "what was made before": O.map_let(
        l=lambda t: list_of(t.o.id, 2), b=lambda t: bag_of(t.o.id, t.o.id), s=lambda t: struct(a=t.o.id, b=t.o.s.v)
    )
    .cross_join(lambda t: scan(t.l, as_="x", at="i"))
    .cross_join(lambda t: scan(t.b, as_="y", at="j"))
    .map_values(lambda t: struct(x=t.x, i=t.i, y=t.y, j=t.j, s=t.s)),
    "a left join in a row": O.cross_join(
        lambda t: scan(t.o.floats, as_="f", at="i").join(scan([0, 1], as_="n"), on=lambda u: u.n == u.i, how="left")
    ).map_values(lambda t: struct(id=t.o.id, f=t.f, i=t.i, n=t.n)),
    "a left join with what is in a row": O.cross_join(
        lambda t: scan([0, 1], as_="n").join(
            scan(t.o.floats, as_="f", at="i"), on=lambda u: (u.n == u.i) & (t.o.id > 1), how="left"
        )
    ).map_values(lambda t: struct(id=t.o.id, f=t.f, i=t.i, n=t.n)),
    "a left join with what is in each": O.cross_join(
        lambda t: scan(t.o.lists, as_="r").join(
            lambda u: scan(u.r, as_="x", at="j").filter(lambda v: v.j < t.o.id), on=lambda u: u.x >= t.o.id, how="left"
        )
    ).map_values(lambda t: struct(id=t.o.id, x=t.x, j=t.j)),
    "nothing": O.cross_join(lambda t: scan(list_of(), as_="x")),
    "an order": O.cross_join(lambda t: scan(t.o.floats, as_="f", at="i"))
    .order_by(desc(lambda t: t.o.id), lambda t: t.i)
    .map_values(lambda t: struct(id=t.o.id, f=t.f)),
    "the attributes of a struct": O.cross_join(lambda t: unpivot(t.o.s.v, as_="v", at="k")).map_values(
        lambda t: struct(id=t.o.id, k=t.k, v=t.v)
    ),
    "structs as attributes": unpivot({"a": {"x": 1}, "b": {"y": 2}}, as_="v", at="k", by="u"),
    "what is no struct": O.cross_join(lambda t: unpivot(t.o.id, as_="v", at="k")).map_values(
        lambda t: struct(k=t.k, v=t.v)
    ),
}

OUTER: dict[str, Bindings | Values] = {
    "null and missing": E.join(O, on=lambda t: t.o.id == t.e.k, how="right").map_values(
        lambda t: struct(
            id=t.o.id,
            e=t.e,
            z=t.e.z,
            is_missing=t.e.z.is_missing(),
            is_null=t.e.is_null(),
            place=t.place,
            nowhere=t.e.nowhere,
            is_nowhere=t.e.nowhere.is_missing(),
        )
    ),
    "constants": O.join(
        E.map_let(
            c=pq.lit(5), s=pq.lit({"a": 1, "b": [1, 2]}), m=pq.lit(pq.MISSING), l=lambda t: list_of(t.e.k, t.e.z)
        ),
        on=lambda t: t.o.id == t.e.k,
        how="left",
    ).map_values(
        lambda t: struct(
            id=t.o.id, c=t.c, s=t.s, a=t.s.a, m=t.m, is_missing=t.m.is_missing(), l=t.l, l1=t.l[1], b=t.l[9]
        )
    ),
    "groups": O.join(
        scan(O.map_values(lambda t: struct(z=t.o.id, k=t.o.s.k)), as_="w").group_by(
            {"k": lambda t: t.w.k}, group_as="g"
        ),
        on=lambda t: t.k == t.o.id,
        how="left",
    ).map_values(lambda t: struct(id=t.o.id, k=t.k, g=t.g, is_null=t.g.is_null())),
    "counted": O.join(E, on=lambda t: t.o.id == t.e.k, how="left").group_by(
        measures={"e": pq.count(lambda t: t.e), "z": pq.count(lambda t: t.e.z), "o": pq.count(lambda t: t.o)}
    ),
    "concatenated": E.join(O, on=lambda t: t.o.id == t.e.k, how="left").map_values(
        lambda t: struct(k=t.e.k, c=struct_concat(struct(k=t.e.k), t.o))
    ),
    "one after the other": O.join(E, on=lambda t: t.o.id == t.e.k, how="full").join(
        scan([{"q": 2}, {"q": 7}], as_="g"), on=lambda t: t.g.q == t.e.k, how="right"
    ),
    "a list that may be null": E.join(O, on=lambda t: t.o.id == t.e.k, how="left")
    .cross_join(lambda t: scan(t.o.floats, as_="f", at="i"))
    .map_values(lambda t: struct(k=t.e.k, f=t.f, i=t.i)),
    "a struct that may be null": E.join(O, on=lambda t: t.o.id == t.e.k, how="left")
    .cross_join(lambda t: scan(t.o, as_="p", at="i"))
    .map_values(lambda t: struct(k=t.e.k, p=t.p.id, is_null=t.p.is_null())),
    "no tuples": O.join(scan([], as_="n"), how="left").map_values(lambda t: struct(id=t.o.id, n=t.n)),
    "no condition": O.join(scan([{"a": 1}], as_="n"), how="full").map_values(lambda t: struct(id=t.o.id, n=t.n)),
    "a condition that is no boolean": O.join(scan([{"a": 1}], as_="n"), on=lambda t: t.n.a, how="full").map_values(
        lambda t: struct(id=t.o.id, n=t.n)
    ),
}


B = scan(bag([{"k": 1}, {"k": 2}, {"k": 9}]), as_="e")


def alike(row: Any) -> Bindings:
    """The rows of the table whose struct has the same number."""
    return scan(TABLE, as_="p").filter(lambda u: u.p.s.k == row.o.s.k)


QUERIES: dict[str, Bindings | Values] = {
    "numbers": O.map_values(lambda t: struct(id=t.o.id, ids=alike(t).map_values(lambda u: u.p.id))),
    "nulls": O.map_values(lambda t: struct(id=t.o.id, ws=alike(t).map_values(lambda u: u.p.s.v.w))),
    "structs": O.map_values(lambda t: alike(t).map_values(lambda u: struct(a=u.p.id, b=t.o.id, s=u.p.s))),
    "no rows": O.map_values(lambda t: alike(t).filter(lambda u: u.p.id > 3).map_values(lambda u: u.p.id)),
    "of nothing around": O.map_values(lambda t: struct(id=t.o.id, ks=B.map_values(lambda u: u.e.k))),
    "two": O.map_values(
        lambda t: struct(
            more=B.filter(lambda u: u.e.k > t.o.id).map_values(lambda u: u.e.k),
            less=B.filter(lambda u: u.e.k < t.o.id).map_values(lambda u: u.e.k),
        )
    ),
    "in each other": O.map_values(
        lambda t: alike(t).map_values(
            lambda u: struct(
                id=u.p.id,
                ks=B.filter(lambda v: v.e.k >= u.p.id + t.o.id).map_values(lambda v: v.e.k),
                fs=scan(u.p.floats, as_="f").filter(lambda v: v.f >= 0).map_values(lambda v: v.f),
            )
        )
    ),
    "a list": O.map_values(
        lambda t: (
            scan(t.o.floats, as_="f", at="i").filter(lambda u: u.f >= 0).map_values(lambda u: struct(f=u.f, i=u.i))
        )
    ),
    "in an order": O.map_values(
        lambda t: alike(t).order_by(desc(lambda u: u.p.s.v.w), lambda u: u.p.id).map_values(lambda u: u.p.s.v.w)
    ),
    "of which it is one": O.filter(lambda t: t.o.id.is_in(B.map_values(lambda u: u.e.k))).map_values(lambda t: t.o.id),
    "of which it is none": O.filter(lambda t: ~t.o.s.k.is_in(alike(t).map_values(lambda u: u.p.id))).map_values(
        lambda t: t.o.id
    ),
    "with nulls, of which it is none": O.map_values(
        lambda t: struct(
            id=t.o.id,
            x=t.o.s.v.w.is_in(scan(TABLE, as_="p").map_values(lambda u: u.p.s.v.w)),
            y=pq.lit("x").is_in(alike(t).map_values(lambda u: u.p.s.v.w)),
        )
    ),
    "of which there is one": O.filter(
        lambda t: pq.lit(1).is_in(B.filter(lambda u: u.e.k == t.o.id).map_values(lambda u: 1))
    ).map_values(lambda t: t.o.id),
    "in the condition of a join": O.join(
        B, on=lambda t: (t.e.k == t.o.id) & t.o.id.is_in(scan([1, 3], as_="n").map_values(lambda u: u.n))
    ).map_values(lambda t: struct(id=t.o.id, k=t.e.k)),
    "the condition of a right side": O.cross_join(
        lambda t: scan(t.o.floats, as_="f").filter(
            lambda u: u.f.is_in(scan([NAN, 1.0], as_="n").map_values(lambda v: v.n))
        )
    ).map_values(lambda t: struct(id=t.o.id, f=t.f)),
    "of which it is the first": O.map_values(
        lambda t: struct(
            w=alike(t).order_by(desc(lambda u: u.p.id)).map_values(lambda u: u.p.s.v.w)[0],
            none=alike(t).order_by(lambda u: u.p.id).map_values(lambda u: u.p.id)[9].is_missing(),
        )
    ),
    "scanned": O.map_let(g=lambda t: scan(t.o.floats, as_="f").filter(lambda u: u.f >= 0).map_values(lambda u: u.f))
    .cross_join(lambda t: scan(t.g, as_="x", at="i"))
    .map_values(lambda t: struct(id=t.o.id, x=t.x, i=t.i)),
}


@pytest.mark.parametrize("queries", [LATERAL, OUTER, QUERIES], ids=["lateral", "outer", "queries"])
def test_spark_agrees_with_the_interpreter(spark: SparkSession, queries: dict[str, Bindings | Values]) -> None:
    for name, query in queries.items():
        wanted: Any = query.evaluate(DATA)
        got = query.collect(spark)
        assert (type(got), got) == (type(wanted), wanted), name
        assert len(query.execute(spark).collect()) == len(wanted), name


def test_strict_mode(spark: SparkSession) -> None:
    inside = O.cross_join(lambda t: scan(t.o.lists, as_="r", at="i")).map_values(lambda t: struct(id=t.o.id, i=t.i))
    assert inside.collect(spark, "strict") == inside.evaluate(DATA, "strict")
    joined = E.join(O, on=lambda t: t.o.id == t.e.k, how="full").map_values(lambda t: struct(k=t.e.k, id=t.o.id))
    assert joined.collect(spark, "strict") == joined.evaluate(DATA, "strict")
    missing = E.join(O, on=lambda t: t.o.id == t.e.k, how="left").map_values(lambda t: t.e.z)
    with pytest.raises(ExecutionError, match='there is no attribute "z"'):
        missing.collect(spark, "strict")
    there = E.filter(lambda t: t.e.k != 2).join(O, on=lambda t: t.o.id == t.e.k, how="full").map_values(lambda t: t.e.z)
    assert there.collect(spark, "strict") == there.evaluate(DATA, "strict")
    wrong = O.join(E, on=lambda t: t.e.k, how="left")
    with pytest.raises(ExecutionError, match=r"^collect: a condition is a boolean, not a value such as \d+$"):
        wrong.collect(spark, "strict")


def test_a_join_in_a_row_that_keeps_what_does_not_depend_on_it(spark: SparkSession) -> None:
    full = O.cross_join(
        lambda t: scan([1], as_="n").join(scan(t.o.floats, as_="f"), on=lambda u: u.f > u.n, how="full")
    )
    assert full.collect(spark) == full.evaluate(DATA)


def test_what_spark_cannot_group_by_is_refused_before_anything_runs(spark: SparkSession) -> None:
    first = O.cross_join(lambda t: scan(t.o.maps, as_="m", at="i").order_by(lambda u: u.i).limit(1))
    with pytest.raises(UnsupportedError, match="as an unnest in a lateral join does"):
        first.collect(spark)


def test_a_map_of_an_outer_row(spark: SparkSession) -> None:
    """Spark takes one in a plain subquery, and not where it would have to compare maps."""
    rows = sd.read_virtual([(1, {"k": 1}), (2, {})], {"id": "i64", "m": "map<string,i64>"})
    of = scan(table("maps", rows), as_="o")
    data = {"maps": bag([{"id": 1, "m": {"k": 1}}, {"id": 2, "m": {}}])}
    for plain in (
        of.cross_join(lambda t: scan(struct(m=t.o.m), as_="x")).map_values(lambda t: struct(id=t.o.id, k=t.x.m.k)),
        of.cross_join(lambda t: scan(list_of(t.o.id, 2), as_="x").order_by(lambda u: u.x).limit(1)),
        of.map_let(k=lambda t: t.o.m.k).cross_join(
            lambda t: scan(list_of(t.k, 2), as_="x").order_by(lambda u: u.x).limit(1)
        ),
    ):
        assert plain.collect(spark) == plain.evaluate(data), str(plain)
    for compared in (
        of.join(lambda t: scan(struct(m=t.o.m), as_="x"), how="left"),
        of.cross_join(lambda t: scan(list_of(t.o.m.k, 2), as_="x").order_by(lambda u: u.x).limit(1)),
        of.map_values(lambda t: list_of(scan(struct(m=t.o.m), as_="x").map_values(lambda u: u.x.m.k))),
    ):
        with pytest.raises(UnsupportedError, match="refers to a column of map<string, i64> of an outer row"):
            compared.execute(spark)
        with pytest.raises(UnsupportedError, match="refers to a column of map<string, i64> of an outer row"):
            compared.collect(spark)
