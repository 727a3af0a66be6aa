"""Join: twelve types, each with its columns and their nullability; conditions; properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.properties import SINGLETON, Distribution, partitioned
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.errors import (
    AmbiguousFieldError,
    FunctionNotFoundError,
    InvalidArgumentError,
    InvalidChoiceError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.nodes import TRUE, col, equal, leaf
from tests.support import ascending, columns, declared, distribution, f, ordering, refused, table

LEFT = "a: i64, b: string?"
RIGHT = "x: i64, y: date?"

TABLE: dict[JoinType, str] = {
    # "return a record including the data from both sides"
    "inner": "a: i64, b: string?, x: i64, y: date?",
    # "... along with nulls for the opposite input"
    "outer": "a: i64?, b: string?, x: i64?, y: date?",
    "left": "a: i64, b: string?, x: i64?, y: date?",
    "right": "a: i64?, b: string?, x: i64, y: date?",
    # "Returns records from the left input" (spec decision 3)
    "left_semi": "a: i64, b: string?",
    "left_anti": "a: i64, b: string?",
    "right_semi": "x: i64, y: date?",
    "right_anti": "x: i64, y: date?",
    # "For any left records without matching right records, ... along with nulls for the right input"
    "left_single": "a: i64, b: string?, x: i64?, y: date?",
    "right_single": "a: i64?, b: string?, x: i64, y: date?",
    # "one additional mark column ... of type nullable boolean" (spec decision 4)
    "left_mark": "a: i64, b: string?, mark: boolean?",
    "right_mark": "x: i64, y: date?, mark: boolean?",
}


@pytest.mark.parametrize("how", TABLE)
def test_the_twelve_types(how: JoinType) -> None:
    joined = table(LEFT).join(table(RIGHT), lambda mine, theirs: mine.a == theirs.x, how)
    assert columns(joined) == TABLE[how]


@pytest.mark.parametrize("how", TABLE)
def test_the_condition_does_not_change_nullability(how: JoinType) -> None:
    """Spec decision 6."""
    assert columns(table(LEFT).join(table(RIGHT), True, how)) == TABLE[how]


def test_the_mark_may_be_named() -> None:
    assert columns(table("a: i64").join(table("a: i64"), "a", "left_mark", mark="found")) == "a: i64, found: boolean?"


# --- conditions ---

CONDITIONS: dict[str, Any] = {
    "lambda of two rows": lambda mine, theirs: mine.k == theirs.k,
    "name of a common column": "k",
    "names of common columns": ["k"],
}


@pytest.mark.parametrize("on", CONDITIONS.values(), ids=CONDITIONS)
def test_ways_to_say_equal_keys(on: Any) -> None:
    condition = table("a: i64, k: i64").join(table("k: i64"), on)._rel.condition
    assert condition.function.key == "equal:any_any"
    assert [argument.position for argument in condition.arguments] == [1, 2]  # left columns, then right


def test_several_names_are_connected_by_and() -> None:
    condition = table("a: i64, b: i64").join(table("b: i64, a: i64"), ["a", "b"])._rel.condition
    assert condition.function.key == "and:bool"
    assert [[side.position for side in part.arguments] for part in condition.arguments] == [[0, 3], [1, 2]]


def test_columns_of_the_very_relations() -> None:
    left, right = table("a: i64"), table("a: i64", "u")
    condition = left.join(right, left.c.a == right["a"])._rel.condition
    assert [argument.position for argument in condition.arguments] == [0, 1]


def test_the_condition_sees_both_sides_even_where_the_output_has_one() -> None:
    assert (
        columns(
            table(LEFT).join(table(RIGHT), lambda mine, theirs: (mine.a == theirs.x) & theirs.y.is_null(), "left_semi")
        )
        == LEFT
    )


def test_a_post_join_filter_sees_the_output() -> None:
    left, right = table(LEFT), table(RIGHT)
    joined = left.join(right, lambda mine, theirs: mine.a == theirs.x, "left_mark", post_filter=lambda o: ~o.mark)
    assert columns(joined) == "a: i64, b: string?, mark: boolean?"
    with refused(UnknownFieldError, "join", '"y"'):
        left.join(right, lambda mine, theirs: mine.a == theirs.x, "left_mark", post_filter=lambda o: o.y.is_null())
    with refused(TypeMismatchError, "join", "boolean", "i64"):
        left.join(right, lambda mine, theirs: mine.a == theirs.x, post_filter=lambda o: o.a)


def test_a_post_join_filter_has_no_subquery_that_refers_to_the_row_of_the_join() -> None:
    """That is the row that the condition sees, not the one that is put out."""
    left, right = leaf(LEFT), leaf(RIGHT)
    of_the_row = equal(col(right, "x"), ex.FieldReference(0, sd.I64(), ex.OuterReference(1)))
    post_filter = ex.SetPredicate("exists", r.Filter(right, of_the_row))
    keys = (r.JoinKey(col(left, "a"), col(right, "x")),)
    joins: list[Callable[[int], r.Rel]] = [
        lambda anchor: r.Join(left, right, "inner", TRUE, post_filter, anchor=anchor),
        lambda anchor: r.LateralJoin(left, right, "inner", TRUE, post_filter, anchor=anchor),
        lambda anchor: r.HashJoin(left, right, "inner", keys, None, post_filter, anchor=anchor),
        lambda anchor: r.MergeJoin(left, right, "inner", keys, None, post_filter, anchor=anchor),
    ]
    for join in joins:
        with refused(InvalidArgumentError, "post-join filter", "filter above the join"):
            join(1)
        assert join(2).free_anchors == {1}


# --- properties ---


@pytest.mark.parametrize("how", TABLE)
def test_no_order_is_left(how: JoinType) -> None:
    joined = declared(LEFT, ascending(0)).join(
        declared(RIGHT, ascending(0)), lambda mine, theirs: mine.a == theirs.x, how
    )
    assert ordering(joined) == []


@pytest.mark.parametrize(
    ("how", "left", "right", "expected"),
    [  # spec decision 7: the columns of a side that is padded with NULL tell nothing of where a row lies
        ("inner", SINGLETON, SINGLETON, SINGLETON),
        ("outer", SINGLETON, SINGLETON, SINGLETON),
        ("left", partitioned((1,)), SINGLETON, partitioned((1,))),
        ("left_semi", partitioned((1,)), SINGLETON, partitioned((1,))),
        ("left_mark", partitioned((1,)), SINGLETON, partitioned((1,))),
        ("right", partitioned((1,)), SINGLETON, None),
        ("outer", partitioned((1,)), SINGLETON, None),
        ("right_semi", partitioned((1,)), SINGLETON, None),
        ("right", SINGLETON, partitioned((1,)), partitioned((3,))),
        ("inner", SINGLETON, partitioned((1,)), partitioned((3,))),
        ("right_anti", SINGLETON, partitioned((1,)), partitioned((1,))),
        ("left", SINGLETON, partitioned((1,)), None),
        # both partitioned by the columns that must be equal
        ("inner", partitioned((0,)), partitioned((0,)), partitioned((0,))),
        ("left", partitioned((0,)), partitioned((0,)), partitioned((0,))),
        ("right", partitioned((0,)), partitioned((0,)), partitioned((2,))),
        ("right_semi", partitioned((0,)), partitioned((0,)), partitioned((0,))),
        ("outer", partitioned((0,)), partitioned((0,)), None),
        # partitioned by something else
        ("inner", partitioned((0,)), partitioned((1,)), None),
        ("inner", partitioned((1,)), partitioned((1,)), None),
        ("inner", None, SINGLETON, None),
        ("inner", partitioned((0,)), None, None),
    ],
)
def test_distribution(
    how: JoinType, left: Distribution | None, right: Distribution | None, expected: Distribution | None
) -> None:
    joined = declared(LEFT, distribution=left).join(
        declared(RIGHT, distribution=right), lambda mine, theirs: (mine.a == theirs.x) & (theirs.y.is_not_null()), how
    )
    assert distribution(joined) == expected


def test_partitions_line_up_only_if_the_join_compares_all_their_fields() -> None:
    """Spec decision 7: the columns required to be equal are those of both partitionings."""
    left = declared("a: i64, b: i64", distribution=partitioned((0,), (1,)))
    right = declared("x: i64, y: i64", distribution=partitioned((0,), (1,)))
    one_key = left.join(right, lambda mine, theirs: mine.a == theirs.x)
    assert distribution(one_key) is None
    both = left.join(right, lambda mine, theirs: (mine.a == theirs.x) & (mine.b == theirs.y))
    assert distribution(both) == partitioned((0,), (1,))


def test_an_equality_inside_one_side_pairs_nothing() -> None:
    left = declared("a: i64, b: i64", distribution=partitioned((0,)))
    right = declared("x: i64", distribution=partitioned((0,)))
    joined = left.join(right, lambda mine, theirs: (mine.a == theirs.x) & (mine.a == mine.b))
    assert distribution(joined) == partitioned((0,))
    assert distribution(left.join(right, lambda mine, theirs: mine.a == mine.b)) is None


def test_an_equality_of_outer_columns_pairs_nothing() -> None:
    left = declared("a: i64", distribution=partitioned((0,)))
    right = declared("x: i64", distribution=partitioned((0,)))
    kept: list[Any] = []

    def condition(outer: Any) -> Any:
        kept.append(left.join(right, lambda mine, theirs: outer.c == outer.d))
        return sd.exists(kept[0])

    table("c: i64, d: i64").filter(condition)
    assert distribution(kept[0]) is None


def test_only_an_equality_that_must_hold_pairs_columns() -> None:
    left = declared("a: i64", distribution=partitioned((0,)))
    right = declared("x: i64", distribution=partitioned((0,)))
    assert distribution(left.join(right, lambda mine, theirs: mine.a > theirs.x)) is None
    assert distribution(left.join(right, lambda mine, theirs: mine.a == theirs.x + 1)) is None
    assert distribution(left.join(right, lambda mine, theirs: (mine.a == theirs.x) | (mine.a > theirs.x))) is None


# --- refusals ---


def test_an_unknown_type_names_the_nearest() -> None:
    with refused(InvalidChoiceError, "join", "unknown how 'left_smei'", 'did you mean "left_semi"', "right_mark"):
        table("a: i64").join(table("a: i64"), "a", "left_smei")


def test_conditions_that_do_not_fit_are_refused() -> None:
    left, right = table(LEFT), table(RIGHT)
    with refused(TypeMismatchError, "join", "boolean", "i64"):
        left.join(right, lambda mine, theirs: mine.a + theirs.x)
    with refused(FunctionNotFoundError, "join", "equal(i64, date?)"):
        left.join(right, lambda mine, theirs: mine.a == theirs.y)
    with refused(UnknownFieldError, "join", '"a"', '"x"'):
        left.join(right, "a")
    with refused(InvalidArgumentError, "join", "at least one column"):
        left.join(right, [])
    with refused(InvalidArgumentError, "join", "expected a relation"):
        left.join("u", "a")
    with refused(TypeMismatchError, "join", "aggregate function"):
        left.join(right, lambda mine, theirs: f.max(mine.a))
    with refused(AmbiguousFieldError, "join", '"k" is ambiguous'):
        table("k: i64").join(table("k: i64"), sd.col("k") == 1)
