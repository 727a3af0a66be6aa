"""What the SQL of a relation is put together of: queries that know their order, and numbers of rows."""

from __future__ import annotations

import attrs

from substrait_dsl.algebra import expressions as ex


@attrs.frozen
class Query:
    """A query.

    `order` are columns that it has beside the named ones, each with its direction: its rows come in this order. It
    goes along with them until it is needed, since the order of a subquery is nothing to rely on.
    """

    text: str
    columns: tuple[str, ...]
    order: tuple[tuple[str, str], ...] = ()
    total: bool = False
    """Whether the order leaves no two different rows in either order."""

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that only say the order."""
        return tuple(name for name, _ in self.order)

    @property
    def by(self) -> str:
        """The order, as SQL has it; nothing if there is none."""
        return f" ORDER BY {', '.join(f'{name} {direction}' for name, direction in self.order)}" if self.order else ""

    @property
    def source(self) -> str:
        """The query as a table in another."""
        return f"({self.text})"


def number(expression: ex.Expression | None) -> int | None:
    """The value of a count."""
    if expression is None:
        return None
    assert isinstance(expression, ex.Literal)
    value: int | None = expression.value
    return value


def limit(rows: ex.Expression | None, offset: ex.Expression | None) -> str:
    """A LIMIT and an OFFSET."""
    text = "" if number(rows) is None else f" LIMIT {number(rows)}"
    return text + f" OFFSET {number(offset) or 0}"
