"""Keys to sort by.

Specification: ``SortField`` in ``algebra.proto``.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.node import Expression, Node
from substrait_dsl.algebra.properties import SORT_DIRECTIONS, SortDirection
from substrait_dsl.errors import require_choice


@attrs.frozen(eq=False, repr=False)
class SortKey(Node):
    """An expression to sort by, and the direction; or a function of two values that says which comes first."""

    expression: Expression
    direction: SortDirection | FunctionId

    def _validate(self) -> None:
        if not isinstance(self.direction, FunctionId):
            require_choice("sort direction", self.direction, SORT_DIRECTIONS)
