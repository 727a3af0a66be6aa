"""Reads: where rows come from. Files and tables of others have modules of their own, which few programs load.

Specification: https://substrait.io/relations/logical_relations/#read-operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.references import FieldReference, LambdaParameter
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Expression, Node, Rel, walk
from substrait_dsl.algebra.properties import NO_PROPERTIES, FieldPath, Properties, check_properties
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.unicode import require_name
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations.union import ReadDefinition


class Definition:
    """Base of what a read may be of."""

    __slots__ = ()

    def check_schema(self, schema: NamedStruct) -> None:
        """Raise if the columns of the read cannot be those of its rows, as far as these are known."""


@attrs.frozen(eq=False, repr=False)
class NamedTable(FrozenValue, Definition):
    """A table that the engine knows by a name of one or more parts (catalog, database, table)."""

    names: tuple[str, ...]
    extension: AdvancedExtension | None = None

    def __attrs_post_init__(self) -> None:
        require_name(self.names, "the name of a table")


@attrs.frozen(eq=False, repr=False)
class Record(Node):
    """One row of a virtual table."""

    fields: tuple[Expression, ...]


@attrs.frozen(eq=False, repr=False)
class VirtualTable(Node, Definition):
    """Rows written into the plan: constant expressions, which refer to no column (spec decision 54)."""

    rows: tuple[Record, ...]

    def check_schema(self, schema: NamedStruct) -> None:
        for number, row in enumerate(self.rows):
            _check_row(row, number, schema)


@attrs.frozen(eq=False, repr=False)
class Read(Rel):
    """Rows from a table, from files or from the plan itself.

    Output: the fields of `base_schema` that `projection` keeps, in its order. `filter` must be applied,
    `best_effort_filter` may be; both see the base schema, also what the projection drops.
    """

    base_schema: NamedStruct
    definition: ReadDefinition
    filter: Expression | None = None
    best_effort_filter: Expression | None = None
    projection: ex.StructMask | None = None
    declared: Properties = NO_PROPERTIES
    """The order and the distribution that the data is known to have; fields are those of the base schema."""
    name_values: tuple[tuple[str, str], ...] = ()
    """Name and value pairs associated with the read."""

    def _validate(self) -> None:
        for name in ("filter", "best_effort_filter"):
            condition = getattr(self, name)
            if condition is not None:
                rules.require_boolean(condition.type, f"the {name} of a read")
        self.definition.check_schema(self.base_schema)
        check_properties(self.declared, self.base_schema)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        if self.projection is None:
            return self.base_schema
        row = self.projection.apply(self.base_schema.row_type())
        return NamedStruct(tuple(Field(n, k) for n, k in zip(row.field_names, row.types, strict=True)))

    def _derive_properties(self) -> Properties:
        if self.projection is None or self.declared == NO_PROPERTIES:
            return self.declared
        return self.declared.moved(_places(self.projection, (), ()))

    @property
    def single_row(self) -> bool:
        unfiltered = self.filter is None and self.best_effort_filter is None
        return unfiltered and isinstance(self.definition, VirtualTable) and len(self.definition.rows) == 1


def _places(mask: ex.StructMask, source: FieldPath, target: FieldPath) -> Iterator[tuple[FieldPath, FieldPath]]:
    """Yield each field that a mask keeps whole, and where it stands then."""
    for number, item in enumerate(mask.items):
        path, place = (*source, item.position), (*target, number)
        if item.child is None:
            yield path, place
        elif isinstance(item.child, ex.StructMask):
            yield from _places(item.child, path, place)


def _check_row(row: Record, number: int, schema: NamedStruct) -> None:
    if len(row.fields) != len(schema):
        raise SchemaError(f"row {number} has {len(row.fields)} values, the schema has {len(schema)} columns: {schema}")
    for value, field in zip(row.fields, schema, strict=True):
        if not value.type.matches(field.type) or (value.type.nullable and not field.type.nullable):
            raise TypeMismatchError(
                f'row {number}: column "{field.name}" is {field.type}, the value is {value.type}', names=[field.name]
            )
        for node in walk(value):
            if isinstance(node, Rel):  # spec decision 54
                raise InvalidArgumentError(
                    f'row {number}: column "{field.name}" holds a subquery; a row is constant', names=[field.name]
                )
            if node.own_flags.has_window_functions or _refers_outside(node):
                raise InvalidArgumentError(
                    f'row {number}: column "{field.name}" refers to a column or a window; a row has no input',
                    names=[field.name],
                )


def _refers_outside(node: Node) -> bool:
    """Return whether a node is a reference to a row, and not to the parameters of a lambda around it."""
    match node:
        case FieldReference(root=root) | ex.MaskedReference(input=ex.Row(root=root)):
            return not isinstance(root, LambdaParameter)
        case _:
            return False
