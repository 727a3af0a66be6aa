"""Which files Sail reads: each is listed here.

Sail passes over files that are not there, and by a pattern it reads what lies in folders below, too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from substrait_dsl.algebra.relations import FileFormat, Parquet
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.paths import SKIPPED, files_inside, local_path, local_paths, what_of

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import FileItem

_SPARK = 'local_session(engine="spark") is a session of Spark'


def listed_files(kind: FileFormat, files: Sequence[FileItem]) -> list[str]:
    """The URIs of files as Sail is to read them.

    Every character that could make a pattern of one is percent-encoded.

    Raises:
        ExecutionError: a file is not there, or a folder or a pattern has none.
        UnsupportedError: Sail reads no such files, or it cannot be told which it would read.
    """
    if not isinstance(kind, Parquet):
        raise UnsupportedError(
            f"Sail reads no ORC, in {what_of(files)}",
            hint=f'tables={{"name": frame}} gives the rows of other files; {_SPARK}',
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
        raise ExecutionError(f"there is nothing to read: {item.uri}")
    folders = [path for path in paths if os.path.isdir(path)]
    if item.kind == "glob" and folders:
        raise UnsupportedError(
            f"Sail reads no folders by a pattern: {item.uri} finds {folders[0]}", hint="read the folders apart"
        )
    if folders and not _has_files(folders[0]):
        raise ExecutionError(f"{what_of([item])} finds no files with columns", hint=SKIPPED)
    return [Path(os.path.abspath(path)).as_uri() for path in paths]


def _has_files(folder: str) -> bool:
    return any(any(files_inside([inside])) for inside, _, _ in os.walk(folder))
