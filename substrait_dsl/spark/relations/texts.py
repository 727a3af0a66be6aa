"""Tables that are SQL text: text has scopes, in which a subquery sees outer rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Literal

import attrs

from substrait_dsl.spark.expressions.sorting import SortKeys, ordering
from substrait_dsl.spark.relations.tables import NAME, Item, JoinHow, Table, all_true, items, names_joined, select_list
from substrait_dsl.spark.session.engines import current_engine
from substrait_dsl.spark.session.source_map import note_inlined

if TYPE_CHECKING:
    from substrait_dsl.spark.session.execution_context import ExecutionContext

_JOIN_SQL: dict[JoinHow, str] = {
    "inner": "INNER JOIN",
    "full": "FULL JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "leftsemi": "LEFT SEMI JOIN",
    "leftanti": "LEFT ANTI JOIN",
    "cross": "CROSS JOIN",
}


@attrs.frozen
class TextTable(Table):
    """A table that is text: a FROM clause, and the conditions of a WHERE clause.

    Aggregates over all rows are kept apart from the text as long as possible: Spark plans one join for an aggregate at
    the top of a scalar subquery, and three if anything is around it.
    """

    names: tuple[str, ...]
    source: str
    execution: ExecutionContext
    conditions: tuple[str, ...] = ()
    aggregates: Mapping[str, str] | None = None
    """The text of each column, if the rows are aggregated to one; None: they are not."""
    keys: SortKeys = ()
    since_sorted: int = 0
    unsorted: TextTable | None = None
    """If a sort is the last step: the table below it. A LIMIT must directly follow the ORDER BY."""
    projection: tuple[TextTable, Sequence[Item]] | None = None
    """If the last steps are a projection, and filters on it: the table below, and the select list."""

    def query(self, select_items: Sequence[Item] | None = None) -> str:
        """Write the table, or expressions over it, as a query."""
        if select_items is None:
            select_items = items(self.names)
        elif self.aggregates is not None and not _all_of(select_items, self.aggregates):
            return self.closed.query(select_items)
        where = f" WHERE {all_true(self.conditions)}" if self.conditions else ""
        select_items = self._inline_aggregates(select_items)
        # A table of no columns still has its rows.
        return f"SELECT {select_list(select_items) or '1'} FROM {self.source}{where}"

    def query_in_order(self, select_items: Sequence[Item]) -> str:
        """Write expressions over the table as a query whose rows are in the order of the table."""
        if not self.keys_to_restore:
            return self.query(select_items)
        return f"{(self.unsorted or self.closed).query(select_items)} ORDER BY {ordering(self.keys_to_restore)}"

    def exists(self, *conditions: str, outer_columns: Iterable[str]) -> str:
        """Write an EXISTS: whether a row of the table passes these conditions.

        Args:
            conditions: conditions on columns of the table and of the outer row, without subqueries.
            outer_columns: the columns of the outer row on which the table depends.
        """
        rows = self.closed
        named = (name for name in NAME.findall(" ".join(conditions)) if name not in rows.names)
        used = next(chain(outer_columns, named), None)
        if used is not None and not self.execution.has("EXISTS without its row"):
            conditions = (*conditions, _OF_ROW.format(used))
        rows = attrs.evolve(rows, conditions=(*rows.conditions, *conditions))
        # In parentheses, it may also be an operand.
        return f"(EXISTS ({rows.query([Item('1', ('1',))])}))"

    @property
    def closed(self) -> TextTable:
        """The table with its aggregates computed."""
        return self if self.aggregates is None else self._from_query(self.query(), self.names)

    @property
    def mentioned(self) -> set[str]:
        return set(NAME.findall(self.query()))

    @property
    def _relation(self) -> str:
        """The table as one side of a join."""
        return f"({self.query()})" if self.conditions or self.aggregates is not None else self.source

    @property
    def without_correlated_filters(self) -> tuple[TextTable, tuple[str, ...]]:
        tables = [self]
        while (below := tables[-1]._projected_table) is not None:
            tables.append(below)
        table, moved = tables.pop()._without_conditions_on_row()
        for above in reversed(tables):
            if moved:
                above, moved = above._project_again(table, moved)
            table, further = above._without_conditions_on_row()
            moved += further
        return table, moved

    @property
    def _projected_table(self) -> TextTable | None:
        """The table below the projection, if its columns may be computed over more rows than now."""
        if self.projection is None or self.aggregates is not None:
            return None
        below, select_items = self.projection
        return None if any(word in item.text for item in select_items for word in _NOT_ABOVE) else below

    def _project_again(self, below: TextTable, conditions: Sequence[str]) -> tuple[TextTable, tuple[str, ...]]:
        """Project the same columns of another table, and those to which some conditions on its rows refer."""
        assert self.projection is not None
        used = dict.fromkeys(name for text in conditions for name in NAME.findall(text) if name in below.names)
        # Under new names, as other tables may be projections of the one below.
        fresh = {name: self.execution.name() for name in used if name not in self.names}
        table = below.select([*self.projection[1], *(Item(old, (new,)) for old, new in fresh.items())])
        renamed = tuple(NAME.sub(lambda name: fresh.get(name[0], name[0]), text) for text in conditions)
        return attrs.evolve(table, conditions=self.conditions, keys=self.keys, since_sorted=self.since_sorted), renamed

    def _without_conditions_on_row(self) -> tuple[TextTable, tuple[str, ...]]:
        if self.aggregates is not None:  # which are of the rows for which the conditions are true
            return self, ()
        own = set(self.names)
        moved = [
            text
            for text in self.conditions
            if not own.issuperset(NAME.findall(text)) and not any(word in text for word in _STAYS)
        ]
        remaining = tuple(text for text in self.conditions if text not in moved)
        return attrs.evolve(self, conditions=remaining), tuple(moved)

    def _inline_aggregates(self, select_items: Sequence[Item]) -> list[Item]:
        aggregates = self.aggregates
        if aggregates is None:
            return list(select_items)
        inlined = [
            attrs.evolve(item, text=NAME.sub(lambda name: aggregates.get(name[0], name[0]), item.text))
            for item in select_items
        ]
        for before, after in zip(select_items, inlined, strict=True):
            note_inlined(before.text, after.text)
        return inlined

    def _from_query(self, query: str, names: Iterable[str]) -> TextTable:
        return TextTable(tuple(names), f"({query})", self.execution)

    def select(self, select_items: Sequence[Item]) -> TextTable:
        names = tuple(name for item in select_items for name in item.names)
        if self.aggregates is not None and _all_of(select_items, self.aggregates, _LONGEST_INLINED):
            inlined = {item.names[0]: item.text for item in self._inline_aggregates(select_items)}
            return attrs.evolve(self, names=names, aggregates=inlined)
        table = self._from_query(self.closed.query(select_items), names)
        return attrs.evolve(
            table,
            keys=self.keys_among(names),
            since_sorted=self.steps_with(select_items),
            projection=(self.closed, select_items),
        )

    def where(self, condition: str) -> TextTable:
        rows = self.closed
        return attrs.evolve(rows, conditions=(*rows.conditions, condition), unsorted=None)

    def join(self, other: TextTable, how: JoinHow, condition: str | None) -> TextTable:
        on = "" if condition is None else f" ON {condition}"
        source = f"({self._relation} {_JOIN_SQL[how]} {other._relation}{on})"
        return TextTable(names_joined(self, other, how), source, self.execution)

    def lateral(self, other: TextTable, how: Literal["inner", "left"]) -> TextTable:
        source = f"({self._relation} {_JOIN_SQL[how]} LATERAL ({other.query()}) ON true)"
        return TextTable(self.names + other.names, source, self.execution)

    def group(self, keys: Sequence[str], aggregates: Sequence[Item]) -> TextTable:
        rows = self.closed
        everything = [*items(keys), *aggregates]
        names = tuple(name for item in everything for name in item.names)
        if not keys:
            return attrs.evolve(
                rows, names=names, keys=(), unsorted=None, aggregates={item.names[0]: item.text for item in aggregates}
            )
        return self._from_query(f"{rows.query(everything)} GROUP BY {', '.join(keys)}", names)

    def sort(self, keys: SortKeys) -> TextTable:
        rows, columns = self.closed.with_keys(keys)
        query = f"{rows.query()} ORDER BY {ordering(columns)}"
        return attrs.evolve(self._from_query(query, rows.names), keys=columns, unsorted=rows)

    def with_further_sort_keys(self, keys: SortKeys) -> TextTable:
        return attrs.evolve(self, keys=(*self.keys, *keys))

    def fetch(self, offset: int, count: int | None) -> TextTable:
        if count is None and offset and not current_engine().has_offsets:
            count = 2**63 - 1 - offset
        limit = "" if count is None else f" LIMIT {count}"
        rows = f"{self.unsorted.query()} ORDER BY {ordering(self.keys)}" if self.unsorted else self.query()
        query = rows + limit + (f" OFFSET {offset}" if offset else "")
        return attrs.evolve(self._from_query(query, self.names), keys=self.keys)

    def limit_in_order(self, offset: int, count: int | None) -> TextTable:
        """Take some of the rows, in an order that was made further below."""
        return attrs.evolve(self, unsorted=(self.unsorted or self) if self.keys else None).fetch(offset, count)

    def number(self, offset: int, count: int | None) -> TextTable:
        """Take some of the rows in their order, by row numbers."""
        rows = self.unsorted or self.closed
        number = self.execution.name()
        over = f"OVER (ORDER BY {ordering(self.keys) or 'NULL'}"
        is_small = offset + (count or 0) < 2**31  # as an INT is, which is what Spark counts rows in
        text = f"row_number() {over})" if is_small else f"count(1) {over} ROWS UNBOUNDED PRECEDING)"
        rows = attrs.evolve(rows.select([*items(self.names), Item(text, (number,))]), keys=self.keys)
        if offset:
            rows = rows.where(f"{number} > {offset}")
        return rows if count is None else rows.where(f"{number} <= {offset + count}")

    def move_to_one_task(self) -> TextTable:
        return self._from_query(self.query().replace("SELECT", "SELECT /*+ COALESCE(1) */", 1), self.names)

    def union_all(self, others: Sequence[TextTable]) -> TextTable:
        return self._from_query(" UNION ALL ".join(f"({table.query()})" for table in (self, *others)), self.names)


_STAYS = ("SELECT ", "raise_error(")
"""What the text of a filter that is not split off holds: a subquery, or an error for every row."""

_NOT_ABOVE = (*_STAYS, " OVER (")
"""What the text of a column holds that depends on which rows are left."""

_OF_ROW = "(({} IS NULL) IS NOT NULL)"
"""A condition that is true for any value of a column.

Before it decorrelates an EXISTS, Spark simplifies AND, OR and NOT: ``(x OR outside) AND x`` becomes ``x``. If no column
of the outer row is left, Spark 4.1 fails. So this condition mentions one, and is simplified only later.
"""

_LONGEST_INLINED = 2000
"""The most characters of an expression over aggregates: each reference in it is replaced by the whole aggregate."""


def _all_of(select_items: Sequence[Item], aggregates: Mapping[str, str], longest: float = inf) -> bool:
    """Whether expressions can be inlined over the aggregates to which they refer.

    A constant cannot: it would be computed for each row below.
    """
    return bool(select_items) and all(len(item.text) <= longest and _is_of(item, aggregates) for item in select_items)


def _is_of(item: Item, aggregates: Mapping[str, str]) -> bool:
    """Whether an expression refers to aggregates only, and is neither a generator nor has a subquery.

    Inside of a subquery the text of an aggregate would aggregate the subquery's own rows.
    """
    used = set(NAME.findall(item.text))  # none: it is a constant, which says nothing of what the rows are folded into
    is_value = len(item.names) == 1 and not item.text.startswith(("explode(", "inline(")) and "SELECT " not in item.text
    return is_value and bool(used) and aggregates.keys() >= used
