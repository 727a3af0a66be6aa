"""Physical joins as logical joins: the algorithm is Spark's to choose.

Specification: https://substrait.io/relations/physical_relations/, and ``ComparisonJoinKey`` in ``algebra.proto``.
"""

from __future__ import annotations

from typing import assert_never

import attrs

from substrait_dsl.algebra.expressions import Expression, FieldReference, FunctionId, Literal, ScalarFunction
from substrait_dsl.algebra.node import Node, rebuild
from substrait_dsl.algebra.relations import HashJoin, Join, JoinKey, MergeJoin, NestedLoopJoin
from substrait_dsl.algebra.relations.joins import BOOLEAN_URN, COMPARISON_URN
from substrait_dsl.algebra.types import Boolean

TRUE = Literal(True, Boolean())

PhysicalJoin = HashJoin | MergeJoin | NestedLoopJoin


def as_join(rel: PhysicalJoin) -> Join:
    """Return the logical join with the rows of a physical join."""
    match rel:
        case NestedLoopJoin(condition=condition):
            return _join(rel, condition or TRUE, None)
        case (
            HashJoin(residual=residual, post_filter=post_filter) | MergeJoin(residual=residual, post_filter=post_filter)
        ):
            tests = [_key_test(key, len(rel.left.schema)) for key in rel.keys]
            tests += [residual] if residual is not None else []
            return _join(rel, _all(tests), post_filter)
        case never:
            assert_never(never)


def _join(rel: PhysicalJoin, condition: Expression, post_filter: Expression | None) -> Join:
    return Join(rel.left, rel.right, rel.how, condition, post_filter, rel.mark, anchor=rel.anchor)


def _key_test(key: JoinKey, width: int) -> Expression:
    """Return the condition of a join key over the columns of both inputs."""

    def move_past_left(node: Node) -> Node:
        return attrs.evolve(node, position=node.position + width) if isinstance(node, FieldReference) else node

    sides = (key.left, rebuild(key.right, move_past_left))
    nullable = any(side.type.nullable for side in sides)
    equal = ScalarFunction(FunctionId(COMPARISON_URN, "equal:any_any"), sides, Boolean(nullable=nullable))
    match key.comparison:
        case "eq":
            return equal
        case "is_not_distinct_from":
            same = FunctionId(COMPARISON_URN, "is_not_distinct_from:any_any")
            return ScalarFunction(same, sides, Boolean())
        case "might_equal":  # "a = b OR isnull(a = b)"
            return ScalarFunction(FunctionId(COMPARISON_URN, "coalesce:any"), (equal, TRUE), Boolean())
        case FunctionId() as function:
            return ScalarFunction(function, sides, Boolean(nullable=True))
        case never:
            assert_never(never)


def _all(tests: list[Expression]) -> Expression:
    if len(tests) == 1:
        return tests[0]
    nullable = any(test.type.nullable for test in tests)
    return ScalarFunction(FunctionId(BOOLEAN_URN, "and:bool"), tuple(tests), Boolean(nullable=nullable))
