"""Aggregates: lists of a group, its extremes and percentiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.errors import InvalidArgumentError, error_context, require
from substrait_dsl.everyday.calling import call_standard, own_measure, standard_measure
from substrait_dsl.fluent.calls import Measure
from substrait_dsl.fluent.conditionals import when
from substrait_dsl.fluent.expr import ExprBase, SortKey
from substrait_dsl.fluent.leaf_expressions import col


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


def first(x: object, *order_by: ExprBase | SortKey | str) -> Measure[Any, Any]:
    """Return the value of the first row of a group in an order: ``any_value`` of the specification, ordered.

    Args:
        x: the value, which may be NULL.
        order_by: columns by name, expressions or sort keys; NULLs come first, unless a key says otherwise.

    Returns:
        A measure of the type of `x`, nullable. Of rows that are first together it is that of any.

    Raises:
        InvalidArgumentError: without a key.
        FunctionNotFoundError: for what is no column.

    Specification: ``any_value`` in ``functions_aggregate_generic.yaml``, ``AggregateFunction.sorts``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.group_by("customer").agg(oldest=lambda o: e.first(o.price, "id")).schema)
        0  customer  i64
        1  oldest    fp64?
    """
    with error_context(verb="first"):
        _require_keys(order_by)
    return standard_measure("any_value", x).order_by(*order_by)


def last(x: object, *order_by: ExprBase | SortKey | str) -> Measure[Any, Any]:
    """Return the value of the last row of a group in an order: ``any_value`` of the specification, ordered.

    Args:
        x: the value, which may be NULL.
        order_by: columns by name, expressions or sort keys; NULLs come first, unless a key says otherwise.

    Returns:
        A measure of the type of `x`, nullable. Of rows that are last together it is that of any.

    Raises:
        InvalidArgumentError: without a key, and for a key by which values are grouped and have no order.
        FunctionNotFoundError: for what is no column.

    Specification: ``any_value`` in ``functions_aggregate_generic.yaml``, ``AggregateFunction.sorts``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.group_by("customer").agg(newest=lambda o: e.last(o.price, "id")).schema)
        0  customer  i64
        1  newest    fp64?
    """
    with error_context(verb="last"):
        _require_keys(order_by)
        return standard_measure("any_value", x).order_by(*map(_reversed, order_by))


def _require_keys(keys: Sequence[object]) -> None:
    """Raise `InvalidArgumentError` without a key."""
    if not keys:
        raise InvalidArgumentError("there is no first and no last row without an order", hint='name a key: "day"')


_REVERSED: Mapping[str, SortDirection] = {
    "asc_nulls_first": "desc_nulls_last",
    "asc_nulls_last": "desc_nulls_first",
    "desc_nulls_first": "asc_nulls_last",
    "desc_nulls_last": "asc_nulls_first",
}


def _reversed(key: ExprBase | SortKey | str) -> SortKey:
    """Return the sort key of the opposite order."""
    if not isinstance(key, SortKey):
        return SortKey(col(key) if isinstance(key, str) else key, "desc_nulls_last")
    if not isinstance(key.direction, str) or key.direction not in _REVERSED:
        raise InvalidArgumentError("a key of which there is a last value is asc(...) or desc(...)", got=key)
    return SortKey(key.expression, _REVERSED[key.direction])


def count_distinct(x: object, *others: object) -> Measure[Any, Any]:
    """Count the different values, or the different combinations of several: ``count`` of the specification, distinct.

    Args:
        x: an expression.
        others: further ones; a row counts if none of them is NULL.

    Returns:
        A measure, i64, 0 of no values.

    Raises:
        InvalidArgumentError: of several, one is no expression, such as a text that names a column.

    Specification: ``count`` in ``functions_aggregate_generic.yaml``, ``AGGREGATION_INVOCATION_DISTINCT``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.aggregate(n=lambda o: e.count_distinct(o.customer, o.price)).schema)
        0  n  i64
    """
    if not others:
        return standard_measure("count", x).distinct()
    from substrait_dsl.fluent.nested import struct_of

    with error_context(verb="count_distinct"):
        values = [x, *others]
        for value in values:
            hint = f"col({value!r}) is a column" if isinstance(value, str) else None
            require(value, ExprBase, "what is counted is an expression", hint)
        fields: dict[str, Any] = {f"f{number}": value for number, value in enumerate(values)}
        tests = [call_standard("is_not_null", value) for value in values]
        combination = when(call_standard("and", *tests)).then(struct_of(**fields)).otherwise(None)
        return standard_measure("count", combination).distinct()


def mode(x: object) -> Measure[Any, Any]:
    """Return the commonest value of a group; of several that are as common, any.

    Args:
        x: a string, a boolean, a date or a decimal, or what ``functions.mode`` takes; NULLs do not count.

    Returns:
        A measure of the type of `x`, nullable.

    Raises:
        FunctionNotFoundError: for another type.

    Specification: ``mode`` in ``functions_arithmetic.yaml``, of numbers; of others, an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(customers.aggregate(usual=lambda c: e.mode(c.name)).schema)
        0  usual  string?
    """
    return own_measure("mode", x)


def percentile(x: object, share: float) -> Measure[Any, Any]:
    """Return the value below which a share of the values lies: exact, interpolated between the two next to it.

    Args:
        x: a number; NULLs do not count. Integers and floats are taken as fp64, which rounds an i64 beyond 2^53.
        share: a number from 0 to 1: 0.5 is the median. Of decimals, with at most six digits after the point.

    Returns:
        A measure, nullable: of integers and floats fp64; of a decimal one with up to six more digits after the point,
        as many as a decimal has room for, rounded half away from zero.

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
        return own_measure("percentile", x, _share(share))


def approx_percentile(x: object, share: float, *, accuracy: int = 10_000) -> Measure[Any, Any]:
    """Return a value near the one below which a share of the values lies, in less memory than `percentile`.

    Args:
        x: a number, a date, or a timestamp without time zone; NULLs do not count.
        share: a number from 0 to 1: 0.5 is the median.
        accuracy: of n values the place of the result is off by at most n / `accuracy`, rounded up.

    Returns:
        A measure of the type of `x`, nullable: one of the values.

    Raises:
        InvalidArgumentError: `share` is no number from 0 to 1, or `accuracy` no integer from 1 to 2147483647.
        FunctionNotFoundError: for another type.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(orders.group_by("customer").agg(p90=lambda o: e.approx_percentile(o.price, 0.9)).schema)
        0  customer  i64
        1  p90       fp64?
    """
    with error_context(verb="approx_percentile"):
        if type(accuracy) is not int or not 1 <= accuracy < 2**31:
            raise InvalidArgumentError("accuracy is an integer from 1 to 2147483647", got=accuracy)
        return own_measure("approx_percentile", x, _share(share), accuracy)


def _share(share: object) -> float:
    """Return a share as a float. Raises `InvalidArgumentError` for what is none."""
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 1:
        raise InvalidArgumentError("share is a number from 0 to 1", got=share, hint="90 per cent are 0.9")
    return float(share)


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
