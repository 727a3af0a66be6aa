"""Calls of functions, and the parts of a measure.

Specification: https://substrait.io/expressions/scalar_functions/ and .../aggregate_functions/. What a call returns is
derived by the catalogue before the call is built; a call keeps the result, so that one read from a plan whose
functions are unknown here survives as it came.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.algebra.node import Expression, Node
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.types import Type

Phase = typing.Literal[
    "initial_to_result", "initial_to_intermediate", "intermediate_to_intermediate", "intermediate_to_result"
]
Invocation = typing.Literal["all", "distinct"]


@attrs.frozen
class EnumArgument:
    """An argument that is one of a function's own words (``extract(YEAR, ...)``)."""

    value: str


@attrs.frozen
class TypeArgument:
    """An argument that is a type."""

    type: Type


Argument = Expression | EnumArgument | TypeArgument


@attrs.frozen
class FunctionOption:
    """How a function behaves in a corner case: preferences, the first one that is supported wins."""

    name: str
    preferences: tuple[str, ...]


@attrs.frozen(eq=False, repr=False)
class ScalarFunction(Expression):
    """A call of a scalar function."""

    function: FunctionId
    arguments: tuple[Argument, ...]
    output_type: Type
    options: tuple[FunctionOption, ...] = ()

    def _derive_type(self) -> Type:
        return self.output_type


@attrs.frozen(eq=False, repr=False)
class SortKey(Node):
    """An expression to sort by, and the direction; or a function of two values that says which comes first."""

    expression: Expression
    direction: SortDirection | FunctionId


@attrs.frozen(eq=False, repr=False)
class AggregateFunction(Node):
    """A call of an aggregate function. It is no expression: it stands only in a measure."""

    function: FunctionId
    arguments: tuple[Argument, ...]
    output_type: Type
    options: tuple[FunctionOption, ...] = ()
    sorts: tuple[SortKey, ...] = ()
    invocation: Invocation = "all"
    phase: Phase = "initial_to_result"


@attrs.frozen(eq=False, repr=False)
class Measure(Node):
    """An aggregate function over the records for which the filter, if there is one, is true."""

    function: AggregateFunction
    filter: Expression | None = None

    def _settle(self) -> None:
        if self.filter is not None:
            rules.require_boolean(self.filter.type, "the filter of a measure")
