"""A plan: trees in the order of their evaluation, and its other declarations; ready to be encoded or run.

Specification: https://substrait.io/serialization/basics/ and ``plan.proto``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.evaluation import normalized_trees
from substrait_dsl.algebra.expressions.literals import Literal, literal
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.settings import EVALUATION_MODES, EvaluationMode, ParameterBinding, PlanSettings
from substrait_dsl.algebra.trees import Root, Subtree, Tree, check_closed
from substrait_dsl.algebra.types import Type, Unbound
from substrait_dsl.algebra.validators import refusal
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, error_context, require_choice

if TYPE_CHECKING:
    from substrait_dsl.algebra.accesses import Accesses

__all__ = [
    "EVALUATION_MODES",
    "AlgebraPlan",
    "EvaluationMode",
    "ParameterBinding",
    "Root",
    "Subtree",
    "Tree",
    "Version",
    "check_closed",
    "parameters_in",
]


def _check_git_hash(instance: Version, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not re.fullmatch("([0-9a-f]{40})?", value):
        raise refusal(instance, "git_hash", "empty or 40 lowercase hexadecimal digits", value)


@attrs.frozen(eq=False, repr=False)
class Version(FrozenValue):
    """The version of the specification that a plan was written for, and who wrote it."""

    major: int
    minor: int
    patch: int
    git_hash: str = attrs.field(default="", validator=_check_git_hash)
    """The commit of the specification, if it is none that was released."""
    producer: str = ""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def _as_required(types: Iterable[Type]) -> tuple[Type, ...]:
    return tuple(type_.as_required() for type_ in types)


@attrs.frozen(eq=False, repr=False)
class AlgebraPlan(Picklable, FrozenValue):
    """The trees of a plan in the order of their evaluation, and its other declarations."""

    trees: tuple[Tree, ...]
    """Its roots and subtrees. A shared relation may be left out: it is evaluated before the first tree that uses it."""
    expected_type_urls: tuple[str, ...] = ()
    """The types of the extension messages in the plan, so that who does not know them can say so at once."""
    parameter_bindings: tuple[ParameterBinding, ...] = ()
    evaluation_mode: EvaluationMode = "per_plan"
    """How often variables such as the current time are evaluated."""
    advanced_extensions: AdvancedExtension | None = None
    type_aliases: tuple[Type, ...] = attrs.field(default=(), converter=_as_required)
    """Types that the plan declares and refers to by number, instead of writing them out wherever they stand. A type
    and the same type nullable have one alias."""
    version: Version | None = attrs.field(default=None, eq=False)
    """The version in the plan that was read; None for a plan that was built."""

    def __attrs_post_init__(self) -> None:
        require_choice("evaluation mode", self.evaluation_mode, EVALUATION_MODES)
        object.__setattr__(self, "trees", normalized_trees(self.trees))
        if self.type_aliases:
            _check_aliases(self.type_aliases)
        bound: dict[int, Literal] = {}
        for binding in self.parameter_bindings:
            if binding.anchor in bound:
                raise InvalidArgumentError(f"parameter {binding.anchor} is bound twice")
            bound[binding.anchor] = binding.value
        self._check_types(bound)

    def _check_types(self, bound: Mapping[int, Literal]) -> None:
        """Raise `TypeMismatchError` for a parameter of two types, and for one that is bound to a value of another."""
        known: dict[int, Type] = {}
        for parameter in parameters_in(self.relations):
            ex.remember_type(known, parameter)
            value = bound.get(parameter.reference)
            if value is None:
                continue
            type_ = parameter.parameter_type
            if not value.type.matches(type_) or (value.value is None and not type_.nullable):
                raise TypeMismatchError(
                    f"parameter {parameter.reference} is {type_}, but it is bound to a value of type {value.type}"
                )

    @property
    def roots(self) -> tuple[Root, ...]:
        """The trees that the plan returns the rows of, in order."""
        return tuple(tree for tree in self.trees if isinstance(tree, Root))

    @property
    def relations(self) -> tuple[Rel, ...]:
        """The relations at the top, of roots and subtrees."""
        return tuple(tree.input for tree in self.trees)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes that stand in no other: the relations at the top, and the values of parameters."""
        return (*self.relations, *(binding.value for binding in self.parameter_bindings))

    @property
    def accesses(self) -> Accesses:
        """The tables, files and other objects that the plan reads, writes and defines."""
        from substrait_dsl.algebra.accesses import accesses_of  # not needed for writing

        return accesses_of(self.nodes, self.settings.enhancement)

    @property
    def settings(self) -> PlanSettings:
        """The settings of the plan on which the rows of its roots depend."""
        extension = self.advanced_extensions
        enhancement = None if extension is None else extension.enhancement
        return PlanSettings(self.evaluation_mode, self.parameter_bindings, enhancement)

    def rebuilt(self, change: Callable[[Node], Node]) -> AlgebraPlan:
        """Return the plan with `change` applied to every node of its trees, which go on sharing what they share."""
        done: dict[int, Node] = {}
        trees = tuple(attrs.evolve(tree, input=rebuild(tree.input, change, done=done)) for tree in self.trees)
        return attrs.evolve(self, trees=trees)

    def with_parameters_bound(self) -> AlgebraPlan:
        """Return the plan with the values of the parameters that are bound in place of the parameters.

        Raises `LiteralError` for a value of another type than its parameter has.
        """
        values = {binding.anchor: binding.value for binding in self.parameter_bindings}
        if not values:
            return self

        def change(node: Node) -> Node:
            if isinstance(node, ex.DynamicParameter) and node.reference in values:
                with error_context(place=f"parameter {node.reference}"):
                    return literal(values[node.reference], node.parameter_type)
            return node

        return attrs.evolve(self.rebuilt(change), parameter_bindings=())


def _check_aliases(types: Sequence[Type]) -> None:
    for type_, times in Counter(types).items():
        if isinstance(type_, Unbound):
            raise InvalidArgumentError("a type alias stands for a concrete type, not for an unbound one")
        if times > 1:
            raise InvalidArgumentError(f"the type {type_} has two aliases")


def parameters_in(nodes: Iterable[Node]) -> Iterator[ex.DynamicParameter]:
    """Yield the dynamic parameters in trees, those of a shared subtree once."""
    stack = [*nodes][::-1]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if not node.flags.has_plan_parameters or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ex.DynamicParameter):
            yield node
        stack.extend(reversed(node.children()))
