"""Expressions that stand apart (``detached_expressions``), read from messages."""

from __future__ import annotations

import pytest
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import T, add, col, count_rows, equal, gt, i64, outer
from tests.proto.reading import changed, condition, rel_comes_back, root
from tests.proto.small_expressions import I64, PLUS, U, a, b, exists, matching
from tests.proto.test_depth import filters
from tests.support import refused


@pytest.mark.parametrize("terms", [10, 40, 2000])
def test_a_sum_of_any_length_comes_back(terms: int) -> None:
    sum_: ex.Expression = a
    for number in range(terms):
        sum_ = add(sum_, i64(number))
    rel_comes_back(r.Filter(T, gt(sum_, i64(0))))


def test_detached_expressions_with_subqueries_come_back() -> None:
    sum_: ex.Expression = outer(1, 0, I64)
    for _ in range(40):
        sum_ = add(sum_, i64(1))
    inside = r.Filter(U, equal(col(U, 0), sum_))
    wide: ex.Expression = add(a, ex.ScalarSubquery(r.Aggregate(inside, (), (), (ex.Measure(count_rows()),), ("n",))))
    for _ in range(60):
        wide = add(wide, i64(1))
    rel_comes_back(r.Project(T, (wide,), ("x",), anchor=1))
    rel_comes_back(r.Filter(T, exists(inside), anchor=1), "steps_out")


SUMS = r.Project(T, (add(a, b), add(a, b)), ("x", "y"))


def apart(*entries: pb.Expression) -> Plan:
    """`SUMS` with both sums read from the first of some detached expressions."""
    plan = changed(SUMS, lambda m: None)
    plan.relations[0].detached_expressions.extend(entries)
    for expression in plan.relations[0].root.input.project.expressions:
        expression.detached_expression_ordinal = 0
    return plan


SUM = changed(SUMS, lambda m: None).relations[0].root.input.project.expressions[0]


def test_a_detached_expression_that_is_referred_to_twice_is_read_in_both_places() -> None:
    got, findings = root(apart(SUM))
    assert isinstance(got, r.Project)
    assert got == SUMS
    assert got.expressions[0] is got.expressions[1]
    twice = "detached expression 0 is referred to more than once; read in each place"
    assert findings == [(twice, "project.expressions[1]")]


def test_detached_expressions_that_nothing_refers_to_or_that_only_refer_to_another_are_found() -> None:
    plan = apart(pb.Expression(detached_expression_ordinal=2), SUM, SUM)
    plan.relations[0].root.input.project.expressions[1].CopyFrom(SUM)
    got, findings = root(plan)
    assert got == SUMS
    assert findings == [
        ("detached expression 0 is only a reference to another; read as that", "relations[0].detached_expressions[0]"),
        ("nothing refers to detached expression 1; dropped", "relations[0].detached_expressions[1]"),
    ]
    with pytest.raises(PlanFormatError, match="only a reference"):
        decode_plan(plan, strict=True)


def test_a_large_detached_expression_that_means_another_in_many_lambdas_is_refused() -> None:
    """A thousand lambdas around an entry of a thousand literals would be a million literals."""
    lambdas = 1000
    plan = changed(r.Project(T, tuple(SUMS.expressions[0] for _ in range(lambdas)), ("x",) * lambdas), lambda m: None)
    entry = plan.relations[0].detached_expressions.add().singular_or_list
    entry.value.literal.i64 = 0
    for number in range(1000):
        entry.options.add().literal.i64 = number
    for expression in plan.relations[0].root.input.project.expressions:
        getattr(expression.lambda_invocation, "lambda").body.detached_expression_ordinal = 0
        getattr(expression.lambda_invocation, "lambda").parameters.nullability = Type.NULLABILITY_REQUIRED
    with refused(UnsupportedError, "read again and again"):
        decode_plan(plan)


@pytest.mark.parametrize(
    ("ordinals", "said"),
    [
        ([1], "there is no detached expression 1: the tree has 1"),
        ([0, 0], "refers to itself"),
        ([0, 1, 0], "refers to itself"),
    ],
    ids=["dangling", "of itself", "circle"],
)
def test_detached_expressions_that_lead_nowhere_are_refused(ordinals: list[int], said: str) -> None:
    plan = changed(PLUS, lambda m: None)
    first, *others = ordinals
    condition(plan.relations[0].root.input).detached_expression_ordinal = first
    for other in others or (None,):
        entry = plan.relations[0].detached_expressions.add()
        if other is not None:
            negated = entry.singular_or_list
            negated.value.detached_expression_ordinal = other
    with pytest.raises(PlanFormatError, match=said):
        decode_plan(plan)


def test_deep_subqueries_come_back() -> None:
    rel: r.Rel = filters(50, matching(1))
    for _ in range(60):
        rel = r.Filter(U, exists(rel))
    rel_comes_back(r.Filter(T, exists(rel), anchor=1))
