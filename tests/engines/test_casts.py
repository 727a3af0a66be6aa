"""Casts on DataFusion: values become what arithmetic says they are, and what DataFusion casts otherwise is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import attrs
import pyarrow as pa
import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.null_filters import checks_that_hold
from substrait_dsl.errors import UnsupportedError
from tests.engines.runners import run_on_datafusion
from tests.support import refused

T: Any = sd.read_virtual([(1, None), (2, 5)], {"k": "i64", "n": "i32?"})

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

    assert T.fill_null(n=-1).sort("k").collect(SessionContext()) == [(1, -1), (2, 5)]
    with refused(UnsupportedError, "which fails for NULL"):
        T.with_columns(n=lambda r: r.n.assert_not_null()).to_plan().to_bytes(engine="datafusion")


CHECKED: dict[str, tuple[Any, list[Any]]] = {
    # where no NULL can be, a check cannot fail
    "a filter": (T.filter(lambda r: r.n.is_not_null()), [5]),
    "a filter by not": (T.filter(lambda r: ~r.n.is_null() & (r.k > 0)), [5]),
    "a comparison": (T.filter(lambda r: r.n < 9), [5]),
    "a comparison with a column": (T.filter(lambda r: r.k < r.n), [5]),
    "a list": (T.filter(lambda r: r.n.is_in([5, 7])), [5]),
    "a filter, a sort and a fetch": (T.filter(lambda r: r.n > 0).select("n", "k").sort("k").fetch(5), [5]),
    "a copy of a column": (T.filter(lambda r: r.n > 0).select(n="n", k="k"), [5]),
    "a group": (T.filter(lambda r: r.n > 0).group_by("n").agg(k=f.count()), [5]),
    "a join": (T.join(T.filter(lambda r: r.n > 0).select(j="k", m="n"), lambda l, r: l.k == r.j).select(n="m"), [5]),
    "a value for NULL": (T.fill_null(n=-1).select(n=lambda r: f.coalesce(r.n, 0)), [-1, 5]),
}


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("name", CHECKED)
def test_a_check_of_a_column_without_null_runs(name: str) -> None:
    from datafusion import SessionContext

    relation, expected = CHECKED[name]
    checked = relation.select(n=lambda r: r.n.assert_not_null())
    assert str(checked.schema.struct) == "n: i32"
    assert sorted(row.n for row in checked.collect(SessionContext())) == expected
    assert sorted(row.n for row in checked.collect()) == expected


UNCHECKED: dict[str, Any] = {
    "another column": T.filter(lambda r: r.k.is_not_null()),
    "a choice": T.filter(lambda r: r.n.is_not_null() | (r.k > 0)),
    "a test of equal NULLs": T.filter(lambda r: f.is_not_distinct_from(r.n, sd.null("i32"))),
    "a filter by NULL": T.filter(lambda r: r.n.is_null()),
    "a column computed after it": T.filter(lambda r: r.n > 0).with_columns(n=lambda r: f.nullif(r.n, 5)),
    "a side of a join that may lack": T.join(
        T.filter(lambda r: r.n > 0).select(j="k", m="n"), lambda l, r: l.k == r.j, "left"
    ).select(n="m"),
    "the last row of no rows": T.filter(lambda r: r.n > 5).aggregate(n=lambda r: f.max(r.n)),
    "a cast that gives NULL": T.filter(lambda r: r.n > 0).with_columns(
        n=lambda r: r.n.cast("i8", on_failure="return_null").cast("i32?")
    ),
}


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("name", UNCHECKED)
def test_a_check_that_may_fail_is_refused(name: str) -> None:
    checked = UNCHECKED[name].select(n=lambda r: r.n.assert_not_null())
    with refused(UnsupportedError, "which fails for NULL"):
        checked.to_plan().to_bytes(engine="datafusion")


def test_a_check_in_two_places_is_refused_for_one() -> None:
    """The same part of an expression stands behind a filter, and where NULLs are."""
    check = T.select(n=lambda r: r.n.assert_not_null())._rel
    assert isinstance(check, rl.Emit)
    project = check.input
    assert isinstance(project, rl.Project)
    filtered = attrs.evolve(project, input=T.filter(lambda r: r.n > 0)._rel)
    assert filtered.expressions[0] is project.expressions[0]
    both = rl.Set((filtered, project), "union_all")
    assert checks_that_hold(both) == {}
    assert list(checks_that_hold(filtered).values()) == [project.expressions[0]]


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
