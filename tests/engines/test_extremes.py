"""What random pipelines seldom have, on DataFusion: the rows that are due, by hand, or a refusal before it is sent."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.errors import UnsupportedError
from tests.engines.runners import Rows, canonical_rows, run_on_datafusion

if TYPE_CHECKING:
    from datafusion import SessionContext

f: Any = functions
Relation = sd.Relation[Any]

INF = float("inf")
LAST = 2**63 - 1

TABLES: dict[str, tuple[dict[str, Any], Rows]] = {
    "few": ({"k": "i64?", "n": "i32", "s": "string?"}, [(1, 1, "a\\b"), (1, 2, "a%"), (None, 3, None)]),
    "none": ({"k": "i64?", "n": "i32", "s": "string?"}, []),
    # Its fields are called as those inside lowered plans, in the other order.
    "pairs": (
        {"n": "i32", "w": sd.Struct((sd.I32(), sd.I32(nullable=True)), ("c1", "c0"), nullable=True)},
        [(1, {"c1": 1, "c0": 2}), (2, None), (3, {"c1": 3, "c0": None})],
    ),
    "reals": ({"i": "i32", "x": "fp64"}, [(1, 1e308), (2, 1.0), (3, INF), (4, 5.0), (5, 2.0)]),
}

FEW, NONE, PAIRS, REALS = (sd.read_named(name, columns) for name, (columns, _) in TABLES.items())


@pytest.fixture(scope="module")
def context(datafusion: None) -> SessionContext:
    from datafusion import SessionContext

    made = SessionContext()
    for name, (columns, rows) in TABLES.items():
        schema = sd.read_named(name, columns).schema.to_arrow()
        table = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema)
        made.register_record_batches(name, [table.to_batches() or [pa.RecordBatch.from_pylist([], schema)]])
    return made


def number(relation: Relation) -> Any:
    """The number of each row in the order of a column."""
    return relation.project(q=f.row_number().over(order_by=["n"]))


def from_second_row(relation: Relation) -> Relation:
    return relation.sort("n").fetch(None, 1)


def with_frame(frame: tuple[int | None, int | None]) -> Relation:
    return REALS.select("i", q=lambda r: f.sum(r.x).over(order_by=["i"], rows=frame))


def pattern(text: str) -> Relation:
    return FEW.filter(lambda r: f.like(r.s, text)).select("n")


ROW_NUMBER = f.row_number().over(order_by=["n"])
OTHER = {"k": "k2", "n": "n2", "s": "s2"}

CASES: dict[str, tuple[Callable[[], Relation], Rows]] = {
    # Window functions of several steps, and in steps that compute no columns.
    "the same window twice": (
        lambda: number(number(FEW).rename({"q": "p"})).select("n", "p", "q"), [(1, 1, 1), (2, 2, 2), (3, 3, 3)],
    ),
    "the same window above a filter": (
        lambda: number(number(FEW).rename({"q": "p"}).filter(lambda r: r.p > 1)).select("p", "q"),
        [(2, 1), (3, 2)],
    ),
    "offset twice": (lambda: from_second_row(from_second_row(FEW)).select("n"), [(3,)]),
    "ties of ties": (
        lambda: FEW.top_n(3, "n", with_ties=True).top_n(2, "n", with_ties=True).select("n"),
        [(1,), (2,)],
    ),
    "a window in a filter": (lambda: FEW.filter(lambda r: ROW_NUMBER > 1).select("n"), [(2,), (3,)]),
    "a window in a sort": (lambda: FEW.sort(sd.desc(ROW_NUMBER)).select("n"), [(3,), (2,), (1,)]),
    "a window in a top n": (lambda: FEW.top_n(1, sd.desc(ROW_NUMBER)).select("n"), [(3,)]),
    "a window in a key": (lambda: FEW.group_by(q=ROW_NUMBER).agg(m=f.count()), [(1, 1), (2, 1), (3, 1)]),
    "a window in a measure": (lambda: FEW.aggregate(m=f.sum(ROW_NUMBER)), [(6,)]),
    "a window in a window": (lambda: FEW.select(m=f.sum(ROW_NUMBER).over()), [(6,)] * 3),
    "a window with a subquery in a filter": (
        lambda: FEW.filter(
            lambda r: f.count().over(partition_by=[sd.exists(FEW.filter(lambda x: x.k == r.k))]) > 1
        ).select("n"),
        [(1,), (2,)],
    ),
    "a sum from the first row": (
        lambda: with_frame((None, 0)), [(1, 1e308), (2, 1e308), (3, INF), (4, INF), (5, INF)],
    ),
    "a window beside a subquery in a filter": (
        lambda: FEW.filter(lambda r: (ROW_NUMBER > 1) | sd.exists(FEW.filter(lambda x: x.n == r.n + 2))).select("n"),
        [(1,), (2,), (3,)],
    ),
    "a window in a sort beside zeros": (
        lambda: sd.read_virtual([(0.0, 2), (-0.0, 1)], {"x": "fp64", "n": "i32"})
        .sort("x", ROW_NUMBER).select("n").fetch(1),
        [(1,)],
    ),
    "a range over all that integers of 32 bits can be": (
        lambda: sd.read_virtual([(-(2**31),), (2**31 - 1,), (None,), (2**31 - 2,)], {"v": "i32?"}).select(
            "v",
            q=lambda r: f.count().over(order_by="v", range=(-1, 1)),
            p=lambda r: f.count().over(order_by=sd.desc("v", nulls="last"), range=(None, -1)),
        ),
        # Where the key is NULL, a distance is none: the frame ends with the row.
        [(None, 1, 4), (-(2**31), 1, 2), (2**31 - 2, 2, 1), (2**31 - 1, 2, 0)],
    ),
    "a range over decimals of 18 digits": (
        lambda: sd.read_virtual(
            [(Decimal("9999999999999999.99"),), (Decimal("-9999999999999999.99"),), (Decimal("9999999999999999.98"),)],
            {"v": "decimal<18,2>"},
        ).select("v", q=lambda r: f.count().over(order_by="v", range=(Decimal("-0.01"), Decimal("0.01")))),
        [
            (Decimal("-9999999999999999.99"), 1), (Decimal("9999999999999999.98"), 2),
            (Decimal("9999999999999999.99"), 2),
        ],
    ),
    "the least and the largest of infinities": (
        lambda: sd.read_virtual(
            [(1, -INF), (1, -INF), (2, INF), (3, float("nan")), (4, None), (5, float("nan")), (5, INF)],
            {"k": "i32", "x": "fp64?"},
        ).group_by("k").agg(lo=lambda r: f.min(r.x), hi=lambda r: f.max(r.x)),
        [(1, -INF, -INF), (2, INF, INF), (3, "NaN", "NaN"), (4, None, None), (5, INF, "NaN")],
    ),
    "the least and the largest of infinities over rows": (
        lambda: sd.read_virtual(
            [(1, -INF), (2, INF), (3, float("nan")), (4, None), (5, 1.0)], {"k": "i32", "x": "fp32?"},
        ).select(
            "k",
            lo=lambda r: f.min(r.x).over(order_by="k", rows=(-1, 0)),
            hi=lambda r: f.max(r.x).over(order_by="k", rows=(-1, 0)),
        ),
        [(1, -INF, -INF), (2, -INF, INF), (3, INF, "NaN"), (4, "NaN", "NaN"), (5, 1.0, 1.0)],
    ),
    "bits of both": (  # DataFusion folds v & -v to 0
        lambda: sd.read_virtual([(1, 3), (6, -128), (-128, 127), (None, 1), (0, 0)], {"v": "i8?", "w": "i8"}).select(
            "v",
            a=lambda r: f.bitwise_and(r.v, f.negate(r.v)),
            b=lambda r: f.bitwise_and(r.v, r.w),
            c=lambda r: f.bitwise_and(r.w, f.subtract(sd.lit(0, "i8"), r.w)),
            d=lambda r: f.bitwise_and(r.w, r.w),
        ),
        [(1, 1, 1, 1, 3), (6, 2, 0, -128, -128), (-128, -128, 0, 1, 127), (None, None, None, 1, 1), (0, 0, 0, 0, 0)],
    ),
    "bits of a required number and its negative": (
        lambda: sd.read_virtual([(1,), (2,), (6,)], {"v": "i64"}).select(
            a=lambda r: f.bitwise_and(r.v, f.negate(r.v)),
            b=lambda r: f.bitwise_or(r.v, f.negate(r.v)),
            c=lambda r: f.bitwise_xor(r.v, f.negate(r.v)),
        ),
        [(1, -1, -2), (2, -2, -4), (2, -2, -4)],
    ),
    "what is infinite": (
        lambda: sd.read_virtual(
            [(-INF, 1.0), (1e308, INF), (float("nan"), 0.0), (None, -1e38)], {"x": "fp64?", "y": "fp32"}
        ).select(a=lambda r: f.is_infinite(r.x), b=lambda r: f.is_infinite(r.y)),
        [(True, False), (False, True), (False, False), (None, False)],
    ),
    "where texts are": (
        lambda: FEW.select(
            "n",
            a=lambda r: f.strpos(r.s, "\\"),
            b=lambda r: f.strpos(sd.lit("é𝄞ab"), "ab"),
            c=lambda r: f.strpos(r.s, ""),
        ),
        [(1, 2, 3, 1), (2, 0, 3, 1), (3, None, 3, None)],
    ),
    # Structs, whose fields engines find by name.
    "fields of structs": (
        lambda: PAIRS.select("n", a=lambda r: r.w["c1"], b=lambda r: r.w["c0"]),
        [(1, 1, 2), (2, None, None), (3, 3, None)],
    ),
    "fields of structs of which some are NULL, compared": (
        lambda: PAIRS.filter(lambda r: f.is_null(r.w["c1"]) | (r.w["c1"] == 3)).select("n"), [(2,), (3,)],
    ),
    "structs with the same names in another order": (
        lambda: PAIRS.select("n", e=lambda r: sd.struct_of(a=r.w["c0"], b=r.w["c0"]) == (2, 2)),
        [(1, True), (2, False), (3, False)],
    ),
    "structs of which some are made": (
        lambda: PAIRS.select(v=lambda r: f.coalesce(r.w, sd.struct_of(c1=r.n, c0=r.w["c0"]))).union_all(
            PAIRS.select(v=sd.col("w"))
        ),
        [((1, 2),), ((2, None),), ((3, None),), ((1, 2),), (None,), ((3, None),)],
    ),
    "a field of a NULL": (
        lambda: PAIRS.select("n", e=sd.lit(None, "struct<i32, i32>?")).select(v=lambda r: r.e[0]), [(None,)] * 3,
    ),
    # Orders that change no value, which DataFusion fails at.
    "measures in an order": (
        lambda: FEW.aggregate(
            c=lambda r: f.count(r.k).order_by(sd.clustered("n")), s=lambda r: f.sum(r.n).order_by(sd.desc("n"))
        ),
        [(2, 6)],
    ),
    # No row of the left input is one that has several matches.
    "single join of no rows": (lambda: NONE.join(FEW.rename(OTHER), lambda x, y: sd.lit(True), "left_single"), []),
    "right single join of no rows": (
        lambda: FEW.join(NONE.rename(OTHER), lambda x, y: x.n > 1, "right_single"), [],
    ),
    # Numbers of rows that do not fit together.
    "ties up to the last number": (lambda: FEW.top_n(LAST, "n", offset=2, with_ties=True).select("n"), [(3,)]),
    "up to the last number for each row": (
        lambda: FEW.select(
            q=lambda r: sd.scalar_subquery(
                FEW.filter(lambda x: x.n >= r.n).sort("n").fetch(LAST, 1).aggregate(m=f.count())
            )
        ),
        [(2,), (1,), (0,)],
    ),
    # A backslash in a pattern is a character like others.
    "like a backslash": (lambda: pattern("a\\b"), [(1,)]),
    "like a backslash before a wildcard": (lambda: pattern("a\\%"), [(1,)]),
    "like two backslashes": (lambda: pattern("a\\\\b"), []),
    "like a pattern that is a column": (lambda: FEW.filter(lambda r: f.like(r.s, r.s)).select("n"), [(1,), (2,)]),
    "like a pattern that is computed": (
        lambda: FEW.filter(lambda r: f.like("a\\x", f.concat("a\\", f.replace(r.s, "a", "")))).select("n"), [(2,)],
    ),
    # Extremes of types.
    "abs of all that fit": (
        lambda: sd.read_virtual([(-127,), (127,)], {"v": "i8"}).select(a=lambda r: f.abs(r.v, overflow="ERROR")),
        [(127,), (127,)],
    ),
    "abs that counts on": (
        lambda: sd.read_virtual([(-128,), (-127,)], {"v": "i8"}).select(a=lambda r: f.abs(r.v, overflow="SILENT")),
        [(-128,), (127,)],
    ),
    "divide that counts on": (
        lambda: sd.read_virtual([(-LAST - 1,), (7,)], {"v": "i64"}).select(
            a=lambda r: f.divide(r.v, -1, overflow="SILENT")
        ),
        [(-LAST - 1,), (-7,)],
    ),
    "sums that stop at the ends": (
        lambda: sd.read_virtual([(LAST,), (-LAST - 1,), (1,)], {"v": "i64"}).select(
            a=lambda r: f.add(r.v, r.v, overflow="SATURATE")
        ),
        [(LAST,), (-LAST - 1,), (2,)],
    ),
    "remainders of a division that is rounded down": (
        lambda: sd.read_virtual([(7, 3), (-7, 3), (7, -3), (-7, -3)], {"v": "i32", "w": "i32"}).select(
            a=lambda r: f.modulus(r.v, r.w, division_type="FLOOR")
        ),
        [(1,), (2,), (-2,), (-1,)],
    ),
    "the largest and the least": (
        lambda: sd.read_virtual([(1, None), (2, 3), (4, 1)], {"v": "i32?", "w": "i32?"}).select(
            a=lambda r: f.greatest(r.v, r.w),
            b=lambda r: f.least(r.v, r.w),
            c=lambda r: f.greatest_skip_null(r.v, r.w),
            d=lambda r: f.least_skip_null(r.v, r.w),
        ),
        [(None, None, 1, 1), (3, 2, 3, 2), (4, 1, 4, 1)],
    ),
    "signs": (
        lambda: sd.read_virtual(
            [(-3, -0.5), (0, 0.0), (5, INF), (None, float("nan"))], {"v": "i32?", "x": "fp64"}
        ).select(
            a=lambda r: f.sign(r.v), b=lambda r: f.sign(r.x), c=lambda r: f.is_finite(r.x)
        ),
        [(-1, -1.0, True), (0, 0.0, True), (1, 1.0, False), (None, "NaN", False)],
    ),
    "a condition that is NULL, above a single row": (
        lambda: FEW.aggregate(n=f.count()).select(c=sd.lit(None, "i32?")).filter(lambda r: r.c.is_not_null()),
        [],
    ),
    "the first rows of a union of constants": (
        lambda: (
            FEW.select("n", c=lambda r: sd.lit(0))
            .union_all(FEW.select("n", c=lambda r: sd.lit(1)))
            .sort(sd.desc("c"), "n")
            .fetch(2, 1)
        ),
        [(2, 1), (3, 1)],
    ),
    "a list of numbers of both sides": (
        lambda: REALS.cross(REALS.select(y=sd.col("x")).filter(lambda r: r.y == 2.0)).filter(
            lambda r: r.x.is_in([float("nan"), r.y])
        ),
        [(5, 2.0, 2.0)],
    ),
    "integers turn round": (
        lambda: sd.read_virtual([(LAST,)], {"v": "i64"}).select(a=lambda r: f.add(r.v, 1, overflow="SILENT")),
        [(-LAST - 1,)],
    ),
    "decimals of 38 digits": (
        lambda: sd.read_virtual([(Decimal(10**38 - 1),)], {"v": "decimal<38,0>"}).filter(lambda r: r.v > 0),
        [(Decimal(10**38 - 1),)],
    ),
    "times of four precisions": (
        lambda: sd.read_virtual([(1,)], {"v": "i8"}).select(
            **{
                f"p{digits}": sd.lit(dt.datetime(1969, 12, 31, 23, 59, 59), f"precision_timestamp<{digits}>")
                for digits in (0, 3, 6, 9)
            }
        ),
        [(dt.datetime(1969, 12, 31, 23, 59, 59),) * 4],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_rows_are_those_that_are_due(name: str, context: SessionContext) -> None:
    relation, expected = CASES[name]
    data = relation().to_plan().to_bytes(engine="datafusion")
    assert Counter(canonical_rows(run_on_datafusion(context, data))) == Counter(canonical_rows(expected))


OUTER_JOINS: dict[str, Callable[[Any], Relation]] = {
    "on the left": lambda x: FEW.filter(lambda y: y.n == x.n).join(
        NONE.rename(OTHER), lambda y, z: y.n == z.n2, "outer"
    ),
    "on the right": lambda x: NONE.rename(OTHER).join(
        FEW.filter(lambda y: y.n == x.n), lambda z, y: y.n == z.n2, "outer"
    ),
    "in its condition": lambda x: FEW.join(NONE.rename(OTHER), lambda y, z: (y.n == z.n2) & (y.n == x.n), "outer"),
}


def test_fields_have_the_names_of_the_plan(context: SessionContext) -> None:
    relation = PAIRS.select("w", v=lambda r: sd.struct_of(c1=r.n, b=r.w["c0"]))
    found = run_on_datafusion(context, relation.to_plan().to_bytes(engine="datafusion"))
    assert found == [
        ({"c1": 1, "c0": 2}, {"c1": 1, "b": 2}),
        (None, {"c1": 2, "b": None}),
        ({"c1": 3, "c0": None}, {"c1": 3, "b": None}),
    ]


REFUSED: dict[str, tuple[Callable[[], Relation], str]] = {
    # Engines take off the sum what a frame leaves: 1e308 + 1 - 1e308 is 0, and inf - inf NaN.
    "a sum of floats over the row before": (lambda: with_frame((-1, 0)), "over a frame that leaves rows behind"),
    "a sum of floats from here": (lambda: with_frame((0, None)), "over a frame that leaves rows behind"),
    "a sum of floats in an order": (
        lambda: REALS.aggregate(s=lambda r: f.sum(r.x).order_by("i")), "sum of fp64\\? over rows in an order",
    ),
    "a range over integers of 64 bits": (  # whose sums with the distance may be larger
        lambda: FEW.select(q=lambda r: f.count().over(order_by="k", range=(-1, 0))),
        "a range over i64\\? with an offset",
    ),
    "a struct as one that has a required field": (
        lambda: PAIRS.select(v=lambda r: sd.when(r.n > 1).then(sd.struct_of(c1=r.n, c0=r.w["c0"])).otherwise(None)),
        "makes no struct<i32, i32\\?>",
    ),
    "a sort by a struct": (lambda: PAIRS.sort("w"), "are not ordered the same everywhere"),
    "a struct of floats as a key": (
        lambda: REALS.group_by(s=lambda r: sd.struct_of(x=r.x)).agg(), "are not compared the same everywhere",
    ),
    "a window in a join": (
        lambda: FEW.join(NONE.rename({"n": "m"}).select("m"), lambda x, y: f.row_number().over(order_by=[x.n]) > 1),
        "a window function in a join",
    ),
    "a name of four parts": (  # of which DataFusion leaves out the last
        lambda: sd.read_named(("datafusion", "public", "few", "x"), {"k": "i64?"}), "whose name has 4 parts",
    ),
    "picoseconds": (
        lambda: FEW.select(p=sd.lit(dt.datetime(1970, 1, 1), "precision_timestamp<12>")),
        "type precision_timestamp<12>",
    ),
    "tenths of milliseconds": (
        lambda: sd.read_named("few", {"k": "precision_timestamp<4>"}),
        "type precision_timestamp<4>",
    ),
    "picoseconds in a list": (
        lambda: sd.read_named("few", {"k": "list<precision_timestamp_tz<12>>"}), "type precision_timestamp_tz<12>",
    ),
    "decimals that count on": (
        lambda: FEW.select(a=lambda r: f.add(r.n.cast("decimal<38,0>"), Decimal(1), overflow="SILENT")),
        "add with overflow=SILENT",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_form_is_refused(name: str) -> None:
    relation, message = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message) as caught:
        relation().to_plan().to_bytes(engine="datafusion")
    assert caught.value.step is not None


@pytest.mark.parametrize("where", OUTER_JOINS)
def test_outer_joins_that_refer_to_an_outer_row_are_refused(where: str) -> None:
    """A row without a match is one for each outer row, and has none of its columns."""
    relation = FEW.filter(lambda x: sd.exists(OUTER_JOINS[where](x)))
    with pytest.raises(UnsupportedError, match="an outer join that refers to the outer row"):
        relation.to_plan().to_bytes(engine="datafusion")
