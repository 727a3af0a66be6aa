"""The relation trees of a plan, which refer to each other: where one is decoded, and in which order.

Specification: ``ReferenceRel`` in ``algebra.proto`` and ``Plan.relations`` (spec decision 41).

Trees may refer to each other in chains of thousands, so nothing here recurses along them. A tree is decoded once and
shared, unless it refers to an outer row: then it is decoded for each of the rows that it means in some place.
"""

from __future__ import annotations

import graphlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
from google.protobuf.message import Message
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import PlanRel

from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan_layout import MAX_LEVELS
from substrait_dsl.proto.reference_scan import survey

if TYPE_CHECKING:
    from substrait_dsl.algebra.node import Rel
    from substrait_dsl.proto.decoder import Decoder
    from substrait_dsl.proto.scopes import Scope

MAX_FREE = 100_000
"""The maximal number of outer rows of the trees of a plan, counted for each tree."""


@attrs.frozen
class _Free:
    """The outer rows that a tree refers to, also through its references."""

    numbers: tuple[int, ...]
    """Those that it refers to by their anchors."""
    steps_out: int
    """The number of subqueries to the farthest row that it counts; 0 for none."""

    @property
    def is_empty(self) -> bool:
        """Whether the tree is independent of outer rows."""
        return not self.numbers and self.steps_out == 0

    def rows(self, outer: Scope | None) -> tuple[Scope | None, ...]:
        """Return the rows that are meant inside a subquery of a row; a row that does not exist is None."""
        called = () if outer is None else (outer.find_anchor(number) for number in self.numbers)
        counted = () if outer is None else outer.outwards(self.steps_out)
        return (*called, *counted)


@attrs.frozen
class Detached:
    """The detached expressions of a tree."""

    entries: Sequence[pb.Expression]
    places: dict[int, pb.Expression] = attrs.field(factory=dict)
    """The first expression that refers to each of them by its ordinal."""
    read: set[int] = attrs.field(factory=set)
    """Those that were decoded."""


