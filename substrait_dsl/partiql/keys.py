"""Sort keys of `order_by` and aggregates of `group_by`."""

from __future__ import annotations

import attrs

from substrait_dsl.partiql import bindings as b
from substrait_dsl.partiql.node import ValueExpr


@attrs.frozen
class SortBy:
    """A sort key and its direction: made by `asc` and `desc`."""

    key: object
    direction: b.Direction = "asc"
    nulls: b.Nulls | None = None

    def node(self, key: ValueExpr) -> b.SortKey:
        """Return the node of the sort key."""
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
    """Count the tuples whose value is neither null nor missing: ``count(lambda t: t.f.FooId)``.

    ``count(1)`` counts all tuples.
    """
    return Measured("count", value)


def sum(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """Sum the values that are present, null of none: ``sum(lambda t: t.f.FooId)``."""
    return Measured("sum", value)


def avg(value: object) -> Measured:
    """Average the values that are present, null of none: ``avg(lambda t: t.f.FooId)``."""
    return Measured("avg", value)


def min(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """Return the least of the values that are present, in PartiQL's order of all values; null of none."""
    return Measured("min", value)


def max(value: object) -> Measured:  # noqa: A001  # as PySpark calls it
    """Return the greatest of the values that are present. See `min`."""
    return Measured("max", value)
