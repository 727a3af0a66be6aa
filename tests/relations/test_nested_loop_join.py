"""Nested loop join: the output of a join; without a condition every row matches every row."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.rules import JOIN_TYPES, JoinType
from substrait_dsl.errors import TypeMismatchError
from tests.nodes import TRUE, col, gt, leaf, text
from tests.support import refused

LEFT, RIGHT = leaf("a: i64, b: string?"), leaf("x: i64, y: date?")


@pytest.mark.parametrize("how", JOIN_TYPES)
@pytest.mark.parametrize("condition", [None, gt(col(LEFT, "a"), col(RIGHT, "x", 2))], ids=["none", "given"])
def test_the_output_is_that_of_a_join(how: JoinType, condition: Expression | None) -> None:
    """Specification: "Same as the Join operator" (whose twelve outputs are in test_join.py)."""
    joined = r.NestedLoopJoin(LEFT, RIGHT, how, condition, mark="found")
    assert joined.schema == r.Join(LEFT, RIGHT, how, TRUE, mark="found").schema


def test_no_condition_is_a_cartesian_join() -> None:
    assert text(r.NestedLoopJoin(LEFT, RIGHT, "inner")) == "a: i64, b: string?, x: i64, y: date?"


def test_the_condition_is_a_boolean() -> None:
    with refused(TypeMismatchError, "condition of a nested loop join", "boolean", "i64"):
        r.NestedLoopJoin(LEFT, RIGHT, "inner", col(LEFT, "a"))
