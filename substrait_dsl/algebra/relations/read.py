"""Reads: where rows come from.

Specification: https://substrait.io/relations/logical_relations/#read-operation.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.references import FieldReference
from substrait_dsl.algebra.node import Expression, Node, Rel, walk
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import String, Struct, Type
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError, UnknownFieldError


@attrs.frozen
class NamedTable:
    """A table that the engine knows by a name of one or more parts (catalog, database, table)."""

    names: tuple[str, ...]

    def __attrs_post_init__(self) -> None:
        if not self.names or not all(self.names):
            raise InvalidArgumentError(f"the name of a table needs at least one part and none empty, got {self.names}")


@attrs.frozen(eq=False, repr=False)
class Record(Node):
    """One row of a virtual table."""

    fields: tuple[Expression, ...]


@attrs.frozen(eq=False, repr=False)
class VirtualTable(Node):
    """Rows written into the plan: constant expressions, which refer to no column (reading 54)."""

    rows: tuple[Record, ...]


@attrs.frozen
class Parquet:
    """Apache Parquet files."""


@attrs.frozen
class Arrow:
    """Arrow IPC files."""


@attrs.frozen
class Orc:
    """Apache ORC files."""


@attrs.frozen
class Dwrf:
    """DWRF files."""


@attrs.frozen
class DelimitedText:
    """Text files with one record a line, such as CSV.

    `null_value` is the text that stands for NULL; None: no text does, and every column must be required.
    """

    field_delimiter: str = ","
    quote: str = '"'
    escape: str = "\\"
    header_lines_to_skip: int = 0
    max_line_size: int = 0
    null_value: str | None = None


FileFormat = Parquet | Arrow | Orc | Dwrf | DelimitedText
PathKind = typing.Literal["path", "glob", "file", "folder"]
PATH_KINDS: tuple[PathKind, ...] = typing.get_args(PathKind)


@attrs.frozen
class FileItem:
    """Files to read: a URI of one file, of a folder, of either (`path`), or a glob; and their format."""

    uri: str
    format: FileFormat
    kind: PathKind = "path"
    partition_index: int = 0
    start: int = 0
    length: int = 0


@attrs.frozen
class LocalFiles:
    """Files, in the order given; a file listed twice is read twice."""

    items: tuple[FileItem, ...]

    def __attrs_post_init__(self) -> None:
        if not self.items:
            raise InvalidArgumentError("a read of files needs at least one path")


@attrs.frozen
class MaskItem:
    """One field that a mask keeps, whole or in part."""

    position: int
    child: StructMask | None = None


@attrs.frozen
class StructMask:
    """The fields of a struct to read, in the order of the output (reading 25: nothing is unwrapped)."""

    items: tuple[MaskItem, ...]

    def apply(self, struct: Struct) -> Struct:
        """The struct type that is left. Raises `UnknownFieldError`, `TypeMismatchError`."""
        names = struct.field_names
        kept: list[tuple[str, Type]] = []
        for item in self.items:
            if not 0 <= item.position < len(struct.types):
                raise UnknownFieldError(f"there is no field {item.position} in {struct}")
            kind = struct.types[item.position]
            if item.child is not None:
                if not isinstance(kind, Struct):
                    raise TypeMismatchError(f'only a struct can be read in part, "{names[item.position]}" is {kind}')
                kind = item.child.apply(kind)
            kept.append((names[item.position], kind))
        return attrs.evolve(struct, types=tuple(kind for _, kind in kept), names=tuple(name for name, _ in kept))


ReadDefinition = NamedTable | VirtualTable | LocalFiles


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
    projection: StructMask | None = None

    def _settle(self) -> None:
        for name in ("filter", "best_effort_filter"):
            condition = getattr(self, name)
            if condition is not None:
                rules.require_boolean(condition.type, f"the {name} of a read")
        match self.definition:
            case VirtualTable(rows):
                for number, row in enumerate(rows):
                    _check_row(row, number, self.base_schema)
            case LocalFiles(items):
                for item in items:
                    if isinstance(item.format, DelimitedText):
                        _check_text(self.base_schema, item.format)
            case NamedTable():
                pass
        Rel._settle(self)

    def _derive_schema(self) -> NamedStruct:
        if self.projection is None:
            return self.base_schema
        row = self.projection.apply(self.base_schema.row_type())
        return NamedStruct(tuple(Field(n, k) for n, k in zip(row.field_names, row.types, strict=True)))

    @property
    def single_row(self) -> bool:
        unfiltered = self.filter is None and self.best_effort_filter is None
        return unfiltered and isinstance(self.definition, VirtualTable) and len(self.definition.rows) == 1


def _check_row(row: Record, number: int, schema: NamedStruct) -> None:
    if len(row.fields) != len(schema):
        raise SchemaError(f"row {number} has {len(row.fields)} values, the schema has {len(schema)} columns: {schema}")
    for value, field in zip(row.fields, schema, strict=True):
        if not value.type.matches(field.type) or (value.type.nullable and not field.type.nullable):
            raise TypeMismatchError(f'row {number}: column "{field.name}" is {field.type}, the value is {value.type}')
        for node in walk(value):
            if isinstance(node, Rel):  # reading 54
                raise InvalidArgumentError(f'row {number}: column "{field.name}" holds a subquery; a row is constant')
            if isinstance(node, FieldReference):
                raise InvalidArgumentError(
                    f'row {number}: column "{field.name}" refers to a column; a row has no input'
                )


def _check_text(schema: NamedStruct, text: DelimitedText) -> None:
    for field in schema:
        if not isinstance(field.type, String):
            raise TypeMismatchError(
                f'delimited text holds strings, but column "{field.name}" is declared {field.type}',
                hint="declare string columns and cast them in a project",
            )
        if field.type.nullable and text.null_value is None:
            raise SchemaError(
                f'column "{field.name}" of delimited text is nullable, but no text stands for NULL',
                hint='declare it required, or give null_value="" (or another text)',
            )
