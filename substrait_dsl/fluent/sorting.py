"""Sort keys: how to order by a column or an expression."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import Typed
from substrait_dsl.catalog.function_requirements import require_order
from substrait_dsl.errors import InvalidArgumentError
from substrait_dsl.fluent.expr import ExprBase, Nulls, SortKey, sort_key

if TYPE_CHECKING:
    from substrait_dsl.fluent.namespace import CatalogFunction

Sortable = str | int | ExprBase | Callable[[Any], ExprBase]
"""A column's name or position, an expression, or a lambda that gets the row."""


def asc(column: Sortable, nulls: Nulls = "first") -> SortKey:
    """Sort with the smallest first.

    Args:
        column: a column, an expression, or a lambda that gets the row.
        nulls: where NULLs stand: ``"first"`` (the default, as in Spark) or ``"last"``.

    Returns:
        A key for `Relation.sort`, windows and ordered aggregates. Raises `InvalidChoiceError` for another word.

    Specification: ``SortField``.

    Example:
        >>> print(orders.sort(sd.asc("price", nulls="last")))
        sort by price asc nulls last
          read orders -> id: i64, customer: i64, price: fp64?
    """
    return sort_key(column, "asc", nulls)


def desc(column: Sortable, nulls: Nulls = "last") -> SortKey:
    """Sort with the largest first.

    Args:
        column: a column, an expression, or a lambda that gets the row.
        nulls: where NULLs stand: ``"last"`` (the default, as in Spark) or ``"first"``.

    Returns:
        A key for `Relation.sort`, windows and ordered aggregates. Raises `InvalidChoiceError` for another word.

    Specification: ``SortField``.

    Example:
        >>> print(orders.sort(sd.desc("price")))
        sort by price desc nulls last
          read orders -> id: i64, customer: i64, price: fp64?
    """
    return sort_key(column, "desc", nulls)


def clustered(column: Sortable) -> SortKey:
    """Sort so that equal values are next to each other, in any order of the values.

    Args:
        column: a column, an expression, or a lambda that gets the row.

    Returns:
        A key for `Relation.sort`.

    Specification: ``SORT_DIRECTION_CLUSTERED``.

    Example:
        >>> print(orders.sort(sd.clustered("customer")))
        sort by customer clustered
          read orders -> id: i64, customer: i64, price: fp64?
    """
    return SortKey(column, "clustered")


def compared(column: Sortable, function: Callable[..., ExprBase]) -> SortKey:
    """Sort in the order that a function of two values says: it gives -1, 0 or 1.

    Args:
        column: what to sort by.
        function: a scalar function of a catalogue: ``compared("name", my_functions.collate)``. The overload is that
            for two values of the column's type. It may give any integer type (spec decision 52).

    Returns:
        A key for `Relation.sort`. Raises `InvalidArgumentError` for what is no scalar function; when it meets the
        relation, `FunctionNotFoundError` for one that does not take such values, `TypeMismatchError` for one that gives
        no integer.

    Specification: ``SortField.comparison_function_reference``.

    Example:
        >>> sd.compared("name", "collate")
        Traceback (most recent call last):
            ...
        substrait_dsl.errors.InvalidArgumentError: compared takes a scalar function of a catalogue, got 'collate'
          hint: Functions(standard_catalog().with_extension(...)) has those of an extension of your own
    """
    from substrait_dsl.fluent.namespace import CatalogFunction

    if not isinstance(function, CatalogFunction) or function.kind != "scalar":
        raise InvalidArgumentError(
            "compared takes a scalar function of a catalogue",
            got=function,
            hint="Functions(standard_catalog().with_extension(...)) has those of an extension of your own",
        )

    return SortKey(column, partial(_comparison, function))


def _comparison(function: CatalogFunction, type_: Type) -> ex.FunctionId:
    overload, result = function.resolve([Typed(type_), Typed(type_)])
    require_order(overload, result)
    return overload.function
