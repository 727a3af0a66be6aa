"""Literals as an Arrow table of exactly their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.arrow.exact import exact_table
from substrait_dsl.arrow.schemas import pyarrow_module, to_arrow

if TYPE_CHECKING:
    import pyarrow as pa

    from substrait_dsl.algebra.schema import NamedStruct


def literals_table(rows: Sequence[Sequence[Literal]], schema: NamedStruct) -> pa.Table:
    """Make an Arrow table of rows of literals of the types of a schema.

    Raises `UnsupportedError` for a type that has no exact Arrow storage.
    """
    pa = pyarrow_module()
    columns = [
        pa.chunked_array([pa.array([_plain(row[position]) for row in rows], _storage_type(field.type))])
        for position, field in enumerate(to_arrow(schema))
    ]
    return exact_table(columns, len(rows), schema)


def _storage_type(arrow_type: pa.DataType) -> pa.DataType:
    """Return the type with bytes for uuids, of which pyarrow makes none inside of other types."""
    pa = pyarrow_module()
    match arrow_type:
        case pa.UuidType():
            return arrow_type.storage_type
        case pa.StructType():
            return pa.struct([_stored_field(field) for field in arrow_type])
        case pa.MapType():
            return pa.map_(_stored_field(arrow_type.key_field), _stored_field(arrow_type.item_field))
        case pa.ListType():
            return pa.list_(_stored_field(arrow_type.value_field))
        case _:
            return arrow_type


def _stored_field(field: pa.Field) -> pa.Field:
    return field.with_type(_storage_type(field.type))


def _plain(literal: Literal) -> Any:
    """Return the value of a literal as pyarrow takes it for the storage of its type.

    Times as whole numbers of units.
    """
    value, type_ = literal.value, literal.type
    if value is None:
        return None
    match type_:
        case t.UUID():
            return value.bytes
        case t.IntervalDay(precision=precision):
            return (value.days * 86_400 + value.seconds) * 10**precision + value.subseconds
        case t.IntervalYear():
            return (value.years * 12 + value.months, 0, 0)
        case t.IntervalCompound(precision=precision):
            months, day = value.year_months, value.day_seconds
            nanoseconds = day.seconds * 10**9 + day.subseconds * 10 ** (9 - precision)
            return (months.years * 12 + months.months, day.days, nanoseconds)
        case t.UserDefined():  # an unsigned integer: Arrow has no others
            return int(value[0].value)
        case t.Struct():
            return {name: _plain(field) for name, field in zip(type_.field_names, value, strict=True)}
        case t.List():
            return [_plain(item) for item in value]
        case t.Map():
            return [(_plain(key), _plain(item)) for key, item in value]
        case _:
            return value
