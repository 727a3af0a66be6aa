"""Overload resolution of the calls in a plan, and their types.

Specification: https://substrait.io/extensions/ and ``SimpleExtensionDeclaration.ExtensionFunction``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.expressions.intervals import DaySeconds
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.function_ids import Phase
from substrait_dsl.algebra.types import INTEGER_RANGES, Boolean, Date, Decimal, PrecisionTimestamp, Type
from substrait_dsl.catalog import (
    CallArgument,
    Catalog,
    Kind,
    Overload,
    Typed,
    derive,
)
from substrait_dsl.catalog.call_arguments import stands_for_equals
from substrait_dsl.catalog.described_arguments import describe_argument
from substrait_dsl.catalog.function_requirements import is_known, known_overload, require_phase
from substrait_dsl.catalog.resolve import type_of_call
from substrait_dsl.errors import FunctionNotFoundError, PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.arguments import fit_call
from substrait_dsl.proto.differences import difference_of
from substrait_dsl.proto.output_type_inference import infer_only_type
from substrait_dsl.proto.types import decode_type

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import CallReport, Decoder


@attrs.frozen(eq=False, repr=False)
class Known(FrozenValue):
    """The result of overload resolution for a call."""

    function: ex.FunctionId
    type: Type | None = None
    """The type of the call; None if the catalogue cannot tell."""
    problem: str | None = None
    """The deviation from the catalogue."""
    code: FindingCode = FindingCode.FUNCTION_NAME
    """The code of its finding, where the type is known."""
    missing: bool = False
    """Whether there is no function of that name, whatever the arguments are."""
    cause: SubstraitDslError | None = attrs.field(default=None, eq=False)
    """The error of the problem; its hint takes long to find, so it is computed only on demand."""


def decode_function(
    decoder: Decoder,
    message: Any,
    arguments: tuple[ex.Argument, ...],
    kinds: tuple[Kind, ...],
    phase: Phase = "initial_to_result",
    function: ex.FunctionId | None = None,
) -> tuple[ex.FunctionId, tuple[ex.Argument, ...], Type]:
    """Resolve the function and the arguments of a call, and derive its type.

    Where no overload matches, literals of another width and default arguments are adapted, if there is one way. A call
    whose type cannot be derived keeps the declared type. A declared type with other values than the derived one is
    refused. A difference in nullability or parameters is reported, and so is a function that is found only by its name.
    The derived type counts, unless the decoder keeps the declared ones.

    Args:
        decoder: the state of decoding.
        message: the call: ``ScalarFunction``, ``AggregateFunction`` or another with the same fields.
        arguments: its arguments.
        kinds: which kinds of functions may stand here.
        phase: what part of an aggregation the call is.
        function: the function, if it is not as the plan declares it.

    Raises:
        PlanFormatError: for a function of another kind, for one of an unknown extension that declares no type, and for
            a declared type of another kind than the function gives.
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
    cached = decoder.calls.get(call)
    if cached is not None:
        for code, text, subject in cached[2]:
            decoder.report(code, text, message, subject)
        return cached[0], arguments, cached[1]
    before = decoder.reports.count
    if function is None:
        function = decoder.function(message.function_reference)
    argument_types = tuple(map(describe_argument, arguments))
    known = _resolve_cached(decoder.catalog, function, argument_types, kinds, phase)
    undecided = known.type is None and not known.missing
    by_value = (
        undecided
        and (values := tuple(describe_argument(argument, by_value=True) for argument in arguments)) != argument_types
    )
    if by_value:  # the value of a literal may decide
        known = _resolve_cached(decoder.catalog, function, values, kinds, phase)
    is_fitted = False
    if known.type is None and known.problem and not known.missing:
        fitted = fit_call(decoder.catalog, function, arguments, kinds, phase)
        if fitted is not None:
            is_fitted, arguments = True, fitted.arguments
            text = f"{_first_line(known.problem)}; read as {fitted.function.key} of {_types(arguments)}"
            # Where the literal is wider, the producer may mean a wider result: it declares it, or it is unknown.
            is_assumed = fitted.is_narrowed and not message.HasField("output_type")
            code = FindingCode.CONSTANT_NARROWED if is_assumed else FindingCode.FUNCTION_ARGUMENTS
            known = Known(fitted.function, fitted.type, text, code)
    if known.type is None and known.problem and phase == "initial_to_result" and not message.HasField("output_type"):
        known = _infer_type(decoder.catalog, known, argument_types, kinds)
    declared = decode_type(decoder, message.output_type) if message.HasField("output_type") else None
    in_days = gives_days(arguments)
    type_, reports = _output_type(decoder, declared, function, known, arguments, in_days=in_days)
    # What its type reports has a place of its own in each call.
    if (
        not (by_value or in_days or is_fitted)
        and decoder.reports.count == before
        and all(map(stands_for_equals, argument_types))
    ):
        decoder.calls[call] = known.function, type_, reports
    for code, text, subject in reports:
        decoder.report(code, text, message, subject)
    return known.function, arguments, type_


