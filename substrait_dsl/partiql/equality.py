"""Equality of structs and collections in parts."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, IfClause, IfThen, literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.calls import call
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.functions import compare
from substrait_dsl.partiql.untyped import require_typed
from substrait_dsl.partiql.values import MISSING

_FALSE = literal(False, t.Boolean())
_TRUE = literal(True, t.Boolean())


def equality(left: lv.LoweredValue, right: lv.LoweredValue, is_equal: bool) -> lv.Column:
    """Return whether two values are equal, or differ; at least one of them is in parts.

    The result is null or missing where a column that is compared with them is.
    """
    found = _same(left, right)
    result = found if is_equal else call("not", found)
    columns = [side for side in (left, right) if isinstance(side, lv.Column) and side.type.nullable]
    if not columns:
        return lv.Column(result)
    is_present = call("is_not_null", columns[0].expression)
    return lv.Column(
        IfThen((IfClause(is_present, result),), literal(None, t.Boolean(nullable=True))), lv.absent_of(columns)
    )


def _same(left: lv.LoweredValue, right: lv.LoweredValue) -> Expression:
    """Return whether values are the same, never NULL: inside structs and collections null equals null."""
    one, other = lv.split_struct(left), lv.split_struct(right)
    if any(isinstance(side, lv.NullableComposite | lv.CollectedList) for side in (one, other)):
        raise UnsupportedError("groups, and structs and collections that may be null, are not compared")
    match one, other:
        case lv.Attributes(), lv.Attributes():
            return _same_attributes(one, other)
        case lv.ElementList(), lv.ElementList():
            if one.collection_type != other.collection_type or len(one.items) != len(other.items):
                return _FALSE
            if one.collection_type == "bag" and len(one.items) > 1:
                raise UnsupportedError("bags in a row are not compared")
            return _all([_same(*pair) for pair in zip(one.items, other.items, strict=True)])
        case (lv.Attributes() | lv.ElementList(), lv.Attributes() | lv.ElementList()):
            return _FALSE
        case (lv.Attributes() | lv.ElementList() as parts, leaf) | (leaf, lv.Attributes() | lv.ElementList() as parts):
            return _compare_with_scalar(parts, leaf)
        case _:
            return _same_leaves(one, other)


def _same_attributes(left: lv.Attributes, right: lv.Attributes) -> Expression:
    sides = [dict(side.fields) for side in (left, right)]
    if len(sides[0]) < len(left.fields) or len(sides[1]) < len(right.fields):
        raise UnsupportedError("structs with an attribute of a repeated name are not compared")
    names = dict.fromkeys([*sides[0], *sides[1]])
    return _all([_same(sides[0].get(name, lv.NOTHING), sides[1].get(name, lv.NOTHING)) for name in names])


def _compare_with_scalar(parts: lv.Attributes | lv.ElementList, leaf: lv.LoweredValue) -> Expression:
    """Compare a struct or a collection with a scalar: they differ. Lists in a column are refused."""
    if isinstance(leaf, lv.Column) and isinstance(leaf.type, t.List | t.Map):
        raise UnsupportedError(f"a column of {leaf.type} is not compared with a struct or a list that is made")
    return _FALSE


def _same_leaves(left: lv.LoweredValue, right: lv.LoweredValue) -> Expression:
    (one, is_missing), (other, is_other_missing) = _leaf(left), _leaf(right)
    alike = [] if is_missing == is_other_missing else [call("equal", is_missing, is_other_missing)]
    found = compare("is_not_distinct_from", one, other)
    if found is None:  # of different kinds: equal if both are null, or both missing
        return _all([*alike, call("is_null", one), call("is_null", other)])
    return _all([*alike, found])


def _leaf(lowered: lv.LoweredValue) -> tuple[Expression, Expression]:
    """Return a scalar, or a column, and whether it is missing."""
    match lowered:
        case lv.Column():
            require_typed(lowered, "what is compared inside a struct or a list")
            return lowered.expression, lowered.missing or _FALSE
        case lv.Constant(value=value):
            return to_literal(value), _TRUE if value is MISSING else _FALSE
        case _:
            raise AssertionError(lowered)


def _all(conditions: Sequence[Expression]) -> Expression:
    found = [condition for condition in conditions if condition != _TRUE]
    if _FALSE in found:
        return _FALSE
    return call("and", *found) if len(found) > 1 else found[0] if found else _TRUE
