"""Lambdas as messages of ``algebra.proto``.

Specification: https://substrait.io/expressions/lambda_expressions/. References to their parameters are written and
read as all references are, in `references`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait import algebra_pb2 as pb
from substrait import type_pb2

from substrait_dsl.algebra.expressions import Lambda, LambdaInvocation
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.types import decode_type, encode_type

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_lambda(encoder: Encoder, function: Lambda, message: pb.Expression.Lambda) -> None:
    """Write a lambda; its parameters are the fields of a required struct."""
    message.parameters.nullability = type_pb2.Type.NULLABILITY_REQUIRED
    for parameter in function.parameters:
        encode_type(encoder.declarations, parameter, message.parameters.types.add())
    encoder.expression(function.body, message.body)


def decode_lambda(decoder: Decoder, message: pb.Expression.Lambda, scope: Scope) -> Lambda:
    """Read a lambda."""
    body = body_scope(decoder, message, scope)
    if message.parameters.type_variation_reference:
        raise PlanFormatError("the parameters of a lambda are a struct without a type variation")
    if message.parameters.nullability != type_pb2.Type.NULLABILITY_REQUIRED:
        decoder.report(
            FindingCode.NULLABILITY_MISSING,
            "the parameters of a lambda are not a REQUIRED struct: read as one",
            message,
        )
    return Lambda(body.parameters[0], decoder.expression(message.body, body))


def body_scope(decoder: Decoder, message: pb.Expression.Lambda, scope: Scope) -> Scope:
    """Return the scope of a lambda body, the enclosing row and the parameters; the same object each time."""
    known = scope.bodies.get(id(message))
    if known is None:
        parameters = tuple(decode_type(decoder, type_) for type_ in message.parameters.types)
        known = scope.bodies[id(message)] = message, scope.for_body(parameters)
    return known[1]


def encode_lambda_invocation(
    encoder: Encoder, invocation: LambdaInvocation, message: pb.Expression.LambdaInvocation
) -> None:
    """Write an invocation of a lambda."""
    encode_lambda(encoder, invocation.function, getattr(message, "lambda"))  # no name in Python
    message.arguments.SetInParent()
    for argument in invocation.arguments:
        encoder.expression(argument, message.arguments.fields.add())


def decode_lambda_invocation(
    decoder: Decoder, message: pb.Expression.LambdaInvocation, scope: Scope
) -> LambdaInvocation:
    """Read an invocation of a lambda."""
    if not message.HasField("lambda"):
        raise PlanFormatError("a lambda invocation must hold the lambda that it calls")
    function = decode_lambda(decoder, getattr(message, "lambda"), scope)
    return LambdaInvocation(function, tuple(decoder.expression(field, scope) for field in message.arguments.fields))
