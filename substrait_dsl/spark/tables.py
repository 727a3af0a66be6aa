"""The few things that a relation is lowered to, in two forms: methods of a DataFrame, or a text of SQL.

A pipeline becomes a DataFrame, step by step; what stands inside a subquery becomes text, because Spark binds a
column of an outer row by scope, and only text has scopes. Each relation is lowered once, to the methods of `Table`.

Columns have names that are unique in the whole plan and that no user chose, so no name ever means another column
than the one it was made for.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Literal, Self

import attrs

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from substrait_dsl.algebra.properties import SortDirection
    from substrait_dsl.spark.workspace import Workspace

JoinHow = Literal["inner", "full", "left", "right", "leftsemi", "leftanti", "cross"]

_JOIN_SQL: dict[JoinHow, str] = {
    "inner": "INNER JOIN",
    "full": "FULL JOIN",
    "left": "LEFT JOIN",
    "right": "RIGHT JOIN",
    "leftsemi": "LEFT SEMI JOIN",
    "leftanti": "LEFT ANTI JOIN",
    "cross": "CROSS JOIN",
}

_DIRECTION_SQL: dict[SortDirection, str] = {
    "asc_nulls_first": "ASC NULLS FIRST",
    "asc_nulls_last": "ASC NULLS LAST",
    "desc_nulls_first": "DESC NULLS FIRST",
    "desc_nulls_last": "DESC NULLS LAST",
    "clustered": "ASC NULLS FIRST",  # sorting puts equal values next to each other
}

_MOST_CONDITIONS = 50
"""How many filters may wait to become one: enough that few steps are left, few enough to parse well."""


PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names of users that may stand in SQL text between backticks; others may hold what Spark substitutes (``${...}``)."""


@attrs.frozen
class Item:
    """An expression of a select list, and the columns that it makes: several, if it is a generator."""

    text: str
    names: tuple[str, ...]

    @property
    def sql(self) -> str:
        match self.names:
            case (name,):
                return name if name == self.text else f"{self.text} AS {name}"
            case names:
                return f"{self.text} AS ({', '.join(names)})"


UNUSED = "__unused"
"""Stands for a column that nothing uses, and so was not read: no table has it."""


def items(names: Iterable[str]) -> list[Item]:
    """Columns as they are, each of them once, without the unused."""
    return [Item(name, (name,)) for name in dict.fromkeys(names) if name != UNUSED]


class Table(ABC):
    """Rows under generated names, and what can be done to them."""

    names: tuple[str, ...]
    """The columns there are."""
    space: Workspace

    @abstractmethod
    def select(self, made: Sequence[Item]) -> Table:
        """These columns, and no others."""

    @abstractmethod
    def where(self, condition: str) -> Table:
        """The rows for which a condition is true."""

    @abstractmethod
    def join(self, other: Self, how: JoinHow, condition: str | None) -> Table:
        """The rows that match in another table, which shares no column name with this one."""

    @abstractmethod
    def lateral(self, other: TextTable, how: Literal["inner", "left"]) -> Table:
        """Each row with the rows of a table that may depend on it; if there is none, left out or with NULLs."""

    @abstractmethod
    def group(self, keys: Sequence[str], made: Sequence[Item]) -> Table:
        """One row for each combination of values of the key columns, with aggregates."""

    @abstractmethod
    def sort(self, keys: Sequence[tuple[str, SortDirection]]) -> Table:
        """The rows in an order."""

    @abstractmethod
    def fetch(self, offset: int, count: int | None) -> Table:
        """Some of the rows, in the order they have."""

    @property
    def keys(self) -> tuple[tuple[str, SortDirection], ...]:
        """The columns that the rows are sorted by, where a table knows them."""
        return ()

    @property
    def order(self) -> tuple[str, ...]:
        """The columns that tell the order the rows have, where nothing else keeps it."""
        return ()

    @abstractmethod
    def union_all(self, others: Sequence[Self]) -> Table:
        """The rows of this and other tables of as many columns, under this one's names."""

    def fenced(self) -> Table:
        """The same rows in a form that Spark does not push a projection into.

        A correlated subquery in a projection over a union crashes Spark's optimizer (SPARK-59042). The generator, which
        makes one row of each, keeps the two apart and costs nothing: the optimizer removes it afterwards.
        """
        return self.select([*items(self.names), Item("explode(array(1))", (self.space.name(),))])


