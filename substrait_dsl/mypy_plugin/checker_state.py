"""The state of the plugin for the file that mypy is checking: the results of its calls, and which errors are reported.

A chain of verbs is checked from its start: the receiver of a verb is the relation that the verb before it has returned,
with all that is known of it. And an error is reported once, at its own verb, not by every verb after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mypy.nodes import Context, SymbolNode

from substrait_dsl.algebra.node import Node, Rel
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.mypy_internals import find_current_target

if TYPE_CHECKING:
    from mypy.plugin import CheckerPluginInterface

NO_VALUE = object()


class CheckerState:
    """The values of the expressions of one file, by the `id` of their nodes, with the nodes: no other gets its `id`."""

    def __init__(self) -> None:
        self._checker: CheckerPluginInterface | None = None
        self._values: dict[int, tuple[Context, object, str]] = {}
        self._open: dict[int, tuple[Context, object, str]] = {}
        """What is known of relations with columns that are not known to mypy."""
        self._reported: dict[int, Context] = {}
        self._variables: dict[SymbolNode, Relation[Any]] = {}
        self._incomplete: dict[int, Rel] = {}

    def begin_node(self, checker: CheckerPluginInterface, node: Context) -> None:
        """Begin to check an expression, perhaps once more: forget its former value.

        mypy makes a checker for each file, and its daemon one for each time that the file is checked.
        """
        if checker is not self._checker:
            self._checker = checker
            self._values.clear()
            self._open.clear()
            self._reported.clear()
            self._variables.clear()
            self._incomplete.clear()
        self._values.pop(id(node), None)
        self._open.pop(id(node), None)

    def store_value(self, node: Context, value: object) -> None:
        """Store the value of an expression."""
        self._values[id(node)] = (node, value, self._current_function())

    def mark_incomplete(self, rel: Rel) -> None:
        """Note that a relation has been made without an argument of the program, on which its columns do not depend."""
        self._incomplete[id(rel)] = rel

    def is_incomplete(self, node: Node) -> bool:
        """Whether an argument of the program is missing in a relation."""
        return id(node) in self._incomplete

    def find_value(self, node: Context | None) -> object:
        """Return the value of an expression, or `NO_VALUE` if it is not known."""
        return self._values[id(node)][1] if id(node) in self._values else NO_VALUE

    def find_value_here(self, node: Context) -> object:
        """Return the value of an expression if it is in the function that is being checked, else `NO_VALUE`.

        mypy's daemon may check a function without those before it.
        """
        _, value, function = self._values.get(id(node), (node, NO_VALUE, ""))
        return value if function == self._current_function() else NO_VALUE

    def store_open_value(self, node: Context, value: object) -> None:
        """Store what is known of a relation of which mypy does not know all columns."""
        self._open[id(node)] = (node, value, self._current_function())

    def find_open_value(self, node: Context | None) -> object:
        """Return what is known of a relation of which mypy does not know all columns, or `NO_VALUE`."""
        return self._open[id(node)][1] if id(node) in self._open else NO_VALUE

    def find_open_value_here(self, node: Context) -> object:
        """Return the same if the expression is in the function that is being checked, else `NO_VALUE`."""
        _, value, function = self._open.get(id(node), (node, NO_VALUE, ""))
        return value if function == self._current_function() else NO_VALUE

    def _current_function(self) -> str:
        """Return the name of the function that is being checked; outside of functions that of the module."""
        return find_current_target(self._checker) if self._checker else ""

    def mark_reported(self, node: Context) -> None:
        """Note that an error of an expression has been reported."""
        self._reported[id(node)] = node

    def clear_reported(self, node: Context) -> None:
        """Note that an expression is right, now that more is known of it."""
        self._reported.pop(id(node), None)

    def is_reported(self, node: Context | None) -> bool:
        """Whether an error of an expression has been reported."""
        return id(node) in self._reported

    def find_relation(self, variable: SymbolNode, struct: NamedStruct) -> Relation[Any]:
        """Return the placeholder of a variable's relation: one and the same as long as its columns are the same."""
        relation = self._variables.get(variable)
        if relation is None or relation._rel.schema != struct:
            relation = self._variables[variable] = placeholders.make_relation(struct)
        return relation


STATE = CheckerState()
