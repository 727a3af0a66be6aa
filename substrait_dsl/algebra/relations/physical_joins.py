"""Physical joins: hash join, merge join of sorted inputs, nested loop join.

Specification: https://substrait.io/relations/physical_relations/. Their output is that of a `Join`.
"""

from __future__ import annotations

import typing

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.node import Expression, Node, Rel
from substrait_dsl.algebra.properties import OrderKey, Properties
from substrait_dsl.algebra.relations.joins import check_post_filter, equal_fields, joined_properties
from substrait_dsl.algebra.relations.sortedness import direct_path, field_of, known_keys, may_be_sorted_by, orders_as
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, SchemaError, require_choice

KeyComparison = typing.Literal["eq", "is_not_distinct_from", "might_equal"]
KEY_COMPARISONS: tuple[KeyComparison, ...] = typing.get_args(KeyComparison)
BuildSide = typing.Literal["left", "right"]


@attrs.frozen(eq=False, repr=False)
class JoinKey(Node):
    """A column of the left input and one of the right that must compare as equal; each sees its own input."""

    left: Expression
    right: Expression
    comparison: KeyComparison | FunctionId = "eq"
    """How: ``eq`` never matches NULL, ``is_not_distinct_from`` matches NULL and NULL, ``might_equal`` matches NULL and
    anything; or a function of two values that gives a boolean."""

    def _validate(self) -> None:
        for side, expression in (("left", self.left), ("right", self.right)):
            if direct_path(expression) is None:
                raise InvalidArgumentError(
                    f"the {side} side of a join key must be a column or a field of one",
                    hint="compute it in a project below the join",
                )
        if isinstance(self.comparison, FunctionId):
            return
        require_choice("comparison of join keys", self.comparison, KEY_COMPARISONS)
        rules.join_key_types(self.left.type, self.right.type, self.comparison)


@attrs.frozen(eq=False, repr=False)
class HashJoin(Rel):
    """A join that looks rows of one input up in a hash table of the other, the build side.

    Rows match if all keys do and `residual`, which sees the left columns, then the right, is true; `post_filter` sees
    the output. Output: see `rules.join_schema`; no order.
    """

    left: Rel
    right: Rel
    how: JoinType
    keys: tuple[JoinKey, ...]
    residual: Expression | None = None
    post_filter: Expression | None = None
    build: BuildSide = "right"
    mark: str = attrs.field(default="mark", eq=False)

    def _validate(self) -> None:
        _check_keys("hash", self)
        require_choice("build side", self.build, ("left", "right"))
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema(self.how, self.left.schema, self.right.schema, self.mark)

    def _derive_properties(self) -> Properties:
        return _properties(self)


@attrs.frozen(eq=False, repr=False)
class MergeJoin(Rel):
    """A join of two inputs that are sorted by their keys, as a `HashJoin` otherwise.

    Raises `SchemaError` for an input whose order is known and is not that of the keys, or that is only clustered by
    them, and for two that differ in it.
    """

    left: Rel
    right: Rel
    how: JoinType
    keys: tuple[JoinKey, ...]
    residual: Expression | None = None
    post_filter: Expression | None = None
    mark: str = attrs.field(default="mark", eq=False)

    def _validate(self) -> None:
        _check_keys("merge", self)
        left = _merged_order("left", self.left, [key.left for key in self.keys])
        right = _merged_order("right", self.right, [key.right for key in self.keys])
        self._check_aligned(left, right)
        Rel._validate(self)

    def _check_aligned(self, left: list[OrderKey], right: list[OrderKey]) -> None:
        """Raise unless the orders of the two inputs, as far as they are known, can be merged."""
        nulls_in_both = {
            (field_of(self.left, key.left), field_of(self.right, key.right)): (
                key.left.type.nullable and key.right.type.nullable
            )
            for key in self.keys
        }
        for left_sort, right_sort in zip(left, right, strict=False):
            nullable = nulls_in_both.get((left_sort.field, right_sort.field))
            if nullable is None or not orders_as(left_sort.direction, right_sort.direction, nullable=nullable):
                raise SchemaError(
                    "the two inputs of a merge join must be sorted by the same keys in turn, in the same directions",
                    hint="sort them alike, or use a hash join",
                )

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema(self.how, self.left.schema, self.right.schema, self.mark)

    def _derive_properties(self) -> Properties:
        return _properties(self)


@attrs.frozen(eq=False, repr=False)
class NestedLoopJoin(Rel):
    """A join that compares every row with every row; no condition is a condition that is true."""

    left: Rel
    right: Rel
    how: JoinType
    condition: Expression | None = None
    mark: str = attrs.field(default="mark", eq=False)

    def _validate(self) -> None:
        if self.condition is not None:
            rules.require_boolean(self.condition.type, "the condition of a nested loop join")
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return rules.join_schema(self.how, self.left.schema, self.right.schema, self.mark)

    def _derive_properties(self) -> Properties:
        condition = self.condition
        keys = () if condition is None else equal_fields(condition, len(self.left.schema))
        return joined_properties(self.left, self.right, self.how, keys)


PhysicalKeyJoin = HashJoin | MergeJoin


def _check_keys(kind: str, join: PhysicalKeyJoin) -> None:
    if not join.keys:
        raise InvalidArgumentError(f"a {kind} join needs at least one key", hint="a nested loop join needs none")
    if join.residual is not None:
        rules.require_boolean(join.residual.type, "the residual of a join")
    check_post_filter(join.post_filter, join.anchor)


def _properties(join: PhysicalKeyJoin) -> Properties:
    equal = ("eq", "is_not_distinct_from")
    paths = [(direct_path(k.left), direct_path(k.right)) for k in join.keys if k.comparison in equal]
    fields = [
        (left_path, right_path) for left_path, right_path in paths if left_path is not None and right_path is not None
    ]
    return joined_properties(join.left, join.right, join.how, fields)


def _merged_order(side: str, rel: Rel, keys: list[Expression]) -> list[OrderKey]:
    """Return the known ordering of an input by its keys. Raises if the input has another one."""
    if not may_be_sorted_by(rel, keys):
        names = ", ".join(rel.schema.fields[key.field[0]].name for key in rel.properties.ordering)
        raise SchemaError(
            f"the {side} input of a merge join must be sorted by its keys, but it is sorted by {names}",
            hint="sort it by the keys, or use a hash join",
        )
    known = known_keys(rel)[: len({field_of(rel, key) for key in keys})]
    if any(key.direction == "clustered" for key in known):
        raise SchemaError(
            f"the {side} input of a merge join must be sorted by its keys, but it is only clustered by them",
            hint="sort it by the keys in a direction, or use a hash join",
        )
    return known
