"""Relations that change something: write, update, and data definition.

Specification: https://substrait.io/relations/logical_relations/#write-operator and the two operators after it.
"""

from __future__ import annotations

import typing
from collections import Counter

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Expression, Node, Rel
from substrait_dsl.algebra.relations.files import DelimitedText, FileFormat
from substrait_dsl.algebra.relations.read import NamedTable
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import I64, Binary, FixedBinary, List, Map, String, Struct
from substrait_dsl.algebra.unicode import require_name, require_unicode
from substrait_dsl.algebra.validators import several
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    quote,
    require_choice,
)

WriteOp = typing.Literal["insert", "delete", "update", "ctas"]
CreateMode = typing.Literal["append_if_exists", "replace_if_exists", "ignore_if_exists", "error_if_exists"]
OutputMode = typing.Literal["no_output", "modified_records"]
DdlObject = typing.Literal["table", "view"]
DdlOp = typing.Literal["create", "create_or_replace", "alter", "drop", "drop_if_exist"]
WRITE_OPS: tuple[WriteOp, ...] = typing.get_args(WriteOp)
CREATE_MODES: tuple[CreateMode, ...] = typing.get_args(CreateMode)
OUTPUT_MODES: tuple[OutputMode, ...] = typing.get_args(OutputMode)
DDL_OBJECTS: tuple[DdlObject, ...] = typing.get_args(DdlObject)
DDL_OPS: tuple[DdlOp, ...] = typing.get_args(DdlOp)
DROPS: frozenset[DdlOp] = frozenset(("drop", "drop_if_exist"))


@attrs.frozen(eq=False, repr=False)
class NamedObject(FrozenValue):
    """A table or a view by its name, of one or more parts."""

    names: tuple[str, ...]
    extension: AdvancedExtension | None = None

    def __attrs_post_init__(self) -> None:
        require_name(self.names, "the name of an object")


@attrs.frozen(eq=False, repr=False)
class ExtensionObject(FrozenValue):
    """An object that only those know who know the message."""

    detail: AnyMessage


@attrs.frozen(eq=False, repr=False)
class VirtualTarget(FrozenValue):
    """A table in memory by its name; `pin` keeps it there."""

    name: str
    pin: bool = False

    def __attrs_post_init__(self) -> None:
        if not self.name:
            raise InvalidArgumentError("a table in memory needs a name")
        require_unicode(self.name, "the name of a table in memory")


@attrs.frozen(eq=False, repr=False)
class FilesTarget(FrozenValue):
    """Files under a URI, in a format.

    With `partition_columns`, the files of each combination of their values lie in partition directories, such as
    ``day=2024-05-01/region=EU``, and have the other columns alone.
    """

    uri: str
    format: FileFormat
    partition_columns: tuple[str, ...] = attrs.field(default=(), validator=several("a tuple of column names", str))

    def __attrs_post_init__(self) -> None:
        if not self.uri:
            raise InvalidArgumentError("a write of files needs the URI to write to")
        for name in self.partition_columns:
            require_unicode(name, "the name of a partition column")
        twice = [name for name, many in Counter(self.partition_columns).items() if many > 1]
        if twice:
            raise InvalidArgumentError(
                f"a column names folders once; {quote(twice)} does so twice or more", names=[*twice]
            )


WriteTarget = NamedObject | ExtensionObject | VirtualTarget | FilesTarget
DdlTarget = NamedObject | ExtensionObject


@attrs.frozen(eq=False, repr=False)
class Write(Rel):
    """The rows of the input inserted into a table, deleted from it, or put in place of its rows; or a new table.

    Output: nothing, or the records that were modified, as columns of `table_schema`.
    """

    is_change: typing.ClassVar[bool] = True

    input: Rel
    target: WriteTarget
    table_schema: NamedStruct
    op: WriteOp
    output: OutputMode = "no_output"
    create_mode: CreateMode | None = None
    """The action if the table exists already; required for a ``ctas``, and allowed nowhere else."""

    def _validate(self) -> None:
        require_choice("write operation", self.op, WRITE_OPS)
        require_choice("output mode", self.output, OUTPUT_MODES)
        if self.create_mode is not None:
            require_choice("create mode", self.create_mode, CREATE_MODES)
        if (self.create_mode is not None) is not (self.op == "ctas"):
            raise InvalidArgumentError(f"a create mode belongs to a ctas, and to nothing else; this is {self.op}")
        rules.require_assignable("the table", self.input.schema.fields, self.table_schema.fields)
        if isinstance(self.target, FilesTarget):
            _check_partition_columns(self.target.partition_columns, self.table_schema)
            if isinstance(self.target.format, DelimitedText):
                _check_written_text(self.table_schema, self.target.format, self.target.partition_columns)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.table_schema if self.output == "modified_records" else NamedStruct(())


