"""Expand: the fields, then the i32 index of the duplicate; what a switching field may switch between."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.errors import SchemaError, TypeMismatchError, UnsupportedError
from tests.nodes import col, i64, leaf, text
from tests.support import refused

INPUT = leaf("a: i64, b: i64?, s: string")
A, B, S = (col(INPUT, name) for name in "abs")


def expand(*fields: r.ExpandField | tuple[ex.Expression, ...]) -> r.Expand:
    made = [r.SwitchingField(field) if isinstance(field, tuple) else field for field in fields]
    return r.Expand(INPUT, tuple(made), (*(f"f{number}" for number in range(len(made))), "copy"))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [  # spec decision 1: the index is a required i32
        ([r.ConsistentField(B), r.ConsistentField(S)], "f0: i64?, f1: string, copy: i32"),
        ([r.ConsistentField(S), (A, A)], "f0: string, f1: i64, copy: i32"),
        ([(A, B)], "f0: i64?, copy: i32"),
        ([(A, i64(None)), (S, S)], "f0: i64?, f1: string, copy: i32"),
        # spec decision 2: where a switching field has fewer duplicates than another, it is NULL
        ([(A, A, A), (S,)], "f0: i64, f1: string?, copy: i32"),
        ([(A,), r.ConsistentField(A)], "f0: i64, f1: i64, copy: i32"),
    ],
)
def test_output(fields: list[r.ExpandField], expected: str) -> None:
    assert text(expand(*fields)) == expected


@pytest.mark.parametrize(("fields", "copies"), [([(A, A, A), (S,)], 3), ([(A,)], 1), ([r.ConsistentField(A)], 1)])
def test_a_row_becomes_as_many_as_the_longest_field_has_duplicates(fields: list[r.ExpandField], copies: int) -> None:
    assert expand(*fields).copies_of_a_row == copies


@pytest.mark.parametrize(("short", "copies"), [(99, 100), (9_999, 1), (1, 100_000)])
def test_short_fields_are_filled_up(short: int, copies: int) -> None:
    """Up to 10,000 duplicates in all, or 8 times as many as there were."""
    rel = expand((A,) * copies, *[(A,)] * short)
    assert {len(field.types) for field in rel.fields} == {copies}


def test_many_short_fields_beside_a_long_one_are_refused() -> None:
    """3,000 expressions would become 2,001 * 1,000."""
    with refused(UnsupportedError, "2001 switching fields", "2001000", "the same number of duplicates"):
        expand((A,) * 1_000, *[(A,)] * 2_000)


def test_one_row_stays_one_row_if_it_is_not_copied() -> None:
    row = r.Record((i64(1), i64(2), literal("x", t.String())))
    one = r.Read(INPUT.schema, r.VirtualTable((row,)))
    assert r.Expand(one, (r.ConsistentField(A),), ("a", "copy")).single_row
    assert not r.Expand(one, (r.SwitchingField((A, B)),), ("a", "copy")).single_row


def test_fields_that_cannot_be() -> None:
    with refused(SchemaError, "at least one field"):
        expand()
    with refused(SchemaError, '"f1"', "no duplicates"):
        expand(r.ConsistentField(A), ())
    with refused(TypeMismatchError, 'switching field "f0"', "i64 and string"):
        expand((A, S))
    with refused(SchemaError, "2 columns need a name each, got 1"):
        r.Expand(INPUT, (r.ConsistentField(A),), ("a",))
