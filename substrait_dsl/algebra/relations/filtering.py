"""Relations whose output has the columns of their input: filter, sort, fetch, top-n.

Specification: https://substrait.io/relations/logical_relations/, and for the top-n
https://substrait.io/relations/physical_relations/#top-n-operation.
"""

from __future__ import annotations

from typing import Literal as Word
from typing import get_args

import attrs

from substrait_dsl.algebra import rules
from substrait_dsl.algebra.expressions.calls import SortKey
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.algebra.expressions.masks import MaskedReference, Row
from substrait_dsl.algebra.expressions.references import ROOT, FieldAccess, FieldReference, StructField
from substrait_dsl.algebra.expressions.windows import WindowFunction
from substrait_dsl.algebra.node import Expression, Node, Rel, walk
from substrait_dsl.algebra.properties import FieldPath, OrderKey, Properties
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import INTEGER_RANGES
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError, require_choice


@attrs.frozen(eq=False, repr=False)
class Filter(Rel):
    """The rows for which a condition is true. Output: the input's columns; order and distribution stay."""

    input: Rel
    condition: Expression

    def _validate(self) -> None:
        rules.require_boolean(self.condition.type, "the condition of a filter")
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return self.input.properties


@attrs.frozen(eq=False, repr=False)
class Sort(Rel):
    """The rows in an order. Output: the input's columns; the order becomes `keys`, the distribution stays."""

    input: Rel
    keys: tuple[SortKey, ...]

    def _validate(self) -> None:
        if not self.keys:
            raise InvalidArgumentError("a sort needs at least one key")
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return _derive_sorted(self.keys, self.input.properties)

    @property
    def single_row(self) -> bool:
        return self.input.single_row


def _derive_sorted(keys: tuple[SortKey, ...], before: Properties) -> Properties:
    ordering = sort_ordering(keys)
    return Properties(ordering, before.distribution, len(ordering) < len(keys), before.equal)


def sort_ordering(keys: tuple[SortKey, ...]) -> tuple[OrderKey, ...]:
    """Return the ordering that sort keys establish: up to the first that is no direct reference (spec decision 51)."""
    ordering: list[OrderKey] = []
    for key in keys:
        path = direct_path(key.expression)
        if path is None:
            break
        ordering.append(OrderKey(path, key.direction))
    return tuple(ordering)


def direct_path(expression: Expression) -> FieldPath | None:
    """Return the path of a reference to a column, or to a field of a struct in one; None for any other expression."""
    match expression:
        case FieldReference(position=position, root=root) if root is ROOT or root == ROOT:
            return (position,)
        case FieldAccess(input=inner, segment=StructField(position)):
            path = direct_path(inner)
            return None if path is None else (*path, position)
        case _:
            return None


@attrs.frozen(eq=False, repr=False)
class Fetch(Rel):
    """`count` rows after the first `offset`: None, or an expression that is NULL, means all, and 0.

    Output: the input's columns; order and distribution stay.
    """

    input: Rel
    count: Expression | None = None
    offset: Expression | None = None

    def _validate(self) -> None:
        for name in ("count", "offset"):
            expression = getattr(self, name)
            if expression is not None:
                _check_fetch("fetch", name, expression, self.anchor)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return self.input.properties


FetchMode = Word["rows_only", "with_ties"]
FETCH_MODES: tuple[FetchMode, ...] = get_args(FetchMode)


@attrs.frozen(eq=False, repr=False)
class TopN(Rel):
    """The first `count` rows in an order, after the first `offset`: a sort and a fetch in one.

    With `with_ties`, also the rows whose keys equal those of the last of these. Output: the input's columns; the
    order becomes `keys`, the distribution stays.
    """

    input: Rel
    keys: tuple[SortKey, ...]
    count: Expression | None
    """How many; None, or an expression that is NULL, means all."""
    offset: Expression | None = None
    mode: FetchMode = "rows_only"

    def _validate(self) -> None:
        if not self.keys:
            raise InvalidArgumentError("a top-n needs at least one key")
        require_choice("mode of a top-n", self.mode, FETCH_MODES)
        for name, expression in (("count", self.count), ("offset", self.offset)):
            if expression is not None:
                _check_fetch("top-n", name, expression, self.anchor)
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return _derive_sorted(self.keys, self.input.properties)


def _check_fetch(kind: str, name: str, expression: Expression, anchor: int | None) -> None:
    if type(expression.type) not in INTEGER_RANGES:
        raise TypeMismatchError(f"the {name} of a {kind} must be an integer, this is {expression.type}")
    if isinstance(expression, Literal):
        if expression.value is not None and expression.value < 0:
            raise InvalidArgumentError(f"the {name} of a {kind} must not be negative, got {expression.value}")
        return
    if anchor in expression.free_anchors or any(map(_reads_row, walk(expression, into_relations=False))):
        raise InvalidArgumentError(f"the {name} of a {kind} must not depend on a row, but it refers to a column")


def _reads_row(node: Node) -> bool:
    """Return whether an expression by itself, what is in it aside, depends on the row that it sees."""
    match node:
        case FieldReference(root=root) | MaskedReference(input=Row(root=root)):
            return root == ROOT
        case _:
            return isinstance(node, WindowFunction)
