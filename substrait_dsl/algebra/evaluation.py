"""The order in which a plan is evaluated: its trees one after the other, each of them depth first.

"Executing a plan involves computing the result sets for each of these trees ... in the order in which they are defined.
Relation references can be used to refer to the result set of a previously evaluated subtree" (Basics, Plans). So a
shared relation is evaluated as a tree. A plan need not list it: it is evaluated before the first tree that uses it.

The order has an effect only in plans that change tables. So these functions are called for such plans alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.algebra.trees import Root, Subtree, Tree


def evaluated_children(node: Node) -> tuple[Node, ...]:
    """Return the nodes inside one that are evaluated with it: the definition of a view is only kept."""
    return () if isinstance(node, rl.Ddl) else node.children()


def is_tree(rel: Rel) -> bool:
    """Return whether a shared relation has one result set: it refers to no row, and to no parameter, around it."""
    return rel.shared and not rel.free_anchors and not rel.flags.parameter_uses


def _shared_relations(rel: Rel, seen: set[int]) -> list[Rel]:
    """Return the shared relations in a tree that are evaluated as trees, inner ones first; maybe the relation itself.

    What was seen is left out, and what is found is added to that.
    """
    if not rel.flags.has_shared:
        return []
    nodes = _depth_first([rel], lambda node: node.flags.has_shared, seen)
    return [node for node in nodes if isinstance(node, Rel) and is_tree(node)]


def evaluated_trees(trees: Sequence[Tree]) -> tuple[Tree, ...]:
    """Return all trees in the order of their evaluation, with the shared relations that the plan does not list."""
    seen: set[int] = set()
    order: list[Tree] = []
    for tree in trees:
        order += [Subtree(rel) for rel in _shared_relations(tree.input, seen)]
        if not (isinstance(tree, Subtree) and is_tree(tree.input)):
            order.append(tree)
    return tuple(order)


def normalized_trees(trees: tuple[Tree, ...]) -> tuple[Tree, ...]:
    """Return the same trees, so that plans which are evaluated alike have equal ones.

    A change that stands in several places is shared, and so is a subtree that stands in other trees, too: each is one
    object, so it is evaluated once. A shared subtree is listed only if it matters where: then all of them are.
    """
    changes = any(tree.input.flags.has_changes for tree in trees)
    subtrees = any(isinstance(tree, Subtree) for tree in trees)
    if changes or subtrees:
        trees = _with_shared(trees, _find_repeated(trees))
    brief = _without_shared_subtrees(trees) if subtrees else trees
    if not changes or len(brief) == len(trees) or _steps(brief) == _steps(trees):
        return brief
    return evaluated_trees(trees)


def _without_shared_subtrees(trees: tuple[Tree, ...]) -> tuple[Tree, ...]:
    """Return the trees without the subtrees that others use: these stand before the first that does anyway."""
    nodes = _depth_first([tree.input for tree in trees], lambda node: node.flags.has_shared)
    used = {id(child) for node in nodes for child in evaluated_children(node)}
    left_out = used | {id(tree.input) for tree in trees if isinstance(tree, Root)}
    brief: list[Tree] = []
    for tree in trees:
        if not (isinstance(tree, Subtree) and is_tree(tree.input) and id(tree.input) in left_out):
            brief.append(tree)
        if is_tree(tree.input):  # it is evaluated by now
            left_out.add(id(tree.input))
    return tuple(brief)


def _steps(trees: Sequence[Tree]) -> list[int | frozenset[int]]:
    """Return the changes that a plan makes, in order, and between them what it reads, whose order shows in nothing."""
    return steps_of([tree.input for tree in evaluated_trees(trees)], frozenset())


def steps_of(rels: Sequence[Rel], separate: AbstractSet[int]) -> list[int | frozenset[int]]:
    """Return the changes in relations that are evaluated one after the other, and the reads between them, by their ids.

    Args:
        rels: the relations.
        separate: the ids of those among them that stand inside others, too, but are evaluated where they are listed.
    """
    steps: list[int | frozenset[int]] = []
    reads: set[int] = set()
    evaluated: set[int] = set()
    for top in rels:
        if id(top) in evaluated:
            continue
        evaluated.add(id(top))

        def is_inside(node: Node, top: Rel = top) -> bool:
            return node is top or not (isinstance(node, Rel) and (is_tree(node) or id(node) in separate))

        for node in _depth_first([top], is_inside):
            if isinstance(node, rl.Change):
                steps += [frozenset(reads), id(node)]
                reads.clear()
            elif isinstance(node, rl.Read):
                reads.add(id(node))
    return [*steps, frozenset(reads)]


def _with_shared(trees: tuple[Tree, ...], rels: Sequence[Rel]) -> tuple[Tree, ...]:
    """Return the trees with some of their relations shared, which are given inner ones first.

    A change is made once, wherever it stands. Of a subtree the trees in front of it are evaluated on their own.
    """
    if not rels:
        return trees
    first = _first_places(trees)
    done: dict[int, Node] = {}
    shared: set[int] = set()

    def change(node: Node) -> Node:
        if isinstance(node, rl.Emit) and id(node.input) in shared:  # a reference has no place for an emit
            return attrs.evolve(node, input=rl.Fetch(node.input))
        return node

    changed: list[Tree] = []
    for number, tree in enumerate(trees):
        begun = [rel for rel in rels if number == (0 if isinstance(rel, rl.Change) else first[id(rel)])]
        if begun:  # what stood for other nodes so far may have one of these inside, on its own
            done = {key: node for key, node in done.items() if isinstance(node, Rel) and is_tree(node)}
        for rel in begun:
            done.pop(id(rel), None)
            done[id(rel)] = one = rebuild(rel, change, done=done).as_shared()
            shared.add(id(one))
        changed.append(attrs.evolve(tree, input=rebuild(tree.input, change, done=done)))
    return tuple(changed)


def _find_repeated(trees: Sequence[Tree]) -> list[Rel]:
    """Return the changes in several places, and the subtrees that stand in later trees, unless they are shared."""
    first = _first_places(trees)
    nodes, places = _count_places([tree.input for tree in trees], None if first else _has_changes)
    last: dict[int, int] = {}
    seen: set[int] = set()
    for number in reversed(range(len(trees) if first else 0)):
        last.update((id(node), number) for node in _depth_first([trees[number].input], None, seen))
    return [
        node
        for node in nodes
        if isinstance(node, Rel)
        and not node.shared
        and (
            places[id(node)] > 1
            if isinstance(node, rl.Change)
            else last.get(id(node), 0) > first.get(id(node), len(trees))
        )
    ]


def _first_places(trees: Sequence[Tree]) -> dict[int, int]:
    """Return where the relations that are subtrees are listed first, by their ids."""
    places: dict[int, int] = {}
    for number, tree in enumerate(trees):
        if isinstance(tree, Subtree):
            places.setdefault(id(tree.input), number)
    return places


def count_references(trees: Sequence[Tree]) -> Counter[int]:
    """Count the references to each shared relation, by its id; one that is referred to more than once has two.

    A root that returns the rows of one is a reference to it.
    """
    _, places = _count_places([tree.input for tree in trees], lambda node: node.flags.has_shared)
    places.subtract(id(tree.input) for tree in trees if isinstance(tree, Subtree) and is_tree(tree.input))
    return places


def _count_places(tops: Sequence[Rel], is_inside: Callable[[Node], bool] | None) -> tuple[list[Node], Counter[int]]:
    """Return the nodes of trees, and in how many places each stands, by its id: of those in many, at least two."""
    nodes = list(_depth_first(tops, is_inside))
    places = Counter(map(id, tops))
    for node in reversed(nodes):
        count = 1 if isinstance(node, Rel) and is_tree(node) else min(places[id(node)], 2)
        for child in evaluated_children(node):
            places[id(child)] += count
    return nodes, places


def _has_changes(node: Node) -> bool:
    return node.flags.has_changes


def _depth_first(
    tops: Sequence[Node], is_inside: Callable[[Node], bool] | None, seen: set[int] | None = None
) -> Iterator[Node]:
    """Yield the nodes of trees in the order of their evaluation, each once.

    Args:
        tops: the nodes at the top of the trees.
        is_inside: whether a node below is looked at; None: all are.
        seen: the ids of nodes that are left out with all that is below them; those that are found are added.
    """
    seen = set() if seen is None else seen
    stack: list[tuple[Node, bool]] = [(top, False) for top in reversed(tops)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            children = reversed(evaluated_children(node))
            stack += [(child, False) for child in children if is_inside is None or is_inside(child)]
