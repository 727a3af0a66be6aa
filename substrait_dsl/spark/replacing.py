"""New tables of Spark's own, in the place of old ones or not.

A catalog of Iceberg tables makes or replaces one in one step. Spark's own does not: a table that is filled while it is
made blocks its name if its writer is killed. So it is made under a name of its own first, which is most of the work and
may fail, and then renamed. Where an old table has the same columns, only its folder is exchanged for another.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError, SubstraitDslError, UnsupportedError, quoted
from substrait_dsl.spark.cancellation import require_going_on
from substrait_dsl.spark.commits import staging
from substrait_dsl.spark.failures import spark_errors, told
from substrait_dsl.spark.file_systems import as_uri, reach
from substrait_dsl.spark.named import SESSION_CATALOG, statement_name
from substrait_dsl.spark.statements import changing, run
from substrait_dsl.spark.stored import in_catalog
from substrait_dsl.spark.table_files import TableFiles, refresh

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from substrait_dsl.spark.file_systems import FileSystem
    from substrait_dsl.spark.stored import StoredTable
    from substrait_dsl.spark.workspace import Workspace


def create(what: str, names: tuple[str, ...], definition: str, space: Workspace) -> None:
    """Make a table of rows; if it cannot be made, or its writer is killed, its name stays free.

    Args:
        what: what is being done, for messages.
        names: its name, which no table has.
        definition: what stands behind CREATE TABLE and the name.
        space: the workspace of the execution.

    Raises:
        ExecutionError: it could not be made, or another writer made one of this name meanwhile.
    """
    if space.is_rehearsal:
        return
    if in_catalog(names, space.spark)[0] != SESSION_CATALOG or _NUMBER.fullmatch(names[-1]):
        run(what, f"CREATE TABLE {statement_name(names)}{definition}", space)
        return
    fresh = _beside(names, "new")
    with _removed_on_error(fresh, space):
        run(what, f"CREATE TABLE {statement_name(fresh)}{definition}", space)
        require_going_on()
        run(what, _renamed(fresh, names, space), space)


def create_or_replace(
    what: str,
    old: StoredTable,
    definition: str,
    space: Workspace,
    rows: DataFrame,
    required: Collection[str],
    *,
    has_defaults: bool = False,
) -> None:
    """Put a new table in the place of one.

    Args:
        what: what is being done, for messages.
        old: the table that is there.
        definition: what stands behind CREATE TABLE and the name; it may read the old table, and names the format.
        space: the workspace of the execution.
        rows: those of the new one, with its columns.
        required: the columns that hold no NULL.
        has_defaults: whether its columns have default values.

    Raises:
        UnsupportedError: the old one is a branch, or the session writes one of it; or it cannot be renamed.
        ExecutionError: it could not be made; then the old table is what it was, or the message says where it is.
    """
    old.require_whole(what)
    old.require_main(what, space.spark)
    if old.is_iceberg:
        run(what, f"CREATE OR REPLACE TABLE {old.sql}{definition}", space)
        return
    if _NUMBER.fullmatch(old.names[-1]):
        raise UnsupportedError(f"{what}: Spark cannot rename a table whose name is a number", hint="drop it first")
    if space.is_rehearsal:
        return
    stored = TableFiles.of_table(old, space.spark)
    if (
        not has_defaults
        and stored.is_plain
        and old.required == {*required}
        and _columns(old.schema) == _columns(rows.schema)
        and (found := reach(stored.location, space.spark)) is not None
        and _exchange(what, old, stored, *found, rows, space)
    ):
        return
    _replace(what, old, definition, space)


def _columns(schema: StructType) -> list[tuple[str, str]]:
    return [(field.name, field.dataType.simpleString()) for field in schema.fields]


def _exchange(
    what: str,
    old: StoredTable,
    stored: TableFiles,
    files: FileSystem,
    folder: str,
    rows: DataFrame,
    space: Workspace,
) -> bool:
    """Exchange the folder of a table for one with other rows, in one step; False: there is no such step here."""
    if not files.is_folder(folder):
        return False
    with changing(what), staging(files, folder.rpartition("/")[0], what) as staged:
        if not files.can_exchange(staged.path):
            staged.remove()
            return False
        rows.write.format(old.format).options(**stored.options).save(as_uri(staged.rows))
        staged.staged()
        require_going_on()
        if not files.exchange(staged.rows, folder):
            staged.remove()
            return False
        staged.remove()
    refresh(old, stored, folder, space.spark)
    return True


def _replace(what: str, old: StoredTable, definition: str, space: Workspace) -> None:
    """Make the new table beside the old one, and exchange their names by two renamings."""
    fresh, aside = _beside(old.names, "new"), _beside(old.names, "old")
    with _removed_on_error(fresh, space):
        run(what, f"CREATE TABLE {statement_name(fresh)}{definition}", space)
        require_going_on()
        try:
            run(what, _renamed(old.names, aside, space), space)
            run(what, _renamed(fresh, old.names, space), space)
        except BaseException as error:
            _restore(what, old, aside, error, space)
            raise
    left = statement_name(aside)
    run(f"{what}: the table was replaced, but the old one is still there as {left}", f"DROP TABLE {left}", space)


def _restore(what: str, old: StoredTable, aside: tuple[str, ...], error: BaseException, space: Workspace) -> None:
    """Give the old table its name again, if it has another one. Raises `ExecutionError` if that is not possible."""
    if not space.spark.catalog.tableExists(statement_name(aside)):
        return
    try:
        space.sql(_renamed(aside, old.names, space))
    except spark_errors() as second:
        now = quoted([".".join(aside)])
        raise ExecutionError(
            f"{what}: the old table is called {now} now, and could not be renamed: {told(second)}",
            hint=f"ALTER TABLE {statement_name(aside)} RENAME TO {old.sql}, in Spark's SQL",
        ) from error


@contextmanager
def _removed_on_error(fresh: tuple[str, ...], space: Workspace) -> Iterator[None]:
    """Remove a table with a name that is nobody else's, and its folder, if anything fails."""
    try:
        yield
    except BaseException:
        with suppress(SubstraitDslError, OSError, *spark_errors()):
            space.sql(f"DROP TABLE IF EXISTS {statement_name(fresh)}")
            _, (*namespace, name) = in_catalog(fresh, space.spark)
            database = namespace[0] if namespace else space.spark.catalog.currentDatabase()
            around = space.spark.catalog.getDatabase(f"{SESSION_CATALOG}.{statement_name((database,))}").locationUri
            if (found := reach(f"{around}/{name.lower()}", space.spark)) is not None:
                files, folder = found
                files.delete(folder)  # a statement that fails leaves one without a table
        raise


def _beside(names: tuple[str, ...], word: str) -> tuple[str, ...]:
    """A name beside that of a table which no other has."""
    return (*names[:-1], f"{names[-1]}__{word}_{uuid.uuid4().hex[:12]}")


_NUMBER = re.compile(r"\d+(?:e\d+)?(?:[lsyfd]|bd)?", re.IGNORECASE)
"""What Spark reads as a number, also where a name stands, when it renames a table."""


def _renamed(table: tuple[str, ...], to: tuple[str, ...], space: Workspace) -> str:
    """The statement that renames a table; the new name is one in the table's own catalog."""
    _, name = in_catalog(to, space.spark)
    return f"ALTER TABLE {statement_name(table)} RENAME TO {statement_name(name)}"
