"""What the plugin remembers of the file that mypy is checking: what its calls make, and which mistakes have been said.

A chain of verbs is checked from its start: the relation that a verb is called on is the one that the verb before has
made, with all that is known of it. And a mistake is said once, where it was made, not by every verb after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import Context, SymbolNode

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders

if TYPE_CHECKING:
    from mypy.checker import TypeChecker
    from mypy.plugin import CheckerPluginInterface

NOT_MADE = object()


class Memory:
    """The expressions of one file, by their nodes; a node is kept with what it makes, lest another gets its number."""

    def __init__(self) -> None:
        self._checker: TypeChecker | None = None
        self._made: dict[int, tuple[Context, object, str]] = {}
        self._said: dict[int, Context] = {}
        self._variables: dict[SymbolNode, Relation[Any]] = {}

    def begin(self, checker: CheckerPluginInterface, node: Context) -> None:
        """An expression is checked, perhaps again: what it made holds no longer.

        mypy makes a checker for each file, and its daemon another each time that the file is checked.
        """
        if checker is not self._checker:
            self._checker = checker  # type: ignore[assignment]  # mypy's own checker is the only one
            self._made.clear()
            self._said.clear()
            self._variables.clear()
        self._made.pop(id(node), None)

    def make(self, node: Context, value: object) -> None:
        """An expression makes a value."""
        self._made[id(node)] = (node, value, self._place())

    def made(self, node: Context | None) -> object:
        """What an expression makes; `NOT_MADE` if that is not known."""
        return self._made[id(node)][1] if id(node) in self._made else NOT_MADE

    def made_here(self, node: Context) -> object:
        """As `made`, in the function that is being checked: mypy's daemon may not have checked others before it."""
        return self.made(node) if id(node) in self._made and self._made[id(node)][2] == self._place() else NOT_MADE

    def _place(self) -> str:
        """The function that is being checked, or the module, outside of its functions."""
        return self._checker.tscope.current_target() if self._checker else ""

    def say(self, node: Context) -> None:
        """What is wrong with an expression is said."""
        self._said[id(node)] = node

    def unsay(self, node: Context) -> None:
        """Nothing is wrong with an expression, now that more is known of it."""
        self._said.pop(id(node), None)

    def said(self, node: Context | None) -> bool:
        """Whether it has been said what is wrong with an expression."""
        return id(node) in self._said

    def relation(self, variable: SymbolNode, struct: NamedStruct) -> Relation[Any]:
        """What stands for the relation that a variable holds: the same one wherever it holds these columns."""
        made = self._variables.get(variable)
        if made is None or made._rel.schema != struct:
            made = self._variables[variable] = placeholders.relation(struct)
        return made


MEMORY = Memory()
