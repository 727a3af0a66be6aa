"""What the lowering of one relation asks of the walk over the plan: its inputs, and what surrounds it."""

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
    """The nodes that have been asked about, by their ids, and whether rows are looked up in them, or below."""

    @property
    def execution(self) -> ExecutionContext:
        """What the execution shares."""

    @property
    def outer(self) -> Mapping[int, tuple[str, ...]]:
        """The columns of enclosing rows, by anchor."""

    @property
    def as_text(self) -> bool:
        """Whether relations become SQL text, and not DataFrames."""

    @property
    def main(self) -> InputLowering:
        """The walk that makes DataFrames: what is not correlated may leave a subquery."""

    def __getitem__(self, rel: Rel) -> Rows:
        """What an input was lowered to."""

    def nested(self, outer: Mapping[int, tuple[str, ...]]) -> InputLowering:
        """A walk over a subquery."""

    def text(self, rel: Rel) -> tuple[TextTable, tuple[str, ...]]:
        """A relation as text: the table, and which of its columns the relation's columns are."""

    def outside(self, *nodes: Node) -> list[str]:
        """The columns of the enclosing rows that relations and expressions depend on."""

    def one_row(self, made: Sequence[Item]) -> Table:
        """A table of one row."""

    def first(self, rows: Rows) -> Any:
        """The value of the first column of the only row, computed now; None: there is no row."""

    def source(self, rel: Read) -> Rows:
        """The columns that a read finds, before it filters them."""
