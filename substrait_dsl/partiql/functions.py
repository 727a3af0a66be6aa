"""Operators and functions of columns that are neither null nor missing, as functions of Substrait."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, IfClause, IfThen, Literal, fits, literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql.calls import call, cast, comparison_class_of_type, require_comparison_class
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.lowered_values import Column, absent_of
from substrait_dsl.partiql.null_and_missing import absent_where
from substrait_dsl.partiql.operations import Mistyped

# --- comparisons


def align(left: Expression, right: Expression) -> tuple[Expression, Expression] | None:
    """Cast two operands to one type; None if they are of different comparison classes."""
    if comparison_class_of_type(left.type) == comparison_class_of_type(right.type) == "number":
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Literal) and isinstance(other.type, t.INTEGER_TYPES) and fits(one.value, other.type):
                fitting = literal(one.value, other.type.as_required())  # so that the column stays as it is
                return (fitting, other) if one is left else (other, fitting)
    common = common_type(left.type, right.type)
    return None if common is None else (cast(left, common), cast(right, common))


def common_type(a: t.Type, b: t.Type) -> t.Type | None:
    """Return the type that holds the values of two types; None if they are of different comparison classes.

    Raises `UnsupportedError` for two of one kind that no type holds.
    """
    if comparison_class_of_type(a) != comparison_class_of_type(b):
        return None
    if a.matches(b):
        return a
    match comparison_class_of_type(a):
        case "number":
            return _common_number(a, b)
        case "text":
            return t.String()
        case "blob":
            return t.Binary()
        case _:
            raise UnsupportedError(f"{a} and {b} are not compared")


def _common_number(a: t.Type, b: t.Type) -> t.Type:
    """Return the type that holds two types of numbers without loss."""
    types = (a, b)
    if any(isinstance(type_, t.FP32 | t.FP64) for type_ in types):
        if any(isinstance(type_, t.Decimal) for type_ in types):
            raise UnsupportedError(f"{a} and {b} are not compared: a float is seldom the decimal that it looks like")
        return t.FP64()
    if all(isinstance(type_, t.INTEGER_TYPES) for type_ in types):
        return t.I64()
    decimals = [type_ if isinstance(type_, t.Decimal) else t.Decimal(19, 0) for type_ in types]
    scale = max(type_.scale for type_ in decimals)
    precision = max(type_.precision - type_.scale for type_ in decimals) + scale
    if precision > 38:
        raise UnsupportedError(f"{a} and {b} have no common type of at most 38 digits")
    return t.Decimal(precision, scale)  # type: ignore[type-var]  # known only now


def compare(name: str, left: Expression, right: Expression) -> Expression | None:
    """Compare two operands; None if they are of different comparison classes."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one.type, t.I64) and isinstance(other.type, t.FP32 | t.FP64):
            return _integer_with_float(name, one, other, is_left=one is left)
    pair = align(left, right)
    return None if pair is None else call(name, *pair)


_LIMIT = 2.0**63
"""The least float that is greater than all integers of 64 bits."""


def _integer_with_float(name: str, integer: Expression, number: Expression, is_left: bool) -> Expression:
    """Compare an integer of 64 bits with a float exactly: most such integers are no floats.

    Converted to a float, the integer is on the same side of the other float, or equal to it. Then the other one is an
    integer, too.
    """

    def compare(one: Expression, other: Expression) -> Expression:
        return call(name, one, other) if is_left else call(name, other, one)

    rounded, other = cast(integer, t.FP64()), cast(number, t.FP64())
    if isinstance(number, Literal) and isinstance(value := number.value, float):
        if value.is_integer() and -_LIMIT <= value < _LIMIT:
            return compare(integer, literal(int(value), t.I64()))
        return compare(rounded, literal(inf if value == _LIMIT else value, t.FP64()))
    if isinstance(integer, Literal) and isinstance(known := integer.value, int) and float(known) == known:
        return compare(rounded, other)
    same = call("equal", rounded, other)
    exact = compare(integer, cast(other, t.I64()))
    is_less = name in ("not_equal", "lt", "lte") if is_left else name in ("not_equal", "gt", "gte")
    return IfThen(
        (
            IfClause(call("and", same, call("lt", other, literal(_LIMIT, t.FP64()))), exact),
            IfClause(same, literal(is_less, exact.type)),
        ),
        compare(rounded, other),
    )


def _equal(name: str) -> Callable[[Expression, Expression], Expression]:
    def lower(left: Expression, right: Expression) -> Expression:
        found = compare(name, left, right)
        if found is not None:
            return found
        # Values of different comparison classes differ; with an absent value the result is unknown.
        known = call("and", call("is_not_null", left), call("is_not_null", right))
        boolean = t.Boolean(nullable=True)
        return IfThen((IfClause(known, literal(name == "not_equal", boolean)),), literal(None, boolean))

    return lower


