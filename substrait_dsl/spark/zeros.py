"""The two zeros of floating-point numbers: 0.0 and -0.0 are equal, though what is computed of them need not be.

Where a subquery is more than a look-up by conditions, Spark computes it once for each combination of values outside
that it depends on. For that it groups the rows by them, and the zeros are one group, though a quotient or a text is
another of each. So subqueries see such columns by way of texts: a number comes back from its text as it was.

Keys of groups, of sets and of partitions are to be one zero. Spark sees to that where it groups the rows, but it moves
conditions on a key below, where they are asked of each row's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from substrait_dsl.algebra.types import FP32, FP64, Type
from substrait_dsl.spark.engines import current_engine
from substrait_dsl.spark.inside import rebuilt
from substrait_dsl.spark.tables import Item, Rows, items
from substrait_dsl.spark.types import holds, spark_sql_type

if TYPE_CHECKING:
    from substrait_dsl.spark.workspace import Workspace

_FLOATS = (FP32, FP64)


def told_apart(
    rows: Rows, columns: tuple[str, ...], seen: Mapping[int, Type], space: Workspace
) -> tuple[Rows, tuple[str, ...]]:
    """The rows with the texts of such numbers as further columns, and the columns as subqueries are to see them.

    Args:
        rows: the rows.
        columns: the columns that stand for a row, by position; they are among those of the rows.
        seen: the positions that subqueries refer to, with the types there.
        space: gives the names.
    """
    texts = {
        position: Item(rebuilt(columns[position], kind, _FLOATS, _as_text), (space.name(),))
        for position, kind in seen.items()
        if holds(kind, _FLOATS)
    }
    if not texts:
        return rows, columns
    numbers = {
        position: rebuilt(item.names[0], seen[position], _FLOATS, _as_number) for position, item in texts.items()
    }
    made = tuple(numbers.get(position, column) for position, column in enumerate(columns))
    table = rows.table.select([*items(rows.table.names), *texts.values()])
    return Rows(table, (*rows.columns, *(item.names[0] for item in texts.values()))), made


def one_zero(value: str, kind: Type) -> str:
    """SQL text of a value with 0.0 in place of every -0.0 in it."""
    return rebuilt(value, kind, _FLOATS, _plus_zero)


def sort_key(value: str, kind: Type) -> str:
    """SQL text of what a value is sorted by, where the engine sorts floats otherwise than Spark."""
    own = current_engine().float_key
    return rebuilt(value, kind, _FLOATS, own) if own else value


def _plus_zero(value: str, kind: Type) -> str:
    if own := current_engine().float_key:
        return own(value, kind)
    return f"({value} + CAST(0 AS {spark_sql_type(kind)}))"


def _as_text(value: str, kind: Type) -> str:
    return f"CAST({value} AS STRING)"


def _as_number(value: str, kind: Type) -> str:
    return f"CAST({value} AS {spark_sql_type(kind)})"
