"""Split a long plan into fragments, each of them one SQL text.

Spark analyses a text of some dozens of relations in a fraction of the time of as many DataFrame steps; but its parser
fails at a few hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from substrait_dsl.algebra.node import Rel
from substrait_dsl.spark.relations.column_pruning import relations_inside

MIN_FRAGMENT_SIZE = 4
"""With fewer relations a text is no faster than DataFrame steps."""


class Fragments:
    """The fragments of a plan.

    Args:
        relations: all relations of the plan, parents first.
        most: the most relations in one text.
        needs_frame: whether a relation cannot be part of a text.
    """

    def __init__(self, relations: Sequence[Rel], most: int, needs_frame: Callable[[Rel], bool]) -> None:
        self._sizes: dict[int, int] = {}
        """For each relation, by its id, the number of relations in the text that ends with it; 0: it cannot be text."""
        self._ends: set[int] = set()
        """The ids of the relations that texts refer to, and are not part of."""
        for rel in reversed(relations):
            size = 0 if needs_frame(rel) else self._size(rel)
            if size > most:
                self._ends.update(id(child) for child in rel.inputs if self._sizes[id(child)] > most // 8)
                size = self._size(rel)
            self._sizes[id(rel)] = size if size <= most else 0
            if not self._sizes[id(rel)]:
                self._ends.add(id(rel))

    def _size(self, rel: Rel) -> int:
        """Return the number of relations in a text; one that is used several times counts as often."""
        return 1 + sum(1 if id(inside) in self._ends else self._sizes[id(inside)] for inside in relations_inside(rel))

    def is_text(self, rel: Rel) -> bool:
        """Whether a relation becomes the end of a fragment."""
        return self._sizes.get(id(rel), 0) >= MIN_FRAGMENT_SIZE

    def edges(self, rel: Rel, needed: Callable[[Rel], Sequence[Rel]]) -> list[Rel]:
        """Return the relations to which the text of a relation refers; `needed` gives the inputs of one."""
        found: dict[int, Rel] = {}
        stack = [*needed(rel)]
        while stack:
            child = stack.pop()
            if id(child) in self._ends:
                found[id(child)] = child
            else:
                stack.extend(needed(child))
        return list(found.values())
