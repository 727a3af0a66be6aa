"""The verb `write`, and its targets."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeAlias

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.extensions import AnyLike, any_message
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    UnknownAttributeError,
    error_context,
    quote,
    require_choice,
)
from substrait_dsl.fluent.base import RelationBase, S, table_name, wrap_relation
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.schemas import DynRow, SchemaLike, as_struct

if TYPE_CHECKING:
    from substrait_dsl.fluent.files import FormatName
    from substrait_dsl.fluent.relation import Relation

ObjectName: TypeAlias = "str | Sequence[str] | rl.ExtensionObject"
"""A table or view: its name, of one or more parts, or an `extension_object`."""

Target: TypeAlias = "ObjectName | rl.VirtualTarget | rl.FilesTarget"
"""Where rows are written to."""


class WriteVerbs(RelationBase, Generic[S]):
    """The verbs that change a table by the rows of a relation."""

    __slots__ = ()

    def write(
        self,
        target: Target,
        op: rl.WriteOp = "insert",
        *,
        output: rl.OutputMode = "no_output",
        create_mode: rl.CreateMode | None = None,
        schema: SchemaLike | None = None,
    ) -> Relation[DynRow]:
        """Write the rows to a table, when the plan is executed.

        Args:
            target: the table's name, several parts as a tuple; or ``virtual_target(name)``, ``files_target(uri,
                format)``, ``extension_object(message)``.
            op: insert adds the rows; delete removes rows that equal them; update puts them in the place of those with
                the same key; ctas (CREATE TABLE AS SELECT) makes the table of them.
            output: no_output, or modified_records: the rows that were written, as they are in the table.
            create_mode: for ctas, what to do if the table is there: append_if_exists, replace_if_exists,
                ignore_if_exists, error_if_exists (the default).
            schema: what the columns are called in the table; by default as in this relation. The relation's columns are
                matched to these by position, and these to the columns of the table by name.

        Output: nothing, or the columns of the table. Raises `SchemaError` for another number of columns or the same
        names in another order, `TypeMismatchError` for other types or a nullable column where the table's is required.
        Specification: ``WriteRel``.

        Example:
            >>> print(orders.select("id").write(("shop", "ids"), "ctas", create_mode="replace_if_exists"))
            write ctas as shop.ids replace_if_exists columns id: i64 -> no columns
              emit -> id: i64
                read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="write"):
            require_choice("op", op, rl.WRITE_OPS, "write-operation")
            require_choice("output", output, rl.OUTPUT_MODES, "output-mode")
            if create_mode is not None:
                require_choice("create_mode", create_mode, rl.CREATE_MODES, "create-mode")
            if op == "ctas" and create_mode is None:
                create_mode = "error_if_exists"
            _require_columns(self._rel.schema)
            struct = as_struct(self._rel.schema if schema is None else schema)
            _require_same_order(self._rel.schema, struct)
            return wrap_relation(rl.Write(self._rel, _target(target), struct, op, output, create_mode))


def _refusal(name: str) -> Callable[..., NoReturn]:
    """Refuse ``rel.write.parquet(...)``."""

    def refuse(*_: object, **__: object) -> NoReturn:
        from substrait_dsl.hints import advice

        raise UnknownAttributeError(
            f'write is a method, and has no "{name}"', names=[name], hint=lambda: f"write {advice('writer', name)}"
        )

    return refuse


METHODS_OF_WRITERS = (
    *("parquet", "orc", "csv", "json", "text", "jdbc", "option", "options", "format", "mode", "save", "insertInto"),
    *("saveAsTable", "partitionBy", "bucketBy"),
)
"""The members of PySpark's ``frame.write``: the words of the receiver ``writer`` in the table of hints."""

for _name in METHODS_OF_WRITERS:
    setattr(WriteVerbs.write, _name, _refusal(_name))


