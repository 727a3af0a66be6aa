"""Columns without NULL though their type is nullable: filters below leave out the rows that have one."""

from __future__ import annotations

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import (
    ROOT,
    Cast,
    Expression,
    FieldReference,
    Literal,
    ScalarFunction,
    SingularOrList,
)
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations.joins import BOOLEAN_URN, COMPARISON_URN, conjuncts
from substrait_dsl.algebra.rules import JOIN_RULES

COMPARISONS = ("equal", "not_equal", "lt", "lte", "gt", "gte", "between")
"""Functions that are NULL where an argument is, so that a filter by them leaves out the row."""

_SEEING = (rl.Filter, rl.Project, rl.Sort, rl.TopN, rl.Window, rl.Expand, rl.Aggregate)
"""Relations of one input, whose rows are what all of their expressions see."""


def is_without_null(rel: Rel, position: int) -> bool:
    """Return whether no row of a relation has a NULL in a column, by its type or by a filter below."""
    below: tuple[Rel, int] | None = (rel, position)
    while below is not None:
        rel, position = below
        if not rel.schema.types[position].nullable:
            return True
        match rel:
            case rl.Filter(condition=condition) if any(
                _leaves_out_null(conjunct, position) for conjunct in conjuncts(condition)
            ):
                return True
            case rl.Project(input=child, expressions=expressions) if position >= len(child.schema):
                value = expressions[position - len(child.schema)]
                if is_never_null(value):
                    return True
                below = _origin(value, child)
            case rl.Aggregate(input=child, keys=keys, grouping_sets=sets):
                is_key = position < len(keys) and all(position in one for one in sets)
                below = _origin(keys[position], child) if is_key else None
            case _:
                below = _same_column(rel, position)
    return False


def is_never_null(value: Expression) -> bool:
    """Return whether a value of a nullable type is never NULL: a literal, or ``coalesce`` with a required argument."""
    match value:
        case Literal(value=known):
            return known is not None
        case ScalarFunction(function=function, arguments=arguments):
            is_coalesce = (function.urn, function.name) == (COMPARISON_URN, "coalesce")
            return is_coalesce and any(isinstance(each, Expression) and not each.type.nullable for each in arguments)
    return False


def checks_that_hold(top: Rel) -> dict[int, Node]:
    """Return the casts of a column to its required type, or another one, that meet no NULL, by their ids.

    A cast that stands in several places is among them if it meets none in all of these.
    """
    if not any(isinstance(node, Cast) and checked_column(node) is not None for node in walk(top)):
        return {}
    holding: dict[int, Node] = {}
    others: set[int] = set()
    for rel in walk(top):
        if not isinstance(rel, Rel):
            continue
        for part in rel.children():
            for node in () if isinstance(part, Rel) else walk(part, into_relations=False):
                column = checked_column(node)
                if column is None:
                    continue
                if isinstance(rel, _SEEING) and column.root == ROOT and is_without_null(rel.input, column.position):
                    holding[id(node)] = node
                else:
                    others.add(id(node))
    return {key: node for key, node in holding.items() if key not in others}


def checked_column(node: Node) -> FieldReference | None:
    """Return the nullable column that a cast to a required type checks for NULL."""
    match node:
        case Cast(input=FieldReference() as column, target=target) if column.type.nullable and not target.nullable:
            return column
    return None


def _origin(value: Expression, child: Rel) -> tuple[Rel, int] | None:
    """Return the column of the input that a value is NULL with; None if that is not known."""
    position = _column_of(value)
    return None if position is None else (child, position)


def _column_of(value: object) -> int | None:
    """Return the column that a value is NULL with: it is this, or a cast of this."""
    match value:
        case Cast(input=FieldReference() as column, on_failure="throw") | (FieldReference() as column):
            return column.position if column.root == ROOT else None
    return None


def _same_column(rel: Rel, position: int) -> tuple[Rel, int] | None:
    """Return the column of an input that a column of a relation is, of some of its rows."""
    match rel:
        case rl.Emit(input=child, mapping=mapping):
            return child, mapping[position]
        case rl.Cross(left=left, right=right):
            return (left, position) if position < len(left.schema) else (right, position - len(left.schema))
        case rl.Join() | rl.HashJoin() | rl.MergeJoin() | rl.NestedLoopJoin():
            rule = JOIN_RULES[rel.how]
            width = 0 if rule.left == "dropped" else len(rel.left.schema)
            if position < width:
                return (rel.left, position) if rule.left == "preserved" else None
            is_right = rule.right == "preserved" and position - width < len(rel.right.schema)
            return (rel.right, position - width) if is_right else None
        case (
            rl.Filter(input=child)
            | rl.Project(input=child)
            | rl.Window(input=child)
            | rl.Sort(input=child)
            | rl.Fetch(input=child)
            | rl.TopN(input=child)
            | rl.Exchange(input=child)
            | rl.MergingCapture(input=child)
            | rl.SimpleCapture(input=child)
        ):
            return (child, position) if position < len(child.schema) else None
    return None


def _leaves_out_null(condition: Expression, position: int) -> bool:
    """Return whether a condition is false or NULL where a column is NULL."""
    match condition:
        case ScalarFunction(function=function, arguments=(ScalarFunction(function=inner, arguments=arguments),)) if (
            function.urn,
            function.name,
            inner.urn,
            inner.name,
        ) == (BOOLEAN_URN, "not", COMPARISON_URN, "is_null"):
            return position in map(_column_of, arguments)
        case ScalarFunction(function=function, arguments=arguments) if function.urn == COMPARISON_URN:
            is_test = function.name == "is_not_null" or function.name in COMPARISONS
            return is_test and position in map(_column_of, arguments)
        case SingularOrList(value=value):
            return _column_of(value) == position
    return False
