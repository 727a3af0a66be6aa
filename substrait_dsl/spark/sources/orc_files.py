"""ORC files, which cannot hold every date and every timestamp.

Dates are stored by the hybrid calendar, in which 1582-10-15 follows 1582-10-04: the dates of today's calendar between
them would silently become 1582-10-15. Timestamps are stored as seconds and a fraction, rounded towards 1970: those in
the last second before 1970 would become later by a second. Iceberg stores dates in ORC files as numbers, and timestamps
as ORC does.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING

from substrait_dsl.errors import UnsupportedError, quote
from substrait_dsl.spark.catalog.table_names import statement_name
from substrait_dsl.spark.expressions.literals import failing
from substrait_dsl.spark.session.engines import ENGINE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


def _fraction(type_name: str, zone: str = "") -> str:
    return f"{{0}} > {type_name} '1969-12-31 23:59:59{zone}' AND {{0}} < {type_name} '1970-01-01 00:00:00{zone}'"


ORC_FILES: Mapping[str, Mapping[str, str]] = {
    "orc": {
        "date": "{0} BETWEEN DATE '1582-10-05' AND DATE '1582-10-14'",
        # Spark derives the days in the time zone of Java, which may be up to a day off.
        "timestamp": "{0} BETWEEN TIMESTAMP_LTZ '1582-10-04 00:00:00Z' AND TIMESTAMP_LTZ '1582-10-16 00:00:00Z' OR "
        + _fraction("TIMESTAMP_LTZ", "Z"),
    },
    "iceberg orc": {"timestamp": _fraction("TIMESTAMP_LTZ", "Z"), "timestamp_ntz": _fraction("TIMESTAMP_NTZ")},
}
"""By the writer of the files: for each Spark type, the test for a value that is lost."""


def require_names_found(columns: Mapping[str, DataType | None], what: str) -> None:
    """Raise `UnsupportedError` for a column with a nested name that Spark would not find in ORC files.

    Spark tells its reader the names between backticks.

    Args:
        columns: the columns by their names; no type: it is not known yet.
        what: the table or the files, for the message.
    """
    for column, type_ in columns.items():
        names = [column, *(() if type_ is None else _names(type_))]
        if any(not name or "`" in name for name in names):
            raise UnsupportedError(
                f"{what}: {ENGINE} does not find the column {quote([column])} in files of ORC, as its name, or one "
                "inside it, has a backtick or is empty",
                hint="give it another name",
            )


def _names(type_: DataType) -> Iterator[str]:
    from pyspark.sql import types as spark

    match type_:
        case spark.ArrayType(elementType=element):
            yield from _names(element)
        case spark.MapType(keyType=key, valueType=value):
            yield from _names(key)
            yield from _names(value)
        case spark.StructType(fields=fields):
            for field in fields:
                yield field.name
                yield from _names(field.dataType)
        case _:
            pass


def with_day_checks(frame: DataFrame, format_: str, partition_columns: Container[str] = ()) -> DataFrame:
    """Add checks to rows that are written to ORC: a date that would become another one is an error of its row.

    Args:
        frame: the rows.
        format_: which of the `ORC_FILES` they are for.
        partition_columns: the columns that are not in the files, but name folders.
    """
    names = frame.columns
    plain = [f"c{number}" for number in range(len(names))]
    values = [
        name if field.name in partition_columns else checked_value(name, field.dataType, format_)
        for name, field in zip(plain, frame.schema.fields, strict=True)
    ]
    if values == plain:
        return frame
    checked = (f"{value} AS {name}" for value, name in zip(values, plain, strict=True))
    return frame.toDF(*plain).selectExpr(*checked).toDF(*names)


def checked_value(text: str, of: DataType, format_: str) -> str:
    """Write a value for ORC, with an error if it would become another one."""
    test = _is_lost(text, of, ORC_FILES[format_])
    return text if test is None else f"if({test}, {failing(_LOST)}, {text})"


_LOST = (
    "a value has a day between 1582-10-04 and 1582-10-15, or a fraction of the last second before 1970, "
    "neither of which ORC files can hold"
)


def _is_lost(text: str, type_: DataType, lost: Mapping[str, str], depth: int = 0) -> str | None:
    """Write the test for a value with a lost date; None: values of the type hold no dates."""
    from pyspark.sql import types as spark

    def any_of(elements: str, element: DataType) -> str | None:
        variable = f"x{depth}"
        test = _is_lost(variable, element, lost, depth + 1)
        return test and f"exists({elements}, {variable} -> {test})"

    match type_:
        case spark.ArrayType(elementType=element):
            tests = [any_of(text, element)]
        case spark.MapType(keyType=key, valueType=value):
            tests = [any_of(f"map_keys({text})", key), any_of(f"map_values({text})", value)]
        case spark.StructType(fields=fields):
            tests = [
                _is_lost(f"{text}.{statement_name((field.name,))}", field.dataType, lost, depth) for field in fields
            ]
        case _:
            test = lost.get(type_.typeName())
            return test and f"({test.format(text)})"
    return " OR ".join(f"coalesce({test}, false)" for test in tests if test) or None
