"""Partition columns: the names of folders, as in ``day=2024-05-01``.

Spark infers their types from all the names. Where the declared type differs, the names are read as strings and cast: so
a column does not depend on the values that happen to be there.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from substrait_dsl.errors import SchemaError, UnsupportedError
from substrait_dsl.spark.catalog.table_names import quoted_name
from substrait_dsl.spark.expressions.types import type_to_spark
from substrait_dsl.spark.session.connect import functions_of
from substrait_dsl.spark.session.engines import current_engine
from substrait_dsl.spark.sources import partition_values
from substrait_dsl.spark.sources.declared_columns import actual_name, fits
from substrait_dsl.spark.sources.paths import local_path, local_paths, path_here, spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from substrait_dsl.algebra.relations import FileItem
    from substrait_dsl.algebra.schema import NamedStruct

FOLDER = re.compile(r"([^/=]+)=([^/]*)/")
"""A partition directory: the column and the value."""

BYTE = re.compile("%[89a-f][0-9a-f]", re.IGNORECASE)
"""A percent-encoded byte of a multi-byte character, which Spark would take for a character."""

READ_SEPARATELY = "read such files apart, and put them together with union_all"


def relative_path(path: str, roots: Iterable[str]) -> str:
    """Return the part of a path below a folder that is read, where partition directories are."""
    return next((path.removeprefix(root) for root in roots if path.startswith(f"{root}/")), "")


def with_declared_folders(
    frame: DataFrame, files: Sequence[FileItem], schema: NamedStruct, load: Callable[[StructType], DataFrame]
) -> DataFrame:
    """Give the partition columns of files their declared types.

    Args:
        frame: the files, with the types that Spark has found.
        files: what was read.
        schema: the declared columns.
        load: reads the files with other columns.
    """
    from pyspark.sql.types import StringType, StructField, StructType

    if not current_engine().has_null_folders and any(partition_values.NULL_FOLDER in uri for uri in frame.inputFiles()):
        frame, load_texts = _with_nulls(frame, files), load

        def load(columns: StructType) -> DataFrame:
            return _with_nulls(load_texts(columns), files)

    casts = _casts(frame, schema)
    folders = _names(frame, files) if casts else ()
    casts = {name: text for name, text in casts.items() if name.lower() in folders}
    if not casts:
        return frame
    functions = functions_of(frame.sparkSession)
    texts = [StructField(field.name, StringType()) if field.name in casts else field for field in frame.schema]
    columns = (
        (functions.expr(casts[name]) if name in casts else functions.col(quoted_name([name]))).alias(name)
        for name in dict.fromkeys(frame.schema.names)
    )
    return load(StructType(texts)).select(*columns)


def _casts(frame: DataFrame, schema: NamedStruct) -> dict[str, str]:
    """Write the casts of partition values for columns that do not have their declared types, by the columns' names."""
    casts: dict[str, str] = {}
    types = {field.name: field.dataType for field in frame.schema}
    for field in schema:
        name = actual_name(field.name, types)
        if name is not None and not fits(types[name], type_to_spark(field.type), field.type):
            with suppress(UnsupportedError):  # `check_columns` reports that the type is another one
                casts[name] = partition_values.read(name, field.type)
    return casts


def _with_nulls(frame: DataFrame, files: Sequence[FileItem]) -> DataFrame:
    """Replace the name of the default partition by NULL."""
    functions, folders = functions_of(frame.sparkSession), _names(frame, files)
    columns = [functions.col(quoted_name([name])) for name in frame.columns]
    null = functions.lit(partition_values.NULL_FOLDER)
    return frame.select(
        *(
            functions.nullif(column, null).alias(name) if name.lower() in folders else column
            for name, column in zip(frame.columns, columns, strict=True)
        )
    )


def _names(frame: DataFrame, files: Sequence[FileItem]) -> set[str]:
    """Return the names of the partition columns, in lower case."""
    roots = [_path(item.uri).rstrip("/") for item in files]
    paths = (unquote(urlsplit(uri).path) for uri in frame.inputFiles())
    return {unquote(name).lower() for path in paths for name, _ in FOLDER.findall(relative_path(path, roots))}


