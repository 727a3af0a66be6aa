"""Inference of the output type of a call that declares none and matches no overload, where only one is possible.

DataFusion calls some functions with further arguments, or omits enum arguments, and declares no types. Such a call is
kept, so that a consumer refuses it by name; but the relations above need its type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.type_syntax import Expression, Name, TypeNode, parts_of
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import CallArgument, Catalog, EnumValue, Kind, Overload, Typed
from substrait_dsl.catalog.derive import Bindings, run
from substrait_dsl.catalog.records import EnumArgument, ValueArgument
from substrait_dsl.catalog.resolve import fit, output_type
from substrait_dsl.errors import InvalidArgumentError, SubstraitDslError


def infer_only_type(
    catalog: Catalog, function: FunctionId, arguments: Sequence[CallArgument], kinds: Sequence[Kind]
) -> tuple[Type, str] | None:
    """Return the only possible type of a call, and the reason; None if the overloads of that name do not agree.

    Args:
        catalog: the functions that are known.
        function: the function as the plan declares it.
        arguments: what it is called with.
        kinds: which kinds of functions may stand there.
    """
    overloads = overloads_named(catalog, function, tuple(kinds))
    worded = [found for each in overloads if (found := _without_words(catalog, each, arguments)) is not None]
    if worded:
        return _agreed_type(worded, "its overload for these values does, though it takes words, too")
    taking = [each for each in overloads if each.takes_count(len(arguments))]
    fitting = _agreed_type(
        [_independent_type(catalog, each, arguments) for each in taking or overloads], "all its overloads do"
    )
    return fitting or _agreed_type(
        [_as_its_argument(each, arguments) for each in taking], "each of its overloads gives the type of its argument"
    )


def overloads_named(catalog: Catalog, function: FunctionId, kinds: tuple[Kind, ...]) -> list[Overload]:
    """Return the overloads of a function's name: those of its own extension, or if this has none, of all."""
    for urn in (function.urn, None) if function.urn else (None,):
        try:
            return [overload for each in catalog.named(function.name, kinds, urn) for overload in each.overloads]
        except SubstraitDslError:
            continue
    return []


def _agreed_type(types: Sequence[Type | None], why: str) -> tuple[Type, str] | None:
    first = types[0] if types else None
    return (first, why) if first is not None and all(type_ == first for type_ in types) else None


def _without_words(catalog: Catalog, overload: Overload, arguments: Sequence[CallArgument]) -> Type | None:
    """Return the type of an overload for a call without enum arguments; None if it does not match."""
    values = tuple(each for each in overload.arguments if not isinstance(each, EnumArgument))
    if len(values) == len(overload.arguments) or any(isinstance(each, EnumValue) for each in arguments):
        return None
    wordless = attrs.evolve(overload, arguments=values)
    if not values and overload.variadic is not None:
        return None
    found = fit(wordless, arguments, catalog.separate)
    try:
        return None if found is None else output_type(found, arguments)
    except SubstraitDslError:
        return None


def _independent_type(catalog: Catalog, overload: Overload, arguments: Sequence[CallArgument]) -> Type | None:
    """Return the type of an overload, as far as it does not depend on an argument that does not match."""
    bindings = Bindings(catalog.separate)
    needed = {name for _, expression in overload.returns.assignments for name in _names(expression)}
    needed |= set(_names(overload.returns.result))
    nullable = False
    for position, argument in enumerate(arguments):
        nullable |= isinstance(argument, Typed) and argument.type.nullable
        if position >= len(overload.arguments) and overload.variadic is None:
            continue
        declared = overload.argument_at(position) if overload.arguments else None
        if not isinstance(declared, ValueArgument):
            continue
        attempt = bindings.copy()
        if isinstance(argument, Typed) and attempt.match_argument(
            declared.pattern, argument.type, discrete=overload.nullability == "DISCRETE"
        ):
            bindings = attempt
        elif not needed.isdisjoint(_names(declared.pattern)):
            return None
    try:
        type_ = run(overload.returns, bindings, _no_value)
    except SubstraitDslError:  # it reads a name that nothing binds
        return None
    return type_.with_nullability(nullable) if overload.nullability == "MIRROR" else type_


def _as_its_argument(overload: Overload, arguments: Sequence[CallArgument]) -> Type | None:
    """Return the type of the only argument, if the overload returns the type of its argument, as ``min`` does."""
    result = overload.returns.result
    if len(overload.arguments) != 1 or len(arguments) != 1 or overload.returns.assignments:
        return None
    declared, argument = overload.arguments[0], arguments[0]
    if not isinstance(declared, ValueArgument) or not isinstance(argument, Typed) or not isinstance(result, TypeNode):
        return None
    if attrs.evolve(result, nullable=False) != attrs.evolve(declared.pattern, nullable=False):
        return None
    return argument.type if overload.nullability == "MIRROR" else argument.type.with_nullability(result.nullable)


def _names(expression: Expression) -> Iterator[str]:
    """Yield the names (``P1``, ``any1``) in a type expression."""
    match expression:
        case Name(text):
            yield text
        case TypeNode(keyword, is_any=True):
            yield keyword
        case _:
            for part in parts_of(expression):
                yield from _names(part)


def _no_value(name: str) -> int:
    raise InvalidArgumentError(f"the type depends on the value of argument {name}")
