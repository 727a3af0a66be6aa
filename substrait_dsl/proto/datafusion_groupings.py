"""How many columns DataFusion counts in an aggregate that lists a key twice.

DataFusion 55 counts each expression once, and writes it as often as the query has it. Two names for one expression are
two expressions to it, which look the same in a plan. What stands above the aggregate tells them apart: the names of a
root are as many as the columns, and the emit of a project leaves out as many as its input has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from substrait import algebra_pb2 as pb

from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.paths import parts

if TYPE_CHECKING:
    from google.protobuf.message import Message

_SAME_COLUMNS = (pb.FilterRel, pb.SortRel, pb.FetchRel)
"""The relations of one input that put out its columns."""


class ColumnCounts:
    """The number of columns of each aggregate of a document, where what stands above it says that."""

    def __init__(self, document: Message) -> None:
        # The messages are referenced, as others could have their `id` otherwise.
        self._counts = {id(aggregate): (aggregate, count) for aggregate, count in _aggregates(document)}

    def counts_keys_once(self, message: pb.AggregateRel, distinct: int) -> bool:
        """Whether each distinct key of an aggregate is one column, however often it is listed.

        Args:
            message: an aggregate that lists a key twice, in a single grouping set.
            distinct: the number of the distinct keys.

        Raises:
            UnsupportedError: nothing above the aggregate says how many columns it has.
        """
        listed, measures = len(message.grouping_expressions), len(message.measures)
        _, count = self._counts.get(id(message), (message, None))
        if count not in (distinct + measures, listed + measures):
            raise UnsupportedError(
                "an aggregate lists a key twice, which is one column to DataFusion, or two where each has a name of "
                "its own, and nothing above it says how many columns it has",
                hint="list the key once, and repeat the column in a select on top",
            )
        return count == distinct + measures


def _aggregates(document: Message) -> Iterator[tuple[pb.AggregateRel, int | None]]:
    """Yield the aggregates in a document, each with the number of its columns, if what stands above says it."""
    stack: list[tuple[Message, int | None]] = [(document, None)]
    while stack:
        message, count = stack.pop()
        if isinstance(message, pb.AggregateRel):
            yield message, count
        of_input = _count_of_input(message, count)
        # A condition may have a subquery, which is no input.
        stack.extend((part, of_input if step in _INPUTS else None) for step, part in parts(message))


def _count_of_input(message: Message, count: int | None) -> int | None:
    """Return the number of columns of the input of a message, given that of the message itself."""
    if isinstance(message, pb.RelRoot):
        return len(message.names)
    if isinstance(message, pb.ProjectRel):
        mapping, expressions = message.common.emit.output_mapping, len(message.expressions)
        if mapping:
            is_of_expressions = list(mapping) == list(range(mapping[0], mapping[0] + expressions))
            return mapping[0] if is_of_expressions else None
        return None if count is None else count - expressions
    if isinstance(message, pb.Rel):
        return count
    return count if isinstance(message, _SAME_COLUMNS) and not message.common.HasField("emit") else None


_INPUTS = ("input", "aggregate", "filter", "sort", "fetch", "project")
"""The fields with the input of a message, and those of a ``Rel`` with the relation that it is."""
