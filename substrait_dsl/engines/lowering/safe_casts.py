"""Casts that give NULL where they fail, on an engine whose casts raise an error.

A cast that fails for no value of its type is the same either way. A cast of numbers fails for those out of a range,
which are compared first. Casts that fail for other values, such as strings, have no such form.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, Literal, literal
from substrait_dsl.algebra.types import INTEGER_RANGES
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.terms import as_type, call, case_when, connect

NEVER_FAILING: Mapping[type[t.Type], tuple[type[t.Type], ...]] = {
    t.Boolean: (*t.INTEGER_TYPES, t.FP32, t.FP64, t.String),
    **dict.fromkeys(INTEGER_RANGES, (t.Boolean, t.FP32, t.FP64, t.String)),
    t.FP32: (t.FP64,),
    t.Decimal: (t.FP64, t.String),
    t.VarChar: (t.String,),
    t.FixedChar: (t.String,),
    t.Date: (t.String,),
    t.PrecisionTimestamp: (t.Date, t.String),
}
"""By type the types that each of its values can be cast to; numbers with a range are compared with it."""

MICROSECONDS = 6
"""The precision at which timestamps hold all dates of the specification."""

_EXACT = decimal.Context(prec=80)


@attrs.frozen
class NumberRange:
    """A range of numbers, ends included."""

    least: int | decimal.Decimal
    most: int | decimal.Decimal

    def holds(self, value: int | decimal.Decimal) -> bool:
        """Whether a number is in the range."""
        return self.least <= value <= self.most


def values_of(type_: t.Type) -> NumberRange | None:
    """Return the range of a type of integers or decimals; None for another type."""
    if type(type_) in INTEGER_RANGES:
        return NumberRange(*INTEGER_RANGES[type(type_)])
    if isinstance(type_, t.Decimal):
        return _up_to(10 ** int(type_.precision) - 1, int(type_.scale))
    return None


def castable_values(source: t.Type, target: t.Type) -> NumberRange | None:
    """Return the values of one type of numbers that a cast to another takes; None where neither has a range.

    A decimal that loses digits is rounded half away from zero, and must fit then.
    """
    match source, target:
        case ((t.I8() | t.I16() | t.I32() | t.I64()), (t.I8() | t.I16() | t.I32() | t.I64())):
            return values_of(target)
        case ((t.I8() | t.I16() | t.I32() | t.I64() | t.Decimal()), t.Decimal(precision=precision, scale=scale)):
            behind, digits = (int(source.scale) if isinstance(source, t.Decimal) else 0), int(scale)
            first_too_large = 10 ** (int(precision) - digits + behind)
            if behind > digits:  # what is rounded up to it is too large, too
                first_too_large -= 5 * 10 ** (behind - digits - 1)
            return _up_to(first_too_large - 1, behind)
        case _:
            return None


def _up_to(unscaled: int, scale: int) -> NumberRange:
    """Return the range of numbers of an absolute value up to one, in units of its last digit."""
    most = decimal.Decimal(unscaled).scaleb(-scale, _EXACT)
    return NumberRange(most.copy_negate(), most)


def can_fail(source: t.Type, target: t.Type) -> bool:
    """Whether a cast may fail for some value that is not NULL."""
    if source.as_required() == target.as_required() or isinstance(target, NEVER_FAILING.get(type(source), ())):
        return False
    match source, target:
        case t.Date(), t.PrecisionTimestamp(precision=precision):
            return bool(precision > MICROSECONDS)
        case t.VarChar(length=length), t.VarChar(length=longest):
            return bool(length > longest)
        case _:
            found, castable = values_of(source), castable_values(source, target)
            return found is None or castable is None or not (castable.holds(found.least) and castable.holds(found.most))


def null_where_it_fails(node: Cast, throwing: Expression, lowering: Lowering) -> Expression:
    """Return a cast that gives NULL where it fails.

    Args:
        node: the cast.
        throwing: the same cast as the engine has it, which gives an error where it fails.
        lowering: the state of lowering the plan.

    Raises:
        UnsupportedError: which values fail is not known, or the engine fails though their casts are not chosen.
    """
    value, target = node.input, node.target
    if not can_fail(value.type, target) or (isinstance(value, Literal) and value.value is None):
        return throwing
    castable = castable_values(value.type, target)
    if castable is not None and isinstance(value, Literal):
        return throwing if castable.holds(value.value) else Literal(None, target)
    if castable is None or lowering.profile.has_form("unchecked_casts"):
        raise lowering.refusal(f"a cast of {value.type} to {target} that gives NULL where it fails", rule="cast")
    return as_type(case_when([(_is_within(value, castable), throwing)], Literal(None, target)), target)


def _is_within(value: Expression, castable: NumberRange) -> Expression:
    """Return whether a number is in a range; ends that no value of its type exceeds are not compared."""
    type_, found = value.type.as_required(), values_of(value.type)
    assert found is not None
    tests: list[Expression] = []
    if castable.least > found.least:
        tests.append(call("comparison", "gte", value, _constant(castable.least, type_)))
    if castable.most < found.most:
        tests.append(call("comparison", "lte", value, _constant(castable.most, type_)))
    return connect("and", tests)


def _constant(value: int | decimal.Decimal, type_: t.Type) -> Literal:
    return Literal(value, type_) if isinstance(type_, t.Decimal) else literal(int(value), type_)
