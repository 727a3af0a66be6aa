"""Set operations: the tables of the specification's "Set Operation Types" and "Output Type Derivation Examples"."""

from __future__ import annotations

import re
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.properties import SINGLETON, Distribution, partitioned
from substrait_dsl.algebra.relations import Set
from substrait_dsl.algebra.rules import SetOp
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, SchemaError, TypeMismatchError
from tests.support import ascending, columns, declared, distribution, ordering, refused, table

PRIMARY = "R R R R N N N N"
SECONDARY = ("R R N N R R N N", "R N R N R N R N")

OUTPUT: dict[SetOp, str] = {
    "minus_primary": "R R R R N N N N",
    "minus_primary_all": "R R R R N N N N",
    "minus_multiset": "R R R R N N N N",
    "intersection_primary": "R R R R R N N N",
    "intersection_multiset": "R R R R R R R N",
    "intersection_multiset_all": "R R R R R R R N",
    "union_distinct": "R N N N N N N N",
    "union_all": "R N N N N N N N",
}


def of_nullability(marks: str, prefix: str = "c") -> Any:
    kinds = {"R": "i64", "N": "i64?"}
    return table(", ".join(f"{prefix}{number}: {kinds[mark]}" for number, mark in enumerate(marks.split())))


@pytest.mark.parametrize("op", OUTPUT)
def test_output_type_derivation(op: SetOp) -> None:
    inputs = [of_nullability(marks, "other") for marks in SECONDARY]
    combined = of_nullability(PRIMARY).set_op(op, *inputs)
    assert columns(combined) == columns(of_nullability(OUTPUT[op]))  # the names are the primary input's


@pytest.mark.parametrize(
    ("verb", "op"),
    [
        ("union_all", "union_all"),
        ("union", "union_distinct"),
        ("intersect", "intersection_multiset"),
        ("subtract", "minus_primary"),
    ],
)
def test_familiar_names(verb: str, op: SetOp) -> None:
    one, other = table("a: i64"), table("a: i64?", "u")
    assert getattr(one, verb)(other)._rel == one.set_op(op, other)._rel


# --- properties ---


@pytest.mark.parametrize("op", OUTPUT)
def test_no_order_is_left(op: SetOp) -> None:
    assert ordering(declared("a: i64", ascending(0)).set_op(op, declared("a: i64", ascending(0)))) == []


@pytest.mark.parametrize(
    ("distributions", "expected"),
    [  # "Maintains distribution if all inputs have the same ordinal distribution"
        ((SINGLETON, SINGLETON), SINGLETON),
        ((partitioned((0,)), partitioned((0,)), partitioned((0,))), partitioned((0,))),
        ((partitioned((0,), (1,)), partitioned((1,), (0,))), partitioned((0,), (1,))),
        ((partitioned((0,)), partitioned((0,)), partitioned((1,))), None),
        ((partitioned((0,)), SINGLETON), None),
        ((partitioned((0,)), None), None),
    ],
)
def test_distribution(distributions: tuple[Distribution | None, ...], expected: Distribution | None) -> None:
    first, *others = (declared("a: i64, b: i64", distribution=each) for each in distributions)
    assert distribution(first.union_all(*others)) == expected


# --- refusals ---


def test_inputs_of_another_width_are_refused() -> None:
    with refused(SchemaError, "set_op", "same number of columns", "input 1 has 2 (a: i64, b: i64)", "input 3 has 1"):
        table("a: i64, b: i64").set_op("union_all", table("c: i64, d: i64"), table("e: i64"))


def test_inputs_of_another_type_are_refused() -> None:
    with refused(TypeMismatchError, "set_op", "column 1", "b: i64", "d: i32?", "input 1", "cast"):
        table("a: i64, b: i64").set_op("minus_primary", table("c: i64, d: i32?"))


def test_nullability_inside_a_type_must_agree() -> None:
    """Spec decision 18: only the outermost may vary."""
    assert columns(table("a: list<i64>").union_all(table("a: list<i64>?"))) == "a: list<i64>?"
    with refused(TypeMismatchError, "union_all", "list<i64>", "list<i64?>"):
        table("a: list<i64>").union_all(table("a: list<i64?>"))


CASTS: list[tuple[str, str, str]] = [
    ("list<i64>", "list<i64?>", "cast the column of input 1 to list<i64?>"),
    ("list<i64?>", "list<i64>", "cast the column of input 2 to list<i64?>"),
    ("list<i64>?", "list<i64?>", "cast the column of input 1 to list<i64?>?"),
    ("list<i64?>?", "list<i64>", "cast the column of input 2 to list<i64?>"),
    ("map<string, list<i64>>", "map<string, list<i64>?>", "cast the column of input 1 to map<string, list<i64>?>"),
    ("map<list<i64?>, i64>", "map<list<i64>, i64?>", "cast both to map<list<i64?>, i64?>"),
    ("struct<i64?, i64>?", "struct<i64, i64?>", "cast both to struct<i64?, i64?>?"),
    ("i32", "i64?", "cast the column of input 1 to i64"),
    ("i64", "i32?", "cast the column of input 2 to i64?"),
    ("decimal<10,2>", "decimal<10,4>", "cast both to decimal<12,4>"),
    ("i64", "fp64", "cast one of them, for example to i64"),
    ("list<i64>", "list<i32?>", "cast one of them, for example to list<i64>"),
    ("struct<i64?, i64>", "struct<i64, i64, i64>", "cast one of them, for example to struct<i64?, i64>"),
    ("map<i64, i64?>", "map<string, i64>", "cast one of them, for example to map<i64, i64?>"),
    ("func<i64 -> i64>", "func<i64 -> i64?>", "cast one of them, for example to func<i64 -> i64>"),
]


@pytest.mark.parametrize(("first", "second", "hint"), CASTS)
def test_the_cast_that_is_advised_has_a_place_for_every_null(first: str, second: str, hint: str) -> None:
    one, other = (sd.read_named("t", {"a": kind}) for kind in (first, second))
    with pytest.raises(TypeMismatchError) as caught:
        one.union_all(other)
    assert caught.value.hint == hint
    for number, kind in re.findall(r"input (\d) to (.+)", hint):
        one, other = (
            each.select(a=sd.col("a").cast(kind)) if str(position) == number else each
            for position, each in ((1, one), (2, other))
        )
        one.union_all(other)


def test_there_are_at_least_two_inputs() -> None:
    with refused(SchemaError, "set_op", "at least two inputs", "got 1"):
        table("a: i64").set_op("union_all")
    with refused(SchemaError, "got 0"):
        Set((), "union_all")


def test_an_unknown_operation_names_the_nearest() -> None:
    with refused(InvalidChoiceError, "set_op", "unknown op 'union'", 'write "union_distinct"', "minus_primary_all"):
        table("a: i64").set_op("union", table("a: i64"))
    with refused(InvalidArgumentError, "set_op", "expected a relation", "'u'"):
        table("a: i64").set_op("union_all", "u")
