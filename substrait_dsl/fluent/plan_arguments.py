"""The arguments of a plan: its trees, type aliases and parameter bindings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.plan import ParameterBinding, Tree, parameters_in
from substrait_dsl.algebra.trees import Subtree as AlgebraSubtree
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, class_words, error_context
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.expr import ExprBase, unwrap_constants
from substrait_dsl.fluent.schemas import as_type
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.fluent.trees import Subtree, tree_of


def require_changes(trees: Sequence[Tree], others: Sequence[Tree]) -> None:
    """Raise `InvalidArgumentError` if `others` leave out a change of a table that a subtree of `trees` makes."""
    if any(isinstance(tree, AlgebraSubtree) for tree in others):
        return
    remaining = {id(node) for tree in others for node in walk(tree.input)}
    subtrees = [tree.input for tree in trees if isinstance(tree, AlgebraSubtree)]
    for change in (node for rel in subtrees for node in walk(rel) if isinstance(node, rl.Change)):
        if id(change) not in remaining:
            raise InvalidArgumentError(
                f"the plan has a subtree with {class_words(change)}, which would be left out",
                hint="list the trees that stay, in order: plan.with_roots(*plan.trees) has all",
            )


def plan_trees(trees: Sequence[RelationBase | Subtree]) -> tuple[Tree, ...]:
    """Return the trees of a plan. Raises `InvalidArgumentError` for none, or for what is no relation or subtree."""
    if not trees:
        raise InvalidArgumentError("expected at least one relation")
    return tuple(map(tree_of, trees))


def alias_types(types: Any) -> tuple[Type, ...]:
    """Return the types of type aliases. Raises `InvalidArgumentError` for anything but several types."""
    if isinstance(types, str) or not isinstance(types, Sequence):
        raise InvalidArgumentError("type_aliases are several types", got=types)
    return tuple(as_type(type_) for type_ in types)


def bind_parameters(values: Mapping[int, object], trees: Sequence[Tree]) -> dict[int, ParameterBinding]:
    """Bind plan parameters to values: Python values become literals of the type that the parameter has in the trees.

    Raises:
        InvalidArgumentError: a parameter is not used, or a value is no constant.
    """
    if not isinstance(values, Mapping):
        raise InvalidArgumentError("parameter_bindings is a dict of values by the number of the parameter", got=values)
    if not values:
        return {}
    types: dict[int, Type] = {}
    for parameter in parameters_in(tree.input for tree in trees):
        ex.remember_type(types, parameter)
    used = ", ".join(map(str, sorted(types)))
    return {anchor: _binding(anchor, value, types.get(anchor), used) for anchor, value in values.items()}


def _binding(anchor: int, value: object, type_: Type | None, used: str) -> ParameterBinding:
    with error_context(place=f"parameter {anchor!r}"):
        if type(anchor) is not int or not 0 <= anchor < 2**32:
            raise InvalidArgumentError("the number of a parameter is one of 32 bits", got=anchor)
        if isinstance(value, ExprBase):
            value = bind(value, Scope("Plan", ()))
        if isinstance(value, ex.Expression) and not isinstance(value, ex.Literal):
            raise InvalidArgumentError("a parameter is bound to a constant: write lit(value, type)")
        if type_ is None:
            raise InvalidArgumentError(
                "no expression of the plan uses this parameter",
                hint=f"the parameters of the plan are {used}" if used else None,
            )
        return ParameterBinding(anchor, ex.literal(unwrap_constants(value), type_))
