"""Constructors of the expressions and columns that lowering makes; types are derived."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.catalog.catalog import standard_catalog
from substrait_dsl.catalog.described_arguments import describe_argument
from substrait_dsl.errors import UnsupportedError

URN = "extension:io.substrait:functions_"
"""The prefix of the URNs of the specification's extensions."""

TRUE = ex.Literal(True, t.Boolean())
FALSE = ex.Literal(False, t.Boolean())
UNKNOWN = ex.Literal(None, t.Boolean(nullable=True))


def call(extension: str, name: str, *arguments: ex.Argument) -> ex.ScalarFunction:
    """Call a scalar function of the specification's extension of this name."""
    found = standard_catalog().resolve(
        "scalar", name, tuple(map(describe_argument, arguments)), urn=f"{URN}{extension}"
    )
    return ex.ScalarFunction(found.overload.function, arguments, found.output_type)


def measure(extension: str, name: str, *arguments: ex.Argument, filter: ex.Expression | None = None) -> ex.Measure:
    """Make a measure of an aggregate function of the specification over all records."""
    found = standard_catalog().resolve(
        "aggregate", name, tuple(map(describe_argument, arguments)), urn=f"{URN}{extension}"
    )
    return ex.Measure(ex.AggregateFunction(found.overload.function, arguments, found.output_type), filter)


def row_number(partitions: Sequence[ex.Expression] = (), sorts: Sequence[ex.SortKey] = ()) -> ex.WindowFunction:
    """Return the number of a row in its partition, from 1."""
    return window("row_number", partitions, sorts)


def window(name: str, partitions: Sequence[ex.Expression] = (), sorts: Sequence[ex.SortKey] = ()) -> ex.WindowFunction:
    """Return a window function without arguments."""
    found = standard_catalog().resolve("window", name, (), urn=f"{URN}arithmetic")
    function = ex.WindowCall(found.overload.function, (), found.output_type)
    return ex.WindowFunction(function, tuple(partitions), tuple(sorts))


def row_count(partitions: Sequence[ex.Expression] = ()) -> ex.WindowFunction:
    """Return the window function that counts the rows of a partition."""
    function = measure("aggregate_generic", "count").function
    counting = ex.WindowCall(function.function, (), function.output_type)
    return ex.WindowFunction(counting, tuple(partitions))


def one_zero(value: ex.Expression) -> ex.Expression:
    """Normalize a floating-point number: one zero, one NaN. Some engines compare their signs.

    In a struct NULL fields are equal.

    Raises `UnsupportedError` for other values of parts, and structs of floating-point numbers.
    """
    if not _is_comparable(value.type):
        raise UnsupportedError(f"values of {value.type} are not compared the same everywhere")
    if not isinstance(value.type, t.FP32 | t.FP64):
        return value
    if isinstance(value, ex.Literal):
        return (
            value
            if value.value is None
            else ex.Literal(math.nan if math.isnan(value.value) else value.value + 0.0, value.type)
        )
    type_ = value.type.as_required()
    is_nan = call("comparison", "is_nan", value)
    return case_when(
        [(is_nan, ex.Literal(math.nan, value.type))], call("arithmetic", "add", value, ex.literal(0.0, type_))
    )


def _is_comparable(type_: t.Type) -> bool:
    match type_:
        case t.Struct(types=types):
            return not any(isinstance(part, t.FP32 | t.FP64) or not _is_comparable(part) for part in types)
        case t.List() | t.Map():
            return False
        case _:
            return True


def normalize_sort_key(value: ex.Expression) -> ex.Expression:
    """Return `one_zero` of a sort key. Raises `UnsupportedError` for structs, too."""
    if isinstance(value.type, t.Struct):
        raise UnsupportedError(f"values of {value.type} are not ordered the same everywhere")
    return one_zero(value)


OF_ITSELF = {"equal": True, "lte": True, "gte": True, "not_equal": False, "lt": False, "gt": False}
"""The value of a comparison of a value that is not NULL with itself."""


def compare(name: str, left: ex.Expression, right: ex.Expression) -> ex.Expression:
    """Compare two values, with one zero.

    A comparison of a value with itself is expanded: an engine may take a nullable value for a required one.
    """
    if left == right and name in OF_ITSELF and (left.type.nullable or right.type.nullable):
        one_zero(left)  # which refuses what is not compared
        return case_when([(is_null(left), UNKNOWN)], ex.Literal(OF_ITSELF[name], t.Boolean()))
    prepared = normalize_sort_key if name in ("lt", "lte", "gt", "gte") else one_zero
    return call("comparison", name, prepared(left), prepared(right))


def equal(left: ex.Expression, right: ex.Expression) -> ex.Expression:
    """Return whether two values are equal; NULL if one is NULL."""
    return compare("equal", left, right)


