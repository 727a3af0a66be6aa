"""What encoding one plan has to remember from one message to the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import attrs
from substrait import algebra_pb2 as pb
from substrait.extended_expression_pb2 import ExtendedExpression
from substrait.plan_pb2 import Plan, PlanRel

from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import SchemaError, UnsupportedError
from substrait_dsl.proto.declarations import Declarations
from substrait_dsl.proto.depth import Layout

OuterReferences = Literal["rel_reference", "steps_out"]
"""How a subquery names the row of an outer relation: by a number, or by how many subqueries further out it is."""


@attrs.frozen
class Host:
    """A relation whose row can be referred to from the subqueries in its expressions."""

    message: pb.Rel
    depth: int
    """How many subqueries it lies in."""
    lateral: bool = False
    """Whether what is written stands in the right input of a lateral join, and this is the left row."""

    def row(self) -> pb.RelCommon:
        """The message that carries the number of the row: the input's, or its own.

        Its own where there is no one input, or one that stands apart (``ReferenceRel`` has no ``common``).
        """
        body = body_of(self.message)
        row: pb.Rel | None = getattr(body, "input", None)
        if row is None or row.WhichOneof("rel_type") in (None, "reference"):
            return common_of(self.message)
        return common_of(row)


def body_of(message: pb.Rel) -> object:
    """The message of the relation's kind, such as ``FilterRel``, once something is written in it."""
    body: object = getattr(message, message.WhichOneof("rel_type") or "")
    return body


def common_of(message: pb.Rel) -> pb.RelCommon:
    """The ``RelCommon`` of a relation, which every kind but ``ReferenceRel`` has."""
    common: pb.RelCommon = body_of(message).common  # type: ignore[attr-defined]  # every body but one has it
    return common


@attrs.define
class _Detached:
    """An expression that waits to be written apart, with the outer rows that it can refer to."""

    expression: Expression
    message: pb.Expression
    hosts: Mapping[int, Host]
    depth: int
    lambdas: int


