"""Attributes and elements of lowered values, and structs of values."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldAccess, literal
from substrait_dsl.algebra.expressions.references import ListElement, MapKey
from substrait_dsl.errors import EvaluationError, LiteralError, UnsupportedError, quote
from substrait_dsl.partiql.calls import call
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.extension_catalog import own_call
from substrait_dsl.partiql.interpreter import Mode
from substrait_dsl.partiql.lowered_values import (
    NOTHING,
    Attributes,
    CollectedList,
    Column,
    Constant,
    ElementList,
    LoweredValue,
    NullableComposite,
    absent_of,
    absent_result,
    attribute,
    expand_constant,
)
from substrait_dsl.partiql.null_and_missing import Absent, absent_where, fail_where
from substrait_dsl.partiql.printing import data_text
from substrait_dsl.partiql.untyped import dynamic_step, is_dynamic


def step_into(value: LoweredValue, step: LoweredValue, mode: Mode) -> LoweredValue:
    """Return an attribute of a struct, or an element of a collection, by a constant."""
    if not isinstance(step, Constant):
        raise UnsupportedError("a path by a name or index that is computed from a row is not lowered to Substrait")
    name = step.value
    if NOTHING in (value, step):
        return NOTHING
    if Constant(None) in (value, step):
        null = Column(to_literal(None))
        return Column(null.expression, absent_of([value, null])) if isinstance(value, Column) else Constant(None)
    match expand_constant(value):
        case NullableComposite(parts=parts, is_present=is_present):
            found_inside = step_into(parts, step, mode)
            return Column(to_literal(None), is_present.expression) if found_inside == NOTHING else found_inside
        case CollectedList(column=column, element=Column(absent="null"), collection_type="list") if (
            type(name) is int and not column.type.nullable
        ):
            return list_element(column, name, mode)
        case CollectedList(column=column, collection_type=collection_type) if (
            collection_type == "list" or column.type.nullable
        ):
            raise UnsupportedError("a path into a query, or into a group that may be null, is not lowered to Substrait")
        case Attributes(fields=fields) if isinstance(name, str):
            found = [field for inside, field in fields if inside == name]
            if len(found) == 1 or (found and mode == "permissive"):
                return _require_presence(found[0], name, mode)
            known = [inside for inside, _ in fields]
            return _absent(
                f'several attributes are called "{name}"'
                if found
                else f'there is no attribute "{name}" among {quote(known)}',
                mode,
            )
        case Column(expression=struct) as column if isinstance(struct.type, t.Struct) and isinstance(name, str):
            names = struct.type.field_names
            if name in names:
                return attribute(column, names.index(name))
            return no_part(column, f'there is no attribute "{name}" among {quote(names)}', mode)
        case ElementList(collection_type="list", items=items) if type(name) is int:
            if 0 <= name < len(items):
                return items[name]
            return _absent(f"a list of {len(items)} has no element {name}", mode)
        case Column() as column if is_dynamic(column):
            return dynamic_step(column, name, mode)
        case Column(expression=inside) as column if isinstance(inside.type, t.List) and type(name) is int:
            return list_element(column, name, mode)
        case Column(expression=inside) as column if isinstance(inside.type, t.Map) and isinstance(name, str):
            return under_key(column, name, mode)
        case Column() as column:
            return no_part(column, f"the step {data_text(name)} leads nowhere", mode)
        case _:
            return _absent(f"the step {data_text(name)} leads nowhere", mode)


def _require_presence(attribute: LoweredValue, name: str, mode: Mode) -> LoweredValue:
    """Return an attribute; in strict mode structs that lack it are an error."""
    if mode == "strict" and isinstance(attribute, Column) and attribute.missing is not None:
        why = f'there is no attribute "{name}"'
        return attrs.evolve(attribute, expression=fail_where(attribute.expression, attribute.missing, why))
    return attribute


def struct_of(pairs: Sequence[tuple[LoweredValue, LoweredValue]], mode: Mode) -> LoweredValue:
    """Return a struct of the attributes that have a name and a value."""
    fields: list[tuple[str, LoweredValue]] = []
    for name, value in pairs:
        if not isinstance(name, Constant):
            raise UnsupportedError("the name of an attribute that is computed from a row is not lowered to Substrait")
        if not isinstance(name.value, str):
            _absent(f"the name of an attribute is a text, not {data_text(name.value)}", mode)
        elif value != NOTHING:
            fields.append((name.value, value))
    return Attributes(tuple(fields))


def _absent(why: str, mode: Mode) -> LoweredValue:
    """Return missing for a value that does not exist; raise in strict mode."""
    if mode == "strict":
        raise EvaluationError(why)
    return NOTHING


# --- paths into columns: an element of a list, the value of a key of a map


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
