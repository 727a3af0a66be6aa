"""Operators and functions of lowered values.

An operand of a type that the operator never takes makes the result missing in permissive mode, and is an error in
strict mode: this is known without the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.references import LambdaParameter
from substrait_dsl.errors import EvaluationError, UnsupportedError
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.calls import call, cast, require_comparison_class
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.equality import equality
from substrait_dsl.partiql.functions import DIVISIONS, OF_COLUMNS, align, divide
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.operations import Mistyped
from substrait_dsl.partiql.padding import all_of, where_all
from substrait_dsl.partiql.untyped import is_dynamic, lower_dynamic_operator
from substrait_dsl.partiql.values import MISSING


def lower_operator(op: str, operands: Sequence[lv.LoweredValue], mode: Mode) -> lv.LoweredValue:
    """Lower an operator or function of values that are not all constant."""
    columns: list[lv.Column] = []
    try:
        if op in OPERATOR_LOWERINGS and not (op in _OF_VALUES and _is_absent(operands)):
            is_asked = op != "is_missing" and any(map(is_dynamic, operands))
            return lower_dynamic_operator(op, operands, mode) if is_asked else OPERATOR_LOWERINGS[op](operands)
        if lv.NOTHING in operands:
            return lv.NOTHING
        if lv.Constant(None) in operands:
            present = [operand for operand in operands if isinstance(operand, lv.Column)]
            absent = lv.absent_of([*present, lv.Column(to_literal(None))])
            return lv.Constant(None) if absent == "null" else lv.Column(to_literal(None), absent)
        if any(map(is_dynamic, operands)):
            return lower_dynamic_operator(op, operands, mode)
        if op == "in":
            return _is_in(operands[0], operands[1], mode)
        in_parts = [
            operand for operand in operands if isinstance(lv.expand_constant(operand), lv.Attributes | lv.ElementList)
        ]
        if in_parts and op in ("eq", "ne"):
            return equality(operands[0], operands[1], is_equal=op == "eq")
        columns = [column_of(operand, op) for operand in operands if operand not in in_parts]
        if in_parts:
            raise Mistyped("an operand is a struct or a collection")
        if any(_is_null_literal(column.expression) for column in columns):
            return lv.Column(to_literal(None), lv.absent_of(columns))
        if op in DIVISIONS:
            return divide(op, columns[0], columns[1], mode)
        if op not in OF_COLUMNS:
            raise UnsupportedError(f"{op} of columns is not lowered to Substrait")
        result = OF_COLUMNS[op](*(column.expression for column in columns))
    except Mistyped as error:
        if mode == "strict":
            raise EvaluationError(f"{op}: {error}") from error
        return _lower_mixed_logic(op, operands) if op in ("and", "or") else lv.absent_result(_absences(operands))
    return lv.Column(result, lv.absent_of(columns))


def _is_absent(operands: Sequence[lv.LoweredValue]) -> bool:
    return lv.NOTHING in operands or lv.Constant(None) in operands


def _absences(operands: Sequence[lv.LoweredValue]) -> list[lv.Column]:
    """Return the nullable operands, as columns which are null or missing for the same rows."""
    found: list[lv.Column] = []
    for operand in operands:
        match operand:
            case lv.Column():
                found.append(operand)
            case lv.CollectedList(column=column):
                found.append(column)
            case lv.NullableComposite(is_present=is_present):
                found.append(lv.Column(call("nullif", is_present.expression, ex.literal(False, t.Boolean()))))
    return found


def _is_in(value: lv.LoweredValue, among: lv.LoweredValue, mode: Mode) -> lv.LoweredValue:
    """Return whether a value equals one of the elements of a collection; null, if only a null one might be."""
    among = lv.expand_constant(among)
    unknown = lv.Column(ex.literal(None, t.Boolean(nullable=True)))  # where an element is null
    sides = [side for side in (value, among) if isinstance(side, lv.Column)]
    if isinstance(among, lv.CollectedList) and not among.column.type.nullable and _is_scalar(among.element):
        among = among.column  # null and missing elements are alike
    if isinstance(among, lv.CollectedList | lv.NullableComposite):
        raise UnsupportedError("in of structs of a query, or of a group that may be null, is not lowered to Substrait")
    if isinstance(among, lv.Column) and isinstance(among.type, t.List):
        type_ = among.type.element
        test = OF_COLUMNS["eq"](column_of(value, "in").expression, ex.FieldReference(0, type_, LambdaParameter()))
        predicate = test if test.type.nullable else ex.Cast(test, t.Boolean(nullable=True))
        found = call("any_match", among.expression, ex.Lambda((type_,), predicate))
    elif isinstance(among, lv.ElementList):
        tests = [column_of(lower_operator("eq", (value, item), mode), "in").expression for item in among.items]
        found = call("or", *tests) if len(tests) > 1 else tests[0] if tests else ex.literal(False, t.Boolean())
    else:
        raise Mistyped("it is not a collection")
    if isinstance(value, lv.Column) and value.type.nullable:
        known = ex.IfClause(call("is_not_null", value.expression), found)
        found = ex.IfThen((known,), unknown.expression)
    return lv.Column(found, lv.absent_of([*sides, unknown]))


def _is_scalar(element: lv.LoweredValue) -> bool:
    """Whether the elements of a collected list are its plain values."""
    return isinstance(lv.expand_constant(element), lv.Column | lv.Constant)


def column_of(lowered: lv.LoweredValue, op: str) -> lv.Column:
    """Return a scalar as an expression. Raises `UnsupportedError` for other values."""
    match lowered:
        case lv.Column():
            return lowered
        case lv.Constant(value=value):
            return lv.Column(to_literal(value))
        case lv.Attributes() | lv.ElementList() | lv.NullableComposite() | lv.CollectedList():
            raise UnsupportedError(f"{op} of a struct or a collection is not lowered to Substrait")


def _connect(name: str) -> Callable[[Sequence[lv.LoweredValue]], lv.LoweredValue]:
    """Lower `and` and `or`: a missing operand counts as null, and so the result is never missing."""

    def lower(operands: Sequence[lv.LoweredValue]) -> lv.LoweredValue:
        parts = []
        for operand in operands:
            if operand == lv.NOTHING:
                parts.append(to_literal(None))
                continue
            if isinstance(operand, lv.Attributes | lv.ElementList):
                raise Mistyped("a struct or a collection is not a boolean")
            part = column_of(operand, name).expression
            require_comparison_class("boolean", part)
            parts.append(part)
        return lv.Column(call(name, *parts))

    return lower


def _lower_mixed_logic(name: str, operands: Sequence[lv.LoweredValue]) -> lv.LoweredValue:
    """Lower `and` and `or` with operands that are no booleans: missing, unless each of these is null or missing."""
    others = [operand for operand in operands if not _may_be_boolean(operand)]
    columns = [operand.expression for operand in others if isinstance(operand, lv.Column)]
    if len(columns) < len(others) or not all(column.type.nullable for column in columns):
        return lv.NOTHING
    are_not_null = [call("is_not_null", column) for column in columns]
    wrong = are_not_null[0] if len(are_not_null) == 1 else call("or", *are_not_null)
    rest = OPERATOR_LOWERINGS[name](
        [operand if _may_be_boolean(operand) else lv.Constant(None) for operand in operands]
    )
    nothing = ex.literal(None, t.Boolean(nullable=True))
    return lv.Column(ex.IfThen((ex.IfClause(wrong, nothing),), column_of(rest, name).expression), wrong)


def _may_be_boolean(operand: lv.LoweredValue) -> bool:
    if isinstance(operand, lv.Constant):
        return operand.value is None or operand.value is MISSING or isinstance(operand.value, bool)
    return isinstance(operand, lv.Column) and isinstance(operand.type, t.Boolean)


def _is_null(operands: Sequence[lv.LoweredValue]) -> lv.LoweredValue:
    operand = operands[0]
    if isinstance(operand, lv.Constant):
        return lv.Constant(operand.value is None or operand.value is MISSING)
    if isinstance(operand, lv.NullableComposite):
        return lv.Column(call("not", operand.is_present.expression))
    if isinstance(operand, lv.CollectedList):
        return lv.Column(call("is_null", operand.column.expression))
    return lv.Column(call("is_null", operand.expression)) if isinstance(operand, lv.Column) else lv.Constant(False)


def _is_missing(operands: Sequence[lv.LoweredValue]) -> lv.LoweredValue:
    operand = operands[0]
    if isinstance(operand, lv.Constant):
        return lv.Constant(operand.value is MISSING)
    if not isinstance(operand, lv.Column):
        return lv.Constant(False)
    return lv.Constant(False) if operand.missing is None else lv.Column(operand.missing)


def _coalesce(operands: Sequence[lv.LoweredValue]) -> lv.LoweredValue:
    columns = [column_of(operand, "coalesce") for operand in operands if operand != lv.NOTHING]
    columns = [column for column in columns if not _is_null_literal(column.expression)]
    if not columns:
        return lv.Constant(None)
    first = columns[0].expression
    for column in columns[1:]:
        pair = align(first, column.expression)
        is_rounded = isinstance(column.type, t.I64) and isinstance(first.type, t.FP32 | t.FP64)
        if pair is None or is_rounded or pair[0].type.as_required() != first.type.as_required():
            raise UnsupportedError("coalesce of columns of several types is not lowered to Substrait")
    values = [cast(column.expression, first.type.as_required()) for column in columns]
    return lv.Column(values[0] if len(values) == 1 else call("coalesce", *values))


def _is_null_literal(expression: ex.Expression) -> bool:
    return isinstance(expression, ex.Literal) and expression.value is None


def _struct_concat(operands: Sequence[lv.LoweredValue]) -> lv.LoweredValue:
    fields: list[tuple[str, lv.LoweredValue]] = []
    parts = [lv.split_struct(operand) for operand in operands]
    flags = {
        number: part.is_present.expression
        for number, part in enumerate(parts)
        if isinstance(part, lv.NullableComposite)
    }
    for number, part in enumerate(parts):
        struct = part.parts if isinstance(part, lv.NullableComposite) else part
        if not isinstance(struct, lv.Attributes):
            raise Mistyped("an operand is not a struct")
        others = [each for other, each in flags.items() if other != number]
        fields += ((name, where_all(others, field)) for name, field in struct.fields)
    combined = lv.Attributes(tuple(fields))
    return lv.NullableComposite(combined, lv.Column(all_of([*flags.values()]))) if flags else combined


def _star(operands: Sequence[lv.LoweredValue]) -> lv.LoweredValue:
    value, number = operands
    part = lv.split_struct(value)
    if isinstance(part, lv.Attributes):
        return part
    if isinstance(part, lv.NullableComposite):
        raise UnsupportedError("star of a struct or a collection that may be null is not lowered to Substrait")
    if value == lv.NOTHING:
        return lv.Attributes(())
    assert isinstance(number, lv.Constant)
    return lv.Attributes(((f"_{number.value!r}", value),))


OPERATOR_LOWERINGS: dict[str, Callable[[Sequence[lv.LoweredValue]], lv.LoweredValue]] = {
    "and": _connect("and"),
    "or": _connect("or"),
    "is_null": _is_null,
    "is_missing": _is_missing,
    "coalesce": _coalesce,
    "struct_concat": _struct_concat,
    "star": _star,
}
"""Operators and functions that take absent operands, or structs."""

_OF_VALUES = ("struct_concat",)
"""Those of them that are null or missing where an operand is, as other functions are."""