class Encoder:
    """The state of encoding one plan, or one extended expression.

    Args:
        plan: the message to write declarations to.
        layout: what stands apart.
        outer_references: how to write references to outer rows.
        encode_relation: writes a relation. Subqueries hold relations and relations hold expressions: this is the tie.
        encode_expression: writes an expression; what the modules of single kinds of expressions have in common.
    """

    def __init__(
        self,
        plan: Plan | ExtendedExpression,
        layout: Layout,
        outer_references: OuterReferences,
        encode_relation: Callable[[Encoder, Rel, pb.Rel], None],
        encode_expression: Callable[[Encoder, Expression, pb.Expression], None],
    ) -> None:
        self.layout = layout
        self.declarations = Declarations(plan, layout.type_nesting)
        self.parameters: dict[int, Type] = {}
        """The types of the dynamic parameters that have been written."""
        self._outer_references = outer_references
        self._encode_relation = encode_relation
        self._encode_expression = encode_expression
        self._tree: PlanRel | ExtendedExpression = PlanRel()
        self._row: int | None = None
        self._waiting: deque[_Detached] = deque()
        self._hosts: Mapping[int, Host] = {}
        self._depth = 0
        self._lambdas = 0
        self._anchors = 0
        self._promised: dict[int, int] = {}
        self._kept: set[int] = set()

    def expression(self, expression: Expression, message: pb.Expression) -> None:
        """Write an expression, or the ordinal of one that stands apart."""
        self._encode_expression(self, expression, message)

    def relation(self, rel: Rel, message: pb.Rel) -> None:
        """Write a relation, or a reference to one that stands apart."""
        self._encode_relation(self, rel, message)

    # --- the trees of the plan

    def start_tree(self, tree: PlanRel | ExtendedExpression, row: int | None = None) -> None:
        """Begin a tree of the plan, or the extended expression; what is detached from now on is stored with it.

        Args:
            tree: the message.
            row: the anchor of the row that an extended expression is about. No relation puts it out, so that it has
                no number: only `steps_out` can say which row is meant.
        """
        self._tree = tree
        self._row = row
        self._hosts = {}
        self._depth = self._lambdas = 0

    def detach(self, expression: Expression, message: pb.Expression) -> None:
        """Put an ordinal where an expression stands; the expression itself is written later."""
        entries = self._tree.detached_expressions
        message.detached_expression_ordinal = len(entries)
        self._waiting.append(_Detached(expression, entries.add(), self._hosts, self._depth, self._lambdas))

    def write_detached(self, encode: Callable[[Encoder, Expression, pb.Expression], None]) -> None:
        """Write the expressions that were detached from this tree, and those detached from them."""
        while self._waiting:
            detached = self._waiting.popleft()
            self._hosts, self._depth, self._lambdas = detached.hosts, detached.depth, detached.lambdas
            encode(self, detached.expression, detached.message)

    # --- parameters of lambdas

    def body(self, body: Expression, message: pb.Expression) -> None:
        """Write the body of a lambda."""
        self._lambdas += 1
        self._encode_expression(self, body, message)
        self._lambdas -= 1

    def refer_to_parameter(
        self, steps_out: int, message: pb.Expression.FieldReference.LambdaParameterReference
    ) -> None:
        """Write a reference to the parameters of the lambda so many lambdas further out."""
        if steps_out >= self._lambdas:
            raise SchemaError(
                "a reference to the parameter of a lambda stands outside of it, or in a subquery inside of it",
                hint="in the body of a lambda, refer to its parameters with steps_out 0",
            )
        message.SetInParent()
        message.steps_out = steps_out

    # --- rows of outer relations

    def subquery(self, rel: Rel, message: pb.Rel) -> None:
        """Write the relation of a subquery. Lambdas around it end there: it does not see their parameters."""
        lambdas, self._lambdas = self._lambdas, 0
        self._depth += 1
        self._encode_relation(self, rel, message)
        self._depth -= 1
        self._lambdas = lambdas

    def enter(self, rel: Rel, message: pb.Rel) -> None:
        """Make the row of a relation known to what is written from now on.

        A shared relation that is written twice is another host each time, so that its number is another, too.
        """
        if rel.anchor is not None:
            self._hosts = {**self._hosts, rel.anchor: Host(message, self._depth)}

    def leave(self, rel: Rel, message: pb.Rel) -> None:
        """Give the row of a relation the number by which a subtree, written before, already refers to it."""
        if rel.anchor is None or rel.anchor not in self._promised:
            return
        if rel.anchor in self._kept:
            raise UnsupportedError(
                "a subquery that is stored apart refers to the row of a relation that stands in the plan twice",
                hint="build the relation around one of the two subqueries anew, from its own tables",
            )
        self._kept.add(rel.anchor)
        self._number(rel.anchor, Host(message, self._depth))

    def refer(self, anchor: int, message: pb.Expression.FieldReference.OuterReference) -> None:
        """Write a reference to the row of the relation with that anchor."""
        host = self._hosts.get(anchor)
        if host is None and anchor == self._row:
            message.steps_out = self._depth
        elif self._outer_references == "rel_reference":
            message.rel_reference = self._promise(anchor) if host is None else self._number(anchor, host)
        elif host is not None and not host.lateral:
            message.steps_out = self._depth - host.depth
        elif host is not None:
            raise UnsupportedError(
                "the right input of a lateral join refers to the left row, which steps_out cannot say",
                hint='encode with outer_references="rel_reference"',
            )
        else:
            raise UnsupportedError(
                "a subquery is so deep, or used so often, that it is stored apart; but it refers to an outer row, "
                "and steps_out cannot say which one from there",
                hint='encode with outer_references="rel_reference"',
            )

    def number_row(self, anchor: int | None, row: pb.RelCommon) -> None:
        """Give the row of a relation, the one with that anchor, a number even if nothing refers to it."""
        if anchor is None:
            row.rel_anchor = self._new_anchor()
        else:
            self._number(anchor, self._hosts[anchor])

    @contextmanager
    def beside(self, anchor: int | None) -> Iterator[None]:
        """Write the right input of the lateral join with that anchor."""
        before = self._hosts
        if anchor is not None:
            self._hosts = {**before, anchor: attrs.evolve(before[anchor], lateral=True)}
        yield
        self._hosts = before

    def _promise(self, anchor: int) -> int:
        """The number that the row of a relation will have, which is not written yet."""
        if anchor not in self._promised:
            self._promised[anchor] = self._new_anchor()
        return self._promised[anchor]

    def _number(self, anchor: int, host: Host) -> int:
        """The number of a host's row; it gets one if it has none."""
        row = host.row()
        promised = self._promised.get(anchor)
        if promised is not None:
            if row.HasField("rel_anchor") and row.rel_anchor != promised:
                row = common_of(host.message)
            row.rel_anchor = promised
        elif not row.HasField("rel_anchor"):
            row.rel_anchor = self._new_anchor()
        return row.rel_anchor

    def _new_anchor(self) -> int:
        self._anchors += 1
        return self._anchors
