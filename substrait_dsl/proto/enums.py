"""The words of the algebra and the numbers of the messages' enumerations, in one table for each.

The names are the specification's: ``left_semi`` is ``JOIN_TYPE_LEFT_SEMI``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, get_args

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import ComparisonOp, FailureBehavior, ReductionOp, SetPredicateOp
from substrait_dsl.algebra.expressions.calls import Invocation, Phase
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.rules import JOIN_TYPES, SET_OPS, JoinType, SetOp

W = TypeVar("W", bound=str)


def _numbers(enum: Any, prefix: str, words: Iterable[W]) -> dict[W, Any]:
    return {word: enum.Value(f"{prefix}_{word.upper()}") for word in words}


JOIN_TYPE: dict[JoinType, pb.JoinRel.JoinType.ValueType] = _numbers(pb.JoinRel.JoinType, "JOIN_TYPE", JOIN_TYPES)
"""The types of ``JoinRel``; those of the physical joins have other numbers."""

SET_OP: dict[SetOp, pb.SetRel.SetOp.ValueType] = _numbers(pb.SetRel.SetOp, "SET_OP", SET_OPS)

SORT_DIRECTION: dict[SortDirection, pb.SortField.SortDirection.ValueType] = _numbers(
    pb.SortField.SortDirection, "SORT_DIRECTION", get_args(SortDirection)
)

AGGREGATION_PHASE: dict[Phase, pb.AggregationPhase.ValueType] = _numbers(
    pb.AggregationPhase, "AGGREGATION_PHASE", get_args(Phase)
)

AGGREGATION_INVOCATION: dict[Invocation, pb.AggregateFunction.AggregationInvocation.ValueType] = _numbers(
    pb.AggregateFunction.AggregationInvocation, "AGGREGATION_INVOCATION", get_args(Invocation)
)

FAILURE_BEHAVIOR: dict[FailureBehavior, pb.Expression.Cast.FailureBehavior.ValueType] = {
    "throw": pb.Expression.Cast.FAILURE_BEHAVIOR_THROW_EXCEPTION,
    "return_null": pb.Expression.Cast.FAILURE_BEHAVIOR_RETURN_NULL,
}

PREDICATE_OP: dict[SetPredicateOp, pb.Expression.Subquery.SetPredicate.PredicateOp.ValueType] = _numbers(
    pb.Expression.Subquery.SetPredicate.PredicateOp, "PREDICATE_OP", get_args(SetPredicateOp)
)

REDUCTION_OP: dict[ReductionOp, pb.Expression.Subquery.SetComparison.ReductionOp.ValueType] = _numbers(
    pb.Expression.Subquery.SetComparison.ReductionOp, "REDUCTION_OP", get_args(ReductionOp)
)

COMPARISON_OP: dict[ComparisonOp, pb.Expression.Subquery.SetComparison.ComparisonOp.ValueType] = _numbers(
    pb.Expression.Subquery.SetComparison.ComparisonOp, "COMPARISON_OP", get_args(ComparisonOp)
)
