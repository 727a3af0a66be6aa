"""Names of tables and views."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from substrait_dsl.errors import ExecutionError, UnsupportedError, quote, suggestion
from substrait_dsl.spark.session.execution_context import VIEW_PREFIX
from substrait_dsl.spark.session.failures import failure_of, spark_errors
from substrait_dsl.spark.session.local import listed_tables
from substrait_dsl.texts import constant, table_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SESSION_CATALOG = "spark_catalog"
"""The name of Spark's own catalog."""
FILES = 'files have no name: read_files(path, schema), write(files_target(uri, "parquet"))'
SEVERAL_PARTS = 'a name of several parts is a tuple of them: ("database", "table")'


def is_path(name: str) -> bool:
    """Whether a name looks like the path of a file."""
    return "/" in name or name.lower().endswith((".parquet", ".orc", ".csv", ".arrow"))


def quoted_name(names: Sequence[str]) -> str:
    """Quote a name of one or more parts for a column of a DataFrame; in SQL text use `statement_name`."""
    return ".".join(f"`{name.replace('`', '``')}`" for name in names)


def statement_name(names: Sequence[str]) -> str:
    """Quote a name for any text that Spark parses: a statement, a query, the name of a table or a view.

    Raises `UnsupportedError` for a name in which Spark would substitute a setting or an environment variable.
    """
    for name in names:
        if "${" in name:
            raise UnsupportedError(
                f"the name {quote([name])} holds ${{, in whose place Spark puts a setting of its own"
            )
    return quoted_name(names)


def column_list(names: Iterable[str]) -> str:
    """Quote a list of columns for a text that Spark parses; raises as `statement_name` does."""
    return ", ".join(statement_name((name,)) for name in names)


def named_frame(names: tuple[str, ...], spark: SparkSession) -> DataFrame:
    """Return a table or view by its name. Raises `ExecutionError` if it does not exist."""
    frame = frame_if_there(names, spark)
    if frame is None:
        error = not_found_error(names, spark)
        error.table = names
        raise error
    return frame


def frame_if_there(names: tuple[str, ...], spark: SparkSession) -> DataFrame | None:
    """Return a table or view by its name; None: it does not exist.

    It is asked for as a DataFrame: where SQL text asks for what is not there, Spark 4.1 prints pages on the terminal.

    Raises:
        UnsupportedError: Spark would put a setting into the name.
        ExecutionError: there is no such catalog or branch.
    """
    name = statement_name(names)
    if is_format_and_path(names, spark):
        return None
    try:
        frame = spark.sql(f"TABLE {name}") if "`" in "".join(names) else spark.table(name)
        _ = frame.schema  # where a session is remote, only this asks for the table
        return frame
    except spark_errors() as error:
        failure = failure_of(error, analysis=True)
        condition = "" if failure is None else failure.condition
        if failure is not None and condition == "TABLE_OR_VIEW_NOT_FOUND":
            missing = failure.parameters.get("relationName", "").lower()
            if not missing or missing.endswith(name.lower()):
                return None
            raise  # it is a view of something that is not there
        if condition == _NO_NAMESPACE:  # what Spark's own catalog says of what is not its own
            raise _no_catalog(names, spark) from error
        if _NO_BRANCH in str(error):
            table, branch = ".".join(names[:-1]), names[-1].partition("_")[2]
            raise ExecutionError(
                f"table {quote([table])} has no branch {quote([branch])}",
                hint=f"ALTER TABLE {table} CREATE BRANCH {branch} makes it, in Spark's SQL",
            ) from error
        raise


def is_format_and_path(names: Sequence[str], spark: SparkSession) -> bool:
    """Whether Spark would take a name for a format and the path of a file, since the catalog has no such table.

    Spark does so for any name of two parts, ``text.`/etc/hosts` ``, if it finds no table or view.
    """
    if len(names) != 2 or spark.conf.get(_FILES_BY_NAME, "true") == "false":
        return False
    try:
        if spark.catalog.tableExists(statement_name(names)):
            return False
        # A catalog that is not Spark's own may have views, which are no tables to it. By three parts there is no path.
        qualified = statement_name((spark.catalog.currentCatalog(), *names))
        _ = spark.table(qualified).schema
    except spark_errors() as error:
        failure = failure_of(error, analysis=True)
        if failure is None or failure.condition not in (*_NOT_THERE, _NO_NAMESPACE):
            raise
        return failure.condition != _NO_NAMESPACE  # its first part is a catalog, not a format
    return False