def _path(uri: str) -> str:
    """Return the path of a URI, without scheme and authority."""
    here = local_path(uri)
    return re.sub(r"^[^:/]+://[^/]*", "", unquote(uri)) if here is None else here


_WILD = re.compile(r"[*?{\[\\]")
"""A wildcard in a path."""

LOG = "_spark_metadata"
"""The folder in which Spark's streams list the files that belong to the folder around it."""


def is_list_there(files: Sequence[FileItem]) -> bool:
    """Whether such a list is on this machine where Spark looks for one: in a single folder.

    Spark takes a pattern for the name of a folder here.
    """
    if len(files) != 1:
        return False
    places = (local_path(files[0].uri), path_here(spark_path(files[0])))
    return any(place is not None and os.path.exists(os.path.join(place, LOG)) for place in places)


def require_listed(frame: DataFrame, files: Sequence[FileItem]) -> None:
    """Raise `UnsupportedError` if Spark reads a file outside of the one folder that is read.

    The list that a stream has left in the folder, or that anyone has put there, may name files elsewhere, and Spark
    reads those instead.
    """
    if len(files) != 1:
        return  # Spark looks for such a list in a single folder alone
    (item,) = files
    here = local_path(item.uri)
    is_pattern = item.kind == "glob" and _WILD.search(spark_path(item)) is not None
    if is_list_there(files):
        here = os.path.abspath(here or "")
    elif is_pattern or (here is not None and os.path.exists(here)):
        return
    elif here is not None and not here.startswith("/"):
        return  # where it begins, a server of Spark Connect alone knows
    authority, root = ("", here) if here is not None else urlsplit(unquote(item.uri))[1:3]
    for uri in frame.inputFiles():
        found = urlsplit(uri)
        is_inside = f"{unquote(found.path)}/".startswith(f"{posixpath.normpath(root).rstrip('/')}/")
        if not is_inside or authority not in ("", found.netloc):
            raise UnsupportedError(
                f"the folder {item.uri} has a list of files, {LOG}, that names {unquote(uri)}, which is not in it: "
                "what is in a folder does not choose what else is read",
                hint=f"read the files with a pattern, {item.uri.rstrip('/')}/*, which the list has no part in",
            )


def require_read(frame: DataFrame, files: Sequence[FileItem], names: Collection[str]) -> None:
    """Raise `SchemaError` for files on this machine that Spark would skip or misread.

    Args:
        frame: the files as Spark has read them.
        files: what was read.
        names: the columns that folders are named after and that are declared.
    """
    roots = [os.path.abspath(path) for item in files for path in local_paths(item) if os.path.isdir(path)]
    if not roots:
        return
    read = [unquote(urlsplit(uri).path) for uri in frame.inputFiles()]
    for path in read:
        for name, value in FOLDER.findall(relative_path(path, roots)):
            if unquote(name) in names and BYTE.search(value):
                raise SchemaError(f"the file {path}: {describe_escaped_bytes(name, value)}")
    require_all_read(roots, read)


def describe_escaped_bytes(name: str, value: str) -> str:
    """Describe the mistake of a partition value that another writer has escaped byte by byte."""
    return (
        f'the value of its column "{name}", {value}, is percent-encoded byte by byte, and Spark takes each byte for a '
        "character"
    )


def require_all_read(roots: Collection[str], read: Collection[str]) -> None:
    """Raise `SchemaError` for a file that Spark skips because it is beside partition directories.

    And for one in a deeper folder that is no partition directory, which Spark reads.
    """
    for path in read:
        if not all("=" in folder for folder in relative_path(path, roots).split("/")[1:-1]):
            raise SchemaError(
                f"Spark reads the file {path}, too, whose folder is not named after a column, as others are",
                hint=READ_SEPARATELY,
            )
    for root in roots:
        if not any(FOLDER.search(path.removeprefix(root)) for path in read if path.startswith(f"{root}/")):
            continue
        for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
            if entry.is_file() and not entry.name.startswith(("_", ".")):
                raise SchemaError(
                    f"Spark does not read the file {entry.path}, it lies beside folders that are named after columns",
                    hint=READ_SEPARATELY,
                )
