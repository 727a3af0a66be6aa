"""Tables that are DataFrames: each step is a method of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import attrs

from substrait_dsl.spark.expressions.sorting import SortKeys, order_column
from substrait_dsl.spark.relations.tables import Item, JoinHow, Table, all_true, items, names_joined, select_list
from substrait_dsl.spark.relations.texts import TextTable
from substrait_dsl.spark.session.connect import functions_of
from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from substrait_dsl.spark.session.execution_context import ExecutionContext

_MAX_CONDITIONS = 50
"""The most filters that are merged into one: few steps remain, and the text parses well."""


@attrs.frozen
class FrameTable(Table):
    """A table that is a DataFrame. Filters are delayed until the next step, so that adjacent ones are merged."""

    names: tuple[str, ...]
    frame: DataFrame
    execution: ExecutionContext
    conditions: tuple[str, ...] = ()
    keys: SortKeys = ()
    since_sorted: int = 0

    @property
    def filtered(self) -> DataFrame:
        """The DataFrame with the delayed filters."""
        if not self.conditions:
            return self.frame
        condition = all_true(self.conditions)
        if self.execution.registered_frames(condition):
            return self._sql(items(self.names), condition)
        return self.frame.where(condition)

    @property
    def as_text(self) -> TextTable:
        """The same rows as a table that SQL text can refer to."""
        return TextTable(self.names, self.execution.register_frame(self.filtered), self.execution)

    def _sql(self, select_items: Sequence[Item], condition: str | None) -> DataFrame:
        where = f" WHERE {condition}" if condition else ""
        return self.execution.sql(
            f"SELECT {select_list(select_items)} FROM {self.execution.register_frame(self.frame)}{where}"
        )

    def _with_frame(
        self, frame: DataFrame, names: Iterable[str], keys: SortKeys = (), since_sorted: int = 0
    ) -> FrameTable:
        return FrameTable(tuple(names), frame, self.execution, keys=keys, since_sorted=since_sorted)

    def select(self, select_items: Sequence[Item]) -> FrameTable:
        names = [name for item in select_items for name in item.names]
        if self.execution.registered_frames(" ".join(item.text for item in select_items)):
            frame = self._sql(select_items, all_true(self.conditions) if self.conditions else None)
        else:
            frame = self.filtered.selectExpr(*(item.sql for item in select_items))
        return self._with_frame(frame, names, self.keys_among(names), self.steps_with(select_items))

    def where(self, condition: str) -> FrameTable:
        if len(self.conditions) < _MAX_CONDITIONS:
            return attrs.evolve(self, conditions=(*self.conditions, condition))
        return attrs.evolve(self, frame=self.filtered, conditions=(condition,))

    def join(self, other: FrameTable, how: JoinHow, condition: str | None) -> FrameTable:
        names = names_joined(self, other, how)
        if condition is None:
            return self._with_frame(self.filtered.crossJoin(other.filtered), names)
        return self._with_frame(
            self.filtered.join(other.filtered, functions_of(self.execution.spark).expr(condition), how), names
        )

    def lateral(self, other: TextTable, how: Literal["inner", "left"]) -> FrameTable:
        # Only text has the scopes for it.
        table = self.as_text.lateral(other, how)
        return self._with_frame(self.execution.sql(table.query()), table.names)

    def group(self, keys: Sequence[str], aggregates: Sequence[Item]) -> FrameTable:
        functions = functions_of(self.execution.spark)
        columns = [functions.expr(item.sql) for item in aggregates]
        names = [*keys, *(name for item in aggregates for name in item.names)]
        return self._with_frame(self.filtered.groupBy(*keys).agg(*columns), names)

    def sort(self, keys: SortKeys) -> FrameTable:
        rows, columns = self.with_keys(keys)
        return self._with_frame(
            rows.filtered.orderBy(*(order_column(*key, self.execution.spark) for key in columns)), rows.names, columns
        )

    def with_further_sort_keys(self, keys: SortKeys) -> FrameTable:
        return attrs.evolve(self, keys=(*self.keys, *keys))

    def fetch(self, offset: int, count: int | None) -> FrameTable:
        frame = self.filtered
        if offset and count is None and not current_engine().has_offsets:
            text = f"SELECT * FROM {self.execution.register_frame(frame)} LIMIT {2**63 - 1 - offset} OFFSET {offset}"
            return self._with_frame(self.execution.sql(text), self.names, self.keys)
        if count is not None and count >= 2**31:  # of which DataFrames have none
            text = f"SELECT * FROM {self.execution.register_frame(frame)} LIMIT {count}"
            frame, count = self.execution.sql(text), None
        if offset:
            frame = frame.offset(offset)
        if count is not None:
            frame = frame.limit(count)
        return self._with_frame(frame, self.names, self.keys)

    def move_to_one_task(self) -> FrameTable:
        return self._with_frame(self.filtered.coalesce(1), self.names)

    def union_all(self, others: Sequence[FrameTable]) -> FrameTable:
        frames = [self.filtered, *(other.filtered for other in others)]
        while len(frames) > 1:  # by pairs, so that no plan is as deep as there are tables
            left, right = frames[::2], frames[1::2]
            last = left[len(right) :]
            frames = [one.unionAll(other) for one, other in zip(left, right, strict=False)] + last
        return self._with_frame(frames[0], self.names)
