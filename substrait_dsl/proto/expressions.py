"""Expressions as messages of ``algebra.proto``: which module writes and reads which kind.

Specification: https://substrait.io/expressions/field_references/ and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.errors import PlanFormatError, SubstraitDslError
from substrait_dsl.proto.calls import decode_scalar_function, encode_scalar_function
from substrait_dsl.proto.complexity_limits import NESTED
from substrait_dsl.proto.conditionals import (
    decode_cast,
    decode_if_then,
    decode_multi_or_list,
    decode_singular_or_list,
    decode_switch,
    encode_cast,
    encode_if_then,
    encode_multi_or_list,
    encode_singular_or_list,
    encode_switch,
)
from substrait_dsl.proto.encoder import Encoder
from substrait_dsl.proto.literals import decode_literal, encode_literal
from substrait_dsl.proto.references import (
    decode_reference,
    encode_field_access,
    encode_field_reference,
    encode_masked_reference,
)

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope


def encode_expression(encoder: Encoder, expression: ex.Expression, message: pb.Expression) -> None:
    """Write an expression, or the ordinal of a detached one."""
    if id(expression) in encoder.layout.detached:
        encoder.detach(expression, message)
    else:
        encode_expression_body(encoder, expression, message)


def encode_expression_body(encoder: Encoder, expression: ex.Expression, message: pb.Expression) -> None:
    """Write an expression itself, not a reference to it."""
    known = ex.as_union(expression)
    match known:
        case ex.FieldReference():
            encode_field_reference(encoder, known, message.selection)
        case ex.Literal():
            encode_literal(encoder.declarations, known, message.literal)
        case ex.ScalarFunction():
            encode_scalar_function(encoder, known, message.scalar_function)
        case ex.FieldAccess():
            encode_field_access(encoder, known, message.selection)
        case ex.Cast():
            encode_cast(encoder, known, message.cast)
        case ex.IfThen():
            encode_if_then(encoder, known, message.if_then)
        case ex.Switch():
            encode_switch(encoder, known, message.switch_expression)
        case ex.SingularOrList():
            encode_singular_or_list(encoder, known, message.singular_or_list)
        case ex.MultiOrList():
            encode_multi_or_list(encoder, known, message.multi_or_list)
        case ex.MaskedReference():
            encode_masked_reference(encoder, known, message.selection)
        case _:
            from substrait_dsl.proto.seldom_expressions import encode_seldom_expression

            encode_seldom_expression(encoder, known, message)


def decode_expression(decoder: Decoder, message: pb.Expression, scope: Scope) -> ex.Expression:
    """Read an expression over a row, wherever it stands.

    Raises:
        PlanFormatError: if it says something that cannot be; or another error of the library, of the rule it breaks.
        UnsupportedError: for a kind of expression that is not read.
    """
    try:
        rex_type = message.WhichOneof("rex_type")
        if rex_type is None:
            raise PlanFormatError("an expression is missing, or does not set its rex_type")
        read, part = EXPRESSIONS.get(rex_type), getattr(message, rex_type)
        if read is None:
            from substrait_dsl.proto.seldom_expressions import find_decoder

            read, part = find_decoder(rex_type, message)  # and no call around it: those of a deep plan nest
        expression = read(decoder, part, scope)
        if type(expression.type) in NESTED:
            decoder.sizes.check_type(expression.type)
        return expression
    except SubstraitDslError:
        decoder.mark_location(message)
        raise


def _decode_literal(decoder: Decoder, message: pb.Expression.Literal, scope: Scope) -> ex.Literal:
    return decode_literal(decoder, message)


EXPRESSIONS: dict[str, Callable[[Decoder, Any, Scope], ex.Expression]] = {
    "literal": _decode_literal,
    "selection": decode_reference,
    "scalar_function": decode_scalar_function,
    "if_then": decode_if_then,
    "switch_expression": decode_switch,
    "singular_or_list": decode_singular_or_list,
    "multi_or_list": decode_multi_or_list,
    "cast": decode_cast,
}
"""The decoder of each ``Expression.rex_type`` but those of `seldom_expressions`; ordinals have none."""
