"""Where a long plan is cut into pieces, each of them one text.

Spark takes in a text of some dozens of relations in a fraction of the time that it needs for a DataFrame after each of
them; but its parser fails at a few hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait_dsl.algebra.node import Rel
from substrait_dsl.spark.relations.column_pruning import relations_inside

MIN_FRAGMENT_SIZE = 4
"""Of fewer relations a text gains nothing over as many DataFrames."""


class Pieces:
    """The pieces of a plan.

    Args:
        relations: all relations of the plan, parents first.
        most: how many relations one text may have.
        is_apart: whether a relation cannot be part of a text.
    """

    def __init__(self, relations: Sequence[Rel], most: int, is_apart: Callable[[Rel], bool]) -> None:
        self._sizes: dict[int, int] = {}
        """For each relation, by its id, how many the text has that ends with it; 0: it cannot be text."""
        self._ends: set[int] = set()
        """The relations, by their ids, that other texts refer to, and are no part of."""
        for rel in reversed(relations):
            size = 0 if is_apart(rel) else self._size(rel)
            if size > most:
                self._ends.update(id(child) for child in rel.inputs if self._sizes[id(child)] > most // 8)
                size = self._size(rel)
            self._sizes[id(rel)] = size if size <= most else 0
            if not self._sizes[id(rel)]:
                self._ends.add(id(rel))

    def _size(self, rel: Rel) -> int:
        """How many relations a text would have; what stands in it several times counts as often."""
        return 1 + sum(1 if id(inside) in self._ends else self._sizes[id(inside)] for inside in relations_inside(rel))

    def is_text(self, rel: Rel) -> bool:
        """Whether a relation is better made as one text, together with what it stands on."""
        return self._sizes.get(id(rel), 0) >= MIN_FRAGMENT_SIZE

    def edges(self, rel: Rel, needed: Callable[[Rel], Sequence[Rel]]) -> list[Rel]:
        """The relations that the text of a relation refers to; `needed` gives those that one is made from."""
        found: dict[int, Rel] = {}
        stack = [*needed(rel)]
        while stack:
            child = stack.pop()
            if id(child) in self._ends:
                found[id(child)] = child
            else:
                stack.extend(needed(child))
        return list(found.values())
