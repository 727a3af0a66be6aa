"""Expressions and columns that lowering makes: through the catalogue and the constructors, which derive their types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    ROOT,
    AggregateFunction,
    Argument,
    Cast,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    Literal,
    Measure,
    ScalarFunction,
    SortKey,
    WindowCall,
    WindowFunction,
    literal,
)
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.catalog.call_arguments import describe_argument
from substrait_dsl.catalog.catalog import standard_catalog
from substrait_dsl.errors import UnsupportedError

URN = "extension:io.substrait:functions_"
"""How the URNs begin of the extensions of the specification."""

TRUE = Literal(True, t.Boolean())
FALSE = Literal(False, t.Boolean())
UNKNOWN = Literal(None, t.Boolean(nullable=True))


def call(extension: str, name: str, *arguments: Argument) -> ScalarFunction:
    """A call of a scalar function of the specification, whose extension is called so behind `URN`."""
    found = standard_catalog().resolve(
        "scalar", name, tuple(map(describe_argument, arguments)), urn=f"{URN}{extension}"
    )
    return ScalarFunction(found.overload.function, arguments, found.output_type)


def measure(extension: str, name: str, *arguments: Argument, filter: Expression | None = None) -> Measure:
    """A measure: a call of an aggregate function of the specification over all records."""
    found = standard_catalog().resolve(
        "aggregate", name, tuple(map(describe_argument, arguments)), urn=f"{URN}{extension}"
    )
    return Measure(AggregateFunction(found.overload.function, arguments, found.output_type), filter)


def row_number(partitions: Sequence[Expression] = (), sorts: Sequence[SortKey] = ()) -> WindowFunction:
    """The number of a row in its partition, from 1."""
    return window("row_number", partitions, sorts)


def window(name: str, partitions: Sequence[Expression] = (), sorts: Sequence[SortKey] = ()) -> WindowFunction:
    """A window function without arguments."""
    found = standard_catalog().resolve("window", name, (), urn=f"{URN}arithmetic")
    function = WindowCall(found.overload.function, (), found.output_type)
    return WindowFunction(function, tuple(partitions), tuple(sorts))


def row_count(partitions: Sequence[Expression] = ()) -> WindowFunction:
    """How many rows a partition has."""
    function = measure("aggregate_generic", "count").function
    counting = WindowCall(function.function, (), function.output_type)
    return WindowFunction(counting, tuple(partitions))


def one_zero(value: Expression) -> Expression:
    """A floating-point number whose zero, or NaN, is the positive one: some engines tell both apart by their signs.

    A struct is one value, whose fields that are NULL are the same.

    Raises `UnsupportedError` for other values of parts, and structs of floating-point numbers.
    """
    if not _is_comparable(value.type):
        raise UnsupportedError(f"values of {value.type} are not compared the same everywhere")
    if not isinstance(value.type, t.FP32 | t.FP64):
        return value
    if isinstance(value, Literal):
        return (
            value
            if value.value is None
            else Literal(math.nan if math.isnan(value.value) else value.value + 0.0, value.type)
        )
    type_ = value.type.as_required()
    is_nan = call("comparison", "is_nan", value)
    return chosen([(is_nan, Literal(math.nan, value.type))], call("arithmetic", "add", value, literal(0.0, type_)))


def _is_comparable(type_: t.Type) -> bool:
    match type_:
        case t.Struct(types=types):
            return not any(isinstance(part, t.FP32 | t.FP64) or not _is_comparable(part) for part in types)
        case t.List() | t.Map():
            return False
        case _:
            return True


def in_order(value: Expression) -> Expression:
    """As `one_zero`, for a value by which rows are ordered. Raises `UnsupportedError` for structs, too."""
    if isinstance(value.type, t.Struct):
        raise UnsupportedError(f"values of {value.type} are not ordered the same everywhere")
    return one_zero(value)


OF_ITSELF = {"equal": True, "lte": True, "gte": True, "not_equal": False, "lt": False, "gt": False}
"""What a comparison of a value that is not NULL with itself gives."""


def compared(name: str, left: Expression, right: Expression) -> Expression:
    """A comparison of two values, to which both zeros are one.

    That of a value with itself is written out: an engine may take a NULL below for none.
    """
    if left == right and name in OF_ITSELF and (left.type.nullable or right.type.nullable):
        one_zero(left)  # which refuses what is not compared
        return chosen([(is_null(left), UNKNOWN)], Literal(OF_ITSELF[name], t.Boolean()))
    prepared = in_order if name in ("lt", "lte", "gt", "gte") else one_zero
    return call("comparison", name, prepared(left), prepared(right))


def equal(left: Expression, right: Expression) -> Expression:
    """Whether two values are equal; NULL if one is."""
    return compared("equal", left, right)


def same(left: Expression, right: Expression) -> ScalarFunction:
    """Whether two values are the same, NULL and NULL, too. Where neither can be NULL that is whether they are equal."""
    name = "is_not_distinct_from" if left.type.nullable or right.type.nullable else "equal"
    return call("comparison", name, left, right)


def negated(condition: Expression) -> ScalarFunction:
    """NOT."""
    return call("boolean", "not", condition)


def is_null(value: Expression) -> ScalarFunction:
    """Whether a value is NULL."""
    return call("comparison", "is_null", value)


def is_not_null(value: Expression) -> ScalarFunction:
    """Whether a value is not NULL."""
    return call("comparison", "is_not_null", value)


def conjunction(conditions: Sequence[Expression]) -> Expression:
    """All of the conditions; true, if there are none."""
    return balanced("and", conditions) if conditions else TRUE


def balanced(name: str, conditions: Sequence[Expression]) -> Expression:
    """Conditions connected two by two, so that the tree is as low as it can be."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [call("boolean", name, *level[n : n + 2]) for n in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


