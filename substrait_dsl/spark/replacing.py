"""A new table in the place of an old one.

A catalog of Iceberg tables replaces one in one step. Spark's own cannot: there the new table is made under a name of
its own first, which is most of the work and may fail, and then takes the old one's place by two renamings.
"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.failures import spark_errors, told
from substrait_dsl.spark.named import statement_name
from substrait_dsl.spark.statements import run
from substrait_dsl.spark.stored import in_catalog

if TYPE_CHECKING:
    from substrait_dsl.spark.stored import StoredTable
    from substrait_dsl.spark.workspace import Workspace


def create_or_replace(what: str, old: StoredTable, definition: str, space: Workspace) -> None:
    """Put a new table in the place of one.

    Args:
        what: what is being done, for messages.
        old: the table that is there.
        definition: what stands behind CREATE TABLE and the name; it may read the old table, and names the format.
        space: the workspace of the execution.

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
    number = uuid.uuid4().hex[:12]
    fresh, aside = ((*old.names[:-1], f"{old.names[-1]}__{word}_{number}") for word in ("new", "old"))
    try:
        run(what, f"CREATE TABLE {statement_name(fresh)}{definition}", space)
        run(what, _renamed(old.names, aside, space), space)
    except ExecutionError:
        space.sql(f"DROP TABLE IF EXISTS {statement_name(fresh)}")
        raise
    try:
        space.sql(_renamed(fresh, old.names, space))
    except spark_errors() as error:
        space.sql(_renamed(aside, old.names, space))
        space.sql(f"DROP TABLE IF EXISTS {statement_name(fresh)}")
        raise ExecutionError(f"{what}: {told(error)}") from error
    left = statement_name(aside)
    run(f"{what}: the table was replaced, but the old one is still there as {left}", f"DROP TABLE {left}", space)


_NUMBER = re.compile(r"\d+(?:e\d+)?(?:[lsyfd]|bd)?", re.IGNORECASE)
"""What Spark reads as a number, also where a name stands, when it renames a table."""


def _renamed(table: tuple[str, ...], to: tuple[str, ...], space: Workspace) -> str:
    """The statement that renames a table; the new name is one in the table's own catalog."""
    _, name = in_catalog(to, space.spark)
    return f"ALTER TABLE {statement_name(table)} RENAME TO {statement_name(name)}"
