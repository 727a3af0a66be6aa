"""The relation trees of a plan, which refer to each other: where one is read, and in which order.

Specification: ``ReferenceRel`` in ``algebra.proto`` and ``Plan.relations`` (reading 41). Trees may refer to each other
in chains of thousands, so nothing here recurses along them. A tree is read once and shared, unless something in it
refers to the row of a relation outside of it: then it means another relation in each place, and is read there.
"""

from __future__ import annotations

import functools
import graphlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import PlanRel

from substrait_dsl.errors import PlanFormatError, UnsupportedError

if TYPE_CHECKING:
    from substrait_dsl.algebra.node import Rel
    from substrait_dsl.proto.decoder import Decoder, Scope

MAX_READ_AGAIN = 10_000
"""How often trees are read in the places that refer to them, all in all: such a plan can grow without bounds."""

_BY_COUNTING = 0  # stands among the numbers of outer rows, none of which is 0, for rows that `steps_out` refers to


@attrs.frozen
class _Tree:
    """What has to be known of a tree before it is read."""

    references: Counter[int]
    """The trees that it refers to, and how often."""
    level: frozenset[int]
    """Those among them that it refers to outside of its subqueries and of the right inputs of lateral joins."""
    outer: frozenset[int]
    """The numbers of the rows outside of it that something in it refers to, those of its references aside."""
    anchors: frozenset[int]
    """The numbers that its own relations have."""


class Trees:
    """The trees of one plan.

    Raises `PlanFormatError` for references that lead nowhere or in a circle.
    """

    def __init__(self, messages: Sequence[PlanRel]) -> None:
        self._messages = messages
        # A plan of one tree, as most are, has nothing to refer to: it is not looked through.
        self._trees = [_survey(message, len(messages)) for message in messages] if len(messages) > 1 else [_ALONE]
        self._order = self._in_order()
        self.referred: Counter[int] = Counter()
        """The trees that others refer to, and how often."""
        for tree in self._trees:
            self.referred.update(tree.references)
        self._correlated: set[int] = set()
        free: dict[int, frozenset[int]] = {}
        for ordinal in self._order:
            tree = self._trees[ordinal]
            free[ordinal] = tree.outer.union(*(free[other] for other in tree.references)) - tree.anchors
            if free[ordinal]:
                self._correlated.add(ordinal)
        self._read: dict[int, Rel] = {}
        self._read_in_place: dict[tuple[int, int], tuple[Rel, Scope | None]] = {}

    def _in_order(self) -> list[int]:
        """The trees, each after those that it refers to."""
        references = {ordinal: tree.references for ordinal, tree in enumerate(self._trees)}
        try:
            return list(graphlib.TopologicalSorter(references).static_order())
        except graphlib.CycleError as error:
            circle = " -> ".join(map(str, reversed(error.args[1][:10])))
            raise PlanFormatError(f"the relations of the plan refer to each other in a circle: {circle}") from None

    def message(self, ordinal: int) -> pb.Rel:
        """The message of a tree's relation. Raises `PlanFormatError` for a tree that nothing can refer to."""
        if ordinal not in self.referred:
            raise PlanFormatError(f"there is no relation {ordinal} to refer to: the plan has {len(self._messages)}")
        return relation_of(self._messages[ordinal])

    def read_all(self, decoder: Decoder) -> Mapping[int, Rel]:
        """Read all trees that can stand by themselves, and those that should because nothing refers to them."""
        for ordinal in self._order:
            if ordinal not in self._correlated or ordinal not in self.referred:
                self._read[ordinal] = self._decode(decoder, ordinal, None)
        return self._read

    def read(self, decoder: Decoder, ordinal: int, outer: Scope | None) -> Rel:
        """The relation of a tree, for a reference to it that stands inside a subquery of that row."""
        if ordinal in self._read:
            return self._read[ordinal]
        self.message(ordinal)
        stack = [ordinal]
        while stack:
            top = stack[-1]
            waiting = [
                other
                for other in self._trees[top].level
                if other not in self._read and (other, id(outer)) not in self._read_in_place
            ]
            stack.extend(waiting)
            if not waiting:
                stack.pop()
                if (top, id(outer)) not in self._read_in_place:
                    self._read_in_place[top, id(outer)] = self._decode(decoder, top, outer), outer
        return self._read_in_place[ordinal, id(outer)][0]

    def _decode(self, decoder: Decoder, ordinal: int, outer: Scope | None) -> Rel:
        if len(self._read_in_place) >= MAX_READ_AGAIN:
            raise UnsupportedError(
                f"the plan refers to correlated relations in more than {MAX_READ_AGAIN} places, each of which means "
                "another relation"
            )
        message = self._messages[ordinal]
        if message.WhichOneof("rel_type") is None:
            decoder.fail(message)
            raise PlanFormatError("a tree of the plan has no relation")
        before, decoder.detached = decoder.detached, message.detached_expressions
        try:
            rel = decoder.relation(relation_of(message), outer)
        finally:
            decoder.detached = before
        return attrs.evolve(rel, shared=True) if self.referred[ordinal] > 1 else rel


