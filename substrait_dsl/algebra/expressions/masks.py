"""Masks: which parts of a struct, and which elements of a list in it, to keep.

Specification: ``MaskExpression`` in ``algebra.proto`` and
https://substrait.io/expressions/field_references/#masked-complex-expression. Offered is what can be read in one way:
of a list the first elements, as ``..5`` in the example there, and elements by their positions. A slice that begins
later has an end by one page and a length by another, and a negative position is allowed by one of them alone (reading
26); of a map, nothing says what becomes of a key that it does not have.
"""

from __future__ import annotations

from itertools import pairwise

import attrs

from substrait_dsl.algebra.expressions.references import ROOT, LambdaParameter, OuterReference, Root
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Expression, ParameterUse, SubtreeFlags
from substrait_dsl.algebra.types import List, Struct, Type
from substrait_dsl.algebra.validators import between, several
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, UnknownFieldError


@attrs.frozen(eq=False, repr=False)
class MaskItem(FrozenValue):
    """One field that a mask selects, complete or in part."""

    position: int
    child: Mask | None = None


@attrs.frozen(eq=False, repr=False)
class StructMask(FrozenValue):
    """The fields of a struct to keep, in the order of the output (spec decision 25: nothing is unwrapped)."""

    items: tuple[MaskItem, ...]

    def apply(self, struct: Struct) -> Struct:
        """Return the struct type that is left. Raises `UnknownFieldError`, `TypeMismatchError`."""
        names = struct.names  # `field_names` makes those of all fields, and the row may be wide
        selected: list[tuple[str, Type]] = []
        for item in self.items:
            if not 0 <= item.position < len(struct.types):
                raise UnknownFieldError.of_position(item.position, "field", f" in {struct}")
            type_ = struct.types[item.position]
            name = str(item.position) if names is None else names[item.position]
            selected.append((name, type_ if item.child is None else _masked_type(item.child, type_, f'"{name}"')))
        return attrs.evolve(
            struct, types=tuple(type_ for _, type_ in selected), names=tuple(name for name, _ in selected)
        )


@attrs.frozen(eq=False, repr=False)
class ListMask(FrozenValue):
    """The elements of a list to keep, in their order; a list of them, also of one (spec decision 25).

    These are the `first` elements, and those at some `positions` behind them. A list that is shorter has fewer.
    """

    first: int = attrs.field(default=0, validator=between(0, 2**31 - 1))
    positions: tuple[int, ...] = attrs.field(default=(), validator=several("a tuple of positions", int))
    """From 0 on, ascending."""
    child: Mask | None = None
    """The part of each element to keep; None: all of it."""

    def __attrs_post_init__(self) -> None:
        if any(type(position) is not int for position in self.positions):  # a bool is an int
            raise InvalidArgumentError(f"elements of a list are kept by positions, got {self.positions}")
        if not self.first and not self.positions:
            raise InvalidArgumentError("a mask of a list keeps at least one element")
        if any(not 0 <= position < 2**31 for position in self.positions):
            raise InvalidArgumentError(f"elements of a list are kept by positions from 0 on, got {self.positions}")
        ascending = all(one < other for one, other in pairwise(self.positions))
        if not ascending or (self.positions and self.positions[0] < self.first):
            before = f"the first {self.first} and " if self.first else ""
            raise InvalidArgumentError(
                f"elements are kept once and in their order, got {before}{', '.join(map(str, self.positions))}",
                hint="whether a mask repeats elements, or puts them into another order, the specification leaves open",
            )

    def apply(self, type_: List) -> List:
        """Return the type of the list that is left. Raises `UnknownFieldError`, `TypeMismatchError`."""
        if self.child is None:
            return type_
        return attrs.evolve(type_, element=_masked_type(self.child, type_.element, "an element"))


Mask = StructMask | ListMask


def _masked_type(mask: Mask, type_: Type, what: str) -> Type:
    """Return the type that a mask leaves of a part; `what` is what is called so in messages."""
    match mask, type_:
        case StructMask(), Struct():
            return mask.apply(type_)
        case ListMask(), List():
            return mask.apply(type_)
        case StructMask(), _:
            raise TypeMismatchError(f"only a struct can be read in part, {what} is {type_}")
        case _:
            raise TypeMismatchError(f"only a list has elements to keep, {what} is {type_}")


@attrs.frozen(eq=False, repr=False)
class Row(FrozenValue):
    """A complete row: the types of its columns, and its root."""

    types: Type
    """A struct; were it annotated so, a type checker would take it for a column of a schema class."""
    root: Root = ROOT


@attrs.frozen(eq=False, repr=False)
class MaskedReference(Expression):
    """The parts of a row, or of a struct, that a mask keeps: a struct."""

    input: Expression | Row
    mask: StructMask

    def _validate(self) -> None:
        Expression._validate(self)
        if isinstance(self.input, Row) and isinstance(self.input.root, LambdaParameter):
            use = ParameterUse(self.input.root.steps_out, None, self.input.types)
            object.__setattr__(self, "flags", SubtreeFlags(parameter_uses=frozenset((use,))))

    def _derive_type(self) -> Type:
        type_ = self.input.types if isinstance(self.input, Row) else self.input.type
        if not isinstance(type_, Struct):
            raise TypeMismatchError(f"only parts of a struct can be kept by a mask, this is {type_}")
        return self.mask.apply(type_)

    def _derive_free_anchors(self, anchors: frozenset[int]) -> frozenset[int]:
        if isinstance(self.input, Row) and isinstance(self.input.root, OuterReference):
            return anchors | {self.input.root.anchor}
        return anchors
