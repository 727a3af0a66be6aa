"""Schema compatibility: whether columns fit a table in names, types and nullability, and what a format would lose."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING

from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import UUID, FixedChar, List, Map, String, Struct, Type, VarChar
from substrait_dsl.errors import SchemaError, UnsupportedError, quote
from substrait_dsl.spark.catalog.table_metadata import ICEBERG
from substrait_dsl.spark.session.engines import ENGINE
from substrait_dsl.spark.sources.declared_columns import DECLARED, ROWS, Origin, check_columns
from substrait_dsl.spark.sources.orc_files import require_names_found

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType, StructField, StructType

    from substrait_dsl.spark.catalog.table_metadata import StoredTable

TEXT_FORMATS = {"csv", "json", "text", "xml"}
"""Formats that write NULL and an empty string, or two timestamps, alike."""
_TIMES = "spark.sql.parquet.outputTimestampType"


def require_distinct(declared: NamedStruct, what: str) -> None:
    """Raise `SchemaError` for two columns of one name, which no table can have."""
    by_name: dict[str, str] = {}
    for name in declared.names:
        first = by_name.get(name.lower())
        if first is None:
            by_name[name.lower()] = name
        elif first == name:
            raise SchemaError(f"{what}: two of the columns are called {quote([name])}; no table has that")
        else:
            raise SchemaError(
                f"{what}: the columns {quote([first, name])} differ in the case of letters only; no table has both"
            )


def columns_in(
    table: StoredTable, declared: NamedStruct, *, written: Collection[str] | None = None, adds_rows: bool = True
) -> tuple[str, ...]:
    """Return the names of the declared columns in a table.

    Args:
        table: the table.
        declared: the columns that a plan says it has.
        written: which of these get values; None: all, and no other column of the table does.
        adds_rows: whether rows are added, in which the other columns are NULL or have their defaults.

    Raises:
        SchemaError: a column is not there or of another type; or one that is required would get NULLs.
        UnsupportedError: a column that gets values would change them.
    """
    require_distinct(declared, table.title)
    origin = ROWS if written is None else DECLARED
    names = check_columns(table.schema, declared, table.title, origin)
    fields = {field.name: field for field in table.schema.fields}
    pairs = [(fields[name], field) for name, field in zip(names, declared, strict=True)]
    values = [pair for pair in pairs if written is None or pair[1].name in written]
    wrong = list(_nulls_in_required(table, values, origin))
    if written is None and adds_rows:
        wrong += [
            f'column "{name}" is required in the table, and gets no value' for name in _missing_columns(table, names)
        ]
    if wrong:
        raise SchemaError(f"{table.title} does not fit {origin.name}: {'; '.join(wrong)}")
    for field, column in values:
        _require_unpadded(field, column.type, f'{table.title}: its column "{field.name}"')
    return names


def _nulls_in_required(
    table: StoredTable, values: Sequence[tuple[StructField, Field]], origin: Origin
) -> Iterator[str]:
    """Yield the columns that would get NULLs where a table requires values."""
    for field, column in values:
        if field.name in table.required and column.type.nullable:
            yield f'column "{field.name}" is required in the table, {origin.place} {column.type}'
    for field, column in values:
        if not parts_as_required(field.dataType, column.type):
            yield (
                f'column "{field.name}" has required parts in the table, {field.dataType.simpleString()}, '
                f"{origin.place} {column.type}"
            )


def _require_unpadded(field: StructField, declared: Type, what: str) -> None:
    """Raise `UnsupportedError` for a column whose strings Spark would pad, or trim.

    A ``VARCHAR(n)`` column itself is not refused: its values are checked when they are written.
    """
    declared_type = _declared_texts(field)
    if is_padded(field) and declared_type != f"char({declared.length if isinstance(declared, FixedChar) else None})":
        raise UnsupportedError(
            f"{what} is {declared_type}, and {ENGINE} fills such texts with spaces",
            hint=f"cast to {fixed_char(declared_type)}" if declared_type.startswith("char") else None,
        )
    if "<" not in declared_type:
        return
    lengths = list(_text_lengths(declared))
    bounds = [int(bound) if bound else inf for bound in _TEXTS_INSIDE.findall(declared_type)]
    if len(bounds) != len(lengths) or any(length > bound for length, bound in zip(lengths, bounds, strict=True)):
        raise UnsupportedError(
            f"{what} is {declared_type}, declared {declared}, and {ENGINE} cuts spaces off the texts in it that are "
            "longer",
            hint="cast to a type with varchar<n> for each VARCHAR(n) in it",
        )


def _text_lengths(type_: Type) -> Iterator[float]:
    """Yield the maximal lengths of the strings in a type, depth first."""
    match type_:
        case FixedChar(length=length) | VarChar(length=length):
            yield length
        case String() | UUID():
            yield inf
        case Struct(types=parts):
            for part in parts:
                yield from _text_lengths(part)
        case List(element=element):
            yield from _text_lengths(element)
        case Map(key=key, value=value):
            yield from _text_lengths(key)
            yield from _text_lengths(value)


def most_characters(field: StructField) -> int | None:
    """Return the length of a ``VARCHAR(n)`` column; None: it is none."""
    bound = _VARYING.fullmatch(_declared_texts(field))
    return None if bound is None else int(bound[1])


def fixed_length(field: StructField) -> int | None:
    """Return the length of a ``CHAR(n)`` column, to which Spark pads; None: it is none."""
    length = _FIXED.fullmatch(_declared_texts(field))
    return None if length is None else int(length[1])


def default_value(field: StructField) -> str:
    """Return the default value of a column, as SQL text."""
    return str(field.metadata.get(_DEFAULT, "NULL"))


def is_padded(field: StructField) -> bool:
    """Whether Spark pads what is written to a column, and what it is compared with."""
    return bool(_PADDED.search(_declared_texts(field)))


def is_of_length(field: StructField) -> bool:
    """Whether a column, or a part of it, is declared ``CHAR(n)`` or ``VARCHAR(n)`` in its table."""
    return _TEXT in field.metadata


def _declared_texts(field: StructField) -> str:
    return str(field.metadata.get(_TEXT, ""))


def fixed_char(spark_type: str) -> str:
    """Return the specification's name of Spark's ``char(5)``."""
    return spark_type.replace("char(", "fixedchar<").replace(")", ">")


_TEXT = "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata key of a column's declared string type, in tables and in files that Spark wrote from them."""
_PADDED = re.compile(r"\bchar\(")
_FIXED = re.compile(r"char\((\d+)\)")
_VARYING = re.compile(r"varchar\((\d+)\)")
_TEXTS_INSIDE = re.compile(r"(?<=[:<,])(?:string|(?:var)?char\((\d+)\))(?=[,>])")
"""The string types inside a type; a word before a colon is the name of a field."""
_DEFAULT = "CURRENT_DEFAULT"
"""The metadata key of a column's default value, as SQL text."""


