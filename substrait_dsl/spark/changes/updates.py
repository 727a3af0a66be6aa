"""Updates: one statement, and the number of rows that it changes.

Specification: https://substrait.io/relations/logical_relations/#update-operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra.node import Node
from substrait_dsl.algebra.relations import Update
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.algebra.types import List, Map, Struct
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.catalog.table_metadata import StoredTable, need_table
from substrait_dsl.spark.catalog.table_names import statement_name
from substrait_dsl.spark.changes.iceberg_snapshots import change_table
from substrait_dsl.spark.changes.statements import qualify_columns, sql_type
from substrait_dsl.spark.lowering import Lowering
from substrait_dsl.spark.relations.expression_context import has_correlated, prepare_context, subqueries_of
from substrait_dsl.spark.relations.output import guard_nullability
from substrait_dsl.spark.relations.tables import Rows, all_true
from substrait_dsl.spark.relations.texts import TextTable
from substrait_dsl.spark.sources.orc_files import ORC_FILES, checked_value
from substrait_dsl.spark.sources.reads import as_inside
from substrait_dsl.spark.sources.schema_compatibility import columns_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from substrait_dsl.spark.session.execution_context import ExecutionContext

_ROW = "__row"
"""The alias of the table in the statement."""


def update(rel: Update, execution: ExecutionContext) -> DataFrame:
    """Change rows of an Iceberg table; return one row with their number.

    Raises:
        UnsupportedError: the table is none of Iceberg's, or an expression cannot stand in a statement.
        SchemaError: the table does not fit the declared columns.
        ExecutionError: there is no such table, or another writer has changed it meanwhile.
    """
    table = need_table(rel.table.names, execution.spark)
    what = f"update of {table.title}"
    table.require_rows_change(what, "update")
    written = [rel.table_schema.fields[each.column].name for each in rel.transformations]
    names = columns_in(table, rel.table_schema, written=written)
    _require_subqueries(rel, table, what)
    condition, values = _texts(rel, table, names, execution)
    types = {field.name: field.dataType for field in table.schema.fields}
    assignments = []
    for each, value in zip(rel.transformations, values, strict=True):
        name = names[each.column]
        if isinstance(each.value.type, Struct | List | Map):
            value = f"CAST({value} AS {sql_type(types[name])})"
        if table.files in ORC_FILES:
            value = checked_value(value, types[name], table.files)
        assignments.append(f"{statement_name((name,))} = {value}")
    statement = f"UPDATE {table.sql} AS {_ROW} SET {', '.join(assignments)} WHERE {condition}"
    count = _run_and_count(rel, statement, condition, table, what, execution)
    return execution.spark.range(count, count + 1).toDF(*rel.schema.names)


def _require_subqueries(rel: Update, table: StoredTable, what: str) -> None:
    """Raise `UnsupportedError` for a correlated subquery in a value, where Spark writes changes merge-on-read."""
    if table.properties.get(_MODE) == "merge-on-read" and has_correlated([each.value for each in rel.transformations]):
        raise UnsupportedError(
            f"{what}: Spark takes no subquery that depends on the row in a value where {_MODE} is merge-on-read",
            hint=f'"{_MODE}" = "copy-on-write"; or write(..., "update") of rows with the new values',
        )


_MODE = "write.update.mode"


def _texts(rel: Update, table: StoredTable, names: Sequence[str], execution: ExecutionContext) -> tuple[str, list[str]]:
    """Write the condition and the new values over the row."""
    columns = tuple(
        as_inside(text, type_) for text, type_ in zip(qualify_columns(_ROW, names), rel.table_schema.types, strict=True)
    )
    rows = Rows(TextTable((), f"{table.sql} AS {_ROW}", execution), columns)
    new: list[Node] = [each.value for each in rel.transformations]
    same, here = prepare_context(Lowering(execution), rows, rel.anchor, [rel.condition, *new], is_read=False)
    if same.table is not rows.table:
        raise UnsupportedError(
            f"update of {table.title}: Spark's UPDATE takes no window function, and no subquery inside another, in a "
            "lambda, or compared with a decimal or a uuid",
            hint="compute the rows in a relation, and write them to a new table",
        )
    condition = all_true([here.condition(conjunct) for conjunct in conjuncts(rel.condition)])
    values = []
    for each in rel.transformations:
        field = rel.table_schema.fields[each.column]
        is_required = names[each.column] in table.required or not field.type.nullable
        text = here.sql(each.value)
        # An expression that is never NULL may have counted on a read that declares what is not so.
        values.append(
            guard_nullability(text, None, field.type.as_required(), f'column "{field.name}"') if is_required else text
        )
    return condition, values


def _run_and_count(
    rel: Update, statement: str, condition: str, table: StoredTable, what: str, execution: ExecutionContext
) -> int:
    """Run the statement; return the number of rows of the previous snapshot that match the condition."""

    def count(source: str) -> int:
        return int(execution.sql(f"SELECT count(*) FROM {source} AS {_ROW} WHERE {condition}").collect()[0][0])

    # What a subquery finds may be another thing after the statement.
    is_lasting = not any(True for _ in subqueries_of(rel.condition))
    return change_table(what, statement, table, execution, count, is_lasting=is_lasting) or 0
