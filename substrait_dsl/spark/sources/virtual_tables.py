"""Literals as an Arrow table: the fastest way to send rows to Spark, and the only one with a known number of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, Literal
from substrait_dsl.spark.expressions.types import MICROSECONDS, type_to_spark
from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.algebra.relations import Record

_TEXT, _BYTES = ("string",), ("binary",)
_ARROW: Mapping[type[t.Type], tuple[str, ...]] = {
    t.Boolean: ("bool_",),
    t.I8: ("int8",),
    t.I16: ("int16",),
    t.I32: ("int32",),
    t.I64: ("int64",),
    t.FP32: ("float32",),
    t.FP64: ("float64",),
    t.String: _TEXT,
    t.VarChar: _TEXT,
    t.FixedChar: _TEXT,
    t.UUID: _TEXT,
    t.Binary: _BYTES,
    t.FixedBinary: _BYTES,
    t.Date: ("date32",),
    t.PrecisionTimestamp: ("timestamp", "us"),
    t.PrecisionTimestampTZ: ("timestamp", "us", "UTC"),
    t.IntervalDay: ("duration", "us"),
}
"""For a type that is not nested: the function of pyarrow for the type that Spark accepts, and its arguments.

pyspark's own table is not public, and differs between versions. Other types are those that not every version accepts.
"""
_COMPOSED = (t.Struct, t.List, t.Map, t.Decimal)


def can_be_arrow(types: Sequence[t.Type]) -> bool:
    """Whether Spark accepts columns of these types from an Arrow table."""
    return all(type(part) in _ARROW or isinstance(part, _COMPOSED) for type_ in types for part in t.types_in(type_))


def arrow_frame(
    records: Sequence[Record], types: Sequence[t.Type], names: Sequence[str], spark: SparkSession
) -> DataFrame:
    """Make a DataFrame of rows of literals, with these column names and exactly these types."""
    import pyarrow as pa
    from pyspark.sql.types import StructField, StructType

    schema = StructType(
        [
            StructField(name, type_to_spark(_positional(type_)), type_.nullable)
            for name, type_ in zip(names, types, strict=True)
        ]
    )
    arrow = pa.schema([_field(name, type_) for name, type_ in zip(names, types, strict=True)])
    columns = [
        pa.array([_plain(record.fields[position]) for record in records], arrow.field(position).type)
        for position in range(len(types))
    ]
    return spark.createDataFrame(pa.Table.from_arrays(columns, schema=arrow), current_engine().sent_schema(schema))


def table_frame(table: pa.Table, spark: SparkSession) -> DataFrame:
    """Make a DataFrame of an Arrow table: times without a zone stay so, and there may be no rows."""
    from pyspark.sql.pandas.types import from_arrow_schema

    # A client of Spark Connect accepts no table without rows, unless the types are passed.
    return spark.createDataFrame(table, from_arrow_schema(table.schema, prefer_timestamp_ntz=True))


def _positional(type_: t.Type) -> t.Type:
    """Return the type with struct fields named by position."""
    match type_:
        case t.Struct(types=types):
            names = tuple(f"f{position}" for position in range(len(types)))
            return attrs.evolve(type_, types=tuple(map(_positional, types)), names=names)
        case t.List(element=element):
            return attrs.evolve(type_, element=_positional(element))
        case t.Map(key=key, value=value):
            return attrs.evolve(type_, key=_positional(key), value=_positional(value))
        case _:
            return type_


def _field(name: str, type_: t.Type) -> pa.Field:
    """Return the Arrow field that Spark accepts for a column of a type, or for a part of one."""
    import pyarrow as pa

    match type_:
        case t.Struct(types=types):
            stored = pa.struct([_field(f"f{position}", part) for position, part in enumerate(types)])
        case t.List(element=element):
            stored = pa.list_(_field("element", element))
        case t.Map(key=key, value=value):
            stored = pa.map_(_field("key", key.as_required()), _field("value", value))
        case t.Decimal(precision=precision, scale=scale):
            stored = pa.decimal128(precision, scale)
        case _:
            make, *parameters = _ARROW[type(type_)]
            stored = getattr(pa, make)(*parameters)
    return pa.field(name, stored, type_.nullable)


def _plain(literal: Expression) -> Any:
    """Return the value of a literal in Arrow's form for its Spark type: fractions of seconds in microseconds."""
    assert isinstance(literal, Literal)
    value, type_ = literal.value, literal.type
    if value is None:
        return None
    match type_:
        case t.PrecisionTimestamp() | t.PrecisionTimestampTZ():
            return value * 10 ** (MICROSECONDS - type_.precision)
        case t.IntervalDay():
            seconds = value.days * 86_400 + value.seconds
            return seconds * 10**MICROSECONDS + value.subseconds * 10 ** (MICROSECONDS - type_.precision)
        case t.UUID():
            return str(value)
        case t.Struct():
            return {f"f{position}": _plain(field) for position, field in enumerate(value)}
        case t.List():
            return [_plain(item) for item in value]
        case t.Map():
            return [(_plain(key), _plain(item)) for key, item in value]
        case _:
            return value