@attrs.frozen
class FrameTable(Table):
    """A table that is a DataFrame. Filters wait for the next step, so that neighbours become one."""

    names: tuple[str, ...]
    frame: DataFrame
    space: Workspace
    conditions: tuple[str, ...] = ()

    @property
    def filtered(self) -> DataFrame:
        """The DataFrame with the filters that waited."""
        if not self.conditions:
            return self.frame
        condition = _all(self.conditions)
        if self.space.attached(condition):
            return self._sql(items(self.names), condition)
        return self.frame.where(condition)

    def _sql(self, made: Sequence[Item], condition: str | None) -> DataFrame:
        where = f" WHERE {condition}" if condition else ""
        return self.space.sql(f"SELECT {_list(made)} FROM {self.space.attach(self.frame)}{where}")

    def _made(self, frame: DataFrame, names: Iterable[str]) -> FrameTable:
        return FrameTable(tuple(names), frame, self.space)

    def select(self, made: Sequence[Item]) -> FrameTable:
        names = [name for item in made for name in item.names]
        if self.space.attached(" ".join(item.text for item in made)):
            condition = _all(self.conditions) if self.conditions else None
            return self._made(self._sql(made, condition), names)
        return self._made(self.filtered.selectExpr(*(item.sql for item in made)), names)

    def where(self, condition: str) -> FrameTable:
        if len(self.conditions) < _MOST_CONDITIONS:
            return attrs.evolve(self, conditions=(*self.conditions, condition))
        return attrs.evolve(self, frame=self.filtered, conditions=(condition,))

    def join(self, other: FrameTable, how: JoinHow, condition: str | None) -> FrameTable:
        from pyspark.sql import functions

        names = _joined(self, other, how)
        if condition is None:
            return self._made(self.filtered.crossJoin(other.filtered), names)
        return self._made(self.filtered.join(other.filtered, functions.expr(condition), how), names)

    def lateral(self, other: TextTable, how: Literal["inner", "left"]) -> FrameTable:
        # Only text has the scopes for it.
        made = TextTable(self.names, self.space.attach(self.filtered), self.space).lateral(other, how)
        return self._made(self.space.sql(made.query()), made.names)

    def group(self, keys: Sequence[str], made: Sequence[Item]) -> FrameTable:
        from pyspark.sql import functions

        aggregates = [functions.expr(item.sql) for item in made]
        names = [*keys, *(name for item in made for name in item.names)]
        return self._made(self.filtered.groupBy(*keys).agg(*aggregates), names)

    def sort(self, keys: Sequence[tuple[str, SortDirection]]) -> FrameTable:
        return self._made(self.filtered.orderBy(*(ordered(*key) for key in keys)), self.names)

    def fetch(self, offset: int, count: int | None) -> FrameTable:
        frame = self.filtered
        if offset:
            frame = frame.offset(offset)
        if count is not None:
            frame = frame.limit(count)
        return self._made(frame, self.names)

    def union_all(self, others: Sequence[FrameTable]) -> FrameTable:
        frames = [self.filtered, *(other.filtered for other in others)]
        while len(frames) > 1:  # by pairs, so that no plan is as deep as there are tables
            left, right = frames[::2], frames[1::2]
            last = left[len(right) :]
            frames = [one.unionAll(other) for one, other in zip(left, right, strict=False)] + last
        return self._made(frames[0], self.names)


def ordered(text: str, direction: SortDirection) -> Column:
    """A sort key as the methods of a DataFrame take it."""
    from pyspark.sql import functions

    column = functions.expr(text)
    match direction:
        case "asc_nulls_last":
            return column.asc_nulls_last()
        case "desc_nulls_first":
            return column.desc_nulls_first()
        case "desc_nulls_last":
            return column.desc_nulls_last()
        case "asc_nulls_first" | "clustered":
            return column.asc_nulls_first()


