"""The columns of a relation, and what is made of them: schemas of other libraries, texts, the source of a class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NoReturn

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import require, require_choice
from substrait_dsl.fluent.guidance import no_attribute
from substrait_dsl.tracebacks import end_tracebacks_at_caller

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.types import StructType
    from substrait.type_pb2 import NamedStruct as NamedStructMessage


class RelationSchema(Picklable):
    """The columns of a relation: names, types and nullability, in order.

    Iterating gives fields (`name`, `type`); ``schema["x"]`` and ``schema[0]`` give a column's type.

    Specification: ``NamedStruct``.

    Example:
        >>> print(orders.schema["price"])
        fp64?
    """

    __slots__ = ("struct",)

    def __init__(self, struct: NamedStruct) -> None:
        require(struct, NamedStruct, "the schema of a relation is rel.schema")
        self.struct = struct

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return self.struct.fields

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.struct.names

    @property
    def types(self) -> tuple[t.Type, ...]:
        """The types of the columns."""
        return self.struct.types

    @end_tracebacks_at_caller
    def __getitem__(self, column: str | int) -> t.Type:
        return self.struct.fields[self.struct.position(column)].type

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.names)

    def __len__(self) -> int:
        return len(self.struct)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.struct)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RelationSchema):
            return self.struct == other.struct
        return self.struct == other if isinstance(other, NamedStruct) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.struct)

    def to_arrow(self) -> pyarrow.Schema:
        """Make a pyarrow schema of the same columns.

        Raises `UnsupportedError` for types that Arrow does not have.

        Example:
            >>> print(customers.schema.to_arrow())
            key: int64 not null
            name: string not null
        """
        from substrait_dsl.arrow import to_arrow

        return to_arrow(self.struct)

    def to_spark(self) -> StructType:
        """Make a PySpark schema of the same columns; it needs no session.

        Raises `UnsupportedError` for types that Spark does not have.

        Example:
            >>> customers.schema.to_spark().simpleString()
            'struct<key:bigint,name:string>'
        """
        from substrait_dsl.spark.expressions.types import to_spark

        return to_spark(self.struct)

    def to_proto(self) -> NamedStructMessage:
        """Make a message ``NamedStruct`` of the same columns.

        Raises `UnsupportedError` for types that only a plan can declare. Specification: ``NamedStruct``.

        Example:
            >>> list(customers.schema.to_proto().names)
            ['key', 'name']
        """
        from substrait_dsl.proto.types import encode_schema

        return encode_schema(self.struct)

    def to_dict(self) -> dict[str, str]:
        """Return the text of each column's type by its name, which is a schema wherever one is taken.

        Raises `SchemaError` for a name that stands twice, and `UnsupportedError` for a type whose text does not say all
        of it: of an extension that is none of the specification's, or with a variation.

        Specification: https://substrait.io/types/type_parsing/.

        Example:
            >>> customers.schema.to_dict()
            {'key': 'i64', 'name': 'string'}
        """
        from substrait_dsl.fluent.schema_exports import types_by_name

        return types_by_name(self.struct)

    def to_json(self, *, indent: int | None = None) -> str:
        """Write the columns as a JSON object of names and types, a text that is a schema wherever one is taken.

        Args:
            indent: by how many blanks each column is indented on a line of its own; None for one line.

        Raises as `to_dict`. Specification: https://substrait.io/types/type_parsing/.

        Example:
            >>> customers.schema.to_json()
            '{"key": "i64", "name": "string"}'
        """
        from substrait_dsl.fluent.schema_exports import json_text

        return json_text(self.struct, indent)

    def to_ddl(self, dialect: Literal["spark"] = "spark") -> str:
        """Write the columns as DDL, a text that is a schema for PySpark, and here wherever one is taken.

        Args:
            dialect: whose DDL; there is Spark's.

        Raises `UnsupportedError` for a type that the dialect does not have: reading the text gives the same columns.

        Specification: ``NamedStruct``.

        Example:
            >>> customers.schema.to_ddl()
            'key BIGINT NOT NULL, name STRING NOT NULL'
        """
        from substrait_dsl.spark.expressions.ddl import to_ddl

        require_choice("dialect", dialect, ("spark",))
        return to_ddl(self.struct)

    def to_source(self, name: str) -> str:
        """Write the source of a schema class of these columns, to paste; structs become classes before it.

        Args:
            name: the name of the class.

        Raises `InvalidArgumentError` for what is no name of a class, and `SchemaError` for columns that no class has: a
        name that stands twice, or is no identifier.

        Specification: ``NamedStruct``.

        Example:
            >>> print(customers.schema.to_source("Customers"))
            class Customers(sd.Schema):
                key: sd.I64
                name: sd.String
        """
        from substrait_dsl.fluent.schema_source import schema_class_source

        return schema_class_source(name, self.struct).rstrip()

    def __arrow_c_schema__(self) -> object:
        """Export the columns through Arrow's C data interface: ``pyarrow.schema(rel.schema)``."""
        return self.to_arrow().__arrow_c_schema__()

    if not TYPE_CHECKING:  # a checker must not take every name for a property

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise no_attribute("a schema", name, "schema", dir(type(self)))

    def _repr_html_(self) -> str:
        from substrait_dsl.render.html import schema_html

        return schema_html(self.struct)

    def __str__(self) -> str:
        from substrait_dsl.render.text import show_schema

        return show_schema(self.struct)

    def __repr__(self) -> str:
        return f"RelationSchema({self.struct})"
