"""The operators and functions of value expressions: their names, arity and computation.

An operand of a wrong type, an overflow, a division by zero are errors in strict mode and make `MISSING` in permissive
mode: here they raise `Mistyped`, and the interpreter decides. Where an operand is missing, so is the result; else,
where one is null, so is the result; with few exceptions.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import attrs

from substrait_dsl.partiql.values import MISSING, Bag, Missing, Struct, Value, order_key, same

_DIGITS = 38
"""The maximal precision of Substrait's decimals."""

_ROUNDED = decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_HALF_UP)


class Mistyped(Exception):  # no mistake of the user's yet: in permissive mode it is a value
    """An operation has no value for its operands."""


@attrs.frozen
class Operation:
    """An operator or function."""

    compute: Callable[..., Value]
    fewest: int
    most: int | None
    takes_absent: bool = False
    """Whether it is evaluated for null or missing operands."""

    def arity(self, operand: str) -> str:
        """The number of operands, in words."""
        most = self.fewest if self.most is None else self.most
        many = f"at least {self.fewest}" if self.most is None else f"{self.fewest} to {most}"
        return f"{self.fewest if self.fewest == self.most else many} {operand}{'' if most == 1 else 's'}"

    def takes(self, many: int) -> bool:
        """Whether it takes this number of operands."""
        return self.fewest <= many and (self.most is None or many <= self.most)

    def evaluate(self, operands: Sequence[Value]) -> Value:
        """Compute the result. Raises `Mistyped` if there is none."""
        if not self.takes_absent:
            if MISSING in operands:
                return MISSING
            if any(operand is None for operand in operands):
                return None
        return self.compute(*operands)


# --- comparisons


def comparison_class(value: Value) -> str:
    """Return the comparison class of a value: values of one class can be compared."""
    match value:
        case bool():
            return "boolean"
        case int() | float() | Decimal():
            return "number"
        case dt.datetime():
            return "timestamp" if value.tzinfo is None else "timestamp with a zone"
        case _:
            return _CLASSES[type(value)]


_CLASSES: dict[type, str] = {
    type(None): "null",
    Missing: "missing value",
    str: "text",
    bytes: "blob",
    dt.date: "date",
    tuple: "list",
    Bag: "bag",
    Struct: "struct",
}


def _make_ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Value, Value], bool]:
    def compare_ordered(left: Value, right: Value) -> bool:
        if comparison_class(left) != comparison_class(right) or isinstance(left, Struct | Bag | tuple):
            raise Mistyped(f"{comparison_class(left)} and {comparison_class(right)} have no order")
        return compare(order_key(left), order_key(right))

    return compare_ordered


def _is_in(value: Value, among: Value) -> Value:
    if not isinstance(among, Bag | tuple):
        raise Mistyped(f"a {comparison_class(among)} is not a collection")
    if any(item not in (None, MISSING) and same(value, item) for item in among):
        return True
    return None if any(item is None or item is MISSING for item in among) else False


# --- logic


def _truth(value: Value) -> bool | None:
    if value is None or value is MISSING:
        return None
    if isinstance(value, bool):
        return value
    raise Mistyped(f"a {comparison_class(value)} is not a boolean")


def _all(*operands: Value) -> bool | None:
    truths = [_truth(operand) for operand in operands]
    return False if False in truths else None if None in truths else True


def _any(*operands: Value) -> bool | None:
    truths = [_truth(operand) for operand in operands]
    return True if True in truths else None if None in truths else False


def _not(operand: Value) -> bool:
    return not _truth(operand)


# --- arithmetic


def _number(value: Value) -> int | float | Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise Mistyped(f"a {comparison_class(value)} is not a number")
    return value


def _arithmetic(compute: Callable[[Any, Any], Any]) -> Callable[[Value, Value], Value]:
    """Compute two integers in 64 bits, a float and another number as floats, others as decimals."""

    def compute_numbers(left: Value, right: Value) -> Value:
        a, b = _number(left), _number(right)
        if isinstance(a, float) or isinstance(b, float):
            return _fit(lambda: compute(float(a), float(b)))
        if isinstance(a, int) and isinstance(b, int):
            return _fit(lambda: compute(a, b))
        return _fit(lambda: compute(Decimal(a), Decimal(b)))

    return compute_numbers


def _fit(compute: Callable[[], Any]) -> int | float | Decimal:
    """Return a result that fits its type; the digits of a decimal behind the point are rounded."""
    try:
        with decimal.localcontext(_ROUNDED):
            number = compute()
    except ZeroDivisionError as error:
        raise Mistyped("division by zero") from error
    except (ArithmeticError, ValueError) as error:  # the remainder of an infinity is a ValueError
        raise Mistyped("the result is no number, or out of range") from error
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        raise Mistyped("the result does not fit 64 bits")
    if isinstance(number, Decimal) and number.adjusted() >= _DIGITS:
        raise Mistyped(f"the result does not fit {_DIGITS} digits")
    assert isinstance(number, int | float | Decimal)
    return number


def _divide(left: Any, right: Any) -> Any:
    """Divide; a quotient of integers is truncated towards zero."""
    if not isinstance(left, int):
        return left / right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: Any, right: Any) -> Any:
    """Return the remainder of a division, with the sign of the dividend."""
    if isinstance(left, float):
        return math.fmod(left, right)
    return left % right if isinstance(left, Decimal) else left - right * _divide(left, right)


