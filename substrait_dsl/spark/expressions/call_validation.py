"""Calls that the specification gives a meaning: those of a plan that was read need not be.

A reader keeps a call that fits none of its function's overloads, with the type that the plan declares, as other engines
write such. Spark would make something of it. What is left of it here are comparisons of values of one kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from substrait_dsl.algebra.expressions import AggregateFunction, FunctionId, ScalarFunction, WindowCall
from substrait_dsl.algebra.functions import Phase
from substrait_dsl.algebra.node import Node
from substrait_dsl.algebra.types import (
    Date,
    Decimal,
    FixedChar,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    VarChar,
)
from substrait_dsl.catalog import Given, Typed, standard_catalog
from substrait_dsl.catalog.call_arguments import given_by
from substrait_dsl.catalog.function_requirements import known_overload
from substrait_dsl.catalog.resolve import type_of_call
from substrait_dsl.errors import SubstraitDslError, UnsupportedError
from substrait_dsl.spark.expressions.functions import COMPARISONS


def require_meaning(nodes: Iterable[Node]) -> None:
    """Raise `UnsupportedError` for a call that its function does not take; `nodes` are all nodes of a plan."""
    for node in nodes:
        match node:
            case ScalarFunction():
                phase: Phase = "initial_to_result"
            case AggregateFunction() | WindowCall():
                phase = node.phase
            case _:
                continue
        given = tuple(map(given_by, node.arguments))
        if _what_is_wrong(node.function, given, phase) is None:
            continue
        by_value = tuple(given_by(argument, by_value=True) for argument in node.arguments)
        if wrong := _what_is_wrong(node.function, by_value, phase):
            raise UnsupportedError(
                f"Spark cannot run a call that has no meaning: {wrong}",
                hint="cast its arguments to what the function takes" if _takes_count(node) else None,
            )


def _takes_count(call: ScalarFunction | AggregateFunction | WindowCall) -> bool:
    """Whether the function of a call takes so many arguments, of other types."""
    overload = known_overload(standard_catalog(), call.function)
    return overload is not None and overload.takes_count(len(call.arguments))


@lru_cache(maxsize=4096)
def _what_is_wrong(function: FunctionId, arguments: tuple[Given, ...], phase: Phase) -> str | None:
    """Why a function does not take the arguments; None if it does, or is somebody else's."""
    catalog = standard_catalog()
    overload = known_overload(catalog, function)
    if overload is None:
        return None
    try:
        type_of_call(overload, arguments, phase, catalog.separate)
    except SubstraitDslError as error:
        if function.name in COMPARISONS and _compares_alike(arguments):
            return None
        return error.message
    return None


def _compares_alike(arguments: Sequence[Given]) -> bool:
    """Whether the values are of one kind, which Spark compares exactly though they are of several types."""
    kinds = {_kind(argument.type).as_required() for argument in arguments if isinstance(argument, Typed)}
    return len(kinds) == 1


def _kind(given: Type) -> Type:
    """One type of all those whose values may be compared."""
    match given:
        case Decimal():
            return Decimal(38, 0)
        case VarChar() | FixedChar():
            return String()
        case Date() | PrecisionTimestamp():
            return PrecisionTimestamp(6)
        case PrecisionTimestampTZ():
            return PrecisionTimestampTZ(6)
        case _:
            return given
