"""The words of the algebra and the numbers of the messages' enumerations, in one table for each.

Those that few plans have are in the modules that use them, such as `writes`.

The names are the specification's: ``left_semi`` is ``JOIN_TYPE_LEFT_SEMI``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, get_args

from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import ExecutionBehavior

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.common import COMPUTATION_TYPES, ComputationType
from substrait_dsl.algebra.expressions.calls import Invocation
from substrait_dsl.algebra.function_ids import Phase
from substrait_dsl.algebra.plan import EVALUATION_MODES, EvaluationMode
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.rules import (
    JOIN_TYPES,
    LATERAL_JOIN_TYPES,
    SET_OPS,
    JoinType,
    LateralJoinType,
    SetOp,
)
from substrait_dsl.errors import PlanFormatError, quote

W = TypeVar("W", bound=str)


def numbers(enum: Any, prefix: str, words: Iterable[W]) -> dict[W, Any]:
    """Return the number of each word in an enumeration, whose names begin with the prefix."""
    return {word: enum.Value(f"{prefix}_{word.upper()}") for word in words}


JOIN_TYPE: dict[JoinType, pb.JoinRel.JoinType.ValueType] = numbers(pb.JoinRel.JoinType, "JOIN_TYPE", JOIN_TYPES)
"""The types of ``JoinRel``; those of the physical joins have other numbers."""

EVALUATION_MODE: dict[EvaluationMode, ExecutionBehavior.VariableEvaluationMode.ValueType] = numbers(
    ExecutionBehavior.VariableEvaluationMode, "VARIABLE_EVALUATION_MODE", EVALUATION_MODES
)

SET_OP: dict[SetOp, pb.SetRel.SetOp.ValueType] = numbers(pb.SetRel.SetOp, "SET_OP", SET_OPS)

SORT_DIRECTION: dict[SortDirection, pb.SortField.SortDirection.ValueType] = numbers(
    pb.SortField.SortDirection, "SORT_DIRECTION", get_args(SortDirection)
)

AGGREGATION_PHASE: dict[Phase, pb.AggregationPhase.ValueType] = numbers(
    pb.AggregationPhase, "AGGREGATION_PHASE", get_args(Phase)
)

AGGREGATION_INVOCATION: dict[Invocation, pb.AggregateFunction.AggregationInvocation.ValueType] = numbers(
    pb.AggregateFunction.AggregationInvocation, "AGGREGATION_INVOCATION", get_args(Invocation)
)

FAILURE_BEHAVIOR: dict[ex.FailureBehavior, pb.Expression.Cast.FailureBehavior.ValueType] = {
    "throw": pb.Expression.Cast.FAILURE_BEHAVIOR_THROW_EXCEPTION,
    "return_null": pb.Expression.Cast.FAILURE_BEHAVIOR_RETURN_NULL,
}

LATERAL_JOIN_TYPE: dict[LateralJoinType, pb.JoinRel.JoinType.ValueType] = numbers(
    pb.JoinRel.JoinType, "JOIN_TYPE", LATERAL_JOIN_TYPES
)

FETCH_MODE: dict[rl.FetchMode, pb.FetchMode.ValueType] = {
    "rows_only": pb.FETCH_MODE_ROWS_ONLY,
    "with_ties": pb.FETCH_MODE_WITH_TIES,
}

COMPUTATION_TYPE: dict[ComputationType, pb.RelCommon.Hint.ComputationType.ValueType] = numbers(
    pb.RelCommon.Hint.ComputationType, "COMPUTATION_TYPE", COMPUTATION_TYPES
)


def name_for(words: Mapping[W, int], number: int, enum: Any, field: str) -> W:
    """Return the name of a number of an enumeration.

    Args:
        words: the table of the enumeration.
        number: what the field says.
        enum: the enumeration.
        field: the name of the field, for messages.

    Raises:
        PlanFormatError: if the number is none of the table's: unspecified, or of no version that is known.
    """
    for word, known in words.items():
        if known == number:
            return word
    written = enum.Name(number) if number in enum.values() else number
    raise PlanFormatError(f"{field} is {written}; expected one of {quote(words, limit=20)}")
