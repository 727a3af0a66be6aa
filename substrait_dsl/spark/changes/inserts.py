"""Inserts into file tables of Spark: rows are staged in the table's folder, and become visible at once.

Spark's own statement writes to a temporary folder that all writers share: it adds what a killed writer has left, and
one of two concurrent writers removes what the other has written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

from substrait_dsl.errors import ExecutionError, quote
from substrait_dsl.spark.catalog.table_names import statement_name
from substrait_dsl.spark.changes.commits import PartitionCatalog, Staging, recover, staging
from substrait_dsl.spark.changes.file_systems import as_uri, reach
from substrait_dsl.spark.changes.statements import (
    changing,
    error_class_of,
    reporting_replaced,
    run,
    run_change,
    sql_type,
    string,
)
from substrait_dsl.spark.changes.table_files import TableFiles, refresh
from substrait_dsl.spark.changes.table_replacement import require_in_place
from substrait_dsl.spark.session.cancellation import hold_interrupts
from substrait_dsl.spark.session.change_outcomes import note_outcome
from substrait_dsl.spark.session.failures import failure_of, spark_errors
from substrait_dsl.spark.sources.partition_values import NULL_FOLDER
from substrait_dsl.spark.sources.paths import path_here
from substrait_dsl.spark.sources.schema_compatibility import default_value, fixed_length

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

    from substrait_dsl.spark.catalog.table_metadata import StoredTable
    from substrait_dsl.spark.changes.file_systems import FileSystem
    from substrait_dsl.spark.session.execution_context import ExecutionContext

_STAGED = ("parquet", "orc", "avro")
"""The formats whose files are staged; tables of another format use Spark's own statement."""
_TEMPORARY = "_temporary"
"""The temporary folder that all writers of Hadoop share."""
_MAX_PARTITIONS = 100
"""The most partitions that one statement adds to the catalog."""


def insert(
    table: StoredTable,
    columns: Sequence[str],
    values: Sequence[str],
    source: DataFrame,
    what: str,
    execution: ExecutionContext,
) -> None:
    """Insert rows into a table of Spark's own.

    Args:
        table: the table.
        columns: those of its columns that get values; the others get their defaults.
        values: the values, as SQL text over the rows, whose columns have distinct names.
        source: the rows.
        what: what is being done, for messages.
        execution: the execution context.

    Raises:
        ExecutionError: a row cannot be computed, or the files cannot be written; then nothing was inserted.
    """
    if execution.is_rehearsal:
        return
    spark = execution.spark
    with reporting_replaced(what):
        stored = TableFiles.of_table(table, spark) if table.format in _STAGED else None
    found = None if stored is None or stored.is_bucketed or not stored.location else reach(stored.location, spark)
    if stored is None or found is None:
        if stored is not None:
            require_alone(stored.location, what, spark)
        selected = f"SELECT {', '.join(values)} FROM {execution.register_frame(source)}"
        run_change(what, f"INSERT INTO {table.sql} ({_list(columns)}) {selected}", execution)
        return
    files, folder = found
    if not files.is_folder(folder):
        require_in_place(table, files, folder, what, spark)
    needs_none = _needs_no_projection(table, columns, values)
    texts = None if needs_none else list(_projection(table, dict(zip(columns, values, strict=True))))
    _insert_files(table, stored, files, folder, source, texts, what, execution)


def _projection(table: StoredTable, by_column: Mapping[str, str]) -> Iterator[str]:
    """Yield the values of a table's columns, given some of them."""
    for field in table.schema.fields:
        value = _pad_to_length(field, by_column.get(field.name) or _default(field))
        yield f"{value} AS {statement_name((field.name,))}"


def _insert_files(
    table: StoredTable,
    table_files: TableFiles,
    files: FileSystem,
    folder: str,
    source: DataFrame,
    select_list: Sequence[str] | None,
    what: str,
    execution: ExecutionContext,
) -> None:
    """Stage rows in the folder of a table, and commit them.

    `select_list` computes the table's columns from the rows; None: the rows have these columns already.
    """
    catalog = None
    if table_files.is_tracked:
        catalog = PartitionCatalog(
            partial(_register, table, what, execution), partial(_locate, table, folder, execution)
        )
    with (
        reporting_replaced(what),
        changing(what),
        _staging(table, files, folder, what, execution.spark) as staged,
    ):
        recover(files, folder, catalog)
        rows = source if select_list is None else source.selectExpr(*select_list)
        writer = rows.write.format(table.format).options(**table_files.options)
        if table.partitions:
            writer = writer.partitionBy(*table.partitions)
        writer.save(as_uri(staged.rows))
        unknown = [] if catalog is None else _unknown_partitions(table, staged.list_staged_files(), execution)
        with hold_interrupts():
            staged.commit(unknown, catalog)
            note_outcome("made")
            with _if_there():
                refresh(table, table_files, folder, execution.spark)


