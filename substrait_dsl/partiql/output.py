"""The output of a plan: the columns of its rows, and the decoding of rows to values."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, literal
from substrait_dsl.algebra.relations import Project, Rel, Sort, emit
from substrait_dsl.errors import SchemaError, UnsupportedError
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.lowered import LoweredBindings, LoweredCollection
from substrait_dsl.partiql.materialization import materialize
from substrait_dsl.partiql.untyped import DYNAMIC
from substrait_dsl.partiql.values import MISSING, Bag, BindingsData, BindingTuple, Struct, Value, to_value

_READ = (
    t.Boolean, *t.INTEGER_TYPES, t.FP32, t.FP64, t.Decimal, t.String, t.VarChar, t.FixedChar, t.Binary,
    t.FixedBinary, t.Date, t.PrecisionTimestamp, t.PrecisionTimestampTZ,
)  # fmt: skip
"""The types whose values are scalars of PartiQL."""


_EXACT = decimal.Context(prec=100)
"""More digits than any number of a dynamic value has."""


def columns_of(lowered: LoweredBindings | LoweredCollection) -> Rel:
    """Return the relation that values are decoded from: a column for each scalar part, in order.

    A part that is null in some rows and missing in others has a second column, which tells where it is missing.
    """
    found: list[tuple[str, Expression]] = []
    for value, root in _roots(lowered):
        for name, leaf in lv.leaves(value, root):
            found.append((name, _expression(leaf)))
            if isinstance(leaf, lv.Column) and isinstance(leaf.absent, Expression):
                found.append((f"{name} is missing", leaf.absent))
    return _emit(lowered, found)


def table_of(lowered: LoweredBindings | LoweredCollection) -> Rel:
    """Return the relation of a lowered expression: a column for each attribute and each other value, in order.

    Columns are named by their path: ``f.FooId`` in a binding tuple, ``FooId`` in a struct, ``value`` for other values.
    Nested structs and collections are columns of these types. Missing values are NULL.

    Raises `UnsupportedError` for a collection of values of several types, `SchemaError` for a column of one variable
    that would be called as one of another variable is.
    """
    found: list[tuple[str, Expression]] = []
    owners: dict[str, str] = {}
    for value, root in _roots(lowered):
        for name, part in _attributes(value, root):
            if owners.setdefault(name, root) != root:
                raise SchemaError(
                    f'a column of the variable "{owners[name]}" and one of "{root}" would both be called "{name}"',
                    hint="give one of the variables another name; collect reads them as they are",
                )
            found.append((name, materialize(part, name)))
    return _emit(lowered, found)


def _attributes(value: lv.LoweredValue, root: str) -> Iterator[tuple[str, lv.LoweredValue]]:
    part = lv.expand_constant(value)
    part = part.parts if isinstance(part, lv.NullableComposite) else part
    if isinstance(part, lv.Attributes):
        yield from ((f"{root}.{name}" if root else name, field) for name, field in part.fields)
    else:
        yield root or "value", part


def _emit(lowered: LoweredBindings | LoweredCollection, found: list[tuple[str, Expression]]) -> Rel:
    rows = lowered if isinstance(lowered, LoweredBindings) else lowered.source
    rel = Sort(rows.rel, rows.order) if rows.order else rows.rel
    found = found or [("value", literal(True, t.Boolean()))]  # rows count, also those of no columns
    computed = [(name, each) for name, each in found if not isinstance(each, FieldReference)]
    places = {id(each): len(rel.schema) + number for number, (_, each) in enumerate(computed)}
    mapping = [each.position if isinstance(each, FieldReference) else places[id(each)] for _, each in found]
    if computed:
        rel = Project(rel, tuple(each for _, each in computed), tuple(name for name, _ in computed))
    return emit(rel, mapping, [name for name, _ in found])


def require_readable(lowered: LoweredBindings | LoweredCollection) -> None:
    """Raise `UnsupportedError` for columns whose values PartiQL lacks."""
    for value, root in _roots(lowered):
        for name, leaf in lv.leaves(value, root):
            if isinstance(leaf, lv.Column) and not _is_readable(leaf.type):
                raise UnsupportedError(f'PartiQL has no values of {leaf.type}, the type of "{name}"')


def _is_readable(type_: t.Type) -> bool:
    match type_:
        case t.Struct(types=types):
            return all(map(_is_readable, types))
        case t.List(element=element):
            return _is_readable(element)
        case t.Map(key=t.String() | t.VarChar() | t.FixedChar(), value=inner):
            return _is_readable(inner)
        case _:
            return isinstance(type_, _READ) or type_.matches(DYNAMIC)


def values_of(lowered: LoweredCollection, rows: Iterable[Sequence[Any]]) -> Value:
    """Decode rows to a collection."""
    items = tuple(_decode(lowered.element, iter(row)) for row in rows)
    return items if lowered.source.collection_type == "list" else Bag(items)


def bindings_of(lowered: LoweredBindings, rows: Iterable[Sequence[Any]]) -> BindingsData:
    """Decode rows to binding tuples."""
    tuples = []
    for row in rows:
        cells = iter(row)
        tuples.append(BindingTuple(tuple((name, _decode(value, cells)) for name, value in lowered.variables.items())))
    assert lowered.collection_type is not None  # there is no row around
    return BindingsData(lowered.collection_type, tuple(tuples))


def _roots(lowered: LoweredBindings | LoweredCollection) -> list[tuple[lv.LoweredValue, str]]:
    if isinstance(lowered, LoweredBindings):
        return [(value, name) for name, value in lowered.variables.items()]
    return [(lowered.element, "")]


def _expression(leaf: lv.Column | lv.Constant) -> Expression:
    if isinstance(leaf, lv.Constant):
        return to_literal(leaf.value)
    return leaf.expression


def _decode(lowered: lv.LoweredValue, cells: Iterator[Any]) -> Value:
    """Decode a value from the next cells of a row."""
    match lv.expand_constant(lowered):
        case lv.Attributes(fields=fields):
            attributes = [(name, _decode(field, cells)) for name, field in fields]
            return Struct(tuple((name, value) for name, value in attributes if value is not MISSING))
        case lv.ElementList(collection_type=collection_type, items=items):
            inside = tuple(_decode(item, cells) for item in items)
            return inside if collection_type == "list" else Bag(inside)
        case lv.CollectedList(element=element, collection_type=collection_type):
            collected = next(cells)
            if collected is None:
                return None
            inside = tuple(_decode_inside(element, one) for one in collected)
            return inside if collection_type == "list" else Bag(inside)
        case lv.NullableComposite(parts=parts):
            is_there = next(cells)
            found = _decode(parts, cells)
            return found if is_there else None
        case lv.Constant(value=value):
            next(cells)
            return value
        case lv.Column(absent=absent) as column:
            cell = next(cells)
            is_missing = next(cells) if isinstance(absent, Expression) else absent == "missing"
            return MISSING if cell is None and is_missing else _value(cell, column.type)
        case _:
            raise AssertionError(lowered)


def _decode_inside(lowered: lv.LoweredValue, cell: Any) -> Value:
    """Decode a value inside a list from one cell."""
    match lv.expand_constant(lowered):
        case lv.Attributes(fields=fields):
            attributes = [(name, _decode_inside(field, part)) for (name, field), part in zip(fields, cell, strict=True)]
            return Struct(tuple((name, value) for name, value in attributes if value is not MISSING))
        case lv.NullableComposite(parts=parts):
            return None if cell is None else _decode_inside(parts, cell)
        case lv.CollectedList(element=element, collection_type=collection_type):
            inside = tuple(_decode_inside(element, one) for one in cell)
            return inside if collection_type == "list" else Bag(inside)
        case lv.Column(absent=absent) as column:
            return MISSING if cell is None and absent == "missing" else _value(cell, column.type)
        case lv.Constant(value=value):
            return value
        case other:
            raise AssertionError(other)


def _with_integers(cell: Any) -> Any:
    """Convert decimals of a dynamic value without a fraction to integers: Spark has long integers as decimals."""
    match cell:
        case Decimal() if cell.as_tuple().exponent == 0:
            return int(cell)
        case dict():
            return {name: _with_integers(part) for name, part in cell.items()}
        case list():
            return [_with_integers(part) for part in cell]
        case _:
            return cell


def _value(cell: Any, type_: t.Type) -> Value:
    """Convert a cell of Spark in a column of a readable type."""
    if cell is None:
        return None
    match type_:
        case t.Struct(types=types):
            parts = zip(type_.field_names, cell, types, strict=True)
            return Struct(tuple((name, _value(part, inner)) for name, part, inner in parts))
        case t.List(element=element):
            return tuple(_value(item, element) for item in cell)
        case t.Map(value=inner):
            return Struct(tuple((name, _value(item, inner)) for name, item in cell.items()))
        case t.PrecisionTimestampTZ():
            timestamp: dt.datetime = cell
            return timestamp.astimezone(dt.UTC)
        case t.Binary() | t.FixedBinary():
            return bytes(cell)
        case t.UserDefined():
            with decimal.localcontext(_EXACT):  # PySpark computes what it reads
                return to_value(_with_integers(cell.toPython()))
        case _:
            found: Value = cell
            return found
