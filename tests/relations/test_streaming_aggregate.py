"""Hash and streaming aggregate: the output of an aggregate; a streaming one needs an input sorted by its keys."""

from __future__ import annotations

import typing

import attrs
import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.properties import OrderKey
from substrait_dsl.errors import InvalidChoiceError, SchemaError
from tests.nodes import asc, col, leaf, measure, plus, text
from tests.support import ascending, refused

INPUT = leaf("a: i64, b: i64, c: i64")
A, B, C = (col(INPUT, name) for name in "abc")
UP_A, DOWN_B, UP_C = ascending(0), OrderKey((1,), "desc_nulls_last"), ascending(2)

Sets = tuple[tuple[int, ...], ...]


def streaming(order: list[OrderKey], keys: list[ex.Expression], sets: Sets) -> r.Rel:
    names = (*(f"k{number}" for number in range(len(keys))), "n", *(["set"] if len(sets) > 1 else []))
    return r.Aggregate(leaf("a: i64, b: i64, c: i64", *order), tuple(keys), sets, (measure(C),), names, "streaming")


@pytest.mark.parametrize("method", r.AGGREGATE_METHODS)
def test_the_output_is_that_of_an_aggregate(method: r.AggregateMethod) -> None:
    """Specification: "Same as defined by Aggregate operation"."""
    rel = r.Aggregate(INPUT, (A, B), ((0, 1), (0,)), (measure(C),), ("a", "b", "n", "set"), method)
    assert text(rel) == "a: i64, b: i64?, n: i64?, set: i32"


@pytest.mark.parametrize(
    ("order", "keys", "sets"),
    [
        ([], [A, B], ((0, 1), (1,))),  # nothing known contradicts nothing
        ([UP_A, DOWN_B], [A, B], ((0, 1),)),
        ([UP_A, DOWN_B, UP_C], [B, A], ((0, 1),)),  # in any sequence of the keys, and sorted further
        ([UP_A, DOWN_B], [A, B], ((0, 1), (0,), ())),  # every set is the beginning of the order
        ([UP_A], [], ()),
        # an ordering is known up to the first expression that is no field
        ([UP_A], [A, plus(A, B)], ((0, 1),)),
        ([UP_A], [A, plus(A, B), B], ((0, 1, 2),)),
        ([UP_A, DOWN_B], [A, plus(B, B)], ((0, 1),)),  # b + b may change only where b does
        ([UP_A, DOWN_B, OrderKey((0,), "desc_nulls_last"), UP_C], [A, B, C], ((0, 1, 2),)),
    ],
)
def test_inputs_sorted_by_the_keys(order: list[OrderKey], keys: list[ex.Expression], sets: Sets) -> None:
    assert len(streaming(order, keys, sets).schema) == len(keys) + 1 + (len(sets) > 1)


@pytest.mark.parametrize(
    ("order", "keys", "sets", "said"),
    [
        ([DOWN_B, UP_A], [A], ((0,),), "sorted by b, a"),
        ([UP_A], [A, B], ((0, 1),), "sorted by a"),
        # "sets must all be compatible with the input sortedness"
        ([UP_A, DOWN_B], [A, B], ((0, 1), (1,)), "sorted by a, b"),
        ([DOWN_B], [A, plus(A, B)], ((0, 1),), "sorted by b"),
        ([UP_C, DOWN_B, UP_A], [A, plus(A, B)], ((0, 1),), "sorted by c, b, a"),
    ],
)
def test_inputs_sorted_otherwise_are_refused(
    order: list[OrderKey], keys: list[ex.Expression], sets: Sets, said: str
) -> None:
    with refused(SchemaError, "streaming aggregate", said, "every grouping set", "hash aggregate"):
        streaming(order, keys, sets)


def of_sorted_measure(order: list[OrderKey], keys: list[ex.Expression], *sorts: ex.SortKey) -> r.Rel:
    rel = leaf("a: i64, b: i64, c: i64", *order)
    total = measure(C)
    ordered = attrs.evolve(total, function=attrs.evolve(total.function, sorts=sorts))
    names = (*(f"k{number}" for number in range(len(keys))), "total", "ordered")
    sets = (tuple(range(len(keys))),) if keys else ()
    return r.Aggregate(rel, tuple(keys), sets, (total, ordered), names, "streaming")


@pytest.mark.parametrize(
    ("order", "keys", "sorts"),
    [
        ([], [A], [asc(C)]),
        ([UP_A, UP_C], [A], [asc(C)]),
        ([UP_A, UP_C], [A], [asc(A), asc(C)]),  # in a group all values of a are equal
        ([DOWN_B, UP_A, UP_C], [A, B], [asc(C)]),
        ([UP_C], [], [asc(C)]),
        ([UP_A], [A], [asc(plus(A, C)), asc(C)]),  # what comes after an expression is not known
    ],
)
def test_measures_in_the_order_of_the_input(
    order: list[OrderKey], keys: list[ex.Expression], sorts: list[ex.SortKey]
) -> None:
    assert len(of_sorted_measure(order, keys, *sorts).schema) == len(keys) + 2


@pytest.mark.parametrize(
    ("order", "keys", "sorts"),
    [
        ([UP_A], [A], [asc(C)]),
        ([UP_A, UP_C], [A], [ex.SortKey(C, "desc_nulls_last")]),
        ([UP_A, DOWN_B, UP_C], [A], [asc(C)]),
        ([UP_A, UP_C], [], [asc(C)]),
    ],
)
def test_measures_in_another_order_are_refused(
    order: list[OrderKey], keys: list[ex.Expression], sorts: list[ex.SortKey]
) -> None:
    """Specification: "Aggregate expressions ordering requirements must be compatible with expected ordering"."""
    with refused(SchemaError, "streaming aggregate", "a measure wants another order", "hash aggregate"):
        of_sorted_measure(order, keys, *sorts)


def test_an_unknown_method() -> None:
    with refused(InvalidChoiceError, "method of an aggregate", '"any", "hash", "streaming"'):
        r.Aggregate(INPUT, (A,), ((0,),), (), ("a",), typing.cast("r.AggregateMethod", "sort"))
