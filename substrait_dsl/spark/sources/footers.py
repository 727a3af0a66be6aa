"""The columns that files of Parquet and ORC say they have, as far as the files are on this machine.

Spark takes the columns of one file for those of all, and what another one lacks for NULL. In a Parquet file it goes by
a key that it wrote itself, if there is one, and not by the columns: other writers keep that key when they write such a
file anew, whatever they change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from substrait_dsl.algebra.relations import FileFormat, FileItem, Orc, Parquet
from substrait_dsl.errors import SchemaError, quoted, suggestion
from substrait_dsl.spark.sources.file_types import is_read_as, require_values
from substrait_dsl.spark.sources.partition_columns import APART, BYTE, FOLDER, as_bytes, below, require_all_read
from substrait_dsl.spark.sources.partition_values import require_utc
from substrait_dsl.spark.sources.paths import local_paths
from substrait_dsl.spark.sources.user_types import KEY

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from substrait_dsl.algebra.schema import NamedStruct


def _parquet(path: str) -> pa.Schema:
    from pyarrow import parquet

    return parquet.read_schema(path)


def _names_in_key(path: str) -> list[str] | None:
    """The columns that the key of a Parquet file names; None: it has no such key, or none that Spark understands."""
    import pyarrow as pa

    try:
        kept = (_parquet(path).metadata or {}).get(KEY.encode())
        return None if kept is None else [field["name"] for field in json.loads(kept)["fields"]]
    except (OSError, pa.ArrowException, ValueError, LookupError, TypeError, RecursionError):
        return None  # what is wrong with it, Spark tells


def _orc(path: str) -> pa.Schema:
    from pyarrow import orc

    return orc.ORCFile(path).schema


_SCHEMAS: Mapping[type[FileFormat], Callable[[str], Iterable[pa.Field]]] = {Parquet: _parquet, Orc: _orc}


def columns_of(kind: FileFormat, path: str) -> dict[str, pa.DataType]:
    """The columns of a file and their types; none, if that cannot be told."""
    import pyarrow as pa

    try:
        return {field.name: field.type for field in _SCHEMAS[type(kind)](path)}
    except (OSError, pa.ArrowException):
        return {}  # what is wrong with it, Spark tells


def _as_spark_finds_them(columns: dict[str, pa.DataType], frame: DataFrame) -> dict[str, pa.DataType]:
    """The columns of a file by the names that Spark finds them by.

    Hive once wrote positions for names into files of ORC, which Spark reads such a file by.
    """
    return dict(zip(frame.columns, columns.values(), strict=False)) if _are_positions(columns) else columns


def _are_positions(names: Iterable[str]) -> bool:
    return all(name.startswith("_col") for name in names)


def _require_same_positions(path: str, columns: Iterable[str], frame: DataFrame) -> None:
    """Raise `SchemaError` for a file of ORC that Spark reads by position, though its columns have names."""
    names = list(columns)
    if _are_positions(names) and _are_positions(frame.columns) and names != frame.columns[: len(names)]:
        raise SchemaError(
            f"the file {path} has the columns {quoted(names)}, and another one {quoted(frame.columns)}: Spark reads "
            "columns of ORC by position where all are called _col and so on",
            hint=APART,
        )


_DECLARED = "declare columns that the files have"
_WHOLE = 'read the folder around those that are named after columns, with kind="folder", and filter by these columns'
_ANEW = "write the file anew without that key, with pyarrow: table.replace_schema_metadata(None)"


def check_each(kind: FileFormat, files: Sequence[FileItem], frame: DataFrame, schema: NamedStruct) -> None:
    """Raise `SchemaError` if a file lacks a declared column, has it with another type, or is not read.

    Raises `UnsupportedError` for folders that are named after points in time, in a session with another zone than UTC.
    Looks at files on this machine. What stands in the names of folders, as in ``day=2024-05-01``, is a column, too.
    """
    here = [path for item in files for path in local_paths(item) if os.path.exists(path)]
    if not here:
        return
    spark = frame.sparkSession
    is_case_sensitive = spark.conf.get("spark.sql.caseSensitive") == "true"

    def same(name: str) -> str:
        return name if is_case_sensitive else name.lower()

    declared = {same(name) for name in schema.names}
    wanted = {same(field.name): field.dataType for field in frame.schema}
    is_one = len(files) == len(here) == 1 and os.path.isfile(here[0])
    if is_one and (not isinstance(kind, Parquet) or _names_in_key(here[0]) is None):
        if isinstance(kind, Parquet):
            require_values({here[0]: columns_of(kind, here[0])}, wanted, schema, same)
        return  # Spark has looked at its columns
    roots = [os.path.abspath(path) for path in here if os.path.isdir(path)]
    found: dict[str, dict[str, pa.DataType]] = {}
    for parts in map(urlsplit, frame.inputFiles()):
        path = unquote(parts.path)
        columns = columns_of(kind, path) if parts.scheme == "file" else {}
        if isinstance(kind, Orc):
            _require_same_positions(path, columns, frame)
        found[path] = _as_spark_finds_them(columns, frame) if isinstance(kind, Orc) else columns
    require_values(found, wanted, schema, same)
    found_in = "as in another file" if len(found) > 1 else f"as its key {KEY} says"
    for path, columns in found.items():
        named = FOLDER.findall(below(path, roots))
        folders = {same(unquote(name)) for name, _ in named}
        for name in folders & declared:
            if name in wanted and wanted[name].simpleString() == "timestamp":
                require_utc(f'the file {path} lies in a folder that is named after column "{name}"', "reads", spark)
        there = {same(name): name for name in columns}
        missing = [name for name in schema.names if same(name) not in folders | there.keys()]
        # One that lacks in the file that Spark has looked at is missing there, or not in the key.
        compared = [(there[key], wanted[key]) for key in there if key in wanted and key in declared - folders]
        wrong = [
            f'its column "{name}" is {columns[name]}, which Spark reads as {kind.simpleString()}, {found_in}'
            for name, kind in compared
            if not is_read_as(columns[name], kind, same)
        ]
        wrong += [
            f'its column "{there[key]}" stands in the name of a folder, too, which Spark takes instead'
            for key in there.keys() & folders & declared
        ]
        wrong += [
            as_bytes(name, value) for name, value in named if same(unquote(name)) in declared and BYTE.search(value)
        ]
        unread = [there[key] for key in there if key in declared and key not in wanted]
        if unread and isinstance(kind, Parquet) and (names := _names_in_key(path)) is not None:
            kept = set(map(same, names))
            wrong += [
                f'Spark does not see its column "{name}", which its key {KEY} lacks'
                for name in unread
                if same(name) not in kept
            ]
        if columns and missing:
            wrong.insert(0, f"it has no column {quoted(missing)}; its columns are {quoted(columns)}")
        if wrong:
            others = {same(name) for columns in found.values() for name in columns}
            is_nowhere = len(wrong) == 1 and bool(missing) and not others.intersection(map(same, missing))
            alike = suggestion(missing[0], columns) if missing else None
            if is_nowhere and same(missing[0]) in {same(unquote(name)) for name, _ in FOLDER.findall(path)}:
                alike = _WHOLE
            otherwise = _DECLARED if is_nowhere else APART if len(found) > 1 else _ANEW
            raise SchemaError(
                f"the file {path} does not fit the declared schema: {'; '.join(wrong)}", hint=alike or otherwise
            )
    require_all_read(roots, found)
