"""The lines of delimited text, as Spark's readers give them, without headers and blank lines.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.literals import text_to_sql
from substrait_dsl.spark.session.connect import functions_of, is_remote
from substrait_dsl.spark.sources.text_headers import check_header, header_of, is_once, path_of, require_read_exactly
from substrait_dsl.spark.sources.text_parser import BLANK

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.types import StructType

    from substrait_dsl.algebra.relations import DelimitedText, TextReading

LINE = "substrait_dsl_line"
"""The name of the column of a line: no folder has it."""

REPLACED = "delimited text holds U+FFFD, which Spark puts in place of bytes that are not UTF-8"

NO_COLUMN = "substrait_dsl_none"
"""The column of malformed records, where there is none: a session may give it the name of another column."""

_ONE_FIELD = {
    "sep": "\uffff", "quote": "\ufffe", "escape": "\ufffe", "mode": "FAILFAST", "columnNameOfCorruptRecord": NO_COLUMN
}  # fmt: skip
"""The options of Spark's reader for which a line is a single field: characters that no text has."""
_FIRST, _SECOND = "substrait_dsl_first", "substrait_dsl_second"
_NO_FIELD, _EMPTY_QUOTES = "\ufffe", "\uffff"
"""What stands for an empty field, and for quotes around nothing: characters that no text has."""
OPEN_QUOTE = "a field of delimited text is open at the end of a line"
OTHER_FIELDS = "a record of delimited text has not the declared fields"
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
    options: Mapping[str, str],
) -> DataFrame:
    """Return the lines that are records, each checked to be text.

    Args:
        format_: how they are written.
        frame: all lines, from `text_lines`.
        paths: the files, as Spark reads them.
        folders: the columns that folders are named after.
        names: the columns that are fields.
        reading: how text is read.
        options: those of Spark's reader for the fields.

    Raises `SchemaError` for a header on this machine with other names.
    """
    spark = frame.sparkSession
    if folders:
        frame = text_lines(paths, folders, spark)
    functions = functions_of(spark)
    if _is_parsed(reading):
        require_read_exactly(frame.inputFiles(), reading)
    headers: list[str] | None = []
    if format_.header_lines_to_skip:
        headers = _headers(format_, frame, names, reading)
        if format_.header_lines_to_skip > 1 and (headers is None or _is_parsed(reading) or reading.encoding != "utf-8"):
            raise UnsupportedError(
                f"Spark cannot skip {format_.header_lines_to_skip} header lines here: they have to be lines of UTF-8 "
                "of files on this machine, which no other line of these is equal to, and the session a classic one",
                hint="on the embedded engine such files are read from this machine",
            )
    line = functions.col(LINE)
    if _is_parsed(reading):
        decoded = {name: _as_decoded(text, reading.encoding) for name, text in options.items()}
        reader = spark.read.format("csv").options(**decoded, encoding=_decoder(reading.encoding))
        return _records(reader, format_, paths, folders, len(names), reading)
    if headers is None or reading.encoding != "utf-8":
        header = str(format_.header_lines_to_skip == 1).lower()
        reader = spark.read.format("csv").options(**_ONE_FIELD, header=header, encoding=_decoder(reading.encoding))
        found = reader.schema(texts([LINE, *folders])).load(list(paths))
        if not format_.field_delimiter.strip(BLANK):  # that reader skips records of empty fields: they are added
            is_skipped = ~functions.rlike(line, functions.lit(r"[^\x00-\x20]"))
            is_record = functions.contains(line, functions.lit(format_.field_delimiter))
            found = found.unionAll(frame.where(is_skipped & is_record))
        frame = found
        return _with_line(
            _recoded(frame, reading.encoding), functions.contains(line, functions.lit("\ufffd")), REPLACED
        )
    # A line that begins above a blank is not blank: most do.
    is_record = f"({LINE} >= '!' OR rlike({LINE}, {text_to_sql(_not_blank(format_))}))"
    if headers:
        is_record += f" AND {LINE} NOT IN ({', '.join(map(text_to_sql, headers))})"
    return frame.where(is_record)


def _not_blank(format_: DelimitedText) -> str:
    """Return the pattern of what a line has that is not skipped."""
    separates = "" if format_.field_delimiter.strip(BLANK) else f"|{re.escape(format_.field_delimiter)}"
    return rf"[^\x00-\x20]{separates}"


def _with_line(frame: DataFrame, is_broken: Column, error: str) -> DataFrame:
    """Raise the error where a line is broken."""
    functions = functions_of(frame.sparkSession)
    line = functions.when(is_broken, functions.raise_error(functions.lit(error))).otherwise(functions.col(LINE))
    return frame.withColumn(LINE, line)


