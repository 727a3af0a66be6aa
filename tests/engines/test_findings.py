"""What a report says of a plan that engines may take for another: the rule, the step and the part of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.engines.rules import CODES, MISREADINGS

f: Any = functions
Relation = sd.Relation[Any]

T: Relation = sd.read_named("t", {"k": "i64?", "a": "i32", "b": "i32", "n": "decimal<10,2>", "s": "string?"})
U: Relation = sd.read_named("u", {"k2": "i64?", "s2": "string?"})
NUMBER = f.row_number().over(order_by=["a"])

PLANS: dict[str, tuple[Callable[[], Relation], str, str]] = {
    "window-twice": (
        lambda: T.project(q=NUMBER).filter(lambda r: r.q > 1).project(p=NUMBER),
        "project",
        "",
    ),
    "union-order": (
        lambda: T.select("k").union_all(U.select("k2")).project(q=lambda r: f.row_number().over(order_by=[r.k + 1])),
        "project",
        "",
    ),
    "sort-expression": (lambda: T.sort(lambda r: r.a + 1), "sort by a + 1 asc nulls first", ""),
    "one-row": (lambda: T.aggregate(n=f.count()), "aggregate", ""),
    "union-names": (
        lambda: T.select("s").union_all(U.select("s2").filter(lambda r: r.s2 != "b")),
        "set union_all",
        "",
    ),
    "cast-digits": (
        lambda: T.filter(lambda r: r.n.cast("i64") == 2),
        "filter cast(n as i64) = 2",
        "cast(n as i64)",
    ),
    "one-sided-key": (
        lambda: T.join(U, lambda x, y: (x.k == y.k2) & (x.a == x.b), "left"),
        "join left on k = k2 and a = b",
        "",
    ),
    "null-keys": (
        lambda: T.join(U, lambda x, y: f.is_not_distinct_from(x.k, y.k2) & (x.s == y.s2)),
        "join inner on k is not distinct from k2 and s = s2",
        "",
    ),
    "outer-constants": (
        lambda: T.join(U.filter(lambda r: r.s2 == "b"), lambda x, y: x.k == y.k2, "left").sort("s2"),
        "sort by s2",
        "",
    ),
    "joined-groups": (
        lambda: T.select("k").distinct().cross(U).group_by("k", "k2").agg(n=f.count()).group_by("k").agg(m=f.count()),
        "aggregate by k",
        "",
    ),
    "window-type": (lambda: T.project(r=f.row_number().over(order_by="k")), "project", ""),
    "lost-order": (lambda: T.sort("a").project(c=lambda r: r.b + 1), "project", ""),
    "self-comparison": (lambda: T.filter(lambda r: r.k == r.k), "filter k = k", "k = k"),
    "list-of-columns": (
        lambda: T.filter(lambda r: r.a.is_in([1, r.b])),
        "filter a in (1, b)",
        "a in (1, b)",
    ),
}


@pytest.mark.parametrize("code", PLANS)
def test_what_may_be_misread_is_said_with_its_step(code: str) -> None:
    made, step, expression = PLANS[code]
    plan = made().to_plan()
    report = plan.check("datafusion")
    found = {finding.code: finding for finding in report.findings}
    assert report.verdict == "runs lowered"
    assert code in found
    assert found[code].step.startswith(step)
    assert found[code].expression == expression
    assert found[code].cure
    assert not found[code].is_refused


ON_DUCKDB = {"semi-join"}
"""What DataFusion does not misread: `test_semi_joins.py`."""


def test_each_misreading_is_tested_and_in_the_profiles_words() -> None:
    assert set(MISREADINGS) <= {*PLANS, *ON_DUCKDB}
    assert set(PLANS) <= set(CODES)


def test_nothing_is_said_of_a_plan_that_runs_as_it_is() -> None:
    report = T.filter(lambda r: r.a > 1).select("k", "a").to_plan().check("datafusion")
    assert (report.verdict, report.findings) == ("runs", ())
