"""Walking a plan: every relation is lowered once, inputs first, without recursion.

A `Lowering` makes one of two things of relations: DataFrames for a pipeline, SQL text for a subquery. Expressions
reach it through a `Host`, which knows the rows that they see and what becomes of the subqueries in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, assert_never

import attrs

from substrait_dsl.algebra.expressions import FieldReference, OuterReference, ScalarSubquery
from substrait_dsl.algebra.node import Expression, Node, Rel, walk
from substrait_dsl.algebra.relations import (
    Aggregate,
    Cross,
    Emit,
    Fetch,
    Filter,
    Join,
    NamedTable,
    Project,
    Read,
    Set,
    Sort,
    VirtualTable,
    closed,
)
from substrait_dsl.spark import groups, joins, reads, relations, sets, subqueries
from substrait_dsl.spark.expressions import Scope, to_sql
from substrait_dsl.spark.subqueries import AnySubquery, is_subquery
from substrait_dsl.spark.tables import FrameTable, Item, Rows, TextTable, Workspace, items

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MOST_TEXT = 64
"""How many relations a subquery may have as text; larger ones that are not correlated become DataFrames."""

_MOST_TEXT_ROWS = 64
"""How many rows of a virtual table are written as text."""


class Lowering:
    """Lowers relations to DataFrames, or to SQL text inside the scope of enclosing rows."""

    def __init__(self, space: Workspace, outer: Mapping[int, tuple[str, ...]] | None = None) -> None:
        """`outer`: the columns of enclosing rows, by anchor; None: there is no enclosing row, make DataFrames."""
        self.space = space
        self.outer = outer or {}
        self.as_text = outer is not None
        self._done: dict[int, Rows] = {}
        self._main = self

    def nested(self, outer: Mapping[int, tuple[str, ...]]) -> Lowering:
        """A lowering for a subquery."""
        inner = Lowering(self.space, outer)
        inner._main = self._main
        return inner

    def __getitem__(self, rel: Rel) -> Rows:
        """What a relation was lowered to."""
        return self._done[id(rel)]

    def lower(self, rel: Rel) -> Rows:
        """Lower a relation, and first all that it stands on."""
        stack = [rel]
        while stack:
            current = stack[-1]
            if id(current) in self._done:
                stack.pop()
            elif self.as_text and not current.free_anchors and not _is_brief(current):
                self._done[id(current)] = self._attached(self._main.lower(current))
            elif waiting := [rel for rel in self._needed(current) if id(rel) not in self._done]:
                stack.extend(waiting)
            else:
                self._done[id(current)] = self._lowered(current)
        return self._done[id(rel)]

    def text(self, rel: Rel) -> tuple[TextTable, tuple[str, ...]]:
        """A relation as text: the table, and which of its columns the relation's columns are."""
        rows = self.lower(rel)
        assert isinstance(rows.table, TextTable)
        return rows.table, rows.columns

    def frame(self, rel: Rel) -> tuple[DataFrame, tuple[str, ...]]:
        """A relation as a DataFrame, and which of its columns the relation's columns are."""
        rows = self.lower(rel)
        assert isinstance(rows.table, FrameTable)
        return rows.table.filtered, rows.columns

    def _needed(self, rel: Rel) -> tuple[Rel, ...]:
        # What a mark or single join looks up becomes a subquery.
        return rel.inputs[joins.lookup_side(rel)] if isinstance(rel, Join) else rel.inputs

    def _attached(self, rows: Rows) -> Rows:
        assert isinstance(rows.table, FrameTable)
        name = self.space.attach(rows.table.filtered)
        fresh = {column: self.space.name() for column in rows.columns}
        table = TextTable(rows.table.names, name).select([Item(old, (new,)) for old, new in fresh.items()])
        return Rows(table, tuple(fresh[column] for column in rows.columns))

    def _lowered(self, rel: Rel) -> Rows:
        match closed(rel):
            case Read() as read:
                return reads.lower_read(read, self)
            case Filter() as filter_:
                return relations.lower_filter(filter_, self)
            case Sort() as sort:
                return relations.lower_sort(sort, self)
            case Project() as project:
                return relations.lower_project(project, self)
            case Emit() as emit:
                return relations.lower_emit(emit, self)
            case Fetch() as fetch:
                return relations.lower_fetch(fetch, self)
            case Aggregate() as aggregate:
                return groups.lower_aggregate(aggregate, self)
            case Set() as set_:
                return sets.lower_set(set_, self)
            case Join() as join:
                return joins.lower_join(join, self)
            case Cross() as cross:
                return joins.lower_cross(cross, self)
            case never:
                assert_never(never)
