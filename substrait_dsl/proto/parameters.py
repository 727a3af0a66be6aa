"""Values that are known when a plan runs, as messages of ``algebra.proto``.

Specification: ``DynamicParameter`` and https://substrait.io/expressions/execution_context_variables/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import CONTEXT_VARIABLES, DynamicParameter, ExecutionContextVariable
from substrait_dsl.algebra.expressions.parameters import remember_type
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.types import decode_type, decode_type_body, encode_type, encode_type_body

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_dynamic_parameter(encoder: Encoder, parameter: DynamicParameter, message: pb.DynamicParameter) -> None:
    """Write a dynamic parameter."""
    encode_type(encoder.declarations, parameter.parameter_type, message.type)
    message.parameter_reference = parameter.reference


def decode_dynamic_parameter(decoder: Decoder, message: pb.DynamicParameter, scope: Scope) -> DynamicParameter:
    """Read a dynamic parameter."""
    parameter = DynamicParameter(decode_type(decoder, message.type), message.parameter_reference)
    remember_type(decoder.parameters, parameter)
    return parameter


def encode_execution_context_variable(
    encoder: Encoder, variable: ExecutionContextVariable, message: pb.Expression.ExecutionContextVariable
) -> None:
    """Write the time, the time zone or the date of the execution; its type stands for it."""
    encode_type_body(encoder.declarations, variable.variable_type, getattr(message, variable.variable))


def decode_execution_context_variable(
    decoder: Decoder, message: pb.Expression.ExecutionContextVariable, scope: Scope
) -> ExecutionContextVariable:
    """Read the time, the time zone or the date of the execution."""
    variable = message.WhichOneof("execution_context_variable_type")
    if variable is None:
        raise PlanFormatError("an execution context variable must set its variable")
    decoder.has_variables = True
    type_ = decode_type_body(decoder, CONTEXT_VARIABLES[variable], getattr(message, variable))
    return ExecutionContextVariable(variable, type_)
