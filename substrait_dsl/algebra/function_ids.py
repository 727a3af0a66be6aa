"""Identifiers of functions, and the phases of an aggregation."""

from __future__ import annotations

from typing import Literal, get_args

import attrs

from substrait_dsl.algebra.frozen_values import HashedOnce

Phase = Literal[
    "initial_to_result", "initial_to_intermediate", "intermediate_to_intermediate", "intermediate_to_result"
]
STANDARD = "extension:io.substrait:"
"""How the URN of each extension of the specification begins."""
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

    @property
    def extension(self) -> str:
        """What follows `STANDARD` in the URN of an extension of the specification; of another one the URN.

        A URN without a colon gets one, so that it is none of the former.
        """
        urn = self.urn
        return urn.removeprefix(STANDARD) if ":" in urn or not urn else f":{urn}"

    @property
    def standard_name(self) -> str:
        """The name, if it is of an extension of the specification; empty for others, which may mean anything by it."""
        return self.name if self.urn.startswith(STANDARD) else ""
