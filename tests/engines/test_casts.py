"""Casts on DataFusion: values become what arithmetic says they are, and what DataFusion casts otherwise is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.engines.runners import run_on_datafusion
from tests.support import refused

CASTS: dict[tuple[str, str], dict[Any, Any]] = {
    ("i64?", "i8?"): {127: 127, 128: None, -128: -128, -129: None, 2**40: None, None: None},
    ("i64?", "boolean?"): {0: False, -1: True, None: None},
    ("i64?", "decimal<5,2>?"): {999: Decimal("999.00"), 1000: None, -1: Decimal("-1.00"), None: None},
    ("i64?", "string?"): {-7: "-7", 2**40: "1099511627776", None: None},
    ("boolean?", "i32?"): {True: 1, False: 0, None: None},
    ("fp64?", "i32?"): {2.9: 2, -2.9: -2, 3e9: None, float("inf"): None, float("nan"): None, None: None},
    ("decimal<10,2>?", "i64?"): {Decimal("2.99"): 2, Decimal("-2.99"): -2, None: None},
    ("decimal<10,2>?", "decimal<4,1>?"): {Decimal("-2.55"): Decimal("-2.6"), Decimal("999.95"): None, None: None},
    ("decimal<10,2>?", "string?"): {Decimal("1.50"): "1.50", Decimal("-0.05"): "-0.05", None: None},
    ("date?", "precision_timestamp<6>?"): {dt.date(1, 1, 1): dt.datetime(1, 1, 1), None: None},
    ("precision_timestamp<6>?", "date?"): {dt.datetime(1969, 12, 31, 23, 59, 59, 999999): dt.date(1969, 12, 31)},
}
"""Some values of each type, and what they are cast to; NULL where the cast fails, as is asked for."""


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("types", CASTS)
def test_values_are_cast_as_they_are_elsewhere(types: tuple[str, str]) -> None:
    from datafusion import SessionContext

    source, target = types
    table: Any = sd.read_named("t", {"v": source})
    context = SessionContext()
    context.from_arrow(pa.table({"v": list(CASTS[types])}, schema=table.schema.to_arrow()), name="t")
    query = table.select(c=lambda r: r.v.cast(target, on_failure="return_null"))
    found = run_on_datafusion(context, query.to_plan().to_bytes(engine="datafusion"))
    assert [value for (value,) in found] == list(CASTS[types].values())


@pytest.mark.usefixtures("datafusion")
def test_a_value_for_null_is_required() -> None:
    """`coalesce` is nullable to the specification; the cast after it says what is known, and cannot fail."""
    from datafusion import SessionContext

    table = sd.read_virtual([(1, None), (2, 5)], {"k": "i64", "n": "i32?"})
    assert table.fill_null(n=-1).sort("k").collect(SessionContext()) == [(1, -1), (2, 5)]
    with refused(UnsupportedError, "which fails for NULL"):
        table.with_columns(n=lambda r: r.n.assert_not_null()).to_plan().to_bytes(engine="datafusion")


REFUSED = [
    ("fp64?", "string?"),  # 1e20 for 1.0E20
    ("fp64?", "decimal<10,2>?"),  # 1.12 for 1.115, of which it has less
    ("decimal<20,2>?", "fp64?"),  # rounded twice
    ("string?", "i64?"),  # which blanks and digits there are
    ("string?", "date?"),  # it takes 2020-01-01 00:00:00
    ("string?", "fixedchar<3>?"),  # it does not fill it up
    ("string?", "varchar<3>?"),  # it does not cut it
    ("precision_timestamp<6>?", "string?"),  # with a T in it
    ("precision_timestamp<6>?", "precision_timestamp<3>?"),  # it cuts towards 1970
    ("i64?", "date?"),
]


@pytest.mark.parametrize(("source", "target"), REFUSED)
def test_other_casts_are_refused_by_step(source: str, target: str) -> None:
    table: Any = sd.read_named("t", {"v": source})
    query = table.select(c=lambda r: r.v.cast(target))
    with pytest.raises(UnsupportedError, match="cannot be lowered to DataFusion 55") as caught:
        query.to_plan().lower("datafusion")
    assert caught.value.step is not None
    assert caught.value.step.startswith("project")


def test_a_cast_that_fails_for_null_is_refused() -> None:
    table: Any = sd.read_named("t", {"v": "i64?"})
    query = table.select(c=lambda r: r.v.assert_not_null())
    with pytest.raises(UnsupportedError, match="which fails for NULL, cannot be lowered"):
        query.to_plan().lower("datafusion")
