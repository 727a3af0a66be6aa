"""Filter: the input's columns; orderedness and distribution stay."""

from __future__ import annotations

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.properties import SINGLETON, Distribution, partitioned
from substrait_dsl.algebra.types import Boolean
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError
from tests.support import ascending, columns, declared, refused, table


def test_the_output_is_the_input() -> None:
    assert columns(table("a: i64, b: string?").filter(lambda r: r.a > 1)) == "a: i64, b: string?"


def test_a_condition_does_not_narrow_nullability() -> None:
    assert columns(table("b: string?").filter(lambda r: r.b.is_not_null())) == "b: string?"


def test_a_nullable_condition_is_a_condition() -> None:
    """Spec decision 55: a row stays where the condition is true, neither false nor NULL."""
    filtered = table("b: i64?").filter(lambda r: r.b > 1)
    assert filtered._rel.condition.type == Boolean(nullable=True)


@pytest.mark.parametrize("distribution", [None, SINGLETON, partitioned((0,), (1, 2))])
def test_ordering_and_distribution_stay(distribution: Distribution | None) -> None:
    rel = declared("a: i64, b: struct<i64, i64, i64>", ascending(1, 0), distribution=distribution)
    assert rel.filter(lambda r: r.a > 1).properties == rel.properties


def test_several_conditions_are_one_call_of_and() -> None:
    condition = table("a: i64").filter(lambda r: r.a > 1, lambda r: r.a < 9, sd.col("a") != 5)._rel.condition
    assert condition.function.key == "and:bool"
    assert [argument.function.name for argument in condition.arguments] == ["gt", "lt", "not_equal"]


def test_what_is_no_condition_is_refused() -> None:
    rel = table("a: i64")
    with refused(TypeMismatchError, "filter", "boolean", "i64"):
        rel.filter(lambda r: r.a)
    with refused(TypeMismatchError, "filter", "boolean", "i64"):
        rel.filter(lambda r: r.a > 1, lambda r: r.a)
    with refused(TypeMismatchError, "filter", "boolean", "'a > 1'"):
        rel.filter("a > 1")
    with refused(InvalidArgumentError, "filter", "None"):
        rel.filter(lambda r: None)
    with refused(InvalidArgumentError, "filter", "expected a condition"):
        rel.filter()
