"""Whether a change of a table, files or a definition may change the rows of a read: told from names and places.

Two tables are told apart by their names in the catalog and by where their files are; files by their paths. Whatever
cannot be told apart may be the same: a view, of which nothing says what it reads, may read anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import attrs

from substrait_dsl.algebra.evaluation import Change
from substrait_dsl.algebra.relations import (
    Ddl,
    ExtensionTable,
    FilesTarget,
    IcebergTable,
    LocalFiles,
    NamedObject,
    NamedTable,
    Read,
    Update,
    VirtualTable,
    VirtualTarget,
    Write,
)
from substrait_dsl.spark.failures import spark_errors
from substrait_dsl.spark.named import quoted_name
from substrait_dsl.spark.stored import described, in_catalog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FIXED_PART = re.compile(r"(?:tag_.+|(?:snapshot_id|at_timestamp)_[0-9]+)", re.IGNORECASE)
"""The last part of a name that stands for an Iceberg table as it was."""

_LOCATION = "Location"
_PATTERN = re.compile(r"[*?\[{]")
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?")


@attrs.frozen
class _Place:
    """What a read reads, or a change changes."""

    name: tuple[str, ...] | None = None
    """The whole name of a table or view, in lower case; None: it has none."""
    is_view: bool = False
    """Whether it is a view, which may read anything."""
    folders: tuple[str, ...] | None = ()
    """Where its files are; None: that is not known."""


def may_change(change: Change, read: Read, spark: SparkSession) -> bool:
    """Whether the rows of a read may be others after a change; the session still has what they both name."""
    match read.definition:
        case VirtualTable() | ExtensionTable():
            return False
        case IcebergTable():
            return isinstance(change, Ddl)  # the files of a snapshot stay until their table is dropped
        case NamedTable(names=names) if len(names) > 1 and _FIXED_PART.fullmatch(names[-1]):
            source = _named(names[:-1], spark)
            return (isinstance(change, Ddl) or source.is_view) and _overlap(_target(change, spark), source)
        case NamedTable(names=names):
            return _overlap(_target(change, spark), _named(names, spark))
        case LocalFiles(items=items):
            folders = tuple(_folder(item.uri, is_pattern=item.kind == "glob") for item in items)
            return _overlap(_target(change, spark), _Place(folders=folders))


def _target(change: Change, spark: SparkSession) -> _Place:
    match change:
        case Ddl(target=NamedObject(names=names), object="view"):
            return attrs.evolve(_named(names, spark), folders=())
        case Write(target=NamedObject(names=names)) | Ddl(target=NamedObject(names=names)):
            return _named(names, spark)
        case Update(table=NamedTable(names=names)):
            return _named(names, spark)
        case Write(target=VirtualTarget(name=name)):
            return attrs.evolve(_named((name,), spark), folders=())
        case Write(target=FilesTarget(uri=uri)):
            return _Place(folders=(_folder(uri, is_pattern=False),))
        case _:
            return _Place(folders=None)


def _named(names: tuple[str, ...], spark: SparkSession) -> _Place:
    """The place of a table or view, or of one that is still to be made."""
    catalog, rest = in_catalog(names, spark)
    whole = (catalog, *rest) if len(rest) > 1 else (catalog, *_current_namespace(spark), *rest)
    lower = tuple(map(str.lower, whole))
    try:
        details = described(quoted_name(names), spark)
    except spark_errors():
        return _Place(lower, folders=_folders_of_new(names, spark))
    if not details or details.get("Type", "VIEW") == "VIEW":
        return _Place(lower, is_view=True, folders=None)
    location = details.get(_LOCATION)
    return _Place(lower, folders=None if location is None else (_folder(location, is_pattern=False),))


def _folders_of_new(names: tuple[str, ...], spark: SparkSession) -> tuple[str, ...] | None:
    """Where the files of a table will lie that is still to be made; None: that is not known."""
    try:
        rows = spark.sql(f"DESCRIBE NAMESPACE {quoted_name(names[:-1] or _current_namespace(spark))}").collect()
    except spark_errors():
        return None
    folders = (_folder(row[1], is_pattern=False) for row in rows if row[0] == _LOCATION)
    return tuple(f"{folder}/{names[-1].lower()}" for folder in folders) or None


def _current_namespace(spark: SparkSession) -> tuple[str, ...]:
    return tuple(spark.catalog.currentDatabase().split("."))


def _overlap(target: _Place, source: _Place) -> bool:
    if source.is_view:
        return True
    if target.name is not None and source.name is not None:
        shorter, longer = sorted((target.name, source.name), key=len)
        if longer[: len(shorter)] == shorter:  # one may be a branch of the other
            return True
        if target.is_view:
            return False  # the definition of a view is no row of another table
    if target.folders is None or source.folders is None:
        return target.name is None or source.name is None
    return any(_contain(one, other) for one in target.folders for other in source.folders)


def _folder(uri: str, *, is_pattern: bool) -> str:
    """The path of a folder or a file, up to where it is a pattern, without what says on which system it is."""
    path = _SCHEME.sub("", uri)
    if is_pattern and (found := _PATTERN.search(path)) is not None:
        path = path[: found.start()].rpartition("/")[0] + "/"
    return unquote(path)


def _contain(one: str, other: str) -> bool:
    """Whether a path lies in another, or the reverse; where one is relative nobody here knows to what."""
    if one.startswith("/") is not other.startswith("/"):
        return True
    parts, others = (_parts(path) for path in (one, other))
    shared = min(len(parts), len(others))
    return ".." in (*parts, *others) or parts[:shared] == others[:shared]


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
