"""Conflicts: whether a change of a table, files or a view may change the rows of a read, decided by names and paths.

Two tables differ if their names in the catalog and the locations of their files differ; files differ by their paths.
Where this is unknown, they may be the same: a view may read anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.relations import Change
from substrait_dsl.spark.catalog.table_metadata import describe_table, qualified_name
from substrait_dsl.spark.catalog.table_names import statement_name
from substrait_dsl.spark.session.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from substrait_dsl.spark.sources.arrow_tables import ArrowTables

_FIXED_PART = re.compile(r"(?:tag_.+|(?:snapshot_id|at_timestamp)_[0-9]+)", re.IGNORECASE)
"""The last part of a name that pins an Iceberg table to a snapshot."""

_LOCATION = "Location"
_PATTERN = re.compile(r"[*?\[{]")
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?")


@attrs.frozen
class _Place:
    """The source of a read, or the target of a change."""

    name: tuple[str, ...] | None = None
    """The qualified name of a table or view, in lower case; None: it has none."""
    is_view: bool = False
    """Whether it is a view, which may read anything."""
    folders: tuple[str, ...] | None = ()
    """The folders of its files; None: they are unknown."""


class Conflicts:
    """Decides whether changes may affect reads, in one evaluation of a plan.

    Answers of the catalog are cached until `forget`.
    """

    def __init__(self, spark: SparkSession, tables: ArrowTables) -> None:
        self._spark = spark
        self._tables = tables
        self._places: dict[tuple[str, ...], _Place] = {}

    def forget(self) -> None:
        """Clear the cache: a change has created, altered or dropped something."""
        self._places.clear()

    def may_change(self, change: Change, read: rl.Read) -> bool:
        """Whether a change may affect the rows of a read."""
        match read.definition:
            case rl.VirtualTable() | rl.ExtensionTable():
                return False
            case rl.NamedTable(names=names) if names in self._tables:
                return False
            case rl.IcebergTable():
                return isinstance(change, rl.Ddl)  # the files of a snapshot stay until their table is dropped
            case rl.NamedTable(names=names) if len(names) > 1 and _FIXED_PART.fullmatch(names[-1]):
                source = self._locate_names(names[:-1])
                return (isinstance(change, rl.Ddl) or source.is_view) and _overlap(self._target(change), source)
            case rl.NamedTable(names=names):
                return _overlap(self._target(change), self._locate_names(names))
            case rl.LocalFiles(items=items):
                folders = tuple(_folder_of_uri(item.uri, is_pattern=item.kind == "glob") for item in items)
                return _overlap(self._target(change), _Place(folders=folders))

    def are_of_one(self, change: Change, other: Change) -> bool:
        """Whether two changes may have the same target."""
        target = self._target(other)
        return _overlap(self._target(change), attrs.evolve(target, is_view=False))

    def _target(self, change: Change) -> _Place:
        match change:
            case rl.Ddl(target=rl.NamedObject(names=names), object="view"):
                return attrs.evolve(self._locate_names(names), folders=())
            case rl.Write(target=rl.NamedObject(names=names)) | rl.Ddl(target=rl.NamedObject(names=names)):
                return self._locate_names(names)
            case rl.Update(table=rl.NamedTable(names=names)):
                return self._locate_names(names)
            case rl.Write(target=rl.VirtualTarget(name=name)):
                return attrs.evolve(self._locate_names((name,)), folders=())
            case rl.Write(target=rl.FilesTarget(uri=uri)):
                return _Place(folders=(_folder_of_uri(uri, is_pattern=False),))
            case _:
                return _Place(folders=None)

    def _locate_names(self, names: tuple[str, ...]) -> _Place:
        """Return the location of a table or view, or of one that is yet to be created."""
        if names not in self._places:
            self._places[names] = _place_of_name(names, self._spark)
        return self._places[names]


def _place_of_name(names: tuple[str, ...], spark: SparkSession) -> _Place:
    lower = tuple(map(str.lower, qualified_name(names, spark)))
    try:
        details = describe_table(statement_name(names), spark)
    except spark_errors():
        return _Place(lower, folders=_folders_of_new(names, spark))
    if not details or details.get("Type", "VIEW") == "VIEW":
        return _Place(lower, is_view=True, folders=None)
    location = details.get(_LOCATION)
    return _Place(lower, folders=None if location is None else (_path(location),))


def _folders_of_new(names: tuple[str, ...], spark: SparkSession) -> tuple[str, ...] | None:
    """Return the future folder of a table that is yet to be created; None: it is unknown."""
    try:
        rows = spark.sql(f"DESCRIBE NAMESPACE {statement_name(qualified_name(names, spark)[:-1])}").collect()
    except spark_errors():
        return None
    folders = (_path(row[1]) for row in rows if row[0] == _LOCATION)
    return tuple(f"{folder}/{names[-1].lower()}" for folder in folders) or None


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


def _folder_of_uri(uri: str, *, is_pattern: bool) -> str:
    """Return the path of a folder or a file in a plan, up to its first wildcard."""
    path = _path(uri)
    if is_pattern and (found := _PATTERN.search(path)) is not None:
        path = path[: found.start()].rpartition("/")[0] + "/"
    return unquote(path)


def _path(location: str) -> str:
    """Return the path of a location, without scheme and authority. The catalog does not percent-encode."""
    return _SCHEME.sub("", location)


def _contain(one: str, other: str) -> bool:
    """Whether one path contains the other; a relative path may be anywhere."""
    if one.startswith("/") is not other.startswith("/"):
        return True
    parts, others = (_segments(path) for path in (one, other))
    shared = min(len(parts), len(others))
    return ".." in (*parts, *others) or parts[:shared] == others[:shared]


def _segments(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]
