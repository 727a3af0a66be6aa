"""Calls of Substrait's functions, and the classes of types that can be compared."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.expr import bound_expr
from substrait_dsl.fluent.scope import NO_ROW
from substrait_dsl.partiql.operations import Mistyped

_CLASSES: tuple[tuple[str, tuple[type[t.Type], ...]], ...] = (
    ("boolean", (t.Boolean,)),
    ("number", (*t.INTEGER_TYPES, t.FP32, t.FP64, t.Decimal)),
    ("text", (t.String, t.VarChar, t.FixedChar)),
    ("blob", (t.Binary, t.FixedBinary)),
    ("date", (t.Date,)),
    ("timestamp", (t.PrecisionTimestamp,)),
    ("timestamp with a zone", (t.PrecisionTimestampTZ,)),
    ("list", (t.List,)),
    ("struct", (t.Struct, t.Map)),
)
"""The comparison class of each type."""


def call(name: str, *arguments: Expression, **options: str) -> Expression:
    """Call a function of the specification's catalogue. Raises `FunctionNotFoundError`."""
    return bind(scalar(name, [bound_expr(argument, None) for argument in arguments], options), NO_ROW)


def comparison_class_of_type(type_: t.Type) -> str:
    """Return the comparison class of a type: values of one class can be compared."""
    for name, types in _CLASSES:
        if isinstance(type_, types):
            return name
    return str(type_.as_required())


def cast(expression: Expression, to: t.Type) -> Expression:
    """Cast an expression to a type, with the nullability of the expression."""
    wanted = to.as_nullable() if expression.type.nullable else to.as_required()
    return expression if expression.type == wanted else Cast(expression, wanted)


def require_comparison_class(expected: str, operand: Expression) -> None:
    """Raise `Mistyped` for an operand of another comparison class."""
    if comparison_class_of_type(operand.type) != expected:
        raise Mistyped(f"a {comparison_class_of_type(operand.type)} is not a {expected}")