_FILES_BY_NAME = "spark.sql.runSQLOnFiles"
_NOT_THERE = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")
_NO_NAMESPACE = "REQUIRES_SINGLE_PART_NAMESPACE"

_NO_BRANCH = "Cannot use branch (does not exist)"


def _no_catalog(names: Sequence[str], spark: SparkSession) -> ExecutionError:
    """The error for a qualified name whose first part is no catalog."""
    found = (_CATALOG.fullmatch(setting) for setting in spark.conf.getAll)
    known = sorted({SESSION_CATALOG, *(setting[1] for setting in found if setting)})
    if names[0] in known:
        return ExecutionError(
            f"the name {quote(['.'.join(names)])} has {len(names)} parts, and one in the catalog {quote(names[:1])} "
            "has three: the catalog, a database and a table"
        )
    return ExecutionError(
        f"there is no catalog {quote(names[:1])}, which the name {quote(['.'.join(names)])} begins with; there are "
        f"{quote(known)}",
        hint=suggestion(names[0], known) or f'the setting "spark.sql.catalog.{names[0]}" makes one',
    )


_CATALOG = re.compile(r"spark\.sql\.catalog\.([^.]+)")


def is_temporary(name: str, spark: SparkSession) -> bool:
    """Whether the session has a temporary view of this name, in any case of letters."""
    return any(table.isTemporary and table.name.lower() == name.lower() for table in listed_tables(spark))


_SPARKS_OWN = "_pyspark_"
"""The prefix of the views that pyspark creates for a query over a DataFrame, and drops after it."""


def not_found_error(
    names: Sequence[str], spark: SparkSession, *, object_type: str = "table", may_be_passed: bool = True
) -> ExecutionError:
    """The error for a missing table or view, with those that exist; `may_be_passed` allows the hint to pass rows."""
    there = tables_in(names[:-1], spark)
    pass_rows = (
        f"give its rows, for this execution alone: tables={{{table_key(names)}: frame}}" if may_be_passed else None
    )
    if there is None:
        return ExecutionError(
            f"there is no {object_type} {quote(['.'.join(names)])}, nor a database {quote(['.'.join(names[:-1])])}",
            hint=FILES if len(names) == 2 and is_path(names[-1]) else pass_rows,
        )
    known = [name for name in there if not name.startswith((VIEW_PREFIX, _SPARKS_OWN)) and not OF_WRITER.search(name)]
    if aside := find_of_writers(names[-1], "old", there):
        return ExecutionError(
            f"there is no {object_type} {quote(['.'.join(names)])} just now: a writer that replaces it has called "
            f"the old one {quote(aside)}",
            hint="run it again; if that writer was killed, ALTER TABLE ... RENAME TO ... in Spark's SQL brings it back",
        )
    if len(names) <= 2 and is_path(names[-1]):
        hint: str | None = FILES
    elif len(names) == 1 and "." in names[0]:
        hint = SEVERAL_PARTS
    else:
        if pass_rows is not None and len(names) == 1:
            pass_rows += f", or register a DataFrame under that name: df.createOrReplaceTempView({constant(names[0])})"
        hint = suggestion(names[-1], known) or pass_rows
    return ExecutionError(f"there is no {object_type} {quote(['.'.join(names)])}; there are {quote(known)}", hint=hint)


OF_WRITER = re.compile(r"__(?:new|old)_[0-9a-f]{12}\Z")
"""The suffix of a table that a writer has created or renamed, to replace one."""


def find_of_writers(name: str, word: Literal["new", "old"], there: Sequence[str]) -> list[str]:
    """Return the temporary names of a table that a writer creates or replaces, or did when it was killed.

    Args:
        name: the name that the table is to have, or had.
        word: which of the two.
        there: the names that there are.
    """
    start = f"{name}__{word}_".lower()
    return [each for each in there if each.lower().startswith(start) and OF_WRITER.search(each)]


def tables_in(namespace: Sequence[str], spark: SparkSession) -> list[str] | None:
    """Return the tables and views of a namespace, by default of the current one; None: it does not exist."""
    if not namespace:
        return [table.name for table in listed_tables(spark)]
    try:
        return [row["tableName"] for row in spark.sql(f"SHOW TABLES IN {statement_name(namespace)}").collect()]
    except spark_errors():  # a catalog says in its own way that it has no such namespace
        return None
