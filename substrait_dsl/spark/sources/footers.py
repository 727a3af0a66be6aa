"""The columns in the footers of Parquet and ORC files, if the files are on this machine.

Spark takes the columns of one file for those of all, and reads NULL for columns that other files lack. In a Parquet
file it prefers a key that it wrote itself to the columns: other writers copy that key when they rewrite such a file,
whatever they change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import attrs

from substrait_dsl.algebra.relations import FileFormat, FileItem, Orc, Parquet
from substrait_dsl.errors import SchemaError, quote, suggestion
from substrait_dsl.spark.sources.file_column_types import is_read_as, require_values
from substrait_dsl.spark.sources.partition_columns import (
    BYTE,
    FOLDER,
    READ_SEPARATELY,
    describe_escaped_bytes,
    relative_path,
    require_all_read,
)
from substrait_dsl.spark.sources.partition_values import require_utc
from substrait_dsl.spark.sources.paths import local_paths
from substrait_dsl.spark.sources.user_types import KEY

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from substrait_dsl.algebra.schema import NamedStruct


def _parquet(path: str) -> pa.Schema:
    from pyarrow import parquet

    return parquet.read_schema(path)


def _names_in_key(path: str) -> list[str] | None:
    """Return the columns in the key of a Parquet file; None: it has no key that Spark understands."""
    import pyarrow as pa

    try:
        key = (_parquet(path).metadata or {}).get(KEY.encode())
        return None if key is None else [field["name"] for field in json.loads(key)["fields"]]
    except (OSError, pa.ArrowException, ValueError, LookupError, TypeError, RecursionError):
        return None  # Spark reports the mistake


def _orc(path: str) -> pa.Schema:
    from pyarrow import orc

    return orc.ORCFile(path).schema


_SCHEMAS: Mapping[type[FileFormat], Callable[[str], Iterable[pa.Field]]] = {Parquet: _parquet, Orc: _orc}


def columns_of(format_: FileFormat, path: str) -> dict[str, pa.DataType]:
    """Return the columns of a file and their types; none if they are unknown."""
    import pyarrow as pa

    try:
        return {field.name: field.type for field in _SCHEMAS[type(format_)](path)}
    except (OSError, pa.ArrowException):
        return {}  # Spark reports the mistake


def _as_spark_finds_them(columns: dict[str, pa.DataType], frame: DataFrame) -> dict[str, pa.DataType]:
    """Return the columns of a file by the names by which Spark resolves them.

    Hive once wrote positions as names into ORC files, which Spark resolves by position.
    """
    return dict(zip(frame.columns, columns.values(), strict=False)) if _are_positions(columns) else columns


def _are_positions(names: Iterable[str]) -> bool:
    return all(name.startswith("_col") for name in names)


def _require_same_positions(path: str, columns: Iterable[str], frame: DataFrame) -> None:
    """Raise `SchemaError` for an ORC file that Spark resolves by position, though its columns have names."""
    names = list(columns)
    if _are_positions(names) and _are_positions(frame.columns) and names != frame.columns[: len(names)]:
        raise SchemaError(
            f"the file {path} has the columns {quote(names)}, and another one {quote(frame.columns)}: Spark reads "
            "columns of ORC by position where all are called _col and so on",
            hint=READ_SEPARATELY,
        )


_DECLARED = "declare columns that the files have"
_READ_FOLDER = (
    'read the folder around those that are named after columns, with kind="folder", and filter by these columns'
)
_WITHOUT_METADATA = "write the file anew without that key, with pyarrow: table.replace_schema_metadata(None)"


@attrs.frozen
class _Expected:
    """The declared columns of files, and the types as which Spark reads them."""

    format_: FileFormat
    schema: NamedStruct
    types: Mapping[str, DataType]
    """The type of each column that Spark sees, by its normalized name."""
    is_case_sensitive: bool

    @classmethod
    def of(cls, format_: FileFormat, schema: NamedStruct, frame: DataFrame) -> _Expected:
        is_case_sensitive = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
        expected = cls(format_, schema, {}, is_case_sensitive)
        return attrs.evolve(expected, types={expected.same(field.name): field.dataType for field in frame.schema})

    def same(self, name: str) -> str:
        """Normalizes names that Spark takes for equal."""
        return name if self.is_case_sensitive else name.lower()

    @property
    def names(self) -> set[str]:
        """The declared names."""
        return {self.same(name) for name in self.schema.names}


@attrs.frozen
class _File:
    """The columns of one file, and its partition columns."""

    path: str
    columns: Mapping[str, pa.DataType]
    folders: Sequence[tuple[str, str]]
    """The names and values of its partition directories."""
    expected: _Expected

    @property
    def own(self) -> dict[str, str]:
        """The names of its columns, by their normalized names."""
        return {self.expected.same(name): name for name in self.columns}

    @property
    def folder_names(self) -> set[str]:
        """The names of its partition columns."""
        return {self.expected.same(unquote(name)) for name, _ in self.folders}

    def missing(self) -> list[str]:
        """The declared columns that it lacks."""
        there = self.folder_names | self.own.keys()
        return [name for name in self.expected.schema.names if self.expected.same(name) not in there]

    def mistakes(self, found_in: str) -> list[str]:
        """Yield its mistakes; `found_in` names the file whose types Spark uses for its columns."""
        missing = self.missing()
        lacks = f"it has no column {quote(missing)}; its columns are {quote(self.columns)}"
        return [
            *([lacks] if self.columns and missing else []),
            *self._find_other_types(found_in),
            *self._hidden_by_folders(),
            *self._not_text(),
            *self._not_in_key(),
        ]

    def _find_other_types(self, found_in: str) -> Iterator[str]:
        for key in self.own:
            # One that is not in the file whose schema Spark uses is missing there, or in its key.
            if key in self.expected.types and key in self.expected.names - self.folder_names:
                name, read = self.own[key], self.expected.types[key]
                if not is_read_as(self.columns[name], read, self.expected.same):
                    yield (
                        f'its column "{name}" is {self.columns[name]}, which Spark reads as {read.simpleString()}, '
                        f"{found_in}"
                    )

    def _hidden_by_folders(self) -> Iterator[str]:
        for key in self.own.keys() & self.folder_names & self.expected.names:
            yield f'its column "{self.own[key]}" stands in the name of a folder, too, which Spark takes instead'

    def _not_text(self) -> Iterator[str]:
        for name, value in self.folders:
            if self.expected.same(unquote(name)) in self.expected.names and BYTE.search(value):
                yield describe_escaped_bytes(name, value)

    def _not_in_key(self) -> Iterator[str]:
        """The columns of a Parquet file that are missing in the key from which Spark reads its schema."""
        unread = [name for key, name in self.own.items() if key in self.expected.names - self.expected.types.keys()]
        names = _names_in_key(self.path) if unread and isinstance(self.expected.format_, Parquet) else None
        if names is not None:
            known = set(map(self.expected.same, names))
            for name in unread:
                if self.expected.same(name) not in known:
                    yield f'Spark does not see its column "{name}", which its key {KEY} lacks'

    def require_utc_folders(self, spark: SparkSession) -> None:
        """Raise `UnsupportedError` for partition columns that are timestamps, unless the session's time zone is UTC."""
        for name in self.folder_names & self.expected.names:
            if name in self.expected.types and self.expected.types[name].simpleString() == "timestamp":
                require_utc(
                    f'the file {self.path} lies in a folder that is named after column "{name}"', "reads", spark
                )


