"""Subqueries inside lambdas: they see the row around the lambda, and none of its parameters."""

from __future__ import annotations

import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import parameter
from substrait_dsl.algebra.extended import ExpressionReference, ExtendedExpression
from substrait_dsl.algebra.plan import AlgebraPlan, Subtree
from substrait_dsl.errors import (
    PlanFormatError,
    SchemaError,
    UnsupportedError,
)
from substrait_dsl.proto.plan import decode_plan, encode_plan
from tests.proto.plans import T, add, call, col, equal, gt, i64, outer, plan_of
from tests.proto.reading import changed, refused_at, rel_comes_back
from tests.proto.test_lambdas import BODY, I64, U, X, a, body, called, projected
from tests.support import refused


def test_a_subquery_in_a_body_sees_the_row_around_the_lambda() -> None:
    inside = r.Filter(U, equal(col(U, 0), outer(1, 0, I64)))
    rel = projected(called(call("f:any", X, ex.SetPredicate("exists", inside), urn="extension:a:b")), T, 1)
    rel_comes_back(rel)
    rel_comes_back(rel, "steps_out")


ALONE = r.Filter(U, equal(col(U, 0), X))
"""A relation that refers to the parameter of a lambda around it."""


def test_a_parameter_outside_of_its_lambda_is_refused() -> None:
    said = "refers to the parameter of a lambda, but it does not stand inside that lambda"
    outside = projected(add(a, X))
    for plan in (lambda: plan_of(outside), lambda: encode_plan(AlgebraPlan((Subtree(outside),)))):
        with refused(SchemaError, "the relation", said):
            plan()
    with refused(SchemaError, "the expression", said):
        ExtendedExpression(T.schema, (ExpressionReference(add(a, X), ("x",)),))


SUBQUERIES: dict[str, ex.Expression] = {
    "of the innermost lambda": ex.SetPredicate("exists", ALONE),
    "of a lambda further out": called(ex.SetPredicate("exists", r.Filter(U, equal(col(U, 0), parameter(1, 0, I64))))),
    "in a lambda in the subquery": ex.SetPredicate(
        "exists", r.Filter(U, equal(col(U, 0), called(parameter(1, 0, I64))))
    ),
    "in a subquery in the subquery": ex.SetPredicate("exists", r.Filter(U, ex.SetPredicate("exists", ALONE))),
    "in a row": ex.ScalarSubquery(
        r.Project(
            r.Emit(U, ()),
            (ex.MaskedReference(ex.Row(t.Struct((I64,)), ex.LambdaParameter()), ex.StructMask((ex.MaskItem(0),))),),
            ("x",),
        )
    ),
}


@pytest.mark.parametrize("body", SUBQUERIES.values(), ids=SUBQUERIES)
def test_a_parameter_in_a_subquery_inside_its_lambda_is_refused_by_name(body: ex.Expression) -> None:
    with refused(UnsupportedError, "the parameter of a lambda is used in a subquery inside the lambda"):
        called(body)


def test_a_lambda_inside_a_subquery_inside_a_lambda_has_its_own_parameters() -> None:
    inside = r.Filter(U, gt(called(X, col(U, 0)), i64(0)))
    rel_comes_back(projected(called(ex.SetPredicate("exists", inside))))


def test_a_parameter_seen_from_a_subquery_is_refused() -> None:
    plan = changed(projected(called(ex.SetPredicate("exists", r.Filter(U, gt(col(U, 0), i64(0)))))), lambda m: None)
    compared = body(plan.relations[0].root.input).subquery.set_predicate.tuples.filter.condition.scalar_function
    compared.arguments[0].value.selection.lambda_parameter_reference.steps_out = 0
    with refused_at(
        f"{BODY}.subquery.set_predicate.tuples.filter.condition.scalar_function.arguments[0].value",
        UnsupportedError,
        "the parameter of a lambda is used in a subquery inside the lambda",
    ):
        decode_plan(plan)
    compared.arguments[0].value.selection.lambda_parameter_reference.steps_out = 1  # further out than there are lambdas
    with pytest.raises(PlanFormatError, match="1 lambdas out"):
        decode_plan(plan)
