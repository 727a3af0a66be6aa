"""Columns declared by what people have: relations, frames, classes and schemas of other libraries, and texts."""

from __future__ import annotations

import json
import re
from typing import Any

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, SchemaError, quote, shorten
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.python_schemas import columns_of_class, columns_of_pandera
from substrait_dsl.fluent.schemas import as_struct

FORMS = (
    "declare them by a Schema class, a dict {name: type}, a dataclass, TypedDict or pydantic model, a frame, a schema "
    'of Arrow or PySpark, or a text of DDL: "id bigint not null, name string"'
)


def columns_of(schema: Any) -> NamedStruct:
    """Return the columns that an object other than a `Schema` class or a dict declares.

    Raises `InvalidArgumentError` if it declares none, and `UnsupportedError` for a type without a counterpart.
    """
    if isinstance(schema, str):
        return columns_of_text(schema)
    if isinstance(schema, RelationBase):
        return schema.schema.struct
    libraries = {
        class_.__module__.partition(".")[0] for class_ in (schema if isinstance(schema, type) else type(schema)).__mro__
    }
    if "pyspark" in libraries:
        from substrait_dsl.spark.expressions.types import from_spark

        return from_spark(getattr(schema, "schema", schema))
    if "pandera" in libraries:
        return columns_of_pandera(schema)
    if (columns := columns_of_class(schema)) is not None:
        return columns
    from substrait_dsl.arrow.exported import exported_schema, exports_schema

    if exports_schema(schema):
        return exported_schema(schema)
    is_instance = not isinstance(schema, type) and columns_of_class(type(schema)) is not None
    hint = f"give its class: {type(schema).__name__}" if is_instance else FORMS
    raise InvalidArgumentError(f"cannot read columns from {shorten(repr(schema))}", hint=hint)


_NO_DDL = re.compile(r"\s*[^\s:<`]*\s*")
"""A text with one word: the name of a table or of a file, but no column with a type."""


def columns_of_text(text: str) -> NamedStruct:
    """Return the columns that a text declares: DDL as Spark has it, or JSON as `RelationSchema.to_json` writes it."""
    if text.lstrip().startswith("{"):
        return _columns_of_json(text)
    if _NO_DDL.fullmatch(text):
        raise InvalidArgumentError(f"cannot read columns from {text!r}", hint=FORMS)
    from substrait_dsl.spark.expressions.ddl import parse_ddl

    return parse_ddl(text)


def _columns_of_json(text: str) -> NamedStruct:
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except json.JSONDecodeError as error:
        raise SchemaError(f"the text begins with a brace, but is no JSON: {error}", names=[text]) from None
    if not all(isinstance(type_, str) for _, type_ in pairs):
        raise SchemaError(
            "a schema as JSON has the text of a type for each column",
            names=[text],
            hint='write {"id": "i64", "name": "string?"}, as to_json() does',
        )
    names = [name for name, _ in pairs]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise SchemaError(f"the JSON has {quote(repeated)} twice or more", names=repeated)
    return as_struct(dict(pairs))
