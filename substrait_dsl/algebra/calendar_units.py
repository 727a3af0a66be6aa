"""The units of the calendar and the clock to whose start ``round_calendar`` takes a date or a timestamp."""

from __future__ import annotations

from collections.abc import Mapping

CLOCK_UNITS = ("HOUR", "MINUTE", "SECOND")
"""Those of a timestamp alone."""

ROUNDINGS: Mapping[str, tuple[str, str, int]] = {
    "YEAR": ("YEAR", "YEAR", 1),
    "QUARTER": ("MONTH", "YEAR", 3),
    "MONTH": ("MONTH", "YEAR", 1),
    "WEEK": ("WEEK", "MONDAY_WEEK", 1),
    "DAY": ("DAY", "MONTH", 1),
    "HOUR": ("HOUR", "DAY", 1),
    "MINUTE": ("MINUTE", "HOUR", 1),
    "SECOND": ("SECOND", "MINUTE", 1),
}
"""The unit, the origin and the multiple of ``round_calendar``, by what SQL calls the unit in ``date_trunc``."""

UNITS: Mapping[tuple[str, str, object], str] = {rounding: unit for unit, rounding in ROUNDINGS.items()}
"""What SQL calls the unit, by the unit, the origin and the multiple of ``round_calendar``."""
