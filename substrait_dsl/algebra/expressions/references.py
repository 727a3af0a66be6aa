"""References to columns, and to what lies inside a value.

Specification: https://substrait.io/expressions/field_references/ and ``FieldReference`` in ``algebra.proto``. There a
reference is a root and a chain of segments; here the first segment is a `FieldReference` and each further one a
`FieldAccess` around it.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Expression, ParameterUse, SubtreeFlags
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError


@attrs.frozen(eq=False, repr=False)
class RootReference(FrozenValue):
    """The row that the expression's own relation sees."""


@attrs.frozen(eq=False, repr=False)
class OuterReference(FrozenValue):
    """The row that the expressions of an enclosing relation, the one with this anchor, see."""

    anchor: int


@attrs.frozen(eq=False, repr=False)
class LambdaParameter(FrozenValue):
    """The parameters of a lambda: of the innermost one around the expression, or of one so many lambdas further out."""

    steps_out: int = attrs.field(default=0)

    @steps_out.validator
    def _check_steps_out(self, attribute: attrs.Attribute[int], value: int) -> None:
        if value < 0:
            raise InvalidArgumentError(f"steps_out counts lambdas outwards from 0, got {value}")


Root = RootReference | OuterReference | LambdaParameter
ROOT = RootReference()

_set = object.__setattr__


@attrs.frozen(eq=False, repr=False)
class FieldReference(Expression):
    """A column of a row, by its position."""

    leaf: typing.ClassVar[bool] = True

    position: int
    column_type: Type
    root: Root = ROOT

    def _validate(self) -> None:
        _set(self, "type", self.column_type)
        if isinstance(self.root, LambdaParameter):
            use = ParameterUse(self.root.steps_out, self.position, self.column_type)
            _set(self, "flags", SubtreeFlags(parameter_uses=frozenset((use,))))

    def _derive_free_anchors(self, anchors: frozenset[int]) -> frozenset[int]:
        return frozenset((self.root.anchor,)) if isinstance(self.root, OuterReference) else anchors


@attrs.frozen(eq=False, repr=False)
class StructField(FrozenValue):
    """The field of a struct at a position."""

    position: int


@attrs.frozen(eq=False, repr=False)
class ListElement(FrozenValue):
    """The element of a list at an offset from 0; negative ones count from the end."""

    offset: int

    def __attrs_post_init__(self) -> None:
        if not -(2**31) <= self.offset < 2**31:
            raise InvalidArgumentError(f"the offset of a list element has 32 bits, got {self.offset}")


@attrs.frozen(eq=False, repr=False)
class MapKey(FrozenValue):
    """The value under a key of a map."""

    key: Literal


Segment = StructField | ListElement | MapKey


@attrs.frozen(eq=False, repr=False)
class FieldAccess(Expression):
    """A part of a struct, list or map value."""

    input: Expression
    segment: Segment

    def _derive_type(self) -> Type:
        match self.segment:
            case StructField(position):
                return rules.struct_field_type(self.input.type, position)
            case ListElement():
                return rules.list_element_type(self.input.type)
            case MapKey(key):
                return rules.map_value_type(self.input.type, key.type)
