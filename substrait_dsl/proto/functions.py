"""Which function of the catalogue a call in a plan means, and what type it gives.

Specification: https://substrait.io/extensions/ and ``SimpleExtensionDeclaration.ExtensionFunction``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import attrs

from substrait_dsl.algebra.expressions import (
    Argument,
    Expression,
    FunctionId,
    Literal,
)
from substrait_dsl.algebra.expressions.given import given_by
from substrait_dsl.algebra.functions import Phase
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import (
    Catalog,
    Given,
    Kind,
    Overload,
    Typed,
    derive,
)
from substrait_dsl.catalog.arguments import stands_for_equals
from substrait_dsl.catalog.resolve import type_of_call
from substrait_dsl.catalog.roles import is_known, known_overload, require_phase
from substrait_dsl.errors import FunctionNotFoundError, PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.decoder import Decoder
from substrait_dsl.proto.types import decode_type
from substrait_dsl.proto.untold import only_type


@attrs.frozen
class Known:
    """What the catalogue knows of a call."""

    function: FunctionId
    type: Type | None = None
    """The type that the call has; None if the catalogue cannot tell."""
    doubt: str | None = None
    """What is not as it should be."""
    missing: bool = False
    """Whether there is no function of that name, whatever its arguments are."""
    cause: SubstraitDslError | None = attrs.field(default=None, eq=False)
    """The error that the doubt comes from; its hint takes long to find, so that it is asked for only if needed."""


def decode_function(
    decoder: Decoder,
    message: Any,
    arguments: tuple[Argument, ...],
    kinds: tuple[Kind, ...],
    phase: Phase = "initial_to_result",
    function: FunctionId | None = None,
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
        function: the function, if it is not as the plan declares it.

    Raises:
        PlanFormatError: for a function of another kind, and for one of an unknown extension that declares no type.
        UnsupportedError: for a function that is not known, or not with such arguments, and declares no type.
        InvalidArgumentError: for a phase in which the function cannot be called.
    """
    call = (
        message.function_reference,
        message.output_type.SerializeToString(),
        tuple(map(_alike, arguments)),
        kinds,
        phase,
    )
    settled = decoder.calls.get(call)
    if settled is not None:
        return settled
    doubts = len(decoder.doubts)
    if function is None:
        function = decoder.function(message.function_reference)
    given = tuple(map(given_by, arguments))
    known = _recalled(decoder.catalog, function, given, kinds, phase)
    undecided = known.type is None and not known.missing
    by_value = undecided and (values := tuple(given_by(argument, by_value=True) for argument in arguments)) != given
    if by_value:  # the value of a literal may decide
        known = _recalled(decoder.catalog, function, values, kinds, phase)
    if known.type is None and known.doubt and phase == "initial_to_result" and not message.HasField("output_type"):
        known = _told_by_all(decoder.catalog, known, given, kinds)
    made = _function_and_type(decoder, message, function, known)
    if not by_value and len(decoder.doubts) == doubts and all(map(stands_for_equals, given)):
        decoder.calls[call] = made
    return made


def _function_and_type(decoder: Decoder, message: Any, function: FunctionId, known: Known) -> tuple[FunctionId, Type]:
    declared = decode_type(decoder, message.output_type) if message.HasField("output_type") else None
    if known.type is None:
        if declared is None:
            told = f"{function.key} does not declare its type (output_type), and nothing else says it"
            if known.doubt is None:
                raise PlanFormatError(told, hint=_DECLARE_IT)
            # As where such a call declares its type: then it can be read, and is refused when it is to run.
            raise UnsupportedError(f"{told}: {known.doubt}", hint=partial(_hint, known.cause))
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


def _hint(cause: SubstraitDslError | None) -> str:
    near = None if cause is None else cause.hint
    return f"{near} or {_DECLARE_IT}" if near else _DECLARE_IT


_DECLARE_IT = "an extension of your own can declare it: read with catalog=standard_catalog().with_extension(...)"


