"""Aggregate: keys, measures, and the index of the grouping set; nullability; what is valid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.properties import SINGLETON, Distribution, partitioned
from substrait_dsl.algebra.relations import Aggregate
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import ascending, columns, declared, distribution, f, ordering, refused, table

ABV = "a: i64, b: string?, v: i32"


def test_the_output_is_the_keys_then_the_measures() -> None:
    rel = table(ABV).aggregate("b", "a", n=f.count(), top=lambda r: f.max(r.v))
    assert columns(rel) == "b: string?, a: i64, n: i64, top: i32?"


def test_a_key_may_be_computed() -> None:
    assert columns(table(ABV).aggregate(lambda r: (r.a % 10).alias("digit"), n=f.count())) == "digit: i64, n: i64"


def test_without_measures_the_keys_are_the_output() -> None:
    assert columns(table(ABV).aggregate("a")) == "a: i64"
    assert columns(table(ABV).distinct()) == ABV


# --- grouping sets ---

SETS: list[tuple[Sequence[tuple[str, ...]], str]] = [
    # "The columns for grouping expressions that do not appear in all grouping sets will be nullable"
    # "an aggregate relation with more than one grouping set receives an extra i32 column on the right-hand side"
    ([("a", "c")], "a: i64, c: i64, n: i64"),
    ([("a", "c"), ("a",)], "a: i64, c: i64?, n: i64, grouping_set: i32"),
    ([("a",), ("c",)], "a: i64?, c: i64?, n: i64, grouping_set: i32"),
    ([("a", "c"), ()], "a: i64?, c: i64?, n: i64, grouping_set: i32"),
    ([("a", "c"), ("c", "a")], "a: i64, c: i64, n: i64, grouping_set: i32"),  # the same set twice is two sets
]


@pytest.mark.parametrize(("sets", "expected"), SETS)
def test_grouping_set_nullability_and_index(sets: Sequence[tuple[str, ...]], expected: str) -> None:
    assert columns(table("a: i64, c: i64").aggregate("a", "c", grouping_sets=sets, n=f.count())) == expected


def test_keys_in_sets_may_be_given_by_number() -> None:
    rel = table("a: i64, c: i64")
    by_name = rel.aggregate("a", "c", grouping_sets=[("c", "a"), ("c",)], n=f.count())
    assert rel.aggregate("a", "c", grouping_sets=[(1, 0), (1,)], n=f.count())._rel == by_name._rel


def test_one_empty_set_is_no_grouping() -> None:
    """Specification: a single empty set is "equivalent to not having any grouping sets"."""
    assert columns(table(ABV).aggregate(grouping_sets=[()], n=f.count())) == "n: i64"
    assert columns(table(ABV).aggregate(n=f.count())) == "n: i64"


def test_two_empty_sets_leave_the_index() -> None:
    """Spec decision 11: zero columns are invalid, but the index is a column."""
    assert columns(table(ABV).aggregate(grouping_sets=[(), ()])) == "grouping_set: i32"


def test_rollup_and_cube_are_grouping_sets() -> None:
    rel = table("a: i64, b: i64")
    rolled = rel.group_by("a", "b").rollup(n=f.count())
    assert rolled._rel.grouping_sets == ((0, 1), (0,), ())
    cubed = rel.group_by("a", "b").cube(n=f.count())
    assert cubed._rel.grouping_sets == ((0, 1), (0,), (1,), ())
    assert columns(rolled) == columns(cubed) == "a: i64?, b: i64?, n: i64, grouping_set: i32"
    assert rel.group_by("a").agg(n=f.count())._rel == rel.aggregate("a", n=f.count())._rel


# --- measures ---


def test_filter_distinct_and_order_of_a_measure() -> None:
    rel = table(ABV).aggregate(
        x=lambda r: f.count(r.b).distinct().filter(r.a > 1),
        y=lambda r: f.string_agg(r.b, ",").order_by(sd.desc(r.a)),
    )
    x, y = rel._rel.measures
    assert (x.function.invocation, str(x.filter.type)) == ("distinct", "boolean")
    assert [key.direction for key in y.function.sorts] == ["desc_nulls_last"]
    assert {m.function.phase for m in (x, y)} == {"initial_to_result"}


# --- properties ---


@pytest.mark.parametrize(
    ("sets", "given", "expected"),
    [  # "Maintains distribution if all distribution fields are contained in every grouping set"
        ([("b", "a")], partitioned((0,)), partitioned((1,))),
        ([("b", "a")], partitioned((0,), (1,)), partitioned((0,), (1,))),
        ([("b", "a"), ("a",)], partitioned((0,)), partitioned((1,))),
        ([("b", "a"), ("b",)], partitioned((0,)), None),
        ([("b", "a"), ("b",)], partitioned((0,), (1,)), None),
        ([("b", "a"), ()], partitioned((0,)), None),
        ([("b", "a")], partitioned((2,)), None),
        ([("b", "a"), ("b",)], SINGLETON, SINGLETON),
        ([("b", "a")], None, None),
    ],
)
def test_distribution(sets: list[tuple[str, ...]], given: Distribution | None, expected: Distribution | None) -> None:
    rel = declared("a: i64, b: i64, c: i64", distribution=given)
    assert distribution(rel.aggregate("b", "a", grouping_sets=sets)) == expected


def test_a_computed_key_is_no_distribution_field() -> None:
    rel = declared("a: i64", distribution=partitioned((0,)))
    assert distribution(rel.aggregate(lambda r: (r.a + 1).alias("x"))) is None


def test_no_order_is_left() -> None:
    assert ordering(declared("a: i64", ascending(0)).aggregate("a")) == []


def test_without_keys_there_is_surely_one_row() -> None:
    assert table(ABV).aggregate(n=f.count())._rel.single_row
    assert table(ABV).aggregate(grouping_sets=[()], n=f.count())._rel.single_row
    assert not table(ABV).aggregate("a", n=f.count())._rel.single_row
    assert not table(ABV).aggregate(grouping_sets=[(), ()], n=f.count())._rel.single_row


# --- refusals ---


def test_an_aggregate_has_a_column() -> None:
    """Specification: "An aggregate relation is invalid if it would yield zero columns"."""
    with refused(SchemaError, "aggregate", "no columns"):
        table(ABV).aggregate()
    with refused(SchemaError, "aggregate", "no columns"):
        table(ABV).aggregate(grouping_sets=[()])


def test_every_key_stands_in_a_set() -> None:
    """Specification: "Each of the grouping expressions must occur in at least one of the grouping sets"."""
    with refused(SchemaError, "aggregate", "every key", "b stands in none"):
        table(ABV).aggregate("a", "b", grouping_sets=[("a",)], n=f.count())


def test_a_set_names_keys() -> None:
    with refused(SchemaError, "aggregate", "grouping set 1", "'bb'", '"a", "b"', 'did you mean "b"'):
        table(ABV).aggregate("a", "b", grouping_sets=[("a", "b"), ("bb",)])
    with refused(SchemaError, "aggregate", "grouping set 0", "'v'", "no key"):
        table(ABV).aggregate("a", grouping_sets=[("v",)])
    with refused(SchemaError, "aggregate", "grouping set 0", "2"):
        table(ABV).aggregate("a", "b", grouping_sets=[(0, 2)])
    with refused(SchemaError, "aggregate", "grouping set 0", "'a' twice"):
        table(ABV).aggregate("a", grouping_sets=[("a", "a")])
    with refused(InvalidArgumentError, "aggregate", "grouping set 0", "tuple", "'ab'"):
        table("ab: i64").aggregate("ab", grouping_sets=["ab"])
    with refused(SchemaError, "aggregate", "grouping_sets is empty"):
        table(ABV).aggregate("a", grouping_sets=[])


def test_the_algebra_refuses_positions_that_are_no_keys() -> None:
    with refused(SchemaError, "grouping set 0", "key 1", "0 keys"):
        Aggregate(table(ABV)._rel, (), ((1,),), (), ())


NOT_A_MEASURE: list[tuple[Any, type, tuple[str, ...]]] = [
    (lambda r: r.v, TypeMismatchError, ('"x"', "no aggregate function", "f.sum")),
    (lambda r: r.v + 1, TypeMismatchError, ('"x"', "no aggregate function")),
    (5, InvalidArgumentError, ('"x"', "aggregate function", "5")),
    ("sum", InvalidArgumentError, ('"x"', "aggregate function", "'sum'")),
    (lambda r: f.max(f.min(r.v)), TypeMismatchError, ("max takes values", "min is an aggregate function")),
    (lambda r: f.sum(r.v).filter(r.a), TypeMismatchError, ("filter of a measure", "boolean", "i64")),
    (lambda r: f.sum(r.b), FunctionNotFoundError, ("sum(string?)", "(11 in all)")),
    (lambda r: f.sum(r.vv), UnknownFieldError, ('"vv"', 'did you mean "v"')),
]


@pytest.mark.parametrize(("measure", "error", "said"), NOT_A_MEASURE)
def test_what_is_no_measure_is_refused(measure: Any, error: type[sd.SubstraitDslError], said: tuple[str, ...]) -> None:
    with refused(error, "aggregate", *said):
        table(ABV).aggregate("a", x=measure)


def test_an_aggregate_function_stands_in_no_other_place() -> None:
    with refused(TypeMismatchError, "filter", "sum is an aggregate function", "aggregate(...)"):
        table(ABV).filter(lambda r: f.sum(r.v))
    with refused(TypeMismatchError, "with_columns", '"x"', "sum is an aggregate function"):
        table(ABV).with_columns(x=lambda r: f.sum(r.v))
    with refused(TypeMismatchError, "aggregate", "sum is an aggregate function"):
        table(ABV).aggregate(lambda r: f.sum(r.v), n=f.count())
    with refused(TypeMismatchError, "filter", "computes with the aggregate function sum", "with_columns"):
        table(ABV).filter(lambda r: f.sum(r.v) > 1)


@pytest.mark.parametrize(
    ("sets", "needed"),
    [(((0,),), 2), (((0,), ()), 3)],  # with an index of the grouping set
)
def test_there_is_a_name_for_each_column(sets: tuple[tuple[int, ...], ...], needed: int) -> None:
    whole = table(ABV).aggregate("a", n=f.count())._rel
    for count in {0, 1, 2, 3, 4} - {needed}:
        with refused(SchemaError, f"{needed} columns need a name each, got {count} names"):
            Aggregate(whole.input, whole.keys, sets, whole.measures, ("x",) * count)
    assert len(Aggregate(whole.input, whole.keys, sets, whole.measures, ("x",) * needed).schema) == needed


def test_names_are_given_once() -> None:
    with refused(SchemaError, "aggregate", '"a"'):
        table(ABV).aggregate("a", a=f.count())
    with refused(SchemaError, "aggregate", '"grouping_set"'):
        table(ABV).aggregate("a", grouping_sets=[("a",), ()], grouping_set=f.count())
    with refused(InvalidArgumentError, "group_by", "at least one key"):
        table(ABV).group_by().agg(n=f.count())
