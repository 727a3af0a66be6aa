"""The catalog's metadata of the tables that a plan changes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.errors import ExecutionError, UnsupportedError, quote
from substrait_dsl.spark.catalog.session_catalog import Description, describe, find_table_of_files
from substrait_dsl.spark.catalog.table_names import (
    FILES,
    SESSION_CATALOG,
    SEVERAL_PARTS,
    frame_if_there,
    is_path,
    is_temporary,
    not_found_error,
    statement_name,
)
from substrait_dsl.spark.session.failures import failure_of, spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

REQUIRED = "substrait_dsl.required"
"""The table property with the names, as JSON, of the columns that are required, where the format does not store that.
"""

_OWN_NAME = re.compile(r"\w+", re.ASCII)
_FILES = "write.format.default"
_DETAILS = "# Detailed Table Information"
_PARTITIONS = "# Partition Information"
_IDENTIFIERS = "identifier-fields"
ICEBERG = "iceberg"
_OF_ICEBERG = {"current-snapshot-id", "format-version"}
"""Properties that an Iceberg table always has. To describe one takes as long as to write to it."""


@attrs.frozen
class StoredTable:
    """The catalog's metadata of a table or view."""

    names: tuple[str, ...]
    schema: StructType
    format: str
    """As the catalog calls it: ``iceberg``, ``parquet``; empty for a view."""
    properties: Mapping[str, str]
    partitions: tuple[str, ...] = ()
    """The partition columns of a table of Spark's own."""
    branch: str | None = None
    """The branch of an Iceberg table that the last part of the name selects."""
    description: Description | None = attrs.field(default=None, eq=False, repr=False)
    """The description by Spark's own catalog; None: other statements were used."""

    @property
    def sql(self) -> str:
        """Its name in a statement."""
        return statement_name(self.names)

    @property
    def title(self) -> str:
        """Its name in a message."""
        return title(self.names)

    @property
    def base_names(self) -> tuple[str, ...]:
        """The name of the table that a branch belongs to, else its own."""
        return self.names if self.branch is None else self.names[:-1]

    @property
    def is_view(self) -> bool:
        return not self.format

    @property
    def is_iceberg(self) -> bool:
        return self.format == ICEBERG

    @property
    def files(self) -> str:
        """The format of its files: ``parquet``; for an Iceberg table with a format of its own, ``iceberg orc``."""
        return f"{ICEBERG} {self.properties.get(_FILES, '').lower()}".strip() if self.is_iceberg else self.format

    @property
    def required(self) -> frozenset[str]:
        """The required columns."""
        stored = json.loads(self.properties.get(REQUIRED, "[]"))
        return frozenset(stored) | {field.name for field in self.schema.fields if not field.nullable}

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The identifier fields of an Iceberg table."""
        names = self.properties.get(_IDENTIFIERS, "[]")[1:-1].split(",")
        return tuple(name for name in map(str.strip, names) if name)

    def require_no_branch(self, what: str) -> None:
        """Raise `UnsupportedError` for a branch, which cannot be created, altered or dropped as a table."""
        if self.branch is not None:
            raise UnsupportedError(
                f"{what}: that is a branch of {title(self.base_names)}, whose rows alone can be changed"
            )

    def require_main(self, what: str, spark: SparkSession) -> None:
        """Raise `UnsupportedError` for an Iceberg table if the session writes to a branch, or publishes later."""
        if self.is_iceberg and self.properties.get(WRITE_AUDIT_PUBLISH) == "true":
            for setting in ("spark.wap.branch", "spark.wap.id"):
                if spark.conf.get(setting, None) is not None:
                    raise UnsupportedError(
                        f"{what}: the session has {setting}, and {self.title} would be empty for all others",
                        hint=f'spark.conf.unset("{setting}")',
                    )

    def require_rows_change(self, what: str, statement: str = "merge") -> None:
        """Raise `UnsupportedError` if a statement cannot change single rows of this table."""
        if not self.is_iceberg:
            raise UnsupportedError(
                f"{what}: {self.title} has the format {self.format}, whose rows Spark cannot change in one step",
                hint="an Iceberg table can do that; of this one, a ctas with replace_if_exists makes a new one",
            )
        mode = f"write.{statement}.mode"
        if self.properties.get("format-version") == "1" and self.properties.get(mode) == "merge-on-read":
            raise UnsupportedError(
                f"{what}: the table has the format version 1, which knows no deleted rows, and {mode} merge-on-read",
                hint=f'"{mode}" = "copy-on-write", or "format-version" = "2"',
            )


WRITE_AUDIT_PUBLISH = "write.wap.enabled"
"""The property of an Iceberg table that lets a session write to a branch, or write what is published later."""


def title(names: Sequence[str]) -> str:
    """Return the name of a table in a message."""
    return f"table {quote(['.'.join(names)])}"


def find_object(names: tuple[str, ...], spark: SparkSession) -> StoredTable | None:
    """Look a table or view up; None: there is none. Raises `ExecutionError` if there is no such catalog or branch."""
    from pyspark.sql.types import StructType

    name = statement_name(names)
    catalog, rest = split_catalog(names, spark)
    if catalog == SESSION_CATALOG and (found := find_table_of_files(rest, spark)) is not None:
        return _read_stored_table(names, *found)
    try:
        frame = frame_if_there(names, spark)
    except spark_errors():
        if _describe_format(name, spark)[0]:
            raise
        return StoredTable(names, StructType(), "", {})  # a view of what is there no longer
    if frame is None:
        return None
    if catalog == SESSION_CATALOG and (description := describe(name, spark)) is not None:
        return _read_stored_table(names, frame.schema, description)
    properties = _properties(name, spark)
    branch = _branch(names, spark)
    if properties.keys() >= _OF_ICEBERG:
        # A session keeps for a while what it knew of a table, whatever other sessions do to it.
        spark.sql(f"REFRESH TABLE {statement_name(names if branch is None else names[:-1])}")
        frame = frame_if_there(names, spark)
        if frame is None:
            return None
        return StoredTable(names, frame.schema, ICEBERG, _properties(name, spark), branch=branch)
    format_, partitions = _describe_format(name, spark)
    return StoredTable(names, frame.schema, format_, properties, partitions)


def _read_stored_table(names: tuple[str, ...], schema: StructType, description: Description) -> StoredTable:
    """Return a table or view that Spark's own catalog has described."""
    options = description.get("storage_properties", {}).items()
    properties = {f"option.{key}": value for key, value in options} | description.get("table_properties", {})
    is_view = description.get("type", "VIEW") == "VIEW"
    format_ = "" if is_view else description.get("provider", "unknown").lower()
    partitions = () if is_view else tuple(description.get("partition_columns", ()))
    return StoredTable(names, schema, format_, properties, partitions, description=description)