def _first_line(problem: str) -> str:
    """Return the first line of a resolution error, without the candidates."""
    return problem.partition("\n")[0].removesuffix("; there is").removesuffix("; there are")


def _types(arguments: Sequence[ex.Argument]) -> str:
    return f"({', '.join(str(each.type) if isinstance(each, ex.Expression) else str(each) for each in arguments)})"


def _output_type(
    decoder: Decoder,
    declared: Type | None,
    function: ex.FunctionId,
    known: Known,
    arguments: Sequence[ex.Argument],
    *,
    in_days: bool,
) -> tuple[Type, tuple[CallReport, ...]]:
    """Return the type of a call, from the declared one, and the reports about it."""
    subject = f"{known.function.urn}:{known.function.key}"
    if known.type is None:
        if declared is None:
            text = f"{function.key} does not declare its type (output_type), and nothing else says it"
            if known.problem is None:
                raise PlanFormatError(text, hint=_DECLARE_IT)
            # As where such a call declares its type: then it can be read, and is refused when it is to run.
            error = UnsupportedError(f"{text}: {known.problem}", hint=partial(_hint, known.cause))
            error.function = function.name
            raise error
        if known.problem is None:
            return declared, ()
        text = f"the type that the plan declares is kept: {_first_line(known.problem)}"
        return declared, ((FindingCode.FUNCTION_UNKNOWN, text, None),)
    reports: list[CallReport] = []
    if known.problem is not None:
        reports.append((known.code, known.problem, None if known.code is FindingCode.CALL_TYPE_ASSUMED else subject))
    if declared is None:
        is_assumed = not decoder.producer.derives_types_as_read and may_differ(function, known.type)
        is_assumed = is_assumed or known.code is FindingCode.CALL_TYPE_ASSUMED
        code = FindingCode.CALL_TYPE_ASSUMED if is_assumed else FindingCode.CALL_TYPE_MISSING
        text = f"{function.key} does not declare its type; it is {known.type}"
        if reports and code is FindingCode.CALL_TYPE_MISSING:  # one finding for each function
            found, problem, about = reports[-1]
            return known.type, ((found, f"{problem}; its type is not declared: it is {known.type}", about),)
        reports.append((code, text, subject))
        return known.type, tuple(reports)
    difference = difference_of(declared, known.type)
    if difference is None:
        return known.type, tuple(reports)
    text = f"{function.key} is declared to give {declared}; by its definition it gives {known.type}"
    if in_days and isinstance(declared, Date) and isinstance(known.type, PrecisionTimestamp):
        reports.append((FindingCode.CALL_IN_DAYS, f"{text}: cast to it, as the interval has only days", subject))
        return known.type, tuple(reports)
    if difference == "kind" and _declares_what_it_compares(decoder, declared, known, arguments):
        text = f"{text}: so {decoder.producer.title} writes the type of what it compares"
        reports.append((FindingCode.PRODUCER_MEANING, text, subject))
        return known.type, tuple(reports)
    if difference == "kind":
        raise PlanFormatError(
            f"{text}: the producer means another function, or other values",
            hint="a cast of the arguments, or of the result, in the plan says which of them is meant",
        )
    decoder.disagreed = True
    code = FindingCode.CALL_NULLABILITY if difference == "nullability" else FindingCode.CALL_TYPE_DIFFERS
    text = f"{text}; the declared type is kept" if decoder.keep_declared else f"{text}, which is used"
    reports.append((code, text, f"{subject} {difference}"))
    return declared if decoder.keep_declared else known.type, tuple(reports)


def _declares_what_it_compares(
    decoder: Decoder, declared: Type, known: Known, arguments: Sequence[ex.Argument]
) -> bool:
    """Whether a predicate declares the type of one of its arguments, as some producers write it."""
    return (
        decoder.producer.predicates_declare_other_types
        and isinstance(known.type, Boolean)
        and decoder.may_be_specified(known.function)
        and any(isinstance(each, ex.Expression) and difference_of(declared, each.type) != "kind" for each in arguments)
    )


def gives_days(arguments: Sequence[ex.Argument]) -> bool:
    """Whether a call adds whole days to a date: the result is midnight of a day."""
    if len(arguments) != 2:
        return False
    day, interval = arguments
    return (
        isinstance(interval, ex.Literal)
        and isinstance(interval.value, DaySeconds)
        and interval.value.seconds == interval.value.subseconds == 0
        and isinstance(day, ex.Expression)
        and isinstance(day.type, Date)
    )


