"""Types that columns of random trees have, and literals of them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import DaySeconds, Literal, YearMonths

INTEGERS: tuple[t.Type, ...] = (t.I8(), t.I16(), t.I32(), t.I64())
SIMPLE: tuple[t.Type, ...] = (
    *INTEGERS,
    t.FP64(),
    t.Boolean(),
    t.String(),
    t.Date(),
    t.Decimal(10, 2),
    t.VarChar(8),
    t.PrecisionTimestamp(6),
    t.PrecisionTimestampTZ(6),
    t.IntervalYear(),
    t.IntervalDay(3),
    t.Binary(),
)
NESTED: tuple[t.Type, ...] = (
    t.List(t.I64(nullable=True)),
    t.Struct((t.I64(), t.String(nullable=True))),
    t.Map(t.String(), t.I64(nullable=True)),
)
KINDS = (*SIMPLE, *NESTED)

kinds = st.builds(lambda kind, nullable: kind.with_nullability(nullable), st.sampled_from(KINDS), st.booleans())
"""A type of a column."""

_VALUES: dict[type[t.Type], Any] = {
    t.FP64: st.floats(allow_nan=False),
    t.Boolean: st.booleans(),
    t.String: st.text(max_size=5),
    t.VarChar: st.text(max_size=8),
    t.Binary: st.binary(max_size=4),
    t.Date: st.dates(dt.date(1000, 1, 1)),
    t.Decimal: st.integers(-(10**10) + 1, 10**10 - 1).map(lambda number: Decimal(number).scaleb(-2)),
    t.PrecisionTimestamp: st.integers(-(2**40), 2**40),
    t.PrecisionTimestampTZ: st.integers(-(2**40), 2**40),
    t.IntervalYear: st.builds(YearMonths, st.integers(-9, 9), st.integers(-11, 11)),
    t.IntervalDay: st.builds(DaySeconds, st.integers(-9, 9), st.integers(0, 9), st.integers(0, 999)),
}


def values(type_: t.Type) -> Any:
    """Values, not NULL, of a type."""
    match type_:
        case t.List(element=element):
            return st.lists(literals(element), max_size=3).map(tuple)
        case t.Struct(types=types):
            return st.tuples(*map(literals, types))
        case t.Map(key=key, value=value):
            return st.lists(st.tuples(literals(key), literals(value)), max_size=2).map(tuple)
        case _ if type(type_) in t.INTEGER_RANGES:
            return st.integers(*t.INTEGER_RANGES[type(type_)])
        case _:
            return _VALUES[type(type_)]


def literals(type_: t.Type) -> Any:
    """Literals of exactly this type."""
    some = values(type_).map(lambda value: Literal(value, type_))
    return st.one_of(st.just(Literal(None, type_)), some) if type_.nullable else some
