"""The two properties that a relation maintains beside its schema: orderedness and distribution.

Specification: https://substrait.io/relations/basics/#orderedness and #distribution. Neither has a field in the
protobuf messages: they live in the objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import attrs

SortDirection = Literal["asc_nulls_first", "asc_nulls_last", "desc_nulls_first", "desc_nulls_last", "clustered"]

FieldPath = tuple[int, ...]
"""A column's position, then positions inside nested structs: ``(2, 4)`` is field 4 of column 2."""


@attrs.frozen
class OrderKey:
    """One field that rows are ordered by."""

    field: FieldPath
    direction: SortDirection


@attrs.frozen
class Distribution:
    """How rows lie in partitions: all in one, or by the values of some fields (whose order is irrelevant)."""

    kind: Literal["singleton", "partitioned"]
    fields: frozenset[FieldPath] = frozenset()


SINGLETON = Distribution("singleton")


def partitioned(*fields: FieldPath) -> Distribution:
    """The distribution in which rows that agree on `fields` share a partition."""
    return Distribution("partitioned", frozenset(fields))


@attrs.frozen
class Properties:
    """What is known of a relation's output: its order, per partition, and its distribution (None: nothing)."""

    ordering: tuple[OrderKey, ...] = ()
    distribution: Distribution | None = None

    def unordered(self) -> Properties:
        """These properties without the ordering."""
        return Properties((), self.distribution) if self.ordering else self

    def remapped(self, mapping: Sequence[int], copies: Mapping[int, Sequence[int]]) -> Properties:
        """These properties after an emit.

        An ordering ends at the first key that is dropped; a partitioning survives if all its fields do.
        `copies` lists, per position, other positions that carry the same value and may stand in.
        """
        if not self.ordering and self.distribution in (None, SINGLETON):
            return self
        outputs: dict[int, int] = {}
        for output, position in enumerate(mapping):
            outputs.setdefault(position, output)

        def moved(path: FieldPath) -> FieldPath | None:
            for position in (path[0], *copies.get(path[0], ())):
                if position in outputs:
                    return (outputs[position], *path[1:])
            return None

        ordering: list[OrderKey] = []
        for key in self.ordering:
            target = moved(key.field)
            if target is None:
                break
            ordering.append(OrderKey(target, key.direction))
        return Properties(tuple(ordering), _moved_distribution(self.distribution, moved))


def _moved_distribution(
    distribution: Distribution | None, moved: Callable[[FieldPath], FieldPath | None]
) -> Distribution | None:
    if distribution is None or distribution.kind == "singleton":
        return distribution
    targets = [moved(path) for path in distribution.fields]
    kept = frozenset(target for target in targets if target is not None)
    return Distribution("partitioned", kept) if len(kept) == len(targets) else None


NO_PROPERTIES = Properties()
