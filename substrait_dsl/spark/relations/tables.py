"""The operations that relations are lowered to, in two forms: methods of a DataFrame, or SQL text.

A pipeline becomes a DataFrame, step by step; a subquery becomes text, because Spark binds a column of an outer row by
scope, and only text has scopes. Each relation is lowered once, to the methods of `Table`.

Generated column names are unique in the whole plan, so no name is ever captured.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Self

import attrs

from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    from substrait_dsl.spark.expressions.sorting import SortKeys
    from substrait_dsl.spark.relations.texts import TextTable
    from substrait_dsl.spark.session.execution_context import ExecutionContext

JoinHow = Literal["inner", "full", "left", "right", "leftsemi", "leftanti", "cross"]

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names that may be quoted in SQL text; in others Spark may substitute variables (``${...}``)."""


@attrs.frozen
class Item:
    """An expression of a select list, and its columns: several for a generator."""

    text: str
    names: tuple[str, ...]

    @property
    def sql(self) -> str:
        match self.names:
            case (name,):
                return name if name == self.text else f"{self.text} AS {name}"
            case names:
                return f"{self.text} AS ({', '.join(names)})"


NAME = re.compile(r"\b__s\d+\b")
"""A name that an `ExecutionContext` has generated."""

_GENERATOR = re.compile(r"(pos)?explode\(|inline\(")
"""The beginning of an expression that makes several rows of one, which Spark plans between a sort and a limit."""

UNUSED = "__unused"
"""The name of a pruned column, which no table has."""


def items(names: Iterable[str]) -> list[Item]:
    """Select columns unchanged, each of them once, without pruned ones."""
    return [Item(name, (name,)) for name in dict.fromkeys(names) if name != UNUSED]


class Table(ABC):
    """Rows under generated names, and the operations on them."""

    names: tuple[str, ...]
    """The columns."""
    execution: ExecutionContext
    keys: SortKeys
    """The sort keys of the rows, if they are sorted, so that a step that loses the order can restore it."""
    since_sorted: int
    """The number of steps that have computed columns since then; see `is_in_order`."""

    @abstractmethod
    def select(self, select_items: Sequence[Item]) -> Self:
        """Project to these columns."""

    @abstractmethod
    def where(self, condition: str) -> Table:
        """Filter the rows by a condition."""

    @abstractmethod
    def join(self, other: Self, how: JoinHow, condition: str | None) -> Table:
        """Join with another table, which shares no column name with this one."""

    @abstractmethod
    def lateral(self, other: TextTable, how: Literal["inner", "left"]) -> Table:
        """Join each row with the rows of a table that may depend on it, as an inner or a left join."""

    @abstractmethod
    def group(self, keys: Sequence[str], aggregates: Sequence[Item]) -> Table:
        """Group by the key columns, and compute aggregates."""

    @abstractmethod
    def sort(self, keys: SortKeys) -> Table:
        """Sort the rows."""

    @abstractmethod
    def with_further_sort_keys(self, keys: SortKeys) -> Self:
        """Note that rows with equal sort keys are sorted by further keys."""

    @abstractmethod
    def fetch(self, offset: int, count: int | None) -> Table:
        """Take some of the rows, in their order."""

    @abstractmethod
    def union_all(self, others: Sequence[Self]) -> Table:
        """Unite the rows of tables with as many columns, under the names of this one."""

    @abstractmethod
    def move_to_one_task(self) -> Self:
        """Move the rows into one partition, so that all rows of a key need no exchange."""

    @property
    def without_correlated_filters(self) -> tuple[Self, tuple[str, ...]]:
        """The table without its correlated filters, and these.

        Spark allows no such filter below most joins. Filters with a subquery, and checks of each row, are not split
        off.
        """
        return self, ()

    @property
    def mentioned(self) -> set[str]:
        """All generated names in the text of the table, also those of an outer row on which it depends."""
        return set()

    @property
    def order(self) -> tuple[str, ...]:
        """The columns of the sort keys."""
        return tuple(name for name, _ in self.keys)

    @property
    def keys_to_restore(self) -> SortKeys:
        """The sort keys, if the engine may lose the order when it computes columns of sorted rows."""
        return () if current_engine().keeps_order else self.keys

    def keys_among(self, names: Collection[str]) -> SortKeys:
        """Return the sort keys, if these columns include all of them."""
        return self.keys if set(self.order) <= set(names) else ()

    @property
    def is_in_order(self) -> bool:
        """Whether a limit takes the first rows of the sort.

        Spark fuses sort and limit through filters and one projection (TakeOrderedAndProject). Beyond that it
        concatenates the sorted partitions in arrival order.
        """
        return self.since_sorted <= 1

    def steps_with(self, select_items: Sequence[Item]) -> int:
        """Return the number of steps since the sort, with the one that computes these columns."""
        return self.since_sorted + (2 if any(_GENERATOR.match(item.text) for item in select_items) else 1)

    def with_keys(self, keys: SortKeys) -> tuple[Self, SortKeys]:
        """Return the rows with a column for every computed sort key, and the keys as columns."""
        computed = {text: self.execution.name() for text, _ in keys if text not in self.names}
        columns = tuple((computed.get(text, text), direction) for text, direction in keys)
        if not computed:
            return self, columns
        return self.select([*items(self.names), *(Item(text, (name,)) for text, name in computed.items())]), columns

    def with_optimizer_barrier(self) -> Self:
        """Return the same rows behind an operator into which Spark pushes no projection.

        A correlated subquery in a projection over a union crashes Spark's optimizer (SPARK-59042). A generator of one
        row per row is a barrier between the two. It stays in the plan, and costs about a tenth of a mark join's time.
        """
        return self.select([*items(self.names), Item("explode(array(1))", (self.execution.name(),))])


