"""Columns that are named by their relation, as ``rel.c.x`` and ``rel["x"]``: they belong to that very relation.

The relation of a variable is known if the variable is assigned once, to the result of a verb. Of other variables only
the columns are known: two of them may be the same relation if their columns are the same.
"""

from __future__ import annotations

from typing import Any

from mypy.nodes import Expression, NameExpr

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.checker_state import STATE


class Origins:
    """The relations that one call names, and those whose columns it uses."""

    def __init__(self) -> None:
        self.is_exact = False
        """Whether a column belongs to its relation; else it may be any column of its type."""
        self._named: list[Relation[Any]] = []
        self._used: list[Relation[Any]] = []

    def find_relation(self, node: Expression | None, struct: NamedStruct, value: object = None) -> Relation[Any]:
        """Return a relation: itself if it is known, else a placeholder."""
        if isinstance(value, Relation) and value._rel.schema == struct:
            self._named.append(value)
            return value
        variable = node.node if isinstance(node, NameExpr) else None
        placeholder = placeholders.make_relation(struct) if variable is None else STATE.find_relation(variable, struct)
        self._named.append(placeholder)
        return placeholder

    def read_column(self, relation: Relation[Any], name: Any) -> Any:
        """Return a column of a relation."""
        self._used.append(relation)
        return relation[name]

    def may_coincide(self) -> bool:
        """Whether the relation of a column may be the same as another one that the call names."""
        return any(
            one._rel is not other._rel
            and one._rel.schema == other._rel.schema
            and (placeholders.is_placeholder(one) or placeholders.is_placeholder(other))
            for one in self._used
            for other in self._named
        )
