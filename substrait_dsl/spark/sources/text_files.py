"""Delimited text for an engine that does not parse it: it is read here and sent to the engine.

Specification: https://substrait.io/relations/logical_relations/#local-files.
"""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING

from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.session.causes import system_words
from substrait_dsl.spark.session.failures import BEHIND_QUOTE
from substrait_dsl.spark.sources.arrow_tables import declared_frame
from substrait_dsl.spark.sources.delimited_text import record_rules, text_options
from substrait_dsl.spark.sources.paths import data_files, local_path, local_paths

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.algebra.relations import DelimitedText, FileItem
    from substrait_dsl.algebra.schema import NamedStruct

_OPENERS: Mapping[str, Callable[..., IO[str]]] = {".gz": gzip.open, ".bz2": bz2.open}
"""Openers of compressed files, by the suffixes that Spark recognizes."""
_COMPRESSED = (".deflate", ".lz4", ".snappy", ".zst", ".xz")
_BLANK = "".join(map(chr, range(33)))
"""The characters that Java's ``trim`` removes: a line of nothing else is skipped."""


def read_text_here(
    format_: DelimitedText, files: Sequence[FileItem], schema: NamedStruct, spark: SparkSession
) -> DataFrame:
    """Parse delimited text by the rules of Spark's reader.

    Args:
        format_: how records are written.
        files: what to read: files on this machine, and those that lie in folders themselves.
        schema: the columns, which are the fields in their order.
        spark: the session.

    Returns:
        A DataFrame with the columns of the schema, and another one if there are none.

    Raises:
        ExecutionError: a file is not there, is no UTF-8, or has a line that is no record.
        UnsupportedError: text is written so that Spark would not take it apart, or lies elsewhere or in folders below.
    """
    import pyarrow as pa

    text_options(format_)
    rows = [
        _record(line, where, format_, len(schema)) for path in _paths(files) for where, line in _lines(path, format_)
    ]
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
            raise ExecutionError(f"there is nothing to read: {item.uri}")
        if (below := _folder_below(item)) is not None:
            raise UnsupportedError(f"delimited text in folders below is not read here: {below}")
        yield from paths


def _folder_below(item: FileItem) -> str | None:
    """Return the first subfolder that Spark would not skip."""
    folders = (path for path in local_paths(item) if os.path.isdir(path))
    inside = (os.path.join(folder, name) for folder in folders for name in os.listdir(folder) if name[0] not in "._")
    return next(filter(os.path.isdir, inside), None)


def _lines(path: str, format_: DelimitedText) -> Iterator[tuple[str, str]]:
    """Yield the records of a file, each after its name in messages."""
    if path.endswith(_COMPRESSED):
        raise UnsupportedError(f"the compressed file {path} is not read here", hint="gzip and bzip2 are")
    opener = _OPENERS.get(os.path.splitext(path)[1], open)
    left_out = format_.header_lines_to_skip
    try:
        # The mark of UTF-8 in front of a file is none of its text; a line ends in any of the three ways.
        with opener(path, "rt", encoding="utf-8-sig", newline=None) as file:
            for number, line in enumerate(file, start=1):
                line = line.removesuffix("\n")
                if not line.strip(_BLANK):
                    continue
                if left_out:
                    left_out -= 1
                    continue
                yield f"line {number} of {path}", line
    except UnicodeDecodeError as error:
        raise ExecutionError(f"delimited text holds bytes that are not UTF-8, in {path}: {error.reason}") from error
    except (OSError, EOFError) as error:
        words = system_words(error) if isinstance(error, OSError) else str(error)
        raise ExecutionError(f"cannot read {path}: {words}") from error


def _record(line: str, where: str, format_: DelimitedText, many: int) -> list[str]:
    """Parse the fields of a record; their number must be that of the declared columns, unless none is declared."""
    fields: list[str] = []
    position: int | None = 0
    while position is not None:
        if format_.quote and line.startswith(format_.quote, position):
            field, end = _parse_quoted(line, position, where, format_)
        else:
            end = line.find(format_.field_delimiter, position)
            field, end = (line[position:], len(line)) if end < 0 else (line[position:end], end)
        fields.append(field)
        position = end + len(format_.field_delimiter) if line.startswith(format_.field_delimiter, end) else None
    if many and len(fields) != many:
        raise _no_record(f"it has {len(fields)} fields for {many} columns", where, format_)
    if 0 < format_.max_line_size < max(map(len, fields)):
        raise _no_record("it has a longer field", where, format_)
    return fields


def _parse_quoted(line: str, start: int, where: str, format_: DelimitedText) -> tuple[str, int]:
    """Parse a quoted field; return it and its end."""
    characters: list[str] = []
    position = start + 1
    while position < len(line):
        character, then = line[position], line[position + 1 : position + 2]
        if character == format_.escape and then and then in (format_.quote, format_.escape):
            characters.append(then)
            position += 2
        elif character == format_.quote:
            end = position + 1
            if end < len(line) and not line.startswith(format_.field_delimiter, end):
                raise _no_record(BEHIND_QUOTE, where, format_)
            return "".join(characters), end
        elif character == format_.escape:
            raise _no_record(f"{format_.escape} stands before what needs none", where, format_)
        else:
            characters.append(character)
            position += 1
    raise _no_record("a quote is still open at its end", where, format_)


def _no_record(why: str, where: str, format_: DelimitedText) -> ExecutionError:
    return ExecutionError(f"{where} is no record of delimited text: {why}", hint=record_rules(format_))
