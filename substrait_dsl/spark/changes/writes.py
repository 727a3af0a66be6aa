"""Writes: insert into a table, delete and update rows by input rows, and create tables of rows.

Each is one statement, so that a table has all of it or nothing. What Spark's own formats cannot do in one statement is
refused, except for replacing a table: see `table_replacement`. Specification:
https://substrait.io/relations/logical_relations/#write-operator.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra.plan import Root
from substrait_dsl.algebra.relations import ExtensionObject, FilesTarget, NamedObject, VirtualTarget, Write
from substrait_dsl.algebra.types import UUID, Type
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError, quote
from substrait_dsl.spark.catalog.table_metadata import (
    ICEBERG,
    StoredTable,
    find_table,
    format_of_new,
    need_table,
    title,
)
from substrait_dsl.spark.catalog.table_names import column_list, statement_name
from substrait_dsl.spark.changes.iceberg_snapshots import change_table
from substrait_dsl.spark.changes.inserts import insert
from substrait_dsl.spark.changes.sinks import write_files, write_view
from substrait_dsl.spark.changes.statements import (
    nested_cast,
    no_output,
    no_rows,
    pairs,
    qualify_columns,
    required_property,
    run_change,
    sql_type,
    using,
)
from substrait_dsl.spark.changes.table_replacement import create, create_or_replace
from substrait_dsl.spark.expressions.templates import require_comparable
from substrait_dsl.spark.expressions.types import holds, to_spark
from substrait_dsl.spark.lowering import Lowering
from substrait_dsl.spark.sources.orc_files import ORC_FILES, with_day_checks
from substrait_dsl.spark.sources.reads import as_inside
from substrait_dsl.spark.sources.schema_compatibility import (
    columns_in,
    is_of_length,
    require_distinct,
    require_lossless,
)
from substrait_dsl.spark.sources.write_guards import write_inserted_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

    from substrait_dsl.spark.session.execution_context import ExecutionContext


def write(rel: Write, execution: ExecutionContext) -> DataFrame:
    """Write rows; return no rows, or the modified records.

    Raises:
        UnsupportedError: the target cannot hold the rows, or its format cannot do what is asked for.
        SchemaError: the table does not fit the declared columns.
        ExecutionError: a table that should be there is not, or the reverse; or another writer has changed it meanwhile.
    """
    require_distinct(rel.table_schema, "write")
    match rel.target:
        case NamedObject(names=names, extension=extension):
            if extension is not None and extension.enhancement is not None:
                raise UnsupportedError(f"{title(names)} carries an enhancement that Spark does not know")
            return _to_table(rel, names, execution)
        case FilesTarget() as target:
            return write_files(rel, target, _input_rows(rel, execution), execution)
        case VirtualTarget() as target:
            return write_view(rel, target, _input_rows(rel, execution), execution)
        case ExtensionObject(detail=detail):
            raise UnsupportedError(f"Spark does not know how to write to an object of the type {detail.type_url}")
        case never:
            assert_never(never)


def _input_rows(rel: Write, execution: ExecutionContext, *, checkpoint: bool = False) -> DataFrame:
    """Return the input rows under the names of the table's columns; checkpointed if they are used again."""
    frame = Lowering(execution).lower_root(Root(rel.input, _names(rel)))
    is_checkpointed = (checkpoint or rel.output == "modified_records") and not execution.is_rehearsal
    return frame.localCheckpoint() if is_checkpointed else frame


def _names(rel: Write) -> tuple[str, ...]:
    return rel.table_schema.depth_first_names()


def _result(rel: Write, frame: DataFrame) -> DataFrame:
    """Return the output of a write with these records."""
    return frame if rel.output == "modified_records" else no_output(frame.sparkSession)


def _to_table(rel: Write, names: tuple[str, ...], execution: ExecutionContext) -> DataFrame:
    match rel.op:
        case "insert":
            return _insert(rel, need_table(names, execution.spark, 'op="ctas" makes the table of the rows'), execution)
        case "ctas":
            return _ctas(rel, names, execution)
        case "delete":
            return _delete(rel, need_table(names, execution.spark), execution)
        case "update":
            return _update(rel, need_table(names, execution.spark), execution)
        case never:
            assert_never(never)


