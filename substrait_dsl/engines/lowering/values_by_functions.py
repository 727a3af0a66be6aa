"""Constants that an engine does not read, computed by its functions from constants that it reads.

DuckDB reads no timestamps, bytes or strings with a length in a plan, and does not cast to their types. It finds any of
its functions by name, though: ``make_timestamp`` makes a timestamp of microseconds. A NULL gets its type so, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Argument, Cast, Expression, FunctionId, Literal, ScalarFunction, literal
from substrait_dsl.engines.lowering.context import Lowering

MAX_DIGITS = 6
"""The maximal precision that the engine computes with."""


@attrs.frozen
class Carrier:
    """A type whose literals the engine reads, to compute values of another type from."""

    type: t.Type
    """The type of the literals that the engine reads."""
    encode: Callable[[Any], object]
    """Returns the literal's value for a value that is not NULL."""
    compute: Callable[[Expression, t.Type], Expression]
    """Returns the value of a type from an expression of the carrier's type."""


def carrier_of(type_: t.Type, lowering: Lowering) -> Carrier | None:
    """Return the carrier of a type; None where the engine reads its literals, or lacks a function for them."""
    if not lowering.profile.has_form("values_by_functions"):
        return None
    if isinstance(type_, t.PrecisionTimestamp | t.PrecisionTimestampTZ):
        digits = int(type_.precision)
        if digits > MAX_DIGITS:
            return None
        factor = 10 ** (MAX_DIGITS - digits)
        compute = _timestamp(lowering) if isinstance(type_, t.PrecisionTimestamp) else _instant(lowering)
        return Carrier(t.I64(), lambda value: int(value) * factor, compute)
    return _CARRIERS[type(type_)](lowering) if type(type_) in _CARRIERS else None


def computed_constant(node: Literal, carrier: Carrier) -> Expression:
    """Return a constant as a call of a function."""
    return carrier.compute(carried_value(node, carrier), node.type)


def carried_value(node: Literal, carrier: Carrier) -> Expression:
    """Return the literal that a constant is computed from."""
    if node.value is None:
        return Cast(Literal(None, t.I32(nullable=True)), carrier.type.as_nullable())
    return Literal(carrier.encode(node.value), carrier.type.as_required())


def timestamp_of_date(value: Expression, type_: t.Type, lowering: Lowering) -> Expression:
    """Return midnight of a day."""
    count = _own("epoch_us:date", t.I64(nullable=value.type.nullable), lowering, value)
    return _timestamp(lowering)(count, type_)


def _own(key: str, type_: t.Type, lowering: Lowering, *arguments: Argument) -> ScalarFunction:
    """Call a function of the engine's own."""
    return ScalarFunction(FunctionId(lowering.profile.urn_of(key), key), arguments, type_)


def _timestamp(lowering: Lowering) -> Callable[[Expression, t.Type], Expression]:
    return lambda count, type_: _own("make_timestamp:i64", type_, lowering, count)


def _instant(lowering: Lowering) -> Callable[[Expression, t.Type], Expression]:
    def compute(count: Expression, type_: t.Type) -> Expression:
        timestamp = _timestamp(lowering)(count, t.PrecisionTimestamp(6, nullable=count.type.nullable))
        return _own("timezone:str_pts", type_, lowering, literal("UTC", t.String()), timestamp)

    return compute


def _bytes(lowering: Lowering) -> Carrier:
    return Carrier(t.String(), bytes.hex, lambda digits, type_: _own("from_hex:str", type_, lowering, digits))


def _text(lowering: Lowering) -> Carrier:
    def compute(text: Expression, type_: t.Type) -> Expression:
        return ScalarFunction(_REPEAT, (text, literal(1, t.I64())), type_)

    return Carrier(t.String(), str, compute)


_REPEAT = FunctionId("extension:io.substrait:functions_string", "repeat:str_i64")

_CARRIERS: Mapping[type[t.Type], Callable[[Lowering], Carrier]] = {t.Binary: _bytes, t.VarChar: _text}
