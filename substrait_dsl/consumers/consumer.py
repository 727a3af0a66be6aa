"""What is asked of the session of an engine that takes plans as bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa

Names = tuple[str, ...]


class Consumer(ABC):
    """A session of an engine that takes plans as bytes."""

    engine: ClassVar[str]
    """What the profile of the engine is called."""
    title: ClassVar[str]
    """What errors call the engine."""

    @abstractmethod
    def columns(self, names: Names) -> pa.Schema | None:
        """The columns of a table of the session; None: there is none of this name."""

    @abstractmethod
    def tables(self, namespace: Names) -> list[str]:
        """The names of the tables that there are, without those of their namespace."""

    @abstractmethod
    def with_types(self, names: Names, schema: pa.Schema) -> Any:
        """A table of the session as a source of these columns, each converted to its type."""

    @abstractmethod
    def consume(self, data: bytes, sources: Mapping[str, Any], schema: pa.Schema) -> Any:
        """Make a frame of a plan.

        Args:
            data: the plan, in the encoding of the profile.
            sources: Arrow tables, and what `with_types` gave, by the names that the plan has for them. They are seen
                by this plan alone.
            schema: the columns that the frame is to have.
        """

    @abstractmethod
    def collect(self, frame: Any, limit: int | None = None) -> tuple[list[pa.ChunkedArray], int]:
        """The columns of a frame, and how many rows there are: all, or the first ones."""

    @abstractmethod
    def explain(self, frame: Any) -> str:
        """The plan that the engine makes of a frame."""

    @abstractmethod
    def words_of(self, error: BaseException) -> str | None:
        """What the engine says in an error of its own; None: it is none."""


_CONSUMERS = {
    "datafusion": ("substrait_dsl.consumers.datafusion", "DataFusionSession"),
}
"""By the package of a session the module and the class that ask it."""


def consumer_of(session: object) -> Consumer | None:
    """What asks a session; None: it is of no engine that takes plans as bytes."""
    found = _CONSUMERS.get(type(session).__module__.partition(".")[0].lstrip("_"))
    if found is None:
        return None
    module, name = found
    made: Consumer | None = getattr(import_module(module), name).of(session)
    return made
