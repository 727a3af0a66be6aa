"""Literals in place of another type, whose values are the same.

Producers write the integers of their own language, where the specification wants one width: i64 for a position, i32 for
a column of i8. Beside floats or decimals an integer is the number of that type, if it has exactly this one. SQL's
string literals have a fixed length, where a function takes any length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, Literal, literal
from substrait_dsl.algebra.expressions.literals import fits
from substrait_dsl.algebra.findings import FindingCode

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder


def is_integer_constant(value: object) -> bool:
    """Whether an expression is an integer literal, or a NULL of an integer type, without a type variation."""
    return (
        isinstance(value, Literal) and type(value.literal_type) in t.INTEGER_RANGES and not value.literal_type.variation
    )


def convert_to_width(constant: Literal, type_: t.Type) -> Literal | None:
    """Convert an integer literal to another numeric type; None if its value does not fit exactly.

    Args:
        constant: the constant; `is_integer_constant` holds.
        type_: the type; its nullability does not count.
    """
    if isinstance(type_, t.UserDefined) and type_.urn == t.UNSIGNED_URN:
        wanted = type_.with_nullability(constant.literal_type.nullable)
        return literal(constant.value, wanted) if fits(constant.value, wanted) else None
    if isinstance(type_, t.FP32 | t.FP64 | t.Decimal) and not type_.variation:
        number: t.Type = type_.with_nullability(constant.literal_type.nullable)
        return literal(constant.value, number) if constant.value is None or fits(constant.value, number) else None
    limits = t.INTEGER_RANGES.get(type(type_))
    if limits is None or type_.variation:
        return None
    if type(type_) is type(constant.literal_type):
        return constant
    if constant.value is not None and not limits[0] <= constant.value <= limits[1]:
        return None
    return Literal(constant.value, type_.with_nullability(constant.literal_type.nullable))


def is_text(type_: t.Type) -> bool:
    """Whether a type is a string type without a type variation."""
    return isinstance(type_, t.String | t.VarChar | t.FixedChar) and type_.variation is None


def text_of_type(constant: Literal, keyword: str) -> Literal:
    """Convert a string literal to another string type, with its own length; NULL stays.

    Args:
        constant: the constant; `is_text` holds of its type.
        keyword: the keyword of the type.
    """
    nullable = constant.literal_type.nullable
    if constant.value is None or constant.literal_type.keyword == keyword:
        return constant
    if keyword == t.String.keyword:
        return Literal(constant.value, t.String(nullable=nullable))
    if keyword == t.VarChar.keyword and constant.value:
        return Literal(constant.value, t.VarChar(len(constant.value), nullable=nullable))
    return constant


def with_type_of(decoder: Decoder, value: Expression, type_: t.Type, place: str, message: Any) -> Expression:
    """Convert an integer literal to a type where its value fits; return other expressions as they are.

    Args:
        decoder: the state of decoding.
        value: the expression.
        type_: the type that should stand there.
        place: what the expression is, for the finding: "an option of an IN list".
        message: the message of the expression.
    """
    return constant_of_type(decoder, value, type_, place, message) if isinstance(value, Literal) else value


def constant_of_type(decoder: Decoder, value: Literal, type_: t.Type, place: str, message: Any) -> Literal:
    """Convert a literal as `with_type_of` does."""
    fitted = convert_to_width(value, type_) if is_integer_constant(value) else None
    if fitted is None or fitted is value:
        return value
    decoder.report(
        FindingCode.CONSTANT_WIDTH,
        f"{place} is {value.type}, what it stands beside {type_}; read as {fitted.type}",
        message,
    )
    return fitted


def with_common_width(
    decoder: Decoder, values: Sequence[Expression], messages: Sequence[Any], place: str
) -> tuple[Expression, ...]:
    """Bring expressions to one type: integer literals get the width of the others, or the widest of theirs."""
    types = {type(value.type): value.type for value in values}
    if len(types) < 2 or not any(map(is_integer_constant, values)):
        return tuple(values)
    others = {type(value.type): value.type for value in values if not is_integer_constant(value)}
    if len(others) > 1:
        return tuple(values)
    widths = list(t.INTEGER_RANGES)
    if others:
        (type_,) = others.values()
    elif all(each in t.INTEGER_RANGES for each in types):
        type_ = types[max(types, key=widths.index)]
    else:
        return tuple(values)
    return tuple(
        with_type_of(decoder, value, type_, place, message) for value, message in zip(values, messages, strict=True)
    )
