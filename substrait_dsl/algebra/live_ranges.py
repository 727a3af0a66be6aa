"""Live ranges: when each read and each change of a plan is evaluated, and until when the rows of a read are needed.

A consumer that computes rows lazily needs this: rows that are evaluated before a change of a table, and used after it,
have to be stored.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence

import attrs

from substrait_dsl.algebra.evaluation import count_references, evaluated_children, evaluated_trees, is_tree
from substrait_dsl.algebra.node import Node, Rel, rebuild, with_new_children
from substrait_dsl.algebra.relations import Change, Read
from substrait_dsl.algebra.trees import Root, Tree
from substrait_dsl.errors import UnsupportedError

MAX_NODES = 100_000
"""How many nodes a tree may have, written out, that uses relations in several places and changes tables between."""


@attrs.frozen(eq=False)
class PlacedChange:
    """A change, and when it is made."""

    change: Change
    tree: int
    """The position of its tree in `EvaluationOrder.trees`."""
    position: int


@attrs.frozen(eq=False)
class PlacedRead:
    """A read, and when it is evaluated."""

    read: Read
    tree: int
    position: int
    consumer: int | None
    """The position of the change in its tree that needs its rows; None: they go into the rows of the tree."""


class EvaluationOrder:
    """All trees of a plan, and the positions of their relations in the order of evaluation.

    Args:
        trees: the trees as the plan lists them.

    Raises:
        UnsupportedError: a tree is too large when relations that stand in it in several places are written out.
    """

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.trees = _unfolded_trees(evaluated_trees(trees))
        self.changes: list[PlacedChange] = []
        """In the order in which they are made."""
        self.reads: list[PlacedRead] = []
        self._positions: list[dict[int, int]] = []
        self._parents: list[dict[int, Rel | None]] = []
        self._uses: list[list[tuple[int, int | None]]] = [[] for _ in self.trees]
        """For each tree the references to it: the tree that has one, and the consumer there, as of `PlacedRead`."""
        self._tree_of: dict[int, int] = {}
        self._clock = 0
        for number, tree in enumerate(self.trees):
            self._place(number, tree)
        self._ends = self._compute_needed_until()
        self._references = count_references(self.trees)

    def is_shared(self, tree: int) -> bool:
        """Return whether other trees may refer to a tree, which is that of a shared relation."""
        return self._tree_of.get(id(self.trees[tree].input)) == tree

    def uses(self, tree: int) -> int:
        """Return how many references there are to the relation of a tree; of many, at least two."""
        return self._references[id(self.trees[tree].input)] if self.is_shared(tree) else 0

    def depends(self, tree: int, other: int) -> bool:
        """Return whether a tree refers to another, itself or through others; or is the same."""
        return any(user == tree for user in self._users(other))

    def is_needed_after(self, tree: int, change: PlacedChange) -> bool:
        """Return whether the rows of a tree are needed after a change."""
        return self._ends[tree] > change.position

    def _users(self, tree: int) -> Iterator[int]:
        """Yield a tree, and those that refer to it, themselves or through others."""
        seen: set[int] = set()
        waiting = [tree]
        while waiting:
            found = waiting.pop()
            if found not in seen:
                seen.add(found)
                yield found
                waiting += [user for user, _ in self._uses[found]]

    def live_reads(self, change: PlacedChange) -> Iterator[PlacedRead]:
        """Yield the reads that are evaluated before a change, and whose rows are needed after it."""
        for read in self.reads:
            until = self._ends[read.tree] if read.consumer is None else read.consumer
            if read.position < change.position < until:
                yield read

    def find_evaluated_before(self, read: PlacedRead, change: PlacedChange) -> Rel | None:
        """Return the largest relation around a read that is evaluated before a change, and can be evaluated alone.

        None: all of them refer to a row outside.
        """
        positions = self._positions[read.tree]
        found: Rel | None = None
        for rel in self.enclosing_relations(read):
            if positions[id(rel)] < change.position and not rel.free_anchors and not rel.flags.parameter_uses:
                found = rel
        return found

    def enclosing_relations(self, read: PlacedRead) -> Iterator[Rel]:
        """Yield a read, and the relations around it in its tree up to the change that needs it, inner ones first."""
        current: Rel | None = read.read
        while current is not None:
            yield current
            current = self._parents[read.tree][id(current)]

    def _place(self, number: int, tree: Tree) -> None:
        positions: dict[int, int] = {}
        parents: dict[int, Rel | None] = {}
        self._positions.append(positions)
        self._parents.append(parents)
        if id(tree.input) in self._tree_of:  # a root that returns the rows of a tree before it
            self._uses[self._tree_of[id(tree.input)]].append((number, None))
            return
        waiting: list[tuple[Rel, int | None]] = []
        seen: set[int] = set()
        stack: list[tuple[Node, Rel | None, int | None, bool]] = [(tree.input, None, None, False)]
        while stack:
            node, parent, consumer, is_done = stack.pop()
            if is_done:
                assert isinstance(node, Rel)
                positions[id(node)] = self._clock
                if isinstance(node, Change):
                    self.changes.append(PlacedChange(node, number, self._clock))
                elif isinstance(node, Read):
                    waiting.append((node, consumer))
                self._clock += 1
            elif isinstance(node, Rel) and node is not tree.input and is_tree(node):
                waiting.append((node, consumer))
            elif id(node) not in seen:
                seen.add(id(node))
                if isinstance(node, Rel):
                    parents[id(node)] = parent
                    stack.append((node, parent, consumer, True))
                    # The rows that a change needs are stored for the change alone, without the relations above it.
                    parent, consumer = (None, id(node)) if isinstance(node, Change) else (node, consumer)
                stack += [(child, parent, consumer, False) for child in reversed(evaluated_children(node))]
        for rel, waits_for in waiting:
            at = None if waits_for is None else positions[waits_for]
            if is_tree(rel) and rel is not tree.input:
                self._uses[self._tree_of[id(rel)]].append((number, at))
            else:
                assert isinstance(rel, Read)
                self.reads.append(PlacedRead(rel, number, positions[id(rel)], at))
        if is_tree(tree.input):
            self._tree_of[id(tree.input)] = number

    def _compute_needed_until(self) -> list[float]:
        """For each tree the position until which its rows are needed."""
        ends = [math.inf if isinstance(tree, Root) else -1.0 for tree in self.trees]
        for number in reversed(range(len(self.trees))):
            for tree, consumer in self._uses[number]:
                ends[number] = max(ends[number], ends[tree] if consumer is None else consumer)
        return ends


def _unfolded_trees(trees: Sequence[Tree]) -> tuple[Tree, ...]:
    """Return the trees, those that change tables with a relation of its own in each place."""
    unfolded: list[Tree] = []
    done: dict[int, Node] = {}
    """The replacements of shared relations, by the ids of these."""
    for tree in trees:
        rel = rebuild(tree.input, lambda node: node, done=dict(done)) if done else tree.input
        if rel.flags.has_changes:
            rel = _unfold(rel)
        if rel is not tree.input and is_tree(tree.input):
            done[id(tree.input)] = rel
        unfolded.append(tree if rel is tree.input else attrs.evolve(tree, input=rel))
    return tuple(unfolded)


def _unfold(top: Rel) -> Rel:
    """Return the tree with a relation of its own in each place, but for shared ones.

    What stands twice is evaluated twice.
    """
    if not _has_repeated(top):
        return top
    count = 0
    seen: set[int] = set()
    values: list[Node] = []
    stack: list[tuple[Node, bool]] = [(top, False)]
    while stack:
        node, is_ready = stack.pop()
        count += 1
        if count > MAX_NODES:
            raise UnsupportedError(
                "the plan uses relations in so many places, with changes of tables between, that it is too large",
                remedy="relation-in-many-places",
            )
        if isinstance(node, Rel) and node is not top and is_tree(node):
            values.append(node)
        elif not is_ready:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(node.children())]
        else:
            children = values[len(values) - len(node.children()) :]
            del values[len(values) - len(node.children()) :]
            result = with_new_children(node, children)
            if result is node and id(node) in seen and isinstance(node, Rel):
                result = copy.copy(node)
            seen.add(id(node))
            values.append(result)
    (result,) = values
    assert isinstance(result, Rel)
    return result


def _has_repeated(top: Rel) -> bool:
    """Return whether a relation that is not shared stands in several places of a tree."""
    seen: set[int] = set()
    stack: list[Node] = [top]
    while stack:
        for child in evaluated_children(stack.pop()):
            if isinstance(child, Rel):
                if id(child) in seen and not is_tree(child):
                    return True
                if id(child) in seen:
                    continue
                seen.add(id(child))
            stack.append(child)
    return False
