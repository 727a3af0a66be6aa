"""Joins: further tables of a SELECT, and conditions whether other rows exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.algebra.node import Expression
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.expressions import Outer, Place, exists, write
from substrait_dsl.sql_output.queries import Select, all_of, to_tree
from substrait_dsl.sql_output.written import Written, fill

if TYPE_CHECKING:
    from sqlglot import exp

    from substrait_dsl.sql_output.relations import QueryWriter

SIDES: dict[str, str | None] = {"inner": None, "left": "LEFT", "right": "RIGHT", "outer": "FULL"}


AnyJoin = rl.Cross | rl.Join | rl.NestedLoopJoin | rl.HashJoin | rl.MergeJoin

KEY_TESTS = {
    "eq": "{0} = {1}",
    "is_not_distinct_from": "{0} IS NOT DISTINCT FROM {1}",
    "might_equal": "COALESCE({0} = {1}, TRUE)",
}
"""How two columns that are keys of a join are compared."""


def write_join(join: AnyJoin, outer: Outer, to: QueryWriter) -> Select:
    """Write a join as a further table of a SELECT; a semi or an anti join as a condition whether other rows exist."""
    left, right = to.write(join.left, outer).unordered, to.write(join.right, outer).unordered
    match join:
        case rl.Cross():
            writer = _JoinWriter(join, "inner", (), (), None, outer, to)
        case rl.Join(condition=condition, post_filter=after):
            writer = _JoinWriter(join, join.how, (condition,), (), after, outer, to)
        case rl.NestedLoopJoin(condition=condition):
            writer = _JoinWriter(join, join.how, _present(condition), (), None, outer, to)
        case (
            rl.HashJoin(keys=keys, residual=residual, post_filter=after)
            | rl.MergeJoin(keys=keys, residual=residual, post_filter=after)
        ):
            writer = _JoinWriter(join, join.how, _present(residual), keys, after, outer, to)
        case never:
            assert_never(never)
    if writer.how.endswith(("mark", "single")):
        raise UnsupportedError(
            f'a join with how="{writer.how}" is not written as SQL', hint="execute(session) runs the plan that has it"
        )
    is_existence = writer.how.endswith(("semi", "anti"))
    joined = writer.write_existence(left, right) if is_existence else writer.write_tables(left, right)
    return joined if writer.post_filter is None else to.filtered(joined, writer.post_filter, outer, join)


def _present(condition: Expression | None) -> tuple[Expression, ...]:
    return () if condition is None else (condition,)


@attrs.frozen
class _JoinWriter:
    """One join, and where it stands: its conditions see the columns of the left input, then those of the right one."""

    join: AnyJoin
    how: JoinType
    conditions: tuple[Expression, ...]
    keys: tuple[rl.JoinKey, ...]
    post_filter: Expression | None
    outer: Outer
    to: QueryWriter

    def write_tables(self, left: Select, right: Select) -> Select:
        """Write a join whose output has the columns of both inputs."""
        how = self.how
        left = self._as_input(left, is_extended=how in ("right", "outer"), may_filter=how in ("inner", "left"))
        right = self._as_input(
            right, is_extended=how in ("left", "outer"), may_filter=how in ("inner", "left"), may_join=False
        )
        tests = self._tests(left, right, "value")
        moved: tuple[exp.Expr, ...] = ()
        if right.where and how == "inner":
            moved = right.where
        elif right.where:
            tests += right.where
        return Select(
            left.source,
            (*left.joins, _join_clause(right, how, _without_truth(tests))),
            (*left.columns, *right.columns),
            (*left.names, *right.names),
            where=(*left.where, *moved),
        )

    def write_existence(self, left: Select, right: Select) -> Select:
        """Write a semi or an anti join as a condition whether rows of the other input exist."""
        from sqlglot import exp

        puts_out_left = self.how.startswith("left")
        preserved, other = (left, right) if puts_out_left else (right, left)
        if not preserved.is_plain or preserved.has_windows or not all(column.is_column for column in preserved.columns):
            preserved = self._nested(preserved)
        if not other.is_plain or other.has_windows:
            other = self._nested(other)
        left, right = (preserved, other) if puts_out_left else (other, preserved)
        types = self.join.schema.types
        found = attrs.evolve(
            other,
            columns=(Written(exp.Literal.number(1), types[0]),) if types else (),
            names=("found",) if types else (),
            where=(*other.where, *_without_truth(self._tests(left, right, "filter"))),
            order=(),
        )
        test = exists(to_tree(found, self.to.dialect))
        condition = test if self.how.endswith("semi") else exp.Not(this=test)
        return attrs.evolve(preserved, order=(), where=(*preserved.where, condition))

    def _as_input(self, select: Select, *, is_extended: bool, may_filter: bool, may_join: bool = True) -> Select:
        """Return an input as a table, or as tables that are joined, with conditions that may stand elsewhere.

        What is computed below a side that is extended by NULLs is computed there: of NULLs it may be something else.
        """
        is_table = select.is_plain and not select.has_windows and select.source is not None
        is_table = is_table and (may_join or not select.joins) and (may_filter or not select.where)
        is_table = is_table and not (is_extended and not all(column.is_column for column in select.columns))
        return select if is_table else self._nested(select)

    def _nested(self, select: Select) -> Select:
        return self.to.nested(select.unordered, self.outer, self.join)

    def _tests(self, left: Select, right: Select, place: Place) -> list[exp.Expr]:
        """Return what must be true of a row of each input: the comparisons of keys, then the conditions."""
        both = Select(left.source, (), (*left.columns, *right.columns), (*left.names, *right.names))
        scope = self.to.scope(both, self.outer, self.join, place=place)
        tests = [self._key_test(key, left, right) for key in self.keys]
        return tests + [write(each, scope).tree for each in self.conditions]

    def _key_test(self, key: rl.JoinKey, left: Select, right: Select) -> exp.Expr:
        if isinstance(key.comparison, FunctionId):
            raise UnsupportedError(f"a comparison of keys by {key.comparison.name} is not written as SQL")
        sides = ((key.left, left), (key.right, right))
        trees = [write(side, self.to.scope(query, self.outer, self.join)).tree for side, query in sides]
        return fill(KEY_TESTS[key.comparison], trees, {}, self.to.dialect)


def _without_truth(tests: Sequence[exp.Expr]) -> list[exp.Expr]:
    from sqlglot import exp

    return [test for test in tests if not (isinstance(test, exp.Boolean) and test.this)]


def _join_clause(right: Select, how: JoinType, tests: Sequence[exp.Expr]) -> exp.Join:
    from sqlglot import exp

    assert right.source is not None
    if not tests and how == "inner":
        return exp.Join(this=right.source.copy(), kind="CROSS")
    on = all_of(tests) if tests else exp.Boolean(this=True)
    return exp.Join(this=right.source.copy(), side=SIDES[how], on=on)
