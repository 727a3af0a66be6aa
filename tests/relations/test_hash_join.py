"""Hash join: the output of a join; keys, comparisons, residual, build side."""

from __future__ import annotations

import typing

import pytest

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.rules import JOIN_TYPES, JoinType
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, TypeMismatchError
from tests.nodes import COMPARE, TRUE, col, gt, leaf, part, plus, text
from tests.support import refused

LEFT = leaf("a: i64, b: string?, s: struct<i64, string>")
RIGHT = leaf("x: i64?, y: i32, s: struct<i64>")
A, X = col(LEFT, "a"), col(RIGHT, "x")
KEY = r.JoinKey(A, X)


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_the_output_is_that_of_a_join(how: JoinType) -> None:
    """Specification: "Same as the Join operator" (whose twelve outputs are in test_join.py)."""
    joined = r.HashJoin(LEFT, RIGHT, how, (KEY,), mark="found")
    assert joined.schema == r.Join(LEFT, RIGHT, how, TRUE, mark="found").schema


def test_the_right_input_is_the_build_side_unless_said_otherwise() -> None:
    assert r.HashJoin(LEFT, RIGHT, "inner", (KEY,)) == r.HashJoin(LEFT, RIGHT, "inner", (KEY,), build="right")
    assert r.HashJoin(LEFT, RIGHT, "inner", (KEY,)) != r.HashJoin(LEFT, RIGHT, "inner", (KEY,), build="left")


def test_keys_may_differ_in_nullability_and_lie_in_structs() -> None:
    keys = (KEY, r.JoinKey(part(LEFT, 2, 0), part(RIGHT, 2, 0), "is_not_distinct_from"))
    assert text(r.HashJoin(LEFT, RIGHT, "left_semi", keys)) == "a: i64, b: string?, s: struct<i64, string>"


def test_the_residual_sees_both_sides_and_the_post_filter_the_output() -> None:
    residual = gt(A, col(RIGHT, "x", 3))
    assert text(r.HashJoin(LEFT, RIGHT, "right_semi", (KEY,), residual, gt(X, X))) == text(RIGHT)


def test_a_function_compares_what_it_likes() -> None:
    assert r.JoinKey(A, col(RIGHT, "y"), COMPARE).comparison == COMPARE


def test_keys_that_are_none_are_refused() -> None:
    with refused(InvalidArgumentError, "hash join needs at least one key", "nested loop"):
        r.HashJoin(LEFT, RIGHT, "inner", ())
    with refused(InvalidArgumentError, "left side of a join key", "project below the join"):
        r.JoinKey(plus(A, A), X)
    with refused(InvalidArgumentError, "right side of a join key"):
        r.JoinKey(A, plus(X, X))
    for comparison in r.KEY_COMPARISONS:
        with refused(TypeMismatchError, "join key", "i64 and i32", "cast"):
            r.JoinKey(A, col(RIGHT, "y"), comparison)


def test_words_that_are_none_name_those_that_are() -> None:
    wrong: typing.Any = "is_not_distict_from"
    with refused(InvalidChoiceError, "comparison of join keys", 'did you mean "is_not_distinct_from"'):
        r.JoinKey(A, X, wrong)
    with refused(InvalidChoiceError, "build side", '"left", "right"'):
        r.HashJoin(LEFT, RIGHT, "inner", (KEY,), build=typing.cast("r.BuildSide", "both"))
    with refused(InvalidChoiceError, "join type", "'semi'", '"left_semi"'):
        r.HashJoin(LEFT, RIGHT, typing.cast("JoinType", "semi"), (KEY,))


def test_conditions_are_booleans() -> None:
    with refused(TypeMismatchError, "residual of a join", "boolean", "i64"):
        r.HashJoin(LEFT, RIGHT, "inner", (KEY,), A)
    with refused(TypeMismatchError, "post-join filter", "boolean", "i64"):
        r.HashJoin(LEFT, RIGHT, "inner", (KEY,), None, A)