def _compare_by(name: str) -> Callable[[Expression, Expression], Expression]:
    def lower(left: Expression, right: Expression) -> Expression:
        if comparison_class_of_type(left.type) != comparison_class_of_type(right.type):
            raise Mistyped(
                f"{comparison_class_of_type(left.type)} and {comparison_class_of_type(right.type)} have no order"
            )
        if comparison_class_of_type(left.type) in ("list", "struct"):
            raise Mistyped(f"a {comparison_class_of_type(left.type)} has no order")
        found = compare(name, left, right)
        assert found is not None
        return found

    return lower


# --- arithmetic


def _arithmetic(name: str) -> Callable[[Expression, Expression], Expression]:
    """Compute integers in 64 bits, a float and another number in a float, others in decimals."""

    def lower(left: Expression, right: Expression) -> Expression:
        for operand in (left, right):
            require_comparison_class("number", operand)
        types = (left.type, right.type)
        if any(isinstance(type_, t.FP32 | t.FP64) for type_ in types):
            return call(name, cast(left, t.FP64()), cast(right, t.FP64()))
        if all(isinstance(type_, t.INTEGER_TYPES) for type_ in types):
            return call(name, cast(left, t.I64()), cast(right, t.I64()))
        return _exactly(name, _as_decimal(left), _as_decimal(right))

    return lower


def _exactly(name: str, left: Expression, right: Expression) -> Expression:
    """Compute with decimals. Raises `UnsupportedError` where Substrait keeps fewer digits behind the point."""
    result = call(name, left, right)
    a, b, type_ = left.type, right.type, result.type
    assert isinstance(a, t.Decimal)
    assert isinstance(b, t.Decimal)
    assert isinstance(type_, t.Decimal)
    if type_.scale < (a.scale + b.scale if name == "multiply" else max(a.scale, b.scale)):
        raise UnsupportedError(
            f"{name} of {a} and {b} is not lowered: Substrait rounds it to {type_.scale} digits behind the point",
            hint="cast the columns to fewer digits before",
        )
    return result


def _as_decimal(operand: Expression) -> Expression:
    return operand if isinstance(operand.type, t.Decimal) else cast(operand, t.Decimal(19, 0))


def _numeric_function(name: str) -> Callable[[Expression], Expression]:
    def lower(operand: Expression) -> Expression:
        require_comparison_class("number", operand)
        is_integer = isinstance(operand.type, t.INTEGER_TYPES)
        return call(name, cast(operand, t.I64()) if is_integer else operand)

    return lower


def _text_function(name: str) -> Callable[..., Expression]:
    def lower(*operands: Expression) -> Expression:
        for operand in operands:
            require_comparison_class("text", operand)
        return call(name, *(cast(operand, t.String()) for operand in operands))

    return lower


def _not(operand: Expression) -> Expression:
    require_comparison_class("boolean", operand)
    return call("not", operand)


def _as_integer(operand: Expression) -> Expression:
    if not isinstance(operand.type, t.INTEGER_TYPES):
        raise Mistyped(f"a value of {operand.type} is not an integer")
    return cast(operand, t.I64())


def _cast_to(expected: str, to: t.Type) -> Callable[[Expression], Expression]:
    def lower(operand: Expression) -> Expression:
        require_comparison_class(expected, operand)
        return cast(operand, to)

    return lower


OF_COLUMNS: dict[str, Callable[..., Expression]] = {
    "eq": _equal("equal"),
    "ne": _equal("not_equal"),
    "lt": _compare_by("lt"),
    "lte": _compare_by("lte"),
    "gt": _compare_by("gt"),
    "gte": _compare_by("gte"),
    "not": _not,
    "plus": _arithmetic("add"),
    "minus": _arithmetic("subtract"),
    "times": _arithmetic("multiply"),
    "neg": _numeric_function("negate"),
    "abs": _numeric_function("abs"),
    "as_boolean": _cast_to("boolean", t.Boolean()),
    "as_integer": _as_integer,
    "as_float": _cast_to("number", t.FP64()),
    "as_text": _cast_to("text", t.String()),
    "concat": _text_function("concat"),
    "upper": _text_function("upper"),
    "lower": _text_function("lower"),
    "char_length": _text_function("char_length"),
}
"""The functions of present values."""


# --- division; by zero it has no value


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
    if all(isinstance(type_, t.INTEGER_TYPES) for type_ in types):
        return t.I64()
    if any(isinstance(type_, t.FP32 | t.FP64) for type_ in types):
        if op == "divide":
            return t.FP64()
        raise UnsupportedError(f"the remainder of {left.type} and {right.type} is not lowered: Substrait has none")
    raise UnsupportedError(f"{op} of {left.type} and {right.type} is not lowered: engines round differently")
