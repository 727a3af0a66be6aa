"""The trees of a plan: roots, which it returns, and subtrees, which it only evaluates.

Specification: ``PlanRel`` and ``RelRoot``, https://substrait.io/serialization/basics/.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

import attrs

from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.relations import VirtualTable
from substrait_dsl.algebra.types import struct_names
from substrait_dsl.errors import SchemaError


@attrs.frozen(eq=False, repr=False)
class Root(Picklable, FrozenValue):
    """A relation whose rows the plan returns, and the names of its columns, nested ones depth first."""

    input: Rel
    names: tuple[str, ...]

    @classmethod
    def of(cls, rel: Rel) -> Root:
        """Return the root that a relation is, under its own names. Raises `SchemaError` as `check_closed` does."""
        check_closed(rel)
        return cls(rel, rel.schema.depth_first_names())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, without nested ones."""
        return tuple(self.names[position] for position in self._positions())

    def _positions(self) -> list[int]:
        """Return where the names of the columns are among all names."""
        positions: list[int] = []
        position = 0
        for type_ in self.input.schema.types:
            positions.append(position)
            position += 1 + sum(1 for _ in struct_names(type_))
        return positions

    def with_unique_columns(self, *, is_alike: bool = False) -> Root:
        """Return the root whose columns have different names: the later ones of one name have a number behind it.

        Args:
            is_alike: whether names that differ in nothing but case are one name, and an empty one is none.
        """

        def key(name: str) -> str:
            return name.lower() if is_alike else name

        columns = self.columns
        if len(set(map(key, columns))) == len(columns) and not (is_alike and "" in columns):
            return self
        names, used, seen = list(self.names), set(map(key, columns)), {""} if is_alike else set[str]()
        for position in self._positions():
            name, number = names[position], 2
            if key(name) in seen:
                while key(f"{name}_{number}") in used:
                    number += 1
                name = f"{name}_{number}"
            names[position] = name
            used.add(key(name))
            seen.add(key(name))
        return attrs.evolve(self, names=tuple(names))


@attrs.frozen(eq=False, repr=False)
class Subtree(Picklable, FrozenValue):
    """A relation that the plan evaluates and does not return: for its effect, or for what refers to its rows."""

    input: Rel

    @classmethod
    def of(cls, rel: Rel) -> Subtree:
        """Return the subtree that a relation is. Raises `SchemaError` as `check_closed` does."""
        check_closed(rel)
        return cls(rel)


Tree = Root | Subtree


def check_closed(node: Node, rows: AbstractSet[int | None] = frozenset()) -> None:
    """Raise `SchemaError` if a tree refers to what is not there: to another outer row than these, by their anchors.

    Or to a parameter of a lambda, outside of that lambda.
    """
    what = "relation" if isinstance(node, Rel) else "expression"
    if not node.free_anchors <= rows:
        raise SchemaError(
            f"the {what} refers to a column of an outer relation, but it does not stand inside that relation",
            remedy="row-of-lambda",
        )
    if node.flags.parameter_uses:
        raise SchemaError(f"the {what} refers to the parameter of a lambda, but it does not stand inside that lambda")


def relations_below(rel: Rel) -> Iterator[Rel]:
    """Yield the relations that one is made of directly: its inputs and those of subqueries, as often as it has each."""
    stack: list[Node] = [*reversed(rel.children())]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if isinstance(node, Rel):
            yield node
        elif id(node) not in seen and not isinstance(node, Literal | VirtualTable):  # of many parts, with none inside
            seen.add(id(node))
            stack += reversed(node.children())
