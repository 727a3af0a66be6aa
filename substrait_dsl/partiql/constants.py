"""Constants of a plan: literals, and the rows of a virtual table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, literal
from substrait_dsl.algebra.expressions.literals import natural_type
from substrait_dsl.algebra.relations import Read, Record, VirtualTable
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import LiteralError, UnsupportedError
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.operations import comparison_class
from substrait_dsl.partiql.printing import data_text
from substrait_dsl.partiql.values import MISSING, Bag, Struct, Value

ORDINAL = "ordinal"
"""The name of the column with the position in a list."""


def to_literal(value: Value) -> Expression:
    """Return a scalar as a literal. Null and missing are NULLs. Raises `UnsupportedError` without a Substrait literal.

    Raises `UnsupportedError` for what has no Substrait literal.
    """
    if value is None or value is MISSING:
        return literal(None, t.Boolean(nullable=True))
    if isinstance(value, Struct | Bag | tuple):
        raise UnsupportedError(f"{data_text(value)} cannot be computed with: it is a {comparison_class(value)}")
    try:
        return literal(value, natural_type(value))
    except LiteralError as error:
        raise UnsupportedError(f"Substrait has no literal of {data_text(value)}: {error.message}") from error


@attrs.define
class _Columns:
    """The columns of a virtual table under construction."""

    rows: int
    names: list[str] = attrs.field(factory=list)
    types: list[t.Type] = attrs.field(factory=list)
    values: list[Sequence[object]] = attrs.field(factory=list)

    def add(self, name: str, type_: t.Type, values: Sequence[object]) -> FieldReference:
        position = len(self.names)
        self.names.append(name)
        self.types.append(type_)
        self.values.append(values)
        return FieldReference(position, type_)


def virtual_table(items: Sequence[Value]) -> tuple[Read, lv.LoweredValue, FieldReference]:
    """Return a virtual table with a row for each value, the value in its row, and the column of the order.

    Raises `UnsupportedError` for values that are not all of one kind, which typed columns cannot hold, and for one
    that no column holds.
    """
    columns = _Columns(len(items))
    element = _laid_out(list(items), "", columns)
    ordinal = columns.add(ORDINAL, t.I64(), range(len(items)))
    try:
        records = tuple(
            Record(tuple(literal(None if v is MISSING else v, k) for v, k in zip(row, columns.types, strict=True)))
            for row in zip(*columns.values, strict=True)
        )
    except LiteralError as error:
        raise UnsupportedError(f"Substrait has no literal of a value: {error.message}") from error
    schema = NamedStruct(tuple(map(Field, columns.names, columns.types)))
    return Read(schema, VirtualTable(records)), element, ordinal


def _laid_out(values: list[Value], name: str, columns: _Columns) -> lv.LoweredValue:
    """Return one value over a virtual table for constants, one for each row."""
    present = [value for value in values if value is not MISSING]
    if not present:
        return lv.NOTHING
    if all(isinstance(value, Struct) for value in values):
        return _struct([value for value in values if isinstance(value, Struct)], name, columns)
    if len({type(value) for value in values}) == 1 and isinstance(values[0], tuple | Bag):
        found = _elements([lv.expand_constant(lv.Constant(value)) for value in values], name, columns)
        if found is not None:
            return found
    missing = len(present) < len(values)
    known = [value for value in present if value is not None]
    type_ = _common_type(known, name, missing or len(known) < len(present))
    column = columns.add(name or "value", type_, [_plain(value, type_) for value in values])
    if not missing or len(known) == len(present):
        return lv.Column(column, "missing" if missing else "null")
    return lv.Column(column, columns.add(f"{name or 'value'} is missing", t.Boolean(), [v is MISSING for v in values]))


def _struct(values: list[Struct], name: str, columns: _Columns) -> lv.Attributes:
    """Return a struct in parts. An attribute that some structs lack is missing in their rows."""
    names = list(dict.fromkeys(inside for value in values for inside in value.names))
    if any(len(set(value.names)) < len(value) for value in values):
        names = list(values[0].names)
        if any(list(value.names) != names for value in values):
            raise _untyped_error(values, name, "repeat names of attributes, and differ in them")
        parts = [[value.fields[number][1] for value in values] for number in range(len(names))]
    else:
        parts = [[value.get(inside) for value in values] for inside in names]
    return lv.Attributes(
        tuple(
            (inside, _laid_out(part, f"{name}.{inside}" if name else inside, columns))
            for inside, part in zip(names, parts, strict=True)
        )
    )


def _elements(values: Iterable[lv.LoweredValue], name: str, columns: _Columns) -> lv.LoweredValue | None:
    """Return collections of the same length as one collection in parts; None for others."""
    parts = [value for value in values if isinstance(value, lv.ElementList)]
    if len({len(part.items) for part in parts}) != 1:
        return None
    rows = [[item.value if isinstance(item, lv.Constant) else None for item in part.items] for part in parts]
    inside = [
        _laid_out(list(column), f"{name}[{number}]", columns) for number, column in enumerate(zip(*rows, strict=True))
    ]
    return lv.ElementList(parts[0].collection_type, tuple(inside))


def _common_type(values: Sequence[Value], name: str, nullable: bool) -> t.Type:
    """Return the type of a column of these values, none of which is absent."""
    if values and all(isinstance(value, tuple) for value in values):
        items = [item for value in values if isinstance(value, tuple) for item in value]
        return t.List(_nested_type(items, f"{name}[]"), nullable=nullable)
    if values and all(isinstance(value, Struct) for value in values):
        return _struct_type([value for value in values if isinstance(value, Struct)], name).with_nullability(nullable)
    for value in values:
        if isinstance(value, Struct | Bag | tuple):
            raise _untyped_error(values, name, f"hold a {comparison_class(value)} in some rows, or of several sizes")
    try:
        types = list(dict.fromkeys(natural_type(value) for value in values))
    except LiteralError as error:
        raise UnsupportedError(f"Substrait has no literal of a value: {error.message}") from error
    if not types:
        type_: t.Type = t.Boolean()
    elif all(isinstance(found, t.Decimal) for found in types):
        decimals = [found for found in types if isinstance(found, t.Decimal)]
        scale = max(found.scale for found in decimals)
        digits = max(found.precision - found.scale for found in decimals)
        if digits + scale > 38:
            raise _untyped_error(values, name, "have more than 38 digits together")
        type_ = t.Decimal(digits + scale, scale)
    elif len(types) == 1:
        type_ = types[0]
    else:
        raise _untyped_error(values, name, f"are of several types, {', '.join(map(str, types))}")
    return type_.as_nullable() if nullable else type_


def _nested_type(items: Sequence[Value], name: str) -> t.Type:
    """Return the type of a value inside lists and structs."""
    if any(item is MISSING for item in items):
        raise _untyped_error(items, name, "are missing inside a list or a struct")
    known = [item for item in items if item is not None]
    return _common_type(known, name, len(known) < len(items))


def _struct_type(values: Sequence[Struct], name: str) -> t.Type:
    """Return the type of structs that all have the same attributes."""
    names = values[0].names
    if len(set(names)) < len(names) or any(sorted(value.names) != sorted(names) for value in values):
        raise _untyped_error(values, name, "are structs of several attributes")
    parts = ([value[inside] for value in values] for inside in names)
    types = (_nested_type(part, f"{name}.{inside}") for inside, part in zip(names, parts, strict=True))
    return t.Struct(tuple(types), names)


def _plain(value: Value, type_: t.Type) -> object:
    """Convert a value to the Python object that `literal` takes for a type."""
    match value:
        case Struct() if isinstance(type_, t.Struct):
            return tuple(_plain(value[name], inner) for name, inner in zip(type_.field_names, type_.types, strict=True))
        case tuple() if isinstance(type_, t.List):
            return [_plain(item, type_.element) for item in value]
        case _:
            return value


def _untyped_error(values: Sequence[Value], name: str, why: str) -> UnsupportedError:
    what = f'the values of "{name}"' if name else "the values of a literal collection"
    return UnsupportedError(
        f"{what} {why}, which a typed column cannot hold: {data_text(tuple(values[:5]))}",
        hint="partiql.dynamic(..) makes values of any types of a constant",
    )
