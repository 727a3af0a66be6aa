"""Calls of functions, measures and sort keys as messages of ``algebra.proto``.

Specification: https://substrait.io/expressions/scalar_functions/ and .../aggregate_functions/.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.expressions import FunctionId, FunctionOption
from substrait_dsl.algebra.expressions.calls import Invocation
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.function_ids import Phase
from substrait_dsl.algebra.types import Date, PrecisionTimestamp
from substrait_dsl.catalog.function_requirements import known_overload, require_order
from substrait_dsl.errors import FunctionNotFoundError, InvalidChoiceError, PlanFormatError
from substrait_dsl.proto.construction import cast_to
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.enums import AGGREGATION_INVOCATION, AGGREGATION_PHASE, SORT_DIRECTION, name_for
from substrait_dsl.proto.types import decode_type, encode_type

if TYPE_CHECKING:
    from substrait_dsl.proto.datafusion_aggregates import FunctionForm
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_scalar_function(encoder: Encoder, call: ex.ScalarFunction, message: pb.Expression.ScalarFunction) -> None:
    """Write a call of a scalar function."""
    message.function_reference = encoder.declarations.function(call.function)
    encode_arguments(encoder, call.arguments, message.arguments)
    if call.options:
        encode_options(call.options, message.options)
    encode_type(encoder.declarations, call.output_type, message.output_type)


def decode_scalar_function(decoder: Decoder, message: pb.Expression.ScalarFunction, scope: Scope) -> ex.Expression:
    """Read a call of a scalar function, or the expression that its producer means by it.

    It stands under a cast where a timestamp of a whole day is declared to be a date.
    """
    from substrait_dsl.proto.functions import decode_function  # not needed for writing

    arguments = _drop_null_escape(decoder, message, decode_arguments(decoder, message.arguments, scope))
    if decoder.producer.scalar_functions and (meant := _as_meant(decoder, message, arguments)) is not None:
        return meant
    function, arguments, type_ = decode_function(decoder, message, arguments, ("scalar",))
    call = ex.ScalarFunction(function, arguments, type_, decode_options(decoder, message.options, function))
    if message.output_type.HasField("date") and isinstance(type_, PrecisionTimestamp):
        return ex.Cast(call, Date(nullable=type_.nullable), "throw")
    return call


def _as_meant(
    decoder: Decoder, message: pb.Expression.ScalarFunction, arguments: tuple[ex.Argument, ...]
) -> ex.Expression | None:
    """Return the expression that the plan's producer means by a call, if it deviates from the specification."""
    function = decoder.function(message.function_reference)
    name = function.name
    read = decoder.producer.scalar_functions.get(name)
    if read is None or not decoder.may_be_specified(function):
        return None
    declared = decode_type(decoder, message.output_type) if message.HasField("output_type") else None
    meant = read(decoder, arguments, declared)
    if meant is None:
        return None
    if isinstance(meant, ex.ScalarFunction) and meant.function.name == name and not meant.options:
        same = len(arguments) == len(meant.arguments) and all(map(operator.is_, arguments, meant.arguments))
        if same:
            return None  # read, with its findings, like a call of any other producer
    text = f"{name} is read as what {decoder.producer.title} computes by it"
    decoder.report(FindingCode.PRODUCER_MEANING, text, message)
    return meant


_LIKE_WITH_ESCAPE = 3
"""The number of arguments of a ``like`` with an escape character."""


def _drop_null_escape(
    decoder: Decoder, message: pb.Expression.ScalarFunction, arguments: tuple[ex.Argument, ...]
) -> tuple[ex.Argument, ...]:
    """Return the arguments without the escape character of a ``like`` or ``ilike`` of DataFusion that has none."""
    if len(arguments) != _LIKE_WITH_ESCAPE or not decoder.producer.like_has_escape:
        return arguments
    escape = arguments[-1]
    is_none = isinstance(escape, ex.Literal) and escape.value is None
    function = decoder.function(message.function_reference)
    name = function.name
    if not is_none or name not in ("like", "ilike") or not decoder.may_be_specified(function):
        return arguments
    decoder.report(
        FindingCode.LIKE_ESCAPE,
        f"{name} has a third argument, NULL, by which DataFusion means no escape character: left out",
        message,
    )
    return arguments[:-1]


