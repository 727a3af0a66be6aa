"""The engines that take Spark's SQL, and which of them an execution runs on.

What an engine computes otherwise than Spark stands in one table for it, as guards: each is a template in place of
Spark's, or a refusal by name, for the fault that its canary shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from substrait_dsl.algebra.expressions.literals import Literal
    from substrait_dsl.spark.templates import Table, Template


@attrs.frozen
class Guard:
    """What keeps a fault of an engine from users."""

    name: str
    plans: str
    """The plans that it concerns."""
    versions: tuple[str, ...]
    """The versions of the engine that have the fault."""
    canary: str
    """A query that shows the fault. Once the engine gives another answer, the guard is needless."""
    fault: Any
    """What the engine gives for it: a value, or the words of an error."""
    issue: str | None = None
    """Where it is reported, if that is known."""
    functions: Mapping[str, Table] = attrs.field(factory=dict)
    """The templates in place of Spark's, by extension."""
    aggregates: Mapping[str, Table] = attrs.field(factory=dict)
    """The same for aggregate functions."""


@attrs.frozen
class Engine:
    """What runs the statements of an execution."""

    name: str
    guards: tuple[Guard, ...] = ()
    literal_to_sql: Callable[[Literal], str | None] = lambda literal: None
    """Gives the text of literals that it reads otherwise than Spark; None: as for Spark."""
    replacement: Callable[[str], str] = lambda text: text
    """Gives, for what Java is to put in place of a match, how the engine writes it."""

    def functions(self, extension: str, *, of_rows: bool) -> Table:
        """The templates in place of Spark's for an extension: of aggregate functions if `of_rows`, else scalar ones."""
        found: dict[str, Template] = {}
        for guard in self.guards:
            tables = guard.aggregates if of_rows else guard.functions
            found.update(tables.get(extension, {}))
        return found


SPARK = Engine("Spark")

_ENGINE: ContextVar[Engine] = ContextVar("engine", default=SPARK)


def current_engine() -> Engine:
    """The engine that text is written for."""
    return _ENGINE.get()


@contextmanager
def written_for(engine: Engine) -> Iterator[None]:
    """Write text for an engine."""
    token = _ENGINE.set(engine)
    try:
        yield
    finally:
        _ENGINE.reset(token)
