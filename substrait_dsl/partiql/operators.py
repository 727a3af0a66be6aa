"""Operators and functions of lowered values.

An operand of a type that the operator never takes makes the result missing in permissive mode, and is an error in
strict mode: this is known without the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    Cast,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    Lambda,
    Literal,
    literal,
)
from substrait_dsl.algebra.expressions.references import LambdaParameter
from substrait_dsl.errors import EvaluationError, UnsupportedError
from substrait_dsl.partiql.calls import call, cast, require_comparison_class
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.division import DIVISIONS, divided
from substrait_dsl.partiql.equality import equality
from substrait_dsl.partiql.functions import OF_COLUMNS, aligned
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.lowered_values import (
    NOTHING,
    Attributes,
    CollectedList,
    Column,
    Constant,
    ElementList,
    LoweredValue,
    NullableComposite,
    absent_of,
    absent_result,
    expand_constant,
    split_struct,
)
from substrait_dsl.partiql.operations import Mistyped
from substrait_dsl.partiql.padding import all_of, where_all
from substrait_dsl.partiql.untyped import is_dynamic, of_dynamic
from substrait_dsl.partiql.values import MISSING


def lowered(op: str, operands: Sequence[LoweredValue], mode: Mode) -> LoweredValue:
    """Lower an operator or function of values that are not all constant."""
    columns: list[Column] = []
    try:
        if op in OF_TERMS and not (op in _OF_VALUES and _is_absent(operands)):
            is_asked = op != "is_missing" and any(map(is_dynamic, operands))
            return of_dynamic(op, operands, mode) if is_asked else OF_TERMS[op](operands)
        if NOTHING in operands:
            return NOTHING
        if Constant(None) in operands:
            there = [operand for operand in operands if isinstance(operand, Column)]
            absent = absent_of([*there, Column(to_literal(None))])
            return Constant(None) if absent == "null" else Column(to_literal(None), absent)
        if any(map(is_dynamic, operands)):
            return of_dynamic(op, operands, mode)
        if op == "in":
            return _is_in(operands[0], operands[1], mode)
        in_parts = [operand for operand in operands if isinstance(expand_constant(operand), Attributes | ElementList)]
        if in_parts and op in ("eq", "ne"):
            return equality(operands[0], operands[1], is_equal=op == "eq")
        columns = [column_of(operand, op) for operand in operands if operand not in in_parts]
        if in_parts:
            raise Mistyped("an operand is a struct or a collection")
        if any(_is_null_literal(column.expression) for column in columns):
            return Column(to_literal(None), absent_of(columns))
        if op in DIVISIONS:
            return divided(op, columns[0], columns[1], mode)
        if op not in OF_COLUMNS:
            raise UnsupportedError(f"{op} of columns is not lowered to Substrait")
        result = OF_COLUMNS[op](*(column.expression for column in columns))
    except Mistyped as error:
        if mode == "strict":
            raise EvaluationError(f"{op}: {error}") from error
        return _beside_others(op, operands) if op in ("and", "or") else absent_result(_absences(operands))
    return Column(result, absent_of(columns))


def _is_absent(operands: Sequence[LoweredValue]) -> bool:
    return NOTHING in operands or Constant(None) in operands


def _absences(operands: Sequence[LoweredValue]) -> list[Column]:
    """Return the nullable operands, as columns which are null or missing for the same rows."""
    found: list[Column] = []
    for operand in operands:
        match operand:
            case Column():
                found.append(operand)
            case CollectedList(column=column):
                found.append(column)
            case NullableComposite(there=there):
                found.append(Column(call("nullif", there.expression, literal(False, t.Boolean()))))
    return found


def _is_in(value: LoweredValue, among: LoweredValue, mode: Mode) -> LoweredValue:
    """Return whether a value equals one of the elements of a collection; null, if only a null one might be."""
    among = expand_constant(among)
    unknown = Column(literal(None, t.Boolean(nullable=True)))  # where an element is null
    sides = [side for side in (value, among) if isinstance(side, Column)]
    if isinstance(among, CollectedList) and not among.column.type.nullable and _is_scalar(among.element):
        among = among.column  # null and missing elements are alike
    if isinstance(among, CollectedList | NullableComposite):
        raise UnsupportedError("in of structs of a query, or of a group that may be null, is not lowered to Substrait")
    if isinstance(among, Column) and isinstance(among.type, t.List):
        type_ = among.type.element
        test = OF_COLUMNS["eq"](column_of(value, "in").expression, FieldReference(0, type_, LambdaParameter()))
        predicate = test if test.type.nullable else Cast(test, t.Boolean(nullable=True))
        found = call("any_match", among.expression, Lambda((type_,), predicate))
    elif isinstance(among, ElementList):
        tests = [column_of(lowered("eq", (value, item), mode), "in").expression for item in among.items]
        found = call("or", *tests) if len(tests) > 1 else tests[0] if tests else literal(False, t.Boolean())
    else:
        raise Mistyped("it is not a collection")
    if isinstance(value, Column) and value.type.nullable:
        known = IfClause(call("is_not_null", value.expression), found)
        found = IfThen((known,), unknown.expression)
    return Column(found, absent_of([*sides, unknown]))


def _is_scalar(element: LoweredValue) -> bool:
    """Whether the elements of a collected list are its plain values."""
    return isinstance(expand_constant(element), Column | Constant)


def column_of(term: LoweredValue, op: str) -> Column:
    """Return a scalar as an expression. Raises `UnsupportedError` for other values."""
    match term:
        case Column():
            return term
        case Constant(value=value):
            return Column(to_literal(value))
        case Attributes() | ElementList() | NullableComposite() | CollectedList():
            raise UnsupportedError(f"{op} of a struct or a collection is not lowered to Substrait")


def _connected(name: str) -> Callable[[Sequence[LoweredValue]], LoweredValue]:
    """Lower `and` and `or`: a missing operand counts as null, and so the result is never missing."""

    def of(operands: Sequence[LoweredValue]) -> LoweredValue:
        parts = []
        for operand in operands:
            if operand == NOTHING:
                parts.append(to_literal(None))
                continue
            if isinstance(operand, Attributes | ElementList):
                raise Mistyped("a struct or a collection is not a boolean")
            part = column_of(operand, name).expression
            require_comparison_class("boolean", part)
            parts.append(part)
        return Column(call(name, *parts))

    return of


def _beside_others(name: str, operands: Sequence[LoweredValue]) -> LoweredValue:
    """Lower `and` and `or` with operands that are no booleans: missing, unless each of these is null or missing."""
    others = [operand for operand in operands if not _may_be_boolean(operand)]
    columns = [operand.expression for operand in others if isinstance(operand, Column)]
    if len(columns) < len(others) or not all(column.type.nullable for column in columns):
        return NOTHING
    there = [call("is_not_null", column) for column in columns]
    wrong = there[0] if len(there) == 1 else call("or", *there)
    rest = OF_TERMS[name]([operand if _may_be_boolean(operand) else Constant(None) for operand in operands])
    nothing = literal(None, t.Boolean(nullable=True))
    return Column(IfThen((IfClause(wrong, nothing),), column_of(rest, name).expression), wrong)


def _may_be_boolean(operand: LoweredValue) -> bool:
    if isinstance(operand, Constant):
        return operand.value is None or operand.value is MISSING or isinstance(operand.value, bool)
    return isinstance(operand, Column) and isinstance(operand.type, t.Boolean)


def _is_null(operands: Sequence[LoweredValue]) -> LoweredValue:
    operand = operands[0]
    if isinstance(operand, Constant):
        return Constant(operand.value is None or operand.value is MISSING)
    if isinstance(operand, NullableComposite):
        return Column(call("not", operand.there.expression))
    if isinstance(operand, CollectedList):
        return Column(call("is_null", operand.column.expression))
    return Column(call("is_null", operand.expression)) if isinstance(operand, Column) else Constant(False)


def _is_missing(operands: Sequence[LoweredValue]) -> LoweredValue:
    operand = operands[0]
    if isinstance(operand, Constant):
        return Constant(operand.value is MISSING)
    if not isinstance(operand, Column):
        return Constant(False)
    return Constant(False) if operand.missing is None else Column(operand.missing)


def _coalesce(operands: Sequence[LoweredValue]) -> LoweredValue:
    columns = [column_of(operand, "coalesce") for operand in operands if operand != NOTHING]
    columns = [column for column in columns if not _is_null_literal(column.expression)]
    if not columns:
        return Constant(None)
    first = columns[0].expression
    for column in columns[1:]:
        pair = aligned(first, column.expression)
        is_rounded = isinstance(column.type, t.I64) and isinstance(first.type, t.FP32 | t.FP64)
        if pair is None or is_rounded or pair[0].type.as_required() != first.type.as_required():
            raise UnsupportedError("coalesce of columns of several types is not lowered to Substrait")
    values = [cast(column.expression, first.type.as_required()) for column in columns]
    return Column(values[0] if len(values) == 1 else call("coalesce", *values))


def _is_null_literal(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None


def _struct_concat(operands: Sequence[LoweredValue]) -> LoweredValue:
    fields: list[tuple[str, LoweredValue]] = []
    parts = [split_struct(operand) for operand in operands]
    there = {number: part.there.expression for number, part in enumerate(parts) if isinstance(part, NullableComposite)}
    for number, part in enumerate(parts):
        struct = part.parts if isinstance(part, NullableComposite) else part
        if not isinstance(struct, Attributes):
            raise Mistyped("an operand is not a struct")
        others = [each for other, each in there.items() if other != number]
        fields += ((name, where_all(others, field)) for name, field in struct.fields)
    combined = Attributes(tuple(fields))
    return NullableComposite(combined, Column(all_of([*there.values()]))) if there else combined


def _star(operands: Sequence[LoweredValue]) -> LoweredValue:
    value, number = operands
    part = split_struct(value)
    if isinstance(part, Attributes):
        return part
    if isinstance(part, NullableComposite):
        raise UnsupportedError("star of a struct or a collection that may be null is not lowered to Substrait")
    if value == NOTHING:
        return Attributes(())
    assert isinstance(number, Constant)
    return Attributes(((f"_{number.value!r}", value),))


OF_TERMS: dict[str, Callable[[Sequence[LoweredValue]], LoweredValue]] = {
    "and": _connected("and"),
    "or": _connected("or"),
    "is_null": _is_null,
    "is_missing": _is_missing,
    "coalesce": _coalesce,
    "struct_concat": _struct_concat,
    "star": _star,
}
"""Operators and functions that take absent operands, or structs."""

_OF_VALUES = ("struct_concat",)
"""Those of them that are null or missing where an operand is, as other functions are."""
