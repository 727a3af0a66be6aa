"""Paths of files: as Spark reads them, as they are here, and which ones Spark passes over."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from glob import glob
from typing import TYPE_CHECKING

from substrait_dsl.errors import UnsupportedError, quoted

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import FileItem

SKIPPED = "Spark skips files whose names begin with _ or ."


def what_of(files: Iterable[FileItem]) -> str:
    """Files as messages name them."""
    return f"a read of {quoted([item.uri for item in files], limit=3)}"


def spark_path(item: FileItem) -> str:
    """The path as Spark reads it: every one is a pattern there, so what is none is escaped."""
    return item.uri if item.kind == "glob" else re.sub(r"([\\*?\[\]{}])", r"\\\1", item.uri)


def local_path(uri: str) -> str | None:
    """The path of a file on this machine, which a URI means as it stands, without escapes; None: it is elsewhere."""
    if "://" in uri and not uri.startswith("file://"):
        return None
    return uri.removeprefix("file://").removeprefix("file:")


def local_paths(item: FileItem) -> list[str]:
    """What there may be on this machine of a path or a pattern."""
    path = local_path(item.uri)
    if path is None:
        return []
    return sorted(glob(path)) if item.kind == "glob" else [path]


def require_read(item: FileItem) -> None:
    """Raise `UnsupportedError` for a folder read as a file, and for a name that Spark passes over and says nothing."""
    if item.kind == "file" and any(map(os.path.isdir, local_paths(item))):
        raise UnsupportedError(f"{item.uri} is a folder, and is read as a file", hint='write kind="folder"')
    name = item.uri.rstrip("/").rpartition("/")[2]
    is_skipped = name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")
    if is_skipped and (item.kind == "file" or any(map(os.path.isfile, local_paths(item)))):
        raise UnsupportedError(f"Spark does not read the file {item.uri}", hint=f"{SKIPPED}: give it another name")
