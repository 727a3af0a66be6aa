"""Structs, lists and maps put together from expressions.

Specification: https://substrait.io/expressions/specialized_record_expressions/ and ``Expression.Nested``. An empty list
or map is a literal: only that knows its type.
"""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.node import Expression, Node
from substrait_dsl.algebra.types import List, Map, Struct, Type, TypeVariation, require_size
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError


@attrs.frozen(eq=False, repr=False)
class NestedStruct(Expression):
    """A struct of these fields, perhaps none."""

    fields: tuple[Expression, ...]
    nullable: bool = False
    variation: TypeVariation | None = None
    names: tuple[str, ...] | None = attrs.field(default=None, eq=False)

    def _derive_type(self) -> Type:
        types = tuple(field.type for field in self.fields)
        struct = Struct(types, self.names, nullable=self.nullable, variation=self.variation)
        return require_size(struct, "a struct")


@attrs.frozen(eq=False, repr=False)
class NestedList(Expression):
    """A list of these values, all of one type but for nullability."""

    values: tuple[Expression, ...]
    nullable: bool = False
    variation: TypeVariation | None = None

    def _derive_type(self) -> Type:
        if not self.values:
            raise InvalidArgumentError("a list of no expressions has no type", hint="an empty list is a literal")
        element = rules.common_type([value.type for value in self.values], "the elements of a list")
        return List(element, nullable=self.nullable, variation=self.variation)


@attrs.frozen(eq=False, repr=False)
class MapEntry(Node):
    """A key and its value."""

    key: Expression
    value: Expression


@attrs.frozen(eq=False, repr=False)
class NestedMap(Expression):
    """A map of these entries: keys of one type, never NULL, and values of one type but for nullability."""

    entries: tuple[MapEntry, ...]
    nullable: bool = False
    variation: TypeVariation | None = None

    def _derive_type(self) -> Type:
        if not self.entries:
            raise InvalidArgumentError("a map of no entries has no type", hint="an empty map is a literal")
        key = rules.common_type([entry.key.type for entry in self.entries], "the keys of a map")
        if key.nullable:
            raise TypeMismatchError(f"the keys of a map are never NULL, these are {key}")
        value = rules.common_type([entry.value.type for entry in self.entries], "the values of a map")
        return require_size(Map(key, value, nullable=self.nullable, variation=self.variation), "a map")
