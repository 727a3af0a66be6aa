"""A new table in the place of an old one.

A catalog that can replace a table does so in one step. Spark's own cannot: there the new table is made under a name of
its own first, which is most of the work and may fail, and then takes the old one's place by two renamings.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError
from substrait_dsl.spark.failures import failure_of, spark_errors, told
from substrait_dsl.spark.named import statement_name
from substrait_dsl.spark.statements import changing, run

if TYPE_CHECKING:
    from substrait_dsl.spark.stored import StoredTable
    from substrait_dsl.spark.workspace import Workspace

_CANNOT = "UNSUPPORTED_FEATURE.TABLE_OPERATION"


def create_or_replace(what: str, old: StoredTable, definition: str, space: Workspace) -> None:
    """Put a new table in the place of one.

    Args:
        what: what is being done, for messages.
        old: the table that is there.
        definition: what stands behind CREATE TABLE and the name; it may read the old table.
        space: the workspace of the execution.

    Raises:
        ExecutionError: it could not be made; then the old table is what it was, or the message says where it is.
    """
    with changing(what):
        try:
            space.sql(f"CREATE OR REPLACE TABLE {old.sql}{definition}")
            return
        except spark_errors() as error:  # nothing has run: a catalog says beforehand what it cannot do
            failure = failure_of(error, analysis=True)
            if failure is None or failure.condition != _CANNOT:
                raise
    number = uuid.uuid4().hex[:12]
    fresh, aside = (statement_name((*old.names[:-1], f"{old.names[-1]}__{word}_{number}")) for word in ("new", "old"))
    try:
        run(what, f"CREATE TABLE {fresh}{definition}", space)
        run(what, f"ALTER TABLE {old.sql} RENAME TO {aside}", space)
    except ExecutionError:
        space.sql(f"DROP TABLE IF EXISTS {fresh}")
        raise
    try:
        space.sql(f"ALTER TABLE {fresh} RENAME TO {old.sql}")
    except spark_errors() as error:
        space.sql(f"ALTER TABLE {aside} RENAME TO {old.sql}")
        space.sql(f"DROP TABLE IF EXISTS {fresh}")
        raise ExecutionError(f"{what}: {told(error)}") from error
    run(f"{what}: the table was replaced, but the old one is still there as {aside}", f"DROP TABLE {aside}", space)
