"""Relations of two inputs: join and cross.

Specification: https://substrait.io/relations/logical_relations/#join-operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.calls import ScalarFunction
from substrait_dsl.algebra.expressions.references import ROOT, FieldReference
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import SINGLETON, Distribution, Properties, partitioned
from substrait_dsl.algebra.rules import JOIN_RULES, LATERAL_JOIN_TYPES, JoinType, LateralJoinType, Side
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, unknown_choice

BOOLEAN_URN = "extension:io.substrait:functions_boolean"
COMPARISON_URN = "extension:io.substrait:functions_comparison"


@attrs.frozen(eq=False, repr=False)
class Cross(Rel):
    """Every row of the left input with every row of the right. Output: left columns, right columns; no order."""

    left: Rel
    right: Rel

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema("inner", self.left.schema, self.right.schema)

    def _derive_properties(self) -> Properties:
        return Properties((), joined_distribution(self.left, self.right, "inner", ()))


@attrs.frozen(eq=False, repr=False)
class Join(Rel):
    """The rows of two inputs that match under a condition, as one of the twelve join types says.

    `condition` sees the left columns, then the right; `post_filter` sees the output. Output: see
    `rules.join_schema`; no order. A `left_single` or `right_single` join fails when a row has two matches (reading 5).
    """

    left: Rel
    right: Rel
    how: JoinType
    condition: Expression
    post_filter: Expression | None = None
    mark: str = attrs.field(default="mark", eq=False)

    def _settle(self) -> None:
        rules.require_boolean(self.condition.type, "the condition of a join")
        check_post_filter(self.post_filter, self.anchor)
        Rel._settle(self)

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema(self.how, self.left.schema, self.right.schema, self.mark)

    def _derive_properties(self) -> Properties:
        keys = equal_columns(self.condition, len(self.left.schema))
        return Properties((), joined_distribution(self.left, self.right, self.how, keys))


@attrs.frozen(eq=False, repr=False)
class LateralJoin(Rel):
    """For each row of the left input, the rows of the right one, which is computed anew for that row.

    The right input refers to the left row by this relation's `anchor`; `condition` sees both rows, and so do, by the
    same anchor, the subqueries in it; `post_filter` sees the output. Output: as of a `Join`; no order; the distribution
    of the left input.
    """

    left: Rel
    right: Rel
    how: LateralJoinType
    condition: Expression
    post_filter: Expression | None = None
    mark: str = attrs.field(default="mark", eq=False)

    def _settle(self) -> None:
        if self.how not in LATERAL_JOIN_TYPES:
            raise unknown_choice("type of lateral join", self.how, LATERAL_JOIN_TYPES)
        rules.require_boolean(self.condition.type, "the condition of a lateral join")
        check_post_filter(self.post_filter, self.anchor)
        Rel._settle(self)

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema(self.how, self.left.schema, self.right.schema, self.mark)

    def _derive_properties(self) -> Properties:
        return self.left.properties.unordered()


def check_post_filter(post_filter: Expression | None, anchor: int | None) -> None:
    """Check the post-join filter of a join with that anchor, which is that of the row that the condition sees."""
    if post_filter is None:
        return
    rules.require_boolean(post_filter.type, "the post-join filter")
    if anchor in post_filter.free_anchors:
        raise InvalidArgumentError(
            "a post-join filter takes no correlated subquery", hint="use a filter above the join"
        )


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The parts of a condition that `and` connects, however nested, from left to right; a shared part once."""
    stack = [condition]
    seen: set[int] = set()
    while stack:
        part = stack.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, ScalarFunction) and part.function.urn == BOOLEAN_URN and part.function.name == "and":
            stack.extend(argument for argument in reversed(part.arguments) if isinstance(argument, Expression))
        else:
            yield part


def equal_columns(condition: Expression, width: int) -> Iterator[tuple[int, int]]:
    """The pairs of columns (left position, right position) that a join condition requires to be equal.

    `width` is the number of left columns: those of the right input follow them in the condition.
    """
    for part in conjuncts(condition):
        match part:
            case ScalarFunction(
                function=function,
                arguments=(FieldReference(position=a, root=root_a), FieldReference(position=b, root=root_b)),
            ) if function.urn == COMPARISON_URN and function.name == "equal" and root_a == root_b == ROOT:
                low, high = sorted((a, b))
                if low < width <= high:
                    yield low, high - width


def joined_distribution(left: Rel, right: Rel, how: JoinType, keys: Iterable[tuple[int, int]]) -> Distribution | None:
    """How the output of a join lies (reading 7), given the columns that its condition requires to be equal."""
    mine, theirs = left.properties.distribution, right.properties.distribution
    if mine is None or theirs is None:
        return None
    if mine == theirs == SINGLETON:
        return SINGLETON
    rule = JOIN_RULES[how]
    moved = _shifted(theirs, 0 if rule.left == "absent" else len(left.schema))
    if theirs == SINGLETON:
        return _kept_side(rule.left, mine)
    if mine == SINGLETON:
        return _kept_side(rule.right, moved)
    pairs = tuple(keys)
    aligned = {(a,) for a, _ in pairs} == mine.fields and {(b,) for _, b in pairs} == theirs.fields
    return (_kept_side(rule.left, mine) or _kept_side(rule.right, moved)) if aligned else None


def _kept_side(side: Side, distribution: Distribution) -> Distribution | None:
    return distribution if side == "kept" else None


def _shifted(distribution: Distribution, offset: int) -> Distribution:
    return partitioned(*((path[0] + offset, *path[1:]) for path in distribution.fields))
