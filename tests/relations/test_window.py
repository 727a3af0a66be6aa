"""Window: the input's columns, then one per function; frames; what a streaming window needs of its input."""

from __future__ import annotations

import typing

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.properties import OrderKey
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, SchemaError, TypeMismatchError
from tests.nodes import ARITHMETIC, COMPARE, asc, col, i32, i64, leaf, plus, text, window_sum
from tests.support import ascending, refused

INPUT = leaf("a: i64, b: i64, s: string")
A, B = col(INPUT, "a"), col(INPUT, "b")
RANK = ex.WindowCall(ex.FunctionId(ARITHMETIC, "rank:"), (), t.I64(nullable=True))


@pytest.mark.parametrize("method", r.WINDOW_METHODS)
def test_the_output_is_the_input_and_a_column_for_each_function(method: r.WindowMethod) -> None:
    """Specification: "Same as Project operator (input followed by each window expression)"."""
    window = r.Window(INPUT, (window_sum(A), RANK), (A,), (asc(B),), ("total", "rank"), method)
    assert text(window) == "a: i64, b: i64, s: string, total: i64?, rank: i64?"


def test_there_is_a_function_and_it_has_a_name() -> None:
    with refused(InvalidArgumentError, "at least one function"):
        r.Window(INPUT, (), (A,), (), ())
    with refused(SchemaError, "1 columns need a name each, got 2"):
        r.Window(INPUT, (RANK,), (A,), (), ("x", "y"))
    with refused(InvalidChoiceError, "kind of window", '"hashing"'):
        r.Window(INPUT, (RANK,), (A,), (), ("x",), typing.cast("r.WindowMethod", "hash"))


# --- frames

TWO_BEFORE = ex.Bound("preceding", i64(2))


@pytest.mark.parametrize(
    ("sorts", "said"),
    [
        ((), "exactly one sort key, this window has 0"),
        ((asc(A), asc(B)), "exactly one sort key, this window has 2"),
        ((ex.SortKey(A, "clustered"),), "ascending or descending"),
        ((ex.SortKey(A, COMPARE),), "ascending or descending"),
    ],
)
def test_a_range_with_an_offset_needs_one_key_with_a_direction(sorts: tuple[ex.SortKey, ...], said: str) -> None:
    over_range = window_sum(A, lower=TWO_BEFORE, upper=ex.CURRENT_ROW, bounds_type="range")
    with refused(SchemaError, said):
        r.Window(INPUT, (over_range,), (), sorts, ("n",))
    with refused(SchemaError, said):
        ex.WindowFunction(over_range, (), sorts)
    assert text(r.Window(INPUT, (over_range,), (), (asc(A),), ("n",))).endswith("n: i64?")
    over_rows = window_sum(A, lower=TWO_BEFORE, upper=ex.CURRENT_ROW)
    assert text(r.Window(INPUT, (over_rows,), (), sorts, ("n",))).endswith("n: i64?")
    peers = window_sum(A, upper=ex.CURRENT_ROW, bounds_type="range")  # no offset: any number of keys
    assert text(r.Window(INPUT, (peers,), (), sorts, ("n",))).endswith("n: i64?")


def test_an_offset_is_positive_and_known_not_to_be_null() -> None:
    """0 rows before or after the current one is the current one."""
    for value, said in ((0, "got 0; 0 is current_row"), (-1, "got -1"), (None, "must not be NULL")):
        with refused(InvalidArgumentError, "bound following", said):
            ex.Bound("following", i64(value))
    assert ex.Bound("following", plus(A, B)).offset == plus(A, B)  # it may depend on the row
    with refused(InvalidArgumentError, "window or an aggregate function"):
        ex.Bound("preceding", plus(ex.WindowFunction(RANK), B))


def test_bounds_take_an_offset_or_none() -> None:
    with refused(InvalidArgumentError, "preceding takes an offset"):
        ex.Bound("preceding")
    with refused(InvalidArgumentError, "current_row takes no offset"):
        ex.Bound("current_row", i64(1))
    with refused(InvalidChoiceError, "bound", "'before'"):
        ex.Bound(typing.cast("ex.BoundKind", "before"))


def test_bounds_of_a_frame_of_rows_are_i64() -> None:
    for offset in (literal(1.5, t.FP64()), i32(1)):
        with refused(TypeMismatchError, "bounds of a frame of rows are i64", f"not {offset.type}"):
            window_sum(A, lower=ex.Bound("preceding", offset))
    assert (
        window_sum(A, lower=ex.Bound("preceding", literal(1.5, t.FP64())), bounds_type="range").bounds_type == "range"
    )
    with refused(InvalidChoiceError, "bounds type", "'groups'"):
        window_sum(A, bounds_type="groups")


# --- streaming: "Must be supported by the sortedness of the input"

UP_A, UP_B, DOWN_B = ascending(0), ascending(1), OrderKey((1,), "desc_nulls_first")
FALLING = ex.SortKey(B, "desc_nulls_first")


def streaming(order: list[OrderKey], partitions: list[ex.Expression], sorts: list[ex.SortKey]) -> r.Rel:
    ordered = leaf("a: i64, b: i64, s: string", *order)
    return r.Window(ordered, (RANK,), tuple(partitions), tuple(sorts), ("n",), "streaming")


@pytest.mark.parametrize(
    ("order", "partitions", "sorts"),
    [
        ([], [A], [asc(B)]),  # nothing known contradicts nothing
        ([UP_A], [A], []),
        ([UP_A, UP_B], [A], []),
        ([UP_A, DOWN_B], [A], [FALLING]),
        ([DOWN_B, UP_A], [A, B], []),  # in any sequence of the partitions
        ([UP_A, UP_B], [], [asc(A), asc(B)]),
        ([UP_A, DOWN_B], [A], [asc(A), FALLING]),  # within a partition all values of a are equal
        # an ordering is known up to the first expression that is no field
        ([UP_A], [A], [asc(plus(A, B))]),
        ([UP_A], [A, plus(A, B)], [asc(B)]),
        ([UP_A], [A, plus(A, B), B], []),
        ([UP_A, UP_A, UP_B, UP_A], [A], [asc(B), asc(B)]),  # a field that rows are ordered by orders them no further
        ([UP_A, UP_B], [A], [ex.SortKey(B, "asc_nulls_last")]),  # no NULL is in b
        ([UP_A, DOWN_B], [A], [ex.SortKey(B, "clustered")]),
    ],
)
def test_inputs_sorted_by_partitions_and_keys(
    order: list[OrderKey], partitions: list[ex.Expression], sorts: list[ex.SortKey]
) -> None:
    assert text(streaming(order, partitions, sorts)).endswith("n: i64?")


@pytest.mark.parametrize(
    ("order", "partitions", "sorts"),
    [
        ([UP_B], [A], []),
        ([UP_A], [A, B], []),
        ([UP_A], [A], [asc(B)]),
        ([UP_A, UP_B], [A], [FALLING]),
        ([UP_B, UP_A], [A], [asc(B)]),
        ([UP_B], [A, plus(A, B)], []),
        ([UP_A, OrderKey((1,), "clustered")], [A], [asc(B)]),
    ],
)
def test_inputs_sorted_otherwise_are_refused(
    order: list[OrderKey], partitions: list[ex.Expression], sorts: list[ex.SortKey]
) -> None:
    with refused(SchemaError, "streaming window", "sorted by its partitions", "hashing window"):
        streaming(order, partitions, sorts)
