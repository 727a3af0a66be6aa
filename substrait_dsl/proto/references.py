"""Field references as messages of ``algebra.proto``: of a row, of an outer row, and into a value.

Specification: https://substrait.io/expressions/field_references/ and ``Expression.FieldReference``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import attrs
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.literals import decode_literal, encode_literal
from substrait_dsl.proto.masks import decode_mask, encode_mask

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_field_reference(
    encoder: Encoder, reference: ex.FieldReference, message: pb.Expression.FieldReference
) -> None:
    """Write a reference to a column."""
    message.direct_reference.struct_field.field = reference.position
    encode_root(encoder, reference.root, message)


def encode_root(encoder: Encoder, root: ex.Root, message: pb.Expression.FieldReference) -> None:
    """Write the root of a reference, after its columns."""
    match root:
        case ex.RootReference():
            message.root_reference.SetInParent()
        case ex.OuterReference(anchor):
            encoder.refer(anchor, message)
        case ex.LambdaParameter(steps_out):
            message.lambda_parameter_reference.SetInParent()
            message.lambda_parameter_reference.steps_out = steps_out
        case _:
            assert_never(root)


def encode_reference(encoder: Encoder, reference: ex.Expression, message: pb.Expression.FieldReference) -> None:
    """Write a reference without an expression around it: a column, or a part of a value."""
    if isinstance(reference, ex.FieldReference):
        encode_field_reference(encoder, reference, message)
    elif isinstance(reference, ex.FieldAccess):
        encode_field_access(encoder, reference, message)
    else:
        raise UnsupportedError(f"{type(reference).__name__} stands where only a reference to a column can")


def encode_field_access(encoder: Encoder, access: ex.FieldAccess, message: pb.Expression.FieldReference) -> None:
    """Write a part of a value: further segments of a reference, if it is part of a column, else of an expression."""
    segments: list[ex.Segment] = []
    base: ex.Expression = access
    while isinstance(base, ex.FieldAccess) and (base is access or id(base) not in encoder.layout.detached):
        segments.append(base.segment)
        base = base.input
    segment_message = message.direct_reference
    if isinstance(base, ex.FieldReference):
        encode_field_reference(encoder, base, message)
        segment_message = message.direct_reference.struct_field.child
    else:
        encoder.expression(base, message.expression)
    while segments:
        segment_message = encode_segment(encoder, segments.pop(), segment_message)


def decode_reference(decoder: Decoder, message: pb.Expression.FieldReference, scope: Scope) -> ex.Expression:
    """Read a reference: a column, a part of a column or of another value, or several parts of a mask."""
    match message.WhichOneof("reference_type"):
        case "direct_reference":
            return decode_direct_reference(decoder, message, scope)
        case "masked_reference":
            return decode_masked_reference(decoder, message, scope)
        case _:
            raise PlanFormatError("a reference must set direct_reference or masked_reference")


def decode_direct_reference(decoder: Decoder, message: pb.Expression.FieldReference, scope: Scope) -> ex.Expression:
    """Read a reference to a column, or to a part of a column or of another value."""
    segment: pb.Expression.ReferenceSegment | None
    columns = decode_columns(decoder, message, scope)
    if columns is None:
        base, segment = decoder.expression(message.expression, scope), message.direct_reference
    else:
        base, segment = decode_column(columns, message.direct_reference)
    while segment is not None:
        base, segment = decode_segment(decoder, base, segment)
    return base


def encode_masked_reference(
    encoder: Encoder, reference: ex.MaskedReference, message: pb.Expression.FieldReference
) -> None:
    """Write a reference to the parts of a row, or of a struct, that a mask selects."""
    encode_mask(encoder, reference.mask, message.masked_reference)
    if isinstance(reference.input, ex.Row):
        encode_root(encoder, reference.input.root, message)
    else:
        encoder.expression(reference.input, message.expression)


def decode_masked_reference(
    decoder: Decoder, message: pb.Expression.FieldReference, scope: Scope
) -> ex.MaskedReference:
    """Read a reference to the parts of a row, or of a struct, that a mask selects."""
    mask = decode_mask(decoder, message.masked_reference)
    if len(mask.items) == 1 and not message.masked_reference.maintain_singular_struct:
        text = "a mask of one field does not say maintain_singular_struct; read as a struct of that field all the same"
        decoder.report(FindingCode.MASK_OF_ONE_FIELD, text, message.masked_reference)  # spec decision 25
    columns = decode_columns(decoder, message, scope)
    if columns is None:
        return ex.MaskedReference(decoder.expression(message.expression, scope), mask)
    items = tuple(attrs.evolve(item, position=columns.position(item.position)) for item in mask.items)
    return ex.MaskedReference(decoder.row(columns.row, columns.root), ex.StructMask(items))


# --- whose columns


@attrs.define(eq=False, repr=False)
class Columns:
    """The columns that a reference chooses from: all of a row, or those of one input."""

    root: ex.Root
    row: tuple[Type, ...]
    places: range

    def position(self, position: int) -> int:
        """Return the position in the row of the column at a position."""
        if not 0 <= position < len(self.places):
            raise PlanFormatError(f"there is no column {position}: the row has {len(self.places)} columns")
        return self.places[position]


def decode_columns(decoder: Decoder, message: pb.Expression.FieldReference, scope: Scope) -> Columns | None:
    """Read the root of a reference; None if it is into the value of an expression instead."""
    match message.WhichOneof("root_type"):
        case "root_reference" | None:  # the row that the relation itself sees; several producers leave it out
            return Columns(ex.ROOT, scope.types, range(len(scope.types)))
        case "expression":
            return None
        case "outer_reference":
            return decode_outer_reference(decoder, message.outer_reference, scope)
        case "lambda_parameter_reference":
            return decode_lambda_parameter_reference(message.lambda_parameter_reference, scope)
        case root:
            assert_never(root)


def decode_outer_reference(
    decoder: Decoder, message: pb.Expression.FieldReference.OuterReference, scope: Scope
) -> Columns:
    """Return the outer row of a reference: by its anchor, or by the number of subqueries."""
    match message.WhichOneof("outer_reference_type"):
        case "rel_reference":
            found, places = _numbered_row(message.rel_reference, scope)
        case "steps_out":
            found = _row_outside(message.steps_out, scope)
            places = range(len(found.types))
        case _:
            raise PlanFormatError("an outer reference must set rel_reference or steps_out")
    return Columns(ex.OuterReference(decoder.anchor_of(found)), found.types, places)


def decode_lambda_parameter_reference(
    message: pb.Expression.FieldReference.LambdaParameterReference, scope: Scope
) -> Columns:
    """Return the parameters of an enclosing lambda."""
    steps = message.steps_out
    if steps >= len(scope.parameters):
        if steps < len(scope.parameters) + _lambdas_outside(scope):
            raise ex.parameter_in_subquery("the parameter of a lambda")
        raise PlanFormatError(
            f"a lambda parameter is {steps} lambdas out (steps_out), but {len(scope.parameters)} stand around it"
        )
    types = scope.parameters[steps]
    return Columns(ex.LambdaParameter(steps), types, range(len(types)))


def _lambdas_outside(scope: Scope) -> int:
    """Count the lambdas around the subqueries that enclose a row."""
    found, row = 0, scope.outer
    while row is not None:
        found += len(row.parameters)
        row = row.outer
    return found


def _numbered_row(number: int, scope: Scope) -> tuple[Scope, range]:
    found = scope.outer and scope.outer.find_anchor(number)
    if found is None:
        raise PlanFormatError(f"rel_reference {number} is the rel_anchor of no relation around the subquery")
    return found, found.numbers[number]


def _row_outside(steps: int, scope: Scope) -> Scope:
    if steps == 0:
        raise PlanFormatError(
            "steps_out is 0, but it counts the subqueries from the innermost outwards, which is 1",
            hint="a field of the row of the relation itself is a root_reference",
        )
    rows = scope.outer.outwards(steps) if scope.outer is not None else []
    if len(rows) < steps:
        many = "no subquery is" if not rows else f"{len(rows)} {'subqueries are' if len(rows) > 1 else 'subquery is'}"
        raise PlanFormatError(f"steps_out is {steps}, but {many} around the reference")
    return rows[steps - 1]


# --- segments


def decode_column(
    columns: Columns, segment: pb.Expression.ReferenceSegment
) -> tuple[ex.Expression, pb.Expression.ReferenceSegment | None]:
    """Return the column of the first segment of a reference, and the next segment if there is one."""
    if segment.WhichOneof("reference_type") != "struct_field":
        raise PlanFormatError("a reference to a row must begin with a struct_field: the position of a column")
    field = segment.struct_field
    place = columns.position(field.field)
    child = field.child if field.HasField("child") else None
    return ex.FieldReference(place, columns.row[place], columns.root), child


def encode_segment(
    encoder: Encoder, segment: ex.Segment, message: pb.Expression.ReferenceSegment
) -> pb.Expression.ReferenceSegment:
    """Write one segment of a reference; return the message for the next."""
    match segment:
        case ex.StructField(position):
            message.struct_field.field = position
            return message.struct_field.child
        case ex.ListElement(offset):
            message.list_element.offset = offset
            return message.list_element.child
        case ex.MapKey(key):
            encode_literal(encoder.declarations, key, message.map_key.map_key)
            return message.map_key.child
        case _:
            assert_never(segment)


def decode_segment(
    decoder: Decoder, base: ex.Expression, message: pb.Expression.ReferenceSegment
) -> tuple[ex.Expression, pb.Expression.ReferenceSegment | None]:
    """Return the part of a value that a segment selects, and the next segment if there is one."""
    match message.WhichOneof("reference_type"):
        case "struct_field":
            return ex.FieldAccess(base, ex.StructField(message.struct_field.field)), _child(message.struct_field)
        case "list_element":
            return ex.FieldAccess(base, ex.ListElement(message.list_element.offset)), _child(message.list_element)
        case "map_key":
            key = decode_literal(decoder, message.map_key.map_key)
            return ex.FieldAccess(base, ex.MapKey(key)), _child(message.map_key)
        case _:
            raise PlanFormatError("a segment of a reference must set struct_field, list_element or map_key")


def _child(
    segment: pb.Expression.ReferenceSegment.StructField
    | pb.Expression.ReferenceSegment.ListElement
    | pb.Expression.ReferenceSegment.MapKey,
) -> pb.Expression.ReferenceSegment | None:
    return segment.child if segment.HasField("child") else None