@contextmanager
def _staging(table: StoredTable, files: FileSystem, folder: str, what: str, spark: SparkSession) -> Iterator[Staging]:
    """A staging folder inside of a table's folder; it is removed if the table is dropped meanwhile."""
    is_new = not files.is_folder(folder)
    try:
        with staging(files, folder, what) as staged:
            if is_new and not spark.catalog.tableExists(table.sql):
                raise staged.staging_gone_error(f"{what}: ")
            yield staged
    except BaseException:
        with suppress(OSError, *spark_errors()):
            if is_new or not spark.catalog.tableExists(table.sql):
                files.delete_empty(folder)
        raise


@contextmanager
def _if_there() -> Iterator[None]:
    """Ignore Spark's error for a table that another writer has replaced or dropped after the change."""
    try:
        yield
    except spark_errors() as error:
        if error_class_of(error) != "TABLE_OR_VIEW_NOT_FOUND":
            raise


def require_alone(location: str, what: str, spark: SparkSession) -> None:
    """Raise `ExecutionError` for the temporary folder of another writer, whose rows Spark would commit, too."""
    try:
        _ = spark.read.format("binaryFile").load(f"{location}/{_TEMPORARY}").schema
    except spark_errors() as error:
        failure = failure_of(error, analysis=True)
        if failure is not None and failure.error_class == "PATH_NOT_FOUND":
            return
        raise
    raise ExecutionError(
        f"{what}: another writer is at work there, or was killed: there is {quote([f'{location}/{_TEMPORARY}'])}",
        hint="if no writer is at work, remove that folder; what is in it was never part of the table",
    )


def _needs_no_projection(table: StoredTable, columns: Sequence[str], values: Sequence[str]) -> bool:
    """Whether the rows need no projection: they have the table's columns in order, unchanged."""
    return [*columns] == table.schema.names and all(
        value == statement_name((field.name,)) and fixed_length(field) is None
        for field, value in zip(table.schema.fields, values, strict=True)
    )


def _list(columns: Iterable[str]) -> str:
    return ", ".join(statement_name((column,)) for column in columns)


def _pad_to_length(field: StructField, value: str) -> str:
    """Write a value padded with spaces to the length of a CHAR column."""
    length = fixed_length(field)
    return value if length is None else f"rpad({value}, {length}, ' ')"


def _default(field: StructField) -> str:
    """Write the default value of a column."""
    return f"CAST(({default_value(field)}) AS {sql_type(field.dataType)})"


def _unknown_partitions(table: StoredTable, staged: Sequence[str], execution: ExecutionContext) -> list[str]:
    """Return the partitions of staged files that the catalog does not have, by their folders."""
    known = _known_partitions(table, execution)
    return [name for name in dict.fromkeys(map(os.path.dirname, staged)) if name not in known]


def _known_partitions(table: StoredTable, execution: ExecutionContext) -> set[str]:
    return {row[0] for row in execution.sql(f"SHOW PARTITIONS {table.sql}").collect()}


def _locate(table: StoredTable, folder: str, execution: ExecutionContext, partitions: Sequence[str]) -> dict[str, str]:
    """Return the locations of partitions that are outside of the table's folder, by the names of their folders."""
    folders: dict[str, str] = {}
    for name in _known_partitions(table, execution).intersection(partitions):
        text = f"DESCRIBE TABLE EXTENDED {table.sql} PARTITION ({_specification(name)})"
        # The location of the table follows that of the partition.
        location = next((row[1] for row in execution.sql(text).collect() if row[0] == "Location"), "")
        own = _without_scheme(location)
        if own and own != _without_scheme(f"{folder}/{name}"):
            folders[name] = own
    return folders


def _without_scheme(location: str) -> str:
    """Return a location without the scheme of local files."""
    return (path_here(location) or location).rstrip("/")


def _register(table: StoredTable, what: str, execution: ExecutionContext, partitions: Sequence[str]) -> None:
    """Add partitions to the catalog, by their folders."""
    for first in range(0, len(partitions), _MAX_PARTITIONS):
        some = partitions[first : first + _MAX_PARTITIONS]
        clauses = " ".join(f"PARTITION ({_specification(name)})" for name in some)
        run(what, f"ALTER TABLE {table.sql} ADD IF NOT EXISTS {clauses}", execution)


def _specification(folder: str) -> str:
    """Write a partition in a statement, given its folder."""
    parts = (part.split("=", 1) for part in folder.split("/"))
    return ", ".join(
        f"{statement_name((unquote(name),))} = {'NULL' if value == NULL_FOLDER else string(unquote(value))}"
        for name, value in parts
    )
