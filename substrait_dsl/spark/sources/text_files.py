"""Delimited text for an engine that does not parse it: it is read here and sent to the engine.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import escape, glob
from typing import IO, TYPE_CHECKING
from urllib.parse import quote

from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.session.causes import system_words
from substrait_dsl.spark.sources.arrow_tables import declared_frame
from substrait_dsl.spark.sources.delimited_text import text_options
from substrait_dsl.spark.sources.paths import data_files, local_path, local_paths, suggest_path
from substrait_dsl.spark.sources.text_headers import (
    COMPRESSED,
    check_header,
    header_of,
    open_text,
    require_read_exactly,
    undecodable,
)
from substrait_dsl.spark.sources.text_parser import is_blank, is_open, parse_record

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.algebra.relations import DelimitedText, FileItem, TextReading
    from substrait_dsl.algebra.schema import NamedStruct


def read_text_here(
    format_: DelimitedText, files: Sequence[FileItem], schema: NamedStruct, spark: SparkSession, reading: TextReading
) -> DataFrame:
    """Parse delimited text by the rules of Spark's reader.

    Args:
        format_: how records are written.
        files: what to read: files on this machine, and those that lie in folders themselves.
        schema: the columns, which are the fields in their order.
        spark: the session.
        reading: how text is read.

    Returns:
        A DataFrame with the columns of the schema, and another one if there are none.

    Raises:
        ExecutionError: a file is not there, is no UTF-8, or has a line that is no record.
        UnsupportedError: text is written so that Spark would not take it apart, or lies elsewhere or in folders below.
    """
    import pyarrow as pa

    text_options(format_)
    paths = list(_paths(files))
    require_read_exactly((f"file:{quote(path)}" for path in paths), reading)
    for path in paths:
        if format_.header_lines_to_skip and schema.names and (header := header_of(path, format_, reading)) is not None:
            check_header(header, schema.names, path, format_, reading)
    lines = (each for path in paths for each in _lines(path, format_, reading))
    rows = [parse_record(line, where, format_, len(schema)) for where, line in lines]
    if not schema.names:
        return declared_frame(pa.table({"rows": pa.nulls(len(rows), pa.bool_())}).select([]), schema, spark)
    columns = [_column(fields, format_) for fields in zip(*rows, strict=True)] or [_column((), format_) for _ in schema]
    return declared_frame(pa.table(columns, names=list(schema.names)), schema, spark)


def _column(fields: Sequence[str], format_: DelimitedText) -> pa.Array:
    import pyarrow as pa

    return pa.array((None if field == format_.null_value else field for field in fields), pa.string())


def _paths(files: Sequence[FileItem]) -> Iterator[str]:
    for item in files:
        if (here := local_path(item.uri)) is None:
            raise UnsupportedError(f"delimited text is read on this machine alone here: {item.uri}")
        paths = [path for path in data_files(item) if os.path.exists(path)]
        if not paths and not (item.kind == "folder" and os.path.isdir(here)):
            hint = suggest_path(item)
            if glob(os.path.join(escape(here), "*", "*.csv")):
                pattern = os.path.join(here, "*", "*.csv")
                hint = f'files in the folders below are read by a pattern: {pattern!r}, kind="glob"'
            raise ExecutionError(f"there is nothing to read: {item.uri}", hint=hint)
        if (below := _folder_below(item)) is not None:
            raise UnsupportedError(f"delimited text in folders below is not read here: {below}")
        yield from paths


def _folder_below(item: FileItem) -> str | None:
    """Return the first subfolder that Spark would not skip."""
    folders = (path for path in local_paths(item) if os.path.isdir(path))
    inside = (os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if name[0] not in "._")
    return next(filter(os.path.isdir, inside), None)


def _lines_outside_quotes(file: IO[str], format_: DelimitedText, reading: TextReading) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers; where a quote is open at the end of one, those that follow belong to it."""
    open_lines, start = "", 1
    for number, line in enumerate(file, start=1):
        start = start if open_lines else number
        open_lines += line
        if reading.line_breaks != "in_quotes" or not is_open(open_lines.rstrip("\r\n"), format_):
            yield start, open_lines.rstrip("\r\n")
            open_lines = ""
    if open_lines:
        yield start, open_lines.rstrip("\r\n")


def _lines(path: str, format_: DelimitedText, reading: TextReading) -> Iterator[tuple[str, str]]:
    """Yield the records of a file, each after its name in messages."""
    if path.endswith(COMPRESSED):
        raise UnsupportedError(f"the compressed file {path} is not read here", hint="gzip and bzip2 are")
    left_out = format_.header_lines_to_skip
    try:
        with open_text(path, reading) as file:
            for number, line in _lines_outside_quotes(file, format_, reading):
                if is_blank(line, format_):
                    continue
                if left_out:
                    left_out -= 1
                    continue
                yield f"line {number} of {path}", line
    except UnicodeDecodeError as error:
        raise undecodable(path, reading, error) from error
    except (OSError, EOFError) as error:
        words = system_words(error) if isinstance(error, OSError) else str(error)
        raise ExecutionError(f"cannot read {path}: {words}") from error