@attrs.frozen
class TextTable(Table):
    """A table that is text: what stands after FROM, and the conditions after WHERE.

    Aggregates over all rows stay open for what is computed from them: where they are the outermost thing in a scalar
    subquery, Spark needs one join for it, and three if anything stands around them.
    """

    names: tuple[str, ...]
    source: str
    space: Workspace
    conditions: tuple[str, ...] = ()
    aggregates: Mapping[str, str] | None = None
    """If the rows are folded into one: the text of each column."""
    keys: tuple[tuple[str, SortDirection], ...] = ()
    """The columns that the rows are sorted by: in a correlated subquery, Spark forgets an order that anything stands
    around."""
    unsorted: TextTable | None = None
    """If the rows are sorted and no more: the table before. A LIMIT must stand directly behind the ORDER BY."""

    def query(self, made: Sequence[Item] | None = None) -> str:
        """The table, or expressions over it, as a query."""
        if made is None:
            made = items(self.names)
        elif self.aggregates is not None and not _all_of(made, self.aggregates):
            return self.closed.query(made)
        where = f" WHERE {_all(self.conditions)}" if self.conditions else ""
        made = self._over_source(made)
        # A table of no columns still has its rows.
        return f"SELECT {_list(made) or '1'} FROM {self.source}{where}"

    def exists(self, *conditions: str) -> str:
        """A condition: whether there is a row for which these conditions, too, are true."""
        rows = self.closed
        rows = attrs.evolve(rows, conditions=(*rows.conditions, *conditions))
        # In parentheses, it may also be an operand.
        return f"(EXISTS ({rows.query([Item('1', ('1',))])}))"

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.keys)

    @property
    def closed(self) -> TextTable:
        """The table with its aggregates computed."""
        return self if self.aggregates is None else self._made(self.query(), self.names)

    @property
    def _relation(self) -> str:
        """The table as one side of a join: what stands after FROM, if there is nothing else to it."""
        return f"({self.query()})" if self.conditions or self.aggregates is not None else self.source

    def _over_source(self, made: Sequence[Item]) -> list[Item]:
        aggregates = self.aggregates
        if aggregates is None:
            return list(made)
        return [
            attrs.evolve(item, text=_NAME.sub(lambda name: aggregates.get(name[0], name[0]), item.text))
            for item in made
        ]

    def _made(self, query: str, names: Iterable[str]) -> TextTable:
        return TextTable(tuple(names), f"({query})", self.space)

    def select(self, made: Sequence[Item]) -> TextTable:
        names = tuple(name for item in made for name in item.names)
        if self.aggregates is not None and _all_of(made, self.aggregates, _LONGEST_INLINED):
            inlined = {item.names[0]: item.text for item in self._over_source(made)}
            return attrs.evolve(self, names=names, aggregates=inlined)
        keys = self.keys if set(self.order) <= set(names) else ()
        return attrs.evolve(self._made(self.closed.query(made), names), keys=keys)

    def where(self, condition: str) -> TextTable:
        rows = self.closed
        return attrs.evolve(rows, conditions=(*rows.conditions, condition), unsorted=None)

    def join(self, other: TextTable, how: JoinHow, condition: str | None) -> TextTable:
        on = "" if condition is None else f" ON {condition}"
        source = f"({self._relation} {_JOIN_SQL[how]} {other._relation}{on})"
        return TextTable(_joined(self, other, how), source, self.space)

    def lateral(self, other: TextTable, how: Literal["inner", "left"]) -> TextTable:
        source = f"({self._relation} {_JOIN_SQL[how]} LATERAL ({other.query()}) ON true)"
        return TextTable(self.names + other.names, source, self.space)

    def group(self, keys: Sequence[str], made: Sequence[Item]) -> TextTable:
        rows = self.closed
        everything = [*items(keys), *made]
        names = tuple(name for item in everything for name in item.names)
        if not keys:
            return attrs.evolve(
                rows, names=names, keys=(), unsorted=None, aggregates={item.names[0]: item.text for item in made}
            )
        return self._made(f"{rows.query(everything)} GROUP BY {', '.join(keys)}", names)

    def sort(self, keys: Sequence[tuple[str, SortDirection]]) -> TextTable:
        computed = {text: self.space.name() for text, _ in keys if text not in self.names}
        rows = self.closed
        if computed:
            rows = rows.select([*items(self.names), *(Item(text, (name,)) for text, name in computed.items())])
        columns = tuple((computed.get(text, text), direction) for text, direction in keys)
        query = f"{rows.query()} ORDER BY {_ordering(columns)}"
        return attrs.evolve(self._made(query, rows.names), keys=columns, unsorted=rows)

    def fetch(self, offset: int, count: int | None) -> TextTable:
        limit = "" if count is None else f" LIMIT {count}"
        rows = f"{self.unsorted.query()} ORDER BY {_ordering(self.keys)}" if self.unsorted else self.query()
        query = rows + limit + (f" OFFSET {offset}" if offset else "")
        return attrs.evolve(self._made(query, self.names), keys=self.keys)

    def limit_in_order(self, offset: int, count: int | None) -> TextTable:
        """Some of the rows, in an order that was made further below."""
        return attrs.evolve(self, unsorted=(self.unsorted or self) if self.keys else None).fetch(offset, count)

    def number(self, offset: int, count: int | None) -> TextTable:
        """Some of the rows, in the order they have, by a number for each."""
        rows = self.unsorted or self.closed
        number = self.space.name()
        over = f"OVER (ORDER BY {_ordering(self.keys) or 'NULL'}"
        is_small = offset + (count or 0) < 2**31  # as an INT is, which is what Spark counts rows in
        text = f"row_number() {over})" if is_small else f"count(1) {over} ROWS UNBOUNDED PRECEDING)"
        rows = attrs.evolve(rows.select([*items(self.names), Item(text, (number,))]), keys=self.keys)
        if offset:
            rows = rows.where(f"{number} > {offset}")
        return rows if count is None else rows.where(f"{number} <= {offset + count}")

    def union_all(self, others: Sequence[TextTable]) -> TextTable:
        return self._made(" UNION ALL ".join(f"({table.query()})" for table in (self, *others)), self.names)


