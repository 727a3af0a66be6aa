"""Expressions over numbers of two types, on DataFusion, against Python's exact numbers."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from tests.support import f
from tests.widening import expressions, is_right, relation, rows

if TYPE_CHECKING:
    from datafusion import SessionContext


@pytest.fixture
def session(datafusion: None) -> SessionContext:
    """DataFusion without tables."""
    from datafusion import SessionContext

    return SessionContext()


@pytest.mark.parametrize("seed", range(3))
def test_expressions_over_mixed_numbers_are_exact(seed: int, session: SessionContext) -> None:
    random = Random(seed)
    values, columns = rows(random, 40), expressions(random)
    assert len(columns) > 200
    found = relation(values).select(**{name: column for name, (column, _) in columns.items()}).collect(session)
    for row, given in zip(found, values, strict=True):
        for name, (_, expected) in columns.items():
            assert is_right(row[name], expected(given)), (name, row[name], expected(given), given)


def test_the_quotients_that_hints_name_work(session: SessionContext) -> None:
    """7 / 2: 3.5 with a fraction, 3 without."""
    read: sd.Relation[Any] = sd.read_virtual([(7, 2)], {"x": "i64", "y": "i32"})
    quotients = read.select(
        a=lambda r: r.x.cast(sd.FP64) / r.y.cast(sd.FP64),
        b=lambda r: r.x.cast(sd.FP64) / 2,
        c=lambda r: f.divide(r.x, r.y),
    )
    assert [tuple(row) for row in quotients.collect(session)] == [(3.5, 3.5, 3)]
