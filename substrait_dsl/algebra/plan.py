"""A plan: root relations with the names of their columns, ready to be encoded or run.

Specification: https://substrait.io/serialization/basics/ and ``plan.proto``.
"""

from __future__ import annotations

import re
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs

from substrait_dsl.algebra.expressions.literals import Literal, literal
from substrait_dsl.algebra.expressions.parameters import DynamicParameter, remember_type
from substrait_dsl.algebra.extensions import AdvancedExtension
from substrait_dsl.algebra.node import Node, Rel, rebuild
from substrait_dsl.algebra.types import Type, Unbound, struct_names
from substrait_dsl.algebra.validators import refusal
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError, placing, require_choice

EvaluationMode = typing.Literal["per_plan", "per_record"]
EVALUATION_MODES: tuple[EvaluationMode, ...] = typing.get_args(EvaluationMode)


@attrs.frozen
class Root:
    """A relation whose rows the plan returns, and the names of its columns, nested ones depth first."""

    input: Rel
    names: tuple[str, ...]

    @classmethod
    def of(cls, rel: Rel) -> Root:
        """The root that a relation is, under its own names. Raises `SchemaError` as `check_closed` does."""
        check_closed(rel)
        return cls(rel, rel.schema.depth_first_names())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, without nested ones."""
        columns: list[str] = []
        position = 0
        for kind in self.input.schema.types:
            columns.append(self.names[position])
            position += 1 + sum(1 for _ in struct_names(kind))
        return tuple(columns)


@attrs.frozen
class ParameterBinding:
    """The value of a dynamic parameter, which expressions call by this number."""

    anchor: int
    value: Literal


def _check_git_hash(instance: Version, attribute: attrs.Attribute[str], value: object) -> None:
    if not isinstance(value, str) or not re.fullmatch("([0-9a-f]{40})?", value):
        raise refusal(instance, "git_hash", "empty or 40 lowercase hexadecimal digits", value)


@attrs.frozen
class Version:
    """The version of the specification that a plan was written for, and who wrote it."""

    major: int
    minor: int
    patch: int
    git_hash: str = attrs.field(default="", validator=_check_git_hash)
    """The commit of the specification, if it is none that was released."""
    producer: str = ""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


def _required(kinds: Iterable[Type]) -> tuple[Type, ...]:
    return tuple(kind.as_required() for kind in kinds)


@attrs.frozen
class AlgebraPlan:
    """The roots of a plan, in order, and what a plan says beside them."""

    roots: tuple[Root, ...]
    subtrees: tuple[Rel, ...] = ()
    """Relations that the plan holds but neither returns nor uses in a root."""
    expected_type_urls: tuple[str, ...] = ()
    """The types of the extension messages in the plan, so that who does not know them can say so at once."""
    parameter_bindings: tuple[ParameterBinding, ...] = ()
    evaluation_mode: EvaluationMode = "per_plan"
    """How often variables such as the current time are evaluated."""
    advanced_extensions: AdvancedExtension | None = None
    type_aliases: tuple[Type, ...] = attrs.field(default=(), converter=_required)
    """Types that the plan declares and refers to by number, instead of writing them out wherever they stand. A type
    and the same type nullable have one alias."""
    version: Version | None = attrs.field(default=None, eq=False)
    """What the plan that was read says of its version; None for a plan that was built."""

    def __attrs_post_init__(self) -> None:
        require_choice("evaluation mode", self.evaluation_mode, EVALUATION_MODES)
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
            remember_type(known, parameter)
            value = bound.get(parameter.reference)
            if value is None:
                continue
            kind = parameter.parameter_type
            if not value.type.matches(kind) or (value.value is None and not kind.nullable):
                raise TypeMismatchError(
                    f"parameter {parameter.reference} is {kind}, but it is bound to a value of type {value.type}"
                )

    @property
    def relations(self) -> tuple[Rel, ...]:
        """The relations at the top: the subtrees and those of the roots."""
        return (*self.subtrees, *(root.input for root in self.roots))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes that stand in no other: the relations at the top, and the values of parameters."""
        return (*self.relations, *(binding.value for binding in self.parameter_bindings))

    def bound_roots(self) -> tuple[Root, ...]:
        """The roots with the values of the parameters that are bound in place of the parameters.

        Raises `LiteralError` for a value of another type than its parameter has.
        """
        values = {binding.anchor: binding.value for binding in self.parameter_bindings}
        if not values:
            return self.roots

        def change(node: Node) -> Node:
            if isinstance(node, DynamicParameter) and node.reference in values:
                with placing(f"parameter {node.reference}"):
                    return literal(values[node.reference], node.parameter_type)
            return node

        return tuple(attrs.evolve(root, input=rebuild(root.input, change)) for root in self.roots)


def _check_aliases(kinds: Sequence[Type]) -> None:
    for kind, times in Counter(kinds).items():
        if isinstance(kind, Unbound):
            raise InvalidArgumentError("a type alias stands for a concrete type, not for an unbound one")
        if times > 1:
            raise InvalidArgumentError(f"the type {kind} has two aliases")


def check_closed(node: Node, rows: AbstractSet[int | None] = frozenset()) -> None:
    """Raise `SchemaError` if a tree refers to what is not there: to another outer row than these, by their anchors.

    Or to a parameter of a lambda, outside of that lambda.
    """
    what = "relation" if isinstance(node, Rel) else "expression"
    if not node.free_anchors <= rows:
        raise SchemaError(
            f"the {what} refers to a column of an outer relation, but it does not stand inside that relation",
            hint="use the row of a lambda only inside that lambda, in a subquery such as exists(...)",
        )
    if node.inside.parameters:
        raise SchemaError(f"the {what} refers to the parameter of a lambda, but it does not stand inside that lambda")


def parameters_in(nodes: Iterable[Node]) -> Iterator[DynamicParameter]:
    """The dynamic parameters in trees, those of a shared subtree once."""
    stack = [*nodes][::-1]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if not node.inside.asks or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, DynamicParameter):
            yield node
        stack.extend(reversed(node.children()))
