"""The names of columns and nested fields, where a producer does not list them depth first.

Specification: ``NamedStruct`` in ``type.proto`` and ``ExpressionReference`` in ``extended_expression.proto``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from substrait import type_pb2

from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import List, Map, Struct, Type, struct_names

if TYPE_CHECKING:
    from substrait import extended_expression_pb2

    from substrait_dsl.proto.decoder import Decoder


def decode_schema_names(decoder: Decoder, types: Sequence[Type], message: type_pb2.NamedStruct) -> Sequence[str]:
    """Read the names of a schema, depth first; Arrow omits those of structs inside lists and maps."""
    names = message.names
    if len(names) != sum(1 + _named_fields(type_) for type_ in types):
        return names
    remaining = iter(names)
    filled = [name for type_ in types for name in (next(remaining), *_with_positions(type_, remaining))]
    if len(filled) > len(names):
        decoder.report(
            FindingCode.NESTED_NAMES,
            "a schema does not name the fields of structs inside lists and maps: read as 0, 1, ...",
            message,
        )
    return filled


def _named_fields(type_: Type) -> int:
    """Count the struct fields of a type that are not inside a list or map."""
    return sum(1 + _named_fields(inner) for inner in type_.types) if isinstance(type_, Struct) else 0


def _with_positions(type_: Type, names: Iterator[str]) -> Iterator[str]:
    if isinstance(type_, Struct):
        for inner in type_.types:
            yield next(names)
            yield from _with_positions(inner, names)
    else:
        yield from struct_names(type_)


def names_by_position(schema: NamedStruct) -> tuple[str, ...]:
    """Return the names of a schema's columns by position, each with those of nested fields, depth first."""
    return tuple(name for position, type_ in enumerate(schema.types) for name in (str(position), *struct_names(type_)))


def decode_column_names(
    decoder: Decoder, type_: Type, message: extended_expression_pb2.ExpressionReference
) -> tuple[str, ...]:
    """Read the names of the column of an expression, depth first.

    Arrow writes those of nested fields before the name of their column, and also those of the parts of lists and maps.
    """
    names = tuple(message.output_names)
    if not decoder.producer.nested_names_first or not isinstance(type_, Struct | List | Map):
        return names
    remaining = iter(names)
    try:
        below = _nested_names(type_, remaining)
        column = next(remaining)
    except StopIteration:
        return names
    if next(remaining, None) is not None:
        return names
    decoder.report(
        FindingCode.NESTED_NAMES,
        f"Arrow says the names of nested fields in front of that of the column, {column}, and those of the parts of "
        "lists and maps: read so",
        message,
    )
    return (column, *below)


def _nested_names(type_: Type, names: Iterator[str]) -> list[str]:
    """Return the names below a type, depth first, from Arrow's names. Raises `StopIteration` if there are too few."""
    match type_:
        case Struct():
            found: list[str] = []
            for inner in type_.types:
                below = _nested_names(inner, names)
                found += (next(names), *below)
            return found
        case List():
            below = _nested_names(type_.element, names)
            next(names)  # "item"
            return below
        case Map():
            key = _nested_names(type_.key, names)
            next(names)  # "key"
            value = _nested_names(type_.value, names)
            next(names)  # "value"
            next(names)  # "entries"
            return key + value
        case _:
            return []
