"""Overload resolution: which overload a call means, and its output type.

Specification: https://substrait.io/extensions/ (arguments, variadic behaviour, nullability handling) and
https://substrait.io/expressions/scalar_functions/.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.function_ids import Phase
from substrait_dsl.algebra.type_syntax import Constant, Expression, Name, Program, TypeNode, parts_of
from substrait_dsl.algebra.types import Type, TypeVariation
from substrait_dsl.catalog.call_arguments import CallArgument, EnumValue, Open, Typed, TypeValue
from substrait_dsl.catalog.derive import Bindings, build, run
from substrait_dsl.catalog.records import Argument, EnumArgument, Overload, TypeArgument, ValueArgument
from substrait_dsl.errors import FunctionNotFoundError, InvalidArgumentError

ResolvedArgument = Type | EnumValue | TypeValue


@attrs.frozen(repr=False)  # its options have no hash
class Resolution(FrozenValue):
    """A function call that is resolved: the overload, what each argument is, and the type of the result.

    `options` are spelled as the extension file spells them.
    """

    overload: Overload
    argument_types: tuple[ResolvedArgument, ...]
    output_type: Type
    options: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, hash=False)


@attrs.frozen(eq=False, repr=False)
class Fit(FrozenValue):
    """An overload that takes the arguments, and how."""

    overload: Overload
    arguments: tuple[ResolvedArgument, ...]
    bindings: Bindings
    defaults: int
    """How many bare values got the type they have by nature."""


def choose(
    overloads: Iterable[Overload], arguments: Sequence[CallArgument], separate: frozenset[TypeVariation] = frozenset()
) -> Fit | None:
    """Return the overload that takes the arguments, or None.

    Of several it is the one that leaves most bare values the type they have by nature, then the first.
    """
    best: Fit | None = None
    bare = sum(isinstance(argument, Open) for argument in arguments)
    for overload in overloads:
        found = fit(overload, arguments, separate)
        if found is not None and (best is None or found.defaults > best.defaults):
            best = found
            if best.defaults == bare:
                break
    return best


def fit(
    overload: Overload, arguments: Sequence[CallArgument], separate: frozenset[TypeVariation] = frozenset()
) -> Fit | None:
    """Return how an overload takes the arguments, or None if it does not."""
    if not overload.takes_count(len(arguments)):
        return None
    return _Attempt(overload, arguments, Bindings(separate)).finish()


def takes_argument(overload: Overload, position: int, arguments: Sequence[CallArgument]) -> bool:
    """Return whether one argument of a call fits an overload by itself, whatever the others are."""
    if not overload.arguments:
        return False
    attempt = _Attempt(overload, arguments, Bindings())
    return attempt.resolve_argument(position, overload.argument_at(position), arguments[position]) is not None


def derive(
    overload: Overload, arguments: Sequence[CallArgument], separate: frozenset[TypeVariation] = frozenset()
) -> Type:
    """Return the type that a call of a known overload has.

    Args:
        overload: The overload, as a plan's function reference names it.
        arguments: What it is called with.
        separate: The type variations that functions of the parent type do not take.

    Raises:
        FunctionNotFoundError: If the overload does not take these arguments.
        InvalidArgumentError: If an argument must be a literal (or a constant) and is not.
    """
    return output_type(_known(overload, arguments, separate), arguments)


def derive_intermediate(
    overload: Overload, arguments: Sequence[CallArgument], separate: frozenset[TypeVariation] = frozenset()
) -> Type | None:
    """Return the type of an aggregate function's intermediate value, or None if it declares none.

    Raises:
        FunctionNotFoundError: If the overload does not take these arguments.
    """
    found = _known(overload, arguments, separate)
    return _run(overload.intermediate, found, arguments) if overload.intermediate else None


def type_of_call(
    overload: Overload,
    arguments: Sequence[CallArgument],
    phase: Phase,
    separate: frozenset[TypeVariation] = frozenset(),
) -> Type | None:
    """Return the type of a call in a phase, None if only the plan can tell: it goes on with intermediate values.

    Spec decision 15.

    Raises:
        FunctionNotFoundError: If the overload does not take these arguments.
        InvalidArgumentError: If an argument must be a literal (or a constant) and is not.
    """
    match phase:
        case "initial_to_result":
            return derive(overload, arguments, separate)
        case "initial_to_intermediate":
            return derive_intermediate(overload, arguments, separate)
        case "intermediate_to_intermediate" | "intermediate_to_result":
            require_intermediate(overload, arguments, separate)
            return None
        case never:
            assert_never(never)


def require_intermediate(
    overload: Overload, arguments: Sequence[CallArgument], separate: frozenset[TypeVariation] = frozenset()
) -> None:
    """Check what a call takes that goes on with intermediate values: one of them, and nothing else (spec decision 15).

    Raises:
        FunctionNotFoundError: If it takes something else.
    """
    if len(arguments) == 1 and isinstance(arguments[0], Typed):
        pattern = overload.intermediate.result if overload.intermediate else None
        if not isinstance(pattern, TypeNode) or not _is_plain(pattern):
            return  # computed from arguments that are not there any more
        if Bindings(separate).match_argument(pattern, arguments[0].type, discrete=False):
            return
    raise FunctionNotFoundError(
        f"{overload.key} does not take ({', '.join(map(str, arguments))}) as its intermediate value, "
        f"which is {overload.intermediate}"
    )


def _is_plain(expression: Expression) -> bool:
    """Return whether a type is written with names and numbers only, so that others can be matched with it."""
    return isinstance(expression, TypeNode | Name | Constant) and all(map(_is_plain, parts_of(expression)))


def output_type(found: Fit, arguments: Sequence[CallArgument]) -> Type:
    """Return the type of a call, by the overload's return type and nullability mode.

    Raises:
        InvalidArgumentError: If an argument must be a literal (or a constant) and is not.
    """
    overload = found.overload
    for position, argument in enumerate(arguments):
        declared = overload.argument_at(position)
        if isinstance(declared, ValueArgument) and declared.constant and _varies(argument):
            raise InvalidArgumentError(f"argument {declared.name} of {overload.name} must be a constant")
    result = _run(overload.returns, found, arguments)
    match overload.nullability:
        case "MIRROR":
            return result.with_nullability(any(isinstance(type_, Type) and type_.nullable for type_ in found.arguments))
        case "DECLARED_OUTPUT" | "DISCRETE":
            return result
        case _:
            assert_never(overload.nullability)


def _known(overload: Overload, arguments: Sequence[CallArgument], separate: frozenset[TypeVariation]) -> Fit:
    found = fit(overload, arguments, separate)
    if found is None:
        raise FunctionNotFoundError(
            f"{overload.key} does not take ({', '.join(map(str, arguments))}): it is {overload}"
        )
    return found


def _varies(argument: CallArgument) -> bool:
    return isinstance(argument, Typed) and argument.constant is False


def _run(program: Program, found: Fit, arguments: Sequence[CallArgument]) -> Type:
    overload = found.overload

    def integer_parameter(name: str) -> int:
        # spec decision 38: the value of an argument can only decide the type of the result if it is known now.
        position = overload.argument_position(name) or 0
        match arguments[position]:
            case Typed(integer=int(value)) | Open(integer=int(value)):
                return value
            case other:
                raise InvalidArgumentError(
                    f"argument {name} of {overload.name} decides the type of the result: expected an integer literal, "
                    f"got an expression of type {other}"
                )

    return run(program, found.bindings, integer_parameter)


class _Attempt:
    """Matching the arguments of one call with one overload.

    Typed arguments bind names first, wherever they stand; bare values then take the types that are left to them.
    """

    def __init__(self, overload: Overload, arguments: Sequence[CallArgument], bindings: Bindings) -> None:
        self.overload = overload
        self.arguments = arguments
        self.bindings = bindings
        self.discrete = overload.nullability == "DISCRETE"
        self.defaults = 0
        self.resolved: list[ResolvedArgument | None] = [None] * len(arguments)

    def finish(self) -> Fit | None:
        pairs = [(self.overload.argument_at(position), argument) for position, argument in enumerate(self.arguments)]
        for wanted_open in (False, True):
            for position, (declared, argument) in enumerate(pairs):
                if isinstance(argument, Open) is wanted_open:
                    self.resolved[position] = self.resolve_argument(position, declared, argument)
                    if self.resolved[position] is None:
                        return None
        resolved = tuple(argument for argument in self.resolved if argument is not None)
        return Fit(self.overload, resolved, self.bindings, self.defaults) if self.is_consistent(resolved) else None

    def resolve_argument(self, position: int, declared: Argument, argument: CallArgument) -> ResolvedArgument | None:
        """Return the type or word that an argument becomes, or None if it does not fit."""
        match declared, argument:
            case ValueArgument(), Typed():
                return argument.type if self.matches(declared.pattern, argument.type, position) else None
            case ValueArgument(), Open():
                return self.resolve_open(declared.pattern, argument, position)
            case EnumArgument(), EnumValue(word) | Open(enum=str(word)):
                return next((EnumValue(option) for option in declared.options if option.lower() == word.lower()), None)
            case TypeArgument(), TypeValue():
                return argument if self.matches(declared.pattern, argument.type, position) else None
            case _:
                return None

    def matches(self, pattern: TypeNode, type_: Type, position: int) -> bool:
        # An INCONSISTENT variadic argument binds its names anew each time it stands; the first time counts.
        repeated = position >= len(self.overload.arguments)
        fresh = repeated and self.overload.variadic is not None and not self.overload.variadic.consistent
        bindings = Bindings(self.bindings.separate) if fresh else self.bindings
        return bindings.match_argument(pattern, type_, discrete=self.discrete)

    def is_consistent(self, resolved: Sequence[ResolvedArgument]) -> bool:
        """Return whether all occurrences of a variadic argument have one type, if they must."""
        variadic = self.overload.variadic
        if variadic is None or not variadic.consistent:
            return True
        repeated = resolved[len(self.overload.arguments) - 1 :]
        return len({type_.as_required() for type_ in repeated if isinstance(type_, Type)}) <= 1

    # --- bare values

    def resolve_open(self, pattern: TypeNode, argument: Open, position: int) -> Type | None:
        for candidate in self.candidates(pattern, argument):
            type_ = candidate.with_nullability(self.discrete and pattern.nullable)
            before = dict(self.bindings.values)
            if argument.accepts(type_) and self.matches(pattern, type_, position):
                self.defaults += type_ == argument.default
                return type_
            self.bindings.values = before
        return None

    def candidates(self, pattern: TypeNode, argument: Open) -> Iterator[Type]:
        """Yield the types that a bare value might take, best first."""
        forced = build(pattern, self.bindings)
        if forced is not None:
            yield forced
        elif pattern.is_any:
            yield from self.natural_types(pattern, argument)
        else:
            for other in self.arguments:  # in 1 - decimal<15,2> the 1 becomes a decimal<15,2> too
                if isinstance(other, Typed) and other.type.keyword == pattern.keyword:
                    yield other.type
            yield from (type_ for type_ in argument.types if type_.keyword == pattern.keyword)

    def natural_types(self, pattern: TypeNode, argument: Open) -> Iterator[Type]:
        """Yield the natural types of this value, and of those that share its label, if all of these take them."""
        sharing = [
            other
            for position, other in enumerate(self.arguments)
            if isinstance(other, Open) and self.shares_label(pattern, self.overload.argument_at(position))
        ]
        for type_ in (type_ for value in (argument, *sharing) for type_ in value.types):
            if all(value.accepts(type_) for value in sharing):
                yield type_

    def shares_label(self, pattern: TypeNode, argument: Argument) -> bool:
        return pattern.keyword != "any" and isinstance(argument, ValueArgument) and argument.pattern == pattern
