"""The interface to the session of an engine that takes plans as bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

if TYPE_CHECKING:
    import pyarrow as pa

Names = tuple[str, ...]


@attrs.frozen(eq=False)
class BoundFunction:
    """A function of the user's, as a plan calls it."""

    name: str
    body: Callable[..., pa.Array]
    """A function over Arrow arrays of one length."""
    arguments: Sequence[pa.DataType]
    result: pa.DataType
    is_deterministic: bool


@attrs.frozen(eq=False)
class Encoded:
    """A plan of one root, ready to be sent."""

    data: bytes
    """The plan, in the encoding of the profile."""
    sources: Mapping[str, Any]
    """Arrow tables, and what `Consumer.with_types` gave, by the names that the plan has for them: seen by it alone."""
    schema: pa.Schema
    """The columns that the frame is to have."""
    functions: Sequence[BoundFunction] = ()
    """What the plan calls of the user's functions: seen by it alone."""


@attrs.frozen(eq=False)
class Result:
    """The result of a plan on an engine."""

    frame: Any
    table: pa.Table | None = None
    """The rows, if they are computed already."""


class Consumer(ABC):
    """A session of an engine that takes plans as bytes."""

    engine: ClassVar[str]
    """The name of the engine's profile."""
    title: ClassVar[str]
    """The name of the engine in errors."""

    @abstractmethod
    def columns(self, names: Names) -> pa.Schema | None:
        """Return the columns of a table of the session; None: there is none of this name."""

    @abstractmethod
    def tables(self, namespace: Names) -> list[str]:
        """Return the names of the tables that there are, without those of their namespace."""

    @abstractmethod
    def with_types(self, names: Names, schema: pa.Schema) -> Any:
        """Return a table of the session as a source of these columns, each converted to its type."""

    def is_as_declared(self, names: Names, found: pa.Schema, positions: Sequence[int], wanted: pa.Schema) -> bool:
        """Return whether a table is read as it is.

        The declared columns, at these positions, are of the declared types.
        """
        return all(
            field.name == expected.name and field.type == expected.type and (expected.nullable or not field.nullable)
            for field, expected in zip((found.field(position) for position in positions), wanted, strict=True)
        )

    @abstractmethod
    def consume(self, plan: Encoded) -> Result:
        """Make a frame of a plan."""

    @abstractmethod
    def collect(self, frame: Any, limit: int | None = None) -> tuple[list[pa.ChunkedArray], int]:
        """Return the columns of a frame, and how many rows there are: all, or the first ones."""

    @abstractmethod
    def explain(self, plan: Encoded) -> str:
        """Return the plan that the engine makes of a plan."""

    @abstractmethod
    def words_of(self, error: BaseException) -> str | None:
        """Return the message of an error of the engine; None for another error."""


_CONSUMERS = {
    "datafusion": ("substrait_dsl.consumers.datafusion", "DataFusionSession"),
    "duckdb": ("substrait_dsl.consumers.duckdb", "DuckDBSession"),
    "substrait_dsl.consumers.acero": ("substrait_dsl.consumers.acero", "AceroConsumer"),
}
"""By the package of a session, or by its module, the module and the class that ask it."""


def consumer_of(session: object) -> Consumer | None:
    """Return the consumer of a session; None if its engine takes no plans as bytes."""
    own = type(session).__module__
    found = _CONSUMERS.get(own) or _CONSUMERS.get(own.partition(".")[0].lstrip("_"))
    if found is None:
        return None
    module, name = found
    consumer: Consumer | None = getattr(import_module(module), name).of(session)
    return consumer