def virtual_target(name: str, pin: bool = False) -> rl.VirtualTarget:
    """Name a table in memory to write to.

    Args:
        name: what it is called.
        pin: whether it is kept in memory.

    Returns:
        A target for `Relation.write`. Raises `InvalidArgumentError` for what is no text, or an empty one.

    Specification: the write to a virtual table, which has no message of its own.

    Example:
        >>> print(orders.select("id").write(sd.virtual_target("ids"), "ctas"))
        write ctas as virtual table ids error_if_exists columns id: i64 -> no columns
          emit -> id: i64
            read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="virtual_target"):
        require_flag("pin", pin)
        parts = table_name(name)
        if len(parts) != 1 or not parts[0]:
            raise InvalidArgumentError("the name of a table in memory is one text that is not empty", got=name)
        return rl.VirtualTarget(parts[0], pin)


def files_target(uri: str | os.PathLike[str], format: FormatName | rl.FileFormat = "parquet") -> rl.FilesTarget:
    """Name the folder that `write` puts files into.

    Args:
        uri: the folder; a path without scheme is a local one, made absolute now. In a URI, ``%20`` is a blank. At its
            end, ``{day}`` stands for folders that are named after the values of the column ``day``, which the files in
            them then lack: ``"out/{day}/{region}"`` makes ``out/day=2024-05-01/region=EU``, and ``"out/day={day}"`` is
            another way to say it. ``{{`` and ``}}`` are braces in a name.
        format: as for `read_files`.

    Returns:
        A target for `Relation.write`, which refuses a column that the rows do not have. ``read_files("out", schema,
        kind="folder")`` reads the files back, with the columns that folders are named after.

    Raises:
        InvalidArgumentError: braces that hold no name, or are no folder of their own, or have no other.

    Specification: the write to files, https://substrait.io/relations/logical_relations/#write-operator, whose path
    supports field references. It has no message of its own.

    Example:
        >>> import substrait_dsl as sd
        >>> sales = sd.read_named("sales", {"id": "i64", "day": "date", "region": "string"})
        >>> print(sales.write(sd.files_target("file:///out/{day}/{region}", "parquet"), "ctas"))
        write ctas as files parquet 'file:///out' in folders by day, region error_if_exists
            | columns id: i64, day: date, region: string
            | -> no columns
          read sales -> id: i64, day: date, region: string
    """
    from substrait_dsl.fluent.files import file_format, file_uri, folder_and_columns

    with error_context(verb="files_target"):
        folder, columns = folder_and_columns(uri)
        return rl.FilesTarget(file_uri(folder, "path"), file_format(format), columns)


def extension_object(detail: AnyLike) -> rl.ExtensionObject:
    """Name a table or view by a message that the consumer has to know.

    Args:
        detail: the message: an `AnyMessage`, or one of protobuf.

    Returns:
        A target for `Relation.write`, `create_table` and their like. Raises `InvalidArgumentError` for no message.

    Specification: ``ExtensionObject``.

    Example:
        >>> print(orders.select("id").write(sd.extension_object(sd.AnyMessage("type.acme.com/Table", b""))))
        write insert into extension 'type.acme.com/Table' columns id: i64 -> no columns
          emit -> id: i64
            read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="extension_object"):
        return rl.ExtensionObject(any_message(detail, "the detail of an extension object"))


def object_named(name: Any) -> rl.NamedObject | rl.ExtensionObject:
    """Return a table or view. Raises `InvalidArgumentError` for what is no name of one."""
    if isinstance(name, rl.ExtensionObject):
        return name
    return rl.NamedObject(table_name(name))


def _target(target: Any) -> rl.WriteTarget:
    if isinstance(target, rl.VirtualTarget | rl.FilesTarget):
        return target
    return object_named(target)


def _require_columns(schema: NamedStruct) -> None:
    if not schema.names:
        raise SchemaError(
            "the relation has no columns to write", hint='of another write, output="modified_records" gives its rows'
        )


def _require_same_order(schema: NamedStruct, table: NamedStruct) -> None:
    """Raise `SchemaError` for columns that would be written into each other's place."""
    if schema.names != table.names and sorted(schema.names) == sorted(table.names):
        raise SchemaError(
            f"the columns are in another order than the table's: {', '.join(schema.names)} instead of "
            f"{', '.join(table.names)}; they are written by position",
            hint=f"select({quote(table.names)}) first",
        )
