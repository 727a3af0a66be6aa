"""Joins by columns of the same name, which put out one column of each: the keys of ``using=``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, rebuild
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, error_context
from substrait_dsl.fluent import column_arguments
from substrait_dsl.fluent.calls import scalar_call
from substrait_dsl.fluent.scope import Scope

Using = str | Sequence[str]
"""The names of columns that both sides of a join have."""

_OF_THE_RIGHT: tuple[JoinType, ...] = ("right", "right_single")
"""The joins whose rows all have a right row, but some no left one."""


class UsingKeys:
    """The columns by which rows of two inputs match, and of which a join puts out one each.

    Args:
        pairs: the positions of each key, in the left and in the right input.
        scope: both rows of the join.
        how: the join type.
    """

    __slots__ = ("_how", "_left", "_pairs", "_right", "_scope")

    def __init__(self, pairs: Sequence[tuple[int, int]], scope: Scope, how: JoinType) -> None:
        self._pairs, self._scope, self._how = pairs, scope, how
        self._left, self._right = (rel.schema for rel in scope.inputs)

    def condition(self) -> ex.Expression:
        """Return that all keys are equal."""
        width = len(self._left)
        return column_arguments.equal_columns([(left, width + right) for left, right in self._pairs], self._scope)

    @property
    def is_of_both(self) -> bool:
        """Whether the join puts out the columns of both sides, so that each key would stand there twice."""
        return not self._how.endswith(("_semi", "_anti", "_mark"))

    def merge(self, joined: rl.Rel) -> rl.Rel:
        """Return the rows of the join with one column of each key, at the place of the left one."""
        if not self.is_of_both:
            return joined
        columns = self._columns(joined.schema)
        names = [field.name for field in self._fields(columns)]
        return column_arguments.compute(joined, list(zip(names, columns, strict=True)), self._scope)

    def merged_schema(self, joined: NamedStruct) -> NamedStruct:
        """Return the columns that `merge` puts out, of the columns of the join."""
        return NamedStruct(self._fields(self._columns(joined))) if self.is_of_both else joined

    def rewrite_before_merge(self, expression: ex.Expression, joined: NamedStruct) -> ex.Expression:
        """Return an expression over the columns of `merge` as one over those of the join itself."""
        if not self.is_of_both:
            return expression
        columns = self._columns(joined)

        def change(node: Node) -> Node:
            return columns[node.position] if isinstance(node, ex.FieldReference) and node.root == ex.ROOT else node

        return rebuild(expression, change, into_relations=False)

    def _columns(self, joined: NamedStruct) -> list[ex.Expression]:
        """Return the columns of the result, as expressions over the columns of the join."""
        width = len(self._left)
        keys = dict(self._pairs)
        merged = set(keys.values())
        found = [
            self._key(joined, position, width + keys[position]) if position in keys else _reference(joined, position)
            for position in range(width)
        ]
        rest = (position for position in range(len(self._right)) if position not in merged)
        return [*found, *(_reference(joined, width + position) for position in rest)]

    def _key(self, joined: NamedStruct, left: int, right: int) -> ex.Expression:
        if self._how in _OF_THE_RIGHT:
            return _reference(joined, right)
        if self._how != "outer":
            return _reference(joined, left)
        both = scalar_call("coalesce", {}, None, None, [_reference(joined, left), _reference(joined, right)])
        inputs = (self._left.fields[left], self._right.fields[right - len(self._left)])
        is_required = not any(field.type.nullable for field in inputs)  # a row has one side or the other
        return ex.Cast(both, both.type.as_required()) if is_required else both

    def _fields(self, columns: Sequence[ex.Expression]) -> tuple[Field, ...]:
        merged = {right for _, right in self._pairs}
        names = [*self._left.names, *(name for place, name in enumerate(self._right.names) if place not in merged)]
        return tuple(Field(name, column.type) for name, column in zip(names, columns, strict=True))


def _reference(schema: NamedStruct, position: int) -> ex.FieldReference:
    return ex.FieldReference(position, schema.fields[position].type)


def using_keys(using: Any, scope: Scope, how: JoinType) -> UsingKeys:
    """Return the keys of ``using=``: columns that both sides have by these names, of the same types.

    Raises `InvalidArgumentError` for what are no names, `UnknownFieldError` and `AmbiguousFieldError` for names that a
    side lacks or has twice, `TypeMismatchError` for columns of different types.
    """
    with error_context(place="using"):
        names = [using] if isinstance(using, str) else using
        if not column_arguments.is_list(names):
            raise InvalidArgumentError(
                "expected the name, or names, of columns that both sides have", got=using, hint=_hint_of(using)
            )
        if not names:
            raise InvalidArgumentError("expected at least one column to join by", hint="on=True matches everything")
        pairs: list[tuple[int, int]] = []
        for name in names:
            if not isinstance(name, str):
                raise InvalidArgumentError("expected the name of a column of both sides", got=name, hint=_hint_of(name))
            pair = _pair(name, scope)
            if pair in pairs:
                raise InvalidArgumentError(f'the column "{name}" stands twice', names=[name])
            pairs.append(pair)
        return UsingKeys(pairs, scope, how)


def _hint_of(value: object) -> str:
    """Return what to write for a condition, or a pair of names, in place of names."""
    is_pair = column_arguments.is_list(value) or isinstance(value, dict)
    return column_arguments.NAMES_DIFFER if is_pair else "a condition is for on=, such as on=lambda l, r: l.x == r.y"


def _pair(name: str, scope: Scope) -> tuple[int, int]:
    """Return the positions of a key on both sides."""
    left, right = scope.inputs
    left_position = column_arguments.key_position("left", left, name, right)
    right_position = column_arguments.key_position("right", right, name, left)
    one, other = left.schema.fields[left_position].type, right.schema.fields[right_position].type
    if not one.matches(other):
        from substrait_dsl.fluent.operand_hints import key_hint

        raise TypeMismatchError(
            f'column "{name}" is {_bare(one)} on the left side and {_bare(other)} on the right',
            names=[name],
            hint=key_hint((name, name), (one, other)),
        )
    return left_position, right_position


def _bare(type_: Type) -> Type:
    return type_.as_required()
