"""Lowered bindings and collections: a relation, and the values of variables in its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from substrait_dsl.algebra.expressions import ROOT, Expression, FieldReference, SortKey
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import Project
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.partiql.constants import virtual_table
from substrait_dsl.partiql.lowered_values import Column, LoweredValue, with_columns
from substrait_dsl.partiql.values import CollectionType, Value, elements

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

Order = tuple[SortKey, ...]


@attrs.frozen
class StoredTable:
    """A table whose rows have a record id, which `by` gives.

    Args:
        relation: the table, with the column of the record id.
        record_id: its name; it is no attribute of the rows.
    """

    relation: Relation[Any] = attrs.field(eq=id)
    record_id: str


Source: TypeAlias = "RelationBase | StoredTable | Value"
"""The source of a name that no scan binds: a relation, whose rows are a bag of structs; or a value."""

Tables: TypeAlias = Mapping[str, Source]


@attrs.frozen
class LoweredBindings:
    """Binding tuples as the rows of a relation."""

    rel: Rel
    collection_type: CollectionType | None
    """None: a list for rows with one, and a bag for rows without, as a path leads to."""
    variables: Mapping[str, LoweredValue]
    order: Order = ()
    """The sort keys of a list."""

    def with_columns(self, *new: tuple[str, Expression]) -> tuple[LoweredBindings, tuple[FieldReference, ...]]:
        """Return the same tuples, with further columns in their rows."""
        names, expressions = zip(*new, strict=True)
        rel = Project(self.rel, expressions, names)
        width = len(self.rel.schema)
        references = tuple(FieldReference(width + number, one.type) for number, one in enumerate(expressions))
        return attrs.evolve(self, rel=rel), references

    def with_computed_columns(
        self, value: LoweredValue, name: str, *, also_outer: bool = False
    ) -> tuple[LoweredBindings, LoweredValue]:
        """Return the same tuples, and a value whose computed parts are columns of them.

        A variable may be used several times: its value must not be computed as often.
        """
        rows = self

        def to_column(column: Column) -> Column:
            absent = column.absent
            return Column(
                to_reference(column.expression), to_reference(absent) if isinstance(absent, Expression) else absent
            )

        def to_reference(expression: Expression) -> Expression:
            nonlocal rows
            if isinstance(expression, FieldReference) and (expression.root == ROOT or not also_outer):
                return expression
            rows, (reference,) = rows.with_columns((name, expression))
            return reference

        stored = with_columns(value, to_column)
        return rows, stored


@attrs.frozen
class LoweredCollection:
    """A collection of values: the value in the rows of a relation."""

    source: LoweredBindings
    element: LoweredValue
    index: FieldReference | None = None
    """The column of the index, if there is one."""


def constants(collection: Value) -> LoweredCollection:
    """Return the elements of a value, as the rows of a virtual table."""
    collection_type: CollectionType = "list" if isinstance(collection, tuple) else "bag"
    rel, element, ordinal = virtual_table(elements(collection))
    if collection_type == "bag":
        return LoweredCollection(LoweredBindings(rel, collection_type, {}), element)
    order = (SortKey(ordinal, "asc_nulls_first"),)
    return LoweredCollection(LoweredBindings(rel, collection_type, {}, order), element, ordinal)
