"""Columns of the type `dynamic`, which holds values of PartiQL of any type: paths into them, and values of one type."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, IfClause, IfThen, literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql.calls import call, cast, comparison_class_of_type
from substrait_dsl.partiql.extension_catalog import URN, own_call
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.lowered_values import Column, Constant, LoweredValue, absent_of
from substrait_dsl.partiql.null_and_missing import absent_where, fail_where
from substrait_dsl.partiql.operations import AS_TYPES

DYNAMIC = t.UserDefined(URN, "dynamic", nullable=True)
"""The type of a column of values of any type: ``read_named("t", {"doc": partiql.DYNAMIC})``.

On Spark it is a VARIANT. PartiQL's null is a value of it, a NULL in the column is `MISSING`.
"""

_FARTHEST = 2**31 - 1


def is_dynamic(value: LoweredValue) -> bool:
    """Whether a value is a column of this type."""
    return isinstance(value, Column) and value.type.matches(DYNAMIC)


def table_column(reference: FieldReference) -> Column:
    """Return a column of a table. Raises `UnsupportedError` for a dynamic value inside another one."""
    if reference.type.matches(DYNAMIC):
        return Column(reference, "missing")
    if f"u!{DYNAMIC.name}" in str(reference.type):
        raise UnsupportedError(f"a dynamic value inside a column of {reference.type} is not lowered to Substrait")
    return Column(reference)


def require_typed(value: LoweredValue, what: str) -> None:
    """Raise `UnsupportedError` for a dynamic value where an engine needs one type."""
    if is_dynamic(value):
        raise UnsupportedError(
            f"{what} is a dynamic value, which is not lowered to Substrait",
            hint=f"say of which type it is: {', '.join(AS_TYPES)}",
        )


def dynamic_step(column: Column, step: object, mode: Mode) -> Column:
    """Return a part of a dynamic value: null of null, and missing where there is no such part.

    In strict mode a part that does not exist is an error for each row where the value is present.
    """
    (value,) = values_of_dynamic([column])
    match step:
        case str():
            part = own_call("attribute", value, literal(step, t.String()))
            why = f'there is no attribute "{step}"'
        case int() if 0 <= step <= _FARTHEST and not isinstance(step, bool):
            part = own_call("element", value, literal(step, t.I64()))
            why = f"there is no element {step}"
        case _:
            raise UnsupportedError(f"a path into a dynamic value by {step!r} is not lowered to Substrait")
    if mode == "strict":
        part = fail_where(part, call("and", call("is_not_null", value), call("is_null", part)), why)
    return Column(part, "missing")


def lower_dynamic_operator(op: str, operands: Sequence[LoweredValue], mode: Mode) -> LoweredValue:
    """Lower an operator or function with a dynamic operand. Raises `UnsupportedError` for most."""
    if op in AS_TYPES:
        return as_type(op, operands[0], mode)
    if op == "is_null":
        (value,) = values_of_dynamic(operands)
        return Column(call("or", call("is_null", value), own_call("is_null_value", value)))
    if op in _COMPARISONS:
        return _compare(op, operands[0], operands[1], mode)
    for operand in operands:
        require_typed(operand, f"an operand of {op}")
    raise AssertionError(operands)


def as_type(function: str, lowered: LoweredValue, mode: Mode) -> Column:
    """Return a dynamic value as one of a type; a value of another type is missing, in strict mode an error."""
    (value,) = values_of_dynamic([lowered])
    return _compute_where_typed(
        own_call(function, value), value, None, f"{function}: the value is of another type", mode
    )


def _compute_where_typed(typed: Expression, value: Expression, beside: Column | None, why: str, mode: Mode) -> Column:
    """Compute with a dynamic value where it has the right type; elsewhere missing, or an error.

    Where the other operand is null, so is the result, whatever the type.
    """
    is_other = call("not", own_call("is_null_value", value))
    if beside is not None and beside.type.nullable:
        is_other = call("and", is_other, call("is_not_null", beside.expression))
    if mode == "permissive":
        is_missing = call("or", is_other, call("is_null", value)) if beside is not None else is_other
        return Column(typed, is_missing)
    wrong = call("and", call("is_not_null", value), is_other, call("is_null", typed))
    return Column(fail_where(typed, wrong, why), call("is_null", value) if beside is not None else is_other)


_COMPARISONS = {"eq": "equal", "ne": "not_equal", "lt": "lt", "lte": "lte", "gt": "gt", "gte": "gte"}
_TURNED = {"lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}


def _compare(op: str, left: LoweredValue, right: LoweredValue, mode: Mode) -> Column:
    """Compare a dynamic value with a string, a boolean or an integer.

    One of another type is not equal, and has no order.
    """
    column, other = (left, right) if is_dynamic(left) else (right, left)
    turned = op if column is left else _TURNED.get(op, op)
    beside = _typed_operand(other)
    if beside is None:
        require_typed(column, f"an operand of {op}, which is compared with no text, boolean or integer,")
        raise AssertionError(column)
    (value,) = values_of_dynamic([column])
    if op not in _TURNED:
        return _equal(op, value, beside)
    sides = _sides(value, beside)
    typed = _compute_where_typed(sides[0], value, beside, f"{op}: the value is of another type", mode)
    return Column(call(_COMPARISONS[turned], typed.expression, sides[1]), absent_of([typed, beside]))


_FUNCTIONS = {"text": "as_text", "boolean": "as_boolean"}


def _typed_operand(value: LoweredValue) -> Column | None:
    """Return a string, a boolean, or an integer of 64 bits; None for other values."""
    match value:
        case Column() if isinstance(value.type, t.INTEGER_TYPES):
            return attrs.evolve(value, expression=cast(value.expression, t.I64()))
        case Column() if comparison_class_of_type(value.type) == "text":
            return attrs.evolve(value, expression=cast(value.expression, t.String()))
        case Column() if isinstance(value.type, t.Boolean):
            return value
        case Constant(value=bool() as known):
            return Column(literal(known, t.Boolean()))
        case Constant(value=int() as known) if -(2**63) <= known < 2**63:
            return Column(literal(known, t.I64()))
        case Constant(value=str() as known):
            return Column(literal(known, t.String()))
        case _:
            return None


def _sides(value: Expression, beside: Column) -> tuple[Expression, Expression]:
    """Return both operands of a comparison. The first one is NULL for a value of another type."""
    if isinstance(beside.type, t.I64):
        return own_call("compare", value, beside.expression), literal(0, t.I32())
    return own_call(_FUNCTIONS[comparison_class_of_type(beside.type)], value), beside.expression


def _equal(op: str, value: Expression, beside: Column) -> Column:
    same = call("coalesce", call("equal", *_sides(value, beside)), literal(False, t.Boolean()))
    known = [call("is_not_null", value), call("not", own_call("is_null_value", value))]
    if beside.type.nullable:
        known.append(call("is_not_null", beside.expression))
    result = same if op == "eq" else call("not", same)
    clause = IfClause(call("and", *known), result)
    return Column(
        IfThen((clause,), literal(None, t.Boolean(nullable=True))), absent_where(call("is_null", value), beside.missing)
    )


def non_null_value(column: Column) -> Expression:
    """Return a column that is NULL where the dynamic value is null or missing."""
    (value,) = values_of_dynamic([column])
    known = call("and", call("is_not_null", value), call("not", own_call("is_null_value", value)))
    return IfThen((IfClause(known, literal(True, t.Boolean(nullable=True))),), literal(None, t.Boolean(nullable=True)))


def values_of_dynamic(values: Sequence[LoweredValue]) -> list[Expression]:
    """Return dynamic values as expressions. Raises `UnsupportedError` for a null-extended one."""
    columns = [value for value in values if isinstance(value, Column)]
    if any(column.absent != "missing" for column in columns):
        raise UnsupportedError("a dynamic value of the side of a join that may be null is not lowered to Substrait")
    return [column.expression for column in columns]
