"""Operators and functions of terms.

What is known without the rows is not asked of them: an operand of a type that the operator never takes makes the
result missing in permissive mode, and is an error in strict mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait_dsl.algebra.expressions import Expression, Literal
from substrait_dsl.errors import EvaluationError, UnsupportedError
from substrait_dsl.partiql.calls import call, cast, require_kind
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.functions import OF_COLUMNS, aligned
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.operations import Mistyped
from substrait_dsl.partiql.terms import (
    NOTHING,
    Attributes,
    Column,
    Constant,
    Elements,
    Term,
    absent_of,
    require_known,
    taken_apart,
)
from substrait_dsl.partiql.values import MISSING


def lowered(op: str, operands: Sequence[Term], mode: Mode) -> Term:
    """An operator or function of terms that are not all constant."""
    try:
        if op in OF_TERMS:
            return OF_TERMS[op](operands)
        if NOTHING in operands:
            return NOTHING
        if any(isinstance(operand, Constant) and operand.value is None for operand in operands):
            return Constant(None)
        columns = [column_of(operand, op) for operand in operands]
        if op not in OF_COLUMNS:
            raise UnsupportedError(f"{op} of columns is not lowered to Substrait")
        result = OF_COLUMNS[op](*(column.expression for column in columns))
    except Mistyped as error:
        if mode == "strict":
            raise EvaluationError(f"{op}: {error}") from error
        return NOTHING
    return Column(result, absent_of(columns))


def column_of(term: Term, op: str) -> Column:
    """A scalar as an expression. Raises `UnsupportedError` for other terms."""
    match term:
        case Column():
            return term
        case Constant(value=value):
            return Column(to_literal(value))
        case Attributes() | Elements():
            raise UnsupportedError(f"{op} of a struct or a collection is not lowered to Substrait")


def _connected(name: str) -> Callable[[Sequence[Term]], Term]:
    """`and` and `or`: an operand that is missing counts as null, and so is the result never missing."""

    def of(operands: Sequence[Term]) -> Term:
        parts = []
        for operand in operands:
            if operand == NOTHING:
                parts.append(to_literal(None))
                continue
            if isinstance(operand, Attributes | Elements):
                raise Mistyped("a struct or a collection is not a boolean")
            part = column_of(operand, name).expression
            require_kind("boolean", part)
            parts.append(part)
        return Column(call(name, *parts))

    return of


def _is_null(operands: Sequence[Term]) -> Term:
    operand = operands[0]
    if isinstance(operand, Constant):
        return Constant(operand.value is None or operand.value is MISSING)
    return Column(call("is_null", operand.expression)) if isinstance(operand, Column) else Constant(False)


def _is_missing(operands: Sequence[Term]) -> Term:
    operand = operands[0]
    if isinstance(operand, Constant):
        return Constant(operand.value is MISSING)
    if not isinstance(operand, Column) or operand.absent == "null" or not operand.type.nullable:
        return Constant(False)
    require_known(operand, "the operand of is_missing")
    return Column(call("is_null", operand.expression))


def _coalesce(operands: Sequence[Term]) -> Term:
    columns = [column_of(operand, "coalesce") for operand in operands if operand != NOTHING]
    columns = [column for column in columns if not _is_null_literal(column.expression)]
    if not columns:
        return Constant(None)
    first = columns[0].expression
    for column in columns[1:]:
        pair = aligned(first, column.expression)
        if pair is None or pair[0].type.as_required() != first.type.as_required():
            raise UnsupportedError("coalesce of columns of several types is not lowered to Substrait")
    values = [cast(column.expression, first.type.as_required()) for column in columns]
    return Column(values[0] if len(values) == 1 else call("coalesce", *values))


def _is_null_literal(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None


def _struct_concat(operands: Sequence[Term]) -> Term:
    fields: list[tuple[str, Term]] = []
    for operand in operands:
        if operand == NOTHING:
            return NOTHING
        if isinstance(operand, Constant) and operand.value is None:
            return Constant(None)
        part = taken_apart(operand)
        if not isinstance(part, Attributes):
            raise Mistyped("an operand is not a struct")
        fields += part.fields
    return Attributes(tuple(fields))


def _star(operands: Sequence[Term]) -> Term:
    value, number = operands
    part = taken_apart(value)
    if isinstance(part, Attributes):
        return part
    if value == NOTHING:
        return Attributes(())
    assert isinstance(number, Constant)
    return Attributes(((f"_{number.value!r}", value),))


OF_TERMS: dict[str, Callable[[Sequence[Term]], Term]] = {
    "and": _connected("and"),
    "or": _connected("or"),
    "is_null": _is_null,
    "is_missing": _is_missing,
    "coalesce": _coalesce,
    "struct_concat": _struct_concat,
    "star": _star,
}
"""What is asked even if operands are absent, or takes structs."""
