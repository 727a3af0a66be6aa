"""A row for each element of a list.

The specification has no relation for it. In a plan it is an ``ExtensionSingleRel`` with a message of this library, as
the captures are.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import I64, List
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError


@attrs.frozen(eq=False, repr=False)
class Unnest(Rel):
    """A row for each element of a list in each row; none for a list that is empty or NULL.

    Output: the input's columns, then the element of the list in the column at position `column`, then its ``i64``
    offset from 0, called by `names`. Order and distribution stay.
    """

    has_own_extension: ClassVar[bool] = False

    input: Rel
    column: int
    names: tuple[str, str] = attrs.field(default=("element", "offset"), eq=False)

    def _validate(self) -> None:
        width = len(self.input.schema)
        if not 0 <= self.column < width:
            raise InvalidArgumentError(f"an unnest of column {self.column}: the input has {width} columns")
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        field = self.input.schema.fields[self.column]
        if not isinstance(field.type, List):
            raise TypeMismatchError(
                f'only lists have elements, column "{field.name}" is {field.type}', names=[field.name]
            )
        element, offset = self.names
        return NamedStruct((*self.input.schema.fields, Field(element, field.type.element), Field(offset, I64())))

    def _derive_properties(self) -> Properties:
        return self.input.properties
