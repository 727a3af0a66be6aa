"""Subqueries as messages of ``algebra.proto``.

Specification: https://substrait.io/expressions/subqueries/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import (
    ComparisonOp,
    Expression,
    InPredicate,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SetPredicateOp,
)
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import name_for, numbers

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

PREDICATE_OP: dict[SetPredicateOp, pb.Expression.Subquery.SetPredicate.PredicateOp.ValueType] = numbers(
    pb.Expression.Subquery.SetPredicate.PredicateOp, "PREDICATE_OP", get_args(SetPredicateOp)
)

REDUCTION_OP: dict[ReductionOp, pb.Expression.Subquery.SetComparison.ReductionOp.ValueType] = numbers(
    pb.Expression.Subquery.SetComparison.ReductionOp, "REDUCTION_OP", get_args(ReductionOp)
)

COMPARISON_OP: dict[ComparisonOp, pb.Expression.Subquery.SetComparison.ComparisonOp.ValueType] = numbers(
    pb.Expression.Subquery.SetComparison.ComparisonOp, "COMPARISON_OP", get_args(ComparisonOp)
)


def encode_scalar_subquery(encoder: Encoder, subquery: ScalarSubquery, message: pb.Expression.Subquery.Scalar) -> None:
    """Write a scalar subquery."""
    encoder.subquery(subquery.input, message.input)


def decode_scalar_subquery(decoder: Decoder, message: pb.Expression.Subquery.Scalar, scope: Scope) -> ScalarSubquery:
    """Read a scalar subquery."""
    return ScalarSubquery(decoder.relation(message.input, scope))


def encode_in_predicate(encoder: Encoder, subquery: InPredicate, message: pb.Expression.Subquery.InPredicate) -> None:
    """Write an IN subquery."""
    for needle in subquery.needles:
        encoder.expression(needle, message.needles.add())
    encoder.subquery(subquery.haystack, message.haystack)


def decode_in_predicate(decoder: Decoder, message: pb.Expression.Subquery.InPredicate, scope: Scope) -> InPredicate:
    """Read an IN subquery."""
    needles = tuple(decoder.expression(needle, scope) for needle in message.needles)
    return InPredicate(needles, decoder.relation(message.haystack, scope))


def encode_set_predicate(
    encoder: Encoder, subquery: SetPredicate, message: pb.Expression.Subquery.SetPredicate
) -> None:
    """Write a set predicate: EXISTS or UNIQUE."""
    message.predicate_op = PREDICATE_OP[subquery.op]
    encoder.subquery(subquery.tuples, message.tuples)


def decode_set_predicate(decoder: Decoder, message: pb.Expression.Subquery.SetPredicate, scope: Scope) -> SetPredicate:
    """Read a set predicate: EXISTS or UNIQUE."""
    op = name_for(PREDICATE_OP, message.predicate_op, type(message).PredicateOp, "SetPredicate.predicate_op")
    return SetPredicate(op, decoder.relation(message.tuples, scope))


def encode_set_comparison(
    encoder: Encoder, subquery: SetComparison, message: pb.Expression.Subquery.SetComparison
) -> None:
    """Write a comparison with any or all values of a subquery."""
    message.reduction_op = REDUCTION_OP[subquery.reduction]
    message.comparison_op = COMPARISON_OP[subquery.comparison]
    encoder.expression(subquery.left, message.left)
    encoder.subquery(subquery.right, message.right)


def decode_set_comparison(
    decoder: Decoder, message: pb.Expression.Subquery.SetComparison, scope: Scope
) -> SetComparison:
    """Read a comparison with any or all values of a subquery."""
    enums = type(message)
    reduction = name_for(REDUCTION_OP, message.reduction_op, enums.ReductionOp, "SetComparison.reduction_op")
    comparison = name_for(COMPARISON_OP, message.comparison_op, enums.ComparisonOp, "SetComparison.comparison_op")
    left = decoder.expression(message.left, scope)
    return SetComparison(reduction, comparison, left, decoder.relation(message.right, scope))


SUBQUERIES: dict[str, Callable[[Decoder, Any, Scope], Expression]] = {
    "scalar": decode_scalar_subquery,
    "in_predicate": decode_in_predicate,
    "set_predicate": decode_set_predicate,
    "set_comparison": decode_set_comparison,
}
"""The decoder of each ``Subquery.subquery_type``."""


def decode_subquery(decoder: Decoder, message: pb.Expression.Subquery, scope: Scope) -> Expression:
    """Read a subquery."""
    subquery_type = message.WhichOneof("subquery_type")
    if subquery_type is None:
        raise PlanFormatError("a subquery must set its subquery_type")
    return SUBQUERIES[subquery_type](decoder, getattr(message, subquery_type), scope)