def _check_partition_columns(names: tuple[str, ...], schema: NamedStruct) -> None:
    """Raise unless folders can be named after these columns of the rows that are written.

    Raises:
        UnknownFieldError: one is not there.
        TypeMismatchError: the values of one have no text form.
        SchemaError: no other column is left for the files.
    """
    for name in names:
        if name not in schema.names:
            raise UnknownFieldError.of_name(name, schema.names, inside=" that folders can be named after")
        type_ = schema.fields[schema.position(name)].type
        if isinstance(type_, _WITHOUT_TEXT):
            raise TypeMismatchError(f'folders cannot be named after column "{name}", which is {type_}', names=[name])
    if names and len(names) == len(schema):
        raise SchemaError("folders are named after all columns, and none is left for the files")


def _check_written_text(schema: NamedStruct, text: DelimitedText, partition_columns: tuple[str, ...]) -> None:
    """Raise unless rows can be written as delimited text that is read as the very rows.

    Raises:
        TypeMismatchError: a column has no strings; those that folders are named after are read as strings, too.
        SchemaError: a field is nullable, and the format has no text for NULL.
    """
    for field in schema:
        if not isinstance(field.type, String):
            raise TypeMismatchError(
                f'delimited text holds strings, but column "{field.name}" is {field.type}',
                names=[field.name],
                remedy="column-of-text",
                details={"column": field.name},
            )
        if field.type.nullable and text.null_value is None and field.name not in partition_columns:
            raise SchemaError(
                f'column "{field.name}" of delimited text is nullable, but the format has no text for NULL',
                names=[field.name],
                remedy="null-in-text",
            )


_WITHOUT_TEXT = (List, Map, Struct, Binary, FixedBinary)
"""The types whose values are not written as one text."""


@attrs.frozen(eq=False, repr=False)
class Transformation(Node):
    """A column of a table, by position, and its new value."""

    column: int
    value: Expression


@attrs.frozen(eq=False, repr=False)
class Update(Rel):
    """The rows of a table for which a condition is true get new values in some columns.

    Expressions see `table_schema`. Output: one required ``i64``, how many rows were changed (spec decision 44).
    """

    is_change: typing.ClassVar[bool] = True

    table: NamedTable
    table_schema: NamedStruct
    condition: Expression
    transformations: tuple[Transformation, ...]

    def _validate(self) -> None:
        rules.require_boolean(self.condition.type, "the condition of an update")
        if not self.transformations:
            raise InvalidArgumentError("an update needs at least one column to change")
        seen: set[int] = set()
        for transformation in self.transformations:
            position = transformation.column
            if not 0 <= position < len(self.table_schema):
                raise UnknownFieldError.of_position(position, "column", f" in {self.table_schema}")
            field = self.table_schema.fields[position]
            if position in seen:
                raise InvalidArgumentError(f'column "{field.name}" is changed twice', names=[field.name])
            seen.add(position)
            rules.require_assignable("the table", [Field(field.name, transformation.value.type)], [field])
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return NamedStruct((Field("modified_records", I64()),))

    @property
    def single_row(self) -> bool:
        return True


@attrs.frozen(eq=False, repr=False)
class Ddl(Rel):
    """A table or a view created, replaced, altered or dropped. Output: nothing.

    `table_schema` and `defaults`, a literal for each column, are of the object as it is afterwards, so a drop has
    neither; `view_definition` is the relation that a view stands for.
    """

    is_change: typing.ClassVar[bool] = True

    target: DdlTarget
    object: DdlObject
    op: DdlOp
    table_schema: NamedStruct | None = None
    defaults: tuple[Literal, ...] = ()
    view_definition: Rel | None = None

    def _validate(self) -> None:
        require_choice("kind of object", self.object, DDL_OBJECTS)
        require_choice("data definition", self.op, DDL_OPS)
        what = f"{self.op} {self.object}"
        if self.op in DROPS:
            if self.table_schema is not None or self.defaults or self.view_definition is not None:
                raise InvalidArgumentError(f"{what} takes no schema, no defaults and no definition")
        elif self.table_schema is None:
            raise InvalidArgumentError(f"{what} needs a schema")
        elif (self.view_definition is not None) is not (self.object == "view"):
            raise InvalidArgumentError(f"{what} needs {'a' if self.object == 'view' else 'no'} view definition")
        else:
            self._check_columns(self.table_schema)
        Rel._validate(self)

    def _check_columns(self, schema: NamedStruct) -> None:
        if self.view_definition is not None:
            rules.require_assignable("the view", self.view_definition.schema.fields, schema.fields)
        if self.defaults and len(self.defaults) != len(schema):
            raise SchemaError(f"the table has {len(schema)} columns, but {len(self.defaults)} defaults are given")
        for field, default in zip(schema, self.defaults, strict=False):
            if not default.type.matches(field.type):
                raise TypeMismatchError(
                    f'column "{field.name}" is {field.type}, but its default is {default.type}', names=[field.name]
                )

    def _derive_schema(self) -> NamedStruct:
        return NamedStruct(())


Change = Write | Update | Ddl
"""The relations that change a table, files or a definition when they are evaluated."""
