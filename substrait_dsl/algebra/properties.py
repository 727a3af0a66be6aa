"""The two properties that a relation maintains beside its schema: orderedness and distribution.

Specification: https://substrait.io/relations/basics/#orderedness and #distribution. Neither has a field in the
protobuf messages: they live in the objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Literal, get_args

import attrs

from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import Struct, Type
from substrait_dsl.algebra.validators import one, several
from substrait_dsl.errors import InvalidArgumentError, SchemaError, require_choice

SortDirection = Literal["asc_nulls_first", "asc_nulls_last", "desc_nulls_first", "desc_nulls_last", "clustered"]

SORT_DIRECTIONS: tuple[SortDirection, ...] = get_args(SortDirection)

FieldPath = tuple[int, ...]
"""A column's position, then positions inside nested structs: ``(2, 4)`` is field 4 of column 2."""

_is_path = several("a path of positions, such as (2, 4)", int)


@attrs.frozen
class OrderKey:
    """One field that rows are ordered by, and how; or the function of two values that says which comes first."""

    field: FieldPath = attrs.field(validator=_is_path)
    direction: SortDirection | FunctionId

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.direction, FunctionId):
            require_choice("sort direction", self.direction, SORT_DIRECTIONS)


@attrs.frozen
class Distribution:
    """How rows lie in partitions: all in one, or by the values of some fields (whose order is irrelevant)."""

    kind: Literal["singleton", "partitioned"]
    fields: frozenset[FieldPath] = attrs.field(
        default=frozenset(), validator=attrs.validators.deep_iterable(_is_path, one("a frozenset of paths", frozenset))
    )

    def __attrs_post_init__(self) -> None:
        require_choice("kind of distribution", self.kind, ("singleton", "partitioned"))


SINGLETON = Distribution("singleton")


def partitioned(*fields: FieldPath) -> Distribution:
    """The distribution in which rows that agree on `fields` share a partition."""
    return Distribution("partitioned", frozenset(fields))


@attrs.frozen
class Properties:
    """What is known of a relation's output: its order, per partition, and its distribution (None: nothing)."""

    ordering: tuple[OrderKey, ...] = attrs.field(default=(), validator=several("a tuple of OrderKey", OrderKey))
    distribution: Distribution | None = attrs.field(
        default=None, validator=one("a Distribution or None", Distribution, NoneType)
    )

    def unordered(self) -> Properties:
        """These properties without the ordering."""
        return Properties((), self.distribution) if self.ordering else self

    @property
    def fieldless(self) -> bool:
        """Whether no field is named, so that these properties hold wherever the fields go."""
        return not self.ordering and (self.distribution is None or not self.distribution.fields)

    def moved(self, places: Mapping[FieldPath, FieldPath]) -> Properties:
        """These properties after a relation that puts some fields elsewhere, and no others out.

        A field inside one that is moved moves with it. An ordering ends at the first key that is dropped; a
        partitioning survives if all its fields do.
        """
        if self.fieldless:
            return self
        ordering: list[OrderKey] = []
        for key in self.ordering:
            target = _moved_path(key.field, places)
            if target is None:
                break
            ordering.append(OrderKey(target, key.direction))
        return Properties(tuple(ordering), _moved_distribution(self.distribution, places))


def _moved_path(path: FieldPath, places: Mapping[FieldPath, FieldPath]) -> FieldPath | None:
    for size in range(1, len(path) + 1):
        place = places.get(path[:size])
        if place is not None:
            return (*place, *path[size:])
    return None


def _moved_distribution(
    distribution: Distribution | None, places: Mapping[FieldPath, FieldPath]
) -> Distribution | None:
    if distribution is None or distribution == SINGLETON:
        return distribution
    targets = [_moved_path(path, places) for path in distribution.fields]
    kept = frozenset(target for target in targets if target is not None)
    return None if None in targets else Distribution("partitioned", kept)


NO_PROPERTIES = Properties()


def check_properties(properties: Properties, schema: NamedStruct) -> None:
    """Raise unless the properties can be those of a relation with this schema.

    Raises `SchemaError` for a field that is not there, `InvalidArgumentError` for a partitioning by nothing, or a
    singleton by something.
    """
    distribution = properties.distribution
    if distribution is not None and (distribution.kind == "singleton") is bool(distribution.fields):
        raise InvalidArgumentError("a partitioning needs at least one field, and a singleton takes none")
    paths = [key.field for key in properties.ordering]
    row = schema.row_type() if paths or distribution is not None else Struct(())
    for path in (*paths, *(distribution.fields if distribution is not None else ())):
        if not path:
            raise SchemaError("an ordering and a distribution are of fields; the whole row is none")
        kind: Type = row
        for position in path:
            if not isinstance(kind, Struct) or not 0 <= position < len(kind.types):
                raise SchemaError(f"there is no field {'.'.join(map(str, path))} in {schema}")
            kind = kind.types[position]
