"""What a plan declares about extensions: a number for every URN, function, type and variation that it uses.

Specification: https://substrait.io/extensions/ and ``extensions.proto``. Declarations appear in the order of first
use and are numbered from 1, each kind by itself, so that equal plans are equal bytes.
"""

from __future__ import annotations

from substrait.plan_pb2 import Plan

from substrait_dsl.algebra.expressions import FunctionId
from substrait_dsl.algebra.types import TypeVariation, UserDefined


class Declarations:
    """The extension declarations of one plan, written into it as they are asked for.

    Args:
        plan: the message to write to.
        type_nesting: how deeply types may nest inside types in this plan.
    """

    def __init__(self, plan: Plan, type_nesting: int) -> None:
        self.type_nesting = type_nesting
        self._plan = plan
        self._urns: dict[str, int] = {}
        self._functions: dict[FunctionId, int] = {}
        self._types: dict[tuple[str, str], int] = {}
        self._variations: dict[TypeVariation, int] = {}

    def function(self, function: FunctionId) -> int:
        """The anchor of a function."""
        anchor = self._functions.get(function)
        if anchor is None:
            anchor = self._functions[function] = len(self._functions) + 1
            declaration = self._plan.extensions.add().extension_function
            declaration.extension_urn_reference = self._urn(function.urn)
            declaration.function_anchor = anchor
            declaration.name = function.key
        return anchor

    def type(self, kind: UserDefined) -> int:
        """The anchor of a user-defined type."""
        key = (kind.urn, kind.name)
        anchor = self._types.get(key)
        if anchor is None:
            anchor = self._types[key] = len(self._types) + 1
            declaration = self._plan.extensions.add().extension_type
            declaration.extension_urn_reference = self._urn(kind.urn)
            declaration.type_anchor = anchor
            declaration.name = kind.name
        return anchor

    def variation(self, variation: TypeVariation) -> int:
        """The anchor of a type variation: never 0, which means the system's preferred one."""
        anchor = self._variations.get(variation)
        if anchor is None:
            anchor = self._variations[variation] = len(self._variations) + 1
            declaration = self._plan.extensions.add().extension_type_variation
            declaration.extension_urn_reference = self._urn(variation.urn)
            declaration.type_variation_anchor = anchor
            declaration.name = variation.name
        return anchor

    def _urn(self, urn: str) -> int:
        anchor = self._urns.get(urn)
        if anchor is None:
            anchor = self._urns[urn] = len(self._urns) + 1
            declaration = self._plan.extension_urns.add()
            declaration.extension_urn_anchor = anchor
            declaration.urn = urn
        return anchor
