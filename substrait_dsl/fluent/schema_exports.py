"""Schemas as texts: the type of each column in the specification's text syntax, as a dict and as JSON."""

from __future__ import annotations

import json

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.type_text import text_with_names
from substrait_dsl.errors import (
    InvalidArgumentError,
    PlanFormatError,
    SchemaError,
    UnsupportedError,
    error_context,
    quote,
)
from substrait_dsl.fluent.schemas import parse_type


def types_by_name(struct: NamedStruct) -> dict[str, str]:
    """Return the text of each column's type. Raises as `RelationSchema.to_dict` says."""
    names = struct.names
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise SchemaError(
            f"a dict has each name once; {quote(repeated)} stand{'s' * (len(repeated) == 1)} twice or more",
            names=repeated,
            hint="rename or drop one of them first",
        )
    texts = {}
    for field in struct:
        with error_context(place="column", name=field.name):
            texts[field.name] = _exact_text(field.type)
    return texts


def json_text(struct: NamedStruct, indent: int | None) -> str:
    """Return the columns as a JSON object. Raises as `RelationSchema.to_json` says."""
    if indent is not None and (type(indent) is not int or not 0 <= indent <= 80):
        raise InvalidArgumentError("the indentation of JSON is a number of blanks from 0 to 80, or None", got=indent)
    return json.dumps(types_by_name(struct), indent=indent, ensure_ascii=False)


def _exact_text(type_: t.Type) -> str:
    """Return the text of a type, of which reading it gives the same type, with the names of fields."""
    text = text_with_names(type_)
    try:
        read = parse_type(text)
    except PlanFormatError:
        read = None
    if read != type_ or list(t.struct_names(read)) != list(t.struct_names(type_)):
        raise UnsupportedError(
            f"the text {text} does not say all of the type",
            hint="to_proto() and a class (to_source) say types of extensions, variations and any names of fields",
        )
    return text
