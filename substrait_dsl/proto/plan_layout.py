"""The layout of a plan in messages: what is written inline, and what is written once and referred to.

Specification: https://substrait.io/serialization/binary_serialization/#bounded-expression-nesting and ``ReferenceRel``.

Parsers refuse messages that nest more than 100 deep, which is about 45 relations, or 30 terms of a left-deep sum. So a
deeper tree is cut: a relation goes to a ``PlanRel.rel`` of its own, with a ``ReferenceRel`` in its place; an expression
goes to the ``detached_expressions`` of its ``PlanRel``, with its ordinal in its place. A relation that is used many
times is written for each use, since few consumers read ``ReferenceRel``; unless that would make the plan explode: then
relations that are used more than once are written once and referred to.

The layout is found before the first message is written, in one walk without recursion, children first. A plan of few
steps, as most are, needs no walk (`shallow_plans`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.nesting_depth import LEAF_LEVELS, LEVELS, SIMPLE_LEVELS, OwnLevels, is_simple
from substrait_dsl.proto.shallow_plans import MAX_NESTING, MIN_INLINED, Layout

_ROOT_LEVEL = 3  # Plan, PlanRel, RelRoot, Rel: no separate relation or detached expression starts deeper
MAX_LEVELS = MAX_NESTING - _ROOT_LEVEL + 1
"""The maximal number of message levels of a relation or an expression, its own included."""

_PART_RESERVE = 5  # Rel, AggregateRel, Measure, AggregateFunction, SortField: parts of a relation cannot be cut off it
_CUT_LEVELS = 2  # Rel, ReferenceRel

MAX_GROWTH = 8
"""How many times the number of nodes is written inline at most, if it is more than `MIN_INLINED`."""

_NO_CUT = 10**9
_ROOM = {
    class_: MAX_LEVELS
    - below
    - (0 if issubclass(class_, (Rel, ex.Expression)) and class_ is not ex.Lambda else _PART_RESERVE)
    for class_, below in LEVELS.items()
} | {rl.Emit: _NO_CUT}  # an emit is written into the message of its input, which therefore cannot be cut off it
"""The maximal number of levels of a child of a node; beyond, it is cut off."""


def lay_out(nodes: Sequence[Node]) -> Layout:
    """Decide which parts of a plan with these top nodes are not written inline.

    Raises `UnsupportedError` for types, literals and shared expressions that no message within the limits can hold.
    """
    written = sum(node.size for node in nodes)
    if written <= MIN_INLINED:
        return _Survey(nodes, frozenset()).layout()
    survey = _Survey(nodes, frozenset())
    if written <= MAX_GROWTH * survey.known:
        return survey.layout()
    count, again = _count_uses(nodes)
    bound = max(MIN_INLINED, MAX_GROWTH * count)
    survey = _Survey(nodes, again if written > bound else frozenset())
    if survey.written > bound:
        raise UnsupportedError(
            f"the plan has {count} different nodes, but expressions that are used again and again inside each other "
            f"would make it {survey.written} nodes when written out",
            hint="compute such an expression once, in a project, and refer to its column",
        )
    return survey.layout()


def _count_uses(roots: Sequence[Node]) -> tuple[int, frozenset[int]]:
    """Count the distinct nodes, and collect the `id` of those used more than once; of an emit, if its input is."""
    count = 0
    uses: Counter[int] = Counter()
    emitted: dict[int, int] = {}
    for root in roots:
        for node in walk(root):
            count += 1
            uses.update(map(id, node.children()))
            if isinstance(node, rl.Emit):
                emitted[id(node)] = id(node.input)
    again = {number for number, times in uses.items() if times > 1}
    return count, frozenset(again | {number for number, rel in emitted.items() if rel in again})


class _Survey:
    """One walk over a plan: the levels and the size of every node, and what is cut off.

    Args:
        nodes: those at its top.
        shared: the `id` of the relations to write once and refer to.
    """

    def __init__(self, nodes: Sequence[Node], shared: frozenset[int]) -> None:
        self.written = 0
        """The number of nodes that are written, all trees together."""
        self._found: dict[int, tuple[int, int]] = {}
        """The levels of each node that is no leaf, and the number of nodes written for it; children first."""
        self._subtrees: dict[int, Rel] = {}
        self._detached: set[int] = set()
        self._open_anchors: set[int] = set()
        self._separate = set(shared)
        self._own = OwnLevels()
        self._ends: list[int] = []
        for node in nodes:
            self._visit(node)
            self.written += self._link(node, MAX_LEVELS)[1]
            self._ends.append(len(self._found))

    @property
    def known(self) -> int:
        """The number of distinct nodes that are not leaves."""
        return len(self._found)

    def layout(self) -> Layout:
        """Return the layout."""
        # `_found` is in the order in which the nodes were finished: children first.
        finished = iter(self._found)
        subtrees = tuple(
            tuple(self._subtrees[number] for number in islice(finished, end - start) if number in self._subtrees)
            for start, end in pairwise((0, *self._ends))
        )
        return Layout(subtrees, frozenset(self._subtrees), frozenset(self._detached))

    def _visit(self, root: Node) -> None:
        found = self._found
        stack: list[tuple[Node, tuple[Node, ...] | None]] = [(root, None)]
        while stack:
            node, children = stack.pop()
            if id(node) in found:
                continue
            if children is None:  # the first time: its children come first
                children = node.children()
                inner = [
                    (child, None)
                    for child in children
                    if isinstance(child, Rel) or not (_is_leaf(child) or is_simple(child))
                ]
                if inner:
                    stack.append((node, children))
                    stack += reversed(inner)
                    continue
            self._finish(node, children)

    def _finish(self, node: Node, children: tuple[Node, ...]) -> None:
        levels, size = self._access_levels(node) if isinstance(node, ex.FieldAccess) else self._own.of(node), 1
        below, room = LEVELS[type(node)], _ROOM[type(node)]
        for child in children:
            # An invocation holds its lambda in a field that takes no ordinal.
            is_invoked = type(child) is ex.Lambda and isinstance(node, ex.LambdaInvocation)
            child_levels, child_size = self._link(child, _NO_CUT if is_invoked else room)
            if below + child_levels > levels:
                levels = below + child_levels
            size += child_size
        if levels > MAX_LEVELS:
            raise UnsupportedError(
                f"a type or a literal inside a {type(node).__name__} nests too deeply: parsers read at most "
                f"{MAX_NESTING} messages inside each other",
                hint="no plan can hold it; use a flatter type",
            )
        self._found[id(node)] = (levels, size)
        if self._open_anchors and isinstance(node, Rel):
            self._mark(node)

    def _mark(self, rel: Rel) -> None:
        """Mark a relation that must be written once, because a subtree cut off inside it refers to its row.

        That subtree is written once and has one anchor for the row: so the relation must be written once, too.
        """
        if rel.anchor in self._open_anchors or (isinstance(rel, rl.Emit) and id(rel.input) in self._separate):
            self._separate.add(id(rel))

    def _link(self, child: Node, room: int) -> tuple[int, int]:
        """Return the levels and the size of a child, and cut it off where its parent has too little room."""
        found = self._found.get(id(child))
        if found is None:  # nothing was found out about it: a leaf, or simple
            if child.height > 1:
                found = SIMPLE_LEVELS, child.size
            else:
                return (LEAF_LEVELS if type(child) is ex.FieldReference else self._own.of(child)), 1
        if room == _NO_CUT:
            return found
        levels, size = found
        if isinstance(child, Rel):
            if levels > room or id(child) in self._separate or (child.flags.has_shared and _is_written_once(child)):
                self._cut_tree(child)
            if id(child) in self._subtrees:
                return _CUT_LEVELS, 1
        elif levels > room and isinstance(child, ex.Expression) and not isinstance(child, ex.Literal):
            self._detached.add(id(child))
            return 1, size
        return found

    def _cut_tree(self, rel: Rel) -> None:
        if id(rel) not in self._subtrees:
            self._subtrees[id(rel)] = rel
            self._open_anchors |= rel.free_anchors
            self.written += self._found[id(rel)][1]

    def _access_levels(self, access: ex.FieldAccess) -> int:
        """Return the levels of a field access without its input; a map key is written behind the input's segments."""
        if isinstance(access.segment, ex.MapKey):
            return self._link(access.input, _ROOM[ex.FieldAccess])[0] + 2 + self._own.literal(access.segment.key)
        return self._own.of(access)


def _is_written_once(rel: Rel) -> bool:
    """Whether a relation is to be written once; an emit is if its input is, since it is written into that."""
    return rel.shared or (isinstance(rel, rl.Emit) and rel.input.shared)


def _is_leaf(node: Node) -> bool:
    """Whether the node is an expression without children: about half of all nodes, and never cut off."""
    return node.height == 1 and isinstance(node, ex.Expression)
