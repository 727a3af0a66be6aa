"""Aggregates: lists of a group, its extremes and percentiles."""

from __future__ import annotations

from typing import Any

from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.everyday.calling import own_measure
from substrait_dsl.fluent.calls import Measure


def collect_list(x: object) -> Measure[Any, Any]:
    """Collect the values of a group that are not NULL into a list.

    Args:
        x: what is collected; ``collect_list(x).order_by("at")`` says in which order, else it is any.

    Returns:
        A measure: a list, of no values an empty one.

    Raises:
        FunctionNotFoundError: for what is no column.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.group_by("customer").agg(ids=lambda o: e.collect_list(o.id)).schema)
        0  customer  i64
        1  ids       list<i64>
    """
    return own_measure("collect_list", x)


def collect_set(x: object) -> Measure[Any, Any]:
    """Collect the different values of a group that are not NULL into a list, in any order.

    Args:
        x: what is collected.

    Returns:
        A measure: a list, of no values an empty one.

    Raises:
        FunctionNotFoundError: for what is no column.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.group_by("customer").agg(ids=lambda o: e.collect_set(o.id)).schema)
        0  customer  i64
        1  ids       list<i64>
    """
    return own_measure("collect_set", x)


def max_by(x: object, by: object) -> Measure[Any, Any]:
    """Return the value of the row whose key is the largest; of several such rows, that of any.

    Args:
        x: the value.
        by: the key; rows in which it is NULL do not count.

    Returns:
        A measure of the type of `x`, nullable.

    Raises:
        FunctionNotFoundError: for what is no column.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.group_by("customer").agg(dearest=lambda o: e.max_by(o.id, o.price)).schema)
        0  customer  i64
        1  dearest   i64?
    """
    return own_measure("max_by", x, by)


def min_by(x: object, by: object) -> Measure[Any, Any]:
    """Return the value of the row whose key is the smallest; of several such rows, that of any.

    Args:
        x: the value.
        by: the key; rows in which it is NULL do not count.

    Returns:
        A measure of the type of `x`, nullable.

    Raises:
        FunctionNotFoundError: for what is no column.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.group_by("customer").agg(cheapest=lambda o: e.min_by(o.id, o.price)).schema)
        0  customer  i64
        1  cheapest  i64?
    """
    return own_measure("min_by", x, by)


def percentile(x: object, share: float) -> Measure[Any, Any]:
    """Return the value below which a share of the values lies: exact, interpolated between the two next to it.

    Args:
        x: an fp64 or an i32; NULLs do not count. Cast other numbers.
        share: a float from 0 to 1: 0.5 is the median.

    Returns:
        A measure, fp64, nullable.

    Raises:
        InvalidArgumentError: `share` is no number from 0 to 1.
        FunctionNotFoundError: for another type.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.group_by("customer").agg(p90=lambda o: e.percentile(o.price, 0.9)).schema)
        0  customer  i64
        1  p90       fp64?
    """
    with error_context(verb="percentile"):
        if type(share) not in (int, float) or not 0 <= share <= 1:
            raise InvalidArgumentError("share is a number from 0 to 1", got=share, hint="90 per cent are 0.9")
        return own_measure("percentile", x, float(share))


def min(x: object) -> Measure[Any, Any]:  # noqa: A001  # as in the specification, which has it for numbers and times
    """Return the smallest text of a group; of numbers and times it is ``min`` of the specification.

    Args:
        x: a string, or what ``functions.min`` takes; NULLs do not count.

    Returns:
        A measure of the type of `x`, nullable.

    Raises:
        FunctionNotFoundError: for another type.

    Specification: ``min`` in ``functions_arithmetic.yaml``; of texts, an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(customers.aggregate(first=lambda c: e.min(c.name)).schema)
        0  first  string?
    """
    return own_measure("min", x)


def max(x: object) -> Measure[Any, Any]:  # noqa: A001  # likewise
    """Return the largest text of a group; of numbers and times it is ``max`` of the specification.

    Args:
        x: a string, or what ``functions.max`` takes; NULLs do not count.

    Returns:
        A measure of the type of `x`, nullable.

    Raises:
        FunctionNotFoundError: for another type.

    Specification: ``max`` in ``functions_arithmetic.yaml``; of texts, an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(customers.aggregate(last=lambda c: e.max(c.name)).schema)
        0  last  string?
    """
    return own_measure("max", x)
