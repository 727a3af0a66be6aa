"""The right side of a lateral join: it is evaluated for each row of the left side.

While the right side is lowered, the variables of the left side are outer references. Then it is attached to the left
rows. Steps row by row (a filter, a projection, the elements of a list) are done over the left rows themselves, so that
most plans have no lateral join, which few engines know; aggregates and fetches need one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, OuterReference, literal
from substrait_dsl.algebra.expressions.references import ROOT, Root
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.algebra.rules import LateralJoinType
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.fluent.scope import Scope, outward
from substrait_dsl.partiql.lowered_values import Column, LoweredValue, with_columns

ONE_ROW = rl.Read(NamedStruct(()), rl.VirtualTable((rl.Record(()),)))
"""One row of no columns: the input of a value that is no table."""


def new_anchor(rel: Rel) -> int:
    """Return an unused anchor."""
    return Scope("a lateral join", (rel,)).take_anchor()


def with_expressions(value: LoweredValue, change: Callable[[Expression], Expression]) -> LoweredValue:
    """Return a value with other expressions, also of where it is missing."""

    def change_column(column: Column) -> Column:
        absent = column.absent
        return Column(change(column.expression), change(absent) if isinstance(absent, Expression) else absent)

    return with_columns(value, change_column)


def as_outer_reference(value: LoweredValue, anchor: int) -> LoweredValue:
    """Return a variable of the left side as an outer reference."""
    return with_expressions(value, lambda expression: outward(expression, anchor))


def shift_beside(variables: Mapping[str, LoweredValue], width: int, anchor: int | None) -> dict[str, LoweredValue]:
    """Shift variables of a right side to the row of both sides.

    `anchor`: the anchor of the left row, if they refer to it.
    """
    return {
        name: with_expressions(value, lambda expression: _shift(expression, width, anchor))
        for name, value in variables.items()
    }


def join_rows(left: Rel, right: Rel, anchor: int) -> Rel:
    """Join each left row with the right rows for it: left columns, then right ones."""
    width = len(left.schema)
    if anchor not in right.free_anchors:
        return left if right == ONE_ROW else rl.Cross(left, right)
    match right:
        case rl.Filter(input=child, condition=condition, anchor=None):
            return rl.Filter(join_rows(left, child, anchor), _shift(condition, width, anchor))
        case rl.Project(input=child, expressions=expressions, names=names, anchor=None) if not any(
            each.flags.has_window_functions for each in expressions
        ):
            moved = tuple(_shift(expression, width, anchor) for expression in expressions)
            return rl.Project(join_rows(left, child, anchor), moved, names)
        case rl.Emit(input=child, mapping=mapping):
            picked = [*range(width), *(width + position for position in mapping)]
            return rl.emit(join_rows(left, child, anchor), picked, [*left.schema.names, *right.schema.names])
        case rl.Unnest(input=child, column=column, names=names):
            return rl.Unnest(join_rows(left, child, anchor), width + column, names)
        case rl.Cross(left=one, right=other):
            return join_rows(join_rows(left, one, anchor), other, anchor)
        case rl.Expand(input=child, fields=fields, names=names, anchor=None):
            left_fields = (
                rl.ConsistentField(FieldReference(number, field.type)) for number, field in enumerate(left.schema)
            )
            copied = (rebuild(field, _change(width, anchor)) for field in fields)
            return rl.Expand(join_rows(left, child, anchor), (*left_fields, *copied), (*left.schema.names, *names))
        case rl.Join(left=one, right=other, how="inner" | "left" as how, condition=condition, anchor=None):
            rows, on = join_rows(left, one, anchor), _shift(condition, width, anchor)
            if anchor not in other.free_anchors:
                return rl.Join(rows, other, how, on)
            return _lateral(rows, other, how, on, {OuterReference(anchor): 0})
        case rl.LateralJoin(
            left=one, right=other, how="inner" | "left" as how, condition=condition, anchor=int() as own
        ):
            rows, on = join_rows(left, one, anchor), _shift(condition, width, anchor)
            return _lateral(rows, other, how, on, {OuterReference(anchor): 0, OuterReference(own): width})
        case _:
            return _lateral(left, right, "inner", literal(True, t.Boolean()), {OuterReference(anchor): 0})


def _lateral(
    left: Rel, right: Rel, how: LateralJoinType, condition: Expression, rows: Mapping[Root, int]
) -> rl.LateralJoin:
    """Return a lateral join whose left row has these rows in it, each from a position on.

    Its anchor is new, since another part of the right side may be joined so, too.
    """
    own = new_anchor(left)

    def change(node: Node) -> Node:
        if isinstance(node, FieldReference) and node.root in rows:
            return attrs.evolve(node, position=node.position + rows[node.root], root=OuterReference(own))
        return node

    return rl.LateralJoin(left, rebuild(right, change), how, condition, anchor=own)


def _shift(expression: Expression, width: int, anchor: int | None) -> Expression:
    return rebuild(expression, _change(width, anchor), into_relations=False)


def _change(width: int, anchor: int | None) -> Callable[[Node], Node]:
    outer = None if anchor is None else OuterReference(anchor)

    def change(node: Node) -> Node:
        match node:
            case FieldReference(root=root) if root == outer:
                return attrs.evolve(node, root=ROOT)
            case FieldReference(root=root) if root == ROOT:
                return attrs.evolve(node, position=node.position + width)
            case _:
                return node

    return change
