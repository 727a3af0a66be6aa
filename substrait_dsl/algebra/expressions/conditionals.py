"""Casts, conditionals and membership tests.

Specification: https://substrait.io/expressions/specialized_record_expressions/ and ``Expression.Cast``.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.node import Expression, Node
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError

FailureBehavior = typing.Literal["throw", "return_null"]
FAILURE_BEHAVIORS: tuple[FailureBehavior, ...] = typing.get_args(FailureBehavior)


@attrs.frozen(eq=False, repr=False)
class Cast(Expression):
    """A value converted to another type. Where that fails: an error, or NULL.

    A NULL stays NULL if the target is nullable; if it is not, it fails.
    """

    input: Expression
    target: Type
    """The type of the result: nullable, if a failure gives NULL."""
    on_failure: FailureBehavior = "throw"

    def _validate(self) -> None:
        object.__setattr__(self, "target", rules.cast_type(self.target, self.on_failure))
        super()._validate()

    def _derive_type(self) -> Type:
        return self.target


@attrs.frozen(eq=False, repr=False)
class IfClause(Node):
    """A condition and what holds if it is true."""

    condition: Expression
    then: Expression

    def _validate(self) -> None:
        rules.require_boolean(self.condition.type, "the condition of an if")


@attrs.frozen(eq=False, repr=False)
class IfThen(Expression):
    """The value of the first clause whose condition is true, else another value."""

    clauses: tuple[IfClause, ...]
    otherwise: Expression

    def _derive_type(self) -> Type:
        if not self.clauses:
            raise InvalidArgumentError("an if needs at least one condition")
        return rules.branch_type([clause.then.type for clause in self.clauses] + [self.otherwise.type], "an if")


@attrs.frozen(eq=False, repr=False)
class SwitchCase(Node):
    """A value to compare with and what holds if it is equal."""

    value: Literal
    then: Expression


@attrs.frozen(eq=False, repr=False)
class Switch(Expression):
    """The value of the case equal to `match`, else another value."""

    match: Expression
    cases: tuple[SwitchCase, ...]
    otherwise: Expression

    def _derive_type(self) -> Type:
        if not self.cases:
            raise InvalidArgumentError("a switch needs at least one case")
        for case in self.cases:
            if not self.match.type.matches(case.value.type):
                raise TypeMismatchError(
                    f"the cases of a switch must have the type of what it matches: "
                    f"{self.match.type}, but one is {case.value.type}"
                )
        return rules.branch_type([case.then.type for case in self.cases] + [self.otherwise.type], "a switch")


@attrs.frozen(eq=False, repr=False)
class SingularOrList(Expression):
    """Whether a value equals one of several, in three-valued logic (``x IN (1, 2)``)."""

    value: Expression
    options: tuple[Expression, ...]

    def _derive_type(self) -> Type:
        if not self.options:
            raise InvalidArgumentError("an IN list needs at least one option", remedy="in-list-of-nothing")
        return rules.member_type(self.value.type, [option.type for option in self.options], "an IN list")


@attrs.frozen(eq=False, repr=False)
class OrListRecord(Node):
    """One record of a `MultiOrList`."""

    fields: tuple[Expression, ...]


@attrs.frozen(eq=False, repr=False)
class MultiOrList(Expression):
    """Whether several values together equal one of several records (``(x, y) IN ((1, 2), (3, 4))``)."""

    values: tuple[Expression, ...]
    records: tuple[OrListRecord, ...]

    def _derive_type(self) -> Type:
        if not self.values or not self.records:
            raise InvalidArgumentError("an IN list of records needs at least one value and one record")
        for record in self.records:
            if len(record.fields) != len(self.values):
                raise SchemaError(
                    f"an IN list of records: {len(self.values)} values but a record of {len(record.fields)} fields"
                )
        tests = [
            rules.member_type(value.type, [record.fields[i].type for record in self.records], f"an IN list, value {i}")
            for i, value in enumerate(self.values)
        ]
        return rules.branch_type(tests, "an IN list")
