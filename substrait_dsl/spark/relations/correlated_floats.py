"""Distinguish 0.0 and -0.0 in outer columns that a correlated subquery uses.

Unless a correlated subquery is a mere look-up, Spark computes it once for each combination of outer values. It groups
the outer rows for that, and grouping merges 0.0 and -0.0, though quotients and texts of them differ. So floating-point
columns are passed into subqueries as strings, and cast back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra.types import Type
from substrait_dsl.spark.expressions.nested_values import rebuild_parts
from substrait_dsl.spark.expressions.signed_zeros import FLOATS
from substrait_dsl.spark.expressions.types import holds, spark_sql_type
from substrait_dsl.spark.relations.tables import Item, Rows, items

if TYPE_CHECKING:
    from substrait_dsl.spark.session.execution_context import ExecutionContext


def distinguish_zeros(
    rows: Rows, columns: tuple[str, ...], types: Mapping[int, Type], execution: ExecutionContext
) -> tuple[Rows, tuple[str, ...]]:
    """Return the rows with such numbers as further columns of text, and the columns as subqueries see them.

    Args:
        rows: the rows.
        columns: the columns that stand for a row, by position; they are among those of the rows.
        types: the positions that subqueries refer to, with the types there.
        execution: gives the names.
    """
    texts = {
        position: Item(rebuild_parts(columns[position], type_, FLOATS, _as_text), (execution.name(),))
        for position, type_ in types.items()
        if holds(type_, FLOATS)
    }
    if not texts:
        return rows, columns
    numbers = {
        position: rebuild_parts(item.names[0], types[position], FLOATS, _as_number) for position, item in texts.items()
    }
    visible = tuple(numbers.get(position, column) for position, column in enumerate(columns))
    table = rows.table.select([*items(rows.table.names), *texts.values()])
    return Rows(table, (*rows.columns, *(item.names[0] for item in texts.values()))), visible


def _as_text(value: str, type_: Type) -> str:
    return f"CAST({value} AS STRING)"


def _as_number(value: str, type_: Type) -> str:
    return f"CAST({value} AS {spark_sql_type(type_)})"