def relation_of(tree: PlanRel) -> pb.Rel:
    """The relation of a tree, whether it is a root or not."""
    return tree.root.input if tree.HasField("root") else tree.rel


_ALONE = _Tree(Counter(), frozenset(), frozenset(), frozenset())


def _survey(tree: PlanRel, count: int) -> _Tree:
    references: Counter[int] = Counter()
    level: set[int] = set()
    outer: set[int] = set()
    anchors: set[int] = set()
    leading_of: dict[type[Any], _Leading] = {}
    stack: list[tuple[Any, int, bool]] = [(tree, 0, True)]
    while stack:
        message, depth, at_level = stack.pop()
        kind = type(message)
        if kind is pb.ReferenceRel:
            if 0 <= message.subtree_ordinal < count:  # others are refused when they are read
                references[message.subtree_ordinal] += 1
                if at_level:
                    level.add(message.subtree_ordinal)
        elif kind is pb.RelCommon:
            if message.HasField("rel_anchor"):
                anchors.add(message.rel_anchor)
        elif kind is _OuterReference:
            if message.WhichOneof("outer_reference_type") == "rel_reference":
                outer.add(message.rel_reference)
            elif message.steps_out > depth:
                outer.add(_BY_COUNTING)
        elif kind is not pb.Expression or not _is_leaf(message):
            if kind is pb.Expression.Subquery:
                depth, at_level = depth + 1, False
            leading = leading_of.get(kind)
            if leading is None:
                leading = leading_of[kind] = _leading()[kind.DESCRIPTOR.full_name]
            for oneof, choices in leading.oneofs:
                name = message.WhichOneof(oneof)
                if name in choices:
                    stack.append((getattr(message, name), depth, at_level))
            for name in leading.singular:
                if message.HasField(name):
                    beside = kind is pb.LateralJoinRel and name == "right"
                    stack.append((getattr(message, name), depth, at_level and not beside))
            for name in leading.repeated:
                stack.extend((part, depth, at_level) for part in getattr(message, name))
    return _Tree(references, frozenset(level), frozenset(outer), frozenset(anchors))


def _is_leaf(expression: pb.Expression) -> bool:
    """Whether an expression is a literal or a column of its own row, as most are: nothing sought stands in it."""
    kind = expression.WhichOneof("rex_type")
    return kind == "literal" or (
        kind == "selection" and expression.selection.WhichOneof("root_type") == "root_reference"
    )


_OuterReference = pb.Expression.FieldReference.OuterReference


@attrs.frozen
class _Leading:
    """The fields of a kind of message in which something that `_survey` looks for can stand."""

    oneofs: tuple[tuple[str, frozenset[str]], ...]
    singular: tuple[str, ...]
    repeated: tuple[str, ...]


@functools.cache
def _leading() -> Mapping[str, _Leading]:
    """Those fields for each kind of message, by its full name.

    More than half of a plan is types, literals and positions of columns, which are not worth a look.
    """
    fields: dict[str, list[Any]] = {}
    kinds: list[Any] = [PlanRel.DESCRIPTOR]
    while kinds:
        kind = kinds.pop()
        if kind.full_name not in fields:
            fields[kind.full_name] = [field for field in kind.fields if field.message_type is not None]
            kinds.extend(field.message_type for field in fields[kind.full_name])
    sought = {kind.DESCRIPTOR.full_name for kind in (pb.ReferenceRel, pb.RelCommon, _OuterReference)}
    while more := {kind for kind in fields if any(_holds(field, sought) for field in fields[kind])} - sought:
        sought |= more
    return {kind: _of([field for field in inner if _holds(field, sought)]) for kind, inner in fields.items()}


def _holds(field: Any, kinds: set[str]) -> bool:
    return field.message_type.full_name in kinds


def _of(fields: list[Any]) -> _Leading:
    oneofs: dict[str, set[str]] = {}
    for field in fields:
        if field.containing_oneof is not None:
            oneofs.setdefault(field.containing_oneof.name, set()).add(field.name)
    alone = [field for field in fields if field.containing_oneof is None]
    return _Leading(
        tuple((oneof, frozenset(names)) for oneof, names in oneofs.items()),
        tuple(field.name for field in alone if not field.is_repeated),
        tuple(field.name for field in alone if field.is_repeated),
    )