def _properties(name: str, spark: SparkSession) -> dict[str, str]:
    return {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}


_PART = re.compile(
    r"branch_(?P<branch>.+)|tag_.+|(snapshot_id|at_timestamp)_[0-9]+|changes|history|metadata_log_entries|snapshots"
    r"|refs|partitions|position_deletes|(all_)?(entries|files|data_files|delete_files|manifests)",
    re.IGNORECASE,
)
"""The last part of a name that Iceberg takes for a branch, a snapshot or a metadata table."""


def _branch(names: tuple[str, ...], spark: SparkSession) -> str | None:
    """Return the branch in the last part of a name; raises `UnsupportedError` for a snapshot or a metadata table."""
    part = _PART.fullmatch(names[-1])
    if part is None or len(names) == 1 or not _is_iceberg(names[:-1], spark):
        return None
    if part["branch"] is None:
        raise UnsupportedError(f"{title(names)} shows what is in {title(names[:-1])}, which alone can be changed")
    return str(part["branch"])


def _is_iceberg(names: tuple[str, ...], spark: SparkSession) -> bool:
    found = find_object(names, spark)
    return found is not None and found.is_iceberg


def _describe_format(name: str, spark: SparkSession) -> tuple[str, tuple[str, ...]]:
    """Return the format of a table, empty for a view, and its partition columns."""
    keys, details = _described_rows(name, spark)
    if details.get("Type", "VIEW") == "VIEW":
        return "", ()
    partitions: list[str] = []
    if _PARTITIONS in keys:
        first = len(keys) - keys[::-1].index(_PARTITIONS) + 1
        partitions = keys[first:-1]
    return details.get("Provider", "unknown").lower(), tuple(partitions)


def describe_table(name: str, spark: SparkSession) -> dict[str, str]:
    """Return the catalog's details of a table or view, such as its type and location; of some views none."""
    return _described_rows(name, spark)[1]


def _described_rows(name: str, spark: SparkSession) -> tuple[list[str], dict[str, str]]:
    """Return what is above the details of a table or view, such as its columns; and the details."""
    rows = [(row[0], row[1]) for row in spark.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()]
    # A column may have the name of a heading, but then the heading is below it; a temporary view has no details.
    keys = [key for key, _ in rows]
    if _DETAILS not in keys:
        return keys, {}
    start = len(keys) - 1 - keys[::-1].index(_DETAILS)
    return keys[:start], dict(reversed(rows[start:]))  # the first of each: columns with default values follow


