"""Lists and maps, and the least and the greatest of several values."""

from __future__ import annotations

from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.everyday.calling import call_own, call_standard
from substrait_dsl.fluent.expr import DynExpr


def least(*values: object) -> DynExpr:
    """Return the smallest of several values, NULLs not counted: ``least_skip_null`` of the specification.

    Args:
        values: two or more of one type.

    Returns:
        A value of their type; NULL if all are.

    Raises:
        FunctionNotFoundError: for types that differ.

    Specification: ``least_skip_null`` in ``functions_comparison.yaml``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.select(x=lambda o: e.least(o.id, o.customer)).schema)
        0  x  i64
    """
    return call_standard("least_skip_null", *values)


def greatest(*values: object) -> DynExpr:
    """Return the largest of several values, NULLs not counted: ``greatest_skip_null`` of the specification.

    Args:
        values: two or more of one type.

    Returns:
        A value of their type; NULL if all are.

    Raises:
        FunctionNotFoundError: for types that differ.

    Specification: ``greatest_skip_null`` in ``functions_comparison.yaml``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.select(x=lambda o: e.greatest(o.id, o.customer)).schema)
        0  x  i64
    """
    return call_standard("greatest_skip_null", *values)


def sort_array(x: object, *, descending: bool = False) -> DynExpr:
    """Sort a list, NULLs at the end: ``sort`` of the specification.

    Args:
        x: a list.
        descending: whether the largest comes first.

    Returns:
        A list of the same type.

    Raises:
        InvalidArgumentError: `descending` is neither True nor False.
        FunctionNotFoundError: for what is no list.

    Specification: ``sort`` in ``functions_list.yaml``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> bags = sd.read_named("bags", {"xs": "list<i64>"})
        >>> print(bags.select(xs=lambda r: e.sort_array(r.xs, descending=True)).schema)
        0  xs  list<i64>
    """
    with error_context(verb="sort_array"):
        if not isinstance(descending, bool):
            raise InvalidArgumentError("descending is True or False", got=descending)
        return call_standard("sort", x, direction="DESC_NULLS_LAST" if descending else "ASC_NULLS_LAST")


def array_distinct(x: object) -> DynExpr:
    """Return the elements of a list that differ from all before them, in their order.

    Args:
        x: a list; a NULL in it is an element like any other.

    Returns:
        A list of the same type.

    Raises:
        FunctionNotFoundError: for what is no list.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(sd.read_named("t", {"xs": "list<i64?>"}).select(xs=lambda r: e.array_distinct(r.xs)).schema)
        0  xs  list<i64?>
    """
    return call_own("array_distinct", x)


def map_keys(x: object) -> DynExpr:
    """Return the keys of a map as a list, in the order of its entries.

    Args:
        x: a map.

    Returns:
        A list.

    Raises:
        FunctionNotFoundError: for what is no map.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(sd.read_named("t", {"m": "map<string, i64?>"}).select(ks=lambda r: e.map_keys(r.m)).schema)
        0  ks  list<string>
    """
    return call_own("map_keys", x)


def map_values(x: object) -> DynExpr:
    """Return the values of a map as a list, in the order of its entries.

    Args:
        x: a map.

    Returns:
        A list.

    Raises:
        FunctionNotFoundError: for what is no map.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(sd.read_named("t", {"m": "map<string, i64?>"}).select(vs=lambda r: e.map_values(r.m)).schema)
        0  vs  list<i64?>
    """
    return call_own("map_values", x)


def map_entries(x: object) -> DynExpr:
    """Return the entries of a map as a list of structs of key and value, in their order.

    Args:
        x: a map.

    Returns:
        A list.

    Raises:
        FunctionNotFoundError: for what is no map.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(sd.read_named("t", {"m": "map<string, i64?>"}).select(es=lambda r: e.map_entries(r.m)).schema)
        0  es  list<struct<string, i64?>>
    """
    return call_own("map_entries", x)