def may_differ(function: ex.FunctionId, type_: Type) -> bool:
    """Whether producers derive another type for an undeclared output type.

    DataFusion has its own precisions and scales of decimals; ibis and DuckDB divide and average integers in fp64.
    """
    return isinstance(type_, Decimal) or (function.name in _OF_QUOTIENTS and type(type_) in INTEGER_RANGES)


_OF_QUOTIENTS = frozenset({"divide", "avg"})


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
) -> ex.FunctionId:
    """Resolve the comparison function of a sort key or join key; an unknown one is kept.

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
    if not all(is_known(decoder.catalog, type_) for type_ in values):
        return function
    argument_types = tuple(map(Typed, values))
    known = _resolve_cached(decoder.catalog, function, argument_types, ("scalar",), "initial_to_result")
    overload = known_overload(decoder.catalog, known.function)
    if overload is not None:
        require(overload, derive(overload, argument_types, decoder.catalog.separate))
    if known.problem is not None:
        if known.type is None:
            text = f"the function that compares is kept as it is: {_first_line(known.problem)}"
            decoder.report(FindingCode.FUNCTION_UNKNOWN, text, message)
        else:
            decoder.report(known.code, known.problem, message, f"{known.function.urn}:{known.function.key}")
    return known.function


# --- what the catalogue knows


def _resolve_cached(
    catalog: Catalog,
    function: ex.FunctionId,
    arguments: tuple[CallArgument, ...],
    kinds: tuple[Kind, ...],
    phase: Phase,
) -> Known:
    """Resolve a call; the result is cached for equal calls of all plans."""
    if not all(map(stands_for_equals, arguments)):
        return _resolve(catalog, function, arguments, kinds, phase)
    calls = _CALLS.setdefault(catalog, {})
    call = (function, arguments, kinds, phase)
    known = calls.get(call)
    if known is None:
        if len(calls) >= MAX_RECALLED:
            calls.clear()
        known = calls[call] = _resolve(catalog, *call)
    return known


MAX_RECALLED = 10_000
"""The maximal number of cached calls of a catalogue."""

_CALLS: WeakKeyDictionary[Catalog, dict[Hashable, Known]] = WeakKeyDictionary()


def _alike(argument: ex.Argument) -> Hashable:
    """Return a cache key: equal for arguments that resolve alike."""
    if isinstance(argument, ex.Literal):
        return ex.Literal, argument.literal_type, argument.value is None
    return (type(argument), argument.type) if isinstance(argument, ex.Expression) else argument


def _resolve(
    catalog: Catalog,
    function: ex.FunctionId,
    arguments: tuple[CallArgument, ...],
    kinds: tuple[Kind, ...],
    phase: Phase,
) -> Known:
    if function.urn and function.urn not in catalog.extensions:
        return Known(function)  # of another extension
    try:
        overload = catalog.overload(function.urn, function.key)
    except FunctionNotFoundError:
        return _resolve_by_name(catalog, function, arguments, kinds, phase)
    if overload.kind not in kinds:
        raise PlanFormatError(f"{function.key} is called as a {' or '.join(kinds)} function, but it is {overload.kind}")
    require_phase(overload, phase)
    try:
        return Known(function, type_of_call(overload, arguments, phase, catalog.separate))
    except SubstraitDslError as error:
        return Known(function, None, error.message)


def _resolve_by_name(
    catalog: Catalog,
    function: ex.FunctionId,
    arguments: tuple[CallArgument, ...],
    kinds: tuple[Kind, ...],
    phase: Phase,
) -> Known:
    """Resolve a function that is declared without a signature, with another spelling, or in another extension."""
    text = f'"{function.urn}" has no "{function.key}"' if function.urn else f'"{function.key}" is a name only'
    try:
        catalog.named(function.name, kinds)
    except FunctionNotFoundError as error:
        return Known(function, None, f"{text}, and {error.message}", missing=True, cause=error)
    reason = ""
    for urn in (function.urn, None) if function.urn else (None,):
        try:
            overload = catalog.resolve(kinds, function.name, arguments, urn=urn).overload
            type_ = type_of_call(overload, arguments, phase, catalog.separate)
        except SubstraitDslError as error:
            reason = error.message
        else:
            require_phase(overload, phase)
            found = overload.function
            return Known(found, type_, f'{text}; read as "{found.key}" of "{found.urn}"')
    return Known(function, None, f"{text}, and {reason}")


def _infer_type(catalog: Catalog, known: Known, arguments: tuple[CallArgument, ...], kinds: tuple[Kind, ...]) -> Known:
    """Infer the type of a call that no overload takes, if only one is possible."""
    inferred = infer_only_type(catalog, known.function, arguments, kinds)
    if inferred is None:
        return known
    type_, why = inferred
    return Known(
        known.function,
        type_,
        f"{_first_line(known.problem or '')}; kept unchanged, and taken to give {type_}, because {why}",
        FindingCode.CALL_TYPE_ASSUMED,
    )
