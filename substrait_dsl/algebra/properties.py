"""The two properties that a relation has besides its schema: ordering and distribution.

Specification: https://substrait.io/relations/basics/#orderedness and #distribution. Neither has a field in the
protobuf messages: they live in the objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import NoneType
from typing import Literal, get_args

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import Struct, Type
from substrait_dsl.algebra.validators import one, several
from substrait_dsl.errors import InvalidArgumentError, SchemaError, require_choice

SortDirection = Literal["asc_nulls_first", "asc_nulls_last", "desc_nulls_first", "desc_nulls_last", "clustered"]

SORT_DIRECTIONS: tuple[SortDirection, ...] = get_args(SortDirection)

FieldPath = tuple[int, ...]
"""A column's position, then positions inside nested structs: ``(2, 4)`` is field 4 of column 2."""

_is_path = several("a path of positions, such as (2, 4)", int)


@attrs.frozen(eq=False, repr=False)
class OrderKey(FrozenValue):
    """One field that rows are ordered by, and how; or the function of two values that says which comes first.

    Args:
        field: the path of the field: the position of its column, then of the fields inside.
        direction: how, or the function that compares.

    Specification: ``SortField``; the property of orderedness.

    Example:
        >>> orders.sort("id").properties.ordering
        (OrderKey(field=(0,), direction='asc_nulls_first'),)
    """

    field: FieldPath = attrs.field(validator=_is_path)
    direction: SortDirection | FunctionId

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.direction, FunctionId):
            require_choice("sort direction", self.direction, SORT_DIRECTIONS)


@attrs.frozen(eq=False, repr=False)
class Distribution(FrozenValue):
    """How rows lie in partitions: all in one, or by the values of some fields (whose order is irrelevant).

    Args:
        kind: singleton or partitioned.
        fields: the paths of the fields by whose values rows are partitioned.

    Specification: the property of distribution, https://substrait.io/relations/basics/.

    Example:
        >>> orders.exchange(sd.scatter("customer")).properties.distribution
        Distribution(kind='partitioned', fields=frozenset({(1,)}))
    """

    kind: Literal["singleton", "partitioned"]
    fields: frozenset[FieldPath] = attrs.field(
        default=frozenset(), validator=attrs.validators.deep_iterable(_is_path, one("a frozenset of paths", frozenset))
    )

    def __attrs_post_init__(self) -> None:
        require_choice("kind of distribution", self.kind, ("singleton", "partitioned"))


SINGLETON = Distribution("singleton")


def partitioned(*fields: FieldPath) -> Distribution:
    """Return the distribution in which rows that agree on `fields` share a partition."""
    return Distribution("partitioned", frozenset(fields))


