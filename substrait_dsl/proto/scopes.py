"""The rows that expressions are decoded over, and the names of computed columns.

A plan names columns only at its reads and roots. Computed columns in between get readable names; they are not part of
what a relation is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.types import Struct, Type

if TYPE_CHECKING:
    from substrait_dsl.proto.decoder import Decoder


@attrs.define(eq=False, repr=False)
class Scope:
    """The row of the expressions of one relation, and its enclosing rows."""

    types: tuple[Type, ...]
    """The types of its columns."""
    outer: Scope | None
    """The row outside of the relation's subquery."""
    _numbers: Callable[[], Mapping[int, range]] | None = None
    """Computes `numbers`: few rows are referred to by an anchor."""
    lateral: bool = False
    """Whether it is the left row of a lateral join for its right input: `steps_out` does not count it."""
    parameters: tuple[tuple[Type, ...], ...] = ()
    """The parameters of the enclosing lambdas, the innermost first."""
    anchor: int | None = None
    """The anchor of this row in the algebra, once a subquery refers to it."""
    detached: dict[int, ex.Expression] = attrs.field(factory=dict)
    """The detached expressions that were decoded over this row, by their ordinals."""
    bodies: dict[int, tuple[pb.Expression.Lambda, Scope]] = attrs.field(factory=dict)
    """The scopes of the lambda bodies over this row, by the `id` of their messages."""
    row: Scope | None = None
    """The row itself, where this is its scope in the body of a lambda."""
    _computed: Mapping[int, range] | None = attrs.field(default=None, init=False)
    """The `numbers`, once they are computed. With a cached property, attrs would take twice as long for the class."""

    @property
    def numbers(self) -> Mapping[int, range]:
        """The ``rel_anchor`` numbers by which subqueries may refer to this row, with their columns.

        They are those of the relation itself, which mean all columns, and of its inputs (spec decision 27).
        """
        if self._computed is None:
            self._computed = {} if self._numbers is None else self._numbers()
        return self._computed

    def find_anchor(self, number: int) -> Scope | None:
        """Return the innermost row with an anchor, from this one outwards."""
        row: Scope | None = self
        while row is not None and number not in row.numbers:
            row = row.outer
        return row

    def outwards(self, steps: int) -> list[Scope]:
        """Return so many rows from this one outwards, as ``steps_out`` counts them; fewer, if there are no more."""
        rows: list[Scope] = []
        row: Scope | None = self
        while row is not None and len(rows) < steps:
            if not row.lateral:
                rows.append(row)
            row = row.outer
        return rows

    def for_body(self, parameters: tuple[Type, ...]) -> Scope:
        """Return the scope of the body of a lambda with these parameters."""
        return attrs.evolve(
            self, parameters=(parameters, *self.parameters), detached={}, bodies={}, row=self.row or self
        )


def row_of(
    decoder: Decoder,
    body: Any,
    outer: Scope | None,
    *inputs: tuple[Rel, pb.Rel],
    types: tuple[Type, ...] | None = None,
) -> Scope:
    """Return the scope of the expressions of a relation.

    Args:
        decoder: the state of decoding.
        body: the message of the relation's kind, such as ``FilterRel``.
        outer: the row around the subquery that the relation is part of.
        inputs: those whose columns begin the row, side by side, and the messages they were read from.
        types: the types of the row, if they are not just those of the inputs.
    """
    if types is None:
        types = inputs[0][0].schema.types
        if len(inputs) > 1:
            for rel, _ in inputs[1:]:
                types += rel.schema.types
            decoder.sizes.count_inputs(len(types))
    return Scope(types, outer, partial(_numbers, decoder, body, inputs, len(types)))


def _numbers(decoder: Decoder, body: Any, inputs: Sequence[tuple[Rel, pb.Rel]], width: int) -> Mapping[int, range]:
    """Return the anchors of a row with that many columns, with the positions of their columns."""
    numbers: dict[int, range] = {}
    begin = 0
    for rel, message in inputs:
        end = begin + len(rel.schema)
        number = _number_of(decoder, message)
        if number is not None:
            numbers[number] = range(begin, end)
        begin = end
    if body.common.HasField("rel_anchor"):
        # That of a lateral join means its left row, also in its condition.
        lateral = isinstance(body, pb.LateralJoinRel)
        numbers[body.common.rel_anchor] = range(len(inputs[0][0].schema) if lateral else width)
    return numbers


def _number_of(decoder: Decoder, message: pb.Rel) -> int | None:
    """Return the ``rel_anchor`` of an input, also of a subtree; that of a lateral join means its left row."""
    rel_type = message.WhichOneof("rel_type")
    while rel_type == "reference":
        message = decoder.trees.message(message.reference.subtree_ordinal)
        rel_type = message.WhichOneof("rel_type")
    if rel_type == "lateral_join":
        return None
    common = getattr(message, rel_type or "").common
    return common.rel_anchor if common.HasField("rel_anchor") else None


# --- names


def names_beside(expressions: Sequence[ex.Expression], rel: Rel) -> tuple[str, ...]:
    """Return names for the expressions of a project; a mere reference keeps the name of its column."""
    next_numbers = dict.fromkeys(rel.schema.names, 2)
    return tuple(
        [
            _name(expression, rel)
            if isinstance(expression, ex.FieldReference)
            else _free(_name(expression, rel), next_numbers)
            for expression in expressions
        ]
    )


def names_of_groups(keys: Iterable[ex.Expression], measures: Iterable[ex.Measure], rel: Rel) -> tuple[str, ...]:
    """Return names for the keys and the measures of an aggregate."""
    next_numbers: dict[str, int] = {}
    names = [*(_name(key, rel) for key in keys), *(measure.function.function.name for measure in measures)]
    return tuple(_free(name, next_numbers) for name in names)


def names_of_calls(calls: Iterable[ex.WindowCall], rel: Rel) -> tuple[str, ...]:
    """Return names for the functions of a window."""
    next_numbers = dict.fromkeys(rel.schema.names, 2)
    return tuple(_free(call.function.name, next_numbers) for call in calls)


def _name(expression: ex.Expression, rel: Rel) -> str:
    while True:
        match expression:
            case ex.ScalarFunction(function=function) | ex.WindowFunction(call=ex.WindowCall(function=function)):
                return function.name
            case ex.FieldReference(position=position, root=root) if root == ex.ROOT:
                return rel.schema.fields[position].name
            case ex.FieldAccess(input=inner, segment=ex.StructField(position)) if isinstance(inner.type, Struct):
                return inner.type.field_names[position]
            case ex.FieldAccess(input=inner) | ex.Cast(input=inner):
                expression = inner
            case ex.ExecutionContextVariable(variable=variable):
                return variable
            case _:
                return re.sub("(?<!^)(?=[A-Z])", "_", type(expression).__name__).lower()


def _free(name: str, next_numbers: dict[str, int]) -> str:
    """Return the name, or the name with the next free number; `next_numbers` has that number for each name."""
    free = name
    while free in next_numbers:
        free = f"{name}_{next_numbers[name]}"
        next_numbers[name] += 1
    next_numbers[free] = 2
    return free
