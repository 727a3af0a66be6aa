"""Windows as relations, and the copying of rows, as messages of ``algebra.proto``.

Specification: https://substrait.io/relations/physical_relations/#consistent-partition-window-operation and the expand
operation after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import FieldReference, WindowCall
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.relations import ConsistentField, Expand, ExpandField, SwitchingField, Window, WindowMethod
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.calls import decode_sort_key, encode_sort_key
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.private_extensions import decode_choices, encode_choices, integer_value, read_choice
from substrait_dsl.proto.scopes import names_of_calls, names_of_groups, row_of
from substrait_dsl.proto.windows import decode_window_call, encode_window_call

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

_PLAIN_METHOD: WindowMethod = "consistent_partition"

COPY_INDEX = "index"
"""The name of the column with the number of a row's copy."""


def encode_window(encoder: Encoder, rel: Window, message: pb.ConsistentPartitionWindowRel) -> None:
    """Write a window; its method has no field (spec decision 10)."""
    encoder.relation(rel.input, message.input)
    for call in rel.functions:
        encode_window_call(encoder, call, message.window_functions.add())
    for partition in rel.partitions:
        encoder.expression(partition, message.partition_expressions.add())
    for key in rel.sorts:
        encode_sort_key(encoder, key, message.sorts.add())
    if rel.method != _PLAIN_METHOD:
        encode_choices({"window_method": rel.method}, message.common)


def decode_window(decoder: Decoder, message: pb.ConsistentPartitionWindowRel, outer: Scope | None) -> Window:
    """Read a window."""
    rel = decoder.relation(message.input, outer)
    scope = row_of(decoder, message, outer, (rel, message.input))
    sorts = tuple(decode_sort_key(decoder, key, scope) for key in message.sorts)
    functions: list[WindowCall] = []
    for call in message.window_functions:
        with decoder.part(call):
            functions.append(decode_window_call(decoder, call, scope, sorts))
    partitions = tuple(decoder.expression(partition, scope) for partition in message.partition_expressions)
    names = names_of_calls(functions, rel)
    method = decode_choices(message.common).get("window_method", _PLAIN_METHOD)
    return Window(rel, tuple(functions), partitions, sorts, names, method, anchor=scope.anchor)


def encode_expand(
    encoder: Encoder, rel: Expand, message: pb.ExpandRel, mapping: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """Write an expand; return the mapping of the emit over it, in positions of the written fields.

    A consumer may or may not put out the columns beyond the fields (spec decision 2). So these are always written, and
    removed by an emit.
    """
    encoder.relation(rel.input, message.input)
    for field in rel.fields:
        encode_expand_field(encoder, field, message.fields.add())
    columns = rel.input.schema.types
    if len(rel.fields) >= len(columns):
        return mapping
    for field in _remaining_fields(rel.fields, columns):
        encode_expand_field(encoder, field, message.fields.add())
    encode_choices({"expand_fields": len(rel.fields), "expand_emit": mapping is not None}, message.common)
    places = (*range(len(rel.fields)), len(columns))
    return places if mapping is None else tuple(places[position] for position in mapping)


def decode_expand(decoder: Decoder, message: pb.ExpandRel, outer: Scope | None) -> Expand:
    """Read an expand; columns beyond its fields are put out as they are (spec decision 2)."""
    rel = decoder.relation(message.input, outer)
    scope = row_of(decoder, message, outer, (rel, message.input))
    fields = tuple(decode_expand_field(decoder, field, scope) for field in message.fields)
    written = len(fields)
    fields += _remaining_fields(fields, rel.schema.types)
    if len(fields) > written:
        decoder.report(
            FindingCode.EXPAND_FIELDS,
            f"an expand has {written} fields, its input {len(rel.schema)} columns: read as putting out the fields, "
            "then the columns beyond them as they are, then the number of the copy (i32); others take it to put out "
            "only the fields and that number",
            message,
        )
    fields = fields[: _own_fields(message, len(fields))]
    values = [field.expression if isinstance(field, ConsistentField) else field.duplicates[0] for field in fields]
    return Expand(rel, fields, (*names_of_groups(values, (), rel), COPY_INDEX), anchor=scope.anchor)


def decode_expand_mapping(
    message: pb.ExpandRel, rel: Expand, mapping: tuple[int, ...] | None
) -> tuple[int, ...] | None:
    """Return the mapping of the emit over an expand, in positions of its own fields; None without one."""
    written = max(len(message.fields), len(rel.input.schema))
    if len(rel.fields) == written:
        return mapping
    places = {place: position for position, place in enumerate((*range(len(rel.fields)), written))}
    if mapping is None or not all(place in places for place in mapping):
        raise PlanFormatError("an expand emits a field that is said to be left out")
    own = tuple(places[place] for place in mapping)
    only_left_out = not decode_choices(message.common).get("expand_emit") and own == (*range(len(rel.fields) + 1),)
    return None if only_left_out else own


def _remaining_fields(fields: tuple[ExpandField, ...], columns: tuple[Type, ...]) -> tuple[ConsistentField, ...]:
    """Return fields for the columns beyond those of an expand."""
    return tuple(
        ConsistentField(FieldReference(position, columns[position])) for position in range(len(fields), len(columns))
    )


def _own_fields(message: pb.ExpandRel, written: int) -> int:
    """Read the number of fields that are not to be removed by the emit."""
    number = read_choice("expand_fields", decode_choices(message.common), integer_value, written)
    if not 0 < number <= written:
        raise PlanFormatError(f"an expand of {written} fields is said to have {number}")
    return number


def encode_expand_field(encoder: Encoder, field: ExpandField, message: pb.ExpandRel.ExpandField) -> None:
    """Write a field of an expand."""
    match field:
        case SwitchingField(duplicates):
            for duplicate in duplicates:
                encoder.expression(duplicate, message.switching_field.duplicates.add())
        case ConsistentField(expression):
            encoder.expression(expression, message.consistent_field)
        case _:
            assert_never(field)


def decode_expand_field(decoder: Decoder, message: pb.ExpandRel.ExpandField, scope: Scope) -> ExpandField:
    """Read a field of an expand."""
    with decoder.part(message):
        match message.WhichOneof("field_type"):
            case "switching_field" if message.switching_field.duplicates:
                duplicates = message.switching_field.duplicates
                return SwitchingField(tuple(decoder.expression(duplicate, scope) for duplicate in duplicates))
            case "switching_field":
                raise PlanFormatError("a switching_field needs at least one duplicate")
            case "consistent_field":
                return ConsistentField(decoder.expression(message.consistent_field, scope))
            case _:
                raise PlanFormatError("a field of an expand must set switching_field or consistent_field")
