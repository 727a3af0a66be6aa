"""Subqueries in each other: as deep as they are written, they are read back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extended import ExpressionReference, ExtendedExpression
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.extended import encode_extended_expression
from substrait_dsl.proto.plan import encode_plan, from_bytes, to_bytes
from tests.proto.plans import BOOLEAN, T, add, call, col, count_rows, gt, i64, plan_of
from tests.proto.reading import rel_comes_back
from tests.proto.small_expressions import U, exists, matching
from tests.proto.test_depth import filters
from tests.support import refused

R = TypeVar("R")

Step = Callable[[r.Rel], r.Rel]
"""One more subquery around a relation."""

TRUE, FALSE = literal(True, t.Boolean()), literal(False, t.Boolean())


def alone(rel: r.Rel) -> r.Rel:
    return r.Filter(U, exists(rel))


def in_a_pipeline(rel: r.Rel) -> r.Rel:
    return filters(20, alone(rel))


def in_conjunctions(rel: r.Rel) -> r.Rel:
    condition = exists(rel)
    for _ in range(6):
        condition = call("and:bool", condition, gt(col(U, 0), i64(1)), urn=BOOLEAN)
    return r.Filter(U, condition)


def in_ifs(rel: r.Rel) -> r.Rel:
    condition = exists(rel)
    for _ in range(4):
        condition = ex.IfThen((ex.IfClause(condition, TRUE),), FALSE)
    return r.Filter(U, condition)


def in_sets(rel: r.Rel) -> r.Rel:
    set_ = alone(rel)
    for _ in range(3):
        set_ = r.Set((U, set_), "union_all")
    return set_


def in_sums(rel: r.Rel) -> r.Rel:
    number = ex.ScalarSubquery(r.Aggregate(rel, (), (), (ex.Measure(count_rows()),), ("n",)))
    return r.Filter(U, gt(add(number, i64(1)), i64(1)))


def among_rows(rel: r.Rel) -> r.Rel:
    return r.Filter(U, ex.InPredicate((col(U, 0),), rel))


def nested(step: Step, times: int) -> r.Rel:
    """Subqueries in each other, the innermost of which sees the outermost row."""
    rel = matching(1)
    for _ in range(times):
        rel = step(rel)
    return r.Filter(T, exists(rel), anchor=1)


def called_from_afar(function: Callable[[], R], calls: int) -> R:
    return called_from_afar(function, calls - 1) if calls else function()


STEPS: list[Step] = [alone, in_a_pipeline, in_conjunctions, in_ifs, in_sets, in_sums, among_rows]


@pytest.mark.parametrize("step", STEPS)
def test_what_is_written_is_read(step: Step) -> None:
    """Also where it is read a hundred calls deep, of the thousand that Python allows."""
    written: list[tuple[AlgebraPlan, bytes]] = []
    with refused(UnsupportedError, "subqueries nest too deeply"):
        for times in range(10, 150):
            plan = plan_of(nested(step, times))
            written.append((plan, to_bytes(encode_plan(plan))))
    plan, data = written[-1]
    assert canonical_plan(called_from_afar(lambda: from_bytes(data)[0], 100)) == canonical_plan(plan)


def test_a_thousand_subqueries_in_each_other_are_not_written() -> None:
    with refused(UnsupportedError, "subqueries nest too deeply"):
        encode_plan(plan_of(nested(alone, 1000)))


def test_what_is_read_one_after_the_other_does_not_nest() -> None:
    """Long pipelines inside a subquery, joins to the right, and sums are of any length."""
    rel = filters(500, matching(1))
    for _ in range(200):
        rel = r.Emit(r.Cross(U, rel), (1,))
    rel_comes_back(r.Filter(T, exists(rel), anchor=1))
    sum_: ex.Expression = col(U, 0)
    for number in range(1000):
        sum_ = add(sum_, i64(number))
    rel_comes_back(r.Filter(T, exists(r.Filter(matching(1), gt(sum_, i64(0)))), anchor=1))


def test_extended_expressions_are_no_deeper() -> None:
    schema = NamedStruct.of({"a": t.I64()})
    rel: r.Rel = U
    for _ in range(20):
        rel = in_conjunctions(rel)
    extended = ExtendedExpression(schema, (ExpressionReference(exists(rel), ("x",)),))
    with refused(UnsupportedError, "subqueries nest too deeply"):
        encode_extended_expression(extended)
