"""The values of interval literals: years and months, days and seconds, and both.

Specification: ``Expression.Literal`` in ``algebra.proto``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.validators import one
from substrait_dsl.errors import LiteralError

MAX_YEARS = 10_000
"""An interval spans at most this many years, or days of as many years, forwards or backwards."""


def _require_at_most(most: int) -> Callable[[Any, attrs.Attribute[int], Any], None]:
    def check(instance: Any, attribute: attrs.Attribute[int], value: Any) -> None:
        if type(value) is not int or abs(value) > most:
            raise LiteralError(
                f"the {attribute.name} of {type(instance).__name__} must be an integer of at most {most} "
                f"either way, got {value!r}",
                names=[value],
            )

    return check


@attrs.frozen(eq=False, repr=False)
class YearMonths(FrozenValue):
    """The value of an ``interval_year`` literal.

    Args:
        years: so many years, from -10,000 to 10,000.
        months: so many months; with the years from -120,000 to 120,000 months.

    Specification: ``Literal.IntervalYearToMonth``.

    Example:
        >>> -sd.YearMonths(1, 6)
        YearMonths(years=-1, months=-6)
    """

    years: int = attrs.field(default=0, validator=_require_at_most(MAX_YEARS))
    months: int = attrs.field(default=0, validator=_require_at_most(MAX_YEARS * 12))

    def __attrs_post_init__(self) -> None:
        """Check the whole: the specification has interval_year from -120,000 to 120,000 months."""
        months = self.years * 12 + self.months
        if abs(months) > MAX_YEARS * 12:
            raise LiteralError(f"a YearMonths spans at most {MAX_YEARS * 12} months either way, got {months}")

    def __neg__(self) -> YearMonths:
        return YearMonths(-self.years, -self.months)


@attrs.frozen(eq=False, repr=False)
class DaySeconds(FrozenValue):
    """The value of an ``interval_day<P>`` literal; `subseconds` count units of 10**-P seconds.

    Args:
        days: so many days.
        seconds: so many seconds.
        subseconds: so many units of 10**-P seconds.

    Specification: ``Literal.IntervalDayToSecond``.

    Example:
        >>> sd.lit(sd.DaySeconds(1, 0, 500), "interval_day<3>")
        Expr(interval 'P1DT0.500S': interval_day<3>)
    """

    days: int = attrs.field(default=0, validator=_require_at_most(MAX_YEARS * 365))
    seconds: int = attrs.field(default=0, validator=_require_at_most(2**31 - 1))
    subseconds: int = attrs.field(default=0, validator=_require_at_most(2**63 - 1))

    def __neg__(self) -> DaySeconds:
        return DaySeconds(-self.days, -self.seconds, -self.subseconds)


@attrs.frozen(eq=False, repr=False)
class Compound(FrozenValue):
    """The value of an ``interval_compound<P>`` literal.

    Args:
        year_months: the years and months.
        day_seconds: the days and seconds.

    Specification: ``Literal.IntervalCompound``.

    Example:
        >>> sd.lit(sd.Compound(sd.YearMonths(1), sd.DaySeconds(2)), "interval_compound<0>")
        Expr(interval 'P1Y0M2DT0S': interval_compound<0>)
    """

    year_months: YearMonths = attrs.field(validator=one("a YearMonths", YearMonths))
    day_seconds: DaySeconds = attrs.field(validator=one("a DaySeconds", DaySeconds))

    def __neg__(self) -> Compound:
        return Compound(-self.year_months, -self.day_seconds)
