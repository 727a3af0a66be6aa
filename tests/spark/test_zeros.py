"""0.0 and -0.0 are equal, and what is computed of them is not: also of those of a row outside, inside subqueries.

Spark computes a subquery once for all rows outside whose values are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from tests.spark.rows import values
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOTH = values({"i": "i64", "x": "fp64"}, (1, -0.0), (2, 0.0))
ONE = values({"z": "i64"}, (0,))
LISTS = values({"i": "i64", "x": "list<fp32>"}, (1, [-0.0]), (2, [0.0]))
STRUCTS = values(
    {"i": "i64", "x": "nstruct<a: fp32, b: list<fp64>>?"}, (1, (-0.0, [nan])), (2, (0.0, [1.5])), (3, None)
)


def inverse(x: Any) -> Any:
    return f.power(x, -1.0)


def text(x: Any) -> Any:
    return x.cast(sd.String)


def is_negative(x: Any) -> Any:
    """Whether x is -0.0, or below."""
    return inverse(x) < 0.0


CASES: dict[str, tuple[Callable[[], Any], list[tuple[Any, ...]]]] = {
    "a lateral join": (
        lambda: BOTH.lateral_join(lambda r: ONE.select(y=lambda q: inverse(r.x))).select("i", "y"),
        [(1, -inf), (2, inf)],
    ),
    "a scalar subquery": (
        lambda: BOTH.select("i", y=lambda r: sd.scalar_subquery(ONE.select(y=lambda q: inverse(r.x)))),
        [(1, -inf), (2, inf)],
    ),
    "texts": (
        lambda: BOTH.select("i", y=lambda r: sd.scalar_subquery(ONE.select(y=lambda q: text(r.x)))),
        [(1, "-0.0"), (2, "0.0")],
    ),
    "exists, of a set": (
        lambda: BOTH.filter(lambda r: sd.exists(ONE.filter(lambda q: is_negative(r.x)).intersect(ONE))).select("i"),
        [(1,)],
    ),
    "exists, of an aggregate": (
        lambda: BOTH.filter(
            lambda r: sd.exists(ONE.aggregate(m=lambda q: f.max(inverse(r.x))).filter(lambda g: g.m < 0.0))
        ).select("i"),
        [(1,)],
    ),
    "two rows out": (
        lambda: BOTH.filter(
            lambda r: sd.exists(
                ONE.filter(
                    lambda q: sd.exists(
                        ONE.aggregate(m=lambda p: f.max(inverse(r.x))).filter(lambda g: (g.m < 0.0) & (q.z == 0))
                    )
                )
            )
        ).select("i"),
        [(1,)],
    ),
    "is_in": (
        lambda: BOTH.filter(
            lambda r: r.i.is_in(ONE.select(y=lambda q: sd.when(is_negative(r.x)).then(sd.lit(1, sd.I64)).otherwise(9)))
        ).select("i"),
        [(1,)],
    ),
    "what is_in looks for": (
        lambda: BOTH.select("i", y=lambda r: inverse(r.x).is_in(ONE.select(y=sd.lit(-inf)))),
        [(1, True), (2, False)],
    ),
    "what a condition looks for": (
        lambda: BOTH.filter(lambda r: inverse(r.x).is_in(ONE.select(y=sd.lit(-inf)))).select("i"),
        [(1,)],
    ),
    "what any looks for": (
        lambda: BOTH.select("i", y=lambda r: inverse(r.x) < sd.any_of(ONE.select(y=sd.lit(0.0)))),
        [(1, True), (2, False)],
    ),
    "lists": (
        lambda: LISTS.lateral_join(lambda r: ONE.select(v=r.x).unnest("v", element="e"), how="left").select(
            "i", y=lambda q: text(q.e)
        ),
        [(1, "-0.0"), (2, "0.0")],
    ),
    "structs": (
        lambda: STRUCTS.select(
            "i", y=lambda r: sd.scalar_subquery(ONE.select(y=lambda q: f.concat(text(r.x["a"]), text(r.x["b"][0]))))
        ),
        [(1, "-0.0NaN"), (2, "0.01.5"), (3, None)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_subqueries_tell_zeros_apart(case: str, spark: SparkSession) -> None:
    make, wanted = CASES[case]
    assert make().sort("i").collect(spark) == wanted


JOINED: dict[Any, list[tuple[Any, ...]]] = {
    "inner": [(1, 0)],
    "left": [(1, 0), (2, None)],
    "outer": [(1, 0), (2, None)],
    "left_semi": [(1,)],
    "left_anti": [(2,)],
    "left_mark": [(1, True), (2, False)],
    "left_single": [(1, 0), (2, None)],
}


@pytest.mark.parametrize("how", JOINED)
def test_conditions_of_joins_tell_zeros_apart(how: Any, spark: SparkSession) -> None:
    joins = [
        BOTH.join(ONE, lambda l, r: is_negative(l.x) & (l.i > r.z), how),
        BOTH.join(ONE, lambda l, r: sd.exists(ONE.filter(lambda q: is_negative(l.x) & (q.z == r.z))), how),
    ]
    if how != "outer":
        below = lambda l: ONE.filter(lambda q: q.z < l.i)  # noqa: E731
        joins.append(BOTH.lateral_join(below, on=lambda l, r: is_negative(l.x), how=how))
        computed = lambda l: ONE.with_columns(y=inverse(l.x))  # noqa: E731
        joins.append(BOTH.lateral_join(computed, on=lambda l, r: is_negative(l.x) & (r.y == inverse(l.x)), how=how))
    for joined in joins:
        kept = [column for column in joined.columns if column not in ("x", "y")]
        assert joined.select(*kept).sort("i").collect(spark) == JOINED[how]


ZEROS = ("0.0", "-0.0")
KEYS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "a number": (BOTH, lambda r: text(r.x)),
    "in a list": (LISTS, lambda r: text(r.x[0])),
    "in a struct": (BOTH.select("i", x=lambda r: sd.struct_of(z=r.x, one=1)), lambda r: text(r.x["z"])),
}
WHOLE: dict[str, Callable[[Any], Any]] = {
    "a group": lambda table: table.group_by("x").agg(n=f.count()),
    "grouping sets": lambda table: table.aggregate("x", grouping_sets=[["x"], ["x"]], n=f.count()).filter(
        lambda r: r.grouping_set == 1
    ),
    "distinct": lambda table: table.select("x").distinct(),
    "union_distinct": lambda table: table.select("x").set_op("union_distinct", table.select("x")),
}
INTERSECTIONS = ("intersection_primary", "intersection_multiset", "intersection_multiset_all")


def put_together(how: Any, table: Any) -> Any:
    if how in WHOLE:
        return WHOLE[how](table)
    first, second = (table.filter(lambda r, i=i: r.i == i).select("x") for i in (1, 2))
    return first.set_op(how, second)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("how", [*WHOLE, *INTERSECTIONS])
def test_a_condition_on_a_key_is_asked_of_the_key(how: str, key: str, spark: SparkSession) -> None:
    """Whichever zero stands for both: there is one row, of both, and one of the conditions is true of it."""
    table, shown = KEYS[key]
    grouped = put_together(how, table)
    found = [row for zero in ZEROS for row in grouped.filter(lambda r, zero=zero: shown(r) == zero).collect(spark)]
    assert len(found) == 1
    assert found[0].asDict().get("n", 2) == 2


@pytest.mark.parametrize("op", ["minus_primary", "minus_primary_all", "minus_multiset"])
def test_a_condition_on_what_is_left_of_a_set(op: Any, spark: SparkSession) -> None:
    first, second = (BOTH.filter(lambda r, i=i: r.i == i).select("x") for i in (1, 2))
    left = first.set_op(op, second)
    assert [left.filter(lambda r, zero=zero: text(r.x) == zero).collect(spark) for zero in ZEROS] == [[], []]


@pytest.mark.parametrize("key", KEYS)
def test_a_condition_on_the_key_of_a_partition(key: str, spark: SparkSession) -> None:
    table, shown = KEYS[key]
    for counted in (
        table.project(n=lambda r: f.count().over(partition_by="x")),
        table.window(partition_by="x", n=f.count()),
    ):
        found = [
            [(row.i, row.n) for row in counted.filter(lambda r, zero=zero: shown(r) == zero).collect(spark)]
            for zero in ZEROS
        ]
        assert found == [[(2, 2)], [(1, 2)]]


EQUAL: dict[str, Callable[[Any, Any], Any]] = {
    "a constant": lambda table, zero: table.filter(lambda r: r.x == zero).select("i", "x"),
    "a constant or another": lambda table, zero: table.filter(lambda r: r.x.is_in([zero, zero])).select("i", "x"),
    "inner": lambda table, _: joined_with_zeros(table, "inner"),
    "left": lambda table, _: joined_with_zeros(table, "left").filter(lambda r: r.j.is_not_null()),
    "right": lambda table, _: joined_with_zeros(table, "right"),
    "left_semi": lambda table, _: joined_with_zeros(table, "left_semi"),
    "left_single": lambda table, _: joined_with_zeros(table, "left_single").filter(lambda r: r.j.is_not_null()),
    "left_mark": lambda table, _: joined_with_zeros(table, "left_mark").filter(lambda r: r.mark),
    "exists": lambda table, _: table.filter(lambda r: sd.exists(plain_zeros(table).filter(lambda q: q.y == r.x))),
    "is_in": lambda table, _: table.filter(lambda r: r.x.is_in(plain_zeros(table).select("y"))),
}


def plain_zeros(table: Any) -> Any:
    """The one row of the table that has 0.0."""
    return table.filter(lambda r: r.i == 2).rename(i="j", x="y")


def joined_with_zeros(table: Any, how: Any) -> Any:
    return table.join(plain_zeros(table), lambda l, r: l.x == r.y, how)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("how", EQUAL)
def test_what_is_equal_to_a_zero_keeps_its_own(how: str, key: str, spark: SparkSession, tmp_path: Path) -> None:
    """Of values that are equal Spark puts one in the place of the other, in conditions above and below."""
    table, shown = KEYS[key]
    table.execute(spark).write.parquet(str(tmp_path / "zeros"))  # for of rows in the plan Spark sees the values
    stored = sd.read_files(tmp_path / "zeros", table.schema)
    zero = {"a number": 0.0, "in a list": [0.0], "in a struct": sd.struct_of(z=0.0, one=1)}[key]
    both = EQUAL[how](stored, zero)
    rows = [both.filter(lambda r, text=text: shown(r) == text).select("i") for text in ZEROS]
    assert [each.collect(spark) for each in rows] == [[(2,)], [(1,)]]
    only_minus = EQUAL[how](stored.filter(lambda r: (shown(r) == "-0.0") | (r.i == 2)), zero)
    assert sorted(only_minus.select("i", x=shown).collect(spark)) == [(1, "-0.0"), (2, "0.0")]


SIDES: dict[str, tuple[dict[str, str], Any, Any, Callable[[Any], Any]]] = {
    "a number": ({"x": "fp64"}, (-0.0,), (0.0,), lambda r: text(r.x)),
    "beside others": ({"i": "i64?", "x": "fp32?"}, (None, -0.0), (None, 0.0), lambda r: text(r.x)),
    "in a list": ({"x": "list<fp64>"}, ([-0.0],), ([0.0],), lambda r: text(r.x[0])),
    "in a struct": ({"x": "nstruct<a: fp64, b: i32>?"}, ((-0.0, 1),), ((0.0, 1),), lambda r: text(r.x["a"])),
    "in a map": ({"x": "map<string, fp64>"}, ({"k": -0.0},), ({"k": 0.0},), lambda r: text(r.x["k"])),
}
"""Columns, a row with -0.0, the equal one with 0.0, and what tells them apart."""
HANDED_ON: dict[str, tuple[str, str, list[str]]] = {
    "minus_primary": ("-", "", ["-0.0"]),
    "minus_primary_all": ("---", "++", ["-0.0"]),
    "minus_multiset": ("-+-", "", ["-0.0", "-0.0", "0.0"]),
    "intersection_primary": ("-", "+", ["-0.0"]),
    "intersection_multiset": ("--", "+", ["-0.0"]),
    "intersection_multiset_all": ("---", "++", ["-0.0", "-0.0"]),
    "union_distinct": ("-", "-", ["-0.0"]),
    "union_all": ("-+", "-", ["-0.0", "-0.0", "0.0"]),
}
"""By operation: the zeros of the primary input, by their signs, those of the other one, and what is put out."""


@pytest.mark.parametrize("kind", SIDES)
def test_set_operations_put_out_rows_of_their_inputs(kind: str, spark: SparkSession) -> None:
    """The records that the specification says are returned are those of the primary input, with their own zeros."""
    columns, minus, plus, shown = SIDES[kind]
    found = {}
    for op, (primary, other, _) in HANDED_ON.items():
        first, second = (values(columns, *(minus if c == "-" else plus for c in signs)) for signs in (primary, other))
        found[op] = sorted(row[0] for row in first.set_op(op, second).select(s=shown).collect(spark))
    assert found == {op: wanted for op, (_, _, wanted) in HANDED_ON.items()}


def looked_up(table: Any) -> Any:
    """One row for each zero, under another name."""
    return table.select(j=lambda r: r.i, y=lambda r: r.x)


HANDING_ON: dict[str, Callable[[Any], Any]] = {
    "filter": lambda t: t.filter(lambda r: r.x == 0.0),
    "sort": lambda t: t.sort("x", "i"),
    "fetch": lambda t: t.sort("x", "i").fetch(2),
    "top_n with ties": lambda t: t.top_n(1, "x", with_ties=True),
    "window": lambda t: t.window(partition_by="x", order_by="i", n=f.rank()).select("i", "x"),
    "expand": lambda t: t.expand(i=lambda r: r.i, x=lambda r: r.x, n=sd.switching(1)).select("i", "x"),
    "scatter": lambda t: t.exchange(sd.scatter("x")),
    "round robin": lambda t: t.exchange(sd.round_robin(), partition_count=2),
    "merging capture": lambda t: t.sort("x").merging_capture(),
    "cross": lambda t: t.cross(ONE).select("i", "x"),
    "hash join": lambda t: t.hash_join(looked_up(t), [("x", "y")], "left_semi"),
    "merge join": lambda t: t.sort("x").merge_join(looked_up(t).sort("y"), [("x", "y")], "left_semi"),
    "what is looked up": lambda t: (
        ONE.select(z=lambda r: r.z.cast(sd.FP64))
        .join(looked_up(t), lambda l, r: l.z == r.y)
        .select(i=lambda r: r.j, x=lambda r: r.y)
    ),
    "a lateral join": lambda t: ONE.lateral_join(lambda r: t.filter(lambda q: q.i > r.z)).select("i", "x"),
    "a single join": lambda t: t.join(ONE, lambda l, r: l.i > r.z + 9, "left_single").select("i", "x"),
    "union_all": lambda t: t.filter(lambda r: r.i == 1).union_all(t.filter(lambda r: r.i == 2)),
    "minus_multiset": lambda t: t.set_op("minus_multiset", t.filter(lambda r: r.i > 9)),
    "intersection_multiset_all": lambda t: t.set_op("intersection_multiset_all", t, t),
}


@pytest.mark.parametrize("where", ["in the plan", "in files"])
def test_relations_hand_on_each_row_with_its_own_zero(where: str, spark: SparkSession, tmp_path: Path) -> None:
    table: Any = BOTH
    if where == "in files":  # of which Spark does not see the values when it plans
        BOTH.execute(spark).write.parquet(str(tmp_path / "zeros"))
        table = sd.read_files(tmp_path / "zeros", BOTH.schema)
    found = {
        name: sorted(map(tuple, make(table).select("i", s=lambda r: text(r.x)).collect(spark)))
        for name, make in HANDING_ON.items()
    }
    assert {name: rows for name, rows in found.items() if rows != [(1, "-0.0"), (2, "0.0")]} == {}
