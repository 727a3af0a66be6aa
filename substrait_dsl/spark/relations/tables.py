"""The few things that a relation is lowered to, in two forms: methods of a DataFrame, or a text of SQL.

A pipeline becomes a DataFrame, step by step; what stands inside a subquery becomes text, because Spark binds a
column of an outer row by scope, and only text has scopes. Each relation is lowered once, to the methods of `Table`.

Columns have names that are unique in the whole plan and that no user chose, so no name ever means another column
than the one it was made for.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Self

import attrs

if TYPE_CHECKING:
    from substrait_dsl.spark.expressions.sorting import SortKeys
    from substrait_dsl.spark.relations.texts import TextTable
    from substrait_dsl.spark.session.execution_context import ExecutionContext

JoinHow = Literal["inner", "full", "left", "right", "leftsemi", "leftanti", "cross"]

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


NAME = re.compile(r"\b__s\d+\b")
"""The names that a `ExecutionContext` gives."""

_GENERATOR = re.compile(r"(pos)?explode\(|inline\(")
"""The beginning of an expression that makes several rows of one, which stands between a sort and a limit."""

UNUSED = "__unused"
"""Stands for a column that nothing uses, and so was not read: no table has it."""


def items(names: Iterable[str]) -> list[Item]:
    """Columns as they are, each of them once, without the unused."""
    return [Item(name, (name,)) for name in dict.fromkeys(names) if name != UNUSED]


class Table(ABC):
    """Rows under generated names, and what can be done to them."""

    names: tuple[str, ...]
    """The columns there are."""
    execution: ExecutionContext
    keys: SortKeys
    """The columns that the rows are sorted by, if they have been: what loses the order can make it again."""
    since_sorted: int
    """How many steps have computed columns since then; see `is_in_order`."""

    @abstractmethod
    def select(self, made: Sequence[Item]) -> Self:
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
    def sort(self, keys: SortKeys) -> Table:
        """The rows in an order."""

    @abstractmethod
    def sorted_also(self, keys: SortKeys) -> Self:
        """The rows, of which is known that those equal in their keys are sorted by others."""

    @abstractmethod
    def fetch(self, offset: int, count: int | None) -> Table:
        """Some of the rows, in the order they have."""

    @abstractmethod
    def union_all(self, others: Sequence[Self]) -> Table:
        """The rows of this and other tables of as many columns, under this one's names."""

    @abstractmethod
    def in_one_task(self) -> Self:
        """The rows as one task makes them, which needs no exchange to have all rows of a key."""

    @property
    def without_correlated_filters(self) -> tuple[Self, tuple[str, ...]]:
        """The table without those of its conditions that see a row outside, and these conditions.

        Those with a subquery stay, and so do those that check each row.

        Below most joins Spark takes no such condition.
        """
        return self, ()

    @property
    def mentioned(self) -> set[str]:
        """The names that stand anywhere in the text of the table: those of a row outside, too, that it depends on."""
        return set()

    @property
    def order(self) -> tuple[str, ...]:
        """The columns that tell the order of the rows."""
        return tuple(name for name, _ in self.keys)

    def keys_among(self, names: Collection[str]) -> SortKeys:
        """What the rows are sorted by, if these columns of them tell it."""
        return self.keys if set(self.order) <= set(names) else ()

    @property
    def is_in_order(self) -> bool:
        """Whether a limit is one of the rows as they were sorted.

        Spark takes the two together if there are conditions and one projection between them. If there is more, it puts
        the parts that machines have sorted one behind the other as they come in.
        """
        return self.since_sorted <= 1

    def steps_with(self, made: Sequence[Item]) -> int:
        """How many steps there are since the rows were sorted, with that of making these columns."""
        return self.since_sorted + (2 if any(_GENERATOR.match(item.text) for item in made) else 1)

    def with_keys(self, keys: SortKeys) -> tuple[Self, SortKeys]:
        """These rows with a column for every key that is none, and the keys as columns."""
        computed = {text: self.execution.name() for text, _ in keys if text not in self.names}
        columns = tuple((computed.get(text, text), direction) for text, direction in keys)
        if not computed:
            return self, columns
        return self.select([*items(self.names), *(Item(text, (name,)) for text, name in computed.items())]), columns

    def with_optimizer_barrier(self) -> Self:
        """The same rows in a form that Spark does not push a projection into.

        A correlated subquery in a projection over a union crashes Spark's optimizer (SPARK-59042). The generator, which
        makes one row of each, keeps the two apart. It stays in the plan, and costs about a tenth of a mark join's time.
        """
        return self.select([*items(self.names), Item("explode(array(1))", (self.execution.name(),))])


def all_true(conditions: Sequence[str]) -> str:
    """The condition that all conditions are true."""
    return conditions[0] if len(conditions) == 1 else " AND ".join(f"({condition})" for condition in conditions)


def select_list(made: Sequence[Item]) -> str:
    """What stands after SELECT."""
    return ", ".join(item.sql for item in made)


def names_joined(left: Table, right: Table, how: JoinHow) -> tuple[str, ...]:
    """The columns of a join of two tables."""
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
        table, conditions = self.table.without_correlated_filters
        used = [name for text in conditions for name in NAME.findall(text) if name in table.names]
        fresh = {column.text: table.execution.name() for column in items((*self.columns, *used))}
        table = table.select([Item(old, (new,)) for old, new in fresh.items()])
        for text in conditions:
            table = table.where(NAME.sub(lambda name: fresh.get(name[0], name[0]), text))
        return Rows(table, tuple(fresh.get(column, UNUSED) for column in self.columns))

    def with_names_disjoint_from(self, other: Rows) -> Rows:
        """The same rows under names that another table does not have."""
        return self if set(self.table.names).isdisjoint(other.table.names) else self.renamed()

    def with_optimizer_barrier(self) -> Rows:
        """The same rows, ready for a projection with a correlated subquery."""
        return Rows(self.table.with_optimizer_barrier(), self.columns)
