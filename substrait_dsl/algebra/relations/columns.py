"""Relations that change the columns and keep the rows: project and emit.

Specification: https://substrait.io/relations/logical_relations/#project-operation and
https://substrait.io/relations/basics/#emit-output-ordering.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from substrait_dsl.algebra.expressions.references import ROOT, FieldReference
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import InvalidArgumentError, SchemaError, UnknownFieldError


@attrs.frozen(eq=False, repr=False)
class Project(Rel):
    """Each row with further columns computed from it.

    Output: the input's columns, then one per expression, called by `names`. Order and distribution stay.
    """

    input: Rel
    expressions: tuple[Expression, ...]
    names: tuple[str, ...] = attrs.field(eq=False)

    def _settle(self) -> None:
        if not self.expressions:
            raise InvalidArgumentError("a project needs at least one expression")  # reading 55
        Rel._settle(self)

    def _derive_schema(self) -> NamedStruct:
        new = tuple(Field(name, e.type) for name, e in zip(self.names, self.expressions, strict=True))
        return NamedStruct(self.input.schema.fields + new)

    def _derive_properties(self) -> Properties:
        return self.input.properties

    @property
    def single_row(self) -> bool:
        return self.input.single_row

    def copies(self) -> dict[int, list[int]]:
        width = len(self.input.schema)
        found: dict[int, list[int]] = {}
        for number, expression in enumerate(self.expressions):
            if isinstance(expression, FieldReference) and expression.root == ROOT:
                found.setdefault(expression.position, []).append(width + number)
        return found


@attrs.frozen(eq=False, repr=False)
class Emit(Rel):
    """Some columns of the input, in some order, repeats allowed; under new names, if `names` are given.

    On the wire this is the ``emit`` of the input's ``RelCommon``, so an emit never stands on another: `emit` makes one
    of the two. Order and distribution are remapped.
    """

    input: Rel
    mapping: tuple[int, ...]
    names: tuple[str, ...] | None = attrs.field(default=None, eq=False)

    def _settle(self) -> None:
        if isinstance(self.input, Emit):
            raise SchemaError("an emit cannot stand on an emit")
        width = len(self.input.schema)
        for position in self.mapping:
            if not 0 <= position < width:
                raise UnknownFieldError(f"there is no column {position}: the input has {width} columns")
        Rel._settle(self)

    def _derive_schema(self) -> NamedStruct:
        schema = self.input.schema.pick(self.mapping)
        return schema if self.names is None else schema.renamed(self.names)

    def _derive_properties(self) -> Properties:
        return self.input.properties.remapped(self.mapping, self.input.copies())

    @property
    def single_row(self) -> bool:
        return self.input.single_row

    def copies(self) -> dict[int, list[int]]:
        if len(set(self.mapping)) == len(self.mapping):
            return {}
        first: dict[int, int] = {}
        found: dict[int, list[int]] = {}
        for output, position in enumerate(self.mapping):
            if position in first:
                found.setdefault(first[position], []).append(output)
            else:
                first[position] = output
        return found


def emit(rel: Rel, mapping: Sequence[int], names: Sequence[str] | None = None) -> Rel:
    """The relation with its columns picked and, if `names` are given, renamed: one emit, or none where nothing changes.

    Raises `UnknownFieldError` for a position that does not exist.
    """
    if names is None and list(mapping) == list(range(len(rel.schema))):
        return rel
    if isinstance(rel, Emit):
        names = rel.schema.pick(mapping).names if names is None and rel.names is not None else names
        mapping = [rel.mapping[position] for position in mapping]
        rel = rel.input
    return Emit(rel, tuple(mapping), None if names is None else tuple(names))