def decode_comparison(
    decoder: Decoder,
    message: Any,
    reference: int,
    values: tuple[Type, Type],
    require: Callable[[Overload, Type], None],
) -> FunctionId:
    """Read which function a plan compares two values by; one that is not known here is kept as it is.

    Args:
        decoder: the state of decoding.
        message: what says so: ``SortField`` or another.
        reference: the number of the function.
        values: the types of the values.
        require: raises unless the function gives what the place needs.

    Raises:
        PlanFormatError: for a function that does not take such values.
    """
    function = decoder.function(reference)
    if not all(is_known(decoder.catalog, kind) for kind in values):
        return function
    given = tuple(map(Typed, values))
    known = _recalled(decoder.catalog, function, given, ("scalar",), "initial_to_result")
    overload = known_overload(decoder.catalog, known.function)
    if overload is not None:
        require(overload, derive(overload, given, decoder.catalog.separate))
    if known.doubt is not None:
        told = "the function that compares is kept as it is: " if known.type is None else ""
        decoder.doubt(told + known.doubt, message)
    return known.function


# --- what the catalogue knows


def _recalled(
    catalog: Catalog, function: FunctionId, arguments: tuple[Given, ...], kinds: tuple[Kind, ...], phase: Phase
) -> Known:
    """What a catalogue knows of a call; it is asked once about calls that are alike, in whichever plan."""
    if not all(map(stands_for_equals, arguments)):
        return _known(catalog, function, arguments, kinds, phase)
    calls = _CALLS.setdefault(catalog, {})
    call = (function, arguments, kinds, phase)
    known = calls.get(call)
    if known is None:
        if len(calls) >= MAX_RECALLED:
            calls.clear()
        known = calls[call] = _known(catalog, *call)
    return known


MAX_RECALLED = 10_000
"""How many calls are remembered for each catalogue."""

_CALLS: WeakKeyDictionary[Catalog, dict[Hashable, Known]] = WeakKeyDictionary()


def _alike(argument: Argument) -> Hashable:
    """What is the same for arguments that `given_by` gives the same for."""
    if isinstance(argument, Literal):
        return Literal, argument.literal_type, argument.value is None
    return (type(argument), argument.type) if isinstance(argument, Expression) else argument


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
    require_phase(overload, phase)
    try:
        return Known(function, type_of_call(overload, arguments, phase, catalog.separate))
    except SubstraitDslError as error:
        return Known(function, None, error.message)


def _known_by_name(
    catalog: Catalog, function: FunctionId, arguments: tuple[Given, ...], kinds: tuple[Kind, ...], phase: Phase
) -> Known:
    """A function that is declared without a signature, with one of another spelling, or in another extension."""
    told = f'"{function.urn}" has no "{function.key}"' if function.urn else f'"{function.key}" is a name only'
    try:
        catalog.named(function.name, kinds)
    except FunctionNotFoundError as error:
        return Known(function, None, f"{told}, and {error.message}", missing=True, cause=error)
    reason = ""
    for urn in (function.urn, None) if function.urn else (None,):
        try:
            overload = catalog.resolve(kinds, function.name, arguments, urn=urn).overload
            kind = type_of_call(overload, arguments, phase, catalog.separate)
        except SubstraitDslError as error:
            reason = error.message
        else:
            require_phase(overload, phase)
            found = overload.function
            return Known(found, kind, f'{told}; read as "{found.key}" of "{found.urn}"')
    return Known(function, None, f"{told}, and {reason}")


def _told_by_all(catalog: Catalog, known: Known, arguments: tuple[Given, ...], kinds: tuple[Kind, ...]) -> Known:
    """A call that no overload takes, with the type that it has in any case, if there is one."""
    told = only_type(catalog, known.function, arguments, kinds)
    if told is None:
        return known
    kind, why = told
    return Known(known.function, kind, f"{known.doubt}; kept as it came, and taken to give {kind}, because {why}")
