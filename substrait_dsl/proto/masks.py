"""Masks as messages of ``algebra.proto``: a selection of the fields of a struct or row, and of the elements of a list.

Specification: ``Expression.MaskExpression`` and
https://substrait.io/expressions/field_references/#masked-complex-expression.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, assert_never

from google.protobuf.message import Message
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.types import DeepTypeError

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder


def encode_mask(encoder: Encoder, mask: ex.StructMask, message: pb.Expression.MaskExpression) -> None:
    """Write a mask; selected fields stay wrapped in their structs (spec decision 25)."""
    encode_struct_mask(encoder, mask, message.select)
    message.maintain_singular_struct = True


def decode_mask(decoder: Decoder, message: pb.Expression.MaskExpression) -> ex.StructMask:
    """Read a mask. Whether a struct of one field, or a list of one element, is unwrapped makes no difference.

    Nobody does it (spec decision 25).
    """
    if not message.HasField("select"):
        decoder.mark_location(message)
        raise PlanFormatError("a mask must set select")
    mask = decode_struct_mask(decoder, message.select)
    if not message.maintain_singular_struct and _has_one_element(mask):
        text = "a mask of one element of a list does not say that it keeps the list; read as a list of that element"
        decoder.report(FindingCode.MASK_OF_ONE_FIELD, text, message)  # spec decision 25
    return mask


def _has_one_element(mask: ex.Mask | None) -> bool:
    """Whether a mask selects a single element of a list, at any depth."""
    match mask:
        case ex.StructMask(items=items):
            return any(_has_one_element(item.child) for item in items)
        case ex.ListMask(first=first, positions=positions, child=child):
            return first + len(positions) == 1 or _has_one_element(child)
        case None:
            return False
        case _:
            assert_never(mask)


def encode_struct_mask(
    encoder: Encoder, mask: ex.StructMask, message: pb.Expression.MaskExpression.StructSelect, depth: int = 1
) -> None:
    """Write the selected fields of a struct, perhaps none; `depth` counts enclosing structs and lists."""
    if depth > encoder.layout.type_nesting:
        raise DeepTypeError
    message.SetInParent()
    for item in mask.items:
        select = message.struct_items.add()
        select.field = item.position
        if item.child is not None:
            _encode_part(encoder, item.child, select.child, depth + 1)


def decode_struct_mask(decoder: Decoder, message: pb.Expression.MaskExpression.StructSelect) -> ex.StructMask:
    """Read the selected fields of a struct."""
    return ex.StructMask(
        tuple(
            ex.MaskItem(item.field, _decode_part(decoder, item.child) if item.HasField("child") else None)
            for item in message.struct_items
        )
    )


def encode_list_mask(
    encoder: Encoder, mask: ex.ListMask, message: pb.Expression.MaskExpression.ListSelect, depth: int
) -> None:
    """Write the selected elements of a list: a slice of the first ones, and positions."""
    if depth >= encoder.layout.type_nesting:  # the innermost one takes a level more than a struct
        raise DeepTypeError
    if mask.first:
        message.selection.add().slice.end = mask.first
    for position in mask.positions:
        message.selection.add().item.field = position
    if mask.child is not None:
        _encode_part(encoder, mask.child, message.child, depth + 1)


def decode_list_mask(decoder: Decoder, message: pb.Expression.MaskExpression.ListSelect) -> ex.ListMask:
    """Read the selected elements of a list.

    Raises:
        PlanFormatError: it selects nothing.
        UnsupportedError: it can be read in several ways (spec decision 26).
    """
    first = 0
    positions: list[int] = []
    for number, selected in enumerate(message.selection):
        match selected.WhichOneof("type"):
            case "item" if selected.item.field >= 0:
                positions.append(selected.item.field)
            case "item":
                raise _unclear(decoder, selected, f"the element {selected.item.field}: whether it counts from the end")
            case "slice" if number == 0 and selected.slice.start == 0 and selected.slice.end > 0:
                first = selected.slice.end
            case "slice":
                text = f"the slice from {selected.slice.start} to {selected.slice.end}"
                if number and not selected.slice.start:
                    raise _unclear(decoder, selected, f"{text} behind other elements: whether they stand there twice")
                raise _unclear(decoder, selected, f"{text}: whether that is the end, or how many")
            case None:
                decoder.mark_location(selected)
                raise PlanFormatError("a part of a mask of a list must set item or slice")
            case never:
                assert_never(never)
    if not message.selection:
        decoder.mark_location(message)
        raise PlanFormatError("a mask of a list must set selection")
    below = [first - 1, *positions]
    if any(one >= other for one, other in pairwise(below)):
        raise _unclear(decoder, message, "elements in another order, or twice: where, and how often, they stand then")
    child = _decode_part(decoder, message.child) if message.HasField("child") else None
    return ex.ListMask(first, tuple(positions), child)


def _unclear(decoder: Decoder, message: Message, text: str) -> UnsupportedError:
    decoder.mark_location(message)
    return UnsupportedError(
        f"a mask of a list selects {text}, the specification does not say",
        hint="a slice from 0 on, and elements by ascending positions, can be read in one way",
    )  # spec decision 26


def _encode_part(encoder: Encoder, mask: ex.Mask, message: pb.Expression.MaskExpression.Select, depth: int) -> None:
    """Write the selected parts of a field, or of each element."""
    match mask:
        case ex.StructMask():
            encode_struct_mask(encoder, mask, message.struct, depth)
        case ex.ListMask():
            encode_list_mask(encoder, mask, message.list, depth)
        case _:
            assert_never(mask)


def _decode_part(decoder: Decoder, message: pb.Expression.MaskExpression.Select) -> ex.Mask:
    """Read the selected parts of a field, or of each element."""
    match message.WhichOneof("type"):
        case "struct":
            return decode_struct_mask(decoder, message.struct)
        case "list":
            return decode_list_mask(decoder, message.list)
        case "map":
            decoder.mark_location(message)
            raise UnsupportedError(
                "a mask of a map cannot be read: the specification does not say what becomes of a key that a map does "
                "not have, nor what a pattern of keys is",
                hint="mask whole fields, the fields of structs, and elements of lists",
            )
        case None:
            decoder.mark_location(message)
            raise PlanFormatError("a part of a mask must set struct, list or map")
        case never:
            assert_never(never)
