"""Dates and timestamps: truncation and differences."""

from __future__ import annotations

from typing import Literal

from substrait_dsl.algebra.calendar_units import ROUNDINGS
from substrait_dsl.errors import error_context, require_choice
from substrait_dsl.everyday.calling import call_own, call_standard
from substrait_dsl.fluent.expr import DynExpr

Unit = Literal["YEAR", "QUARTER", "MONTH", "WEEK", "DAY"]

_SPANS: dict[str, tuple[str, int]] = {
    "YEAR": ("date_diff_months", 12),
    "QUARTER": ("date_diff_months", 3),
    "MONTH": ("date_diff_months", 1),
    "WEEK": ("date_diff_days", 7),
    "DAY": ("date_diff_days", 1),
}


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
        require_choice("unit", unit, tuple(ROUNDINGS))
        of, origin, multiple = ROUNDINGS[unit]
        return call_standard("round_calendar", x, "FLOOR", of, origin, multiple)


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
        units = call_own(name, start, end)
        return units if many == 1 else call_standard("divide", units, many)


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
    return call_own("last_day", x)