def check_each(format_: FileFormat, files: Sequence[FileItem], frame: DataFrame, schema: NamedStruct) -> None:
    """Raise `SchemaError` if a file lacks a declared column, has it with another type, or is not read.

    Raises `UnsupportedError` for partition columns that are timestamps, unless the session's time zone is UTC. Checks
    files on this machine. Partition columns, as in ``day=2024-05-01``, count as columns.
    """
    here = [path for item in files for path in local_paths(item) if os.path.exists(path)]
    if not here:
        return
    expected = _Expected.of(format_, schema, frame)
    is_one = len(files) == len(here) == 1 and os.path.isfile(here[0])
    if is_one and (not isinstance(format_, Parquet) or _names_in_key(here[0]) is None):
        if isinstance(format_, Parquet):
            require_values({here[0]: columns_of(format_, here[0])}, expected.types, schema, expected.same)
        return  # Spark has checked its columns
    roots = [os.path.abspath(path) for path in here if os.path.isdir(path)]
    found = _columns_of_all(format_, frame)
    require_values(found, expected.types, schema, expected.same)
    found_in = "as in another file" if len(found) > 1 else f"as its key {KEY} says"
    for path, columns in found.items():
        file = _File(path, columns, FOLDER.findall(relative_path(path, roots)), expected)
        file.require_utc_folders(frame.sparkSession)
        if mistakes := file.mistakes(found_in):
            raise SchemaError(
                f"the file {path} does not fit the declared schema: {'; '.join(mistakes)}",
                hint=_way_out(file, mistakes, found),
            )
    require_all_read(roots, found)


def _columns_of_all(format_: FileFormat, frame: DataFrame) -> dict[str, dict[str, pa.DataType]]:
    """Return the columns of each file that Spark reads, by path; none for files that are not on this machine."""
    found: dict[str, dict[str, pa.DataType]] = {}
    for parts in map(urlsplit, frame.inputFiles()):
        path = unquote(parts.path)
        columns = columns_of(format_, path) if parts.scheme == "file" else {}
        if isinstance(format_, Orc):
            _require_same_positions(path, columns, frame)
            columns = _as_spark_finds_them(columns, frame)
        found[path] = columns
    return found


def _way_out(file: _File, mistakes: Sequence[str], found: Mapping[str, Mapping[str, pa.DataType]]) -> str:
    """Return the hint for a file that does not fit."""
    same, missing = file.expected.same, file.missing()
    others = {same(name) for columns in found.values() for name in columns}
    is_nowhere = len(mistakes) == 1 and bool(missing) and not others.intersection(map(same, missing))
    if is_nowhere and same(missing[0]) in {same(unquote(name)) for name, _ in FOLDER.findall(file.path)}:
        return _READ_FOLDER
    if missing and (alike := suggestion(missing[0], file.columns)):
        return alike
    return _DECLARED if is_nowhere else READ_SEPARATELY if len(found) > 1 else _WITHOUT_METADATA
