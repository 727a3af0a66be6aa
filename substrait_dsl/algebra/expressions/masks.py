"""Masks: which parts of a struct to keep.

Specification: ``MaskExpression`` in ``algebra.proto`` and
https://substrait.io/expressions/field_references/#masked-complex-expression. Masks of lists and maps are not offered:
the specification contradicts itself about what they select (reading 26).
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra.expressions.references import ROOT, LambdaParameter, OuterReference, Root
from substrait_dsl.algebra.node import Expression, Inside, ParameterUse
from substrait_dsl.algebra.types import Struct, Type
from substrait_dsl.errors import TypeMismatchError, UnknownFieldError


@attrs.frozen
class MaskItem:
    """One field that a mask keeps, whole or in part."""

    position: int
    child: StructMask | None = None


@attrs.frozen
class StructMask:
    """The fields of a struct to keep, in the order of the output (reading 25: nothing is unwrapped)."""

    items: tuple[MaskItem, ...]

    def apply(self, struct: Struct) -> Struct:
        """The struct type that is left. Raises `UnknownFieldError`, `TypeMismatchError`."""
        names = struct.names  # `field_names` makes those of all fields, and the row may be wide
        kept: list[tuple[str, Type]] = []
        for item in self.items:
            if not 0 <= item.position < len(struct.types):
                raise UnknownFieldError(f"there is no field {item.position} in {struct}")
            kind = struct.types[item.position]
            name = str(item.position) if names is None else names[item.position]
            if item.child is not None:
                if not isinstance(kind, Struct):
                    raise TypeMismatchError(f'only a struct can be read in part, "{name}" is {kind}')
                kind = item.child.apply(kind)
            kept.append((name, kind))
        return attrs.evolve(struct, types=tuple(kind for _, kind in kept), names=tuple(name for name, _ in kept))


@attrs.frozen
class Row:
    """A whole row: the types of its columns, and whose row it is."""

    types: Type
    """A struct; were it annotated so, a type checker would take it for a column of a schema class."""
    root: Root = ROOT


@attrs.frozen(eq=False, repr=False)
class MaskedReference(Expression):
    """The parts of a row, or of a struct, that a mask keeps: a struct."""

    input: Expression | Row
    mask: StructMask

    def _settle(self) -> None:
        Expression._settle(self)
        if isinstance(self.input, Row) and isinstance(self.input.root, LambdaParameter):
            use = ParameterUse(self.input.root.steps_out, None, self.input.types)
            object.__setattr__(self, "inside", Inside(parameters=frozenset((use,))))

    def _derive_type(self) -> Type:
        kind = self.input.types if isinstance(self.input, Row) else self.input.type
        if not isinstance(kind, Struct):
            raise TypeMismatchError(f"only parts of a struct can be kept by a mask, this is {kind}")
        return self.mask.apply(kind)

    def _free(self, anchors: frozenset[int]) -> frozenset[int]:
        if isinstance(self.input, Row) and isinstance(self.input.root, OuterReference):
            return anchors | {self.input.root.anchor}
        return anchors
