"""`schema_of`: the columns of a file, or of whatever declares columns, as a schema to look at and to paste."""

from __future__ import annotations

import keyword
import os
import re
from typing import Literal
from urllib.parse import unquote

from substrait_dsl.algebra.relations.files import DelimitedText
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, SchemaError, UnsupportedError, error_context, require_choice
from substrait_dsl.fluent.files import CSV, FormatName, require_path
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.schema_exports import types_by_name
from substrait_dsl.fluent.schema_source import schema_class_source
from substrait_dsl.fluent.schemas import SchemaLike, as_struct

FORMATS = ("parquet", "orc", "arrow", "csv", "json")


class FoundSchema(RelationSchema):
    """The columns that `schema_of` found: a schema that prints as the source of a schema class, to paste.

    Columns that no class has, because of their names, print as a dict.
    """

    __slots__ = ("name",)

    def __init__(self, struct: NamedStruct, name: str) -> None:
        super().__init__(struct)
        self.name = name

    def __str__(self) -> str:
        try:
            return schema_class_source(self.name, self.struct).rstrip()
        except SchemaError:
            pass
        try:
            texts = types_by_name(self.struct)
        except UnsupportedError:
            return super().__str__()
        return "\n".join([f"{self.name} = {{", *(f"    {name!r}: {text!r}," for name, text in texts.items()), "}"])

    __repr__ = __str__


def schema_of(
    source: SchemaLike | os.PathLike[str],
    *,
    format: FormatName | Literal["json"] | DelimitedText | None = None,
) -> RelationSchema:
    """Return the columns of a file, or of a frame, a class or another declaration of columns; they print as a class.

    It is for looking and pasting: a program that reads the file with the class fails where the file has changed.

    Args:
        source: the path or URI of one file of Parquet, ORC, Arrow, delimited text with a header or JSON lines; or what
            is a schema wherever one is taken: a frame, a relation, a class.
        format: the format of the file, by its name or as ``DelimitedText(...)``; by default the file says it, or its
            name.

    Returns:
        The columns, with ``to_source``, ``to_json``, ``to_ddl``, ``to_arrow`` and so on. Delimited text has texts
        alone, nullable if a text stands for NULL: by its name it is what `read_csv` reads, to which an empty field is
        NULL, and a ``DelimitedText`` says it. Of JSON, the types are what pyarrow
        infers from the first megabyte. Raises `ExecutionError` for a file that is not there or cannot be read,
        `SchemaError` for delimited text without a header, `InvalidArgumentError` for what declares no columns,
        `UnsupportedError` for a type without a counterpart.

    Specification: ``NamedStruct``.

    Example:
        >>> import pyarrow
        >>> sd.schema_of(pyarrow.table({"key": [1], "name": ["Ada"]}))
        class Columns(sd.Schema):
            key: sd.Nullable[sd.I64]
            name: sd.Nullable[sd.String]
    """
    with error_context(verb="schema_of"):
        if not isinstance(source, str | os.PathLike):
            if format is not None:
                raise InvalidArgumentError("only a file has a format", got=format)
            name = source.__name__ if isinstance(source, type) else "Columns"
            return FoundSchema(as_struct(source), name)
        if format is not None and not isinstance(format, DelimitedText):
            require_choice("format", format, FORMATS)
        from substrait_dsl.arrow.files import file_schema

        path = os.path.expanduser(os.fspath(source))
        require_path(path)
        struct = file_schema(path, CSV if format == "csv" else format)
        return FoundSchema(as_struct(struct), _class_name(path))


def _class_name(path: str) -> str:
    """Return the name of a class for the columns of a file: ``Orders`` for ``data/orders.parquet``."""
    stem = re.split(r"[/\\]", path.rstrip("/\\"))[-1].split(".")[0]
    words = re.findall(r"[A-Za-z0-9]+", unquote(stem) if "://" in path else stem)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"Columns{name}"