def all_true(conditions: Sequence[str]) -> str:
    """Write a conjunction."""
    return conditions[0] if len(conditions) == 1 else " AND ".join(f"({condition})" for condition in conditions)


def select_list(select_items: Sequence[Item]) -> str:
    """Write a select list."""
    return ", ".join(item.sql for item in select_items)


def names_joined(left: Table, right: Table, how: JoinHow) -> tuple[str, ...]:
    """Return the columns of a join of two tables."""
    return left.names if how in ("leftsemi", "leftanti") else left.names + right.names


@attrs.frozen
class Rows:
    """A lowered relation: a table, and the columns of the relation among the table's.

    So an emit, or a project of mere references, costs nothing: it only maps columns.
    """

    table: Table
    columns: tuple[str, ...]

    def pick(self, positions: Sequence[int]) -> Rows:
        """Return some of the columns, with repetitions."""
        return Rows(self.table, tuple(self.columns[position] for position in positions))

    def append_columns(self, select_items: Sequence[Item]) -> Rows:
        """Append columns; those that the relation does not use are dropped."""
        columns = dict.fromkeys((*self.columns, *self.table.order))
        table = self.table.select([*items(columns), *select_items])
        return Rows(table, self.columns + tuple(name for item in select_items for name in item.names))

    def with_fresh_names(self) -> Rows:
        """Return the same rows under new names."""
        table, conditions = self.table.without_correlated_filters
        used = [name for text in conditions for name in NAME.findall(text) if name in table.names]
        fresh = {column.text: table.execution.name() for column in items((*self.columns, *used))}
        table = table.select([Item(old, (new,)) for old, new in fresh.items()])
        for text in conditions:
            table = table.where(NAME.sub(lambda name: fresh.get(name[0], name[0]), text))
        return Rows(table, tuple(fresh.get(column, UNUSED) for column in self.columns))

    def with_names_disjoint_from(self, other: Rows) -> Rows:
        """Return the same rows under names that another table does not have."""
        return self if set(self.table.names).isdisjoint(other.table.names) else self.with_fresh_names()

    def with_optimizer_barrier(self) -> Rows:
        """Return the same rows behind an optimizer barrier, for a projection with a correlated subquery."""
        return Rows(self.table.with_optimizer_barrier(), self.columns)
