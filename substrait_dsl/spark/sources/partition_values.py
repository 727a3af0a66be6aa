"""Values of partition directories, as in ``day=2024-05-01``: how they are written and read back.

Both directions follow the same rules, for tables and for files: a value that the name does not give back is refused, or
an error of the row. Spark escapes separators such as a slash, and the column's name comes first: no value leads out of
the folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.catalog.table_names import statement_name
from substrait_dsl.spark.expressions.casts import cast_to_sql
from substrait_dsl.spark.expressions.literals import text_to_sql
from substrait_dsl.spark.expressions.types import type_to_spark
from substrait_dsl.spark.session.engines import ENGINE, current_engine
from substrait_dsl.spark.session.time_zone import TIME_ZONE, UTC

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
"""The value in the name of a directory that stands for NULL."""

_LONGEST = 60
"""The most characters of a value in a message."""


def write_value(value: str, name: str, type_: t.Type, subject: str, spark: SparkSession) -> str:
    """Write a value as the text in the name of a partition directory.

    The zeros of floats are two texts. Spark would write both to one file, one after the other.

    Args:
        value: the SQL text of the value.
        name: what its column is called.
        type_: its type.
        subject: whose folders are named after which column, for messages.
        spark: the session.

    Raises:
        UnsupportedError: names of folders do not give the values back.
    """
    try:
        read(name, type_)
    except UnsupportedError as error:
        said = f"{subject}, of {type_}, which their names do not give back: {error.message}"
        raise UnsupportedError(said, hint=error.hint) from error
    failures = failing(type_to_spark(type_).simpleString(), value, subject, spark)
    return f"CAST({write_checked_value(name, value, list(failures))} AS STRING)"


def read(name: str, type_: t.Type) -> str:
    """Write a partition value, which is a string, as a value of the declared type.

    A string that does not convert is an error of the row. Raises `UnsupportedError` for a type to which strings do not
    convert.
    """
    column = statement_name([name])
    if isinstance(type_, t.UUID):  # Spark has texts for them
        return column
    if isinstance(type_, t.UserDefined):
        raise UnsupportedError(
            f"{ENGINE} reads no {type_} from the names of folders", hint="cast it to i64, or to decimal<20,0>"
        )
    value = _cast(column, _with_all_digits(type_.as_nullable()))
    if value == column:
        return value
    start = text_to_sql(f"the folder {name}=")
    end = text_to_sql(f' does not fit column "{name}", declared {type_}')
    misfit = f"raise_error(concat({start}, {column}, {end}))"
    is_rounded = f" OR {value} != {exact}" if (exact := _exact(column, type_)) else ""
    return f"(CASE WHEN {column} IS NOT NULL AND ({value} IS NULL{is_rounded}) THEN {misfit} ELSE {value} END)"


def _with_all_digits(type_: t.Type) -> t.Type:
    """Return the type as which a string is parsed: Spark's timestamps have six digits, and fewer are not checked."""
    match type_:
        case t.PrecisionTime(precision=digits) | t.PrecisionTimestamp(precision=digits) if digits < 6:
            return attrs.evolve(type_, precision=6)
        case t.PrecisionTimestampTZ(precision=digits) if digits < 6:
            return attrs.evolve(type_, precision=6)
        case _:
            return type_


def _exact(column: str, type_: t.Type) -> str | None:
    """Write a string as the exact value where a cast to a type would round it."""
    if not isinstance(type_, t.Decimal):
        return None
    finest = t.Decimal(38, 38 - type_.precision + type_.scale, nullable=True)
    return _cast(column, finest)


def _cast(column: str, type_: t.Type) -> str:
    """Write a value in the name of a folder as one of a type; NULL if it is none."""
    castable = current_engine().castable_folder_name
    return cast_to_sql(column, t.String(nullable=True), type_, "return_null", castable)


def write_checked_value(name: str, text: str, failures: Sequence[tuple[str, str]]) -> str:
    """Write a value that is an error under some conditions, each with its message about the column."""
    cases = ""
    for condition, reason in failures:
        start = text_to_sql(f'column "{name}" {reason}: "')
        shown = f"replace(left({text}, {_LONGEST}), chr(0), '\u2400')"  # a symbol for NUL, which shows as nothing
        cases += f" WHEN {condition} THEN raise_error(concat({start}, {shown}, '\"'))"
    return f"CASE{cases} ELSE {text} END" if cases else text


def failing(type_name: str, text: str, subject: str, spark: SparkSession) -> Iterator[tuple[str, str]]:
    """Yield the conditions under which a value of a Spark type cannot be in the name of a directory, with messages.

    Raises `UnsupportedError` for a type of which no value can.
    """
    if type_name == "binary":
        raise UnsupportedError(f"{subject}, of binary values")
    if type_name == "timestamp":
        require_utc(subject, "writes", spark)
    if type_name == "string":
        null = f"{text} IN ('', '{NULL_FOLDER}')"
        yield null, "tells partitions apart, where Spark would make this value NULL"
        yield (
            f"contains({text}, chr(0))",
            "tells partitions apart, and no folder's name has a NUL character, as here",
        )


def require_utc(what: str, does: str, spark: SparkSession) -> None:
    """Raise `UnsupportedError` if the session would write local times for timestamps in the names of directories."""
    zone = spark.conf.get(TIME_ZONE)
    if zone not in UTC:
        raise UnsupportedError(
            f"{what}, of timestamps, which the session {does} as local times of {zone}: in another zone these are "
            "other timestamps, and some of them are two",
            hint=f'spark.conf.set("{TIME_ZONE}", "{UTC[0]}")',
        )
