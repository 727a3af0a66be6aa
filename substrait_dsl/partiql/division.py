"""Division of columns; a division by zero has no value."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal, literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql.calls import INTEGERS, call, cast, require_comparison_class
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.lowered_values import Column, absent_of
from substrait_dsl.partiql.null_and_missing import absent_where
from substrait_dsl.partiql.operations import Mistyped

DIVISIONS = {"divide": "divide", "modulo": "modulus"}
"""The names of the functions in Substrait."""

_BY_ZERO = {"divide": "on_division_by_zero", "modulo": "on_domain_error"}
"""The options for a division by zero."""


def divide(op: str, left: Column, right: Column, mode: Mode) -> Column:
    """Return a quotient or a remainder: of integers in 64 bits, of a float and another number a float.

    By zero it is missing in permissive mode, and an error for each such row in strict mode.

    Raises `Mistyped` for what is no number, `UnsupportedError` for decimals, and for the remainder of floats.
    """
    for operand in (left, right):
        require_comparison_class("number", operand.expression)
    type_ = _common_type(op, left, right)
    dividend, divisor = cast(left.expression, type_), cast(right.expression, type_)
    if isinstance(right.expression, Literal) and right.expression.value != 0:
        return Column(call(DIVISIONS[op], dividend, divisor), absent_of([left, right]))
    if mode == "strict":
        if isinstance(right.expression, Literal):
            raise Mistyped("division by zero")
        quotient = call(DIVISIONS[op], dividend, divisor, **{_BY_ZERO[op]: "ERROR"})
        return Column(quotient, absent_of([left, right]))
    zero = literal(0, type_)
    quotient = call(DIVISIONS[op], dividend, call("nullif", divisor, zero))
    if not dividend.type.nullable and not divisor.type.nullable:
        return Column(quotient, "missing")
    by_zero = call("equal", divisor, zero)
    if dividend.type.nullable:  # null by zero is null
        by_zero = call("and", call("is_not_null", dividend), by_zero)
    return Column(quotient, absent_where(left.missing, right.missing, by_zero))


def _common_type(op: str, left: Column, right: Column) -> t.Type:
    """Return the type of the operands of a division."""
    types = (left.type, right.type)
    if all(isinstance(type_, INTEGERS) for type_ in types):
        return t.I64()
    if any(isinstance(type_, t.FP32 | t.FP64) for type_ in types):
        if op == "divide":
            return t.FP64()
        raise UnsupportedError(f"the remainder of {left.type} and {right.type} is not lowered: Substrait has none")
    raise UnsupportedError(f"{op} of {left.type} and {right.type} is not lowered: engines round differently")
