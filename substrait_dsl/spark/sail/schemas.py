"""Schemas of what is sent to Sail, which casts neither metadata of fields nor what is required inside of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType


def castable_schema(schema: StructType) -> StructType:
    """The schema with nullable parts of columns, and without metadata, which pyspark writes down for every field."""
    from pyspark.sql import types as spark

    return spark.StructType([_field(each, nullable=each.nullable) for each in schema.fields])


def _field(field: StructField, *, nullable: bool) -> StructField:
    from pyspark.sql import types as spark

    class Field(spark.StructField):
        def jsonValue(self) -> dict[str, Any]:  # noqa: N802  # as pyspark calls it
            found: dict[str, Any] = super().jsonValue()
            return {key: value for key, value in found.items() if key != "metadata"}

    return Field(field.name, _castable(field.dataType), nullable)


def _castable(kind: DataType) -> DataType:
    from pyspark.sql import types as spark

    match kind:
        case spark.StructType(fields=fields):
            return spark.StructType([_field(each, nullable=True) for each in fields])
        case spark.ArrayType(elementType=element):
            return spark.ArrayType(_castable(element))
        case spark.MapType(keyType=key, valueType=value):
            return spark.MapType(_castable(key), _castable(value))
        case _:
            return kind
