"""Restore maps that were grouping keys: a key has the sorted list of entries in place of each map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra.types import Type
from substrait_dsl.spark.expressions.grouping_keys import from_key, holds_map
from substrait_dsl.spark.relations.tables import Item, Rows, items

if TYPE_CHECKING:
    from substrait_dsl.spark.session.execution_context import ExecutionContext


def restore_maps(rows: Rows, types: Sequence[Type], execution: ExecutionContext) -> Rows:
    """Restore the values of grouping keys in the first columns; `types` are their types."""
    if not any(map(holds_map, types)):
        return rows
    values = {
        name: Item(from_key(name, type_), (execution.name(),))
        for name, type_ in zip(rows.columns, types, strict=False)
        if holds_map(type_)
    }
    others = items(name for name in rows.table.names if name not in values)
    columns = tuple(values[name].names[0] if name in values else name for name in rows.columns)
    return Rows(rows.table.select([*others, *values.values()]), columns)
