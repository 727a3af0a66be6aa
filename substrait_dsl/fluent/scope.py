"""Scopes, in which the names of an expression are looked up: the row that the expressions of one call of a verb see."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.expressions import Expression, FieldReference, OuterReference, RootReference
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import AmbiguousFieldError, InvalidArgumentError, SchemaError, TypeMismatchError

_ANCHORS = itertools.count(1)


def own_column(column: str | int, scope: Scope) -> Expression:
    """Return the reference to a column of whatever row the scope is; see `Scope.column`."""
    return scope.column(column)


def column_of(rel: Rel, column: str | int, scope: Scope) -> Expression:
    """Return the reference to a column of a relation that the scope has as an input; see `Scope.column_of`."""
    return scope.column_of(rel, column)


class Scope:
    """The row that one call of a verb offers to its expressions: the columns of its inputs, side by side.

    While the lambda of the verb runs the scope is `open`, and relations built inside the lambda may refer to the row:
    that makes them correlated. The first such reference gives the scope its `anchor`.
    """

    __slots__ = ("anchor", "inputs", "open", "schema", "verb")

    def __init__(self, verb: str, inputs: Sequence[Rel], schema: NamedStruct | None = None) -> None:
        self.verb = verb
        self.inputs = tuple(inputs)
        self.open = False
        self.anchor: int | None = None
        if schema is None:
            schema = inputs[0].schema if len(inputs) == 1 else _side_by_side(inputs)
        self.schema = schema

    @property
    def is_of_lambda(self) -> bool:
        """Whether it is the row that the body of a lambda sees."""
        return False

    def seen_by(self, owners: frozenset[int]) -> Hashable:
        """Return what an expression depends on in this row, if it has parameters of these lambdas, by their `id`."""
        return id(self)

    def __reduce__(self) -> NoReturn:
        raise InvalidArgumentError(
            f"the row that {self.verb} passed to its lambda cannot be pickled: it is a row only inside the lambda",
            hint="name the column with col(...), or pickle the relation that the verb gives",
        )

    def column(self, column: str | int) -> FieldReference:
        """Return the reference to a column by name or position. Raises `UnknownFieldError`, `AmbiguousFieldError`."""
        position = self.schema.position(column)
        return FieldReference(position, self.schema.fields[position].type)

    def column_of(self, rel: Rel, column: str | int) -> FieldReference:
        """Return the reference to a column of one of the inputs, which must be this very relation."""
        position = rel.schema.position(column)
        offsets = [
            sum(len(before.schema) for before in self.inputs[:number])
            for number, candidate in enumerate(self.inputs)
            if candidate is rel
        ]
        if len(offsets) == 1:
            return FieldReference(offsets[0] + position, rel.schema.fields[position].type)
        name = rel.schema.fields[position].name
        if offsets:
            raise AmbiguousFieldError(
                f'column "{name}" is ambiguous: both inputs are the same relation',
                names=[name],
                hint=f"name the sides with a lambda: lambda l, r: l.{name} == r.{name}",
            )
        raise SchemaError(
            f'column "{name}" belongs to another relation than the one it is used on',
            names=[name],
            hint="use a lambda (lambda r: r.column), or the columns of the very relation the verb is called on",
        )

    def measure(self, measure: Any) -> Expression:
        """Return the value of an aggregate function, a measure, where the row is that of a group.

        Raises `TypeMismatchError` where it is not.
        """
        raise TypeMismatchError(f"{measure._lacks}, no value to compute with", hint=measure._advice)

    def local(self, expression: Expression, origin: Scope | None) -> Expression:
        """Return an expression over the row of `origin`, as seen from here.

        Its own row, or the row of an outer relation.
        """
        if origin is None or origin is self:
            return expression
        if not origin.open:
            raise SchemaError(
                f"a column of the row that {origin.verb} passed to its lambda is used after that call",
                hint="use the row only inside the lambda, or name the column with col(...)",
            )
        return outward(expression, origin.take_anchor())

    def take_anchor(self) -> int:
        """Return the number by which correlated expressions call this row."""
        if self.anchor is None:
            self.anchor = next(_ANCHORS)
        return self.anchor


NO_ROW = Scope("an expression", (), NamedStruct(()))
"""The row of expressions that are made of constants only: it has no columns."""


def outward(expression: Expression, anchor: int) -> Expression:
    """Return the expression with references to its own row as outer references to that anchor."""
    root = OuterReference(anchor)

    def change(node: Node) -> Node:
        match node:
            case FieldReference(root=RootReference()):
                return FieldReference(node.position, node.column_type, root)
            case ex.MaskedReference(input=ex.Row(root=RootReference()) as row):
                return ex.MaskedReference(attrs.evolve(row, root=root), node.mask)
            case _:
                return node

    return rebuild(expression, change, into_relations=False)


def _side_by_side(inputs: Sequence[Rel]) -> NamedStruct:
    return NamedStruct(tuple(field for rel in inputs for field in rel.schema.fields))
