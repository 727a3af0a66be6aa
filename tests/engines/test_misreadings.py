"""Legal plans that DataFusion takes for others, or fails at, when they are not lowered: rows are those of DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.errors import UnsupportedError
from tests.differential.engines import case_of
from tests.differential.tables import read
from tests.engines.runners import canonical_rows, run_on_datafusion

if TYPE_CHECKING:
    import duckdb as duck
    from datafusion import SessionContext

f: Any = functions
Relation = sd.Relation[Any]

INTS = read("ints").select("k", "y", "a", "b")
OTHERS = INTS.select(k2=sd.col("k"), y2=sd.col("y"), a2=sd.col("a"), b2=sd.col("b"))
TEXTS = read("texts")
REALS = read("reals")
TOTAL = OTHERS.aggregate(k2=lambda r: f.count(r.k2), b2=lambda r: f.max(r.b2))

SIDES: dict[str, Relation] = {"rows": OTHERS, "one row": TOTAL}

CONDITIONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal columns of the left": lambda x, y: x.k == x.y.cast("i64"),
    "equal columns of the right": lambda x, y: y.k2 == y.b2,
    "a column of the left and itself": lambda x, y: x.k == x.k,
    "not distinct from itself": lambda x, y: f.is_not_distinct_from(x.b, x.b),
    "and a key": lambda x, y: (x.b == x.b) & (x.k == y.k2),
    "of both kinds of equality": lambda x, y: f.is_not_distinct_from(x.b, y.b2) & (x.k == y.k2),
    "a constant": lambda x, y: f.starts_with(sd.lit("A"), f.coalesce(sd.lit("B"), sd.lit("b"))),
    "a constant NULL": lambda x, y: sd.lit(None, "boolean?"),
    "NULL where nothing is": lambda x, y: f.is_null(y.k2),
    "NULL on the left where nothing is": lambda x, y: f.is_null(x.k),
}
JOINS: tuple[Any, ...] = ("left", "left_anti", "right_semi")

LITERAL = TEXTS.select(c=sd.lit("x"))
FILTERED = TEXTS.select("s").filter(lambda r: r.s != "b")

INPUTS: dict[str, Relation] = {
    "a filter": FILTERED,
    "two filters": FILTERED.union_all(FILTERED),
    "a fetch": FILTERED.fetch(50),
    "a sort": FILTERED.sort("s"),
    "a join": TEXTS.select("s").join(TEXTS.select("u"), lambda x, y: x.s == y.u, "left_semi"),
}

GROUPED = REALS.aggregate("x", "z", grouping_sets=[(0,), (), (1,)], n=f.count())

SORTED = INTS.sort(sd.desc("a"), "k", "y", "b").select("k", "y")

ONE = OTHERS.filter(lambda r: r.y2 == 3)
NOUGHT = OTHERS.filter(lambda r: r.k2 > 1).select("k2", c=sd.lit(0))

CASES: dict[str, Callable[[], Relation]] = {
    "from the third row on, of chosen columns": lambda: SORTED.fetch(None, 2),
    "from the third row on, with a column that is computed": lambda: SORTED.project(c=lambda r: r.k != 1).fetch(
        None, 2
    ),
    "from the third row on, sorted again": lambda: (
        SORTED.project(c=lambda r: r.k != 1).select("c", "k").fetch(None, 2).sort("k", "c")
    ),
    "sorted by what is one value, or NULL without a match": lambda: (
        INTS.join(ONE, lambda x, y: x.k == y.k2, "left")
        .sort(sd.desc("y2", nulls="last"), "k", "y", "a", "b")
        .select("k", "y2")
    ),
    "sorted by a constant, or NULL without a match": lambda: (
        INTS.join(NOUGHT, lambda x, y: x.k == y.k2, "left").sort(sd.asc("c", nulls="last"), "k", "y", "a", "b").fetch(3)
    ),
    "sorted by a constant of the left": lambda: NOUGHT.join(INTS, lambda x, y: x.k2 == y.k, "right").sort(
        sd.desc("c", nulls="first"), "k", "y", "a", "b"
    ),
    "sorted by a constant of an outer join, renamed": lambda: (
        NOUGHT.join(INTS, lambda x, y: x.k2 == y.k, "outer")
        .filter(lambda r: (r.k2 > 1) | (r.y != 0))
        .select(d=sd.col("c"), e=sd.col("k2"), k=sd.col("k"), y=sd.col("y"), a=sd.col("a"), b=sd.col("b"))
        .sort("d", "e", "k", "y", "a", "b")
    ),
    **{
        f"{how} join on {condition}, {side}": lambda how=how, condition=condition, side=side: INTS.join(  # type: ignore[misc]
            SIDES[side], CONDITIONS[condition], how
        )
        for how, condition, side in product(JOINS, CONDITIONS, SIDES)
    },
    **{
        f"a condition on a union with {name}": lambda rel=rel: LITERAL.union_all(rel).filter(lambda r: r[0] <= "b")  # type: ignore[misc]
        for name, rel in INPUTS.items()
    },
    **{
        f"a condition beside a union with {name}": lambda rel=rel: (  # type: ignore[misc]
            TEXTS.select("s").subtract(LITERAL.union_all(rel)).filter(lambda r: r.s <= "b")
        )
        for name, rel in INPUTS.items()
    },
    "a condition that a row of an aggregate does not meet": lambda: (
        read("nothing").aggregate(m=lambda r: f.min(r.a)).filter(lambda r: r.m < r.m)
    ),
    "a sort by the condition of a filter": lambda: (
        INTS.filter(lambda r: r.y > 1).sort(lambda r: r.y > 1, "k").select("k")
    ),
    "a sort by the key of a sort": lambda: (
        INTS.sort(lambda r: r.y.cast("i64") + 2, "k").sort(lambda r: r.y.cast("i64") + 2, "k").select("k")
    ),
    "a sort by the number of a fetch": lambda: (
        INTS.top_n(3, "k", "y", "a").top_n(2, lambda r: r.y.cast("i64") + 3, "k").select("k")
    ),
    "a sort of several grouping sets": lambda: GROUPED.sort("x", "z", "n", "grouping_set"),
    "a window over several grouping sets": lambda: GROUPED.select(
        "n", q=f.dense_rank().over(order_by=["x", "z", "grouping_set"])
    ),
    "all but the first of several grouping sets": lambda: GROUPED.sort("x", "z", "n", "grouping_set").fetch(None, 2),
    "a sort by a constant that a column is named like": lambda: (
        INTS.aggregate("a", "y", grouping_sets=[(), (0,), (1, 0)], n=f.count())
        .select("a")
        .sort(lambda r: sd.desc((r.a == sd.lit(None, "i32?")) & (r.a == 1)), sd.desc("a"))
    ),
    # Casts that lose digits, or fail, compared with constants.
    "a decimal as an integer": lambda: REALS.filter(lambda r: r.n.cast("i64?") == -2).select("n"),
    "not a decimal as an integer": lambda: REALS.filter(lambda r: r.n.cast("i64?") != 0).select("n"),
    "a decimal of fewer digits": lambda: REALS.filter(
        lambda r: r.n.cast("decimal<12,1>?") >= sd.lit(Decimal(0), "decimal<12,1>")
    ).select("n"),
    "an integer of fewer bits": lambda: INTS.filter(lambda r: ~(r.b.cast("i8?", on_failure="return_null") > 1)),
    "required, of fewer bits": lambda: INTS.filter(lambda r: ~(r.k.cast("i8?", on_failure="return_null") == 1)),
    "an integer of fewer digits": lambda: INTS.project(
        c=lambda r: ~r.y.cast("decimal<2,0>?", on_failure="return_null").is_in([Decimal(0), Decimal(5)])
    ),
    "no distinct NULL of a cast": lambda: INTS.filter(
        lambda r: f.is_not_distinct_from(r.b.cast("i8?", on_failure="return_null"), sd.lit(None, "i8?"))
    ),
    "a cast in a step below": lambda: REALS.select(c=lambda r: r.n.cast("i64?")).filter(lambda r: r.c <= -2),
    "a window over the first rows": lambda: INTS.top_n(4, sd.desc("a"), "k", "y", "b", offset=2).window(
        partition_by=["y"], order_by=[sd.desc("y")], n=f.dense_rank()
    ),
    "a join with sorted rows": lambda: (
        INTS.sort(sd.desc("k"), "a", "y", "b").filter(lambda r: f.is_true(sd.exists(TEXTS))).project(n=lambda r: r.y)
    ),
    "in a list with columns": lambda: REALS.project(c=lambda r: r.z.is_in([5e-324, r.z * r.z, -0.5])),
    "in a list of columns": lambda: REALS.project(c=lambda r: r.x.is_in([r.z, None])),
    "in a list with the value": lambda: REALS.project(c=lambda r: r.r.is_in([sd.lit(-0.0, "fp32"), r.r])),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_are_those_of_duckdb(name: str, connection: duck.DuckDBPyConnection, context: SessionContext) -> None:
    relation = CASES[name]()
    rows = canonical_rows(run_on_datafusion(context, relation.to_plan().to_bytes(engine="datafusion")))
    assert case_of(0, relation, connection).difference(rows) is None


def nested(height: int) -> Relation:
    """A difference whose first term is that many calls deep."""
    value: Any = sd.col("y").cast("i64")
    for number in range(height):
        value = value - number
    return INTS.select(s=value)


def test_calls_in_each_other_run_as_deep_as_one_tree_holds_them(
    connection: duck.DuckDBPyConnection, context: SessionContext
) -> None:
    relation = nested(20)
    rows = canonical_rows(run_on_datafusion(context, relation.to_plan().to_bytes(engine="datafusion")))
    assert case_of(0, relation, connection).difference(rows) is None


@pytest.mark.parametrize("height", [40, 400])
def test_calls_that_are_written_apart_are_refused(height: int) -> None:
    with pytest.raises(UnsupportedError, match="too deep for DataFusion 55: it would be written in"):
        nested(height).to_plan().to_bytes(engine="datafusion")


def test_a_struct_of_other_fields_is_refused() -> None:
    """DataFusion has names of fields, and casts by them."""
    relation = read("parts").select(c=lambda r: r.w.cast("struct<i64?, string?>"))
    with pytest.raises(UnsupportedError, match="a cast of struct<i32\\?, string\\?> to struct<i64\\?, string\\?>"):
        relation.to_plan().to_bytes(engine="datafusion")
