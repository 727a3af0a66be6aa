"""Schemas of data that is sent to Sail and comes from it.

Sail casts neither the metadata of fields nor required parts of nested types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructField, StructType


def castable_schema(schema: StructType) -> StructType:
    """Return a schema with nullable parts of columns, and without metadata, which pyspark adds to every field."""
    from pyspark.sql import types as spark

    return spark.StructType([_field(each, nullable=each.nullable) for each in schema.fields])


def _field(field: StructField, *, nullable: bool) -> StructField:
    from pyspark.sql import types as spark

    class Field(spark.StructField):
        def jsonValue(self) -> dict[str, Any]:  # noqa: N802  # as pyspark calls it
            found: dict[str, Any] = super().jsonValue()
            return {key: value for key, value in found.items() if key != "metadata"}

    return Field(field.name, _castable(field.dataType), nullable)


def _castable(type_: DataType) -> DataType:
    from pyspark.sql import types as spark

    match type_:
        case spark.StructType(fields=fields):
            return spark.StructType([_field(each, nullable=True) for each in fields])
        case spark.ArrayType(elementType=element):
            return spark.ArrayType(_castable(element))
        case spark.MapType(keyType=key, valueType=value):
            return spark.MapType(_castable(key), _castable(value))
        case _:
            return type_


_DIGITS = 6
"""The number of fractional digits from which Sail returns a time of day in 64 bits; fewer digits have 32."""


def with_long_times(frame: DataFrame) -> DataFrame:
    """Cast times of day to 64 bits: pyspark makes no Python values of those in 32."""
    from pyspark.sql import types as spark

    schema = frame.schema
    long_types = [_with_long_times(field.dataType) for field in schema]
    if long_types == [field.dataType for field in schema]:
        return frame
    names = [f"c{number}" for number in range(len(long_types))]  # of columns of one name it casts none
    wanted = [
        spark.StructField(name, type_, each.nullable)
        for name, type_, each in zip(names, long_types, schema, strict=True)
    ]
    return frame.toDF(*names).to(spark.StructType(wanted)).toDF(*schema.names)


def _with_long_times(type_: DataType) -> DataType:
    from pyspark.sql import types as spark

    match type_:
        case spark.TimeType(precision=digits) if digits < _DIGITS:
            return spark.TimeType(_DIGITS)
        case spark.StructType(fields=fields):
            return spark.StructType(
                [spark.StructField(each.name, _with_long_times(each.dataType), each.nullable) for each in fields]
            )
        case spark.ArrayType(elementType=element, containsNull=nullable):
            return spark.ArrayType(_with_long_times(element), nullable)
        case spark.MapType(keyType=key, valueType=value, valueContainsNull=nullable):
            return spark.MapType(_with_long_times(key), _with_long_times(value), nullable)
        case _:
            return type_
