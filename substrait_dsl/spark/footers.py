"""The columns that files of Parquet and ORC say they have, as far as the files are on this machine.

Spark takes the columns of one file for those of all, and what another one lacks for NULL.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from substrait_dsl.algebra.relations import FileFormat, FileItem, Orc, Parquet
from substrait_dsl.errors import SchemaError, quoted, suggestion
from substrait_dsl.spark.paths import local_paths

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from substrait_dsl.algebra.schema import NamedStruct


def _parquet(path: str) -> list[str]:
    from pyarrow import parquet

    names: list[str] = parquet.read_schema(path).names
    return names


def _orc(path: str) -> list[str]:
    from pyarrow import orc

    names: list[str] = orc.ORCFile(path).schema.names
    # Hive once wrote positions for names, and these are what Spark reads such files by.
    return [] if all(name.startswith("_col") for name in names) else names


_NAMES: Mapping[type[FileFormat], Callable[[str], list[str]]] = {Parquet: _parquet, Orc: _orc}


def columns_of(kind: FileFormat, path: str) -> list[str]:
    """The names of the columns of a file; none, if that cannot be told."""
    import pyarrow as pa

    try:
        return _NAMES[type(kind)](path)
    except (OSError, pa.ArrowException):
        return []  # what is wrong with it, Spark tells


def check_each(kind: FileFormat, files: Sequence[FileItem], frame: DataFrame, schema: NamedStruct) -> None:
    """Raise `SchemaError` if one of several files lacks a declared column.

    Looks at files on this machine. What stands in the names of folders, as in ``day=2024-05-01``, is a column, too.
    """
    here = [path for item in files for path in local_paths(item) if os.path.exists(path)]
    if not here or (len(files) == len(here) == 1 and os.path.isfile(here[0])):
        return  # there is nothing to look at, or only what Spark has looked at
    is_case_sensitive = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"

    def same(name: str) -> str:
        return name if is_case_sensitive else name.lower()

    for uri in frame.inputFiles():
        parts = urlsplit(uri)
        path = unquote(parts.path)
        columns = columns_of(kind, path) if parts.scheme == "file" else []
        there = {same(name) for name in (*columns, *map(unquote, re.findall(r"([^/=]+)=[^/]*/", path)))}
        missing = [name for name in schema.names if same(name) not in there]
        if columns and missing:
            raise SchemaError(
                f"the file {path} does not fit the declared schema: it has no column {quoted(missing)}; "
                f"its columns are {quoted(columns)}",
                hint=suggestion(missing[0], columns) or "read such files apart, and put them together with union_all",
            )
