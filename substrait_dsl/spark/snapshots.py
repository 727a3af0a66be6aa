"""The snapshots of an Iceberg table: which of them a statement made, and what was there before."""

from __future__ import annotations

import threading
import uuid
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.spark.statements import run

if TYPE_CHECKING:
    from substrait_dsl.spark.stored import StoredTable
    from substrait_dsl.spark.workspace import Workspace

_SETTING = "spark.sql.iceberg.snapshot-property."
_PROPERTY = "substrait-dsl.change"

_ONE_AT_A_TIME = threading.Lock()
"""The setting that marks a snapshot is the session's, so of what marks them, one statement runs at a time."""


@attrs.frozen
class Commit:
    """What became of a statement."""

    before: int | None
    """The snapshot that the statement changed; None: the table had none, or nothing was changed."""
    found: bool
    """Whether a snapshot was made."""


def committed(what: str, text: str, table: StoredTable, space: Workspace) -> Commit:
    """Run a statement that changes an Iceberg table, and find the snapshot that it made among those of others."""
    spark = space.spark
    mark = uuid.uuid4().hex
    with _ONE_AT_A_TIME:
        spark.conf.set(_SETTING + _PROPERTY, mark)
        try:
            run(what, text, space)
        finally:
            spark.conf.unset(_SETTING + _PROPERTY)
    made = spark.sql(f"SELECT parent_id FROM {table.sql}.snapshots WHERE summary['{_PROPERTY}'] = '{mark}'").collect()
    return Commit(made[0][0], True) if made else Commit(None, False)


def current(table: StoredTable, space: Workspace) -> int | None:
    """The current snapshot of an Iceberg table; None: it has none."""
    found = space.spark.sql(f"SELECT snapshot_id FROM {table.sql}.refs WHERE name = 'main'").collect()
    return int(found[0][0]) if found else None


def at(table: StoredTable, snapshot: int | None) -> str:
    """An Iceberg table as it was at a snapshot, or as it is, if it has none: what stands after FROM."""
    return table.sql if snapshot is None else f"{table.sql} VERSION AS OF {snapshot}"
