"""Outer joins: the variables of the null-extended side are null in rows without a partner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, IfClause, IfThen, literal
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.relations import Cross, Join, LateralJoin
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.bindings import JoinHow
from substrait_dsl.partiql.calls import call
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.lateral import shift_beside
from substrait_dsl.partiql.lowered import LoweredBindings
from substrait_dsl.partiql.null_and_missing import Absent, is_true
from substrait_dsl.partiql.values import MISSING


def outer_join(
    how: JoinHow,
    left: LoweredBindings,
    right: LoweredBindings,
    anchor: int | None,
    condition: Callable[[LoweredBindings], Expression],
) -> LoweredBindings:
    """Return the matching pairs, and the tuples of the preserved sides without a partner.

    Args:
        how: which side keeps its tuples: "left", "right", "full".
        left: the tuples of one side.
        right: those of the other.
        anchor: what the right side calls the left row, if it refers to it.
        condition: makes the condition for the pairs.
    """
    left_marker = right_marker = None
    if how in ("right", "full"):
        left, left_marker = _with_marker(left)
    if how in ("left", "full"):
        right, right_marker = _with_marker(right)
    width = len(left.rel.schema)
    left_variables, right_variables = left.variables, shift_beside(right.variables, width, anchor)
    both = LoweredBindings(Cross(left.rel, right.rel), "bag", {**left_variables, **right_variables})
    if anchor is None or anchor not in right.rel.free_anchors:  # what it refers to may be known to be missing
        rel: Rel = Join(left.rel, right.rel, "outer" if how == "full" else how, condition(both))
    else:
        rel = LateralJoin(left.rel, right.rel, "left", condition(both), anchor=anchor)
    variables = {
        **_pad_side(left_variables, left_marker),
        **_pad_side(right_variables, None if right_marker is None else width + right_marker),
    }
    return attrs.evolve(both, rel=rel, variables=variables)


def _pad_side(variables: Mapping[str, lv.LoweredValue], marker: int | None) -> Mapping[str, lv.LoweredValue]:
    """Return the variables of a side after the join; its marker, if it is null-extended, is at this position."""
    if marker is None:
        return variables
    is_present = lv.Column(call("is_not_null", FieldReference(marker, t.Boolean(nullable=True))))
    return {name: _pad(value, is_present) for name, value in variables.items()}


def _with_marker(rows: LoweredBindings) -> tuple[LoweredBindings, int]:
    """Return the same tuples with all variables as columns, and the position of a column that is never null.

    Where that is null after a join, the side is null-extended.
    """
    variables: dict[str, lv.LoweredValue] = {}
    for name, value in rows.variables.items():
        rows, variables[name] = rows.with_computed_columns(value, name, also_outer=True)
    rows, (marker,) = rows.with_columns(("is there", literal(True, t.Boolean())))
    return attrs.evolve(rows, variables=variables), marker.position


def _pad(lowered: lv.LoweredValue, is_present: lv.Column) -> lv.LoweredValue:
    match lv.expand_constant(lowered):
        case lv.Column(expression=expression, absent=absent):
            after = _absent(absent, is_present.expression) if expression.type.nullable else "null"
            return lv.Column(_nullable(expression), after)
        case lv.Attributes(fields=fields):
            return lv.NullableComposite(
                lv.Attributes(tuple((name, _pad(field, is_present)) for name, field in fields)), is_present
            )
        case lv.ElementList(collection_type=collection_type, items=items):
            return lv.NullableComposite(
                lv.ElementList(collection_type, tuple(_pad(item, is_present) for item in items)), is_present
            )
        case lv.CollectedList(column=column) as collection:
            return attrs.evolve(collection, column=lv.Column(_nullable(column.expression)))
        case lv.NullableComposite(parts=parts, is_present=before):
            inside = _pad(parts, is_present)
            assert isinstance(inside, lv.NullableComposite)
            return lv.NullableComposite(inside.parts, lv.Column(is_true(_nullable(before.expression))))
        case lv.Constant(value=None):
            return lv.Constant(None)
        case lv.Constant(value=value) if value is MISSING:
            return lv.Column(to_literal(None), is_present.expression)
        case lv.Constant(value=value):
            constant = to_literal(value)
            null = literal(None, constant.type.as_nullable())
            return lv.Column(IfThen((IfClause(is_present.expression, constant),), null))


def _absent(absent: Absent, is_present: Expression) -> Absent:
    """Return the meaning of NULL on a null-extended side: null where there is no tuple."""
    match absent:
        case "null":
            return absent
        case "missing":
            return is_present
        case _:
            return call("and", is_present, is_true(_nullable(absent)))


def _nullable(expression: Expression) -> Expression:
    """Return a column of a null-extended side, which is nullable after the join."""
    assert isinstance(expression, FieldReference)
    return attrs.evolve(expression, column_type=expression.column_type.as_nullable())


def where_all(conditions: Sequence[Expression], value: lv.LoweredValue) -> lv.LoweredValue:
    """Return a value that is null where one of these conditions, required booleans, is false."""
    return _where(all_of(conditions), value) if conditions else value


def all_of(conditions: Sequence[Expression]) -> Expression:
    """Return the conjunction of at least one condition."""
    return conditions[0] if len(conditions) == 1 else call("and", *conditions)


def _where(holds: Expression, lowered: lv.LoweredValue) -> lv.LoweredValue:
    match lv.expand_constant(lowered):
        case lv.Column(expression=expression) as column:
            null = literal(None, expression.type.as_nullable())
            missing = column.missing
            absent: Absent = "null" if missing is None else call("and", holds, missing)
            return lv.Column(IfThen((IfClause(holds, expression),), null), absent)
        case lv.Constant(value=None):
            return lowered
        case lv.Constant(value=value) if value is MISSING:
            return lv.Column(to_literal(None), holds)
        case lv.Constant(value=value):
            return _where(holds, lv.Column(to_literal(value)))
        case lv.CollectedList(column=column) as collection:
            null = literal(None, column.type.as_nullable())
            return attrs.evolve(collection, column=lv.Column(IfThen((IfClause(holds, column.expression),), null)))
        case lv.NullableComposite(parts=parts, is_present=is_present):
            inside = _where(holds, parts)
            assert isinstance(inside, lv.NullableComposite)
            return lv.NullableComposite(inside.parts, lv.Column(call("and", holds, is_present.expression)))
        case lv.Attributes(fields=fields):
            return lv.NullableComposite(
                lv.Attributes(tuple((name, _where(holds, field)) for name, field in fields)), lv.Column(holds)
            )
        case lv.ElementList(collection_type=collection_type, items=items):
            return lv.NullableComposite(
                lv.ElementList(collection_type, tuple(_where(holds, item) for item in items)), lv.Column(holds)
            )
