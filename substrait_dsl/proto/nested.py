"""Struct, list and map constructors as messages of ``algebra.proto``.

Specification: https://substrait.io/expressions/specialized_record_expressions/ and ``Expression.Nested``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import MapEntry, NestedList, NestedMap, NestedStruct
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.encoder import Encoder

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_nested(
    encoder: Encoder, expression: NestedStruct | NestedList | NestedMap, message: pb.Expression.Nested
) -> None:
    """Write a struct, list or map constructor."""
    message.nullable = expression.nullable
    if expression.variation is not None:
        message.type_variation_reference = encoder.declarations.variation(expression.variation)
    match expression:
        case NestedStruct(fields):
            message.struct.SetInParent()  # a struct of no fields is one, too
            for field in fields:
                encoder.expression(field, message.struct.fields.add())
        case NestedList(values):
            for value in values:
                encoder.expression(value, message.list.values.add())
        case NestedMap(entries):
            for entry in entries:
                pair = message.map.key_values.add()
                encoder.expression(entry.key, pair.key)
                encoder.expression(entry.value, pair.value)
        case _:
            assert_never(expression)


def decode_nested(
    decoder: Decoder, message: pb.Expression.Nested, scope: Scope
) -> NestedStruct | NestedList | NestedMap:
    """Read a struct, list or map constructor; its type is derived."""
    nullable, nested_type = message.nullable, message.WhichOneof("nested_type")
    variation = decoder.variation(message.type_variation_reference, nested_type or "nested", message)
    match nested_type:
        case "struct":
            fields = tuple(decoder.expression(field, scope) for field in message.struct.fields)
            return NestedStruct(fields, nullable, variation)
        case "list":
            values = tuple(decoder.expression(value, scope) for value in message.list.values)
            return NestedList(values, nullable, variation)
        case "map":
            entries = tuple(
                MapEntry(decoder.expression(pair.key, scope), decoder.expression(pair.value, scope))
                for pair in message.map.key_values
            )
            return NestedMap(entries, nullable, variation)
        case None:
            raise PlanFormatError("a nested expression must set struct, list or map")
        case other:
            assert_never(other)
