"""Relations of two inputs: cross, and the joins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.expressions import Expression
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.relations.sortedness import direct_path
from substrait_dsl.algebra.rules import JOIN_RULES
from substrait_dsl.render.description_parts import (
    Clause,
    Column,
    InputColumns,
    OutputColumn,
    Parts,
    condition_clause,
    copied_columns,
)
from substrait_dsl.render.expressions import ExpressionWriter
from substrait_dsl.render.literals import name_text
from substrait_dsl.render.scopes import Row

AnyJoin = r.Join | r.LateralJoin | r.HashJoin | r.MergeJoin | r.NestedLoopJoin

_SIGNS: dict[r.KeyComparison, str] = {
    "eq": "=",
    "is_not_distinct_from": "is not distinct from",
    "might_equal": "might equal",
}


def cross_parts(cross: r.Cross) -> Parts:
    """Return the parts of a cross product's description."""
    return (), copied_columns(cross, _both(cross), range(len(cross.schema)))


def join_parts(join: r.Join | r.LateralJoin, writer: ExpressionWriter) -> Parts:
    """Return the parts of a join's description."""
    arguments = (
        Clause("", (join.how,)),
        condition_clause("on", join.condition, _both(join), writer),
        _post_filter(join, join.post_filter, writer),
    )
    return arguments, _join_columns(join)


def hash_join_parts(join: r.HashJoin, writer: ExpressionWriter) -> Parts:
    """Return the parts of a hash join's description: those of a merge join, and the build side."""
    how, *arguments = _key_clauses(join, writer)
    return (how, Clause("build", (join.build,)), *arguments), _join_columns(join)


def merge_join_parts(join: r.MergeJoin, writer: ExpressionWriter) -> Parts:
    """Return the parts of a merge join's description."""
    return tuple(_key_clauses(join, writer)), _join_columns(join)


def nested_loop_join_parts(join: r.NestedLoopJoin, writer: ExpressionWriter) -> Parts:
    """Return the parts of a nested loop join's description."""
    arguments = (Clause("", (join.how,)), condition_clause("on", join.condition, _both(join), writer))
    return arguments, _join_columns(join)


def _key_clauses(join: r.HashJoin | r.MergeJoin, writer: ExpressionWriter) -> Sequence[Clause | None]:
    both = _both(join)
    return (
        Clause("", (join.how,)),
        Clause("on", tuple(_key_text(key, both) for key in join.keys), " and "),
        condition_clause("residual", join.residual, both, writer),
        _post_filter(join, join.post_filter, writer),
    )


def _key_text(key: r.JoinKey, both: Row) -> str:
    """Return a key as the condition that it stands for, which sees both sides; in the key each sees its own."""
    left = _key_side(key.left, both, 0)
    right = _key_side(key.right, both, len(both.sides[0]))
    if isinstance(key.comparison, FunctionId):
        return f"{name_text(key.comparison.name)}({left}, {right})"
    return f"{left} {_SIGNS[key.comparison]} {right}"


def _key_side(expression: Expression, both: Row, offset: int) -> str:
    path = direct_path(expression)
    assert path is not None  # a `JoinKey` sees to that
    return both.path((path[0] + offset, *path[1:]))


def _post_filter(join: AnyJoin, condition: Expression | None, writer: ExpressionWriter) -> Clause | None:
    return condition_clause("then filter", condition, Row((join.schema,)), writer)


def _both(join: AnyJoin | r.Cross) -> Row:
    return Row((join.left.schema, join.right.schema))


def _join_columns(join: AnyJoin) -> Iterable[OutputColumn]:
    rule = JOIN_RULES[join.how]
    if rule.left != "dropped" and rule.right != "dropped":
        return copied_columns(join, _both(join), range(len(join.schema)))
    mark = join.schema.fields[-1]
    preserved = InputColumns("right" if rule.left == "dropped" else "left")
    return (preserved, Column(mark.name, mark.type)) if rule.mark else (preserved,)
