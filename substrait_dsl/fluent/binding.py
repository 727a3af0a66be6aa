"""Binding of expressions to the row of a scope: unbound ones become expressions of the algebra."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextvars import ContextVar
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.scope import Scope


def leaves(expr: ExprBase) -> Iterator[ExprBase]:
    """Yield the leaves of an expression: bound expressions, and unbound ones without operands."""
    stack: list[ExprBase] = [expr]
    seen: set[int] = set()
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        inside = [operand for operand in current._operands if isinstance(operand, ExprBase)]
        if current._node is not None or not inside:
            yield current
        stack.extend(inside)


def bind(expr: ExprBase, scope: Scope) -> ex.Expression:
    """Bind an expression to the row of a scope, and return the expression of the algebra.

    This does not recurse, and binds each shared operand once, also where it stands in several lambdas.
    """
    if expr._node is not None:
        return scope.local(expr._node, expr._scope)
    if (current := _BINDER.get()) is not None:
        return current.bind(expr, scope)
    token = _BINDER.set(current := _Binder())
    try:
        return current.bind(expr, scope)
    finally:
        _BINDER.reset(token)


class _Binder:
    """The expressions that are bound so far, from the first call of `bind` until it returns.

    An expression without parameters of a lambda is the same inside of the lambda and around it.
    """

    def __init__(self) -> None:
        self._done: dict[Hashable, tuple[ex.Expression, ExprBase, Scope]] = {}
        """The bound expressions, by `_key`; with the objects whose `id` is in the key, so that these stay alive."""
        self._owners: dict[int, frozenset[int]] = {}
        """For the `id` of an expression the lambdas whose parameters it has, by the `id` of these."""
        self._is_ahead = True
        """Whether operands are bound before the expressions that have them, to limit the depth: not after an error."""

    def bind(self, expr: ExprBase, scope: Scope) -> ex.Expression:
        stack: list[ExprBase] = [expr]
        while stack:
            current = stack[-1]
            if (key := self._key(current, scope)) in self._done:
                stack.pop()
                continue
            waiting = None
            try:
                waiting = self._waiting(current, scope)
                node = None if waiting else self._bind_ready(current, scope)
            except Exception:
                # An expression that `combine_in_scope` made adds its own context to the errors of its operands.
                places = range(len(stack) if waiting is None else len(stack) - 1)
                around = next((place for place in places if stack[place]._make is None), None)
                if around is None or not self._is_ahead:
                    raise
                self._is_ahead = False
                del stack[around + 1 :]
                continue
            if node is None:
                stack += waiting
                continue
            stack.pop()
            self._done[key] = node, current, scope
        return self._done[self._key(expr, scope)][0]

    def _waiting(self, expr: ExprBase, scope: Scope) -> list[ExprBase]:
        """Return the operands that have to be bound first."""
        if expr._node is not None or (expr._make is None and not self._is_ahead):
            return []
        operands = [each for each in expr._operands if isinstance(each, ExprBase)]
        # An operand without operands is bound at once: the first that fails is the first that is written.
        for each in operands:
            if not each._operands and (key := self._key(each, scope)) not in self._done:
                self._done[key] = self._bind_ready(each, scope), each, scope
        return [each for each in operands if self._key(each, scope) not in self._done]

    def _bind_ready(self, expr: ExprBase, scope: Scope) -> ex.Expression:
        """Bind an expression whose operands are bound."""
        if expr._node is not None:
            return scope.local(expr._node, expr._scope)
        if expr._make is None:
            assert expr._leaf is not None
            return expr._leaf(scope)
        return expr._make([self._bound_operand(each, scope) for each in expr._operands])

    def _bound_operand(self, operand: Any, scope: Scope) -> Any:
        return self._done[self._key(operand, scope)][0] if isinstance(operand, ExprBase) else operand

    def _key(self, expr: ExprBase, scope: Scope) -> Hashable:
        return id(expr), scope.seen_by(self._owners_in(expr) if scope.is_of_lambda else frozenset())

    def _owners_in(self, expr: ExprBase) -> frozenset[int]:
        stack: list[ExprBase] = [expr]
        while stack:
            current = stack[-1]
            operands = [each for each in current._operands if isinstance(each, ExprBase)]
            if waiting := [each for each in operands if id(each) not in self._owners]:
                stack += waiting
                continue
            stack.pop()
            owner = getattr(getattr(current._leaf, "func", None), "__self__", None)
            own = frozenset() if owner is None else frozenset({id(owner)})
            self._owners[id(current)] = own.union(*(self._owners[id(each)] for each in operands))
        return self._owners[id(expr)]


_BINDER: ContextVar[_Binder | None] = ContextVar("binder", default=None)
