"""Constructors of the expressions and columns that lowering makes; types are derived."""

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
"""The prefix of the URNs of the specification's extensions."""

TRUE = Literal(True, t.Boolean())
FALSE = Literal(False, t.Boolean())
UNKNOWN = Literal(None, t.Boolean(nullable=True))


def call(extension: str, name: str, *arguments: Argument) -> ScalarFunction:
    """Call a scalar function of the specification's extension of this name."""
    found = standard_catalog().resolve(
        "scalar", name, tuple(map(describe_argument, arguments)), urn=f"{URN}{extension}"
    )
    return ScalarFunction(found.overload.function, arguments, found.output_type)


def measure(extension: str, name: str, *arguments: Argument, filter: Expression | None = None) -> Measure:
    """Make a measure of an aggregate function of the specification over all records."""
    found = standard_catalog().resolve(
        "aggregate", name, tuple(map(describe_argument, arguments)), urn=f"{URN}{extension}"
    )
    return Measure(AggregateFunction(found.overload.function, arguments, found.output_type), filter)


def row_number(partitions: Sequence[Expression] = (), sorts: Sequence[SortKey] = ()) -> WindowFunction:
    """Return the number of a row in its partition, from 1."""
    return window("row_number", partitions, sorts)


def window(name: str, partitions: Sequence[Expression] = (), sorts: Sequence[SortKey] = ()) -> WindowFunction:
    """Return a window function without arguments."""
    found = standard_catalog().resolve("window", name, (), urn=f"{URN}arithmetic")
    function = WindowCall(found.overload.function, (), found.output_type)
    return WindowFunction(function, tuple(partitions), tuple(sorts))


def row_count(partitions: Sequence[Expression] = ()) -> WindowFunction:
    """Return the window function that counts the rows of a partition."""
    function = measure("aggregate_generic", "count").function
    counting = WindowCall(function.function, (), function.output_type)
    return WindowFunction(counting, tuple(partitions))


def one_zero(value: Expression) -> Expression:
    """Normalize a floating-point number: one zero, one NaN. Some engines compare their signs.

    In a struct NULL fields are equal.

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
    """Return `one_zero` of a sort key. Raises `UnsupportedError` for structs, too."""
    if isinstance(value.type, t.Struct):
        raise UnsupportedError(f"values of {value.type} are not ordered the same everywhere")
    return one_zero(value)


OF_ITSELF = {"equal": True, "lte": True, "gte": True, "not_equal": False, "lt": False, "gt": False}
"""The value of a comparison of a value that is not NULL with itself."""


def compared(name: str, left: Expression, right: Expression) -> Expression:
    """Compare two values, with one zero.

    A comparison of a value with itself is expanded: an engine may take a nullable value for a required one.
    """
    if left == right and name in OF_ITSELF and (left.type.nullable or right.type.nullable):
        one_zero(left)  # which refuses what is not compared
        return chosen([(is_null(left), UNKNOWN)], Literal(OF_ITSELF[name], t.Boolean()))
    prepared = in_order if name in ("lt", "lte", "gt", "gte") else one_zero
    return call("comparison", name, prepared(left), prepared(right))


def equal(left: Expression, right: Expression) -> Expression:
    """Return whether two values are equal; NULL if one is NULL."""
    return compared("equal", left, right)


def same(left: Expression, right: Expression) -> ScalarFunction:
    """Return whether two values are not distinct; an equality where neither can be NULL."""
    name = "is_not_distinct_from" if left.type.nullable or right.type.nullable else "equal"
    return call("comparison", name, left, right)


def negated(condition: Expression) -> ScalarFunction:
    """Return NOT of a condition."""
    return call("boolean", "not", condition)


def is_null(value: Expression) -> ScalarFunction:
    """Return whether a value is NULL."""
    return call("comparison", "is_null", value)


def is_not_null(value: Expression) -> ScalarFunction:
    """Return whether a value is not NULL."""
    return call("comparison", "is_not_null", value)


def conjunction(conditions: Sequence[Expression]) -> Expression:
    """Return the conjunction of conditions; true, if there are none."""
    return balanced("and", conditions) if conditions else TRUE


def balanced(name: str, conditions: Sequence[Expression]) -> Expression:
    """Connect conditions pairwise, so that the tree is as low as possible."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [call("boolean", name, *level[n : n + 2]) for n in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


def chosen(clauses: Iterable[tuple[Expression, Expression]], otherwise: Expression) -> IfThen:
    """Return the value of the first clause whose condition is true."""
    return IfThen(tuple(IfClause(condition, then) for condition, then in clauses), otherwise)


def cast(value: Expression, type_: t.Type) -> Expression:
    """Cast a value to a type, nullable if the value is; the value itself, if it has that type."""
    wanted = type_.with_nullability(value.type.nullable)
    return value if value.type == wanted else Cast(value, wanted)


def of_type(value: Expression, type_: t.Type) -> Expression:
    """Cast a value to exactly that type, nullability included."""
    return value if value.type == type_ else Cast(value, type_)


def unless(test: Expression, message: str) -> Expression:
    """Return a condition that is true, and fails with a message where a test is true."""
    text = chosen([(test, Literal(message, t.String()))], Literal("0", t.String()))
    return equal(Cast(text, t.I32()), literal(0, t.I32()))


def is_bare(rel: Rel) -> bool:
    """Whether a relation has only the fields of its class, and nothing that lowering leaves out."""
    return rel.anchor is None and rel.common is None and rel.settings is None and not rel.shared


def emit_over(rel: Rel, emit: r.Emit) -> Rel:
    """Return an emit over a lowered input, which may be an emit itself."""
    is_same = rel is emit.input and is_bare(emit)
    is_needed = emit.names is not None or emit.mapping != tuple(range(len(rel.schema)))
    return emit if is_same and is_needed else r.emit(rel, emit.mapping, emit.names)


def number(value: int, type_: t.Type | None = None) -> Literal:
    """Return a number literal; by default an integer of 64 bits."""
    return literal(value, type_ or t.I64())


def column(rel: Rel, position: int) -> FieldReference:
    """Return a column of a relation."""
    return FieldReference(position, rel.schema.fields[position].type)


def columns(rel: Rel, positions: Iterable[int] | None = None) -> tuple[FieldReference, ...]:
    """Return columns of a relation; all, by default."""
    return tuple(column(rel, each) for each in (range(len(rel.schema)) if positions is None else positions))


def shifted(expression: Expression, by: int) -> Expression:
    """Shift the field references of an expression."""
    return moved(expression, lambda position: position + by) if by else expression


def moved(expression: Expression, position_of: Callable[[int], int]) -> Expression:
    """Map the field references of an expression to other positions."""

    def change(node: Node) -> Node:
        if isinstance(node, FieldReference) and node.root == ROOT:
            return FieldReference(position_of(node.position), node.column_type)
        return node

    return rebuild(expression, change, into_relations=False)


def with_columns(rel: Rel, *expressions: Expression, name: str = "value") -> Rel:
    """Add columns to a relation."""
    return r.Project(rel, expressions, tuple(f"{name}{n}" for n in range(len(expressions)))) if expressions else rel


def only(rel: Rel, expressions: Sequence[Expression], names: Sequence[str]) -> Rel:
    """Replace the columns of a relation."""
    width = len(rel.schema)
    return r.emit(r.Project(rel, tuple(expressions), tuple(names)), range(width, width + len(expressions)))


def first_columns(rel: Rel, count: int) -> Rel:
    """Return the first columns of a relation."""
    return r.emit(rel, range(count))
