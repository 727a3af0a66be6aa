"""Scopes of variables: a variable that a lambda read stays a variable of its tuple, and a table a table.

An expression refers to variables and tables by their names alone, so that a variable hides an outer one of the same
name. The notation shows that; a lambda has chosen one of them, and gets an error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.errors import SchemaError, quote

if TYPE_CHECKING:
    from substrait_dsl.partiql.value_builder import Bound


class TupleScope:
    """The binding tuple that one call of a lambda gets."""

    __slots__ = ("is_over", "variables")

    def __init__(self, variables: tuple[str, ...]) -> None:
        self.variables = variables
        self.is_over = False
        """Whether the lambda has returned."""


def scopes_of(parts: Sequence[Bound]) -> dict[str, frozenset[TupleScope]]:
    """Return the scopes of the variables in several expressions.

    Raises `SchemaError` for one of a tuple whose lambda has returned.
    """
    found: dict[str, frozenset[TupleScope]] = {}
    for part in parts:
        for name, scopes in part.scopes.items():
            if any(scope.is_over for scope in scopes):
                raise SchemaError(
                    f'the variable "{name}" is of a tuple that another lambda got',
                    hint="use the tuple only inside the lambda that gets it",
                )
            found[name] = found.get(name, frozenset()) | scopes
    return found


def without_scope(
    part: Bound, variables: Collection[str], scope: TupleScope | None
) -> Mapping[str, frozenset[TupleScope]]:
    """Return the scopes of an expression inside a tuple with these variables, which a lambda got as this scope.

    Raises `SchemaError` if a variable of the tuple hides a table, or the variable of a tuple further out.
    """
    for name in sorted(part.expression.free & set(variables)):
        if name in part.sources:
            raise SchemaError(
                f'the table "{name}" is hidden by the variable "{name}" of the tuples that have {quote(variables)}',
                hint="give one of them another name",
            )
        for other in part.scopes.get(name, frozenset()) - {scope}:
            raise SchemaError(
                f'the variable "{name}" of the tuple that has {quote(other.variables)} is hidden by the variable '
                f'"{name}" of the tuple inside, which has {quote(variables)}',
                hint="give one of them another name",
            )
    return {name: scopes - {scope} for name, scopes in part.scopes.items() if scopes != {scope}}
