"""Calls of functions: what they have in common, and those of scalar functions.

Specification: https://substrait.io/expressions/scalar_functions/. The output
type of a call is derived by the catalogue before the call is built, and stored in it. So a call of an unknown function
in a plan that was read keeps the type that the plan declares.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.function_ids import PHASES, FunctionId, Phase
from substrait_dsl.algebra.node import Expression
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, require_choice

Invocation = typing.Literal["all", "distinct"]
INVOCATIONS: tuple[Invocation, ...] = typing.get_args(Invocation)


@attrs.frozen(eq=False, repr=False)
class EnumArgument(FrozenValue):
    """An argument that is one of a function's own words (``extract(YEAR, ...)``)."""

    value: str


@attrs.frozen(eq=False, repr=False)
class TypeArgument(FrozenValue):
    """An argument that is a type."""

    type: Type


Argument = Expression | EnumArgument | TypeArgument


@attrs.frozen(eq=False, repr=False)
class FunctionOption(FrozenValue):
    """How a function behaves in a corner case: preferences, the first one that is supported wins."""

    name: str
    preferences: tuple[str, ...]

    def __attrs_post_init__(self) -> None:
        if not self.preferences:
            raise InvalidArgumentError(
                f"the option {self.name} says no preference", hint="leave an option out if nothing is preferred"
            )


@attrs.frozen(eq=False, repr=False)
class ScalarFunction(Expression):
    """A call of a scalar function."""

    function: FunctionId
    arguments: tuple[Argument, ...]
    output_type: Type
    options: tuple[FunctionOption, ...] = ()

    def _derive_type(self) -> Type:
        if self.options:
            check_options(self.function, self.options)
        return self.output_type


def check_options(function: FunctionId, options: tuple[FunctionOption, ...]) -> None:
    """Raise `InvalidArgumentError` for an option that is given twice. The catalogue knows which ones exist."""
    rules.require_distinct_options((option.name for option in options), function.name)


def check_call(function: FunctionId, options: tuple[FunctionOption, ...], invocation: Invocation, phase: Phase) -> None:
    """Raise unless a call of an aggregate or window function says what it can. Which phases, the catalogue knows."""
    check_options(function, options)
    require_choice("invocation", invocation, INVOCATIONS)
    require_choice("phase of an aggregation", phase, PHASES)
