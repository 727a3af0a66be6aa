"""Expressions that few plans have, as messages of ``algebra.proto``: a program that has none does not load them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.detached import ORDINAL, decode_detached
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.lambdas import (
    decode_lambda,
    decode_lambda_invocation,
    encode_lambda,
    encode_lambda_invocation,
)
from substrait_dsl.proto.nested import decode_nested, encode_nested
from substrait_dsl.proto.parameters import (
    decode_dynamic_parameter,
    decode_execution_context_variable,
    encode_dynamic_parameter,
    encode_execution_context_variable,
)
from substrait_dsl.proto.subqueries import (
    decode_subquery,
    encode_in_predicate,
    encode_scalar_subquery,
    encode_set_comparison,
    encode_set_predicate,
)
from substrait_dsl.proto.windows import decode_window_function, encode_window_function

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

SeldomExpression = (
    ex.ScalarSubquery
    | ex.InPredicate
    | ex.SetPredicate
    | ex.SetComparison
    | ex.WindowFunction
    | ex.NestedStruct
    | ex.NestedList
    | ex.NestedMap
    | ex.Lambda
    | ex.LambdaInvocation
    | ex.DynamicParameter
    | ex.ExecutionContextVariable
)


def encode_seldom_expression(encoder: Encoder, expression: SeldomExpression, message: pb.Expression) -> None:
    """Write such an expression itself."""
    match expression:
        case ex.ScalarSubquery():
            encode_scalar_subquery(encoder, expression, message.subquery.scalar)
        case ex.InPredicate():
            encode_in_predicate(encoder, expression, message.subquery.in_predicate)
        case ex.SetPredicate():
            encode_set_predicate(encoder, expression, message.subquery.set_predicate)
        case ex.SetComparison():
            encode_set_comparison(encoder, expression, message.subquery.set_comparison)
        case ex.WindowFunction():
            encode_window_function(encoder, expression, message.window_function)
        case ex.NestedStruct() | ex.NestedList() | ex.NestedMap():
            encode_nested(encoder, expression, message.nested)
        case ex.Lambda():
            encode_lambda(encoder, expression, getattr(message, "lambda"))  # no name in Python
        case ex.LambdaInvocation():
            encode_lambda_invocation(encoder, expression, message.lambda_invocation)
        case ex.DynamicParameter():
            encode_dynamic_parameter(encoder, expression, message.dynamic_parameter)
        case ex.ExecutionContextVariable():
            encode_execution_context_variable(encoder, expression, message.execution_context_variable)
        case _:
            assert_never(expression)


def find_decoder(rex_type: str, message: pb.Expression) -> tuple[Callable[[Decoder, Any, Scope], ex.Expression], Any]:
    """Return what reads such an expression, or the ordinal of a detached one, and the part of the message it reads.

    Raises `UnsupportedError` for a type of expression that is not read.
    """
    if rex_type == ORDINAL:
        return decode_detached, message
    read = SELDOM_EXPRESSIONS.get(rex_type)
    if read is None:
        raise UnsupportedError(f"expressions of type {rex_type} cannot be read")
    return read, getattr(message, rex_type)


SELDOM_EXPRESSIONS: dict[str, Callable[[Decoder, Any, Scope], ex.Expression]] = {
    "subquery": decode_subquery,
    "window_function": decode_window_function,
    "nested": decode_nested,
    "dynamic_parameter": decode_dynamic_parameter,
    "lambda": decode_lambda,
    "lambda_invocation": decode_lambda_invocation,
    "execution_context_variable": decode_execution_context_variable,
}
"""The decoder of the ``Expression.rex_type`` of each of them."""
