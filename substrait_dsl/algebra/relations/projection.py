"""Relations that change the columns and keep the rows: project and emit.

Specification: https://substrait.io/relations/logical_relations/#project-operation and
https://substrait.io/relations/basics/#emit-output-ordering.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import attrs

from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import Properties, unite_equal_fields
from substrait_dsl.algebra.relations.filtering import Fetch
from substrait_dsl.algebra.relations.sortedness import direct_path
from substrait_dsl.algebra.schema import Field, NamedStruct, check_names
from substrait_dsl.errors import InvalidArgumentError, SchemaError, UnknownFieldError


@attrs.frozen(eq=False, repr=False)
class Project(Rel):
    """Each row with further columns computed from it.

    Output: the input's columns, then one per expression, called by `names`. The distribution stays; so does the order,
    unless an expression has a window function. Both hold for copies of their fields as well.
    """

    input: Rel
    expressions: tuple[Expression, ...]
    names: tuple[str, ...] = attrs.field(eq=False)

    def _validate(self) -> None:
        if not self.expressions:
            raise InvalidArgumentError("a project needs at least one expression")  # spec decision 55
        check_names(self.names, len(self.expressions))
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        new = tuple([Field(name, e.type) for name, e in zip(self.names, self.expressions, strict=True)])
        return NamedStruct.concatenate(self.input.schema, NamedStruct(new))

    def _derive_properties(self) -> Properties:
        properties = self.input.properties
        if properties.ordering and any(each.flags.has_window_functions for each in self.expressions):
            properties = properties.unordered()
        paths = map(direct_path, self.expressions)
        copies = [((column,), path) for column, path in enumerate(paths, len(self.input.schema)) if path is not None]
        if not copies:
            return properties
        equal = unite_equal_fields(properties.equal, copies)
        return Properties(properties.ordering, properties.distribution, properties.ordered_further, equal)

    @property
    def single_row(self) -> bool:
        return self.input.single_row


@attrs.frozen(eq=False, repr=False)
class Emit(Rel):
    """Some columns of the input, in some order, repeats allowed; under new names, if `names` are given.

    On the wire this is the ``emit`` of the input's ``RelCommon``, so an emit never stands on another: `emit` makes one
    of the two. Order and distribution are remapped.
    """

    input: Rel
    mapping: tuple[int, ...]
    names: tuple[str, ...] | None = attrs.field(default=None, eq=False)

    def _validate(self) -> None:
        if isinstance(self.input, Emit):
            raise SchemaError("an emit cannot stand on an emit")
        if self.common is not None:
            raise SchemaError(
                "an emit has no hints or extensions of its own: they belong to the relation that it is of"
            )
        _check_mapping(self.mapping, self.names, self.input)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        schema = self.input.schema.pick(self.mapping)
        return schema if self.names is None else schema.with_names(self.names)

    def _derive_properties(self) -> Properties:
        properties = self.input.properties
        if properties.fieldless and len(set(self.mapping)) == len(self.mapping):
            return properties
        return properties.moved([((position,), (output,)) for output, position in enumerate(self.mapping)])

    @property
    def single_row(self) -> bool:
        return self.input.single_row


def emit(rel: Rel, mapping: Sequence[int], names: Sequence[str] | None = None) -> Rel:
    """Return the relation with columns picked and, with `names`, renamed: one emit, or none where nothing changes.

    A reference to a shared relation has no place for an emit, so there it goes to a fetch of all rows in between.
    Raises `UnknownFieldError` for a position that does not exist, `SchemaError` for another number of names.
    """
    if isinstance(rel, Emit) or rel.common is not None:  # else the new emit checks it in time
        _check_mapping(mapping, names, rel)
    if names is None and list(mapping) == list(range(len(rel.schema))):
        return rel
    if rel.shared:
        return Emit(Fetch(rel), tuple(mapping), None if names is None else tuple(names))
    hinted = _with_hinted_names(rel, mapping, names)
    if isinstance(rel, Emit):
        names = rel.schema.pick(mapping).names if names is None and rel.names is not None else names
        mapping = [rel.mapping[position] for position in mapping]
    return Emit(hinted, tuple(mapping), None if names is None else tuple(names))


def _check_mapping(mapping: Sequence[int], names: Sequence[str] | None, rel: Rel) -> None:
    width = len(rel.schema)
    for position in mapping:
        if not 0 <= position < width:
            raise UnknownFieldError.of_position(position, "column", f": the input has {width} columns")
    if names is not None:
        check_names(names, len(mapping))


def _with_hinted_names(rel: Rel, mapping: Sequence[int], names: Sequence[str] | None) -> Rel:
    """Return the relation below the emit that `emit` makes.

    A hint there names what is put out, so the names change, too.
    """
    below = rel.input if isinstance(rel, Emit) else rel
    if below.common is None or below.common.hint is None or not below.common.hint.output_names:
        return below
    hint = below.common.hint
    if len(hint.output_names) != len(rel.schema.depth_first_names()):
        return below  # what others have written, and does not fit
    remaining = iter(hint.output_names)
    columns = [list(islice(remaining, len(NamedStruct((field,)).depth_first_names()))) for field in rel.schema]
    picked = [columns[position] for position in mapping]
    if names is not None:
        picked = [[name, *column[1:]] for name, column in zip(names, picked, strict=True)]
    after = attrs.evolve(hint, output_names=tuple(name for column in picked for name in column))
    return attrs.evolve(below, common=attrs.evolve(below.common, hint=after))
