"""Relations of two inputs: join and cross.

Specification: https://substrait.io/relations/logical_relations/#join-operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.calls import ScalarFunction
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import (
    NO_PROPERTIES,
    SINGLETON,
    Distribution,
    FieldPath,
    Properties,
    partitioned,
    representative,
    unite_equal_fields,
)
from substrait_dsl.algebra.relations.sortedness import direct_path
from substrait_dsl.algebra.rules import JOIN_RULES, LATERAL_JOIN_TYPES, JoinRule, JoinType, LateralJoinType, Side
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError

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
        return joined_properties(self.left, self.right, "inner")


@attrs.frozen(eq=False, repr=False)
class Join(Rel):
    """The rows of two inputs that match under a condition, as one of the twelve join types says.

    `condition` sees the left columns, then the right; `post_filter` sees the output. Output: see
    `rules.join_schema`; no order. A `left_single` or `right_single` join fails when a row has two matches (spec
    decision 5).
    """

    left: Rel
    right: Rel
    how: JoinType
    condition: Expression
    post_filter: Expression | None = None
    mark: str = attrs.field(default="mark", eq=False)

    def _validate(self) -> None:
        rules.require_boolean(self.condition.type, "the condition of a join")
        check_post_filter(self.post_filter, self.anchor)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema(self.how, self.left.schema, self.right.schema, self.mark)

    def _derive_properties(self) -> Properties:
        keys = equal_fields(self.condition, len(self.left.schema))
        return joined_properties(self.left, self.right, self.how, keys)


@attrs.frozen(eq=False, repr=False)
class LateralJoin(Rel):
    """For each row of the left input, the rows of the right one, which is computed again for that row.

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

    def _validate(self) -> None:
        if self.how not in LATERAL_JOIN_TYPES:
            raise InvalidChoiceError.of_word("type of lateral join", self.how, LATERAL_JOIN_TYPES)
        rules.require_boolean(self.condition.type, "the condition of a lateral join")
        check_post_filter(self.post_filter, self.anchor)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema(self.how, self.left.schema, self.right.schema, self.mark)

    def _derive_properties(self) -> Properties:
        keys = equal_fields(self.condition, len(self.left.schema))
        equal = _joined_equal(self.left, self.right, JOIN_RULES[self.how], keys)
        return Properties((), self.left.properties.distribution, equal=equal)


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
    """Yield the parts of a condition that `and` connects, however nested, from left to right; a shared part once."""
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


EQUALITIES = ("equal", "is_not_distinct_from")


def equal_fields(condition: Expression, width: int) -> Iterator[tuple[FieldPath, FieldPath]]:
    """Yield the pairs of fields (of the left input, of the right one) that a join condition requires to be equal.

    `width` is the number of left columns: those of the right input follow them in the condition.
    """
    for part in conjuncts(condition):
        match part:
            case ScalarFunction(
                function=FunctionId(urn=urn, name=name), arguments=(Expression() as one, Expression() as other)
            ) if urn == COMPARISON_URN and name in EQUALITIES:
                paths = [path for path in (direct_path(one), direct_path(other)) if path is not None]
                match sorted(paths):
                    case [low, high] if low[0] < width <= high[0]:
                        yield low, _shift_path(high, -width)


def joined_properties(
    left: Rel, right: Rel, how: JoinType, keys: Iterable[tuple[FieldPath, FieldPath]] = ()
) -> Properties:
    """Return the properties of a join's output for the pairs of fields that its condition requires to be equal."""
    rule = JOIN_RULES[how]
    needed = rule.inner or left.properties.distribution is not None
    pairs = list(keys) if needed else []
    distribution = _joined_distribution(left, right, rule, pairs)
    equal = _joined_equal(left, right, rule, pairs)
    return Properties((), distribution, equal=equal) if distribution or equal else NO_PROPERTIES


def _joined_equal(
    left: Rel, right: Rel, rule: JoinRule, keys: Iterable[tuple[FieldPath, FieldPath]]
) -> Mapping[int, FieldPath]:
    """Return the equal fields of a join's output: those of the inputs, and the keys of an inner join."""
    width = _left_width(left, rule)
    equal = left.properties.equal if width else {}
    if rule.right != "dropped" and right.properties.equal:
        shifted = {column + width: _shift_path(path, width) for column, path in right.properties.equal.items()}
        equal = {**equal, **shifted}
    return (
        unite_equal_fields(equal, ((_shift_path(right_path, width), left_path) for left_path, right_path in keys))
        if rule.inner
        else equal
    )


def _joined_distribution(
    left: Rel, right: Rel, rule: JoinRule, keys: list[tuple[FieldPath, FieldPath]]
) -> Distribution | None:
    """Return how the output of a join lies (spec decision 7)."""
    left_distribution, right_distribution = left.properties.distribution, right.properties.distribution
    if left_distribution is None or right_distribution is None:
        return None
    if left_distribution == right_distribution == SINGLETON:
        return SINGLETON
    moved = partitioned(*(_shift_path(path, _left_width(left, rule)) for path in right_distribution.fields))
    if right_distribution == SINGLETON:
        return _preserved_distribution(rule.left, left_distribution)
    if left_distribution == SINGLETON:
        return _preserved_distribution(rule.right, moved)
    left_fields = {representative(path, left.properties.equal) for path in left_distribution.fields}
    right_fields = {representative(path, right.properties.equal) for path in right_distribution.fields}
    pairs = [(representative(a, left.properties.equal), representative(b, right.properties.equal)) for a, b in keys]
    matched = [(a, b) for a, b in pairs if a in left_fields and b in right_fields]
    aligned = {a for a, _ in matched} == left_fields and {b for _, b in matched} == right_fields
    if not aligned:
        return None
    return _preserved_distribution(rule.left, left_distribution) or _preserved_distribution(rule.right, moved)


def _left_width(left: Rel, rule: JoinRule) -> int:
    return 0 if rule.left == "dropped" else len(left.schema)


def _preserved_distribution(side: Side, distribution: Distribution) -> Distribution | None:
    return distribution if side == "preserved" else None


def _shift_path(path: FieldPath, offset: int) -> FieldPath:
    return (path[0] + offset, *path[1:])
