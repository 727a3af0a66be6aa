"""Expressions that hold a relation.

Specification: https://substrait.io/expressions/subqueries/. A subquery may refer to columns of the relation that its
expression belongs to (correlation); such references name the `anchor` of that relation.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.node import Expression, Rel, SubtreeFlags
from substrait_dsl.algebra.types import Boolean, Type
from substrait_dsl.errors import InvalidArgumentError, SchemaError, error_context

SetPredicateOp = typing.Literal["exists", "unique"]
ReductionOp = typing.Literal["any", "all"]
ComparisonOp = typing.Literal["eq", "ne", "lt", "gt", "le", "ge"]

WITH_SUBQUERY = SubtreeFlags(has_subqueries=True)


@attrs.frozen(eq=False, repr=False)
class ScalarSubquery(Expression):
    """The one value of a relation with one column and at most one row; NULL if it has no row."""

    own_flags: typing.ClassVar[SubtreeFlags] = WITH_SUBQUERY

    input: Rel

    def _derive_type(self) -> Type:
        column = _one_column(self.input, "a scalar subquery")
        return column if self.input.single_row else column.as_nullable()  # spec decision 19


@attrs.frozen(eq=False, repr=False)
class InPredicate(Expression):
    """Whether values together equal a row of a relation, in three-valued logic."""

    own_flags: typing.ClassVar[SubtreeFlags] = WITH_SUBQUERY

    needles: tuple[Expression, ...]
    haystack: Rel

    def _derive_type(self) -> Type:
        if not self.needles:
            raise InvalidArgumentError("an IN subquery needs at least one value to look for")
        columns = self.haystack.schema
        if len(columns) != len(self.needles):
            raise SchemaError(
                f"an IN subquery: {len(self.needles)} values to look for, but a relation of {len(columns)} columns",
                remedy="column-of-in-subquery"
                if len(self.needles) == 1 and columns.names
                else "columns-of-in-subquery",
                details={"column": next(iter(columns.names), None)},
            )
        tests: list[Type] = []
        for needle, column in zip(self.needles, columns, strict=True):
            with error_context(names=(column.name,)):
                tests.append(rules.member_type(needle.type, [column.type], f'an IN subquery, column "{column.name}"'))
        return rules.branch_type(tests, "an IN subquery")


@attrs.frozen(eq=False, repr=False)
class SetPredicate(Expression):
    """Whether a relation has any row (exists), or no two equal rows (unique)."""

    own_flags: typing.ClassVar[SubtreeFlags] = WITH_SUBQUERY

    op: SetPredicateOp
    tuples: Rel

    def _derive_type(self) -> Type:
        return Boolean()


@attrs.frozen(eq=False, repr=False)
class SetComparison(Expression):
    """Whether a value compares so with any, or with all, of the values of a relation with one column."""

    own_flags: typing.ClassVar[SubtreeFlags] = WITH_SUBQUERY

    reduction: ReductionOp
    comparison: ComparisonOp
    left: Expression
    right: Rel

    def _derive_type(self) -> Type:
        column = _one_column(self.right, f'"{self.reduction}" of a subquery')
        return rules.member_type(self.left.type, [column], f'"{self.reduction}" of a subquery')


def _one_column(rel: Rel, what: str) -> Type:
    if len(rel.schema) != 1:
        raise SchemaError(f"{what} needs a relation of one column, this one has {len(rel.schema)}: {rel.schema}")
    return rel.schema.fields[0].type
