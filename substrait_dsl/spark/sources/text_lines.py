"""The lines of delimited text, as Spark's readers give them, without headers and blank lines.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.spark.session.connect import functions_of, is_remote
from substrait_dsl.spark.sources.text_headers import check_header, header_of, is_once, path_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from substrait_dsl.algebra.relations import DelimitedText, TextReading

LINE = "substrait_dsl_line"
"""The name of the column of a line: no folder has it."""

NO_UTF8 = "delimited text holds bytes that are not UTF-8"
REPLACED = "delimited text holds U+FFFD, which Spark puts in place of bytes that are not UTF-8"

_ONE_FIELD = {"sep": "\uffff", "quote": "\ufffe", "escape": "\ufffe", "mode": "FAILFAST"}
"""The options of Spark's reader for which a line is a single field: characters that no text has."""
_MANY_HEADERS = 8
"""The most headers that lines are compared with."""


def texts(names: Iterable[str]) -> StructType:
    """Return the schema of columns of texts."""
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in dict.fromkeys(names)])


def text_lines(paths: Sequence[str], folders: Sequence[str], spark: SparkSession) -> DataFrame:
    """Return all lines of files, and the columns that their folders are named after."""
    return spark.read.format("text").schema(texts([LINE, *folders])).load(list(paths))


def record_lines(
    format_: DelimitedText,
    frame: DataFrame,
    paths: Sequence[str],
    folders: Sequence[str],
    names: Sequence[str],
    reading: TextReading,
) -> DataFrame:
    """Return the lines that are records, each checked to be text.

    Args:
        format_: how they are written.
        frame: all lines, from `text_lines`.
        paths: the files, as Spark reads them.
        folders: the columns that folders are named after.
        names: the columns that are fields.
        reading: how text is read.

    Raises `SchemaError` for a header on this machine with other names.
    """
    spark = frame.sparkSession
    if folders:
        frame = text_lines(paths, folders, spark)
    functions = functions_of(spark)
    headers: list[str] | None = []
    if format_.header_lines_to_skip:
        headers = _headers(format_, frame, names, reading)
    line = functions.col(LINE)
    if headers is None:
        reader = spark.read.format("csv").options(**_ONE_FIELD, header="true")
        frame = reader.schema(texts([LINE, *folders])).load(list(paths))
        return _with_line(frame, functions.contains(line, functions.lit("\ufffd")), REPLACED)
    # A line that begins above a blank is not blank: most do.
    is_blank = (line < "!") & ~functions.rlike(line, functions.lit(r"[^\x00-\x20]"))
    frame = frame.where(~is_blank)
    if headers:
        frame = frame.where(~line.isin(headers))
    return _with_line(frame, ~functions.is_valid_utf8(line), NO_UTF8)


def _with_line(frame: DataFrame, is_broken: Column, error: str) -> DataFrame:
    """Raise the error where a line is broken."""
    functions = functions_of(frame.sparkSession)
    line = functions.when(is_broken, functions.raise_error(functions.lit(error))).otherwise(functions.col(LINE))
    return frame.withColumn(LINE, line)


def _headers(format_: DelimitedText, frame: DataFrame, names: Sequence[str], reading: TextReading) -> list[str] | None:
    """Check the headers of files on this machine, and return those by which lines are known to be headers.

    None if a line that is equal to one may be a record, or if that cannot be known: only Spark's reader of CSV counts
    the lines of a file.
    """
    uris = frame.inputFiles()
    paths = [path_of(uri) for uri in uris]
    found = [None if path is None else header_of(path, format_, reading) for path in paths]
    for path, header in zip(paths, found, strict=True):
        if path is not None and header is not None and names:
            check_header(header, names, path, format_, reading)
    if is_remote(frame.sparkSession):
        return None
    lines = {header.line for header in found if header is not None}
    are_known = all(header is not None for header in found) and len(lines) <= _MANY_HEADERS
    if not are_known or not all(is_once(path, lines) for path in paths if path is not None):
        return None
    return sorted(lines - {""})
