"""Declared properties of data from elsewhere: its ordering and its distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from substrait_dsl.algebra.properties import (
    NO_PROPERTIES,
    SINGLETON,
    Distribution,
    FieldPath,
    OrderKey,
    Properties,
    partitioned,
)
from substrait_dsl.algebra.relations.sortedness import direct_path, sort_ordering
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, UnknownFieldError, error_context
from substrait_dsl.fluent.column_arguments import is_list, key_expression, sort_keys
from substrait_dsl.fluent.expr import SortKey
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.fluent.sorting import Sortable

Ordering = Sortable | SortKey | OrderKey | Sequence[Sortable | SortKey | OrderKey]
"""Columns that rows are ordered by, as for `Relation.sort`."""

Distributed = Sortable | Sequence[Sortable] | Distribution
"""Columns by which rows are distributed to partitions, or a `Distribution`."""


def declared_properties(struct: NamedStruct, ordering: Any, distribution: Any) -> Properties:
    """Return the properties that data of these columns is declared to have."""
    if distribution is None and is_list(ordering) and not ordering:
        return NO_PROPERTIES
    scope = Scope("properties", (), struct)
    with error_context(place="ordering"):
        keys = tuple(_order_key(key, scope) for key in (ordering if is_list(ordering) else [ordering]))
    with error_context(place="distribution"):
        return Properties(keys, _distribution(distribution, scope))


def _order_key(key: Any, scope: Scope) -> OrderKey:
    if isinstance(key, OrderKey):
        return key
    known = sort_ordering(sort_keys([key], scope))
    if not known:
        raise InvalidArgumentError("data is declared to be ordered by columns, not by other expressions")
    return known[0]


def _distribution(value: Any, scope: Scope) -> Distribution | None:
    if value is None or isinstance(value, Distribution):
        return value
    if isinstance(value, str) and value == "singleton" and value not in scope.schema.names:
        return SINGLETON
    return partitioned(*(_path(field, scope) for field in (value if is_list(value) else [value])))


def _path(field: Any, scope: Scope) -> FieldPath:
    try:
        path = direct_path(key_expression(field, scope, "distribute"))
    except UnknownFieldError as error:
        error.hint = error.hint or '"singleton" says that all rows are in one partition'
        raise
    if path is None:
        raise InvalidArgumentError("data is declared to be distributed by columns, not by other expressions")
    return path