def parts_as_required(actual: DataType, declared: Type) -> bool:
    """Whether the required parts of a column in the table are declared required."""
    from pyspark.sql import types as spark

    match actual, declared:
        case spark.StructType(fields=fields), Struct(types=field_types):
            return all(
                (field.nullable or not type_.nullable) and parts_as_required(field.dataType, type_)
                for field, type_ in zip(fields, field_types, strict=True)
            )
        case spark.ArrayType(elementType=part, containsNull=nullable), List(element=type_):
            return (nullable or not type_.nullable) and parts_as_required(part, type_)
        case spark.MapType(keyType=key, valueType=part, valueContainsNull=nullable), Map(key=of_key, value=type_):
            return (
                (nullable or not type_.nullable) and parts_as_required(key, of_key) and parts_as_required(part, type_)
            )
        case _:
            return True


def _missing_columns(table: StoredTable, names: Sequence[str]) -> list[str]:
    """Return the required columns of a table that are not among these, and have no default."""
    return [
        field.name
        for field in table.schema.fields
        if field.name in table.required and field.name not in names and default_value(field).upper() == "NULL"
    ]


def require_lossless(schema: StructType, format_: str, what: str, spark: SparkSession) -> None:
    """Raise `UnsupportedError` for columns that a format would store as another type, or truncate."""
    if format_ in TEXT_FORMATS:
        raise UnsupportedError(
            f"{what}: a table of the format {format_} does not give back the values that are written to it",
            hint='a table is made in the format that "spark.sql.sources.default" names',
        )
    match format_:
        case "parquet":
            _require_parquet(schema, what, spark)
        case "orc":
            require_names_found({field.name: field.dataType for field in schema.fields}, what)
        case _ if format_ == ICEBERG:
            _require_iceberg(schema, what)
        case _:
            pass


def _require_parquet(schema: StructType, what: str, spark: SparkSession) -> None:
    """Raise `UnsupportedError` for columns that Parquet files would not hold, or not with microseconds."""
    from pyspark.sql.types import TimestampType

    if spark.conf.get(_TIMES) == "TIMESTAMP_MILLIS" and (cut := _names_with(schema, TimestampType)):
        raise UnsupportedError(
            f"{what}: the session writes timestamps without microseconds, as in the columns {quote(cut)}",
            hint=f'spark.conf.set("{_TIMES}", "TIMESTAMP_MICROS")',
        )
    if empty := [field.name for field in schema.fields if _has_empty_struct(field.dataType)]:
        raise UnsupportedError(f"{what}: Parquet has no structs without fields, which the columns {quote(empty)} hold")


def _require_iceberg(schema: StructType, what: str) -> None:
    """Raise `UnsupportedError` for columns that an Iceberg table cannot have."""
    from pyspark.sql.types import ByteType, DayTimeIntervalType, ShortType, TimeType, YearMonthIntervalType

    if "" in schema.names:
        raise UnsupportedError(f"{what}: the columns of an Iceberg table have names, got one that is empty")
    if missing := _names_with(schema, DayTimeIntervalType, YearMonthIntervalType, TimeType):
        raise UnsupportedError(
            f"{what}: an Iceberg table of {ENGINE} has no intervals or times of day, which {quote(missing)} hold"
        )
    if narrow := _names_with(schema, ByteType, ShortType):
        raise UnsupportedError(
            f"{what}: Iceberg has no integers of 8 or 16 bits, which the columns {quote(narrow)} have",
            hint="cast(I32) first",
        )


def _names_with(schema: StructType, *types: type[DataType]) -> list[str]:
    """Return the columns that have, or hold, one of some types."""
    return [field.name for field in schema.fields if _has(field.dataType, types)]


def _has_empty_struct(type_: DataType) -> bool:
    from pyspark.sql import types as spark

    match type_:
        case spark.StructType(fields=fields):
            return not fields or any(_has_empty_struct(field.dataType) for field in fields)
        case spark.ArrayType(elementType=element):
            return _has_empty_struct(element)
        case spark.MapType(keyType=key, valueType=value):
            return _has_empty_struct(key) or _has_empty_struct(value)
        case _:
            return False


def _has(type_: DataType, wanted: tuple[type[DataType], ...]) -> bool:
    from pyspark.sql import types as spark

    match type_:
        case spark.StructType(fields=fields):
            return any(_has(field.dataType, wanted) for field in fields)
        case spark.ArrayType(elementType=element):
            return _has(element, wanted)
        case spark.MapType(keyType=key, valueType=value):
            return _has(key, wanted) or _has(value, wanted)
        case _:
            return isinstance(type_, wanted)
