"""Calls of functions, measures and sort keys as messages of ``algebra.proto``.

Specification: https://substrait.io/expressions/scalar_functions/ and .../aggregate_functions/.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

import attrs
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Argument,
    EnumArgument,
    Expression,
    FieldReference,
    FunctionId,
    FunctionOption,
    Literal,
    Measure,
    ScalarFunction,
    SortKey,
    TypeArgument,
)
from substrait_dsl.algebra.expressions.calls import Invocation, Phase
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import (
    Catalog,
    EnumValue,
    Given,
    Kind,
    Overload,
    Typed,
    TypeValue,
    derive,
    derive_intermediate,
)
from substrait_dsl.errors import FunctionNotFoundError, PlanFormatError, SubstraitDslError
from substrait_dsl.proto.decoder import Decoder, Scope
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import AGGREGATION_INVOCATION, AGGREGATION_PHASE, SORT_DIRECTION, word_of
from substrait_dsl.proto.types import decode_type, encode_type


def encode_scalar_function(encoder: Encoder, call: ScalarFunction, message: pb.Expression.ScalarFunction) -> None:
    """Write a call of a scalar function."""
    message.function_reference = encoder.declarations.function(call.function)
    encode_arguments(encoder, call.arguments, message.arguments)
    if call.options:
        encode_options(call.options, message.options)
    encode_type(encoder.declarations, call.output_type, message.output_type)


def decode_scalar_function(decoder: Decoder, message: pb.Expression.ScalarFunction, scope: Scope) -> ScalarFunction:
    """Read a call of a scalar function."""
    arguments = decode_arguments(decoder, message.arguments, scope)
    function, kind = decode_function(decoder, message, arguments, ("scalar",))
    return ScalarFunction(function, arguments, kind, decode_options(message.options))


def encode_aggregate_function(encoder: Encoder, call: AggregateFunction, message: pb.AggregateFunction) -> None:
    """Write a call of an aggregate function; phase and invocation are always said."""
    message.function_reference = encoder.declarations.function(call.function)
    encode_arguments(encoder, call.arguments, message.arguments)
    encode_options(call.options, message.options)
    encode_type(encoder.declarations, call.output_type, message.output_type)
    message.phase = AGGREGATION_PHASE[call.phase]
    message.invocation = AGGREGATION_INVOCATION[call.invocation]
    for key in call.sorts:
        encode_sort_key(encoder, key, message.sorts.add())


def decode_aggregate_function(decoder: Decoder, message: pb.AggregateFunction, scope: Scope) -> AggregateFunction:
    """Read a call of an aggregate function."""
    arguments = decode_arguments(decoder, message.arguments, scope)
    phase = decode_phase(decoder, message)
    function, kind = decode_function(decoder, message, arguments, ("aggregate",), phase)
    return AggregateFunction(
        function,
        arguments,
        kind,
        decode_options(message.options),
        tuple(decode_sort_key(decoder, key, scope) for key in message.sorts),
        decode_invocation(message),
        phase,
    )


def decode_phase(decoder: Decoder, message: Any) -> Phase:
    """Read the phase of a call of an aggregate or window function; unsaid, it is the whole (reading 14)."""
    if message.phase == pb.AGGREGATION_PHASE_UNSPECIFIED:
        decoder.doubt(f"{message.DESCRIPTOR.name} does not say its phase; read as initial_to_result", message)
        return "initial_to_result"
    return word_of(AGGREGATION_PHASE, message.phase, pb.AggregationPhase, f"{message.DESCRIPTOR.name}.phase")


def decode_invocation(message: Any) -> Invocation:
    """Read whether a call of an aggregate or window function takes each value once; unsaid, it takes all."""
    invocation = pb.AggregateFunction.AggregationInvocation
    if message.invocation == pb.AggregateFunction.AGGREGATION_INVOCATION_UNSPECIFIED:
        return "all"
    field = f"{message.DESCRIPTOR.name}.invocation"
    return word_of(AGGREGATION_INVOCATION, message.invocation, invocation, field)


# --- what calls are made of


def encode_arguments(encoder: Encoder, arguments: tuple[Argument, ...], messages: Any) -> None:
    """Write the arguments of a call."""
    for argument in arguments:
        message: pb.FunctionArgument = messages.add()
        match argument:
            case Expression():
                encoder.expression(argument, message.value)
            case EnumArgument(value):
                message.enum = value
            case TypeArgument(kind):
                encode_type(encoder.declarations, kind, message.type)
            case _:
                assert_never(argument)


def decode_arguments(decoder: Decoder, messages: Iterable[pb.FunctionArgument], scope: Scope) -> tuple[Argument, ...]:
    """Read the arguments of a call."""
    return tuple(decode_argument(decoder, message, scope) for message in messages)


def decode_argument(decoder: Decoder, message: pb.FunctionArgument, scope: Scope) -> Argument:
    """Read one argument of a call."""
    match message.WhichOneof("arg_type"):
        case "value":
            return decoder.expression(message.value, scope)
        case "enum":
            return EnumArgument(message.enum)
        case "type":
            return TypeArgument(decode_type(decoder, message.type))
        case _:
            decoder.fail(message)
            raise PlanFormatError("an argument must say value, enum or type")


def encode_options(options: tuple[FunctionOption, ...], messages: Any) -> None:
    """Write the options of a call."""
    for option in options:
        message: pb.FunctionOption = messages.add()
        message.name = option.name
        message.preference.extend(option.preferences)


def decode_options(messages: Iterable[pb.FunctionOption]) -> tuple[FunctionOption, ...]:
    """Read the options of a call."""
    return tuple(FunctionOption(message.name, tuple(message.preference)) for message in messages)


def encode_measure(encoder: Encoder, measure: Measure, message: pb.AggregateRel.Measure) -> None:
    """Write a measure."""
    encode_aggregate_function(encoder, measure.function, message.measure)
    if measure.filter is not None:
        encoder.expression(measure.filter, message.filter)


def decode_measure(decoder: Decoder, message: pb.AggregateRel.Measure, scope: Scope) -> Measure:
    """Read a measure."""
    function = decode_aggregate_function(decoder, message.measure, scope)
    return Measure(function, decoder.expression(message.filter, scope) if message.HasField("filter") else None)


def encode_sort_key(encoder: Encoder, key: SortKey, message: pb.SortField) -> None:
    """Write an expression to sort by."""
    encoder.expression(key.expression, message.expr)
    if isinstance(key.direction, FunctionId):
        message.comparison_function_reference = encoder.declarations.function(key.direction)
    else:
        message.direction = SORT_DIRECTION[key.direction]


def decode_sort_key(decoder: Decoder, message: pb.SortField, scope: Scope) -> SortKey:
    """Read an expression to sort by."""
    expression = decoder.expression(message.expr, scope)
    if message.WhichOneof("sort_kind") == "comparison_function_reference":
        return SortKey(expression, decoder.function(message.comparison_function_reference))
    direction = pb.SortField.SortDirection
    return SortKey(expression, word_of(SORT_DIRECTION, message.direction, direction, "SortField.direction"))


# --- which function, and what type it gives


@attrs.frozen
class Known:
    """What the catalogue knows of a call."""

    function: FunctionId
    type: Type | None = None
    """The type that the call has; None if the catalogue cannot tell."""
    doubt: str | None = None
    """What is not as it should be."""


def decode_function(
    decoder: Decoder,
    message: Any,
    arguments: tuple[Argument, ...],
    kinds: tuple[Kind, ...],
    phase: Phase = "initial_to_result",
) -> tuple[FunctionId, Type]:
    """Read which function a call means, and derive its type.

    A call that the catalogue cannot derive keeps the type that the plan declares. Where the two differ it is told
    as a doubt, and so is a function that is only found by its name. The derived type counts, unless the decoder is to
    keep the declared ones.

    Args:
        decoder: the state of decoding.
        message: the call: ``ScalarFunction``, ``AggregateFunction`` or another with the same fields.
        arguments: its arguments.
        kinds: which kinds of functions may stand here.
        phase: what part of an aggregation the call is.

    Raises:
        PlanFormatError: for a function of another kind, and for a type neither declared nor known.
    """
    function = decoder.function(message.function_reference)
    known = _recalled(decoder, function, tuple(map(_given, arguments)), kinds, phase)
    if known.type is None:  # the value of a literal may decide
        known = _recalled(decoder, function, tuple(map(_given_by_value, arguments)), kinds, phase)
    declared = decode_type(decoder, message.output_type) if message.HasField("output_type") else None
    if known.type is None:
        if declared is None:
            told = f"{function.key} does not declare its type (output_type), and nothing else says it"
            raise PlanFormatError(told if known.doubt is None else f"{told}: {known.doubt}")
        if known.doubt is not None:
            decoder.doubt(f"the type that the plan declares is kept: {known.doubt}", message)
        return known.function, declared
    if known.doubt is not None:
        decoder.doubt(known.doubt, message)
    if declared is None:
        decoder.doubt(f"{function.key} does not declare its type; it is {known.type}", message)
    elif declared != known.type:
        told = f"{function.key} is declared to give {declared}; by its definition it gives {known.type}"
        decoder.disagreed = True
        decoder.doubt(
            f"{told}; the declared type is kept" if decoder.keep_declared else f"{told}, which is used", message
        )
        if decoder.keep_declared:
            return known.function, declared
    return known.function, known.type


def _recalled(
    decoder: Decoder, function: FunctionId, arguments: tuple[Given, ...], kinds: tuple[Kind, ...], phase: Phase
) -> Known:
    """What the catalogue knows of a call; it is asked once about calls that are alike."""
    call = (function, arguments, kinds, phase)
    known = decoder.calls.get(call)
    if known is None:
        known = decoder.calls[call] = _known(decoder.catalog, *call)
    return known


def _given_by_value(argument: Argument) -> Given:
    """An argument as the catalogue wants to know it, with its value if it is an integer."""
    match argument:
        case Literal(value=int() as value) if not isinstance(value, bool):
            return Typed(argument.type, value, constant=True)
        case _:
            return _given(argument)


def _given(argument: Argument) -> Given:
    """An argument as the catalogue wants to know it."""
    match argument:
        case Literal(value=int() as value) if not isinstance(value, bool):
            return Typed(argument.type, constant=True)
        case FieldReference():
            return Typed(argument.type, constant=False)
        case Expression():
            return Typed(argument.type)
        case EnumArgument(word):
            return EnumValue(word)
        case TypeArgument(kind):
            return TypeValue(kind)
        case _:
            assert_never(argument)


def _known(
    catalog: Catalog, function: FunctionId, arguments: tuple[Given, ...], kinds: tuple[Kind, ...], phase: Phase
) -> Known:
    if function.urn and function.urn not in catalog.extensions:
        return Known(function)  # somebody else's
    try:
        overload = catalog.overload(function.urn, function.key)
    except FunctionNotFoundError:
        return _known_by_name(catalog, function, arguments, kinds, phase)
    if overload.kind not in kinds:
        raise PlanFormatError(f"{function.key} is called as a {' or '.join(kinds)} function, but it is {overload.kind}")
    try:
        return Known(function, _type_of(catalog, overload, arguments, phase))
    except SubstraitDslError as error:
        return Known(function, None, error.message)


def _known_by_name(
    catalog: Catalog, function: FunctionId, arguments: tuple[Given, ...], kinds: tuple[Kind, ...], phase: Phase
) -> Known:
    """A function that is declared without a signature, with one of another spelling, or in another extension."""
    told = f'"{function.urn}" has no "{function.key}"' if function.urn else f'"{function.key}" is a name only'
    reason = ""
    for urn in (function.urn, None) if function.urn else (None,):
        try:
            overload = catalog.resolve(kinds, function.name, arguments, urn=urn).overload
            kind = _type_of(catalog, overload, arguments, phase)
        except SubstraitDslError as error:
            reason = error.message
        else:
            found = FunctionId(overload.urn, overload.key)
            return Known(found, kind, f'{told}; read as "{found.key}" of "{found.urn}"')
    return Known(function, None, f"{told}, and {reason}")


def _type_of(catalog: Catalog, overload: Overload, arguments: tuple[Given, ...], phase: Phase) -> Type | None:
    """The type of a call, None if only the plan can tell: a call that goes on with intermediate values (reading 15)."""
    match phase:
        case "initial_to_result":
            return derive(overload, arguments, catalog.separate)
        case "initial_to_intermediate":
            return derive_intermediate(overload, arguments, catalog.separate)
        case "intermediate_to_intermediate" | "intermediate_to_result":
            return None
        case _:
            assert_never(phase)
