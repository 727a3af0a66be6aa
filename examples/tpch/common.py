"""What several of the queries compute."""

from __future__ import annotations

from datetime import date
from typing import Any

import substrait_dsl as sd
from examples.tpch.schemas import Lineitem


def discounted_price(line: Lineitem | sd.DynRow) -> sd.Expr[sd.Decimal[Any, Any]]:
    """What the customer pays for a line item, before tax."""
    return line.l_extendedprice * (1 - line.l_discount)


def within(day: sd.Expr[sd.Date], start: date, end: date) -> sd.Expr[sd.Boolean]:
    """Whether a day is in the period from `start` to the day before `end`."""
    return (day >= start) & (day < end)
