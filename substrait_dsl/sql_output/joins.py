"""Joins: further tables of a SELECT, also such that are computed for each row, and conditions whether rows exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.node import Expression
from substrait_dsl.algebra.row_counts import has_one_row_at_most
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.expressions import Outer, Place, exists, write
from substrait_dsl.sql_output.queries import Select, all_of, to_tree
from substrait_dsl.sql_output.written import Written, fill

if TYPE_CHECKING:
    from sqlglot import exp

    from substrait_dsl.sql_output.relations import QueryWriter

SIDES: dict[str, str | None] = {"inner": None, "left": "LEFT", "right": "RIGHT", "outer": "FULL"}


AnyJoin = rl.Cross | rl.Join | rl.NestedLoopJoin | rl.HashJoin | rl.MergeJoin | rl.LateralJoin

KEY_TESTS = {
    "eq": "{0} = {1}",
    "is_not_distinct_from": "{0} IS NOT DISTINCT FROM {1}",
    "might_equal": "COALESCE({0} = {1}, TRUE)",
}
"""How two columns that are keys of a join are compared."""

ONE_MATCH = "CASE WHEN {0} > 1 THEN ERROR('a row has two matches in a single join') ELSE TRUE END"
"""The test of the number of matches of a row in a single join, in the words of DuckDB."""


def write_join(join: AnyJoin, outer: Outer, writer: QueryWriter) -> Select:
    """Write a join as a further table of a SELECT; a semi or an anti join as a condition whether other rows exist."""
    match join:
        case rl.LateralJoin(condition=condition, post_filter=after):
            join_writer = _JoinWriter(join, join.how, (condition,), (), after, outer, writer)
        case rl.Cross():
            join_writer = _JoinWriter(join, "inner", (), (), None, outer, writer)
        case rl.Join(condition=condition, post_filter=after):
            join_writer = _JoinWriter(join, join.how, (condition,), (), after, outer, writer)
        case rl.NestedLoopJoin(condition=condition):
            join_writer = _JoinWriter(join, join.how, _present(condition), (), None, outer, writer)
        case (
            rl.HashJoin(keys=keys, residual=residual, post_filter=after)
            | rl.MergeJoin(keys=keys, residual=residual, post_filter=after)
        ):
            join_writer = _JoinWriter(join, join.how, _present(residual), keys, after, outer, writer)
        case never:
            assert_never(never)
    fails_for_two = _fails_for_two(join)
    if writer.dialect.name != "duckdb" and (fails_for_two or join_writer.how.endswith("mark")):
        raise UnsupportedError(
            f'a join with how="{join_writer.how}" is not written as SQL of {writer.dialect.title}',
            hint="execute(session) runs the plan that has it",
        )
    joined = join_writer.write_single() if fails_for_two else join_writer.write_join()
    return joined if join_writer.post_filter is None else writer.filtered(joined, join_writer.post_filter, outer, join)


def _fails_for_two(join: AnyJoin) -> bool:
    """Whether a join fails where a row has two matches, which the input that it looks up may have."""
    match join:
        case rl.Cross():
            return False
        case rl.LateralJoin(how="left_single", right=looked_up) | rl.Join(how="left_single", right=looked_up):
            return not has_one_row_at_most(looked_up)
        case rl.Join(how="right_single", left=looked_up):
            return not has_one_row_at_most(looked_up)
        case _:
            return join.how.endswith("single")


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
    writer: QueryWriter

    def write_join(self) -> Select:
        """Write the inputs, and the join."""
        join, writer = self.join, self.writer
        left, outer = writer.write(join.left, self.outer).unordered, self.outer
        if isinstance(join, rl.LateralJoin):
            left = self._as_preserved(left)
            if join.anchor is not None:
                outer = {**outer, join.anchor: left.columns}
        right = writer.write(join.right, outer).unordered
        if self.how.endswith("mark"):
            return self._write_mark(left, right)
        if self.how.endswith(("semi", "anti")):
            return self._write_existence(left, right)
        if isinstance(join, rl.LateralJoin):
            return self._write_lateral(left, right)
        return self._write_tables(left, right)

    def write_single(self) -> Select:
        """Write a join that fails where a row has two matches: its rows are numbered, and what is joined is counted."""
        from sqlglot import exp

        join, is_left = self.join, self.how == "left_single"
        looks_up = self._nested(self.writer.write(join.left if is_left else join.right, self.outer).unordered)
        number = Written(exp.Window(this=exp.RowNumber()), t.I64())
        numbered = self._nested(
            attrs.evolve(looks_up, columns=(*looks_up.columns, number), names=(*looks_up.names, "number"))
        )
        shown = attrs.evolve(numbered, columns=numbered.columns[:-1], names=numbered.names[:-1])
        outer = self.outer
        if isinstance(join, rl.LateralJoin) and join.anchor is not None:
            outer = {**outer, join.anchor: shown.columns}
        other = self.writer.write(join.right if is_left else join.left, outer).unordered
        if isinstance(join, rl.LateralJoin):
            joined = self._write_lateral(shown, other)
        else:
            joined = self._write_tables(shown, other) if is_left else self._write_tables(other, shown)
        matches = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[numbered.columns[-1].tree.copy()])
        counted = self._nested(
            attrs.evolve(joined, columns=(*joined.columns, Written(matches, t.I64())), names=(*joined.names, "matches"))
        )
        checked = counted.filtered(fill(ONE_MATCH, [counted.columns[-1].tree], {}, self.writer.dialect))
        return attrs.evolve(checked, columns=counted.columns[:-1], names=counted.names[:-1])

    def _write_lateral(self, left: Select, right: Select) -> Select:
        """Write rows that are computed for each: a query behind LATERAL, whose condition is inside of it."""
        from sqlglot import exp

        tests = _without_truth(self._tests(left, right, "value"))
        if tests and not (right.is_plain and not right.has_windows):
            right = self._nested(right)
            tests = self._tests(left, right, "value")
        inside = self._nested(attrs.evolve(right, where=(*right.where, *tests)))
        assert inside.source is not None
        source = inside.source.copy()
        if isinstance(source, exp.Subquery):
            source = exp.Lateral(this=exp.Subquery(this=source.this), alias=source.args["alias"])
        side, kind = (None, "CROSS") if self.how == "inner" else ("LEFT", None)
        clause = exp.Join(this=source, side=side, kind=kind, on=None if kind else exp.Boolean(this=True))
        return Select(
            left.source,
            (*left.joins, clause),
            (*left.columns, *inside.columns),
            (*left.names, *inside.names),
            where=left.where,
        )

    def _write_tables(self, left: Select, right: Select) -> Select:
        """Write a join whose output has the columns of both inputs."""
        how = self.how.removesuffix("_single")
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

    def _write_mark(self, left: Select, right: Select) -> Select:
        """Write whether a row of the other input matches: true, or NULL if none does for sure, or false."""
        from sqlglot import exp

        puts_out_left = self.how.startswith("left")
        preserved, other = self._sides(left, right)
        left, right = (preserved, other) if puts_out_left else (other, preserved)
        tests = _without_truth(self._tests(left, right, "value"))
        test = all_of(tests) if tests else exp.Boolean(this=True)
        mark = self.join.schema.fields[-1]
        tree = self._existence(other, [test])
        operands = [*self.conditions, *(side for key in self.keys for side in (key.left, key.right))]
        if any(each.type.nullable for each in operands):
            unknown = self._existence(other, [fill("({0}) IS NULL", [test], {}, self.writer.dialect)])
            tree = exp.Case(
                ifs=[
                    exp.If(this=tree, true=exp.Boolean(this=True)),
                    exp.If(this=exp.Not(this=unknown), true=exp.Boolean(this=False)),
                ]
            )
        marked = attrs.evolve(
            preserved, columns=(*preserved.columns, Written(tree, mark.type)), names=(*preserved.names, mark.name)
        )
        return self._nested(marked)

    def _write_existence(self, left: Select, right: Select) -> Select:
        """Write a semi or an anti join as a condition whether rows of the other input exist."""
        from sqlglot import exp

        preserved, other = self._sides(left, right)
        left, right = (preserved, other) if self.how.startswith("left") else (other, preserved)
        test = self._existence(other, _without_truth(self._tests(left, right, "filter")))
        condition = test if self.how.endswith("semi") else exp.Not(this=test)
        return attrs.evolve(preserved, order=(), where=(*preserved.where, condition))

    def _sides(self, left: Select, right: Select) -> tuple[Select, Select]:
        """Return the input that is put out, and the other one, as tables."""
        preserved, other = (left, right) if self.how.startswith("left") else (right, left)
        if not other.is_plain or other.has_windows:
            other = self._nested(other)
        return self._as_preserved(preserved), other

    def _as_preserved(self, select: Select) -> Select:
        """Return an input as tables to whose columns other queries may refer."""
        is_table = select.is_plain and not select.has_windows and select.source is not None
        return select if is_table and all(column.is_column for column in select.columns) else self._nested(select)

    def _existence(self, other: Select, tests: Sequence[exp.Expr]) -> exp.Expr:
        """Return whether there are rows of the other input that pass the tests."""
        from sqlglot import exp

        found = attrs.evolve(
            other,
            columns=(Written(exp.Literal.number(1), t.I32()),),
            names=("found",),
            where=(*other.where, *tests),
            order=(),
        )
        return exists(to_tree(found, self.writer.dialect))

    def _as_input(self, select: Select, *, is_extended: bool, may_filter: bool, may_join: bool = True) -> Select:
        """Return an input as a table, or as tables that are joined, with conditions that may stand elsewhere.

        What is computed below a side that is extended by NULLs is computed there: of NULLs it may be something else.
        """
        is_table = select.is_plain and not select.has_windows and select.source is not None
        is_table = is_table and (may_join or not select.joins) and (may_filter or not select.where)
        is_table = is_table and not (is_extended and not all(column.is_column for column in select.columns))
        return select if is_table else self._nested(select)

    def _nested(self, select: Select) -> Select:
        return self.writer.nested(select.unordered, self.outer, self.join)

    def _tests(self, left: Select, right: Select, place: Place) -> list[exp.Expr]:
        """Return what must be true of a row of each input: the comparisons of keys, then the conditions."""
        both = Select(left.source, (), (*left.columns, *right.columns), (*left.names, *right.names))
        scope = self.writer.scope(both, self.outer, self.join, place=place)
        tests = [self._key_test(key, left, right) for key in self.keys]
        return tests + [write(each, scope).tree for each in self.conditions]

    def _key_test(self, key: rl.JoinKey, left: Select, right: Select) -> exp.Expr:
        if isinstance(key.comparison, FunctionId):
            raise UnsupportedError(f"a comparison of keys by {key.comparison.name} is not written as SQL")
        sides = ((key.left, left), (key.right, right))
        trees = [write(side, self.writer.scope(query, self.outer, self.join)).tree for side, query in sides]
        return fill(KEY_TESTS[key.comparison], trees, {}, self.writer.dialect)


def _without_truth(tests: Sequence[exp.Expr]) -> list[exp.Expr]:
    from sqlglot import exp

    return [test for test in tests if not (isinstance(test, exp.Boolean) and test.this)]


def _join_clause(right: Select, how: str, tests: Sequence[exp.Expr]) -> exp.Join:
    from sqlglot import exp

    assert right.source is not None
    if not tests and how == "inner":
        return exp.Join(this=right.source.copy(), kind="CROSS")
    on = all_of(tests) if tests else exp.Boolean(this=True)
    return exp.Join(this=right.source.copy(), side=SIDES[how], on=on)
