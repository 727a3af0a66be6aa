"""Cross: the columns of the left input, then those of the right; no order."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra.properties import SINGLETON, Distribution, partitioned
from substrait_dsl.errors import AmbiguousFieldError, InvalidArgumentError
from tests.support import ascending, columns, declared, distribution, ordering, refused, table


def test_the_output_is_the_left_columns_then_the_right() -> None:
    assert columns(table("a: i64, b: i64?").cross(table("c: date?, a: date"))) == "a: i64, b: i64?, c: date?, a: date"


def test_no_order_is_left() -> None:
    assert ordering(declared("a: i64", ascending(0)).cross(declared("b: i64", ascending(0)))) == []


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [  # spec decision 7
        (SINGLETON, SINGLETON, SINGLETON),
        (partitioned((1,)), SINGLETON, partitioned((1,))),
        (SINGLETON, partitioned((0, 3)), partitioned((2, 3))),  # after the two columns of the left
        (partitioned((0,)), partitioned((0,)), None),
        (None, SINGLETON, None),
        (SINGLETON, None, None),
    ],
)
def test_distribution(left: Distribution | None, right: Distribution | None, expected: Distribution | None) -> None:
    crossed = declared("a: i64, b: i64", distribution=left).cross(declared("c: i64", distribution=right))
    assert distribution(crossed) == expected


def test_a_name_of_both_sides_is_ambiguous_and_its_position_is_not() -> None:
    both = table("a: i64").cross(table("a: date"))
    with refused(AmbiguousFieldError, "select", '"a" is ambiguous', "0, 1", "col(1)"):
        both.select("a")
    assert columns(both.select(1)) == "a: date"


def test_the_other_side_is_a_relation() -> None:
    with refused(InvalidArgumentError, "cross", "expected a relation", "'t'"):
        table("a: i64").cross("t")