def _insert(rel: Write, table: StoredTable, execution: ExecutionContext) -> DataFrame:
    columns = columns_in(table, rel.table_schema)
    what = f"insert into {table.title}"
    require_lossless(table.schema, table.format, what, execution.spark)
    frame = _input_rows(rel, execution)
    # The files of an Iceberg table have the partition columns, too.
    partition_columns = set() if table.format == ICEBERG else set(table.partitions)
    folders = {
        name for name, column in zip(rel.table_schema.names, columns, strict=True) if column in partition_columns
    }
    source = nested_cast(_with_checks(frame, table.files, folders), _types(table, columns))
    texts = [statement_name((name,)) for name in rel.table_schema.names]
    values = write_inserted_values(table, columns, texts, what, execution.spark)
    insert(table, columns, values, source, what, execution)
    return _result(rel, frame)


def _with_checks(frame: DataFrame, format_: str, partition_columns: Container[str] = ()) -> DataFrame:
    """Add the checks that a format needs to rows; some columns are not in its files."""
    return with_day_checks(frame, format_, partition_columns) if format_ in ORC_FILES else frame


def _types(table: StoredTable, columns: Sequence[str]) -> list[DataType]:
    types = {field.name: field.dataType for field in table.schema.fields}
    return [types[column] for column in columns]


def _ctas(rel: Write, names: tuple[str, ...], execution: ExecutionContext) -> DataFrame:
    what = f"ctas of {title(names)}"
    found = find_table(names, execution.spark)
    if found is not None and rel.create_mode == "append_if_exists":
        return _insert(rel, found, execution)
    if found is not None and rel.create_mode == "ignore_if_exists":
        return _result(rel, no_rows(to_spark(rel.schema), execution.spark))
    if found is not None and rel.create_mode == "error_if_exists":
        raise ExecutionError(
            f"{what}: there is a table of this name already",
            hint='create_mode="replace_if_exists", "append_if_exists" or "ignore_if_exists"',
        )
    frame = _input_rows(rel, execution)
    schema: StructType = frame.schema
    format_ = found.format if found is not None else format_of_new(names, what, execution.spark)
    require_lossless(schema, format_, what, execution.spark)
    source = execution.register_frame(_with_checks(frame, format_ if found is None else found.files))
    rows = f"SELECT {_forget_lengths(schema)} FROM {source}"
    definition = f"{using(format_)}{required_property(rel.table_schema, found)} AS {rows}"
    if found is None:
        create(what, names, definition, execution)
    else:
        required = [field.name for field in rel.table_schema if not field.type.nullable]
        create_or_replace(what, found, definition, execution, execution.sql(rows), required)
    return _result(rel, frame)


def _forget_lengths(schema: StructType) -> str:
    """Write a select list of all columns, without the CHAR and VARCHAR lengths of the tables that they come from."""
    if not any(map(is_of_length, schema.fields)):
        return "*"
    names = [statement_name((field.name,)) for field in schema.fields]
    return ", ".join(
        f"CAST({name} AS {sql_type(field.dataType)}) AS {name}" if is_of_length(field) else name
        for name, field in zip(names, schema.fields, strict=True)
    )


def _delete(rel: Write, table: StoredTable, execution: ExecutionContext) -> DataFrame:
    """Delete as many copies of each row as the input has.

    A MERGE deletes all copies of a row, and inserts the excess copies again.
    """
    what = f"delete from {table.title}"
    table.require_rows_change(what)
    columns = columns_in(table, rel.table_schema, adds_rows=False)
    if others := [name for name in table.schema.names if name not in columns]:
        raise SchemaError(f"{what}: rows are known by all their columns, and the given ones lack {quote(others)}")
    for type_ in rel.table_schema.types:
        require_comparable(type_, what)
    frame = nested_cast(_input_rows(rel, execution, checkpoint=True), _types(table, columns))
    keys, (group, number, copies, gone) = _new_names(table, len(columns), execution), _new_names(table, 4, execution)
    source = execution.register_frame(frame.toDF(*keys))
    key_list = ", ".join(keys)
    compared = partial(_normalize_columns, types=rel.table_schema.types)
    written, stored = compared(qualify_columns("__row", columns)), compared(qualify_columns("__old", columns))
    input_keys = compared(keys)
    counted = f"(SELECT {key_list}, count(*) AS {copies} FROM {source} GROUP BY {key_list}) AS {group}"

    def number_duplicates(rows: str) -> str:
        """Number the rows that equal an input row, among their equals."""
        return (
            f"(SELECT __old.*, row_number() OVER (PARTITION BY {', '.join(stored)} ORDER BY 1) AS {number}, "
            f"{copies} FROM {rows} AS __old JOIN {counted} ON {' AND '.join(pairs(stored, input_keys, '<=>'))})"
        )

    excess = f"SELECT false, {column_list(columns)} FROM {number_duplicates(table.sql)} WHERE {number} > {copies}"
    rows = f"SELECT DISTINCT true AS {gone}, {key_list} FROM {source} UNION ALL {excess}"
    text = (
        f"MERGE INTO {table.sql} AS __row USING ({rows}) AS {group} "
        f"ON {gone} AND {' AND '.join(pairs(written, input_keys, '<=>'))} WHEN MATCHED THEN DELETE "
        f"WHEN NOT MATCHED AND NOT {gone} THEN INSERT ({column_list(columns)}) VALUES ({key_list})"
    )

    def deleted_rows(stored: str) -> DataFrame:
        query = f"SELECT {column_list(columns)} FROM {number_duplicates(stored)} WHERE {number} <= {copies}"
        return execution.sql(query).localCheckpoint()

    return _run_write(rel, what, text, table, deleted_rows, execution)


