"""Collect the rows of a DataFrame as Python values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import IntervalYear, List, Map, types_in
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.expressions.types import holds
from substrait_dsl.spark.session.failures import spark_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row
    from pyspark.sql.types import DataType


def require_collectable(schema: NamedStruct) -> None:
    """Raise `UnsupportedError` for a column whose values pyspark has no Python type for."""
    for field in schema:
        if any(isinstance(type_, Map) and holds(type_.key, List) for type_ in types_in(field.type)):
            raise UnsupportedError(
                f"pyspark gives Python no maps whose keys are or hold lists, {field.type}, the type of "
                f'column "{field.name}"',
                hint="show(spark) prints them; the DataFrame of execute(spark) can compute with them",
            )
        if any(isinstance(type_, IntervalYear) for type_ in types_in(field.type)):
            raise UnsupportedError(
                f'pyspark gives Python no values of {field.type}, the type of column "{field.name}"',
                hint="show(spark) prints them; the DataFrame of execute(spark) can compute, cast and write them",
            )


def require_arrow(schema: NamedStruct) -> None:
    """Raise `UnsupportedError` for a column whose values pyspark does not give as Arrow's."""
    for field in schema:
        if any(isinstance(type_, IntervalYear) for type_ in types_in(field.type)):
            raise UnsupportedError(
                f'pyspark gives no Arrow values of {field.type}, the type of column "{field.name}"',
                hint="cast the column to string, or to its number of months",
            )


def collect_rows(frame: DataFrame) -> list[Row]:
    """Collect all rows. Raises `ExecutionError` for a date or a timestamp that Python cannot hold."""
    try:
        return frame.collect()
    except spark_errors():  # some of which are a ValueError, too
        raise
    except (ValueError, OverflowError) as error:
        raise ExecutionError(
            f"the rows hold a date or a time outside of the years 1 to 9999, which Python has: {error}",
            hint="filter such rows out, or cast the column to string",
        ) from error


def collect_arrow(frame: DataFrame) -> pa.Table:
    """Collect all rows as an Arrow table, in Spark's types, which may be less strict about nullability."""
    schema = frame.schema
    if any(_has_required_part(field.dataType) for field in schema):
        # pyspark casts to its schema, and pyarrow casts no struct that is NULL to one with required fields.
        frame = frame.to(schema.toNullable())
    return frame.toArrow()


def _has_required_part(type_: DataType) -> bool:
    """Whether a type has a field in a struct that is required."""
    from pyspark.sql import types as spark

    match type_:
        case spark.StructType(fields=fields):
            return any(not field.nullable or _has_required_part(field.dataType) for field in fields)
        case spark.ArrayType(elementType=element):
            return _has_required_part(element)
        case spark.MapType(keyType=key, valueType=value):
            return _has_required_part(key) or _has_required_part(value)
        case _:
            return False
