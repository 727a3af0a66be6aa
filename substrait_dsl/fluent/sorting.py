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
    """Smallest first; NULLs ``"first"`` (the default, as in Spark) or ``"last"``.

    Raises `InvalidChoiceError` for another word. Specification: ``SortField``.
    """
    return sort_key(column, "asc", nulls)


def desc(column: Sortable, nulls: Nulls = "last") -> SortKey:
    """Largest first; NULLs ``"last"`` (the default, as in Spark) or ``"first"``.

    Raises `InvalidChoiceError` for another word. Specification: ``SortField``.
    """
    return sort_key(column, "desc", nulls)


def clustered(column: Sortable) -> SortKey:
    """Equal values next to each other, in whatever order. Specification: ``SORT_DIRECTION_CLUSTERED``."""
    return SortKey(column, "clustered")


def compared(column: Sortable, function: Callable[..., ExprBase]) -> SortKey:
    """In the order that a function says: it takes two values and gives -1, 0 or 1 (spec decision 52: any integer type).

    Args:
        column: what to sort by.
        function: a scalar function of a catalogue: ``compared("name", my_functions.collate)``. The overload is that
            for two values of the column's type.

    Raises `InvalidArgumentError` for what is no scalar function, `FunctionNotFoundError` for one that does not take
    such values, `TypeMismatchError` for one that gives no integer.
    Specification: ``SortField.comparison_function_reference``.
    """
    from substrait_dsl.fluent.namespace import CatalogFunction

    if not isinstance(function, CatalogFunction) or function.kind != "scalar":
        raise InvalidArgumentError(
            "compared takes a scalar function of a catalogue",
            got=function,
            hint="Functions(standard_catalog().with_extension(...)) has those of an extension of your own",
        )

    return SortKey(column, partial(_comparison, function))


def _comparison(function: CatalogFunction, kind: Type) -> ex.FunctionId:
    overload, result = function.resolve([Typed(kind), Typed(kind)])
    require_order(overload, result)
    return overload.function