def same(left: ex.Expression, right: ex.Expression) -> ex.ScalarFunction:
    """Return whether two values are not distinct; an equality where neither can be NULL."""
    name = "is_not_distinct_from" if left.type.nullable or right.type.nullable else "equal"
    return call("comparison", name, left, right)


def negate(condition: ex.Expression) -> ex.ScalarFunction:
    """Return NOT of a condition."""
    return call("boolean", "not", condition)


def is_null(value: ex.Expression) -> ex.ScalarFunction:
    """Return whether a value is NULL."""
    return call("comparison", "is_null", value)


def is_not_null(value: ex.Expression) -> ex.ScalarFunction:
    """Return whether a value is not NULL."""
    return call("comparison", "is_not_null", value)


def conjunction(conditions: Sequence[ex.Expression]) -> ex.Expression:
    """Return the conjunction of conditions; true, if there are none."""
    return connect("and", conditions) if conditions else TRUE


def connect(name: str, conditions: Sequence[ex.Expression]) -> ex.Expression:
    """Connect conditions pairwise, so that the tree is as low as possible."""
    level = list(conditions)
    while len(level) > 1:
        pairs = [call("boolean", name, *level[n : n + 2]) for n in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]


def case_when(clauses: Iterable[tuple[ex.Expression, ex.Expression]], otherwise: ex.Expression) -> ex.IfThen:
    """Return the value of the first clause whose condition is true."""
    return ex.IfThen(tuple(ex.IfClause(condition, then) for condition, then in clauses), otherwise)


def cast(value: ex.Expression, type_: t.Type) -> ex.Expression:
    """Cast a value to a type, nullable if the value is; the value itself, if it has that type."""
    wanted = type_.with_nullability(value.type.nullable)
    return value if value.type == wanted else ex.Cast(value, wanted)


def as_type(value: ex.Expression, type_: t.Type) -> ex.Expression:
    """Cast a value to exactly that type, nullability included."""
    return value if value.type == type_ else ex.Cast(value, type_)


def fail_where(test: ex.Expression, message: str) -> ex.Expression:
    """Return a condition that is true, and fails with a message where a test is true."""
    text = case_when([(test, ex.Literal(message, t.String()))], ex.Literal("0", t.String()))
    return equal(ex.Cast(text, t.I32()), ex.literal(0, t.I32()))


def is_bare(rel: Rel) -> bool:
    """Whether a relation has only the fields of its class, and nothing that lowering leaves out."""
    return rel.anchor is None and rel.common is None and rel.settings is None and not rel.shared


def emit_over(rel: Rel, emit: rl.Emit) -> Rel:
    """Return an emit over a lowered input, which may be an emit itself."""
    is_same = rel is emit.input and is_bare(emit)
    is_needed = emit.names is not None or emit.mapping != tuple(range(len(rel.schema)))
    return emit if is_same and is_needed else rl.emit(rel, emit.mapping, emit.names)


def number(value: int, type_: t.Type | None = None) -> ex.Literal:
    """Return a number literal; by default an integer of 64 bits."""
    return ex.literal(value, type_ or t.I64())


def column(rel: Rel, position: int) -> ex.FieldReference:
    """Return a column of a relation."""
    return ex.FieldReference(position, rel.schema.fields[position].type)


def columns(rel: Rel, positions: Iterable[int] | None = None) -> tuple[ex.FieldReference, ...]:
    """Return columns of a relation; all, by default."""
    return tuple(column(rel, each) for each in (range(len(rel.schema)) if positions is None else positions))


def shift_fields(expression: ex.Expression, by: int) -> ex.Expression:
    """Shift the field references of an expression."""
    return map_fields(expression, lambda position: position + by) if by else expression


def map_fields(expression: ex.Expression, position_of: Callable[[int], int]) -> ex.Expression:
    """Map the field references of an expression to other positions."""

    def change(node: Node) -> Node:
        if isinstance(node, ex.FieldReference) and node.root == ex.ROOT:
            return ex.FieldReference(position_of(node.position), node.column_type)
        return node

    return rebuild(expression, change, into_relations=False)


def with_columns(rel: Rel, *expressions: ex.Expression, name: str = "value") -> Rel:
    """Add columns to a relation."""
    return rl.Project(rel, expressions, tuple(f"{name}{n}" for n in range(len(expressions)))) if expressions else rel


def project_only(rel: Rel, expressions: Sequence[ex.Expression], names: Sequence[str]) -> Rel:
    """Replace the columns of a relation."""
    width = len(rel.schema)
    return rl.emit(rl.Project(rel, tuple(expressions), tuple(names)), range(width, width + len(expressions)))


def first_columns(rel: Rel, count: int) -> Rel:
    """Return the first columns of a relation."""
    return rl.emit(rel, range(count))
