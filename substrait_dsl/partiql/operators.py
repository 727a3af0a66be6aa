"""Operators and functions of value expressions on columns: which functions of Substrait they are.

What is known without the rows is not asked of them: an operand of a type that the operator never takes makes the
result missing in permissive mode, and is an error in strict mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait_dsl import functions
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    Cast,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    Literal,
    SortKey,
    fits,
    literal,
)
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import EvaluationError, UnsupportedError
from substrait_dsl.fluent import expr as fluent
from substrait_dsl.fluent.calls import scalar
from substrait_dsl.fluent.expr import bound, resolve
from substrait_dsl.fluent.scope import NO_ROW
from substrait_dsl.partiql.constants import to_literal
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

_INTEGERS = (t.I8, t.I16, t.I32, t.I64)
_KINDS: tuple[tuple[str, tuple[type[t.Type], ...]], ...] = (
    ("boolean", (t.Boolean,)),
    ("number", (*_INTEGERS, t.FP32, t.FP64, t.Decimal)),
    ("text", (t.String, t.VarChar, t.FixedChar)),
    ("blob", (t.Binary, t.FixedBinary)),
    ("date", (t.Date,)),
    ("timestamp", (t.PrecisionTimestamp,)),
    ("timestamp with a zone", (t.PrecisionTimestampTZ,)),
)
"""What can be compared with each other."""


def call(name: str, *arguments: Expression, **options: str) -> Expression:
    """A function of the specification's catalogue. Raises `FunctionNotFoundError`."""
    return resolve(scalar(name, [bound(argument, None) for argument in arguments], options), NO_ROW)


def kind_of_type(kind: t.Type) -> str:
    """What the values of a type can be compared with: all others of the same kind."""
    for name, types in _KINDS:
        if isinstance(kind, types):
            return name
    return str(kind.as_required())


def cast(expression: Expression, to: t.Type) -> Expression:
    """An expression as another type, as nullable as it is."""
    wanted = to.as_nullable() if expression.type.nullable else to.as_required()
    return expression if expression.type == wanted else Cast(expression, wanted)


def lowered(op: str, operands: Sequence[Term], mode: Mode) -> Term:
    """An operator or function of terms that are not all constant."""
    try:
        if op in _OF_ABSENT:
            return _OF_ABSENT[op](operands)
        if NOTHING in operands:
            return NOTHING
        if any(isinstance(operand, Constant) and operand.value is None for operand in operands):
            return Constant(None)
        columns = [_column(operand, op) for operand in operands]
        if op not in _OF_COLUMNS:
            raise UnsupportedError(f"{op} of columns is not lowered to Substrait")
        result = _OF_COLUMNS[op](*(column.expression for column in columns))
    except Mistyped as error:
        if mode == "strict":
            raise EvaluationError(f"{op}: {error}") from error
        return NOTHING
    return Column(result, absent_of(columns))


def _column(term: Term, op: str) -> Column:
    match term:
        case Column():
            return term
        case Constant(value=value):
            return Column(to_literal(value))
        case Attributes() | Elements():
            raise UnsupportedError(f"{op} of a struct or a collection is not lowered to Substrait")


# --- comparisons


def _aligned(left: Expression, right: Expression) -> tuple[Expression, Expression] | None:
    """Two operands as one type; None if they are of different kinds."""
    a, b = left.type, right.type
    if kind_of_type(a) != kind_of_type(b):
        return None
    match kind_of_type(a):
        case "number":
            for one, other in ((left, right), (right, left)):
                if isinstance(one, Literal) and isinstance(other.type, _INTEGERS) and fits(one.value, other.type):
                    fitting = literal(one.value, other.type.as_required())  # so that the column stays as it is
                    return (fitting, other) if one is left else (other, fitting)
            common = _common_number(a, b)
        case "text":
            common = t.String()
        case "blob":
            common = t.Binary()
        case _:
            if a.as_required() != b.as_required():
                raise UnsupportedError(f"{a} and {b} are not compared")
            return left, right
    return cast(left, common), cast(right, common)


