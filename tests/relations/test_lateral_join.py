"""Lateral join: the right input is computed anew for each left row; six types; the output of a join."""

from __future__ import annotations

import typing

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.errors import InvalidChoiceError, TypeMismatchError
from tests.nodes import TRUE, col, equal, gt, i64, leaf, text
from tests.support import refused

LEFT = leaf("a: i64, b: string?")
RIGHT = leaf("x: i64, y: date?")
BOTH = "a: i64, b: string?, x: i64, y: date?"
PADDED = "a: i64, b: string?, x: i64?, y: date?"

TYPES = {
    "inner": BOTH,
    "left": PADDED,
    "left_semi": "a: i64, b: string?",
    "left_anti": "a: i64, b: string?",
    "left_single": PADDED,
    "left_mark": "a: i64, b: string?, mark: boolean?",
}


@pytest.mark.parametrize("how", TYPES)
def test_the_six_types(how: typing.Any) -> None:
    assert text(r.LateralJoin(LEFT, RIGHT, how, TRUE, anchor=1)) == TYPES[how]


@pytest.mark.parametrize("how", ["right", "outer", "right_semi", "right_anti", "right_single", "right_mark", "semi"])
def test_types_that_keep_right_rows_without_a_left_one_are_refused(how: typing.Any) -> None:
    with refused(InvalidChoiceError, "type of lateral join", repr(how), '"left_mark"'):
        r.LateralJoin(LEFT, RIGHT, how, TRUE, anchor=1)


def test_the_mark_may_be_named() -> None:
    assert text(r.LateralJoin(LEFT, RIGHT, "left_mark", TRUE, mark="found")).endswith("found: boolean?")


def test_the_right_input_refers_to_the_left_row_by_the_anchor() -> None:
    mine = ex.FieldReference(0, LEFT.schema.types[0], ex.OuterReference(5))
    right = r.Filter(RIGHT, equal(col(RIGHT, "x"), mine))
    assert right.free_anchors == {5}
    assert r.LateralJoin(LEFT, right, "inner", TRUE, anchor=5).free_anchors == frozenset()
    assert r.LateralJoin(LEFT, right, "inner", TRUE, anchor=6).free_anchors == {5}


def test_conditions_are_booleans() -> None:
    with refused(TypeMismatchError, "condition of a lateral join", "boolean", "i64"):
        r.LateralJoin(LEFT, RIGHT, "inner", col(LEFT, "a"))
    with refused(TypeMismatchError, "post-join filter", "boolean", "i64"):
        r.LateralJoin(LEFT, RIGHT, "inner", TRUE, col(LEFT, "a"))
    assert text(r.LateralJoin(LEFT, RIGHT, "inner", TRUE, gt(col(RIGHT, "x", 2), i64(1)))) == BOTH
