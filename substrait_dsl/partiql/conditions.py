"""Conditions, sort keys and row numbers."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl import functions
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, Expression, FieldReference, IfClause, IfThen, SortKey, literal
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.fluent import expr as fluent
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.expr import bound_expr
from substrait_dsl.fluent.scope import NO_ROW
from substrait_dsl.partiql.calls import call, cast, comparison_class_of_type
from substrait_dsl.partiql.lowered_values import Column, LoweredValue
from substrait_dsl.partiql.null_and_missing import NO_BOOLEAN

DIRECTIONS: dict[tuple[str, str], SortDirection] = {
    ("asc", "nulls_first"): "asc_nulls_first",
    ("asc", "nulls_last"): "asc_nulls_last",
    ("desc", "nulls_first"): "desc_nulls_first",
    ("desc", "nulls_last"): "desc_nulls_last",
}


def row_number(order: Sequence[SortKey]) -> Expression:
    """Return the number of a row in an order, from 1."""
    return bind(functions.row_number().over(order_by=fluent_keys(order)), NO_ROW)


def fluent_keys(order: Sequence[SortKey]) -> list[fluent.SortKey]:
    """Return sort keys for a verb or a function."""
    keys = []
    for key in order:
        assert isinstance(key.direction, str)
        keys.append(fluent.SortKey(bound_expr(key.expression, None), key.direction))
    return keys


def not_a_boolean(value: LoweredValue, schema: NamedStruct) -> Expression:
    """Return a condition that fails for each row in which a value is present.

    It is a cast of a message to a boolean, which engines refuse. The message depends on the row, so that no engine
    evaluates it for other rows.
    """
    text: Expression = literal(NO_BOOLEAN, t.String())
    columns = [FieldReference(position, field.type) for position, field in enumerate(schema)]
    own = [value.expression] if isinstance(value, Column) else []
    shown = [each for each in (*own, *columns) if comparison_class_of_type(each.type) in _SHOWN]
    if shown:
        empty = literal("", t.String())
        text = call("concat", text, call("coalesce", cast(shown[0], t.String()), empty))
    fails = Cast(text, t.Boolean(nullable=True) if text.type.nullable else t.Boolean())
    if not own or not own[0].type.nullable:
        return fails
    where_present = IfClause(call("is_not_null", own[0]), fails)
    return IfThen((where_present,), literal(None, t.Boolean(nullable=True)))


_SHOWN = ("number", "text", "date", "timestamp")
"""The types that every engine casts to a string."""
