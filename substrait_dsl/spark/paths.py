"""Paths of files: as Spark reads them, as they are here, and which ones Spark passes over."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from glob import escape, glob
from typing import TYPE_CHECKING
from urllib.parse import unquote

import attrs

from substrait_dsl.errors import UnsupportedError, quoted

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import FileItem

SKIPPED = "Spark skips files whose names begin with _ or ."


def what_of(files: Iterable[FileItem]) -> str:
    """Files as messages name them."""
    return f"a read of {quoted([item.uri for item in files], limit=3)}"


def spark_path(item: FileItem) -> str:
    """The path as Spark reads it: every one is a pattern there, so what is none is escaped."""
    return _decoded(item, lambda text: re.sub(r"([\\*?\[\]{}])", r"\\\1", text))


_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def _decoded(item: FileItem, escape: Callable[[str], str]) -> str:
    """The path of a URI; in a pattern, characters that are percent-encoded stand for themselves."""
    if item.kind != "glob":
        return escape(unquote(item.uri))
    return _ENCODED.sub(lambda found: escape(unquote(found[0])), item.uri)


def local_path(uri: str) -> str | None:
    """The path of a file on this machine, which a URI means; None: it is elsewhere."""
    here = _local(uri)
    return None if here is None else unquote(here)


def _local(uri: str) -> str | None:
    if "://" in uri and not uri.startswith("file://"):
        return None
    return uri.removeprefix("file://").removeprefix("file:")


def local_paths(item: FileItem) -> list[str]:
    """What there may be on this machine of a path or a pattern."""
    if (here := _local(item.uri)) is None:
        return []
    path = _decoded(attrs.evolve(item, uri=here), escape if item.kind == "glob" else str)
    return sorted(glob(path)) if item.kind == "glob" else [path]


def require_read(item: FileItem) -> None:
    """Raise `UnsupportedError` for a folder read as a file, and for a name that Spark passes over, or cannot open."""
    paths = local_paths(item)
    if item.kind == "file" and any(map(os.path.isdir, paths)):
        raise UnsupportedError(f"{item.uri} is a folder, and is read as a file", hint='write kind="folder"')
    name = unquote(item.uri).rstrip("/").rpartition("/")[2]
    is_skipped = name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")
    if is_skipped and (item.kind == "file" or any(map(os.path.isfile, paths))):
        raise UnsupportedError(f"Spark does not read the file {item.uri}", hint=f"{SKIPPED}: give it another name")
    if (unopened := next(filter(_has_colon, (*paths, *_inside(paths))), None)) is not None:
        raise UnsupportedError(f"Spark cannot open the file {unopened}", hint='it has ":" in its name: give it another')


def _inside(paths: Iterable[str]) -> Iterator[str]:
    """The files that lie in folders themselves, less those that Spark passes over."""
    for folder in filter(os.path.isdir, paths):
        yield from (entry.path for entry in os.scandir(folder) if not entry.name.startswith(("_", ".")))


def _has_colon(path: str) -> bool:
    """Whether a path is a file of which Spark cannot name the checksum that may lie beside it."""
    return ":" in os.path.basename(path) and os.path.isfile(path)
