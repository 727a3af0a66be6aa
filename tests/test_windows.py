"""Window functions: what they are in the algebra, their types, and the frames that are refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import (
    Bound,
    BoundsType,
    FunctionId,
    Literal,
    OuterReference,
    WindowFunction,
)
from substrait_dsl.algebra.node import walk
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidArgumentError,
    LiteralError,
    SchemaError,
    TypeMismatchError,
    UnknownAttributeError,
    UnknownFieldError,
)
from tests.catalog.cases import Column, Value, read_all
from tests.support import columns, computed, f, ordering, refused, table, type_of

ROW = (
    "k: i64, x: i32, y: i32?, p: decimal<15,2>, w: fp64, day: date, at: precision_timestamp<3>, "
    "zoned: precision_timestamp_tz<6>, s: string, xs: list<i32>"
)
T = table(ROW)

Make = Callable[[Any], Any]


def window(make: Make) -> WindowFunction:
    node = computed(make, ROW)
    assert isinstance(node, WindowFunction)
    return node


# --- types ---

TYPES: list[tuple[Make, str]] = [  # the extension file: DECLARED_OUTPUT, so whatever the arguments are
    (lambda r: f.row_number(), "i64?"),
    (lambda r: f.rank(), "i64?"),
    (lambda r: f.dense_rank(), "i64?"),
    (lambda r: f.percent_rank(), "fp64?"),
    (lambda r: f.cume_dist(), "fp64?"),
    (lambda r: f.ntile(4), "i64?"),
    (lambda r: f.ntile(r.x), "i32?"),
    (lambda r: f.first_value(r.x), "i32"),
    (lambda r: f.last_value(r.y), "i32"),  # spec decision 33
    (lambda r: f.nth_value(r.s, 2), "string?"),
    (lambda r: f.lead(r.p), "decimal<15,2>?"),
    (lambda r: f.lag(r.x, 2), "i32?"),
    (lambda r: f.lag(r.x, 2, 0), "i32?"),
    (lambda r: f.lag(r.s, 1, "none"), "string?"),
    (lambda r: f.sum(r.x), "i64?"),
    (lambda r: f.count(), "i64"),
    (lambda r: f.avg(r.w), "fp64?"),
    (lambda r: f.max(r.day), "date?"),
]


@pytest.mark.parametrize(("make", "kind"), TYPES)
def test_a_window_leaves_the_type_of_its_function(make: Make, kind: str) -> None:
    assert type_of(lambda r: make(r).over(partition_by=r.k, order_by=r.x), ROW) == kind
    assert type_of(lambda r: make(r).over(), ROW) == kind


CASES = 6
"""How many there are in the specification; they are told apart by number, as it takes a second to read them."""


def test_there_are_cases_of_the_specification() -> None:
    assert sum(case.kind == "window" for case in read_all()) == CASES


@pytest.mark.parametrize("number", range(CASES))
def test_cases_of_the_specification(number: int) -> None:
    case: Any = [case for case in read_all() if case.kind == "window"][number]
    names = [f"col{index}" for index in range(len(case.table.types))]
    data = sd.read_virtual(case.table.rows, dict(zip(names, case.table.types, strict=True)))
    arguments: list[Any] = []
    for argument in case.arguments:
        match argument:
            case Column(index):
                arguments.append(sd.col(index))
            case Value(type=type_, value=value):
                arguments.append(sd.lit(value, type_))
    result = data.select(result=getattr(f, case.function)(*arguments).over())
    assert result.schema["result"] == case.expected.type


# --- partitions and order ---


@pytest.mark.parametrize(
    "keys",
    [
        lambda r: {"partition_by": "k", "order_by": "x"},
        lambda r: {"partition_by": ["k"], "order_by": sd.asc("x")},
        lambda r: {"partition_by": 0, "order_by": (1,)},
        lambda r: {"partition_by": sd.col("k"), "order_by": [sd.col("x").asc()]},
        lambda r: {"partition_by": r.k, "order_by": r.x},
        lambda r: {"partition_by": (r.k,), "order_by": [sd.asc(r.x, nulls="first")]},
        lambda r: {"partition_by": lambda row: row.k, "order_by": lambda row: row.x.asc()},
        lambda r: {"partition_by": T.c.k, "order_by": T.c.x},
    ],
)
def test_columns_are_given_in_every_way(keys: Callable[[Any], Any]) -> None:
    (node,) = T.project(result=lambda r: f.rank().over(**keys(r)))._rel.expressions
    assert node == window(lambda r: f.rank().over(partition_by=r.k, order_by=r.x.asc()))
    assert [part.position for part in node.partitions] == [0]
    assert [(key.expression.position, key.direction) for key in node.sorts] == [(1, "asc_nulls_first")]


def test_without_a_row_the_window_waits_for_it() -> None:
    ranked = f.rank().over(partition_by="k", order_by=sd.desc("x"))
    assert columns(table("x: i32, k: i64").select("k", n=ranked + 1)) == "k: i64, n: i64?"
    with refused(UnknownFieldError, "select", '"x"'):
        table("k: i64").select(n=ranked)


def test_a_window_function_is_an_expression_anywhere() -> None:
    assert (
        columns(T.select(part=lambda r: f.divide(r.x.cast(sd.I64) * 100, f.sum(r.x).over(partition_by="k"))))
        == "part: i64?"
    )
    named = T.select(lambda r: f.count().over().alias("n"), f.sum(sd.col("x")).alias("total").over())
    assert columns(named) == "n: i64, total: i64?"
    nested = window(lambda r: f.sum(f.sum(r.x).over(partition_by=r.k)).over())
    assert sum(isinstance(node, WindowFunction) for node in walk(nested)) == 2


def test_a_project_with_a_window_function_loses_the_order() -> None:
    """Property maintenance of the project operation: maintained if no window operations."""
    sorted_rows = T.sort("k")
    assert ordering(sorted_rows.with_columns(n=sd.col("x") + 1)) == [(0,)]
    assert ordering(sorted_rows.with_columns(n=f.row_number().over(order_by="k"))) == []


def test_a_window_function_in_a_subquery_may_be_correlated() -> None:
    inner = table("i: i64")
    host = T.filter(lambda r: sd.exists(inner.select(n=lambda s: f.sum(s.i + r.k).over(partition_by=r.x))))._rel
    outer = [n for n in walk(host) if isinstance(getattr(n, "root", None), OuterReference)]
    assert sorted(reference.position for reference in outer) == [0, 1]  # type: ignore[attr-defined]  # references


# --- frames ---

Pair = tuple[object, object]

FRAMES: list[tuple[dict[str, Any], BoundsType, Pair, Pair]] = [
    # spec decision 32: the default of SQL and Spark
    ({}, "rows", ("unbounded", None), ("unbounded", None)),
    ({"order_by": "x"}, "range", ("unbounded", None), ("current_row", None)),
    ({"rows": (None, None)}, "rows", ("unbounded", None), ("unbounded", None)),
    ({"rows": (-3, 0)}, "rows", ("preceding", Literal(3, sd.I64())), ("current_row", None)),
    ({"rows": [0, 2]}, "rows", ("current_row", None), ("following", Literal(2, sd.I64()))),
    ({"rows": (-5, -2)}, "rows", ("preceding", Literal(5, sd.I64())), ("preceding", Literal(2, sd.I64()))),
    (
        {"rows": (sd.preceding(3), sd.following(1))},
        "rows",
        ("preceding", Literal(3, sd.I64())),
        ("following", Literal(1, sd.I64())),
    ),
    ({"order_by": ["x", "k"], "range": (None, 0)}, "range", ("unbounded", None), ("current_row", None)),
    # the type of the distance follows from the key: add(i32, i32) -> i32
    ({"order_by": "x", "range": (-3, 0)}, "range", ("preceding", Literal(3, sd.I32())), ("current_row", None)),
    ({"order_by": "y", "range": (0, 3)}, "range", ("current_row", None), ("following", Literal(3, sd.I32()))),
    ({"order_by": "w", "range": (-0.5, 0)}, "range", ("preceding", Literal(0.5, sd.FP64())), ("current_row", None)),
    (
        {"order_by": "p", "range": (Decimal("-0.50"), 0)},
        "range",
        ("preceding", Literal(Decimal("0.50"), sd.Decimal(15, 2))),
        ("current_row", None),
    ),
    (
        {"order_by": "at", "range": (dt.timedelta(days=-7), 0)},
        "range",
        ("preceding", Literal(sd.DaySeconds(7), sd.IntervalDay(3))),
        ("current_row", None),
    ),
    (
        {"order_by": "at", "range": (sd.YearMonths(-1, -6), None)},
        "range",
        ("preceding", Literal(sd.YearMonths(1, 6), sd.IntervalYear())),
        ("unbounded", None),
    ),
    (
        {"order_by": "zoned", "range": (sd.DaySeconds(0), sd.DaySeconds(1))},
        "range",
        ("current_row", None),
        ("following", Literal(sd.DaySeconds(1), sd.IntervalDay(6))),
    ),
]


@pytest.mark.parametrize(("frame", "kind", "lower", "upper"), FRAMES)
def test_frames(frame: dict[str, Any], kind: str, lower: Pair, upper: Pair) -> None:
    call = window(lambda r: f.sum(r.x).over(**frame)).call
    assert call.bounds_type == kind
    assert [(call.lower.kind, call.lower.offset), (call.upper.kind, call.upper.offset)] == [lower, upper]


BOUND = st.none() | st.integers(-3, 3)


@given(BOUND, BOUND, st.sampled_from(["rows", "range"]))
def test_bounds_are_signed_distances(first: int | None, last: int | None, kind: str) -> None:
    def make(r: Any) -> Any:
        return f.sum(r.x).over(order_by=r.x, **{kind: (first, last)})

    if first is not None and last is not None and first > last:
        with refused(InvalidArgumentError, "over", f"{kind}={(first, last)}", "ends before it starts"):
            computed(make, ROW)
        return
    call = window(make).call
    assert [signed(call.lower), signed(call.upper)] == [first, last]


def signed(bound: Bound) -> int | None:
    """A bound as a person writes it."""
    if bound.offset is None:
        return 0 if bound.kind == "current_row" else None
    assert isinstance(bound.offset, Literal)
    return int(bound.offset.value) * (1 if bound.kind == "following" else -1)


def test_distances_may_be_expressions() -> None:
    call = window(lambda r: f.sum(r.x).over(order_by=r.s, rows=(sd.preceding(r.k), sd.following(r.k + 1)))).call
    assert call.lower.offset == computed(lambda r: r.k, ROW)
    assert call.upper.offset == computed(lambda r: r.k + 1, ROW)
    late = window(lambda r: f.sum(r.x).over(order_by="x", range=(sd.preceding(sd.col("y")), 0))).call
    assert late.lower.offset == computed(lambda r: r.y, ROW)


def test_a_frame_waits_for_the_window_of_a_relation() -> None:
    framed = f.sum(sd.col("x")).frame(rows=(-1, 0))
    assert window(lambda r: framed.over(order_by=r.x)) == window(lambda r: f.sum(r.x).over(order_by=r.x, rows=(-1, 0)))
    assert f.rank().frame(range=(None, 0)).over(order_by="x") is not None


def test_distinct_values() -> None:
    assert window(lambda r: f.count(r.x).distinct().over(partition_by=r.k)).call.invocation == "distinct"
    assert window(lambda r: f.count(r.x).over(partition_by=r.k)).call.invocation == "all"


# --- mistakes ---

MISTAKES: dict[str, tuple[Make, type[sd.SubstraitDslError], tuple[str, ...]]] = {
    "no window": (
        lambda r: f.row_number(),
        TypeMismatchError,
        ('"result"', "row_number is a window function without a window", "row_number(...).over(...)"),
    ),
    "no window in a call": (lambda r: f.abs(f.rank()), TypeMismatchError, ("abs takes values", "write rank(...).over")),
    "no window in a sum": (lambda r: f.rank() + 1, TypeMismatchError, ("rank is a window function without a window",)),
    "no window in a test": (lambda r: f.rank() == 1, TypeMismatchError, ("no value to compute with",)),
    "no window for an aggregate": (lambda r: f.sum(r.x) == 1, TypeMismatchError, ("sum(...).over(...)",)),
    "the parts by position": (
        lambda r: f.rank().over("k"),
        InvalidArgumentError,
        ("over", "given by name", "'k'", "partition_by=..."),
    ),
    "an ordered partition": (
        lambda r: f.rank().over(partition_by=sd.asc("k")),
        InvalidArgumentError,
        ("partitions have no order", "order_by"),
    ),
    "an unknown column": (lambda r: f.rank().over(order_by="xx"), UnknownFieldError, ('"xx"', 'did you mean "x"')),
    "the order in the name": (lambda r: f.rank().over(order_by="x desc"), UnknownFieldError, ('write desc("x")',)),
    "no column": (lambda r: f.rank().over(order_by=1.5), InvalidArgumentError, ("order by", "1.5")),
    "a filter": (
        lambda r: f.sum(r.x).filter(r.x > 1).over(),
        InvalidArgumentError,
        ("sum", "no filter", "when(condition).then(x).otherwise(None)"),
    ),
    "an order of its own": (lambda r: f.sum(r.x).order_by(r.k).over(), InvalidArgumentError, ("over(order_by=...)",)),
    "two frames": (lambda r: f.sum(r.x).over(rows=(0, 1), range=(0, 1)), InvalidArgumentError, ("one of rows",)),
    "a frame that is no pair": (lambda r: f.sum(r.x).over(rows=-3), InvalidArgumentError, ("a pair", "(None, 0)")),
    "a frame of three": (lambda r: f.sum(r.x).over(rows=(1, 2, 3)), InvalidArgumentError, ("a pair",)),
    "SQL's words": (
        lambda r: f.sum(r.x).over(rows=("UNBOUNDED PRECEDING", "CURRENT ROW")),
        InvalidArgumentError,
        ("'UNBOUNDED PRECEDING'", "None is the end of the partition, 0 the current row"),
    ),
    "Spark's unboundedPreceding": (
        lambda r: f.sum(r.x).over(rows=(-(2**63), 0)),
        InvalidArgumentError,
        ("None is the end of the partition",),
    ),
    "infinity": (lambda r: f.sum(r.x).over(rows=(float("-inf"), 0)), InvalidArgumentError, ("None is the end",)),
    "infinity preceding": (lambda r: sd.preceding(float("inf")), InvalidArgumentError, ("inf", "None is the end")),
    "not a number": (lambda r: f.sum(r.x).over(range=(float("nan"), 0)), InvalidArgumentError, ("nan",)),
    "a truth value": (lambda r: f.sum(r.x).over(rows=(True, None)), InvalidArgumentError, ("True",)),
    "half a row": (lambda r: f.sum(r.x).over(rows=(-1.5, 0)), TypeMismatchError, ("counted in integers", "-1.5")),
    "half a row preceding": (lambda r: f.sum(r.x).over(rows=(sd.preceding(1.5), 0)), LiteralError, ("1.5", "i64")),
    "a direction lacks": (lambda r: f.sum(r.x).over(rows=(r.k, 0)), InvalidArgumentError, ("preceding(x)",)),
    "zero rows preceding": (lambda r: sd.preceding(0), InvalidArgumentError, ("preceding", "0 is the current row")),
    "a negative distance": (lambda r: sd.following(-1), InvalidArgumentError, ("following", "positive", "-1")),
    "rows counted in i32": (lambda r: f.sum(r.x).over(rows=(sd.preceding(r.x), 0)), TypeMismatchError, ("i64", "i32")),
    "a NULL distance": (
        lambda r: f.sum(r.x).over(rows=(sd.preceding(sd.null(sd.I64)), 0)),
        InvalidArgumentError,
        ("NULL",),
    ),
    "a window in a frame": (
        lambda r: f.sum(r.x).over(rows=(sd.preceding(f.row_number().over()), 0)),
        InvalidArgumentError,
        ("offset of a frame", "window"),
    ),
    "a range without a key": (lambda r: f.sum(r.x).over(range=(-1, 0)), SchemaError, ("exactly one sort key", "has 0")),
    "a range over two keys": (
        lambda r: f.sum(r.x).over(order_by=["x", "k"], range=(-1, 0)),
        SchemaError,
        ("exactly one sort key", "has 2", "rows=(first, last)"),
    ),
    "a range over clusters": (
        lambda r: f.sum(r.x).over(order_by=sd.clustered("x"), range=(-1, 0)),
        SchemaError,
        ("ascending or descending",),
    ),
    "a range over text": (
        lambda r: f.sum(r.x).over(order_by=r.s, range=(-1, 0)),
        TypeMismatchError,
        ("range over string", "offset 1", "add up"),
    ),
    # add(date, interval_day) is a timestamp
    "days over a date": (
        lambda r: f.sum(r.x).over(order_by=r.day, range=(dt.timedelta(-1), 0)),
        TypeMismatchError,
        ("range over date", "cast"),
    ),
    "an i64 over an i32": (
        lambda r: f.sum(r.x).over(order_by=r.x, range=(sd.preceding(r.k), 0)),
        TypeMismatchError,
        ("range over i32", "offset of type i64"),
    ),
    "more digits than the key": (
        lambda r: f.sum(r.x).over(order_by=r.p, range=(Decimal("-0.001"), 0)),
        TypeMismatchError,
        ("range over decimal<15,2>", "0.001"),
    ),
    "a name for a column": (lambda r: f.lag("x").over(), InvalidArgumentError, ("lag", "the text 'x'", "col('x')")),
    "a name for an aggregated column": (lambda r: f.count("x").over(), InvalidArgumentError, ("count", "col('x')")),
    "an unknown argument": (lambda r: f.ntile("four").over(), FunctionNotFoundError, ("ntile('four')",)),
    "a window in a lambda": (
        lambda r: f.transform(r.xs, lambda x: f.sum(x).over()),
        SchemaError,
        ("a window function cannot stand in a lambda",),
    ),
    "a captured window": (
        lambda r: f.transform(r.xs, lambda x: x + f.first_value(r.x).over()),
        SchemaError,
        ("a window function cannot stand in a lambda",),
    ),
    "rowsBetween": (lambda r: f.rank().rowsBetween(-1, 0), UnknownAttributeError, ("over(rows=(first, last))",)),
    "rangeBetween": (lambda r: f.sum(r.x).rangeBetween(-1, 0), UnknownAttributeError, ("over(range=(first, last))",)),
    "partitionBy": (lambda r: f.rank().partitionBy("k"), UnknownAttributeError, ("over(partition_by=...)",)),
    "orderBy": (lambda r: f.rank().orderBy("k"), UnknownAttributeError, ("over(order_by=...)",)),
    "a misspelt method": (lambda r: f.rank().ovre(), UnknownAttributeError, ('did you mean "over"',)),
    "over of an expression": (lambda r: f.abs(r.x).over(), UnknownAttributeError, ("functions.sum(x).over(...)",)),
}


@pytest.mark.parametrize(("make", "error", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(make: Make, error: type[sd.SubstraitDslError], said: tuple[str, ...]) -> None:
    with refused(error, *said):
        computed(make, ROW)


def test_a_frame_is_shown_as_it_was_written() -> None:
    with refused(InvalidArgumentError, "the frame rows=[following(2), -1] ends before it starts"):
        f.sum(sd.col("x")).over(order_by="x", rows=[sd.following(2), -1])


def test_months_are_compared_as_months() -> None:
    f.sum(sd.col("x")).over(order_by="at", range=(sd.YearMonths(0, 11), sd.YearMonths(1, 0)))
    with refused(InvalidArgumentError, "ends before it starts"):
        f.sum(sd.col("x")).over(order_by="at", range=(sd.YearMonths(0, 13), sd.YearMonths(1, 0)))


# --- custom comparison ---

COLLATION = """
urn: extension:com.example:collation
scalar_functions:
  - name: collate
    impls:
      - args: [{name: a, value: string}, {name: b, value: string}]
        return: i8
  - name: glued
    impls:
      - args: [{name: a, value: string}, {name: b, value: string}]
        return: string
aggregate_functions:
  - name: longest
    impls:
      - args: [{name: a, value: string}]
        return: string
"""
own: Any = sd.Functions(sd.standard_catalog().with_extension(COLLATION))


def test_a_function_may_say_what_comes_first() -> None:
    key = sd.compared("s", own.collate)
    collate = FunctionId("extension:com.example:collation", "collate:str_str")
    assert [each.direction for each in T.sort(key, "x")._rel.keys] == [collate, "asc_nulls_first"]
    assert window(lambda r: f.rank().over(order_by=sd.compared(r.s, own.collate))).sorts[0].direction == collate


def test_comparison_functions_that_are_none() -> None:
    with refused(FunctionNotFoundError, "sort", "collate(i32, i32)"):
        T.sort(sd.compared("x", own.collate))
    with refused(TypeMismatchError, "sort", "gives an integer", "string"):  # spec decision 52
        T.sort(sd.compared("s", own.glued))
    for wrong in (own.longest, "collate", lambda a, b: a < b):
        with refused(InvalidArgumentError, "compared takes a scalar function of a catalogue"):
            sd.compared("s", wrong)  # type: ignore[arg-type]  # wrong on purpose
