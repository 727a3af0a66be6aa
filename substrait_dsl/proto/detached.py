"""Expressions that stand apart, since they would nest too deeply in their places.

Specification: https://substrait.io/serialization/binary_serialization/#bounded-expression-nesting: each is referred to
exactly once, and is not itself a reference to another.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from google.protobuf.message import Message
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.findings import FindingCode
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.lambdas import body_scope
from substrait_dsl.proto.paths import parts

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope
    from substrait_dsl.proto.shared_subtrees import Detached

ORDINAL = "detached_expression_ordinal"
"""The ``Expression.rex_type`` of a reference to a detached expression."""


def decode_detached(decoder: Decoder, message: pb.Expression, scope: Scope) -> Expression:
    """Decode a detached expression in the place of a reference to it.

    Those that it refers to are decoded first: their chains may have any length.
    """
    ordinal, entries = message.detached_expression_ordinal, decoder.detached.entries
    _refer(decoder, message)
    stack = [(ordinal, scope)]
    entered: set[int] = set()
    while stack:
        current, place = stack[-1]
        if not current < len(entries):
            raise PlanFormatError(f"there is no detached expression {current}: the tree has {len(entries)}")
        if current in place.detached:
            stack.pop()
        elif current in entered:
            place.detached[current] = decoder.expression(entries[current], place)
            entered.remove(current)
        else:
            entered.add(current)
            if current in decoder.detached.read:  # over another row, or in another lambda
                decoder.read_again(entries[current])
            decoder.detached.read.add(current)
            found = _ordinals(decoder, entries[current], place)
            below = [(other, where) for other, where in found if other not in where.detached]
            if not entered.isdisjoint(other for other, _ in below):
                raise PlanFormatError(f"detached expression {current} refers to itself")
            stack += below
    return scope.detached[ordinal]


def _ordinals(decoder: Decoder, expression: pb.Expression, scope: Scope) -> Iterator[tuple[int, Scope]]:
    """Return the detached expressions that another refers to, with the scope of each; not those over other rows."""
    stack: list[tuple[Message, Scope]] = [(expression, scope)]
    while stack:
        message, place = stack.pop()
        match message:
            case pb.Expression() if message.WhichOneof("rex_type") == ORDINAL:
                yield message.detached_expression_ordinal, place
            case pb.Expression.Lambda():
                stack.append((message.body, body_scope(decoder, message, place)))
            case pb.Rel():
                pass
            case _:
                stack.extend((part, place) for _, part in parts(message))


def _refer(decoder: Decoder, message: pb.Expression) -> None:
    """Record the reference to a detached expression; there should be only one."""
    ordinal = message.detached_expression_ordinal
    if decoder.detached.places.setdefault(ordinal, message) is not message:
        decoder.report(
            FindingCode.DETACHED_EXPRESSION,
            f"detached expression {ordinal} is referred to more than once; read in each place",
            message,
        )


def check_detached(decoder: Decoder, detached: Detached) -> None:
    """Report detached expressions without a reference, and those that are only a reference."""
    for ordinal, entry in enumerate(detached.entries):
        if ordinal not in detached.places:
            decoder.report(
                FindingCode.DETACHED_EXPRESSION, f"nothing refers to detached expression {ordinal}; dropped", entry
            )
        elif entry.WhichOneof("rex_type") == ORDINAL:
            decoder.report(
                FindingCode.DETACHED_EXPRESSION,
                f"detached expression {ordinal} is only a reference to another; read as that",
                entry,
            )