def _new_names(table: StoredTable, how_many: int, execution: ExecutionContext) -> list[str]:
    """Return new names that no column of the table has."""
    used = {name.lower() for name in table.schema.names}
    names = iter(execution.name, "")
    return list(islice((name for name in names if name not in used), how_many))


def _run_write(
    rel: Write, what: str, text: str, table: StoredTable, ask: Callable[[str], DataFrame], execution: ExecutionContext
) -> DataFrame:
    """Run the statement of a write to an Iceberg table; return the modified records if the write outputs them.

    `ask` computes them from the table before the statement.
    """
    if rel.output == "no_output":
        run_change(what, text, execution)
        return _result(rel, no_output(execution.spark))
    records = change_table(what, text, table, execution, ask)
    return _result(rel, records if records is not None else no_rows(to_spark(rel.schema), execution.spark))


def _normalize_columns(columns: Sequence[str], types: Sequence[Type]) -> list[str]:
    """Normalize columns that hold UUIDs, which tables may have in another spelling."""
    return [as_inside(text, type_) if holds(type_, UUID) else text for text, type_ in zip(columns, types, strict=True)]


def _update(rel: Write, table: StoredTable, execution: ExecutionContext) -> DataFrame:
    """Replace the rows with the same identifier fields, which an Iceberg table may have."""
    what = f"update of {table.title}"
    table.require_rows_change(what)
    columns = columns_in(table, rel.table_schema, adds_rows=False)
    keys = [name for name in columns if name in table.identifiers]
    if not keys or len(keys) < len(table.identifiers):
        raise UnsupportedError(
            f"{what}: which row of the table a row of the input stands for is not known: the table has "
            + (f"the key {quote(table.identifiers)}" if table.identifiers else "no identifier fields"),
            hint="declare all columns of the key"
            if table.identifiers
            else "sd.update(...) changes rows by a condition",
        )
    replaced = [name for name in columns if name not in keys]
    if not replaced:
        raise UnsupportedError(f"{what}: the input has the columns of the key only, and those stay")
    checked = _with_checks(_input_rows(rel, execution, checkpoint=True), table.files)  # it may be computed twice
    frame = nested_cast(checked, _types(table, columns))
    fresh = _new_names(table, len(columns), execution)
    new = dict(zip(columns, fresh, strict=True))
    source = execution.register_frame(frame.toDF(*fresh))
    types = [type_ for name, type_ in zip(columns, rel.table_schema.types, strict=True) if name in keys]
    stored = _normalize_columns(qualify_columns("__row", keys), types)
    same = " AND ".join(pairs(stored, _normalize_columns([new[key] for key in keys], types), "="))
    sets = ", ".join(
        f"{name} = {new[column]}" for name, column in zip(qualify_columns("__row", replaced), replaced, strict=True)
    )
    text = f"MERGE INTO {table.sql} AS __row USING {source} AS __new ON {same} WHEN MATCHED THEN UPDATE SET {sets}"
    new_columns = ", ".join(f"{new[column]} AS {statement_name((column,))}" for column in columns)

    def records(stored: str) -> DataFrame:
        return execution.sql(f"SELECT {new_columns} FROM {source} JOIN {stored} AS __row ON {same}").localCheckpoint()

    return _run_write(rel, what, text, table, records, execution)
