"""File listings for Sail: each file is listed here.

Sail ignores missing files, and resolves a pattern recursively.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from substrait_dsl.algebra.relations import FileFormat, Parquet
from substrait_dsl.errors import ExecutionError, SchemaError, SubstraitDslError, UnsupportedError
from substrait_dsl.spark.catalog.table_names import quoted_name
from substrait_dsl.spark.sources.file_column_types import THROUGH_ARROW, parts
from substrait_dsl.spark.sources.footers import columns_of
from substrait_dsl.spark.sources.partition_columns import READ_SEPARATELY
from substrait_dsl.spark.sources.paths import SKIPPED, files_inside, local_path, local_paths, suggest_path, what_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from substrait_dsl.algebra.relations import FileItem

_SPARK = 'local_session(engine="spark") is a session of Spark'


def listed_files(format_: FileFormat, files: Sequence[FileItem]) -> list[str]:
    """Return the URIs of files for Sail.

    Every character that could make a pattern of one is percent-encoded.

    Raises:
        ExecutionError: a file is not there, or a folder or a pattern has none.
        UnsupportedError: Sail reads no such files, or it cannot be told which it would read.
    """
    if not isinstance(format_, Parquet):
        raise UnsupportedError(
            f"Sail reads no ORC, in {what_of(files)}",
            hint=f'read_named("name", schema) with tables={{"name": frame}} has the rows of other files; {_SPARK}',
        )
    return [uri for item in files for uri in _uris(item, is_alone=len(files) == 1)]


def _uris(item: FileItem, *, is_alone: bool) -> list[str]:
    if "://" in item.uri and local_path(item.uri) is None:
        if item.kind == "glob" or not is_alone:
            raise UnsupportedError(
                f"Sail may pass over files elsewhere that are not there, and read others by a pattern: {item.uri}",
                hint=f"read them one by one, and put them together with union_all; {_SPARK}",
            )
        return [item.uri]
    paths = [path for path in local_paths(item) if os.path.exists(path)]
    if not paths:
        raise ExecutionError(f"there is nothing to read: {item.uri}", hint=suggest_path(item))
    folders = [path for path in paths if os.path.isdir(path)]
    if item.kind == "glob" and folders:
        raise UnsupportedError(
            f"Sail reads no folders by a pattern: {item.uri} finds {folders[0]}", hint="read the folders apart"
        )
    if folders and not _has_files(folders[0]):
        raise ExecutionError(f"{what_of([item])} finds no files with columns", hint=SKIPPED)
    return [Path(os.path.abspath(path)).as_uri() for path in paths]


def with_types_of_spark(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Cast columns whose types Sail and Spark read differently, as far as files on this machine tell.

    Sail takes unsigned integers for signed ones of as many bits, and times in 96 bits for times without a zone.

    Raises `UnsupportedError` for a column with such values inside.
    """
    wanted = {name.lower() for name in names}
    first = urlsplit(next(iter(frame.inputFiles()), ""))
    there = columns_of(Parquet(), unquote(first.path)) if first.scheme == "file" else {}
    casts: dict[str, str] = {}
    for field in frame.schema:
        type_ = there.get(field.name) if field.name.lower() in wanted else None
        if type_ is None:
            continue
        if (target := _type_of_spark(type_)) is not None:
            casts[field.name] = target
        elif any(_type_of_spark(part) is not None for part in parts(type_)):
            raise UnsupportedError(
                "Sail takes unsigned integers for signed ones, and times in 96 bits for times without a zone, and "
                f'column "{field.name}" is {type_}, in {first.path}',
                hint=THROUGH_ARROW,
            )
    if not casts:
        return frame
    columns = (quoted_name([name]) for name in frame.columns)
    return frame.selectExpr(
        *(
            f"CAST({column} AS {casts[name]}) AS {column}" if name in casts else column
            for name, column in zip(frame.columns, columns, strict=True)
        )
    )


def _type_of_spark(type_: pa.DataType) -> str | None:
    """Return the type as which Spark reads a type of a file, if Sail reads another one."""
    import pyarrow as pa

    if pa.types.is_unsigned_integer(type_):
        return _UNSIGNED[type_.bit_width]
    # Other nanoseconds Sail does not read at all.
    return "TIMESTAMP" if pa.types.is_timestamp(type_) and type_.unit == "ns" else None


_UNSIGNED = {8: "SMALLINT", 16: "INT", 32: "BIGINT", 64: "DECIMAL(20,0)"}
"""The types as which Spark reads unsigned integers, by their bits."""


_UNREAD = re.compile(r"cast ([A-Z].*) to Spark data type")
_DIFFERENT = re.compile(r"Fail to merge schema field '(.*)' because the from data_type = (.*) does not equal (.*)")
_BROKEN = re.compile(r"Parquet error: (.*)", re.DOTALL)


def file_error(what: str, words: str) -> SubstraitDslError | None:
    """Explain a message of Sail about files."""
    if unread := _UNREAD.search(words):
        return UnsupportedError(
            f"{what} finds a column, declared or not, of the type {unread[1]}, which Sail does not read",
            hint=THROUGH_ARROW,
        )
    if different := _DIFFERENT.search(words):
        name, one, other = different.groups()
        return SchemaError(
            f'{what} finds column "{name}" of the type {one}, and in another file of {other}', hint=READ_SEPARATELY
        )
    if broken := _BROKEN.search(words):
        return ExecutionError(f"{what} finds a broken file: {broken[1]}")
    return None


def _has_files(folder: str) -> bool:
    return any(any(files_inside([inside])) for inside, _, _ in os.walk(folder))