_OWN_NAME = re.compile(r"\w+")
"""The names that Spark's own catalog accepts; temporary views may have others."""


def folders_of(names: tuple[str, ...], spark: SparkSession) -> tuple[str, ...]:
    """Return the partition columns of an existing table of Spark's own; none of other tables."""
    if split_catalog(names, spark)[0] != SESSION_CATALOG or not all(map(_OWN_NAME.fullmatch, names)):
        return ()
    format_, partitions = _describe_format(statement_name(names), spark)
    return () if format_ == ICEBERG else partitions


def find_table(names: tuple[str, ...], spark: SparkSession) -> StoredTable | None:
    """Look a table up; None: there is none. Raises `UnsupportedError` for a view."""
    try:
        found = find_object(names, spark)
    except spark_errors() as error:
        failure = failure_of(error, analysis=True)
        if failure is None or failure.error_class != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        found = None  # another writer has replaced or dropped it while its parts were asked for
    if found is not None and found.is_view:
        raise UnsupportedError(
            f"{quote(['.'.join(names)])} is a view, not a table: it has no rows of its own",
            hint=BESIDE_VIEW if len(names) == 1 and is_temporary(names[0], spark) else None,
        )
    return found


BESIDE_VIEW = 'it is a temporary one of the session; a table of this name is reached as ("database", "table")'


def need_table(names: tuple[str, ...], spark: SparkSession, otherwise: str | None = None) -> StoredTable:
    """Look a table up. Raises `ExecutionError` if there is none, `UnsupportedError` for a view.

    `otherwise` is the hint if there is none, nor one of a name like it.
    """
    found = find_table(names, spark)
    if found is None:
        if spark.catalog.tableExists(statement_name(names)):
            raise ExecutionError(f"another writer has replaced {title(names)} just now", hint="run it again")
        error = not_found_error(names, spark, may_be_passed=False)
        if error.hint is None:
            error.hint = otherwise if can_be_created(names, spark) else NO_NAME_OF_NEW
        error.table = names
        raise error
    return found


NO_NAME_OF_NEW = "no table can be made under that name: take one of letters, digits and _, in a database that is there"


def can_be_created(names: tuple[str, ...], spark: SparkSession) -> bool:
    """Whether a table of this name, which does not exist, can be created."""
    catalog, rest = split_catalog(names, spark)
    if catalog != SESSION_CATALOG:
        return True
    database = rest[-2:-1]
    is_there = not database or spark.catalog.databaseExists(statement_name((SESSION_CATALOG, *database)))
    return len(rest) <= 2 and _OWN_NAME.fullmatch(rest[-1]) is not None and is_there


def split_catalog(names: tuple[str, ...], spark: SparkSession) -> tuple[str, tuple[str, ...]]:
    """Split a name into the catalog that it belongs to, and the rest."""
    head = names[0]
    if len(names) > 1 and (head == SESSION_CATALOG or spark.conf.get(f"spark.sql.catalog.{head}", None) is not None):
        return head, names[1:]
    return spark.catalog.currentCatalog(), names


def qualified_name(names: tuple[str, ...], spark: SparkSession) -> tuple[str, ...]:
    """Qualify a name by its catalog and namespace, which may be the current ones."""
    catalog, rest = split_catalog(names, spark)
    namespace = () if len(rest) > 1 else tuple(spark.catalog.currentDatabase().split("."))
    return (catalog, *namespace, *rest)


def format_of_new(names: tuple[str, ...], what: str, spark: SparkSession) -> str:
    """Return the format that a new table of this name would have; empty if only its catalog knows.

    Raises `ExecutionError` for a name that Spark's own catalog does not accept. Spark itself may create a folder before
    it says so.
    """
    catalog, _ = split_catalog(names, spark)
    if catalog != SESSION_CATALOG:
        return catalog_format(catalog, spark)
    if not _OWN_NAME.fullmatch(names[-1]):
        raise ExecutionError(
            f"{what}: tables of Spark's own catalog have names of letters, digits and _",
            hint=FILES if is_path(names[-1]) else SEVERAL_PARTS if "." in names[-1] else None,
        )
    format_ = spark.conf.get("spark.sql.sources.default") or "parquet"
    return format_ if "." in format_ else format_.lower()


def catalog_format(catalog: str, spark: SparkSession) -> str:
    """Return the format of the tables in a catalog that is not Spark's own; empty if only it knows."""
    implementation = spark.conf.get(f"spark.sql.catalog.{catalog}", None) or ""
    return ICEBERG if implementation.startswith("org.apache.iceberg.") else ""
