"""Identifiers of functions, and the phases of an aggregation."""

from __future__ import annotations

from typing import Literal, get_args

import attrs

from substrait_dsl.algebra.frozen_values import HashedOnce

Phase = Literal[
    "initial_to_result", "initial_to_intermediate", "intermediate_to_intermediate", "intermediate_to_result"
]
PHASES: tuple[Phase, ...] = get_args(Phase)


@attrs.frozen(eq=False, repr=False)
class FunctionId(HashedOnce):
    """The identifier of a function: the URN of its extension and its compound key (``add:i64_i64``)."""

    urn: str
    key: str

    @property
    def name(self) -> str:
        """The name without the signature."""
        return self.key.partition(":")[0]
