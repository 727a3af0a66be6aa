"""Exchange: where rows are sent."""

from __future__ import annotations

from typing import assert_never

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.render.description_parts import Clause, Parts, message_text, quote
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.scopes import Row


def exchange_parts(exchange: r.Exchange, writer: ExpressionWriter) -> Parts:
    """Return the parts of an exchange's description."""
    count = exchange.partition_count
    arguments = (
        *_kind(exchange.kind, Row((exchange.input.schema,)), writer),
        None if count is None else Clause("into", (f"{count} partition{'' if count == 1 else 's'}",)),
        Clause("to", tuple(map(_target_text, exchange.targets))) if exchange.targets else None,
    )
    return arguments, None


def _kind(kind: r.ExchangeKind, row: Row, writer: ExpressionWriter) -> tuple[Clause | None, ...]:
    match kind:
        case r.Scatter(fields=fields):
            return Clause("", ("scatter",)), Clause("by", tuple(writer.text(field, row) for field in fields))
        case r.SingleBucket(expression=bucket, constrained=constrained):
            name = "single bucket constrained" if constrained else "single bucket"
            return Clause("", (name,)), Clause("by", (writer.text(bucket, row),))
        case r.MultiBucket(expression=buckets, constrained=constrained):
            name = "multi bucket constrained" if constrained else "multi bucket"
            return Clause("", (name,)), Clause("by", (writer.text(buckets, row),))
        case r.RoundRobin(exact=exact):
            return (Clause("", ("round robin exact" if exact else "round robin",)),)
        case r.Broadcast():
            return (Clause("", ("broadcast",)),)
        case _:
            assert_never(kind)


def _target_text(target: r.ExchangeTarget) -> str:
    destination = target.destination
    text = message_text(destination) if isinstance(destination, AnyMessage) else quote(destination)
    return f"{text} (partitions {', '.join(map(str, target.partition_ids))})" if target.partition_ids else text
