"""The types of columns in Parquet and ORC files, and the types that Spark reads them as."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from substrait_dsl.errors import SchemaError
from substrait_dsl.layouts import plain_type
from substrait_dsl.spark.expressions.types import type_to_spark
from substrait_dsl.spark.sources.declared_columns import fits

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType

    from substrait_dsl.algebra.schema import Field, NamedStruct

_NARROWER: Mapping[str, tuple[str, ...]] = {
    "boolean": (),
    "tinyint": (),
    "smallint": ("tinyint",),
    "int": ("tinyint", "smallint"),
    "bigint": ("tinyint", "smallint", "int"),
    "float": (),
    "double": ("float", "tinyint", "smallint", "int"),
    "string": (),
    "binary": (),
    "date": (),
    "timestamp_ntz": ("bigint",),  # which Spark has in files of ORC for it, and takes for nothing else in others
}
"""For a type, the narrower types of files whose values it holds, so that Spark reads them unchanged."""

_NULLS = "int"
"""The type as which Spark reads Parquet's Null type, which writers use for a column or a part without any value."""
_READ_OVER_NULLS = ("tinyint", "smallint", _NULLS, "bigint", "double", "date", "interval year to month")
"""The types of other files with which Spark reads such NULLs. With others it fails, or makes empty lists of them."""


def is_read_as(actual: pa.DataType, wanted: DataType, same: Callable[[str], str]) -> bool:
    """Whether Spark reads a column of a file unchanged as a type, as far as that is known.

    `same` normalizes names that Spark takes for equal.
    """
    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql import types as spark
    from pyspark.sql.pandas.types import from_arrow_type

    actual = plain_type(actual)
    if pa.types.is_null(actual):
        return wanted.simpleString() in _READ_OVER_NULLS
    match actual, wanted:
        case pa.StructType(), spark.StructType(fields=fields):
            there = {same(part.name): part.type for part in actual}
            names = [(same(field.name), field.dataType) for field in fields]
            return all(name in there and is_read_as(there[name], type_name, same) for name, type_name in names)
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType(), spark.ArrayType(elementType=element):
            return is_read_as(actual.value_type, element, same)
        case pa.MapType(), spark.MapType(keyType=key, valueType=value):
            return is_read_as(actual.key_type, key, same) and is_read_as(actual.item_type, value, same)
    type_name = wanted.simpleString()
    if type_name not in _NARROWER and not type_name.startswith("decimal("):
        return True
    try:
        found = from_arrow_type(actual, prefer_timestamp_ntz=True).simpleString()
    except PySparkException:
        return True
    return found == type_name or found in _NARROWER.get(type_name, ())


def parts(type_: pa.DataType) -> Iterator[pa.DataType]:
    """Yield an Arrow type and all types nested in it."""
    import pyarrow as pa

    yield type_
    inside = (
        [type_.value_type] if pa.types.is_dictionary(type_) else [type_.field(n).type for n in range(type_.num_fields)]
    )
    for part in inside:
        yield from parts(part)


def _has_nulls(type_: pa.DataType) -> bool:
    """Whether a column, or a part of it, has the type of NULLs only."""
    import pyarrow as pa

    return any(map(pa.types.is_null, parts(type_)))


def _may_be_as_declared(actual: pa.DataType, field: Field) -> bool:
    """Whether a column of a file may have the declared type."""
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        found = from_arrow_type(plain_type(actual), prefer_timestamp_ntz=True)
        return fits(found, type_to_spark(field.type), field.type)
    except PySparkException:
        return True


def _has_nulls_for(actual: pa.DataType, expected: DataType) -> bool:
    """Whether a column has NULLs only where the type differs from the one that Spark infers for them."""
    import pyarrow as pa
    from pyspark.sql import types as spark

    match actual, expected:
        case pa.StructType(), spark.StructType(fields=fields):
            return any(_has_nulls_for(part.type, field.dataType) for part, field in zip(actual, fields, strict=False))
        case pa.ListType() | pa.LargeListType() | pa.FixedSizeListType(), spark.ArrayType(elementType=element):
            return _has_nulls_for(actual.value_type, element)
        case pa.MapType(), spark.MapType(keyType=key, valueType=value):
            return _has_nulls_for(actual.key_type, key) or _has_nulls_for(actual.item_type, value)
    return pa.types.is_null(actual) and expected.simpleString() != _NULLS


THROUGH_ARROW = 'read_named(name, columns) with tables={name: "path of the file"} reads it through Arrow'
"""The hint for a file with a type that an engine does not read."""

_TYPED = (
    'write the file anew with a type, with pandas: frame.astype({"name": "string"}).to_parquet(path); or read it apart '
    "with i32? declared for what is NULL, cast that, and put the rows together with union_all"
)


def require_values(
    found: Mapping[str, Mapping[str, pa.DataType]],
    wanted: Mapping[str, DataType],
    schema: NamedStruct,
    same: Callable[[str], str],
) -> None:
    """Raise `SchemaError` for a file with a column of Parquet's Null type, where that matters.

    Args:
        found: by their paths, the columns of the files.
        wanted: what Spark takes the columns for, which may come from such a file.
        schema: the declared columns.
        same: makes one name of those that Spark takes for one.
    """
    import pyarrow as pa

    for field in schema:
        key, expected = same(field.name), type_to_spark(field.type)
        if key not in wanted:
            continue
        columns_of_files = [
            (path, name, type_)
            for path, columns in found.items()
            for name, type_ in columns.items()
            if same(name) == key
        ]
        as_declared = fits(wanted[key], expected, field.type)
        if not as_declared and not all(
            _may_be_as_declared(type_, field) for *_, type_ in columns_of_files if not _has_nulls(type_)
        ):
            continue  # the others are wrong whatever is in these
        for path, name, type_ in columns_of_files:
            is_lost = not is_read_as(type_, wanted[key], same) if as_declared else _has_nulls_for(type_, expected)
            if _has_nulls(type_) and is_lost:
                where = "holds" if pa.types.is_null(type_) else f"is {type_}, and in a part of it holds"
                raise SchemaError(
                    f'the file {path} does not fit the declared schema: its column "{name}", declared {field.type}, '
                    f"{where} nothing but NULLs, without a type (Parquet's type Null)",
                    hint=_TYPED,
                )
