"""What `order_by` sorts by, and what `group_by` computes."""

from __future__ import annotations

import attrs

from substrait_dsl.partiql import bindings as b
from substrait_dsl.partiql.node import ValueExpr


@attrs.frozen
class SortBy:
    """A key and its direction: made by `asc` and `desc`."""

    key: object
    direction: b.Direction = "asc"
    nulls: b.Nulls | None = None

    def node(self, key: ValueExpr) -> b.SortKey:
        """The node of the key."""
        return b.SortKey(key, self.direction) if self.nulls is None else b.SortKey(key, self.direction, self.nulls)


def asc(key: object, nulls: b.Nulls = "nulls_last") -> SortBy:
    """Sort by a key, smallest first: ``asc(lambda t: t.f.FooId)``."""
    return SortBy(key, "asc", nulls)


def desc(key: object, nulls: b.Nulls = "nulls_first") -> SortBy:
    """Sort by a key, greatest first."""
    return SortBy(key, "desc", nulls)


@attrs.frozen
class Measured:
    """An aggregate: made by `count`, `sum`, `avg`, `min` and `max`."""

    function: b.AggregateFunction
    value: object


def count(value: object) -> Measured:
    """How many values are there: ``count(lambda t: t.f.FooId)``."""
    return Measured("count", value)


def sum(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """Their sum."""
    return Measured("sum", value)


def avg(value: object) -> Measured:
    """Their mean."""
    return Measured("avg", value)


def min(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """The least of them, in PartiQL's order of all values."""
    return Measured("min", value)


def max(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """The greatest of them."""
    return Measured("max", value)