def _common_number(a: t.Type, b: t.Type) -> t.Type:
    """The type in which two numbers meet without loss."""
    kinds = (a, b)
    if any(isinstance(kind, t.FP32 | t.FP64) for kind in kinds):
        if any(isinstance(kind, t.Decimal) for kind in kinds):
            raise UnsupportedError(f"{a} and {b} are not compared: a float is seldom the decimal that it looks like")
        return t.FP64()
    if all(isinstance(kind, _INTEGERS) for kind in kinds):
        return t.I64()
    decimals = [kind if isinstance(kind, t.Decimal) else t.Decimal(19, 0) for kind in kinds]
    scale = max(kind.scale for kind in decimals)
    precision = max(kind.precision - kind.scale for kind in decimals) + scale
    if precision > 38:
        raise UnsupportedError(f"{a} and {b} have no common type of at most 38 digits")
    return t.Decimal(precision, scale)  # type: ignore[type-var]  # known only now


def _equal(name: str) -> Callable[[Expression, Expression], Expression]:
    def of(left: Expression, right: Expression) -> Expression:
        pair = _aligned(left, right)
        if pair is not None:
            return call(name, *pair)
        # Values of different kinds differ; if one of them is absent, nobody knows.
        known = call("and", call("is_not_null", left), call("is_not_null", right))
        boolean = t.Boolean(nullable=True)
        return IfThen((IfClause(known, literal(name == "not_equal", boolean)),), literal(None, boolean))

    return of


def _ordered(name: str) -> Callable[[Expression, Expression], Expression]:
    def of(left: Expression, right: Expression) -> Expression:
        pair = _aligned(left, right)
        if pair is None:
            raise Mistyped(f"{kind_of_type(left.type)} and {kind_of_type(right.type)} have no order")
        return call(name, *pair)

    return of


# --- arithmetic


def _arithmetic(name: str) -> Callable[[Expression, Expression], Expression]:
    """Of integers in 64 bits, of a float and another number in a float, of others in decimals."""

    def of(left: Expression, right: Expression) -> Expression:
        for operand in (left, right):
            _require("number", operand)
        kinds = (left.type, right.type)
        if any(isinstance(kind, t.FP32 | t.FP64) for kind in kinds):
            return call(name, cast(left, t.FP64()), cast(right, t.FP64()))
        if all(isinstance(kind, _INTEGERS) for kind in kinds):
            return call(name, cast(left, t.I64()), cast(right, t.I64()))
        return call(name, *(_as_decimal(operand) for operand in (left, right)))

    return of


def _as_decimal(operand: Expression) -> Expression:
    return operand if isinstance(operand.type, t.Decimal) else cast(operand, t.Decimal(19, 0))


def _divided(name: str) -> Callable[[Expression, Expression], Expression]:
    """Of integers, by a constant: elsewhere engines differ in the digits, and in what a division by zero is."""

    def of(left: Expression, right: Expression) -> Expression:
        for operand in (left, right):
            _require("number", operand)
        if not all(isinstance(operand.type, _INTEGERS) for operand in (left, right)):
            raise UnsupportedError(f"{name} of {left.type} and {right.type} is not lowered: engines round differently")
        if not isinstance(right, Literal):
            raise UnsupportedError(f"{name} by a column is not lowered: by zero it would be an error, not missing")
        if right.value == 0:
            raise Mistyped("division by zero")
        return call(name, cast(left, t.I64()), cast(right, t.I64()))

    return of


def _of_numbers(name: str) -> Callable[[Expression], Expression]:
    def of(operand: Expression) -> Expression:
        _require("number", operand)
        is_integer = isinstance(operand.type, _INTEGERS)
        return call(name, cast(operand, t.I64()) if is_integer else operand)

    return of


