"""The interface between the lowering of one relation and the walk over the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from substrait_dsl.algebra.node import Node, Rel
    from substrait_dsl.algebra.relations import Read
    from substrait_dsl.spark.relations.tables import Item, Rows, Table
    from substrait_dsl.spark.relations.texts import TextTable
    from substrait_dsl.spark.session.execution_context import ExecutionContext


class InputLowering(Protocol):
    """The walk over a plan, as the lowering of a relation sees it."""

    exact_limits: set[int]
    """The fetches inside correlated subqueries, by their ids, that may be a LIMIT."""

    lookups: dict[int, tuple[Node, bool]]
    """By the id of a node: the node, and whether rows are looked up in it or below it. A cache."""

    @property
    def execution(self) -> ExecutionContext:
        """The execution context."""

    @property
    def outer(self) -> Mapping[int, tuple[str, ...]]:
        """The columns of enclosing rows, by anchor."""

    @property
    def as_text(self) -> bool:
        """Whether relations become SQL text, and not DataFrames."""

    @property
    def main(self) -> InputLowering:
        """The walk that makes DataFrames: uncorrelated parts of a subquery may be lowered there."""

    def __getitem__(self, rel: Rel) -> Rows:
        """Return the rows that an input was lowered to."""

    def find_rows(self, rel: Rel) -> Rows | None:
        """Return the rows that a relation below an input was lowered to, if it is part of this walk."""

    def for_subquery(self, outer: Mapping[int, tuple[str, ...]]) -> InputLowering:
        """Return a walk over a subquery that sees these columns of enclosing rows, by anchor."""

    def lower_to_text(self, rel: Rel) -> tuple[TextTable, tuple[str, ...]]:
        """Lower a relation to SQL text; return the table, and which of its columns the relation's columns are."""

    def outer_columns(self, *nodes: Node) -> list[str]:
        """Return the columns of the outer row that relations and expressions depend on."""

    def make_one_row(self, select_items: Sequence[Item]) -> Table:
        """Return a table of one row, with the values of the items."""

    def compute_first(self, rows: Rows) -> Any:
        """Compute the value of the first column of the only row; None if there is no row."""

    def lower_source(self, rel: Read) -> Rows:
        """Return the columns that a read finds, before it filters them."""
