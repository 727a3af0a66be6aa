"""Top-n, exchange, captures, methods of aggregates, window, expand: columns, properties, errors."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import CURRENT_ROW, UNBOUNDED, Literal
from substrait_dsl.algebra.properties import SINGLETON, partitioned
from substrait_dsl.algebra.relations import ExchangeTarget
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    LiteralError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import ascending, columns, declared, distribution, f, ordering, refused, table

T = table("a: i64, b: i32?, s: string, bs: list<i32>")
SORTED = declared("a: i64, b: i32?, s: string", ascending(0), ascending(1), distribution=partitioned((2,)))

Mistakes = list[tuple[Any, Any, tuple[str, ...]]]

# --- top-n ---


def test_a_top_n_keeps_the_columns_and_has_the_order_of_its_keys() -> None:
    top = SORTED.top_n(5, sd.desc("s"), lambda row: row.a, offset=2, with_ties=True)
    assert columns(top) == columns(SORTED)
    assert [(key.field, key.direction) for key in top.properties.ordering] == [
        ((2,), "desc_nulls_last"),
        ((0,), "asc_nulls_first"),
    ]
    assert distribution(top) == partitioned((2,))
    assert (top._rel.count, top._rel.offset, top._rel.mode) == (Literal(5, sd.I64()), Literal(2, sd.I64()), "with_ties")


def test_a_top_n_has_rows_only_and_no_offset_unless_it_says_so() -> None:
    top = T.top_n(5, "a")._rel
    assert (top.offset, top.mode) == (None, "rows_only")


# --- exchange ---

KINDS: list[tuple[Any, Any]] = [
    # "Distribution: overwritten": by the fields of a scatter, or the column of a single bucket
    (sd.scatter("s"), partitioned((2,))),
    (sd.scatter("a", lambda row: row.s), partitioned((0,), (2,))),
    (sd.single_bucket("b"), partitioned((1,))),
    (sd.single_bucket(lambda row: row.b + 1), None),
    (sd.multi_bucket("bs"), None),
    (sd.round_robin(), None),
    (sd.round_robin(exact=True), None),
    (sd.broadcast(), None),
]


@pytest.mark.parametrize(("kind", "expected"), KINDS, ids=lambda each: repr(each))
def test_exchanges(kind: Any, expected: Any) -> None:
    """Spec decision 8: the order is kept, in each partition."""
    source = declared("a: i64, b: i32?, s: string, bs: list<i32>", ascending(0), distribution=partitioned((0,)))
    sent = source.exchange(kind, partition_count=8)
    assert columns(sent) == columns(source)
    assert (ordering(sent), distribution(sent)) == ([(0,)], expected)
    assert distribution(source.exchange(kind, partition_count=1)) == SINGLETON


def test_the_targets_of_an_exchange() -> None:
    message = sd.AnyMessage("example.com/acme.Channel", b"7")
    targets = [sd.exchange_target("tcp://one", 0, 2), sd.exchange_target(message, 1)]
    sent = T.exchange(sd.round_robin(), partition_count=3, targets=targets)
    assert sent._rel.targets == (ExchangeTarget("tcp://one", (0, 2)), ExchangeTarget(message, (1,)))


def test_captures() -> None:
    merged, taken = SORTED.merging_capture(blocking=True), SORTED.simple_capture()
    assert columns(merged) == columns(taken) == columns(SORTED)
    assert (ordering(merged), distribution(merged)) == ([(0,), (1,)], partitioned((2,)))
    assert (ordering(taken), distribution(taken)) == ([], partitioned((2,)))
    assert (merged._rel.blocking, SORTED.merging_capture()._rel.blocking) == (True, False)


# --- aggregate ---


def test_the_methods_of_an_aggregate() -> None:
    """A streaming aggregate keeps the order of its keys; the others have none."""
    for method in ("any", "hash", "streaming"):
        grouped = SORTED.aggregate("a", n=f.count(), method=method)
        assert columns(grouped) == "a: i64, n: i64"
        assert ordering(grouped) == ([(0,)] if method == "streaming" else [])


# --- window ---


def test_a_window_adds_a_column_for_each_function() -> None:
    # rank is declared i64?, count i64, and sum of integers i64?
    made = T.window(partition_by="s", order_by=sd.desc("a"), r=f.rank(), n=f.count(), t=lambda row: f.sum(row.a))
    assert columns(made) == columns(T) + ", r: i64?, n: i64, t: i64?"


def test_a_window_may_add_a_column_called_self() -> None:
    assert T.window(order_by="a", self=f.rank()).columns[-1] == "self"


def test_the_frames_of_a_window() -> None:
    """Spec decision 32: up to the current row with an order, else the whole partition."""
    frames = [
        (T.window(n=f.count()), ("rows", UNBOUNDED, UNBOUNDED)),
        (T.window(order_by="a", n=f.count()), ("range", UNBOUNDED, CURRENT_ROW)),
        (T.window(order_by="a", n=f.count().frame(rows=(0, None))), ("rows", CURRENT_ROW, UNBOUNDED)),
        (T.window(order_by="a", n=lambda row: f.sum(row.a).frame(rows=(0, 0))), ("rows", CURRENT_ROW, CURRENT_ROW)),
    ]
    for made, expected in frames:
        (call,) = made._rel.functions
        assert (call.bounds_type, call.lower, call.upper) == expected


def test_the_partitions_and_the_order_of_a_window() -> None:
    window = T.window(partition_by=["s", lambda row: row.a + 1], order_by=["b", sd.desc("a")], n=f.row_number())._rel
    assert [str(partition.type) for partition in window.partitions] == ["string", "i64"]
    assert [key.direction for key in window.sorts] == ["asc_nulls_first", "desc_nulls_last"]


def test_an_aggregate_over_a_window_may_take_each_value_once() -> None:
    (call,) = T.window(n=f.count(sd.col("a")).distinct())._rel.functions
    assert call.invocation == "distinct"


def test_the_properties_of_windows() -> None:
    """Spec decision 9: the rows of the specification, to the letter."""
    for method, kept in {"consistent_partition": [(0,), (1,)], "hashing": [], "streaming": []}.items():
        made = SORTED.window(partition_by="a", order_by="b", method=method, n=f.row_number())
        assert (ordering(made), distribution(made)) == (kept, partitioned((2,)))


# --- expand ---

EXPANDS: list[tuple[Any, str]] = [
    (lambda: T.expand(a=sd.col("a")), "a: i64, index: i32"),
    (lambda: T.expand(a=lambda row: row.a + 1, index="copy"), "a: i64, copy: i32"),
    (lambda: T.expand(x=sd.switching(sd.col("a"), 5)), "x: i64, index: i32"),
    (lambda: T.expand(x=sd.switching(sd.col("a"), None)), "x: i64?, index: i32"),
    (lambda: T.expand(x=lambda row: sd.switching(row.b, 5)), "x: i32?, index: i32"),
    (lambda: T.expand(x=sd.switching(lambda row: row.a, lambda row: row.a * 2)), "x: i64, index: i32"),
    (lambda: T.expand(x=sd.switching(1, None)), "x: i64?, index: i32"),
    (lambda: T.expand(x=sd.switching(sd.col("s"), "all")), "x: string, index: i32"),
    (lambda: T.expand(x=sd.switching(sd.col("b"), sd.null(sd.I32)), s=sd.col("s")), "x: i32?, s: string, index: i32"),
    # spec decision 2: a field with fewer values than another has NULL in the other copies
    (lambda: T.expand(x=sd.switching(1, 2), y=sd.switching(1)), "x: i64, y: i64?, index: i32"),
]


@pytest.mark.parametrize(("make", "expected"), EXPANDS)
def test_expands(make: Any, expected: str) -> None:
    assert columns(make()) == expected


def test_the_properties_of_an_expand() -> None:
    """Order and distribution stay as far as their columns are the same in all copies."""
    kept = SORTED.expand(s=sd.col("s"), a=sd.col("a"), b=sd.switching(sd.col("b"), None))
    assert (ordering(kept), distribution(kept)) == ([(1,)], partitioned((0,)))
    lost = SORTED.expand(s=sd.switching(sd.col("s"), None), b=sd.col("b"))
    assert (ordering(lost), distribution(lost)) == ([], None)


# --- errors ---

MISTAKES: Mistakes = [
    (lambda: T.top_n(5), InvalidArgumentError, ("top_n", "at least one key")),
    (lambda: T.top_n("a", 5), TypeMismatchError, ("top_n", "count", "number of rows", "'a'")),
    (lambda: T.top_n(-1, "a"), InvalidArgumentError, ("top_n", "count", "negative", "-1")),
    (lambda: T.top_n(1, "c"), UnknownFieldError, ("top_n", '"c"')),
    (lambda: T.top_n(1, "-a"), UnknownFieldError, ('write desc("a")',)),
    (lambda: T.exchange(sd.scatter()), InvalidArgumentError, ("exchange, scatter", "at least one field")),
    (lambda: T.exchange(sd.scatter("c")), UnknownFieldError, ("exchange, scatter", '"c"')),
    (lambda: T.exchange(sd.scatter(lambda row: row.a + 1)), InvalidArgumentError, ("columns or fields",)),
    (lambda: T.exchange(sd.single_bucket("a")), TypeMismatchError, ("exchange, single_bucket", "i32", "i64")),
    (lambda: T.exchange(sd.multi_bucket("b")), TypeMismatchError, ("multi_bucket", "list<i32>", "i32?")),
    (lambda: T.exchange(sd.single_bucket("b", constrained=True)), InvalidArgumentError, ("partition count",)),
    (lambda: T.exchange(sd.multi_bucket("bs", constrained=True)), InvalidArgumentError, ("partition count",)),
    (lambda: T.exchange("a"), InvalidArgumentError, ("exchange", 'write scatter("a")')),
    (lambda: T.exchange("hash"), InvalidArgumentError, ('write scatter("column", ...)',)),
    (lambda: T.exchange(sd.broadcast), InvalidArgumentError, ("write broadcast()",)),
    (lambda: T.exchange(None), InvalidArgumentError, ("kind of exchange", "round_robin()")),
    (lambda: T.exchange(sd.broadcast(), partition_count=0), InvalidArgumentError, ("at least 1", "0")),
    (lambda: T.exchange(sd.broadcast(), partition_count="8"), InvalidArgumentError, ("partition count", "'8'")),
    (lambda: T.exchange(sd.broadcast(), targets="tcp://x"), InvalidArgumentError, ("exchange_target(uri",)),
    (
        lambda: T.exchange(sd.broadcast(), partition_count=2, targets=[sd.exchange_target("x", 2)]),
        InvalidArgumentError,
        ("no partition 2", "there are 2"),
    ),
    (lambda: T.aggregate("a", n=f.count(), method="sorted"), InvalidChoiceError, ("aggregate", 'write "streaming"')),
    (lambda: SORTED.aggregate("s", n=f.count(), method="streaming"), SchemaError, ("aggregate", "sorted by a, b")),
    (lambda: T.window(), InvalidArgumentError, ("window", "at least one function")),
    (lambda: T.window(a=f.count()), SchemaError, ("window", '"a" already')),
    (lambda: T.window(n=f.count), InvalidArgumentError, ('function "n"', "call it: count(...)")),
    (lambda: T.window(n=sd.col("a")), TypeMismatchError, ('function "n"', "got an expression")),
    (lambda: T.window(n=f.count().over(order_by="a")), TypeMismatchError, ("leave .over(...) away",)),
    (lambda: T.window(n="count"), InvalidArgumentError, ('function "n"', "'count'")),
    (lambda: T.window(n=f.count().filter(sd.col("a") > 1)), InvalidArgumentError, ("no filter",)),
    (lambda: T.window(partition_by="c", n=f.count()), UnknownFieldError, ("window, partition_by", '"c"')),
    (lambda: T.window(order_by="c", n=f.count()), UnknownFieldError, ("window, order_by", '"c"')),
    (lambda: T.window(partition_by=None, n=f.count()), InvalidArgumentError, ("to partition by", "None")),
    (lambda: T.window(n=f.count().frame(range=(-1, 0))), SchemaError, ("exactly one sort key", "has 0")),
    (lambda: T.window(n=f.count(), method="stream"), InvalidChoiceError, ('write "streaming"',)),
    (lambda: SORTED.window(partition_by="s", n=f.count(), method="streaming"), SchemaError, ("window", "sorted by")),
    (lambda: T.expand(), InvalidArgumentError, ("expand", "at least one column")),
    (lambda: T.expand(x=1, index="x"), SchemaError, ("expand", '"x"')),
    (lambda: T.expand(x=1, index=2), InvalidArgumentError, ("expand", "name of a column is a str", "2")),
    (lambda: T.expand(x="a"), InvalidArgumentError, ('column "x"', "col('a')")),
    (lambda: T.expand(x=sd.switching("a", None)), InvalidArgumentError, ('column "x"', "col('a')", "lit('a')")),
    (lambda: T.expand(x=sd.switching(None)), LiteralError, ("every value is None", "null(type)")),
    (lambda: T.expand(x=sd.switching(sd.col("a"), "x")), TypeMismatchError, ("one type", "'x' does not fit i64")),
    (lambda: T.expand(x=sd.switching(sd.col("a"), sd.col("b"))), TypeMismatchError, ("i64", "i32?", "cast")),
    (lambda: T.expand(x=sd.switching(f.sum(sd.col("a")))), TypeMismatchError, ('column "x"', "aggregate function")),
    (lambda: sd.switching(), InvalidArgumentError, ("switching", "at least one value")),
    (lambda: sd.exchange_target(7), InvalidArgumentError, ("exchange_target", "7")),  # type: ignore[arg-type]  # wrong
    (lambda: sd.exchange_target("x", "0"), InvalidArgumentError, ("exchange_target", "'0'")),  # type: ignore[arg-type]  # wrong
]


@pytest.mark.parametrize(("call", "error", "said"), MISTAKES)
def test_mistakes(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()
