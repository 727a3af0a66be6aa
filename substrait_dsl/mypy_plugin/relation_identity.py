"""Columns that are named by their relation, as ``rel.c.x`` and ``rel["x"]``: they belong to that very relation.

Which relation a variable holds is known if nothing but what one verb makes is ever assigned to it. Of other variables
only the columns are known: two of them may hold the same relation if their columns are the same.
"""

from __future__ import annotations

from typing import Any

from mypy.nodes import Expression, NameExpr

from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.checker_state import STATE


class Origins:
    """The relations that one call names, and whose columns it uses."""

    def __init__(self) -> None:
        self.is_exact = False
        """Whether a column is that of its relation, or else stands for any column of its type."""
        self._named: list[Relation[Any]] = []
        self._used: list[Relation[Any]] = []

    def find_relation(self, node: Expression | None, struct: NamedStruct, known: object = None) -> Relation[Any]:
        """What stands for a relation: itself, if it is known, or else one of which only the columns are."""
        if isinstance(known, Relation) and known._rel.schema == struct:
            self._named.append(known)
            return known
        variable = node.node if isinstance(node, NameExpr) else None
        made = placeholders.make_relation(struct) if variable is None else STATE.find_relation(variable, struct)
        self._named.append(made)
        return made

    def read_column(self, relation: Relation[Any], name: Any) -> Any:
        """A column of a relation."""
        self._used.append(relation)
        return relation[name]

    def may_coincide(self) -> bool:
        """Whether a column may belong to a relation though it is named by another: one variable holds both."""
        return any(
            one._rel is not other._rel
            and one._rel.schema == other._rel.schema
            and (placeholders.is_placeholder(one) or placeholders.is_placeholder(other))
            for one in self._used
            for other in self._named
        )
