"""Emit: columns picked by position; properties move with them (specification: "remapped by emit")."""

from __future__ import annotations

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.properties import SINGLETON, partitioned
from substrait_dsl.algebra.relations import Emit, emit
from substrait_dsl.errors import SchemaError, UnknownFieldError
from tests.support import ascending, columns, declared, distribution, ordering, refused, table

ABC = "a: i64, b: string?, c: date"


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ([2, 0], "c: date, a: i64"),
        ([1, 1], "b: string?, b: string?"),
        ([-1], "c: date"),
        ([0, 1, 2], ABC),
    ],
)
def test_the_output_is_the_columns_picked(mapping: list[int], expected: str) -> None:
    assert columns(table(ABC).emit(mapping)) == expected


def test_an_emit_of_everything_in_order_is_no_emit() -> None:
    rel = table(ABC)
    assert rel.emit([0, 1, 2])._rel is rel._rel


@pytest.mark.parametrize("position", [2, -1, 3])
def test_a_position_is_one_of_a_column_whatever_stands_below(position: int) -> None:
    """Also in what the verbs are made of, where no negative position counts from the end."""
    two = table(ABC).emit([2, 0])
    for rel in (two._rel, table("a: i64, b: i64")._rel, sd.shared(table("a: i64, b: i64"))._rel):
        with refused(UnknownFieldError, f"there is no column {position}: the input has 2 columns"):
            emit(rel, [0, position])


def test_there_is_a_name_for_each_column() -> None:
    rel = table(ABC)._rel
    for given in ((), ("x",), ("x", "y", "z")):
        said = f"2 columns need a name each, got {len(given)} names"
        with refused(SchemaError, said):
            emit(rel, [0, 1], given)
        with refused(SchemaError, said):
            Emit(rel, (0, 1), given)


def test_an_emit_on_an_emit_is_one_emit() -> None:
    rel = table(ABC).emit([2, 1, 0]).emit([0, 2])._rel
    assert isinstance(rel, Emit)
    assert rel.mapping == (2, 0)
    with refused(SchemaError, "emit cannot stand on an emit"):
        Emit(rel, (0,))


def test_names_given_before_survive_picking() -> None:
    assert columns(table(ABC).rename(a="x", c="z").emit([2, 0])) == "z: date, x: i64"


def test_positions_that_do_not_exist_are_refused() -> None:
    with refused(UnknownFieldError, "emit", "no column 3", "3 columns"):
        table(ABC).emit([3])
    with refused(UnknownFieldError, "no column 7"):
        emit(table(ABC)._rel, [7])


# --- properties ---

KEYS = (ascending(0), ascending(1), ascending(2))


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ([2, 1, 0], [(2,), (1,), (0,)]),  # all keys stay
        ([0, 1], [(0,), (1,)]),  # the last key is dropped
        ([0, 2], [(0,)]),  # the order ends at the first key that is dropped
        ([1, 2], []),
        ([2, 0, 0], [(1,)]),  # a key that stands twice is named where it stands first
    ],
)
def test_an_ordering_ends_at_the_first_key_that_is_dropped(mapping: list[int], expected: list[tuple[int, ...]]) -> None:
    assert ordering(declared("a: i64, b: i64, c: i64", *KEYS).emit(mapping)) == expected


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ([2, 1, 0], partitioned((2,), (1,))),
        ([0, 1], partitioned((0,), (1,))),
        ([0, 2], None),  # rows that agree on a alone may lie apart
        ([2], None),
    ],
)
def test_a_partitioning_is_lost_when_one_of_its_fields_is_dropped(mapping: list[int], expected: object) -> None:
    rel = declared("a: i64, b: i64, c: i64", distribution=partitioned((0,), (1,)))
    assert distribution(rel.emit(mapping)) == expected


def test_a_single_partition_stays_single_whatever_is_dropped() -> None:
    assert distribution(declared("a: i64, b: i64", distribution=SINGLETON).emit([1])) == SINGLETON


def test_paths_into_structs_move_with_their_column() -> None:
    rel = declared(
        "a: i64, s: struct<i64, struct<i64>>", ascending(1, 1, 0), distribution=partitioned((1, 0), (0,))
    ).emit([1, 0])
    assert ordering(rel) == [(0, 1, 0)]
    assert distribution(rel) == partitioned((0, 0), (1,))


def test_a_column_picked_twice_stands_in_for_itself() -> None:
    """Of two equal columns either may be dropped in a later step."""
    twice = declared("a: i64, b: i64", ascending(0), distribution=partitioned((0,))).emit([0, 1, 0])
    ended = sd.Relation(emit(twice._rel, [2, 1]))
    assert ordering(ended) == [(0,)]
    assert distribution(ended) == partitioned((0,))
