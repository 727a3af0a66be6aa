"""Both ends of a plan: which columns its rows have, and which values the rows are."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, literal
from substrait_dsl.algebra.relations import Project, Rel, Sort, emit
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.lowered import LoweredBindings, LoweredValues
from substrait_dsl.partiql.terms import Attributes, Column, Constant, Elements, Term, leaves, opened, require_known
from substrait_dsl.partiql.values import MISSING, Bag, BindingsData, BindingTuple, Struct, Value

_READ = (
    t.Boolean, t.I8, t.I16, t.I32, t.I64, t.FP32, t.FP64, t.Decimal, t.String, t.VarChar, t.FixedChar, t.Binary,
    t.FixedBinary, t.Date, t.PrecisionTimestamp, t.PrecisionTimestampTZ,
)  # fmt: skip
"""The types whose values are scalars of PartiQL."""


def columns_of(lowered: LoweredBindings | LoweredValues) -> Rel:
    """The relation of what an expression gives: a column for each attribute and each other value, in order.

    Columns are called by the way to them: ``f.FooId`` in a binding tuple, ``FooId`` in a struct, ``value`` for other
    values. What is missing is NULL.
    """
    rows = lowered if isinstance(lowered, LoweredBindings) else lowered.source
    rel = Sort(rows.rel, rows.order) if rows.order else rows.rel
    found = [(name, _expression(name, leaf)) for term, name in _roots(lowered) for name, leaf in leaves(term, name)]
    found = found or [("value", literal(True, t.Boolean()))]  # rows count, also those of no columns
    computed = [(name, each) for name, each in found if not isinstance(each, FieldReference)]
    places = {id(each): len(rel.schema) + number for number, (_, each) in enumerate(computed)}
    mapping = [each.position if isinstance(each, FieldReference) else places[id(each)] for _, each in found]
    if computed:
        rel = Project(rel, tuple(each for _, each in computed), tuple(name for name, _ in computed))
    return emit(rel, mapping, [name for name, _ in found])


def require_readable(lowered: LoweredBindings | LoweredValues) -> None:
    """Raise `UnsupportedError` for columns whose values are none of PartiQL's."""
    for term, root in _roots(lowered):
        for name, leaf in leaves(term, root):
            if isinstance(leaf, Column) and not _is_readable(leaf.type):
                raise UnsupportedError(f'PartiQL has no values of {leaf.type}, the type of "{name}"')


def _is_readable(kind: t.Type) -> bool:
    match kind:
        case t.Struct(types=types):
            return all(map(_is_readable, types))
        case t.List(element=element):
            return _is_readable(element)
        case t.Map(key=t.String() | t.VarChar() | t.FixedChar(), value=inner):
            return _is_readable(inner)
        case _:
            return isinstance(kind, _READ)


def values_of(lowered: LoweredValues, rows: Iterable[Sequence[Any]]) -> Value:
    """The collection that rows of the columns are."""
    items = tuple(_decoded(lowered.element, iter(row)) for row in rows)
    return items if lowered.source.kind == "list" else Bag(items)


def bindings_of(lowered: LoweredBindings, rows: Iterable[Sequence[Any]]) -> BindingsData:
    """The binding tuples that rows of the columns are."""
    tuples = []
    for row in rows:
        cells = iter(row)
        tuples.append(BindingTuple(tuple((name, _decoded(term, cells)) for name, term in lowered.variables.items())))
    return BindingsData(lowered.kind, tuple(tuples))


def _roots(lowered: LoweredBindings | LoweredValues) -> list[tuple[Term, str]]:
    if isinstance(lowered, LoweredBindings):
        return [(term, name) for name, term in lowered.variables.items()]
    return [(lowered.element, "")]


def _expression(name: str, leaf: Column | Constant) -> Expression:
    if isinstance(leaf, Constant):
        return to_literal(leaf.value)
    require_known(leaf, f'"{name}"')
    return leaf.expression


def _decoded(term: Term, cells: Iterator[Any]) -> Value:
    """A value, made of the next cells of a row."""
    match opened(term):
        case Attributes(fields=fields):
            made = [(name, _decoded(field, cells)) for name, field in fields]
            return Struct(tuple((name, value) for name, value in made if value is not MISSING))
        case Elements(kind=kind, items=items):
            inside = tuple(_decoded(item, cells) for item in items)
            return inside if kind == "list" else Bag(inside)
        case Constant(value=value):
            next(cells)
            return value
        case Column(absent=absent) as column:
            cell = next(cells)
            return MISSING if cell is None and absent == "missing" else _value(cell, column.type)
        case _:
            raise AssertionError(term)


def _value(cell: Any, kind: t.Type) -> Value:
    """A cell of a column of a readable type, as Spark gives it."""
    if cell is None:
        return None
    match kind:
        case t.Struct(types=types):
            parts = zip(kind.field_names, cell, types, strict=True)
            return Struct(tuple((name, _value(part, inner)) for name, part, inner in parts))
        case t.List(element=element):
            return tuple(_value(item, element) for item in cell)
        case t.Map(value=inner):
            return Struct(tuple((name, _value(item, inner)) for name, item in cell.items()))
        case t.PrecisionTimestampTZ():
            moment: dt.datetime = cell
            return moment.astimezone(dt.UTC)
        case t.Binary() | t.FixedBinary():
            return bytes(cell)
        case _:
            found: Value = cell
            return found
