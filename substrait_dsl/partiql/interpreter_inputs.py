"""Inputs of the interpreter: the data of the caller, and rows that a plan holds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from types import NoneType

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, Literal
from substrait_dsl.algebra.relations import Read, VirtualTable
from substrait_dsl.errors import InvalidArgumentError, UnknownFieldError, quote, require, shorten, suggestion
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.partiql.lowered import Source, StoredTable, Tables
from substrait_dsl.partiql.printing import data_text
from substrait_dsl.partiql.values import MISSING, Bag, Struct, Table, Value, to_value


def data_of(names: Iterable[str], tables: Tables, data: object) -> dict[str, Value | Table]:
    """Return the value of each name: values among the tables, their rows, and the data of the caller.

    The rows of a relation are a bag, also if the data are a list; a column of record ids is no attribute. Data are
    optional for rows that a plan holds itself.

    Raises `UnknownFieldError` for a table without data, `InvalidArgumentError` for data that are no rows.
    """
    require(data, (Mapping, NoneType), "the data are a dict of values by the names of tables")
    assert isinstance(data, Mapping | None)
    for name, one in (data or {}).items():
        if isinstance(one, RelationBase):
            message = f'the data of the table "{name}" are a bag or a list of rows, got a relation'
            raise InvalidArgumentError(message, hint="collect(spark) computes with what engines have")
    found = {name: one if isinstance(one, Table) else to_value(one) for name, one in (data or {}).items()}
    for name, source in tables.items():
        if not isinstance(source, RelationBase | StoredTable):
            found.setdefault(name, source)
            continue
        if name not in found and (rows := _rows_of_plan(source)) is not None:
            found[name] = rows
        if name in found:
            found[name] = _table(name, source, found[name])
    for name in sorted((set(names) & tables.keys()) - found.keys()):
        raise UnknownFieldError(
            f'there are no data of the table "{name}"; there are those of {quote(found)}',
            hint=suggestion(name, found) or f'evaluate({{"{name}": [{{..}}, {{..}}]}}) gives it rows',
        )
    return found


def _table(name: str, source: RelationBase | StoredTable, rows: Value | Table) -> Value | Table:
    """Return the rows of a relation, as a bag."""
    if isinstance(rows, Table):
        return rows
    if not isinstance(rows, Bag | tuple):
        raise InvalidArgumentError(
            f'the data of the table "{name}" are a bag or a list of rows, got {shorten(repr(rows))}'
        )
    bag = rows if isinstance(rows, Bag) else Bag(rows)
    return _with_ids(bag, source.record_id) if isinstance(source, StoredTable) else bag


def _with_ids(rows: Bag, record_id: str) -> Value | Table:
    """Return rows with the ids from one of their attributes; the rows as they are, if there is none."""
    if not all(isinstance(row, Struct) and record_id in row.names for row in rows.items):
        return rows
    structs = [row for row in rows.items if isinstance(row, Struct)]
    others = [Struct(tuple(field for field in row.fields if field[0] != record_id)) for row in structs]
    return Table(Bag(tuple(others)), tuple(_as_text(row[record_id]) for row in structs))


def _as_text(record_id: Value) -> Value:
    """Return a record id as a string, as casts write it."""
    if record_id is None or record_id is MISSING:
        return MISSING
    return record_id if isinstance(record_id, str) else data_text(record_id)


# --- rows in a plan


def _rows_of_plan(source: Source) -> Bag | None:
    """Return the rows of a virtual table, if they are constants that PartiQL has values of."""
    relation = source.relation if isinstance(source, StoredTable) else source
    assert isinstance(relation, RelationBase)
    rel = relation._rel
    if not (isinstance(rel, Read) and isinstance(rel.definition, VirtualTable)):
        return None
    if any(part is not None for part in (rel.filter, rel.best_effort_filter, rel.projection)):
        return None
    try:
        return Bag(tuple(_struct(rel.schema.names, row.fields) for row in rel.definition.rows))
    except (_NoValue, OverflowError):  # a point in time that Python does not have
        return None


class _NoValue(Exception):  # the rows are then asked for
    """An expression is no constant of PartiQL."""


def _struct(names: Iterable[str], parts: Iterable[Expression]) -> Struct:
    return Struct(tuple((name, _value(part)) for name, part in zip(names, parts, strict=True)))


def _value(expression: Expression) -> Value:
    """Return the value of a literal."""
    if not isinstance(expression, Literal):
        raise _NoValue
    value, type_ = expression.value, expression.literal_type
    if value is None:
        return None
    match type_:
        case t.Struct():
            return _struct(type_.field_names, value)
        case t.List():
            return tuple(map(_value, value))
        case t.Map(key=t.String() | t.VarChar() | t.FixedChar()):
            return Struct(tuple((key.value, _value(part)) for key, part in value))
        case t.PrecisionTimestamp(precision=digits) | t.PrecisionTimestampTZ(precision=digits) if digits <= _MICRO:
            since = dt.datetime(1970, 1, 1, tzinfo=dt.UTC if isinstance(type_, t.PrecisionTimestampTZ) else None)
            return since + dt.timedelta(microseconds=value * 10 ** (_MICRO - digits))
        case _ if isinstance(type_, _PLAIN):
            return to_value(value)
        case _:
            raise _NoValue


_MICRO = 6
"""The precision of Python's timestamps."""

_PLAIN = (
    *(t.Boolean, *t.INTEGER_TYPES, t.FP32, t.FP64, t.Decimal),
    *(t.String, t.VarChar, t.FixedChar, t.Binary, t.FixedBinary, t.Date),
)
"""Types whose literals hold PartiQL's own values."""