@attrs.frozen(eq=False, repr=False)
class Properties(FrozenValue):
    """The known properties of a relation's output: its ordering per partition, and its distribution (None: unknown).

    Two properties are equal if these two are. What is known besides helps to make use of them.

    Specification: https://substrait.io/relations/basics/.

    Example:
        >>> orders.sort("id").project(one=1).properties == orders.sort("id").properties
        True
    """

    ordering: tuple[OrderKey, ...] = attrs.field(default=(), validator=several("a tuple of OrderKey", OrderKey))
    distribution: Distribution | None = attrs.field(
        default=None, validator=one("a Distribution or None", Distribution, NoneType)
    )
    ordered_further: bool = attrs.field(default=False, eq=False, validator=one("a bool", bool))
    """Whether rows that agree on the ordering are ordered, too, but by what is no field of the output."""
    equal: Mapping[int, FieldPath] = attrs.field(
        factory=dict, eq=False, validator=one("a mapping of positions to paths", Mapping)
    )
    """Columns that always have the value of another field, such as a copy: the position -> the path of that field."""

    def unordered(self) -> Properties:
        """Leave out the ordering.

        Specification: https://substrait.io/relations/basics/.

        Example:
            >>> orders.sort("id").properties.unordered() == orders.properties
            True
        """
        return Properties((), self.distribution, equal=self.equal) if self.ordering else self

    @property
    def fieldless(self) -> bool:
        """Whether no field is named, so that these properties hold wherever the fields go."""
        return not (self.ordering or self.equal or (self.distribution is not None and self.distribution.fields))

    def moved(self, fields: Iterable[tuple[FieldPath, FieldPath]]) -> Properties:
        """Give the properties after a relation that puts out these fields and no others.

        A field inside one that is moved moves with it; for one that is dropped an equal one stands in. An ordering ends
        at the first key that is dropped; a partitioning survives if all its fields do.

        Args:
            fields: for each field its path before and its path then.

        Specification: https://substrait.io/relations/basics/.

        Example:
            >>> orders.sort("id").properties.moved([((0,), (2,))]).ordering
            (OrderKey(field=(2,), direction='asc_nulls_first'),)
        """
        places: dict[FieldPath, FieldPath] = {}
        of_equals: dict[FieldPath, FieldPath] = {}
        equal: dict[int, FieldPath] = {}
        # There may be very many fields, and hardly any that are inside others or equal to others.
        commons = [
            (source if source[0] not in self.equal else representative(source, self.equal), source, target)
            for source, target in fields
        ]
        if max([len(common) for common, _, _ in commons], default=1) > 1:
            commons.sort(key=lambda move: len(move[0]))  # a struct before what is inside
        for common, source, target in commons:
            places.setdefault(source, target)
            first = of_equals.get(common) if len(common) == 1 else _moved_path(common, of_equals)
            if first is None:
                of_equals[common] = target
            elif len(target) == 1:
                equal[target[0]] = first

        def place(path: FieldPath) -> FieldPath | None:
            return _moved_path(path, places) or _moved_path(representative(path, self.equal), of_equals)

        ordering: list[OrderKey] = []
        for key in self.ordering:
            moved = place(key.field)
            if moved is None:
                break
            ordering.append(OrderKey(moved, key.direction))
        further = self.ordered_further or len(ordering) < len(self.ordering)
        return Properties(tuple(ordering), _moved_distribution(self.distribution, place), further, equal)


def representative(path: FieldPath, equal: Mapping[int, FieldPath]) -> FieldPath:
    """Return the one that stands for all fields that are equal to this one (see `Properties.equal`)."""
    while path[0] in equal:
        path = (*equal[path[0]], *path[1:])
    return path


def unite_equal_fields(
    equal: Mapping[int, FieldPath], pairs: Iterable[tuple[FieldPath, FieldPath]]
) -> dict[int, FieldPath]:
    """Return `Properties.equal` extended by pairs of equal fields; one field of each pair must be a column.

    Of two columns, the second one comes to stand for the first.
    """
    found = dict(equal)
    for pair in pairs:
        column, field = sorted([representative(path, found) for path in pair], key=len)
        if len(column) == 1 and column != field[:1]:
            found[column[0]] = field
    return found


def _moved_path(path: FieldPath, places: Mapping[FieldPath, FieldPath]) -> FieldPath | None:
    for size in range(1, len(path) + 1):
        place = places.get(path[:size])
        if place is not None:
            return (*place, *path[size:])
    return None


def _moved_distribution(
    distribution: Distribution | None, place: Callable[[FieldPath], FieldPath | None]
) -> Distribution | None:
    if distribution is None or distribution == SINGLETON:
        return distribution
    targets = [place(path) for path in distribution.fields]
    fields = frozenset(target for target in targets if target is not None)
    return None if None in targets else Distribution("partitioned", fields)


NO_PROPERTIES = Properties()


def check_properties(properties: Properties, schema: NamedStruct) -> None:
    """Raise unless the properties can be those of a relation with this schema.

    Raises `SchemaError` for a field that is not there, `InvalidArgumentError` for a partitioning by nothing, or a
    singleton by something, and for what is known besides, which no plan can say.
    """
    if properties.ordered_further or properties.equal:
        raise InvalidArgumentError("an ordering and a distribution can be declared, and nothing besides")
    distribution = properties.distribution
    if distribution is not None and (distribution.kind == "singleton") is bool(distribution.fields):
        raise InvalidArgumentError("a partitioning needs at least one field, and a singleton takes none")
    paths = [key.field for key in properties.ordering]
    row = schema.row_type() if paths or distribution is not None else Struct(())
    for path in (*paths, *(distribution.fields if distribution is not None else ())):
        if not path:
            raise SchemaError("an ordering or a distribution refers to fields, not to the whole row")
        type_: Type = row
        for position in path:
            if not isinstance(type_, Struct) or not 0 <= position < len(type_.types):
                raise SchemaError(f"there is no field {'.'.join(map(str, path))} in {schema}")
            type_ = type_.types[position]
