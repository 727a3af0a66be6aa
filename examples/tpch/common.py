"""What several of the queries compute."""

from __future__ import annotations

import substrait_dsl as sd
from examples.tpch.schemas import Lineitem


def discounted_price(line: Lineitem | sd.DynRow) -> sd.Expr[sd.Decimal[int, int]]:
    """What the customer pays for a line item, before tax."""
    return line.l_extendedprice * (1 - line.l_discount)
