"""Functions for everyday work, beside those of the specification: ``from substrait_dsl import everyday as e``.

Some are a shorter way to write functions of the specification, and stand in plans as these. The others are declared by
an extension of this library, `URN`: engines of other people do not know them, and `catalog` is for readers of plans.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from substrait_dsl import functions
from substrait_dsl.catalog import Catalog
from substrait_dsl.catalog.everyday import URN, everyday_catalog
from substrait_dsl.errors import InvalidArgumentError, error_context, require_choice
from substrait_dsl.fluent.calls import Measure
from substrait_dsl.fluent.date_texts import to_date
from substrait_dsl.fluent.expr import DynExpr
from substrait_dsl.fluent.namespace import Functions

__all__ = [
    "URN",
    "array_distinct",
    "catalog",
    "collect_list",
    "collect_set",
    "date_diff",
    "date_trunc",
    "greatest",
    "last_day",
    "least",
    "map_keys",
    "map_values",
    "max",
    "max_by",
    "md5",
    "min",
    "min_by",
    "percentile",
    "sha2",
    "sort_array",
    "to_date",
]

Unit = Literal["YEAR", "QUARTER", "MONTH", "WEEK", "DAY"]

_CLOCK: dict[str, tuple[str, str, int]] = {
    "HOUR": ("HOUR", "DAY", 1),
    "MINUTE": ("MINUTE", "HOUR", 1),
    "SECOND": ("SECOND", "MINUTE", 1),
}
_UNITS: dict[str, tuple[str, str, int]] = {
    "YEAR": ("YEAR", "YEAR", 1),
    "QUARTER": ("MONTH", "YEAR", 3),
    "MONTH": ("MONTH", "YEAR", 1),
    "WEEK": ("WEEK", "MONDAY_WEEK", 1),
    "DAY": ("DAY", "MONTH", 1),
    **_CLOCK,
}
"""The unit, the origin and the multiple of ``round_calendar``."""

_SPANS: dict[str, tuple[str, int]] = {
    "YEAR": ("date_diff_months", 12),
    "QUARTER": ("date_diff_months", 3),
    "MONTH": ("date_diff_months", 1),
    "WEEK": ("date_diff_days", 7),
    "DAY": ("date_diff_days", 1),
}


def catalog() -> Catalog:
    """Return the specification's functions and those of this extension, for readers of plans that use it.

    Specification: https://substrait.io/extensions/.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> plan = customers.select(key=lambda c: e.md5(c.name)).to_plan()
        >>> sd.Plan.from_bytes(plan.to_bytes(), catalog=e.catalog(), strict=True) == plan
        True
    """
    return everyday_catalog()


@cache
def _both() -> Functions:
    return Functions(everyday_catalog())


def _own(name: str, *arguments: object) -> DynExpr:
    """Call a scalar function of the extension."""
    call: DynExpr = getattr(Functions(everyday_catalog(), URN), name)(*arguments)
    return call


def _measure(name: str, *arguments: object) -> Measure[Any, Any]:
    """Call an aggregate function of the extension, or, for types that it does not have, of the specification."""
    measure: Measure[Any, Any] = getattr(_both(), name)(*arguments)
    return measure


def _standard(name: str, *arguments: object, **options: str) -> DynExpr:
    """Call a scalar function of the specification."""
    call: DynExpr = getattr(functions, name)(*arguments, **options)
    return call


# --- dates and timestamps


def date_trunc(unit: str, x: object) -> DynExpr:
    """Truncate a date or a timestamp to the start of its year, quarter, month, week, day, hour, minute or second.

    It is ``round_calendar`` of the specification, with ``FLOOR``.

    Args:
        unit: ``"YEAR"``, ``"QUARTER"``, ``"MONTH"``, ``"WEEK"``, which begins on Monday, or ``"DAY"``; of a timestamp
            also ``"HOUR"``, ``"MINUTE"`` or ``"SECOND"``.
        x: a date, or a timestamp without time zone.

    Returns:
        A value of the same type.

    Raises:
        InvalidChoiceError: for another unit, also in lower case.
        FunctionNotFoundError: for a unit that a date does not have, or another type.

    Specification: ``round_calendar`` in ``functions_datetime.yaml``.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> days = sd.read_named("days", {"day": "date"})
        >>> print(days.select(month=lambda r: e.date_trunc("MONTH", r.day)).schema)
        0  month  date
    """
    with error_context(verb="date_trunc"):
        require_choice("unit", unit, tuple(_UNITS))
        of, origin, multiple = _UNITS[unit]
        return _standard("round_calendar", x, "FLOOR", of, origin, multiple)


def date_diff(unit: Unit, start: object, end: object) -> DynExpr:
    """Count the units that are complete between two dates.

    Args:
        unit: ``"YEAR"``, ``"QUARTER"``, ``"MONTH"``, ``"WEEK"`` or ``"DAY"``. A month is complete on the day of the
            same number: from January 31 to February 29 there is none.
        start: a date.
        end: a date; if it is before `start`, the result is below zero.

    Returns:
        An i64, NULL if one of them is.

    Raises:
        InvalidChoiceError: for another unit, also in lower case.
        FunctionNotFoundError: for what is no date.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> stays = sd.read_named("stays", {"arrival": "date", "departure": "date?"})
        >>> print(stays.select(nights=lambda s: e.date_diff("DAY", s.arrival, s.departure)).schema)
        0  nights  i64?
    """
    with error_context(verb="date_diff"):
        require_choice("unit", unit, tuple(_SPANS))
        name, many = _SPANS[unit]
        units = _own(name, start, end)
        return units if many == 1 else _standard("divide", units, many)


def last_day(x: object) -> DynExpr:
    """Return the last day of the month of a date.

    Args:
        x: a date.

    Returns:
        A date.

    Raises:
        FunctionNotFoundError: for what is no date.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(sd.read_named("t", {"day": "date"}).select(until=lambda r: e.last_day(r.day)).schema)
        0  until  date
    """
    return _own("last_day", x)


# --- texts


def md5(x: object) -> DynExpr:
    """Return the MD5 sum of a text in UTF-8, or of bytes, as 32 hexadecimal digits.

    Args:
        x: a string, or binary.

    Returns:
        A string.

    Raises:
        FunctionNotFoundError: for another type.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(customers.select(key=lambda c: e.md5(c.name)).schema)
        0  key  string
    """
    return _own("md5", x)


def sha2(x: object, bits: int = 256) -> DynExpr:
    """Return the SHA-2 sum of a text in UTF-8, or of bytes, as hexadecimal digits.

    Args:
        x: a string, or binary.
        bits: 256 or 512.

    Returns:
        A string.

    Raises:
        InvalidArgumentError: for another number of bits.
        FunctionNotFoundError: for another type.

    Specification: https://substrait.io/extensions/; an extension of this library.

    Example:
        >>> from substrait_dsl import everyday as e
        >>> print(customers.select(key=lambda c: e.sha2(c.name)).schema)
        0  key  string
    """
    with error_context(verb="sha2"):
        if type(bits) is not int or bits not in (256, 512):
            raise InvalidArgumentError("bits is 256 or 512", got=bits)
        return _own(f"sha{bits}", x)


# --- values that pass over NULL


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
    return _standard("least_skip_null", *values)


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
    return _standard("greatest_skip_null", *values)


# --- lists and maps


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
        return _standard("sort", x, direction="DESC_NULLS_LAST" if descending else "ASC_NULLS_LAST")


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
    return _own("array_distinct", x)


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
    return _own("map_keys", x)


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
    return _own("map_values", x)


# --- aggregates


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
    return _measure("collect_list", x)


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
    return _measure("collect_set", x)


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
    return _measure("max_by", x, by)


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
    return _measure("min_by", x, by)


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
        return _measure("percentile", x, float(share))


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
    return _measure("min", x)


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
    return _measure("max", x)
