"""Calls of aggregate functions, and measures.

Specification: https://substrait.io/expressions/aggregate_functions/.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.calls import Argument, FunctionOption, Invocation, check_call
from substrait_dsl.algebra.expressions.sort_keys import SortKey
from substrait_dsl.algebra.function_ids import FunctionId, Phase
from substrait_dsl.algebra.node import Expression, Node
from substrait_dsl.algebra.types import Type


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

    def _validate(self) -> None:
        check_call(self.function, self.options, self.invocation, self.phase)


@attrs.frozen(eq=False, repr=False)
class Measure(Node):
    """An aggregate function over the records for which the filter, if there is one, is true."""

    function: AggregateFunction
    filter: Expression | None = None

    def _validate(self) -> None:
        if self.filter is not None:
            rules.require_boolean(self.filter.type, "the filter of a measure")
