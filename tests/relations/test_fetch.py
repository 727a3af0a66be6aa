"""Fetch: the input's columns, order and distribution; count and offset are non-negative integers over no row."""

from __future__ import annotations

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.properties import partitioned
from substrait_dsl.errors import InvalidArgumentError, LiteralError, TypeMismatchError
from tests.support import ascending, columns, declared, f, refused, table

AB = "a: i64, b: string?"


def test_the_output_is_the_input() -> None:
    assert columns(table(AB).fetch(10, 5)) == AB


def test_ordering_and_distribution_stay() -> None:
    rel = declared("a: i64", ascending(0), distribution=partitioned((0,)))
    assert rel.fetch(1, 2).properties == rel.properties


def test_zero_is_a_count_and_an_offset() -> None:
    """Spec decision 30: "non-negative"."""
    rel = table(AB).fetch(0, 0)._rel
    assert (rel.count.value, rel.offset.value) == (0, 0)


def test_numbers_become_i64_and_absence_stays_absent() -> None:
    rel = table(AB).fetch(3)._rel
    assert str(rel.count.type) == "i64"
    assert rel.offset is None


def test_a_count_may_be_an_expression_over_no_row() -> None:
    tenth = table("n: i64").aggregate(n=f.count()).select(n=lambda r: f.divide(r.n, 10))
    assert columns(table(AB).fetch(sd.scalar_subquery(tenth))) == AB
    assert columns(table(AB).fetch(sd.lit(1, sd.I32) + sd.lit(2, sd.I32), sd.null(sd.I64))) == AB


@pytest.mark.parametrize(("count", "offset", "name"), [(-1, None, "count"), (None, -1, "offset")])
def test_negative_numbers_are_refused(count: int | None, offset: int | None, name: str) -> None:
    with refused(InvalidArgumentError, f"fetch: the {name}", "negative", "-1"):
        table(AB).fetch(count, offset)
    with refused(InvalidArgumentError, f"fetch: the {name}", "negative", "-1"):
        table(AB).fetch(*(None if n is None else sd.lit(n) for n in (count, offset)))


def test_what_is_no_number_of_rows_is_refused() -> None:
    with refused(TypeMismatchError, "fetch: the count", "'ten'"):
        table(AB).fetch("ten")
    with refused(TypeMismatchError, "fetch: the count", "True"):
        table(AB).fetch(True)
    with refused(TypeMismatchError, "fetch: the offset", "integer", "string"):
        table(AB).fetch(1, sd.lit("ten"))
    with refused(LiteralError, "fetch", "i64"):
        table(AB).fetch(2**63)
    with refused(InvalidArgumentError, "fetch: the count", "must not depend on a row"):
        table(AB).fetch(sd.col("a"))


def test_limit_is_a_fetch() -> None:
    assert table(AB).limit(3)._rel == table(AB).fetch(3)._rel
    with refused(InvalidArgumentError, "negative"):
        table(AB).limit(-3)
