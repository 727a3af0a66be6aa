"""Join strategies: how each join type is lowered, and the keys of its condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

import attrs

from substrait_dsl.algebra.expressions import Expression, FieldReference, ScalarFunction, WindowFunction
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import Join, LateralJoin
from substrait_dsl.algebra.relations.joins import COMPARISON_URN, conjuncts
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.bound_functions import is_nondeterministic
from substrait_dsl.spark.expressions.pushdown import hide_from_readers, predicate_sql
from substrait_dsl.spark.expressions.sql_text import Scope, to_sql
from substrait_dsl.spark.expressions.templates import require_comparable
from substrait_dsl.spark.relations.column_pruning import referenced_positions
from substrait_dsl.spark.relations.mark_joins import Key, Test
from substrait_dsl.spark.relations.tables import JoinHow, Rows
from substrait_dsl.spark.session.engines import ENGINE

Side = Literal["left", "right"]
Method = JoinHow | Literal["mark", "single"]

MANY_MATCHES = "a row has more than one match in a single join"
"""The message of the check of a single join, or its beginning."""


@attrs.frozen
class JoinStrategy:
    """How a join type is lowered: the probe side, and Spark's join type or another method."""

    probe_side: Side
    """The input that is matched row by row; the other one is the build side."""
    method: Method

    def order_by_input(self, rows: Rows, others: Rows) -> tuple[str, ...]:
        """Return the columns of the probe side and of the build side, left input first."""
        return rows.columns + others.columns if self.probe_side == "left" else others.columns + rows.columns


JOIN_STRATEGIES: Mapping[JoinType, JoinStrategy] = {
    "inner": JoinStrategy("left", "inner"),
    "outer": JoinStrategy("left", "full"),
    "left": JoinStrategy("left", "left"),
    "right": JoinStrategy("left", "right"),
    "left_semi": JoinStrategy("left", "leftsemi"),
    "right_semi": JoinStrategy("right", "leftsemi"),
    "left_anti": JoinStrategy("left", "leftanti"),
    "right_anti": JoinStrategy("right", "leftanti"),
    "left_single": JoinStrategy("left", "single"),
    "right_single": JoinStrategy("right", "single"),
    "left_mark": JoinStrategy("left", "mark"),
    "right_mark": JoinStrategy("right", "mark"),
}


def require_computed_for_pairs(rel: Join | LateralJoin) -> None:
    """Raise `UnsupportedError` for what Spark does not compute for pairs of rows.

    These are window functions, and calls that have other values each time: Spark would choose how often they are made.
    """
    for node in walk(rel.condition, into_relations=False):
        if isinstance(node, WindowFunction) or is_nondeterministic(node):
            what = "a window function" if isinstance(node, WindowFunction) else "what is declared deterministic: false"
            raise UnsupportedError(
                f"{ENGINE} cannot compute {what} in the condition of a join",
                hint="of one side it is a column, computed before the join",
            )


def test_of(conjunct: Expression, rel: Join | LateralJoin, probe_side: Side, scope: Scope) -> Key | Test:
    """Write a conjunct of the condition, as a key if it is an equality of the two inputs."""
    sides = key_sides(conjunct, rel, probe_side)
    if sides is None:
        text = to_sql(conjunct, scope)
        return Test(text, conjunct.type.nullable, predicate_sql(text, conjunct))
    for side in sides:
        require_comparable(side.type, "equal")
    probe, build = (hide_from_readers(to_sql(side, scope), side, ()) for side in sides)
    return Key(probe, build, conjunct.type.nullable)


def key_sides(conjunct: Expression, rel: Join | LateralJoin, probe_side: Side) -> tuple[Expression, Expression] | None:
    """If a conjunct is an equality of the two inputs, return its probe side and its build side."""
    match conjunct:
        case ScalarFunction(function=function, arguments=(Expression() as first, Expression() as second)) if (
            function.urn == COMPARISON_URN and function.name == "equal"
        ):
            by_side = {frozenset(sides_of(argument, rel)): argument for argument in (first, second)}
            probe_only: frozenset[Side] = frozenset((probe_side,))
            build_only: frozenset[Side] = frozenset(("right" if probe_side == "left" else "left",))
            if by_side.keys() == {probe_only, build_only}:
                return by_side[probe_only], by_side[build_only]
    return None


def keys_inside(rel: Join | LateralJoin) -> Iterator[Expression]:
    """Yield the join keys of the build side, over the columns of both inputs."""
    sides = (key_sides(conjunct, rel, JOIN_STRATEGIES[rel.how].probe_side) for conjunct in conjuncts(rel.condition))
    return (inside for _, inside in filter(None, sides))


def name_of(key: Expression, rel: Join | LateralJoin) -> str | None:
    """Return the name of the column that a key is; None: the key is computed."""
    if not isinstance(key, FieldReference):
        return None
    return (*rel.left.schema.names, *rel.right.schema.names)[key.position]


def sides_of(expression: Expression, rel: Join | LateralJoin) -> set[Side]:
    """Return the inputs of a join to which an expression in its condition refers, also from inside its subqueries."""
    width = len(rel.left.schema)
    return {"left" if position < width else "right" for position in referenced_positions([expression], rel.anchor)}