_NAME = re.compile(r"\b__s\d+\b")
"""The names that a `Workspace` gives."""

_LONGEST_INLINED = 2000
"""How long an expression over aggregates may be: each mention of one in it is replaced by the whole aggregate."""


def _all_of(made: Sequence[Item], aggregates: Mapping[str, str], longest: float = inf) -> bool:
    """Whether expressions can be computed together with the aggregates that they are over.

    Where none mentions an aggregate, they cannot: without one they would be computed for each row below.
    """
    return bool(made) and all(len(item.text) <= longest and _is_of(item, aggregates) for item in made)


def _is_of(item: Item, aggregates: Mapping[str, str]) -> bool:
    """Whether an expression is of aggregates only, and neither a generator nor one with a subquery.

    Inside a subquery the text of an aggregate would mean one over the subquery's own rows.
    """
    used = set(_NAME.findall(item.text))  # none: it is a constant, which says nothing of what the rows are folded into
    is_value = len(item.names) == 1 and not item.text.startswith(("explode(", "inline(")) and "SELECT " not in item.text
    return is_value and bool(used) and aggregates.keys() >= used


def _all(conditions: Sequence[str]) -> str:
    return conditions[0] if len(conditions) == 1 else " AND ".join(f"({condition})" for condition in conditions)


def _ordering(keys: Sequence[tuple[str, SortDirection]]) -> str:
    return ", ".join(f"{text} {_DIRECTION_SQL[direction]}" for text, direction in keys)


def _list(made: Sequence[Item]) -> str:
    return ", ".join(item.sql for item in made)


def _joined(left: Table, right: Table, how: JoinHow) -> tuple[str, ...]:
    return left.names if how in ("leftsemi", "leftanti") else left.names + right.names


@attrs.frozen
class Rows:
    """A lowered relation: a table, and which of its columns the relation's columns are.

    So an emit, or a project of mere references, costs nothing: it says the columns anew.
    """

    table: Table
    columns: tuple[str, ...]

    def pick(self, positions: Sequence[int]) -> Rows:
        """Some of the columns, repeats allowed."""
        return Rows(self.table, tuple(self.columns[position] for position in positions))

    def extended(self, made: Sequence[Item]) -> Rows:
        """Further columns, after these; what the relation does not use is dropped."""
        kept = dict.fromkeys((*self.columns, *self.table.order))
        table = self.table.select([*items(kept), *made])
        return Rows(table, self.columns + tuple(name for item in made for name in item.names))

    def renamed(self) -> Rows:
        """The same rows under names that nothing else has."""
        fresh = {column.text: self.table.space.name() for column in items(self.columns)}
        table = self.table.select([Item(old, (new,)) for old, new in fresh.items()])
        return Rows(table, tuple(fresh.get(column, UNUSED) for column in self.columns))

    def apart_from(self, other: Rows) -> Rows:
        """The same rows under names that another table does not have."""
        return self if set(self.table.names).isdisjoint(other.table.names) else self.renamed()

    def fenced(self) -> Rows:
        """The same rows, ready for a projection with a correlated subquery."""
        return Rows(self.table.fenced(), self.columns)