def _negate(value: Value) -> Value:
    return _fit(lambda: -_number(value))


def _absolute(value: Value) -> Value:
    return _fit(lambda: abs(_number(value)))


# --- values of one type


def _as_boolean(value: Value) -> bool:
    if not isinstance(value, bool):
        raise Mistyped(f"a {comparison_class(value)} is not a boolean")
    return value


def _as_integer(value: Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        raise Mistyped(f"a {comparison_class(value)} is not an integer of 64 bits")
    return value


# --- texts and structs


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise Mistyped(f"a {comparison_class(value)} is not a text")
    return value


def _struct_concat(*structs: Value) -> Struct:
    """Concatenate the attributes in order, repeated names included."""
    fields: list[tuple[str, Value]] = []
    for struct in structs:
        if not isinstance(struct, Struct):
            raise Mistyped(f"a {comparison_class(struct)} is not a struct")
        fields += struct.fields
    return Struct(tuple(fields))


def _star(value: Value, number: Value) -> Struct:
    """Return the attributes of a struct; another value as an attribute that is named by its number, ``_1``."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise Mistyped(f"a {comparison_class(number)} is not the number of an attribute")
    if isinstance(value, Struct):
        return value
    return Struct(() if value is MISSING else ((f"_{number}", value),))


def _coalesce(*values: Value) -> Value:
    return next((value for value in values if value is not None and value is not MISSING), None)


OPERATORS: dict[str, Operation] = {
    "eq": Operation(same, 2, 2),
    "ne": Operation(lambda left, right: not same(left, right), 2, 2),
    "lt": Operation(_make_ordering(operator.lt), 2, 2),
    "lte": Operation(_make_ordering(operator.le), 2, 2),
    "gt": Operation(_make_ordering(operator.gt), 2, 2),
    "gte": Operation(_make_ordering(operator.ge), 2, 2),
    "in": Operation(_is_in, 2, 2),
    "and": Operation(_all, 2, None, takes_absent=True),
    "or": Operation(_any, 2, None, takes_absent=True),
    "not": Operation(_not, 1, 1),
    "is_null": Operation(lambda value: value is None or isinstance(value, Missing), 1, 1, takes_absent=True),
    "is_missing": Operation(lambda value: isinstance(value, Missing), 1, 1, takes_absent=True),
    "plus": Operation(_arithmetic(operator.add), 2, 2),
    "minus": Operation(_arithmetic(operator.sub), 2, 2),
    "times": Operation(_arithmetic(operator.mul), 2, 2),
    "divide": Operation(_arithmetic(_divide), 2, 2),
    "modulo": Operation(_arithmetic(_remainder), 2, 2),
    "neg": Operation(_negate, 1, 1),
    "concat": Operation(lambda left, right: _text(left) + _text(right), 2, 2),
}
"""The operators, by name: ``(eq a b)``."""

AS_TYPES: dict[str, Operation] = {
    "as_boolean": Operation(_as_boolean, 1, 1),
    "as_integer": Operation(_as_integer, 1, 1),
    "as_float": Operation(lambda value: _fit(lambda: float(_number(value))), 1, 1),
    "as_text": Operation(lambda value: _text(value), 1, 1),
}
"""Conversions to one type: any number to a float; a value of another type has no result."""

FUNCTIONS: dict[str, Operation] = {
    **AS_TYPES,
    "dynamic": Operation(lambda value: value, 1, 1, takes_absent=True),
    "struct_concat": Operation(_struct_concat, 1, None),
    "star": Operation(_star, 2, 2, takes_absent=True),
    "coalesce": Operation(_coalesce, 1, None, takes_absent=True),
    "abs": Operation(_absolute, 1, 1),
    "upper": Operation(lambda value: _text(value).upper(), 1, 1),
    "lower": Operation(lambda value: _text(value).lower(), 1, 1),
    "char_length": Operation(lambda value: len(_text(value)), 1, 1),
}
"""The functions, by name: ``(call struct_concat a b)``."""


# --- aggregates, of values that are there


def _sum(values: Sequence[Value]) -> Value:
    total: Value = None
    for value in values:
        total = _number(value) if total is None else _arithmetic(operator.add)(total, value)
    return total


def _average(values: Sequence[Value]) -> Value:
    """Average: of floats a float; of integers and decimals a decimal, rounded half up.

    It has the scale of the values, but at least 6, as decimals of Substrait do.
    """
    numbers = [_number(value) for value in values]
    if not numbers:
        return None
    if any(isinstance(number, float) for number in numbers):
        return _arithmetic(operator.truediv)(_sum(values), len(values))
    exact = [Decimal(number) for number in numbers]
    places = max(_FEWEST_PLACES, *(-int(number.as_tuple().exponent) for number in exact))

    def average() -> Decimal:
        with decimal.localcontext(_EXACT):
            return (sum(exact, Decimal(0)) / len(exact)).quantize(Decimal(1).scaleb(-places), decimal.ROUND_HALF_UP)

    return _fit(average)


_FEWEST_PLACES = 6

_EXACT = decimal.Context(prec=300)
"""More digits than any sum of decimals has, and than a quotient needs to be rounded correctly."""


AGGREGATES: dict[str, Callable[[Sequence[Value]], Value]] = {
    "count": len,
    "sum": _sum,
    "avg": _average,
    "min": lambda values: min(values, key=order_key, default=None),
    "max": lambda values: max(values, key=order_key, default=None),
}
"""The aggregates of `group_by`."""
