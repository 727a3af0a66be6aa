"""Sort: the input's columns; the order becomes the keys', the distribution stays."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.properties import OrderKey, SortDirection, partitioned
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, UnknownFieldError
from tests.support import ascending, columns, declared, distribution, ordering, refused, table

AB = "a: i64, b: string?"


def test_the_output_is_the_input() -> None:
    assert columns(table(AB).sort("b", "a")) == AB


@pytest.mark.parametrize(
    ("key", "direction"),
    [
        ("a", "asc_nulls_first"),
        (sd.asc("a"), "asc_nulls_first"),
        (sd.asc("a", nulls="last"), "asc_nulls_last"),
        (sd.desc("a"), "desc_nulls_last"),
        (sd.desc("a", nulls="first"), "desc_nulls_first"),
        (sd.clustered("a"), "clustered"),
        (lambda r: r.a.desc(), "desc_nulls_last"),
        (lambda r: sd.asc(r.a, nulls="last"), "asc_nulls_last"),
        (sd.desc(lambda r: r.a), "desc_nulls_last"),
        (sd.col("a").asc(nulls="last"), "asc_nulls_last"),
        (0, "asc_nulls_first"),
    ],
)
def test_directions_and_null_placements(key: Any, direction: SortDirection) -> None:
    assert table(AB).sort(key).properties.ordering == (OrderKey((0,), direction),)


def test_the_order_is_that_of_the_keys_and_the_old_one_is_gone() -> None:
    rel = declared("a: i64, b: i64", ascending(0), distribution=partitioned((0,)))
    assert ordering(rel.sort("b")) == [(1,)]
    assert distribution(rel.sort("b")) == partitioned((0,))


def test_the_order_is_known_up_to_the_first_key_that_is_no_reference() -> None:
    """Spec decision 51."""
    assert ordering(table("a: i64, b: i64, c: i64").sort("c", lambda r: r.a + 1, "b")) == [(2,)]


def test_a_field_of_a_struct_is_a_reference() -> None:
    assert ordering(table("a: i64, s: struct<i64, i64>").sort(lambda r: r.s[1])) == [(1, 1)]


def test_an_element_of_a_list_is_none() -> None:
    assert ordering(table("l: list<i64>").sort(lambda r: r.l[1])) == []


def test_one_row_stays_one_row() -> None:
    assert sd.read_virtual([(1,)], {"a": "i64"}).sort("a")._rel.single_row


def test_what_is_no_key_is_refused() -> None:
    with refused(InvalidArgumentError, "sort", "at least one key"):
        table(AB).sort()
    with refused(UnknownFieldError, "sort", '"bb"', 'did you mean "b"'):
        table(AB).sort(sd.desc("bb"))
    misspelt: Any = "lats"
    with refused(InvalidChoiceError, "nulls", "'lats'", 'did you mean "last"'):
        table(AB).sort(sd.desc("a", nulls=misspelt))
    with refused(InvalidArgumentError, "sort", "3.5"):
        table(AB).sort(3.5)