def _records(
    reader: DataFrameReader,
    format_: DelimitedText,
    paths: Sequence[str],
    folders: Sequence[str],
    many: int,
    reading: TextReading,
) -> DataFrame:
    """Return records whose quotes may hold line breaks, or whose lines only a decoder can find.

    Spark parses the file, and is asked for another number of fields than records have: so its column of malformed
    records has each of them as it is written. They are parsed again, as lines are: a record that is one by itself is
    one of the file, as all before it are.
    """
    others = [_FIRST, _SECOND] if many == 1 else [_FIRST]
    reader = reader.options(
        multiLine="true",
        lineSep="\n",  # a carriage return before it is left out of records, too
        mode="PERMISSIVE",
        columnNameOfCorruptRecord=LINE,
        nullValue=_NO_FIELD,
        emptyValue=_EMPTY_QUOTES,
        escape=format_.escape or "\uffff",
    )
    frame = reader.schema(texts([*others, LINE, *folders])).load(list(paths))
    functions = functions_of(frame.sparkSession)
    line, first = functions.col(LINE), functions.col(_FIRST)
    is_text = functions.rlike(functions.coalesce(line, first, functions.lit("")), functions.lit(_not_blank(format_)))
    written = functions.regexp_replace(line, functions.lit(r"\A[\r\n]+"), functions.lit(""))
    other = functions.lit("") if not many else functions.raise_error(functions.lit(OTHER_FIELDS))
    frame = frame.where(is_text).withColumn(LINE, functions.when(line.isNull(), other).otherwise(written))
    frame = _recoded(frame.select(LINE, *folders), reading.encoding)
    frame = _with_line(frame, functions.contains(line, functions.lit("\ufffd")), REPLACED)
    breaks = functions.rlike(line, functions.lit(r"[\r\n]"))
    if reading.line_breaks == "in_quotes":
        breaks = breaks & ~functions.rlike(line, functions.lit(_write_quoted_record_pattern(format_)))
    return _with_line(frame, breaks, OPEN_QUOTE)


def _decoder(encoding: str) -> str:
    """Return the encoding that Spark decodes in place of one: it knows that of ISO 8859-1 alone of those of bytes."""
    return encoding if encoding.startswith("utf-") else "iso-8859-1"


def _as_decoded(text: str, encoding: str) -> str:
    """Return how a text is decoded in place of its encoding."""
    return text if encoding.startswith("utf-") else text.encode(encoding).decode("iso-8859-1")


def _recoded(frame: DataFrame, encoding: str) -> DataFrame:
    """Give lines that were decoded in place of their encoding the characters of it; U+FFFD for bytes that are none."""
    if encoding.startswith("utf-"):
        return frame
    there = bytes(range(256)).decode("iso-8859-1")
    pairs = zip(there, map(partial(bytes.decode, encoding=encoding, errors="replace"), _BYTES), strict=True)
    others = [pair for pair in pairs if pair[0] != pair[1]]
    functions = functions_of(frame.sparkSession)
    texts = ("".join(each) for each in zip(*others, strict=True))
    return frame.withColumn(LINE, functions.translate(functions.col(LINE), *texts)) if others else frame


_BYTES = tuple(bytes([byte]) for byte in range(256))


def _write_quoted_record_pattern(format_: DelimitedText) -> str:
    """Return the pattern of a record with line breaks in quotes alone."""
    delimiter, quote, escape = (re.escape(text) for text in (format_.field_delimiter, format_.quote, format_.escape))
    escaped = {"": "(?!)", quote: quote * 2}.get(escape, f"(?s:{escape}.)")
    bare = f"[^{delimiter}\\r\\n]*+" if len(format_.field_delimiter) == 1 else f"(?:(?!{delimiter})[^\\r\\n])*+"
    field = f"(?:{quote}[^{quote}{escape}]*+(?:{escaped}[^{quote}{escape}]*+)*+{quote}|(?!{quote}){bare})"
    return f"\\A{field}(?:{delimiter}{field})*+\\z"


def _is_parsed(reading: TextReading) -> bool:
    """Whether Spark's parser finds the records of a file, as lines are not enough."""
    return reading.line_breaks == "in_quotes" or reading.encoding.startswith("utf-16")


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
            if header.line and not header.line.strip(BLANK):
                raise UnsupportedError(f"the header of {path} has no names, but separators alone")
    if _is_parsed(reading):
        for uri, header in zip(uris, found, strict=True):
            if header is None or not header.is_first:
                raise UnsupportedError(
                    f"the header of {uri} is not the first line of a file on this machine, with a line feed at its "
                    "end, as it has to be with line breaks in quotes or UTF-16",
                    hint="read it without a header, header_lines_to_skip=0, and leave its record out by a filter",
                )
    if is_remote(frame.sparkSession):
        return None
    lines = {line for header in found if header is not None for line in header.lines}
    are_known = all(header is not None for header in found) and len(lines) <= _MANY_HEADERS
    pairs = zip(paths, found, strict=True)
    if not are_known or not all(is_once(path, lines, len(header.lines)) for path, header in pairs if path and header):
        return None
    return sorted(lines)