def encode_aggregate_function(encoder: Encoder, call: ex.AggregateFunction, message: pb.AggregateFunction) -> None:
    """Write a call of an aggregate function; phase and invocation are always written."""
    message.function_reference = encoder.declarations.function(call.function)
    encode_arguments(encoder, call.arguments, message.arguments)
    encode_options(call.options, message.options)
    encode_type(encoder.declarations, call.output_type, message.output_type)
    message.phase = AGGREGATION_PHASE[call.phase]
    message.invocation = AGGREGATION_INVOCATION[call.invocation]
    for key in call.sorts:
        encode_sort_key(encoder, key, message.sorts.add())


def decode_aggregate_function(decoder: Decoder, message: pb.AggregateFunction, scope: Scope) -> ex.AggregateFunction:
    """Read a call of an aggregate function."""
    from substrait_dsl.proto.functions import decode_function  # not needed for writing

    with decoder.part(message):
        declared, arguments = decode_form(decoder, message, decode_arguments(decoder, message.arguments, scope))
        phase = decode_phase(decoder, message)
        function, arguments, type_ = decode_function(decoder, message, arguments, ("aggregate",), phase, declared)
        sorts = tuple(decode_sort_key(decoder, key, scope) for key in message.sorts)
        if (form := _find_form(decoder, message)) is not None:
            sorts = form.order_values(arguments, sorts)
        return ex.AggregateFunction(
            function,
            arguments,
            type_,
            decode_options(decoder, message.options, function),
            sorts,
            decode_invocation(message),
            phase,
        )


def decode_form(
    decoder: Decoder, message: Any, arguments: tuple[ex.Argument, ...]
) -> tuple[ex.FunctionId, tuple[ex.Argument, ...]]:
    """Translate the producer's name of an aggregate or window function.

    Args:
        decoder: the state of decoding.
        message: the call.
        arguments: its arguments.

    Returns:
        The function as the plan declares it, or the specification's, and its arguments in the form that this has.
    """
    function = decoder.function(message.function_reference)
    if (meant := decoder.producer.functions_meant.get(function)) is not None and message.output_type.HasField("i64"):
        text = (
            f"{function.key} is declared to give i64, as that of {meant.urn} does: {decoder.producer.title} means that"
        )
        decoder.report(FindingCode.PRODUCER_MEANING, text, message)
        return meant, arguments
    form = _find_form(decoder, message)
    if (computed := _as_computed(decoder, message, function, arguments)) is not None:
        function, arguments = ex.FunctionId(function.urn, function.name), computed
    if form is None or any(isinstance(argument, ex.EnumArgument) for argument in arguments):
        return function, arguments
    readings = ", ".join((form.name, *form.words))
    text = f"{function.name} is {decoder.producer.title}'s name of a function: read as {readings}"
    decoder.report(FindingCode.PRODUCER_MEANING, text, message)
    return ex.FunctionId("", form.name), (*map(ex.EnumArgument, form.words), *arguments)


def _find_form(decoder: Decoder, message: Any) -> FunctionForm | None:
    """Return the specification's form of an aggregate or window function that the producer names otherwise."""
    function = decoder.function(message.function_reference)
    form = None if function.urn else decoder.producer.function_forms.get(function.name)
    if form is None or not decoder.may_be_specified(function):
        return None
    try:
        decoder.catalog.named(form.name, ("aggregate", "window"))
    except FunctionNotFoundError:  # of an extension that the reader was not asked to know
        return None
    return form


def _as_computed(
    decoder: Decoder, message: Any, function: ex.FunctionId, arguments: tuple[ex.Argument, ...]
) -> tuple[ex.Argument] | None:
    """Cast the argument of an aggregate function to the type that the producer computes it in."""
    argument = arguments[0] if len(arguments) == 1 else None
    if not isinstance(argument, ex.Expression) or not decoder.may_be_specified(function):
        return None
    declared = decode_type(decoder, message.output_type) if message.HasField("output_type") else None
    type_ = decoder.producer.type_of_computation(function.name, argument.type, declared)
    if type_ is None:
        return None
    text = f"{function.name} of {argument.type} is computed of {type_} by {decoder.producer.title}: read so"
    decoder.report(FindingCode.PRODUCER_MEANING, text, message)
    return (cast_to(argument, type_),)


def decode_phase(decoder: Decoder, message: Any) -> Phase:
    """Read the phase of an aggregate or window function; the default is the whole (spec decision 14)."""
    if message.phase == pb.AGGREGATION_PHASE_UNSPECIFIED:
        decoder.report(
            FindingCode.PHASE_MISSING,
            f"{message.DESCRIPTOR.name} does not set its phase; read as initial_to_result",
            message,
        )
        return "initial_to_result"
    return name_for(AGGREGATION_PHASE, message.phase, pb.AggregationPhase, f"{message.DESCRIPTOR.name}.phase")


