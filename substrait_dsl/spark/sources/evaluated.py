"""Result sets: relations that were evaluated before their parents, such as changes and checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import Properties
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.spark.relations.frames import FrameTable
from substrait_dsl.spark.relations.tables import Item, Rows
from substrait_dsl.spark.sources.reads import as_inside

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from substrait_dsl.spark.session.execution_context import ExecutionContext


@attrs.frozen(eq=False, repr=False)
class Evaluated(Rel):
    """A leaf in place of a relation that was evaluated."""

    number: int
    """Its identity: two evaluations are not equal, even of equal relations."""
    relation: Rel = attrs.field(eq=False)
    rows: Rows = attrs.field(eq=False)

    def _derive_schema(self) -> NamedStruct:
        return self.relation.schema

    def _derive_properties(self) -> Properties:
        return self.relation.properties

    @property
    def single_row(self) -> bool:
        return self.relation.single_row

    @property
    def shown(self) -> Rel:
        return self.relation

    def rows_in(self, execution: ExecutionContext) -> Rows:
        """Return the rows for a part of the plan that is lowered in this context."""
        assert isinstance(self.rows.table, FrameTable)
        return Rows(attrs.evolve(self.rows.table, execution=execution), self.rows.columns)


def rows_inside(frame: DataFrame, rel: Rel, execution: ExecutionContext) -> Rows:
    """Return the rows of a DataFrame with the columns of a relation, as inside of a plan."""
    names = execution.names(len(rel.schema))
    if not names:
        return Rows(FrameTable((), frame, execution), ())
    table = FrameTable(names, frame.toDF(*names), execution)
    texts = [as_inside(name, type_) for name, type_ in zip(names, rel.schema.types, strict=True)]
    if tuple(texts) == names:
        return Rows(table, names)
    fresh = execution.names(len(names))
    select_items = [Item(text, (name,)) for text, name in zip(texts, fresh, strict=True)]
    return Rows(table.select(select_items), fresh)


def checkpoint_rows(rows: Rows) -> Rows:
    """Checkpoint the rows now; Spark stores them while anything refers to them."""
    return _with_frame(rows, lambda frame: frame.localCheckpoint())


def checkpoint_when_computed(rows: Rows) -> Rows:
    """Checkpoint the rows when they are computed first, so that they are the same every time."""
    return _with_frame(rows, lambda frame: frame.localCheckpoint(eager=False))


def _with_frame(rows: Rows, change: Callable[[DataFrame], DataFrame]) -> Rows:
    table = rows.table
    assert isinstance(table, FrameTable)
    # Spark does not know that a checkpoint is sorted: a limit sorts it again.
    frame = change(table.filtered)
    return Rows(FrameTable(table.names, frame, table.execution, keys=table.keys, since_sorted=2), rows.columns)
