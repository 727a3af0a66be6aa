"""The snapshots of an Iceberg table: the one that a statement made, and the one before."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import attrs

from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.catalog.table_metadata import WRITE_AUDIT_PUBLISH, find_object, qualified_name
from substrait_dsl.spark.catalog.table_names import statement_name
from substrait_dsl.spark.changes.statements import changing, run_change

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from substrait_dsl.spark.catalog.table_metadata import StoredTable
    from substrait_dsl.spark.session.execution_context import ExecutionContext

Answer = TypeVar("Answer")

_SETTING = "spark.sql.iceberg.snapshot-property."
_PROPERTY = "substrait-dsl.change"

_ONE_AT_A_TIME = threading.Lock()
"""Serializes marked statements: the setting that marks a snapshot is the session's.

So what is read before a statement still holds when it runs, as far as this program is concerned.
"""


@attrs.frozen
class Commit:
    """The outcome of a statement."""

    before: int | None
    """The parent snapshot; None: the table had none, or nothing was changed."""
    found: bool
    """Whether a snapshot was made."""


def _commit_statement(what: str, text: str, table: StoredTable, execution: ExecutionContext) -> Commit:
    """Run a statement that changes an Iceberg table, and find its snapshot among those of other writers."""
    spark = execution.spark
    mark = uuid.uuid4().hex
    spark.conf.set(_SETTING + _PROPERTY, mark)
    try:
        run_change(what, text, execution)
    finally:
        spark.conf.unset(_SETTING + _PROPERTY)
    _refresh(table, spark)
    snapshots = _metadata(table, "snapshots", spark)
    rows = spark.sql(f"SELECT parent_id FROM {snapshots} WHERE summary['{_PROPERTY}'] = '{mark}'").collect()
    return Commit(rows[0][0], True) if rows else Commit(None, False)


def _refresh(table: StoredTable, spark: SparkSession) -> None:
    """Invalidate what a session has cached of a table: other threads and sessions change it, too."""
    spark.sql(f"REFRESH TABLE {statement_name(table.base_names)}")


def change_table(
    what: str,
    text: str,
    table: StoredTable,
    execution: ExecutionContext,
    ask: Callable[[str], Answer],
    *,
    is_lasting: bool = True,
) -> Answer | None:
    """Run a statement that changes an Iceberg table, and query the table as it was just before.

    The query runs before the statement: a snapshot is read with the columns and names that it was made with. Only if
    another writer came between, the parent snapshot of the statement is queried.

    Args:
        what: the change, for messages.
        text: the statement.
        table: the table.
        execution: the execution context.
        ask: the query, given the text of the table in a FROM clause.
        is_lasting: whether the answer is the same after the statement.

    Returns:
        The answer; None: nothing was changed.

    Raises:
        ExecutionError: the statement failed; or it was made, and the answer is unknown.
    """
    if execution.is_rehearsal:
        return None
    with _ONE_AT_A_TIME:
        _refresh(table, execution.spark)
        before = _current(table, execution)
        with changing(what):
            answer = ask(table.sql)
        commit = _commit_statement(what, text, table, execution)
    if not commit.found:
        return None
    if commit.before == before:
        return answer
    then = _table_at(table, commit.before)
    if is_lasting and _columns(then, execution) == _columns(table.sql, execution):
        return ask(then)
    raise ExecutionError(f"{what} was made, but another writer came between, so which rows it changed is not known")


def pin_to_snapshot(read: Read, execution: ExecutionContext) -> Read | None:
    """Pin the read of an Iceberg table to its current snapshot; None: no snapshot has these rows and columns.

    That is true of other tables, of one without a snapshot, and of one that was altered after its last snapshot.
    """
    if not isinstance(read.definition, NamedTable):
        return None
    try:
        table = find_object(read.definition.names, execution.spark)
    except UnsupportedError:  # what a table says of itself has no snapshots
        return None
    if table is None or not table.is_iceberg or (snapshot := _current(table, execution)) is None:
        return None
    if _columns(_table_at(table, snapshot), execution) != _columns(table.sql, execution):
        return None
    names = qualified_name(
        table.base_names, execution.spark
    )  # a name of two parts would be that of a table in a namespace
    then = attrs.evolve(read.definition, names=(*names, f"snapshot_id_{snapshot}"))
    return attrs.evolve(read, definition=then)


def _columns(source: str, execution: ExecutionContext) -> list[tuple[str, str]]:
    return execution.spark.sql(f"SELECT * FROM {source}").dtypes


def _current(table: StoredTable, execution: ExecutionContext) -> int | None:
    """Return the snapshot of an Iceberg table, or of its branch, to which a change is applied; None: there is none."""
    spark = execution.spark
    rows = spark.sql(f"SELECT name, snapshot_id FROM {_metadata(table, 'refs', spark)}").collect()
    found = {row[0]: row[1] for row in rows}
    branch = table.branch
    if branch is None and table.properties.get(WRITE_AUDIT_PUBLISH) == "true":
        branch = spark.conf.get("spark.wap.branch", None)
    number = found.get(branch or _MAIN, found.get(_MAIN))
    return None if number is None else int(number)


_MAIN = "main"


def _metadata(table: StoredTable, metadata_table: str, spark: SparkSession) -> str:
    """Write a metadata table of an Iceberg table as part of a FROM clause."""
    name = statement_name((*table.base_names, metadata_table))
    if len(table.base_names) > 1:
        return name
    # A name of two parts would be that of a table in a namespace; Spark gives the current one as SQL text.
    return f"{statement_name((spark.catalog.currentCatalog(),))}.{spark.catalog.currentDatabase()}.{name}"


def _table_at(table: StoredTable, snapshot: int | None) -> str:
    """Write an Iceberg table at a snapshot, if it has one, as part of a FROM clause."""
    return table.sql if snapshot is None else f"{statement_name(table.base_names)} VERSION AS OF {snapshot}"