def decode_invocation(message: Any) -> Invocation:
    """Read the invocation of an aggregate or window function; the default is all values."""
    invocation = pb.AggregateFunction.AggregationInvocation
    if message.invocation == pb.AggregateFunction.AGGREGATION_INVOCATION_UNSPECIFIED:
        return "all"
    field = f"{message.DESCRIPTOR.name}.invocation"
    return name_for(AGGREGATION_INVOCATION, message.invocation, invocation, field)


# --- arguments and options


def encode_arguments(encoder: Encoder, arguments: tuple[ex.Argument, ...], messages: Any) -> None:
    """Write the arguments of a call."""
    for argument in arguments:
        message: pb.FunctionArgument = messages.add()
        match argument:
            case ex.Expression():
                encoder.expression(argument, message.value)
            case ex.EnumArgument(value):
                message.enum = value
            case ex.TypeArgument(type_):
                encode_type(encoder.declarations, type_, message.type)
            case _:
                assert_never(argument)


def decode_arguments(
    decoder: Decoder, messages: Iterable[pb.FunctionArgument], scope: Scope
) -> tuple[ex.Argument, ...]:
    """Read the arguments of a call."""
    return tuple([decode_argument(decoder, message, scope) for message in messages])


def decode_argument(decoder: Decoder, message: pb.FunctionArgument, scope: Scope) -> ex.Argument:
    """Read one argument of a call."""
    match message.WhichOneof("arg_type"):
        case "value":
            return decoder.expression(message.value, scope)
        case "enum":
            return ex.EnumArgument(message.enum)
        case "type":
            return ex.TypeArgument(decode_type(decoder, message.type))
        case _:
            decoder.mark_location(message)
            raise PlanFormatError("an argument must set value, enum or type")


def encode_measure(encoder: Encoder, measure: ex.Measure, message: pb.AggregateRel.Measure) -> None:
    """Write a measure."""
    encode_aggregate_function(encoder, measure.function, message.measure)
    if measure.filter is not None:
        encoder.expression(measure.filter, message.filter)


def decode_measure(decoder: Decoder, message: pb.AggregateRel.Measure, scope: Scope) -> ex.Measure:
    """Read a measure."""
    function = decode_aggregate_function(decoder, message.measure, scope)
    return ex.Measure(function, decoder.expression(message.filter, scope) if message.HasField("filter") else None)


def encode_sort_key(encoder: Encoder, key: ex.SortKey, message: pb.SortField) -> None:
    """Write a sort key."""
    encoder.expression(key.expression, message.expr)
    if isinstance(key.direction, ex.FunctionId):
        message.comparison_function_reference = encoder.declarations.function(key.direction)
    else:
        message.direction = SORT_DIRECTION[key.direction]


def decode_sort_key(decoder: Decoder, message: pb.SortField, scope: Scope) -> ex.SortKey:
    """Read a sort key."""
    from substrait_dsl.proto.functions import decode_comparison  # not needed for writing

    expression = decoder.expression(message.expr, scope)
    if message.WhichOneof("sort_kind") == "comparison_function_reference":
        with decoder.part(message):
            values = (expression.type, expression.type)
            reference = message.comparison_function_reference
            return ex.SortKey(expression, decode_comparison(decoder, message, reference, values, require_order))
    direction = pb.SortField.SortDirection
    return ex.SortKey(expression, name_for(SORT_DIRECTION, message.direction, direction, "SortField.direction"))


# --- options


def encode_options(options: tuple[FunctionOption, ...], messages: Any) -> None:
    """Write the options of a call."""
    for option in options:
        message: pb.FunctionOption = messages.add()
        message.name = option.name
        message.preference.extend(option.preferences)


def decode_options(decoder: Decoder, messages: Any, function: FunctionId) -> tuple[FunctionOption, ...]:
    """Read the options of a call, spelled as in its extension, or unchanged if the catalogue lacks them.

    An unknown option or preference of a known function is kept and reported: the consumer has to refuse it, if it does
    not know it either.
    """
    if not messages:
        return ()
    overload = known_overload(decoder.catalog, function)
    options: list[FunctionOption] = []
    for message in messages:
        with decoder.part(message):
            name, preferences = message.name, tuple(message.preference)
            if overload is not None:
                try:
                    name, preferences = overload.option_values(name, preferences)
                except InvalidChoiceError as error:
                    decoder.report(FindingCode.OPTION_UNKNOWN, f"{error.message}; kept unchanged", message)
            options.append(FunctionOption(name, preferences))
    return tuple(options)
