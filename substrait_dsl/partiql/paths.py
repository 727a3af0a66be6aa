"""Paths into columns: an element of a list, the value of a key of a map."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldAccess, literal
from substrait_dsl.algebra.expressions.references import ListElement, MapKey
from substrait_dsl.errors import EvaluationError, LiteralError, UnsupportedError
from substrait_dsl.partiql.calls import call
from substrait_dsl.partiql.extension_catalog import own_call
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.lowered_values import Column, LoweredValue, absent_result
from substrait_dsl.partiql.null_and_missing import Absent, absent_where, fail_where

_FARTHEST = 2**31 - 1
"""The last index of a list in Substrait."""


def list_element(column: Column, index: int, mode: Mode) -> LoweredValue:
    """Return an element of a column of lists: missing where the list is too short, an error in strict mode."""
    type_ = column.type
    assert isinstance(type_, t.List)
    if not 0 <= index <= _FARTHEST:
        return no_part(column, f"a list has no element {index}", mode)
    part = FieldAccess(column.expression, ListElement(index))
    too_short = call("lte", call("cardinality", column.expression), literal(index, t.I64()))
    return _part(column, part, type_.element, too_short, f"a list has no element {index}", mode)


def under_key(column: Column, name: str, mode: Mode) -> LoweredValue:
    """Return the value of a key in a column of maps, as an attribute of a struct.

    Raises `UnsupportedError` for maps whose keys are no texts.
    """
    type_ = column.type
    assert isinstance(type_, t.Map)
    if not isinstance(type_.key, t.String | t.VarChar | t.FixedChar):
        raise UnsupportedError(f"the keys of {type_} are no names of attributes")
    why = f'there is no attribute "{name}"'
    try:
        key = literal(name, type_.key.as_required())
    except LiteralError:  # it is longer than any key
        return no_part(column, why, mode)
    part = FieldAccess(column.expression, MapKey(key))
    lacking = call("not", own_call("has_key", column.expression, key))
    return _part(column, part, type_.value, lacking, why, mode)


def no_part(column: Column, why: str, mode: Mode) -> LoweredValue:
    """Return missing for a part that no value of a column has; raise in strict mode."""
    if mode == "strict":
        raise EvaluationError(why)
    return absent_result([column])


def _part(column: Column, part: Expression, type_: t.Type, lacking: Expression, why: str, mode: Mode) -> Column:
    """Return a part of this type; the values lack it where a condition is true."""
    absent: Absent
    if mode == "strict":
        part, absent = fail_where(part, lacking, why), absent_where(column.missing)
    elif type_.nullable or (column.type.nullable and column.absent != "missing"):
        absent = absent_where(column.missing, lacking)
    else:
        absent = "missing"
    return Column(part, absent)
