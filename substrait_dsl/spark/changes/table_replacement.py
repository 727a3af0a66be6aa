"""Create or replace tables of Spark's own catalog.

A catalog of Iceberg tables does this atomically. Spark's own does not: a table that is filled while it is created
blocks its name if its writer is killed. So a table is created under a temporary name first, which is most of the work
and may fail, and then renamed. If an old table has the same columns, only its folder is exchanged.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError, SubstraitDslError, UnsupportedError, quote
from substrait_dsl.spark.catalog.table_metadata import split_catalog
from substrait_dsl.spark.catalog.table_names import SESSION_CATALOG, find_of_writers, statement_name, tables_in
from substrait_dsl.spark.changes.commits import STAGING, staging
from substrait_dsl.spark.changes.file_systems import as_uri, reach
from substrait_dsl.spark.changes.statements import (
    OF_REPLACED,
    changing,
    error_class_of,
    reporting_replaced,
    run,
    run_change,
)
from substrait_dsl.spark.changes.table_files import TableFiles, refresh
from substrait_dsl.spark.session.cancellation import hold_interrupts
from substrait_dsl.spark.session.change_outcomes import note_outcome
from substrait_dsl.spark.session.failures import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from substrait_dsl.spark.catalog.table_metadata import StoredTable
    from substrait_dsl.spark.changes.file_systems import FileSystem
    from substrait_dsl.spark.session.execution_context import ExecutionContext


def create(what: str, names: tuple[str, ...], definition: str, execution: ExecutionContext) -> None:
    """Create a table of rows; if that fails, or the writer is killed, the name stays free.

    Args:
        what: what is being done, for messages.
        names: its name, which no table has.
        definition: what stands behind CREATE TABLE and the name.
        execution: what the execution shares.

    Raises:
        ExecutionError: it could not be made, or another writer made one of this name meanwhile.
    """
    if execution.is_rehearsal:
        return
    if split_catalog(names, execution.spark)[0] != SESSION_CATALOG or _NUMBER.fullmatch(names[-1]):
        run_change(what, f"CREATE TABLE {statement_name(names)}{definition}", execution)
        return
    fresh = _unique_name(names, "new")
    with _remove_on_error(fresh, execution):
        run(what, f"CREATE TABLE {statement_name(fresh)}{definition}", execution)
        with hold_interrupts():
            _rename(what, fresh, names, execution)
            note_outcome("made")


def create_or_replace(
    what: str,
    old: StoredTable,
    definition: str,
    execution: ExecutionContext,
    rows: DataFrame,
    required: Collection[str],
    *,
    has_defaults: bool = False,
) -> None:
    """Replace a table by a new one.

    Args:
        what: what is being done, for messages.
        old: the table that is there.
        definition: what stands behind CREATE TABLE and the name; it may read the old table, and names the format.
        execution: what the execution shares.
        rows: those of the new one, with its columns.
        required: the columns that hold no NULL.
        has_defaults: whether its columns have default values.

    Raises:
        UnsupportedError: the old one is a branch, or the session writes one of it; or it cannot be renamed.
        ExecutionError: it could not be made; then the old table is what it was, or the message says where it is.
    """
    old.require_no_branch(what)
    old.require_main(what, execution.spark)
    if old.is_iceberg:
        run_change(what, f"CREATE OR REPLACE TABLE {old.sql}{definition}", execution)
        return
    if _NUMBER.fullmatch(old.names[-1]):
        raise UnsupportedError(f"{what}: Spark cannot rename a table whose name is a number", hint="drop it first")
    if execution.is_rehearsal:
        return
    with reporting_replaced(what):
        stored = TableFiles.of_table(old, execution.spark)
    if (
        not has_defaults
        and stored.is_plain
        and old.required == {*required}
        and _columns(old.schema) == _columns(rows.schema)
        and (found := reach(stored.location, execution.spark)) is not None
        and _exchange(what, old, stored, *found, rows, execution)
    ):
        return
    _replace(what, old, definition, execution)


def _columns(schema: StructType) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in schema.fields]


def _exchange(
    what: str,
    old: StoredTable,
    stored: TableFiles,
    files: FileSystem,
    folder: str,
    rows: DataFrame,
    execution: ExecutionContext,
) -> bool:
    """Exchange the folder of a table atomically for one with other rows; False: that is not supported here."""
    if not files.is_folder(folder):
        return False
    with changing(what), staging(files, folder.rpartition("/")[0], what) as staged:
        if not files.can_exchange(staged.path):
            staged.remove()
            return False
        rows.write.format(old.format).options(**stored.options).save(as_uri(staged.rows))
        staged.list_staged_files()
        with hold_interrupts():
            is_exchanged = files.exchange(staged.rows, folder)
            if is_exchanged:
                note_outcome("made")
            staged.remove()
            if is_exchanged:
                refresh(old, stored, folder, execution.spark)
    return is_exchanged


def _replace(what: str, old: StoredTable, definition: str, execution: ExecutionContext) -> None:
    """Create the new table beside the old one, and exchange their names by two renames."""
    fresh, aside = _unique_name(old.names, "new"), _unique_name(old.names, "old")
    with _remove_on_error(fresh, execution):
        run(what, f"CREATE TABLE {statement_name(fresh)}{definition}", execution)
        with hold_interrupts():
            try:
                _rename(what, old.names, aside, execution)
                _rename(what, fresh, old.names, execution)
            except BaseException as error:
                _restore(what, old, aside, error, execution)
                raise
            note_outcome("made")
            left = statement_name(aside)
            subject = f"{what}: the table was replaced, but the old one is still there as {left}"
            run(subject, f"DROP TABLE {left}", execution)


def _restore(
    what: str, old: StoredTable, aside: tuple[str, ...], error: BaseException, execution: ExecutionContext
) -> None:
    """Rename the old table back, if it was renamed. Raises `ExecutionError` if that is not possible."""
    if not execution.spark.catalog.tableExists(statement_name(aside)):
        return
    try:
        _rename(what, aside, old.names, execution)
    except ExecutionError as second:
        now, first = quote([".".join(aside)]), ""
        if second.__cause__ is not None and error_class_of(second.__cause__) == _LOCATION:
            first = f"remove the folder {quote([_folder(old.names, execution)])}, which no table has; then "
        raise ExecutionError(
            f"{what}: the old table is called {now} now, and could not be renamed: {second.message}",
            hint=f"{first}ALTER TABLE {statement_name(aside)} RENAME TO {old.sql}, in Spark's SQL",
        ) from error


_LOCATION = "LOCATION_ALREADY_EXISTS"
_MAX_TURNS = 40
_PAUSE = 0.05
"""The most attempts to rename a table while late tasks create its folder, and the seconds between them."""


def _rename(what: str, table: tuple[str, ...], to: tuple[str, ...], execution: ExecutionContext) -> None:
    """Rename a table.

    An insert that has resolved the table before it was renamed creates its folder again, to stage rows there. They
    belong to no table, and the insert fails: so that folder is removed, unless it holds anything else. It may also hold
    the files of a table whose writer was killed while it renamed it: they are moved away.

    Raises:
        ExecutionError: the table does not exist any more, the new name is taken, or its folder has other files.
    """
    for turn in range(_MAX_TURNS):
        try:
            with reporting_replaced(what):
                run(what, _write_rename_statement(table, to, execution), execution)
        except ExecutionError as error:
            is_last = turn == _MAX_TURNS - 1
            if error.__cause__ is None or error_class_of(error.__cause__) != _LOCATION or is_last:
                raise
            if not _is_freed(to, execution):
                half = _half_renamed(to, execution)
                if not half:
                    raise
                if turn == _MAX_TURNS - 2:  # a writer that is at work would be done, and have a table of the new name
                    _move_away(half, to, execution)
            time.sleep(_PAUSE if turn else 0)
        else:
            _move_into_place(table, to, execution)
            return


def _move_into_place(table: tuple[str, ...], to: tuple[str, ...], execution: ExecutionContext) -> None:
    """Move the files of a renamed table into its folder.

    If the folder is created after Spark has checked for it, Hadoop moves the table's folder into it, and the table has
    no rows.
    """
    if (found := reach(_folder(to, execution), execution.spark)) is None:
        return
    files, folder = found
    inside = f"{folder}/{table[-1].lower()}"
    if not files.is_folder(inside):
        return
    for name in files.files(inside):
        if not files.exists(f"{folder}/{name}"):
            files.create_folder(os.path.dirname(f"{folder}/{name}"))
            files.rename(f"{inside}/{name}", f"{folder}/{name}")
    files.delete(inside)
    execution.spark.catalog.refreshByPath(as_uri(folder))
    execution.sql(f"REFRESH TABLE {statement_name(to)}")


def _is_freed(names: tuple[str, ...], execution: ExecutionContext) -> bool:
    """Remove the future folder of a table if it holds nothing but staged rows; return whether it is free."""
    if (found := reach(_folder(names, execution), execution.spark)) is None:
        return False
    files, folder = found
    try:
        if {*files.names(folder)} <= {STAGING}:
            files.delete(f"{folder}/{STAGING}")
            files.delete_empty(folder)  # nothing that others have put there meanwhile
    except OSError:  # as tasks write there
        return {*files.names(folder)} <= {STAGING}
    return not files.exists(folder)


def _half_renamed(to: tuple[str, ...], execution: ExecutionContext) -> list[tuple[str, ...]]:
    """Return the tables that a writer has created for a name and whose folder is gone.

    A Hive catalog renames the folder of a table, and then the table. In between, its files are in the folder of the new
    name, which no table has.
    """
    names = find_of_writers(to[-1], "new", tables_in(to[:-1], execution.spark) or ())
    found = [((*to[:-1], name), reach(_folder((*to[:-1], name), execution), execution.spark)) for name in names]
    return [name for name, there in found if there is not None and not there[0].exists(there[1])]


def _move_away(half: Sequence[tuple[str, ...]], to: tuple[str, ...], execution: ExecutionContext) -> None:
    """Rename a folder back to the table whose rename was not finished.

    That table is dropped first. If its writer is still running, one of the two statements fails.
    """
    try:
        for name in half:
            execution.sql(f"DROP TABLE {statement_name(name)}")
    except spark_errors() as error:
        if error_class_of(error) in OF_REPLACED:  # it has the new name now
            return
        raise
    found, before = (reach(_folder(name, execution), execution.spark) for name in (to, half[0]))
    if found is not None and before is not None:
        with suppress(FileNotFoundError):  # its writer has moved it back
            found[0].rename(found[1], before[1])


def require_in_place(table: StoredTable, files: FileSystem, folder: str, what: str, spark: SparkSession) -> None:
    """Raise `ExecutionError` for a table whose folder a replacing writer has renamed, but not yet the table.

    A Hive catalog does so in two steps. A writer that is killed between them leaves a table without rows.
    """
    around, own = os.path.split(folder)
    for name in find_of_writers(own, "old", files.names(around)):
        if not spark.catalog.tableExists(statement_name((*table.names[:-1], name))):
            left = f"{around}/{name}"
            raise ExecutionError(
                f"{what}: a writer that replaces the table has begun to rename it: its rows are in {quote([left])}",
                hint=f"run it again; if that writer was killed, rename that folder to {quote([folder])}",
            )


def _folder(names: tuple[str, ...], execution: ExecutionContext) -> str:
    """The folder of a table that Spark manages."""
    _, (*namespace, name) = split_catalog(names, execution.spark)
    database = namespace[0] if namespace else execution.spark.catalog.currentDatabase()
    around = execution.spark.catalog.getDatabase(f"{SESSION_CATALOG}.{statement_name((database,))}").locationUri
    return f"{around}/{name.lower()}"


@contextmanager
def _remove_on_error(fresh: tuple[str, ...], execution: ExecutionContext) -> Iterator[None]:
    """Drop a table with a temporary name, and its folder, if anything fails."""
    try:
        yield
    except BaseException:
        with suppress(SubstraitDslError, OSError, *spark_errors()):
            execution.sql(f"DROP TABLE IF EXISTS {statement_name(fresh)}")
            if (found := reach(_folder(fresh, execution), execution.spark)) is not None:
                files, folder = found
                files.delete(folder)  # a statement that fails leaves one without a table
        raise


def _unique_name(names: tuple[str, ...], word: str) -> tuple[str, ...]:
    """Return a unique name beside that of a table."""
    return (*names[:-1], f"{names[-1]}__{word}_{uuid.uuid4().hex[:12]}")


_NUMBER = re.compile(r"\d+(?:e\d+)?(?:[lsyfd]|bd)?", re.IGNORECASE)
"""A name that Spark parses as a number when it renames a table."""


def _write_rename_statement(table: tuple[str, ...], to: tuple[str, ...], execution: ExecutionContext) -> str:
    """Write the statement that renames a table; the new name is relative to the table's catalog."""
    _, name = split_catalog(to, execution.spark)
    return f"ALTER TABLE {statement_name(table)} RENAME TO {statement_name(name)}"
