"""The keys of hash and merge joins, from names, pairs, equalities and `join_key`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Node, rebuild, walk
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.relations.joins import COMPARISON_URN, conjuncts
from substrait_dsl.algebra.types import Type
from substrait_dsl.catalog import Typed
from substrait_dsl.catalog.function_requirements import require_match
from substrait_dsl.errors import (
    InvalidArgumentError,
    UnknownFieldError,
    error_context,
    require_choice,
)
from substrait_dsl.fluent.base import Condition
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.column_arguments import call_function, is_list, key_expression, key_position, rows
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.namespace import CatalogFunction
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.fluent.sorting import Sortable

Comparison = rl.KeyComparison | Callable[..., ExprBase]

_EQUALITIES: dict[str, rl.KeyComparison] = {"equal": "eq", "is_not_distinct_from": "is_not_distinct_from"}
"""The functions that a condition may compare keys by, and what that is as a comparison of keys."""


class JoinKey(Picklable):
    """A column of each side of a hash or merge join, and how they are compared; made by `join_key`.

    Specification: ``ComparisonJoinKey``.

    Example:
        >>> sd.join_key("customer", "key")
        JoinKey('customer', 'key', 'eq')
    """

    __slots__ = ("comparison", "left", "right")

    def __init__(self, left: Sortable, right: Sortable, comparison: rl.KeyComparison | CatalogFunction) -> None:
        self.left, self.right, self.comparison = left, right, comparison

    def __repr__(self) -> str:
        return f"JoinKey({self.left!r}, {self.right!r}, {self.comparison!r})"


KeyLike = str | tuple[Sortable, Sortable] | JoinKey | Condition
"""A key: a name that both sides have, a name of each side, a `join_key`, or an equality."""


def join_key(left: Sortable, right: Sortable | None = None, comparison: Comparison = "eq") -> JoinKey:
    """Say how a hash or merge join compares a column of each side.

    Args:
        left: a column of the left side, or a field of a struct in one; by name, position, or a lambda of that side's
            row.
        right: the same of the right side; by default the column of the same name.
        comparison: ``"eq"``, which never matches NULL; ``"is_not_distinct_from"``, for which NULL equals NULL;
            ``"might_equal"``, for which NULL equals anything; or a scalar function of a catalogue, which takes two
            values and gives a boolean, such as ``functions.equal``.

    Raises `InvalidChoiceError` for another word. Specification: ``ComparisonJoinKey``.

    Example:
        >>> key = sd.join_key("customer", "key", "is_not_distinct_from")
        >>> print(orders.hash_join(customers, [key], "left_anti"))
        hash join left_anti build right on customer is not distinct from key -> left.*
          read orders -> id: i64, customer: i64, price: fp64?
          read customers -> key: i64, name: string
    """
    with error_context(verb="join_key"):
        if not isinstance(comparison, CatalogFunction):
            if callable(comparison):
                raise _no_comparison(comparison)
            require_choice("comparison", comparison, rl.KEY_COMPARISONS, "comparison")
        elif comparison.kind != "scalar":
            raise _no_comparison(comparison)
        if right is None:
            if not isinstance(left, str):
                raise InvalidArgumentError("expected a name that both sides have, or a column of each", got=left)
            right = left
        return JoinKey(left, right, comparison)


def _no_comparison(value: object) -> InvalidArgumentError:
    return InvalidArgumentError("keys are compared by a word or by a scalar function of a catalogue", got=value)


def join_keys(keys: Any, scope: Scope) -> tuple[rl.JoinKey, ...]:
    """Return the keys of the algebra, each side of which sees its own input."""
    if callable(keys) and not isinstance(keys, ExprBase):
        keys = call_function(keys, scope, rows(scope))
    each = keys if is_list(keys) else [keys]
    if not each:
        raise InvalidArgumentError("expected at least one key", hint="nested_loop_join(...) needs none")
    found: list[rl.JoinKey] = []
    for number, key in enumerate(each):
        with error_context(place=f"key {number}"):
            found += _keys(key, scope, len(each))
    return tuple(found)


def _keys(key: Any, scope: Scope, count: int) -> list[rl.JoinKey]:
    match key:
        case str():
            return [_common(key, scope, count)]
        case JoinKey():
            return [_compare_key(key, scope)]
        case ExprBase():
            width = len(scope.inputs[0].schema)
            return [_equality(part, width) for part in conjuncts(bind(key, scope))]
        case (left, right):
            return [_compare_key(JoinKey(left, right, "eq"), scope)]
    raise InvalidArgumentError(
        "expected the name of a column of both sides, a pair of names, or an equality",
        got=key,
        hint='write "key", ("left", "right"), or lambda l, r: l.left == r.right',
    )


def _common(name: str, scope: Scope, count: int) -> rl.JoinKey:
    left, right = scope.inputs
    try:
        one, other = key_position("left", left, name), key_position("right", right, name)
    except UnknownFieldError as error:
        if count == 2:
            error.hint = f'a pair of columns stands in a list: [("left", "right")]; {error.hint}'
        raise
    return rl.JoinKey(_column(left, one), _column(right, other))


def _column(rel: rl.Rel, position: int) -> ex.FieldReference:
    return ex.FieldReference(position, rel.schema.fields[position].type)


def _compare_key(key: JoinKey, scope: Scope) -> rl.JoinKey:
    sides: list[ex.Expression] = []
    for side, rel, value in zip(("left", "right"), scope.inputs, (key.left, key.right), strict=True):
        try:
            sides.append(key_expression(value, Scope(scope.verb, (rel,)), "join"))
        except UnknownFieldError as error:
            raise UnknownFieldError(f"on the {side} side", reason=error) from None
    left, right = sides
    function = key.comparison
    comparison = _function(function, left.type, right.type) if isinstance(function, CatalogFunction) else function
    return rl.JoinKey(left, right, comparison)


def _function(function: CatalogFunction, left: Type, right: Type) -> ex.FunctionId:
    """Return the function that says whether two values of these types match."""
    overload, result = function.resolve([Typed(left), Typed(right)])
    require_match(overload, result)
    return ex.FunctionId(overload.urn, overload.key)


def _equality(part: ex.Expression, width: int) -> rl.JoinKey:
    """Return the key that an equality of columns of both sides is."""
    match part:
        case ex.ScalarFunction(
            function=ex.FunctionId(urn=urn) as function,
            arguments=(ex.Expression() as a, ex.Expression() as b),
            options=(),
        ) if urn == COMPARISON_URN and function.name in _EQUALITIES:
            comparison = _EQUALITIES[function.name]
            if (_sides(a, width), _sides(b, width)) == ({"left"}, {"right"}):
                return rl.JoinKey(a, _rewrite_over_right(b, width), comparison)
            if (_sides(a, width), _sides(b, width)) == ({"right"}, {"left"}):
                return rl.JoinKey(b, _rewrite_over_right(a, width), comparison)
    raise InvalidArgumentError(
        "a key is an equality of a column of the left side and one of the right",
        hint="other conditions go into residual=..., or all of them into nested_loop_join(...)",
    )


def _sides(expression: ex.Expression, width: int) -> set[str]:
    return {
        "left" if node.position < width else "right"
        for node in walk(expression, into_relations=False)
        if isinstance(node, ex.FieldReference) and node.root == ex.ROOT
    }


def _rewrite_over_right(expression: ex.Expression, width: int) -> ex.Expression:
    """Return the expression over both rows as one over the right row."""

    def change(node: Node) -> Node:
        if isinstance(node, ex.FieldReference) and node.root == ex.ROOT:
            return ex.FieldReference(node.position - width, node.column_type)
        return node

    return rebuild(expression, change, into_relations=False)


KeysLike = str | JoinKey | Condition | Sequence[KeyLike]
"""The keys of a join, if no lambda gives them."""
