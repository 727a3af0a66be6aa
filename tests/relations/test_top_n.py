"""Top-n: a sort and a fetch in one; the input's columns."""

from __future__ import annotations

import typing

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, TypeMismatchError
from tests.nodes import asc, col, i32, i64, leaf, plus
from tests.support import refused

INPUT = leaf("a: i64, b: string?")
KEYS = (asc(col(INPUT, "a")),)


@pytest.mark.parametrize(
    ("count", "offset"),
    [
        (i64(3), None),
        (i64(0), i64(0)),  # spec decision 30
        (i32(3), i32(1)),
        (None, i64(3)),  # spec decision 29: all
        (i64(None), i64(None)),
        (ex.DynamicParameter(t.I64(), 0), plus(i64(1), i64(2))),
    ],
)
def test_the_output_has_the_columns_of_the_input(count: ex.Expression | None, offset: ex.Expression | None) -> None:
    for mode in r.FETCH_MODES:
        assert r.TopN(INPUT, KEYS, count, offset, mode).schema == INPUT.schema


def test_only_rows_are_counted_unless_ties_are_asked_for() -> None:
    assert r.TopN(INPUT, KEYS, i64(3)) == r.TopN(INPUT, KEYS, i64(3), mode="rows_only")
    assert r.TopN(INPUT, KEYS, i64(3)) != r.TopN(INPUT, KEYS, i64(3), mode="with_ties")


def test_there_is_a_key() -> None:
    with refused(InvalidArgumentError, "top-n needs at least one key"):
        r.TopN(INPUT, (), i64(3))


def test_an_unknown_mode() -> None:
    with refused(InvalidChoiceError, "mode of a top-n", '"rows_only", "with_ties"'):
        r.TopN(INPUT, KEYS, i64(3), mode=typing.cast("r.FetchMode", "ties"))


def test_counts_and_offsets_are_integers_that_are_known_before_a_row_is() -> None:
    for where in ("count", "offset"):

        def make(value: ex.Expression, where: str = where) -> r.Rel:
            return r.TopN(INPUT, KEYS, value, None) if where == "count" else r.TopN(INPUT, KEYS, None, value)

        with refused(TypeMismatchError, where, "integer", "string"):
            make(literal("3", t.String()))
        with refused(InvalidArgumentError, where, "negative", "-3"):
            make(i64(-3))
        with refused(InvalidArgumentError, where, "refers to a column"):
            make(plus(col(INPUT, "a"), i64(1)))
