"""Joins: further tables of a SELECT, and conditions whether other rows exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.functions import FunctionId
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.expressions import Outer, Place, Scope, exists, write
from substrait_dsl.sql_output.queries import Select, all_of, to_tree
from substrait_dsl.sql_output.written import Written, fill

if TYPE_CHECKING:
    from sqlglot import exp

    from substrait_dsl.sql_output.relations import QueryWriter

SIDES: dict[str, str | None] = {"inner": None, "left": "LEFT", "right": "RIGHT", "outer": "FULL"}


def write_join(
    left: Rel,
    right: Rel,
    how: JoinType,
    conditions: Sequence[Expression],
    post_filter: Expression | None,
    outer: Outer,
    rel: Rel,
    to: QueryWriter,
) -> Select:
    """Write a join by conditions that see the columns of the left input, then those of the right one."""
    mine, theirs = to.write(left, outer), to.write(right, outer)
    return _write_joined(mine, theirs, how, conditions, (), post_filter, outer, rel, to)


def write_keyed_join(rel: rl.HashJoin | rl.MergeJoin, outer: Outer, to: QueryWriter) -> Select:
    """Write a join by keys."""
    mine, theirs = to.write(rel.left, outer), to.write(rel.right, outer)
    conditions = [] if rel.residual is None else [rel.residual]
    return _write_joined(mine, theirs, rel.how, conditions, rel.keys, rel.post_filter, outer, rel, to)


def _write_joined(
    left: Select,
    right: Select,
    how: JoinType,
    conditions: Sequence[Expression],
    keys: Sequence[rl.JoinKey],
    post_filter: Expression | None,
    outer: Outer,
    rel: Rel,
    to: QueryWriter,
) -> Select:
    if how.endswith(("mark", "single")):
        raise UnsupportedError(
            f'a join with how="{how}" is not written as SQL', hint="execute(session) runs the plan that has it"
        )
    is_existence = how.endswith(("semi", "anti"))
    left, right = left.unordered, right.unordered
    if is_existence:
        return _filtered_by(left, right, how, conditions, keys, post_filter, outer, rel, to)
    left = _as_input(left, how in ("right", "outer"), how == "inner" or how == "left", outer, rel, to)
    right = _as_input(right, how in ("left", "outer"), how == "inner", outer, rel, to, is_right=True, how=how)
    scope = _scope(left, right, outer, rel, to)
    tests = [*_key_tests(keys, left, right, outer, rel, to), *(write(each, scope).tree for each in conditions)]
    moved: tuple[exp.Expr, ...] = ()
    if right.where:
        if how == "inner":
            moved = right.where
        else:
            tests += right.where
    joined = Select(
        left.source,
        (*left.joins, _join(right, how, _without_truth(tests))),
        (*left.columns, *right.columns),
        (*left.names, *right.names),
        where=(*left.where, *moved),
    )
    return joined if post_filter is None else to.filtered(joined, post_filter, outer, rel)


def _scope(left: Select, right: Select, outer: Outer, rel: Rel, to: QueryWriter, place: Place = "value") -> Scope:
    both = Select(left.source, (), (*left.columns, *right.columns), (*left.names, *right.names))
    return to.scope(both, outer, rel, place=place)


def _key_tests(
    keys: Sequence[rl.JoinKey], left: Select, right: Select, outer: Outer, rel: Rel, to: QueryWriter
) -> list[exp.Expr]:
    templates = {"eq": "{0} = {1}", "is_not_distinct_from": "{0} IS NOT DISTINCT FROM {1}"}
    templates["might_equal"] = "COALESCE({0} = {1}, TRUE)"
    tests = []
    for key in keys:
        if isinstance(key.comparison, FunctionId):
            raise UnsupportedError(f"a comparison of keys by {key.comparison.name} is not written as SQL")
        trees = [
            write(side, to.scope(query, outer, rel)).tree for side, query in ((key.left, left), (key.right, right))
        ]
        tests.append(fill(templates[key.comparison], trees, {}, to.dialect))
    return tests


def _as_input(
    select: Select,
    is_extended: bool,
    may_filter: bool,
    outer: Outer,
    rel: Rel,
    to: QueryWriter,
    *,
    is_right: bool = False,
    how: str = "",
) -> Select:
    """Return an input of a join as a table, or as tables that are joined, with conditions that may stand behind WHERE.

    What is computed below a side that is extended by NULLs is computed there: of NULLs it may be something else.
    """
    is_table = select.is_plain and not select.has_windows and select.source is not None
    if is_right and select.joins:
        is_table = False
    if is_extended and not all(column.is_column for column in select.columns):
        is_table = False
    if select.where and not may_filter and not (is_right and how == "left"):
        is_table = False
    return select if is_table else to.nested(select, outer, rel)


def _without_truth(tests: Sequence[exp.Expr]) -> list[exp.Expr]:
    from sqlglot import exp

    return [test for test in tests if not (isinstance(test, exp.Boolean) and test.this)]


def _join(right: Select, how: JoinType, tests: Sequence[exp.Expr]) -> exp.Join:
    from sqlglot import exp

    assert right.source is not None
    if not tests and how == "inner":
        return exp.Join(this=right.source.copy(), kind="CROSS")
    on = all_of(tests) if tests else exp.Boolean(this=True)
    return exp.Join(this=right.source.copy(), side=SIDES[how], on=on)


def _filtered_by(
    left: Select,
    right: Select,
    how: JoinType,
    conditions: Sequence[Expression],
    keys: Sequence[rl.JoinKey],
    post_filter: Expression | None,
    outer: Outer,
    rel: Rel,
    to: QueryWriter,
) -> Select:
    """Write a semi or an anti join as a condition whether rows of the other input exist."""
    from sqlglot import exp

    puts_out_left = how.startswith("left")
    preserved, other = (left, right) if puts_out_left else (right, left)
    if not preserved.is_plain or preserved.has_windows or not all(column.is_column for column in preserved.columns):
        preserved = to.nested(preserved.unordered, outer, rel)
    if not other.is_plain or other.has_windows:
        other = to.nested(other.unordered, outer, rel)
    left, right = (preserved, other) if puts_out_left else (other, preserved)
    scope = _scope(left, right, outer, rel, to, "filter")
    tests = [*_key_tests(keys, left, right, outer, rel, to), *(write(each, scope).tree for each in conditions)]
    tests = _without_truth(tests)
    found = attrs.evolve(
        other,
        columns=(Written(exp.Literal.number(1), rel.schema.types[0]),) if len(rel.schema) else (),
        names=("found",) if len(rel.schema) else (),
        where=(*other.where, *tests),
        order=(),
    )
    test = exists(to_tree(found, to.dialect))
    preserved = attrs.evolve(
        preserved, order=(), where=(*preserved.where, test if how.endswith("semi") else exp.Not(this=test))
    )
    return preserved if post_filter is None else to.filtered(preserved, post_filter, outer, rel)
