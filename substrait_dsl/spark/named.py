"""Tables and views by the names that users gave them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.errors import ExecutionError, UnsupportedError, quoted, suggestion
from substrait_dsl.spark.workspace import VIEW_PREFIX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEVERAL_PARTS = 'a name of several parts is a tuple of them: ("database", "table")'


def quoted_name(names: Sequence[str]) -> str:
    """A name of one or more parts as SQL text."""
    return ".".join(f"`{name.replace('`', '``')}`" for name in names)


def statement_name(names: Sequence[str]) -> str:
    """A name as part of a statement that changes something.

    Raises `UnsupportedError` for what Spark would replace before it reads the statement.
    """
    for name in names:
        if "${" in name:
            raise UnsupportedError(
                f"the name {quoted([name])} holds ${{, in whose place Spark puts a setting of its own"
            )
    return quoted_name(names)


def column_list(names: Iterable[str]) -> str:
    """Columns, separated by commas, as part of a statement that changes something; raises as `statement_name` does."""
    return ", ".join(statement_name((name,)) for name in names)


def named_frame(names: tuple[str, ...], spark: SparkSession) -> DataFrame:
    """A table or view by its name. Raises `ExecutionError` if it is not there."""
    from pyspark.errors import AnalysisException

    try:
        frame = spark.sql(f"TABLE {quoted_name(names)}") if "`" in "".join(names) else spark.table(quoted_name(names))
        _ = frame.schema  # where a session is remote, only this asks for the table
        return frame
    except AnalysisException as error:
        if error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        raise not_there(names, spark) from error


def is_temporary(name: str, spark: SparkSession) -> bool:
    """Whether the session has a temporary view of this name, whatever its case."""
    return any(table.isTemporary and table.name.lower() == name.lower() for table in spark.catalog.listTables())


def not_there(names: Sequence[str], spark: SparkSession) -> ExecutionError:
    """The error of a table that is not there, with those that are."""
    known = list(filter(lambda name: not name.startswith(VIEW_PREFIX), _tables_in(names[:-1], spark)))
    if len(names) == 1 and "." in names[0]:
        hint: str | None = SEVERAL_PARTS
    elif len(names) == 1:
        hint = suggestion(names[0], known) or "register a DataFrame under that name: df.createOrReplaceTempView(...)"
    else:
        hint = suggestion(names[-1], known)
    return ExecutionError(f"there is no table {quoted(['.'.join(names)])}; there are {quoted(known)}", hint=hint)


def _tables_in(namespace: Sequence[str], spark: SparkSession) -> list[str]:
    """The tables and views of a namespace, by default of the current one; none, if there is no such namespace."""
    from pyspark.errors import AnalysisException

    if not namespace:
        return [table.name for table in spark.catalog.listTables()]
    try:
        return [row["tableName"] for row in spark.sql(f"SHOW TABLES IN {quoted_name(namespace)}").collect()]
    except AnalysisException:
        return []