class Trees:
    """The trees of one plan.

    Raises `PlanFormatError` for references that lead in a circle, and `UnsupportedError` for too many to rows outside.
    """

    def __init__(self, messages: Sequence[PlanRel]) -> None:
        self._messages = messages
        self._trees = survey(messages)
        self._order = self._order_by_references()
        self.referred: Counter[int] = Counter()
        """The trees that others refer to, with the number of references."""
        for tree in self._trees:
            self.referred.update(tree.references)
        self._free = self._free_in_all()
        is_cut = 1 in self.referred.values() and not is_shallow(messages)
        self._once = 1 if is_cut and not has_changes(messages) else 0
        """The maximal number of references to a tree that is separate for its depth alone, and not to be shared.

        Where tables are changed, it matters when a tree is evaluated: then each reference is a tree of its own.
        """
        self.detached = [Detached(message.detached_expressions) for message in messages]
        """The detached expressions of each tree."""
        self._read: dict[int, Rel] = {}
        self._read_in_place: dict[int, dict[tuple[Scope | None, ...], Rel]] = {}

    def _order_by_references(self) -> list[int]:
        """Return the trees, each after those that it refers to."""
        if len(self._trees) < 2:
            return list(range(len(self._trees)))
        references = {ordinal: tree.references for ordinal, tree in enumerate(self._trees)}
        try:
            return list(graphlib.TopologicalSorter(references).static_order())
        except graphlib.CycleError as error:
            circle = " -> ".join(map(str, reversed(error.args[1][:10])))
            raise PlanFormatError(f"the relations of the plan refer to each other in a circle: {circle}") from None

    def _free_in_all(self) -> dict[int, _Free]:
        free: dict[int, _Free] = {}
        rows = 0
        for ordinal in self._order:
            tree = self._trees[ordinal]
            numbers, steps_out = set(tree.outer), tree.steps_out
            for other, depth in tree.references_at.items():
                numbers.update(free[other].numbers)
                steps_out = max(steps_out, free[other].steps_out - depth)
            free[ordinal] = _Free(tuple(numbers - tree.anchors), steps_out)
            rows += len(free[ordinal].numbers)
            if rows > MAX_FREE:
                raise UnsupportedError(
                    f"the trees of the plan refer to more than {MAX_FREE} rows outside of themselves"
                )
        return free

    def message(self, ordinal: int) -> pb.Rel:
        """Return the message of a tree's relation. Raises `PlanFormatError` for a tree that nothing can refer to."""
        if ordinal not in self.referred and 0 <= ordinal < len(self._messages):
            # a plan of one tree is not looked through for what it refers to
            raise PlanFormatError(f"relation {ordinal} of the plan, its only one, refers to itself")
        if ordinal not in self.referred:
            raise PlanFormatError(f"there is no relation {ordinal} to refer to: the plan has {len(self._messages)}")
        return relation_of(self._messages[ordinal])

    def require_order(self, decoder: Decoder) -> None:
        """Raise `PlanFormatError` for a tree that refers to a later one, whose result does not exist yet."""
        for ordinal, tree in enumerate(self._trees):
            later = max(tree.references, default=ordinal)
            if later > ordinal:
                decoder.mark_location(self._messages[ordinal])
                raise PlanFormatError(
                    f"relation {ordinal} of the plan refers to relation {later}, which is evaluated after it, and the "
                    "plan changes tables in between or before",
                    hint="a reference is to the result set of a relation that is defined before",
                )

    def read_all(self, decoder: Decoder) -> Mapping[int, Rel]:
        """Decode all independent trees, and those that nothing refers to."""
        for ordinal in self._order:
            if self._free[ordinal].is_empty or ordinal not in self.referred:
                self._read[ordinal] = self._decode(decoder, ordinal, None)
        return self._read

    def read(self, decoder: Decoder, ordinal: int, outer: Scope | None) -> Rel:
        """Return the relation of a tree, for a reference in a subquery of a row."""
        if ordinal in self._read:
            return self._read[ordinal]
        self.message(ordinal)
        stack = [ordinal]
        while stack:
            top = stack[-1]
            waiting = [other for other in self._trees[top].level if not self._is_read(other, outer)]
            stack.extend(waiting)
            if not waiting:
                stack.pop()
                if not self._is_read(top, outer):
                    self._read_in(decoder, top, outer)
        return self._read_in_place[ordinal][self._free[ordinal].rows(outer)]

    def _is_read(self, ordinal: int, outer: Scope | None) -> bool:
        """Whether a tree was decoded for this place, or one where it means the same rows."""
        return ordinal in self._read or self._free[ordinal].rows(outer) in self._read_in_place.get(ordinal, ())

    def _read_in(self, decoder: Decoder, ordinal: int, outer: Scope | None) -> None:
        """Decode a tree for a place."""
        if ordinal in self._read_in_place:
            decoder.read_again(self._messages[ordinal])
        rel = self._decode(decoder, ordinal, outer)
        self._read_in_place.setdefault(ordinal, {})[self._free[ordinal].rows(outer)] = rel

    def _decode(self, decoder: Decoder, ordinal: int, outer: Scope | None) -> Rel:
        message = self._messages[ordinal]
        if message.WhichOneof("rel_type") is None:
            decoder.mark_location(message)
            raise PlanFormatError("a tree of the plan has no relation")
        before, decoder.detached = decoder.detached, self.detached[ordinal]
        try:
            rel = decoder.relation(relation_of(message), outer)
        finally:
            decoder.detached = before
        return rel.as_shared() if self.referred[ordinal] > self._once else rel


def is_shallow(trees: Sequence[PlanRel]) -> bool:
    """Whether all trees of a plan could be written inline: then none is separate for its depth."""
    levels = 0
    stack: list[tuple[Message, int]] = []
    for tree in trees:
        deepest = 0
        stack.append((tree, 1))
        while stack:
            message, level = stack.pop()
            deepest = max(deepest, level)
            if levels + deepest > MAX_LEVELS:
                return False
            for field, value in message.ListFields():
                if field.message_type is not None:
                    stack.extend((inner, level + 1) for inner in (value if field.is_repeated else (value,)))
        levels += deepest
    return True


def has_changes(trees: Sequence[PlanRel]) -> bool:
    """Whether a relation in the trees changes a table, files or a definition."""
    stack: list[Message] = list(trees)
    while stack:
        message = stack.pop()
        if isinstance(message, pb.Rel) and message.WhichOneof("rel_type") in ("write", "update", "ddl"):
            return True
        for field, value in message.ListFields():
            if field.message_type is not None:
                stack.extend(value if field.is_repeated else (value,))
    return False


def relation_of(tree: PlanRel) -> pb.Rel:
    """Return the relation of a tree, whether it is a root or not."""
    return tree.root.input if tree.HasField("root") else tree.rel
