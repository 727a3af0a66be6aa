"""Merge join: the output of a join; inputs sorted on the keys, checked where their order is known."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.properties import OrderKey
from substrait_dsl.algebra.rules import JOIN_TYPES, JoinType
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError
from tests.nodes import TRUE, col, leaf
from tests.support import ascending, refused

COLUMNS = ("a: i64, b: i64, c: i64", "x: i64, y: i64, z: i64")
LEFT, RIGHT = (leaf(columns) for columns in COLUMNS)
BY_A = r.JoinKey(col(LEFT, "a"), col(RIGHT, "x"))
BY_B = r.JoinKey(col(LEFT, "b"), col(RIGHT, "y"))


def merged(left: list[OrderKey], right: list[OrderKey], *keys: r.JoinKey) -> r.Rel:
    return r.MergeJoin(leaf(COLUMNS[0], *left), leaf(COLUMNS[1], *right), "inner", keys)


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_the_output_is_that_of_a_join(how: JoinType) -> None:
    """Specification: "Same as the Join operator" (whose twelve outputs are in test_join.py)."""
    assert r.MergeJoin(LEFT, RIGHT, how, (BY_A,)).schema == r.Join(LEFT, RIGHT, how, TRUE).schema


def down(position: int) -> OrderKey:
    return OrderKey((position,), "desc_nulls_last")


A, B, C = ascending(0), ascending(1), ascending(2)


@pytest.mark.parametrize(
    ("left", "right", "keys"),
    [
        ([], [], (BY_A,)),  # nothing known contradicts nothing
        ([A], [], (BY_A,)),
        ([A], [A], (BY_A,)),
        ([A, C], [A, B], (BY_A,)),  # sorted further than the keys
        ([A, B], [A, B], (BY_A, BY_B)),
        ([B, A], [B, A], (BY_A, BY_B)),  # the sequence of the keys is no matter
        ([down(1), A], [down(1), A], (BY_A, BY_B)),
        ([A, C], [A, B], (BY_A, r.JoinKey(col(LEFT, "a"), col(RIGHT, "y")))),  # a = x and a = y
        ([A, down(0), B], [A, B], (BY_A, BY_B)),  # rows of one a are ordered by it no further
        ([A], [OrderKey((0,), "asc_nulls_last")], (BY_A,)),  # where no NULL is, it does not matter where it would be
    ],
)
def test_inputs_sorted_by_the_keys(left: list[OrderKey], right: list[OrderKey], keys: tuple[r.JoinKey, ...]) -> None:
    assert merged(left, right, *keys).schema == r.Cross(LEFT, RIGHT).schema


@pytest.mark.parametrize(
    ("left", "right", "keys", "said"),
    [
        ([B], [A], (BY_A,), ("left input", "by its keys", "sorted by b")),
        ([A], [B, A], (BY_A,), ("right input", "sorted by y, x")),
        ([A], [A, B], (BY_A, BY_B), ("left input", "sorted by a")),
        ([A, C], [], (BY_A, BY_B), ("left input", "sorted by a, c")),
        # each by its keys, but not so that they can be merged
        ([A, B], [B, A], (BY_A, BY_B), ("same keys in turn",)),
        ([A], [down(0)], (BY_A,), ("same directions",)),
    ],
)
def test_inputs_sorted_otherwise_are_refused(
    left: list[OrderKey], right: list[OrderKey], keys: tuple[r.JoinKey, ...], said: tuple[str, ...]
) -> None:
    with refused(SchemaError, *said, "hint: sort", "hash join"):
        merged(left, right, *keys)


@pytest.mark.parametrize(("right", "merges"), [("x: i64?", False), ("x: i64", True)])
def test_nulls_must_stand_alike_if_both_sides_may_have_some(right: str, merges: bool) -> None:
    inputs = leaf("a: i64?", A), leaf(right, OrderKey((0,), "asc_nulls_last"))
    key = r.JoinKey(col(inputs[0], 0), col(inputs[1], 0))
    if merges:
        assert len(r.MergeJoin(*inputs, "inner", (key,)).schema) == 2
    else:
        with refused(SchemaError, "same directions"):
            r.MergeJoin(*inputs, "inner", (key,))


def test_what_a_hash_join_refuses() -> None:
    with refused(InvalidArgumentError, "merge join needs at least one key"):
        r.MergeJoin(LEFT, RIGHT, "inner", ())
    with refused(TypeMismatchError, "residual of a join", "i64"):
        r.MergeJoin(LEFT, RIGHT, "inner", (BY_A,), col(LEFT, "a"))
