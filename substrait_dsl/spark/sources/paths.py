"""Paths of files: as Spark reads them, on this machine, and which ones Spark skips."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from glob import glob
from itertools import filterfalse
from math import prod
from typing import TYPE_CHECKING
from urllib.parse import unquote

from substrait_dsl.errors import ExecutionError, UnsupportedError, quote, shorten
from substrait_dsl.spark.session.engines import ENGINE
from substrait_dsl.texts import nearest

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import FileItem

SKIPPED = "Spark skips files whose names begin with _ or ."


def what_of(files: Iterable[FileItem]) -> str:
    """Return the name of files in messages."""
    return f"a read of {quote([item.uri for item in files], limit=3)}"


_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


def spark_path(item: FileItem) -> str:
    """Return a path as Spark reads it: it is a pattern there, so a plain path is escaped.

    In a pattern, percent-encoded characters are literal.
    """
    if item.kind != "glob":
        return _escape(unquote(item.uri))
    return _ENCODED.sub(lambda found: _escape(unquote(found[0])), item.uri)


def _escape(text: str) -> str:
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", text)


def local_path(uri: str) -> str | None:
    """Return the local path of a URI; None: it is on another machine."""
    return path_here(unquote(uri))


_SCHEME = re.compile("([^/:]*):")


def path_here(text: str) -> str | None:
    """Return the local path of a path or a URI of Hadoop; None: it is on another machine.

    A scheme is case-insensitive, and ends before the first slash. Hadoop's URIs are not percent-encoded.
    """
    scheme = _SCHEME.match(text)
    if scheme is None:
        return text
    rest = text[scheme.end() :]
    if scheme[1].lower() == "file":
        return rest.removeprefix("//")
    return None if rest.startswith("//") else text


def suggest_path(item: FileItem) -> str | None:
    """Return the hint for a path on this machine where nothing is: what has almost its name; None: there is none."""
    path = local_path(item.uri)
    if path is None or item.kind == "glob" or os.path.exists(path):
        return None
    folder, name = os.path.split(os.path.abspath(path))
    while not os.path.isdir(folder):
        folder, name = os.path.split(folder)
    try:
        near = nearest(name, os.listdir(folder))
    except OSError:
        return None
    return None if near is None else f"in {folder} is {quote([near])}"


def local_paths(item: FileItem) -> list[str]:
    """Return the existing local paths for a path or a pattern, without those that Spark skips."""
    found = _find_paths(item)
    is_all = item.kind != "glob" or _is_skipped(unquote(item.uri))
    return found if is_all else [path for path in found if not _is_skipped(path)]


def _find_paths(item: FileItem) -> list[str]:
    if item.kind != "glob":
        here = local_path(item.uri)
        return [] if here is None else [here]
    if (pattern := path_here(spark_path(item))) is None:
        return []
    # To Hadoop, a name that begins with a dot is like any other.
    return sorted({path for each in _patterns(pattern) for path in glob(each, include_hidden=True)})


_ESCAPES = {"\\{": "\0a", "\\}": "\0b", "\\,": "\0c"}
_BRACES = re.compile(r"\{([^{}]*)\}")


MAX_ALTERNATIVES = 10_000
"""How many patterns the braces of one may stand for: twenty pairs of two stand for a million."""


def _patterns(pattern: str) -> Iterator[str]:
    """Translate a glob of Hadoop to those of Python: it has alternatives in braces, ``[^a]`` and escapes."""
    pattern = re.sub(r"\\[{},]", lambda escape: _ESCAPES[escape[0]], pattern)
    if prod(words.count(",") + 1 for words in _BRACES.findall(pattern)) > MAX_ALTERNATIVES:
        raise UnsupportedError(
            f"a pattern of paths stands for at most {MAX_ALTERNATIVES:,} others, got {shorten(pattern)}",
            hint="name folders, or give several patterns",
        )
    for each in _alternatives(re.sub(r"\\(.)", r"[\1]", pattern).replace("[^", "[!")):
        for escape, mark in _ESCAPES.items():
            each = each.replace(mark, escape[1])
        yield each


def _alternatives(pattern: str) -> Iterator[str]:
    if (braces := _BRACES.search(pattern)) is None:
        yield pattern
        return
    for word in braces[1].split(","):
        yield from _alternatives(pattern[: braces.start()] + word + pattern[braces.end() :])


def _is_skipped(path: str) -> bool:
    """Whether Spark silently skips a path because of its name."""
    name = path.rstrip("/").rpartition("/")[2]
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def require_read(item: FileItem) -> None:
    """Raise `UnsupportedError` for a folder read as a file, and for a name that Spark skips, or cannot open."""
    paths = local_paths(item)
    if item.kind == "file" and any(map(os.path.isdir, paths)):
        raise UnsupportedError(f"{item.uri} is a folder, and is read as a file", hint='write kind="folder"')
    are_passed_over = bool(_find_paths(item)) and not paths
    if are_passed_over or (_is_skipped(unquote(item.uri)) and (item.kind == "file" or any(map(os.path.isfile, paths)))):
        raise UnsupportedError(f"{ENGINE} does not read the file {item.uri}", hint=f"{SKIPPED}: give it another name")
    if (unopened := next(filter(_has_colon, (*paths, *files_inside(paths))), None)) is not None:
        raise UnsupportedError(
            f"{ENGINE} cannot open the file {unopened}", hint='it has ":" in its name: give it another'
        )


def require_no_empty_file(files: Iterable[FileItem]) -> None:
    """Raise `ExecutionError` for a file without a byte that is named, or that a pattern finds.

    Engines pass over it, though no Parquet file is empty. In folders there may be some, as Hive leaves.
    """
    for item in files:
        for path in local_paths(item) if item.kind != "folder" else ():
            if os.path.isfile(path) and not os.path.getsize(path):
                raise ExecutionError(
                    f"the file {path} is empty (0 bytes), and no Parquet file",
                    hint="write it anew, or leave it out: a Parquet file without rows has its columns all the same",
                )


def files_inside(paths: Iterable[str]) -> Iterator[str]:
    """Return the files directly in folders, without those that Spark skips."""
    for folder in filter(os.path.isdir, paths):
        yield from sorted(each.path for each in os.scandir(folder) if each.is_file() and not _is_skipped(each.path))


def data_files(item: FileItem) -> list[str]:
    """Return the local paths of the files that are read: of folders, the files directly in them."""
    if local_path(item.uri) is None:
        return [item.uri]
    paths = local_paths(item)
    return [*filterfalse(os.path.isdir, paths), *files_inside(paths)]


def _has_colon(path: str) -> bool:
    """Whether Spark cannot name the checksum file that may be beside a file."""
    return ":" in os.path.basename(path) and os.path.isfile(path)
