"""Lateral joins on Spark, against loops in Python; as DataFrames, as text and inside a subquery."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra.rules import LATERAL_JOIN_TYPES
from substrait_dsl.errors import UnsupportedError
from tests.spark.joined import Row, both, equal, expected, less
from tests.spark.rows import SECOND_MATCH, DuckdbRows, Tables, by_tag, collected, counted, register, tagged, values
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEFT: list[Row] = [(1, 10), (1, 10), (2, None), (3, 30), (None, 5)]
RIGHT: list[Row] = [(1, 5), (1, 20), (1, 30), (2, 40), (None, 1), (3, None), (3, 7)]
TABLES: Tables = {"lefts": ({"a": "i64?", "b": "i64?"}, LEFT), "rights": ({"c": "i64?", "d": "i64?"}, RIGHT)}


def largest_two(x: Row) -> list[Row]:
    """The right rows with the key of a left row, those with the largest `d`, NULL the smallest."""
    rows = [y for y in RIGHT if equal(x[0], y[0])]
    return sorted(rows, key=lambda y: -1 if y[1] is None else y[1])[-2:]


def smaller(x: Row) -> list[Row]:
    return [y for y in RIGHT if less(y[1], x[1])]


RIGHTS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Row], list[Row]]]] = {
    "same key, largest two": (
        lambda rights, x: rights.filter(lambda y: y.c == x.a).top_n(2, sd.desc("d", nulls="last")),
        largest_two,
    ),
    "smaller": (lambda rights, x: rights.filter(lambda y: y.d < x.b), smaller),
    "a reference for nothing": (
        lambda rights, x: rights.filter(lambda y: ((y.c == x.a) | (y.d > 6)) & (y.d > 6)),
        lambda x: [y for y in RIGHT if less(6, y[1])],
    ),
    "no reference": (lambda rights, x: rights, lambda x: RIGHT),
}
CONDITIONS: dict[str, tuple[Any, Callable[[Row, Row], bool | None]]] = {
    "true": (True, lambda x, y: True),
    "less": (lambda x, y: x.b < y.d, lambda x, y: less(x[1], y[1])),
    "greater, in the end": (lambda x, y: ((x.a == y.c) | (y.d > 6)) & (y.d > 6), lambda x, y: less(6, y[1])),
    "equal and less": (
        lambda x, y: (x.a == y.c) & (y.d > 6),
        lambda x, y: both(equal(x[0], y[0]), less(6, y[1])),
    ),
}


@pytest.mark.parametrize("how", LATERAL_JOIN_TYPES)
@pytest.mark.parametrize("form", ["text", "frames"])
def test_every_lateral_join(how: Any, form: str, spark: SparkSession) -> None:
    reads = register(TABLES, spark)
    lefts = reads["lefts"] if form == "text" else values(TABLES["lefts"][0], *LEFT).exchange(sd.round_robin())
    wanted, joins = {}, {}
    for over, on in product(RIGHTS, CONDITIONS):
        (make, right_of), (condition, test) = RIGHTS[over], CONDITIONS[on]

        def matches(x: Row, y: Row, right_of: Any = right_of, test: Any = test) -> bool | None:
            return test(x, y) if y in right_of(x) else False

        wanted[f"{over}, {on}"] = expected(how, LEFT, RIGHT, matches)
        joins[f"{over}, {on}"] = lefts.lateral_join(partial(make, reads["rights"]), condition, how)
    fine = {name: rows for name, rows in wanted.items() if rows != "a second match"}
    assert (len(fine) < len(wanted)) == (how == "left_single")
    found = by_tag(tagged({name: joins[name] for name in fine}), spark)
    for name, rows in fine.items():
        assert found.get(name, Counter()) == rows, name
    for name in sorted(wanted.keys() - fine.keys()):
        with pytest.raises(Exception, match=SECOND_MATCH):
            joins[name].aggregate(n=f.count()).execute(spark).collect()


COMPUTED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "sort and limit": (
        lambda x, y: y.filter(lambda r: r.d < x.b).sort(sd.desc("d")).limit(2).select("c", "d"),
        "SELECT c, d FROM rights WHERE d < b ORDER BY d DESC LIMIT 2",
    ),
    "groups": (
        lambda x, y: y.filter(lambda r: r.d < x.b).aggregate("c", n=f.count()),
        "SELECT c, count(*) FROM rights WHERE d < b GROUP BY c",
    ),
    "expand": (
        lambda x, y: (
            y.filter(lambda r: r.c == x.a)
            .expand(v=lambda r: sd.switching(r.d, x.b))
            .select("v", i=lambda r: r.index.cast(sd.I64))
        ),
        "SELECT d, 0 FROM rights WHERE c = a UNION ALL SELECT b, 1 FROM rights WHERE c = a",
    ),
    "window": (
        lambda x, y: y.filter(lambda r: r.d < x.b).window(partition_by="c", n=lambda r: f.sum(r.d)).select("d", "n"),
        "SELECT d, sum(d) OVER (PARTITION BY c) FROM rights WHERE d < b",
    ),
    "union": (
        lambda x, y: y.filter(lambda r: r.c == x.a).union_all(y.filter(lambda r: r.d == x.b)),
        "SELECT * FROM rights WHERE c = a UNION ALL SELECT * FROM rights WHERE d = b",
    ),
    "minus": (
        lambda x, y: y.filter(lambda r: r.c == x.a).set_op("minus_primary", y.filter(lambda r: r.d < x.b)),
        "SELECT * FROM rights WHERE c = a EXCEPT SELECT * FROM rights WHERE d < b",
    ),
    "join": (
        lambda x, y: (
            y.filter(lambda r: r.c == x.a)
            .join(y.filter(lambda r: r.d <= x.b).select(e=lambda r: r.d), on=lambda r, s: r.d < s.e)
            .select("d", "e")
        ),
        "SELECT r.d, s.d FROM rights r JOIN rights s ON r.d < s.d WHERE r.c = a AND s.d <= b",
    ),
}


def test_what_is_computed_for_each_row_against_duckdb(spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    reads = register(TABLES, spark)
    joins = {
        name: reads["lefts"].lateral_join(lambda x, make=make: make(x, reads["rights"]), how="left")
        for name, (make, _) in COMPUTED.items()
    }
    found = by_tag(tagged(joins), spark)
    for name, (_, query) in COMPUTED.items():
        wanted = duckdb_rows(f"SELECT * FROM lefts LEFT JOIN LATERAL ({query}) ON true", TABLES)
        assert found[name] == wanted, name


@pytest.mark.parametrize("computes", [False, True])
@pytest.mark.parametrize("hows", [("inner", "left", "right", "outer"), ("semi", "anti"), ("mark",)])
def test_both_inputs_of_a_join_may_depend_on_the_left_row(
    hows: tuple[Any, ...], computes: bool, spark: SparkSession
) -> None:
    reads = register(TABLES, spark)
    if len(hows) < 3:
        hows = tuple(f"{side}_{how}" for side in ("left", "right") for how in hows)

    def joined(x: Any, how: Any) -> Any:
        first = reads["rights"].filter(lambda r: r.c == x.a).select(e=lambda r: r.d, g=lambda r: r.c)
        second = reads["rights"].filter(lambda r: (r.d < x.b) & (r.d > 1)).filter(lambda r: r.c < 3)
        if computes:
            second = second.select(n=lambda s: -s.c, d=lambda s: s.d + 0).filter(lambda s: s.n + x.a > 0)
            second = second.select(c=lambda s: -s.n, d=lambda s: s.d)
        return first.join(second, lambda r, s: r.e < s.d, how)

    found = by_tag(
        tagged({how: reads["lefts"].lateral_join(partial(joined, how=how), how="left") for how in hows}), spark
    )
    for how in hows:
        wanted: Counter[Row] = Counter()
        for a, b in LEFT:
            first = [(d, c) for c, d in RIGHT if equal(c, a)]
            second = [(c, d) for c, d in RIGHT if both(both(less(1, d), less(d, b)), less(c, 3))]
            if computes:
                second = [(c, d) for c, d in second if less(c, a)]
            rows = expected(how, first, second, lambda r, s: less(r[0], s[1]))
            assert isinstance(rows, Counter)
            width = len(next(iter(found[how]))) - 2
            wanted.update({(a, b, *row): many for row, many in (rows or {(None,) * width: 1}).items()})
        assert found[how] == wanted, how


def test_a_view_with_random_values_is_refused_by_that_name(spark: SparkSession) -> None:
    spark.sql("SELECT id, uuid() AS key FROM range(3)").createOrReplaceTempView("random_rows")
    rows, outer = sd.read_named("random_rows", {"id": "i64", "key": "string"}), values({"n": "i64"}, (1,), (2,))

    def counted_below(o: Any) -> Any:
        return rows.filter(lambda q: q.id < o.n).aggregate(c=f.count())

    with refused(UnsupportedError, "execute", "has random values", "of a view", "write the rows of the view"):
        outer.lateral_join(counted_below, how="left").execute(spark)


def test_an_aggregate_has_a_row_for_every_row(spark: SparkSession) -> None:
    reads = register(TABLES, spark)
    totals = reads["lefts"].lateral_join(
        lambda x: reads["rights"].filter(lambda y: y.c == x.a).aggregate(n=f.count(), total=lambda y: f.sum(y.d))
    )
    assert counted(totals.select("a", "n", "total"), spark) == Counter(
        {(1, 3, 55): 2, (2, 1, 40): 1, (3, 2, 7): 1, (None, 0, None): 1}
    )


def test_the_one_row_of_an_aggregate_is_a_single_match(spark: SparkSession) -> None:
    t, u = values({"a": "i64"}, (1,), (2,), (3,)), values({"k": "i64", "v": "i64"}, (1, 5), (1, 6), (2, 7))
    few = u.filter(lambda r: r.v < 6).select("k")

    def totals(outer: Any, *conditions: Any) -> Any:
        inner = u.filter(lambda r: r.k == outer.a, *conditions)
        return inner.aggregate(n=lambda r: f.sum0(r.v))

    joined = t.lateral_join(lambda outer: totals(outer), how="left_single")
    assert counted(joined, spark) == Counter([(1, 11), (2, 7), (3, 0)])
    both = t.lateral_join(lambda o: totals(o, lambda r: o.a > o.a, lambda r: r.k.is_in(few)), how="left_single")
    assert counted(both, spark) == Counter([(1, 0), (2, 0), (3, 0)])
    zeros = t.lateral_join(lambda outer: totals(outer).filter(lambda r: r.n == 0), how="left_single")
    assert counted(zeros, spark) == Counter([(1, None), (2, None), (3, 0)])


def test_ties_and_windows_of_each_row(spark: SparkSession) -> None:
    lefts = values({"a": "i64"}, (1,), (2,))
    rights = values({"c": "i64", "d": "i64"}, (1, 5), (1, 5), (1, 6), (2, 8), (2, 9))
    first = lefts.lateral_join(lambda x: rights.filter(lambda y: y.c == x.a).top_n(1, "d", with_ties=True))
    assert counted(first, spark) == Counter({(1, 1, 5): 2, (2, 2, 8): 1})
    placed = lefts.lateral_join(
        lambda x: rights.filter(lambda y: y.c == x.a).window(total=lambda y: f.sum(y.d)).select("d", "total")
    )
    assert counted(placed, spark) == Counter({(1, 5, 16): 2, (1, 6, 16): 1, (2, 8, 17): 1, (2, 9, 17): 1})


def test_subqueries_in_the_condition_see_both_rows(spark: SparkSession) -> None:
    reads = register(TABLES, spark)
    rights = reads["rights"]

    def is_exceeded(x: Any, y: Any) -> Any:
        return (x.a == y.c) & sd.exists(rights.filter(lambda z: (z.c == x.a) & (z.d > y.d)))

    def test(x: Row, y: Row) -> bool | None:
        return both(equal(x[0], y[0]), any(equal(z[0], x[0]) and less(y[1], z[1]) for z in RIGHT))

    for how in ("inner", "left", "left_semi", "left_anti", "left_mark"):
        joined = reads["lefts"].lateral_join(lambda x: rights, is_exceeded, how)
        assert counted(joined, spark) == expected(how, LEFT, RIGHT, test), how


def test_a_lateral_join_in_a_lateral_join(spark: SparkSession) -> None:
    reads = register(TABLES, spark)
    lefts, rights = reads["lefts"], reads["rights"]
    joined = lefts.lateral_join(
        lambda x: rights.filter(lambda y: y.c == x.a).lateral_join(
            lambda y: rights.filter(lambda z: (z.c == x.a) & (z.d < y.d)).select(e=lambda z: z.d), how="left"
        )
    )
    assert counted(joined, spark) == Counter(
        x + y + (e,)
        for x in LEFT
        for y in RIGHT
        if equal(x[0], y[0])
        for e in [z[1] for z in RIGHT if equal(z[0], x[0]) and less(z[1], y[1])] or [None]
    )


def test_in_a_subquery(spark: SparkSession) -> None:
    reads = register(TABLES, spark)
    rights = reads["rights"]
    outer = values({"n": "i64"}, (20,), (50,))

    def exists(n: Any) -> Any:
        large = rights.filter(lambda y: y.d >= n.n)
        return sd.exists(large.lateral_join(lambda y: rights.filter(lambda z: (z.c == y.c) & (z.d > y.d)), how="inner"))

    # of the right rows with d >= 20, (1, 20) has a larger one of the same key; of those with d >= 50 there is none
    assert collected(outer.filter(exists), spark) == [(20,)]


def test_the_post_filter_sees_the_output(spark: SparkSession) -> None:
    reads = register(TABLES, spark)
    joined = reads["lefts"].lateral_join(
        lambda x: reads["rights"].filter(lambda y: y.c == x.a), how="left", post_filter=lambda r: r.c.is_null()
    )
    assert counted(joined, spark) == Counter([(None, 5, None, None)])


def test_equal_keys_are_hashed(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    reads = register({"r": ({"c": "i64", "d": "i64"}, [(1, 1), (2, 2)])}, spark)
    for how in LATERAL_JOIN_TYPES:
        left = values({"a": "i64"}, (1,), (2,))
        left.lateral_join(lambda x: reads["r"].filter(lambda y: y.c == x.a), how=how).execute(spark).explain()
        plan = capsys.readouterr().out
        assert "BroadcastHashJoin" in plan, how
        assert "NestedLoop" not in plan, how


JOINED: list[Callable[[Any, Any, Any], Any]] = [
    lambda b, p, a: b.join(p, lambda l, r: (l.k == r.k2) & (r.m >= a), "outer"),
    lambda b, p, a: b.join(p, lambda l, r: (l.n == r.m) & (a == 1), "outer"),
    lambda b, p, a: b.nested_loop_join(p, lambda l, r: l.n + r.m > a * 2, "outer"),
    lambda b, p, a: b.hash_join(p, [("k", "k2")], "outer", residual=lambda l, r: r.m >= a),
    lambda b, p, a: b.merge_join(p, [("k", "k2")], "outer", post_filter=lambda r: r.m.is_null() | (r.m >= a)),
]


@pytest.mark.parametrize("number", range(len(JOINED)))
def test_outer_joins_on_the_left_row(number: int, spark: SparkSession) -> None:
    """What a subquery gives for a row is what it gives with that row's values as constants."""
    ids = values({"id": "i64"}, (1,), (2,))
    booked = values({"k": "string", "n": "i64"}, ("x", 1), ("y", 2)).sort("k")
    paid = values({"k2": "string", "m": "i64"}, ("x", 1), ("z", 2)).sort("k2")
    made = partial(JOINED[number], booked, paid)
    alone = {i: counted(made(sd.lit(i)), spark) for i in (1, 2)}
    assert all(alone.values())
    found = ids.lateral_join(lambda a: made(a.id))
    assert counted(found, spark) == Counter({(i, *row): n for i, rows in alone.items() for row, n in rows.items()})
    number_of = ids.select("id", n=lambda a: sd.scalar_subquery(made(a.id).aggregate(n=f.count())))
    assert counted(number_of, spark) == Counter((i, rows.total()) for i, rows in alone.items())
