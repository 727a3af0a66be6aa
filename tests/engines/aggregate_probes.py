"""Small columns that tell engines apart by what they aggregate of them: NULL, nothing, NaN, both zeros, overflow.

The specification's own cases have few of these. The values are by its words, or by arithmetic.

Specification: ``functions_arithmetic.yaml``, ``functions_arithmetic_decimal.yaml``, ``functions_boolean.yaml``,
``functions_aggregate_generic.yaml``, ``functions_datetime.yaml``.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import attrs

import substrait_dsl as sd
from substrait_dsl import functions

f: Any = functions

ANYTHING = object()
"""The expected value where the specification leaves it open: the engine may give any, and any error."""

NAN, INF = math.nan, math.inf
NONE: tuple[tuple[Any, ...], ...] = ((), (None,), (None, None))
"""Columns without a value."""

INTEGERS = {"i8": 7, "i16": 15, "i32": 31, "i64": 63}
"""The bits of the size of integers, by their types."""


@attrs.frozen
class AggregateProbe:
    """A call of an aggregate function over one column."""

    name: str
    type: str
    values: tuple[Any, ...]
    expected: Any

    def relation(self) -> sd.Relation[Any]:
        """The aggregate over a table of the column."""
        table = sd.read_virtual([(value,) for value in self.values], {"v": f"{self.type}?"})
        return table.aggregate(value=lambda r: getattr(f, self.name)(r.v))


def aggregate_probes() -> Iterator[AggregateProbe]:
    """All of them."""
    for kind, values, expected in _columns():
        for name, value in expected.items():
            yield AggregateProbe(name, kind, values, value)


def _columns() -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Types, columns, and what functions give by their names."""
    for kind in (*INTEGERS, "fp32", "fp64", "decimal<10,2>"):
        for values in NONE:
            zero = Decimal("0.00") if kind.startswith("decimal") else 0
            yield kind, values, dict.fromkeys(("sum", "avg", "min", "max"), None) | {"sum0": zero, "count": 0}
    for values in NONE:
        yield "boolean", values, {"bool_and": None, "bool_or": None, "count": 0}
        yield "date", values, {"min": None, "max": None, "count": 0}
        yield "precision_timestamp<6>", values, {"min": None, "max": None}
        yield "string", values, {"count": 0, "any_value": None}
    yield from _integers()
    yield from _reals()
    yield from _decimals()
    day, other = dt.date(1969, 12, 31), dt.date(9999, 12, 31)
    yield "date", (None, other, day), {"min": day, "max": other, "count": 2}
    early, late = dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2020, 1, 1)
    yield "precision_timestamp<6>", (late, None, early), {"min": early, "max": late}
    yield "boolean", (True, None), {"bool_and": True, "bool_or": True, "count": 1}
    yield "boolean", (None, False), {"bool_and": False, "bool_or": False}
    yield "boolean", (True, None, False), {"bool_and": False, "bool_or": True, "count": 2}
    yield "string", ("", None, "a", "a"), {"count": 3}
    yield "string", ("a", "a"), {"any_value": "a"}


def _integers() -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    for kind, bits in INTEGERS.items():
        least, most = -(2**bits), 2**bits - 1
        extremes: dict[str, Any] = {"min": least, "max": most, "count": 2}
        yield kind, (most, None, least), extremes | {"sum": -1, "sum0": -1, "avg": 0}
        yield kind, (1, 2, None), {"sum": 3, "sum0": 3, "avg": 1, "min": 1, "max": 2, "count": 2}
        yield kind, (-1, -2), {"avg": -1}  # it is cut off, and not rounded down
        total = ANYTHING if kind == "i64" else 2 * most
        yield kind, (most, most), {"sum": total, "sum0": total, "max": most}


def _reals() -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    for kind in ("fp32", "fp64"):
        yield kind, (0.5, None, -2.5), {"sum": -2.0, "sum0": -2.0, "avg": -1.0, "min": -2.5, "max": 0.5, "count": 2}
        # NaN is larger than all other numbers, as it is where rows are sorted.
        yield kind, (NAN, 1.0, None), {"sum": NAN, "sum0": NAN, "avg": NAN, "min": 1.0, "max": NAN, "count": 2}
        yield kind, (NAN, NAN), {"min": NAN, "max": NAN}
        yield kind, (1.0, NAN, -INF), {"min": -INF, "max": NAN}
        yield kind, (INF, -INF), {"sum": NAN, "avg": NAN, "min": -INF, "max": INF}
        yield kind, (INF, 1.0), {"sum": INF, "avg": INF}
        yield kind, (-0.0, 0.0), {"sum": 0.0, "avg": 0.0, "min": 0.0, "max": 0.0, "count": 2}


def _decimals() -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    one, other = Decimal("99999999.99"), Decimal("-0.01")
    total = {name: Decimal("99999999.98") for name in ("sum", "sum0")}
    yield "decimal<10,2>", (one, other, None), {**total, "avg": Decimal("49999999.99"), "min": other, "max": one}
    more = Decimal("199999999.98")
    yield "decimal<10,2>", (one, one), {"sum": more, "sum0": more, "avg": one, "count": 2}
    # A third has no last digit; a half is rounded away from zero.
    some = (Decimal("0.01"), Decimal("0.00"), Decimal("0.00"))
    yield "decimal<10,2>", some, {"avg": Decimal("0.00")}
    yield "decimal<10,2>", some[:2], {"avg": Decimal("0.01")}
    yield "decimal<10,2>", (other, Decimal("0.00")), {"avg": other}
    large = Decimal(10**37)
    yield "decimal<38,0>", (large, large), {"sum": 2 * large, "min": large, "max": large}
    yield "decimal<38,0>", (Decimal(10**38 - 1),) * 2, {"sum": ANYTHING, "sum0": ANYTHING}
