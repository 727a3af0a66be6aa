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
    """Sort by a key, greatest first: ``desc(lambda t: t.f.FooId, "nulls_last")``."""
    return SortBy(key, "desc", nulls)


@attrs.frozen
class Measured:
    """An aggregate: made by `count`, `sum`, `avg`, `min` and `max`."""

    function: b.AggregateFunction
    value: object


def count(value: object) -> Measured:
    """How many tuples have a value that is neither null nor missing: ``count(lambda t: t.f.FooId)``.

    ``count(1)`` counts all tuples.
    """
    return Measured("count", value)


def sum(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """The sum of the values that are there, null of none: ``sum(lambda t: t.f.FooId)``."""
    return Measured("sum", value)


def avg(value: object) -> Measured:
    """The mean of the values that are there, null of none: ``avg(lambda t: t.f.FooId)``."""
    return Measured("avg", value)


def min(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """The least of the values that are there, in PartiQL's order of all values; null of none."""
    return Measured("min", value)


def max(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """The greatest of the values that are there. See `min`."""
    return Measured("max", value)
