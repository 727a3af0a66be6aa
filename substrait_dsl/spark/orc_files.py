"""ORC files, which cannot hold every day and every point in time that a plan can.

Days are kept by the calendar of their time, which goes from 1582-10-04 to 1582-10-15: what the calendar of today has
between them would silently become the latter day. Points in time are kept as seconds and a fraction, rounded towards
1970: those in the last second before it would become later by that second. Iceberg keeps the days in ORC files as
numbers, and all points in time as ORC does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.spark.literals import text_to_sql
from substrait_dsl.spark.named import quoted_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType


def _fraction(kind: str, zone: str = "") -> str:
    return f"{{0}} > {kind} '1969-12-31 23:59:59{zone}' AND {{0}} < {kind} '1970-01-01 00:00:00{zone}'"


ORC_FILES: Mapping[str, Mapping[str, str]] = {
    "orc": {
        "date": "{0} BETWEEN DATE '1582-10-05' AND DATE '1582-10-14'",
        # Spark tells the days by the time zone of Java, which may be up to a day off.
        "timestamp": "{0} BETWEEN TIMESTAMP '1582-10-04 00:00:00Z' AND TIMESTAMP '1582-10-16 00:00:00Z' OR "
        + _fraction("TIMESTAMP", "Z"),
    },
    "iceberg orc": {"timestamp": _fraction("TIMESTAMP", "Z"), "timestamp_ntz": _fraction("TIMESTAMP_NTZ")},
}
"""For who writes them, by Spark's types, whether a value is lost."""


def with_kept_days(frame: DataFrame, what: str, kind: str) -> DataFrame:
    """The rows as they may be written to ORC: a day that would become another one is an error when it is met.

    Args:
        frame: the rows.
        what: what is done with them, for the error.
        kind: which of the `ORC_FILES` they are for.
    """
    names = frame.columns
    plain = [f"c{number}" for number in range(len(names))]
    told = text_to_sql(f"{what}: {_LOST}")
    tests = [
        _is_lost(name, field.dataType, ORC_FILES[kind]) for name, field in zip(plain, frame.schema.fields, strict=True)
    ]
    if not any(tests):
        return frame
    checked = [
        f"if({test}, raise_error({told}), {name}) AS {name}" if test else name
        for name, test in zip(plain, tests, strict=True)
    ]
    return frame.toDF(*plain).selectExpr(*checked).toDF(*names)


_LOST = (
    "a value has a day between 1582-10-04 and 1582-10-15, or a fraction of the last second before 1970, "
    "neither of which ORC files can hold"
)


def _is_lost(text: str, kind: DataType, lost: Mapping[str, str], depth: int = 0) -> str | None:
    """Whether a value, given as text, holds a day that is lost, as text; None: values of the type hold no days."""
    from pyspark.sql import types as spark

    def any_of(elements: str, element: DataType) -> str | None:
        variable = f"x{depth}"
        test = _is_lost(variable, element, lost, depth + 1)
        return test and f"exists({elements}, {variable} -> {test})"

    match kind:
        case spark.ArrayType(elementType=element):
            tests = [any_of(text, element)]
        case spark.MapType(keyType=key, valueType=value):
            tests = [any_of(f"map_keys({text})", key), any_of(f"map_values({text})", value)]
        case spark.StructType(fields=fields):
            tests = [_is_lost(f"{text}.{quoted_name((field.name,))}", field.dataType, lost, depth) for field in fields]
        case _:
            test = lost.get(kind.typeName())
            return test and f"({test.format(text)})"
    return " OR ".join(f"coalesce({test}, false)" for test in tests if test) or None