def _of_texts(name: str) -> Callable[..., Expression]:
    def of(*operands: Expression) -> Expression:
        for operand in operands:
            _require("text", operand)
        return call(name, *(cast(operand, t.String()) for operand in operands))

    return of


def _require(kind: str, operand: Expression) -> None:
    if kind_of_type(operand.type) != kind:
        raise Mistyped(f"a {kind_of_type(operand.type)} is not a {kind}")


def _not(operand: Expression) -> Expression:
    _require("boolean", operand)
    return call("not", operand)


_OF_COLUMNS: dict[str, Callable[..., Expression]] = {
    "eq": _equal("equal"),
    "ne": _equal("not_equal"),
    "lt": _ordered("lt"),
    "lte": _ordered("lte"),
    "gt": _ordered("gt"),
    "gte": _ordered("gte"),
    "not": _not,
    "plus": _arithmetic("add"),
    "minus": _arithmetic("subtract"),
    "times": _arithmetic("multiply"),
    "divide": _divided("divide"),
    "modulo": _divided("modulus"),
    "neg": _of_numbers("negate"),
    "abs": _of_numbers("abs"),
    "concat": _of_texts("concat"),
    "upper": _of_texts("upper"),
    "lower": _of_texts("lower"),
    "char_length": _of_texts("char_length"),
}
"""What takes values that are there."""


# --- what is asked of absent operands, too


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
            part = _column(operand, name).expression
            _require("boolean", part)
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
    columns = [_column(operand, "coalesce") for operand in operands if operand != NOTHING]
    columns = [column for column in columns if not _is_null_literal(column.expression)]
    if not columns:
        return Constant(None)
    first = columns[0].expression
    for column in columns[1:]:
        pair = _aligned(first, column.expression)
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


_OF_ABSENT: dict[str, Callable[[Sequence[Term]], Term]] = {
    "and": _connected("and"),
    "or": _connected("or"),
    "is_null": _is_null,
    "is_missing": _is_missing,
    "coalesce": _coalesce,
    "struct_concat": _struct_concat,
    "star": _star,
}
"""What is asked even if operands are absent, or takes structs."""


# --- what rows need

DIRECTIONS: dict[tuple[str, str], SortDirection] = {
    ("asc", "nulls_first"): "asc_nulls_first",
    ("asc", "nulls_last"): "asc_nulls_last",
    ("desc", "nulls_first"): "desc_nulls_first",
    ("desc", "nulls_last"): "desc_nulls_last",
}


def row_number(order: Sequence[SortKey]) -> Expression:
    """The number of a row in an order, from 1."""
    keys = []
    for key in order:
        assert isinstance(key.direction, str)
        keys.append(fluent.SortKey(bound(key.expression, None), key.direction))
    return resolve(functions.row_number().over(order_by=keys), NO_ROW)


def not_a_boolean(term: Term, schema: NamedStruct) -> Expression:
    """A condition that fails, when it is evaluated, for each row in which a value is there.

    It is a cast of a text that is written like no boolean, which engines refuse: it says what is wrong. The text
    depends on the row, so that no engine evaluates it where there is none.
    """
    text: Expression = literal("a condition is a boolean, not a value such as ", t.String())
    columns = [FieldReference(position, field.type) for position, field in enumerate(schema)]
    own = [term.expression] if isinstance(term, Column) else []
    shown = [each for each in (*own, *columns) if kind_of_type(each.type) in _SHOWN]
    if shown:
        empty = literal("", t.String())
        text = call("concat", text, call("coalesce", cast(shown[0], t.String()), empty))
    fails = Cast(text, t.Boolean(nullable=True) if text.type.nullable else t.Boolean())
    if not own or not own[0].type.nullable:
        return fails
    there = IfClause(call("is_not_null", own[0]), fails)
    return IfThen((there,), literal(None, t.Boolean(nullable=True)))


_SHOWN = ("number", "text", "date", "timestamp")
"""What every engine can cast to a text."""