def chosen(clauses: Iterable[tuple[Expression, Expression]], otherwise: Expression) -> IfThen:
    """The value of the first clause whose condition is true."""
    return IfThen(tuple(IfClause(condition, then) for condition, then in clauses), otherwise)


def cast(value: Expression, type_: t.Type) -> Expression:
    """A value cast to a type, nullable if the value is; itself, if it has that type."""
    wanted = type_.with_nullability(value.type.nullable)
    return value if value.type == wanted else Cast(value, wanted)


def of_type(value: Expression, type_: t.Type) -> Expression:
    """A value as one of exactly that type, nullability included."""
    return value if value.type == type_ else Cast(value, type_)


def unless(test: Expression, message: str) -> Expression:
    """True; fails where a test is true: the text that says so is no number."""
    text = chosen([(test, Literal(message, t.String()))], Literal("0", t.String()))
    return equal(Cast(text, t.I32()), literal(0, t.I32()))


def is_bare(rel: Rel) -> bool:
    """Whether a relation has no more than the fields of its class: nothing else that lowering leaves out."""
    return rel.anchor is None and rel.common is None and rel.settings is None and not rel.shared


def emit_over(rel: Rel, emit: r.Emit) -> Rel:
    """An emit over what stands for its input, which may be an emit, on which no other stands."""
    is_same = rel is emit.input and is_bare(emit)
    is_needed = emit.names is not None or emit.mapping != tuple(range(len(rel.schema)))
    return emit if is_same and is_needed else r.emit(rel, emit.mapping, emit.names)


def number(value: int, type_: t.Type | None = None) -> Literal:
    """A constant of a type of numbers; by default an integer of 64 bits."""
    return literal(value, type_ or t.I64())


def column(rel: Rel, position: int) -> FieldReference:
    """A column of a relation."""
    return FieldReference(position, rel.schema.fields[position].type)


def columns(rel: Rel, positions: Iterable[int] | None = None) -> tuple[FieldReference, ...]:
    """Columns of a relation; all, by default."""
    return tuple(column(rel, each) for each in (range(len(rel.schema)) if positions is None else positions))


def shifted(expression: Expression, by: int) -> Expression:
    """An expression over a row that has so many columns more in front."""
    return moved(expression, lambda position: position + by) if by else expression


def moved(expression: Expression, position_of: Callable[[int], int]) -> Expression:
    """An expression over a row in which a column stands where `position_of`, a function of positions, says."""

    def change(node: Node) -> Node:
        if isinstance(node, FieldReference) and node.root == ROOT:
            return FieldReference(position_of(node.position), node.column_type)
        return node

    return rebuild(expression, change, into_relations=False)


def with_columns(rel: Rel, *expressions: Expression, name: str = "value") -> Rel:
    """A relation with further columns."""
    return r.Project(rel, expressions, tuple(f"{name}{n}" for n in range(len(expressions)))) if expressions else rel


def only(rel: Rel, expressions: Sequence[Expression], names: Sequence[str]) -> Rel:
    """A relation with these columns instead of its own."""
    width = len(rel.schema)
    return r.emit(r.Project(rel, tuple(expressions), tuple(names)), range(width, width + len(expressions)))


def first_columns(rel: Rel, count: int) -> Rel:
    """A relation without the columns after the first so many."""
    return r.emit(rel, range(count))
