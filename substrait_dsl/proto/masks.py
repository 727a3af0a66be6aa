"""Masks as messages of ``algebra.proto``: which parts of a struct, or of a row, to keep.

Specification: ``Expression.MaskExpression`` and
https://substrait.io/expressions/field_references/#masked-complex-expression.
"""

from __future__ import annotations

from typing import assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import MaskItem, StructMask
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.decoder import Decoder
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.types import DeepTypeError


def encode_mask(encoder: Encoder, mask: StructMask, message: pb.Expression.MaskExpression) -> None:
    """Write a mask; what it keeps stays wrapped in its structs (reading 25)."""
    encode_struct_mask(encoder, mask, message.select)
    message.maintain_singular_struct = True


def decode_mask(decoder: Decoder, message: pb.Expression.MaskExpression) -> StructMask:
    """Read a mask. Whether a struct of one field is unwrapped makes no difference: nobody does it (reading 25)."""
    if not message.HasField("select"):
        decoder.fail(message)
        raise PlanFormatError("a mask must say what it selects (select)")
    return decode_struct_mask(decoder, message.select)


def encode_struct_mask(
    encoder: Encoder, mask: StructMask, message: pb.Expression.MaskExpression.StructSelect, depth: int = 1
) -> None:
    """Write which fields of a struct to keep, perhaps none; `depth` is how many structs that are."""
    if depth > encoder.layout.type_nesting:
        raise DeepTypeError
    message.SetInParent()
    for item in mask.items:
        select = message.struct_items.add()
        select.field = item.position
        if item.child is not None:
            encode_struct_mask(encoder, item.child, select.child.struct, depth + 1)


def decode_struct_mask(decoder: Decoder, message: pb.Expression.MaskExpression.StructSelect) -> StructMask:
    """Read which fields of a struct to keep."""
    return StructMask(
        tuple(
            MaskItem(item.field, _decode_part(decoder, item.child) if item.HasField("child") else None)
            for item in message.struct_items
        )
    )


def _decode_part(decoder: Decoder, message: pb.Expression.MaskExpression.Select) -> StructMask:
    """Read which parts of a field to keep: those of a struct."""
    match message.WhichOneof("type"):
        case "struct":
            return decode_struct_mask(decoder, message.struct)
        case "list" | "map" as kind:
            decoder.fail(message)
            raise UnsupportedError(
                f"a mask of a {kind} cannot be read: the specification contradicts itself about what it selects",
                hint="mask whole fields, and the fields of structs",
            )  # reading 26
        case None:
            decoder.fail(message)
            raise PlanFormatError("a part of a mask must say struct, list or map")
        case kind:
            assert_never(kind)
