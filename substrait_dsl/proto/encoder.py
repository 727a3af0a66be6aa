"""The state of encoding one plan."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import attrs
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan, PlanRel

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.settings import OuterReferences
from substrait_dsl.errors import SchemaError, UnsupportedError
from substrait_dsl.proto.declarations import Declarations
from substrait_dsl.proto.shallow_plans import Layout

if TYPE_CHECKING:
    from substrait.extended_expression_pb2 import ExtendedExpression

StructField = pb.Expression.ReferenceSegment.StructField
StructItem = pb.Expression.MaskExpression.StructItem


@attrs.frozen(eq=False, repr=False)
class ReferencedRelation(FrozenValue):
    """A relation whose row the subqueries in its expressions can refer to."""

    message: pb.Rel
    depth: int
    """The number of subqueries around it."""
    left: int | None = None
    """The number of left columns of a lateral join, whose anchor means these alone."""
    is_left_row: bool = False
    """Whether the right input of a lateral join is being written, and this is the left row."""

    def row(self) -> pb.RelCommon:
        """Return the message with the anchor of the row: the input's, or its own without a single input."""
        row: pb.Rel | None = getattr(body_of(self.message), "input", None)
        return common_of(row) if row is not None and _may_take_anchor(row) else common_of(self.message)


def _may_take_anchor(rel: pb.Rel) -> bool:
    """Whether the anchor of a relation means its output row.

    ``ReferenceRel`` has none, and that of a lateral join means its left row.
    """
    return rel.WhichOneof("rel_type") not in (None, "reference", "lateral_join")


def body_of(message: pb.Rel) -> object:
    """Return the message of the relation itself, such as ``FilterRel``, once something is written in it."""
    body: object = getattr(message, message.WhichOneof("rel_type") or "")
    return body


def common_of(message: pb.Rel) -> pb.RelCommon:
    """Return the ``RelCommon`` of a relation, which all but ``ReferenceRel`` have."""
    common: pb.RelCommon = body_of(message).common  # type: ignore[attr-defined]  # every body but one has it
    return common


def _columns_of(reference: pb.Expression.FieldReference) -> Sequence[StructField | StructItem]:
    """Return the messages with the column positions of a reference."""
    if reference.HasField("masked_reference"):
        return reference.masked_reference.select.struct_items
    return (reference.direct_reference.struct_field,)


@attrs.define(eq=False, repr=False)
class _Detached:
    """A detached expression to be written, with the outer rows that it can refer to."""

    expression: Expression
    message: pb.Expression
    referenced: Mapping[int, ReferencedRelation]
    depth: int


class Encoder:
    """The state of encoding one plan, or one extended expression.

    Args:
        plan: the message to write declarations to.
        layout: which relations become subtrees, and which expressions are detached.
        outer_references: how to write references to outer rows.
        encode_relation: writes any relation. Modules of relations and of expressions need each other, as subqueries
            are expressions: so they call the encoder, and import nothing from each other.
        encode_expression: writes any expression.
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
        self.ordinals: dict[int, int] = {}
        """The position in ``Plan.relations`` of each subtree that is written, by the `id` of its relation."""
        self.declarations = Declarations(plan, layout.type_nesting)
        self._outer_references = outer_references
        self._encode_relation = encode_relation
        self._encode_expression = encode_expression
        self._tree: PlanRel | ExtendedExpression = PlanRel()
        self._row: int | None = None
        self._waiting: deque[_Detached] = deque()
        self._by_anchor: Mapping[int, ReferencedRelation] = {}
        """The relations whose rows can be referred to from here, by their anchors in the algebra."""
        self._depth = 0
        """The number of subqueries around what is being written."""
        self._anchors = 0
        """The last ``rel_anchor`` that was assigned."""
        self._reserved: dict[int, int] = {}
        """The ``rel_anchor`` of rows that a subtree refers to before they are written, by the algebra's anchor."""
        self._waiting_references: dict[int, list[pb.Expression.FieldReference]] = {}
        """The references to such a row."""
        self._assigned: set[int] = set()
        """The anchors of the algebra whose reserved ``rel_anchor`` a row has."""

    def expression(self, expression: Expression, message: pb.Expression) -> None:
        """Write an expression, or the ordinal of a detached one."""
        self._encode_expression(self, expression, message)

    def relation(self, rel: Rel, message: pb.Rel) -> None:
        """Write a relation, or a reference to a subtree."""
        self._encode_relation(self, rel, message)

    # --- the trees of the plan

    def start_tree(self, tree: PlanRel | ExtendedExpression, row: int | None = None) -> None:
        """Begin a tree of the plan, or the extended expression; it holds what is detached from now on.

        Args:
            tree: the message.
            row: the anchor of the row that an extended expression is about. No relation puts it out, so that it has
                no number: only `steps_out` can say which row is meant.
        """
        self._tree = tree
        self._row = row
        self._by_anchor = {}
        self._depth = 0

    def detach(self, expression: Expression, message: pb.Expression) -> None:
        """Write an ordinal in place of an expression; the expression itself is written later."""
        entries = self._tree.detached_expressions
        message.detached_expression_ordinal = len(entries)
        self._waiting.append(_Detached(expression, entries.add(), self._by_anchor, self._depth))

    def write_detached(self, encode: Callable[[Encoder, Expression, pb.Expression], None]) -> None:
        """Write the expressions that were detached from this tree, and those detached from them."""
        while self._waiting:
            detached = self._waiting.popleft()
            self._by_anchor, self._depth = detached.referenced, detached.depth
            encode(self, detached.expression, detached.message)

    # --- rows of outer relations

    def subquery(self, rel: Rel, message: pb.Rel) -> None:
        """Write the relation of a subquery."""
        self._depth += 1
        self._encode_relation(self, rel, message)
        self._depth -= 1

    def enter(self, rel: Rel, message: pb.Rel) -> None:
        """Make the row of a relation available to references.

        A shared relation that is written twice has another anchor each time.
        """
        if rel.anchor is not None:
            self._by_anchor = {**self._by_anchor, rel.anchor: self._referenced_relation(rel, message)}

    def _referenced_relation(self, rel: Rel, message: pb.Rel) -> ReferencedRelation:
        left = len(rel.left.schema) if isinstance(rel, rl.LateralJoin) else None
        return ReferencedRelation(message, self._depth, left)

    def leave(self, rel: Rel, message: pb.Rel) -> None:
        """Give the row of a relation the anchor that a subtree, written before, refers to."""
        if rel.anchor is None or rel.anchor not in self._reserved:
            return
        if rel.anchor in self._assigned:
            raise UnsupportedError(
                "a subquery that is a separate tree refers to the row of a relation that stands in the plan twice",
                hint="build the relation around one of the two subqueries anew, from its own tables",
            )
        self._assigned.add(rel.anchor)
        referenced = self._referenced_relation(rel, message)
        self._number(rel.anchor, referenced)
        for reference in self._waiting_references.pop(rel.anchor, ()):
            if not self._refer_by_number(rel.anchor, referenced, reference):
                raise UnsupportedError(
                    "a subquery in the condition of a lateral join is a separate tree, and the right input that it "
                    "refers to has no anchor: it is a separate tree or a lateral join, or a mask of both inputs",
                    hint="put the subquery into a filter above the join",
                )

    def refer(self, anchor: int, message: pb.Expression.FieldReference) -> None:
        """Write the root of an outer reference, whose columns are written: the row of an anchor."""
        reference = message.outer_reference
        referenced = self._by_anchor.get(anchor)
        if referenced is None and anchor == self._row:
            reference.steps_out = self._depth
        elif referenced is None and self._outer_references == "rel_reference":
            reference.rel_reference = self._reserve(anchor)
            self._waiting_references.setdefault(anchor, []).append(message)
        elif referenced is not None and self._outer_references == "rel_reference":
            if not self._refer_by_number(anchor, referenced, message):  # what has no number can be counted out to
                reference.steps_out = self._depth - referenced.depth
        elif referenced is not None and not referenced.is_left_row:
            reference.steps_out = self._depth - referenced.depth
        elif referenced is not None:
            raise UnsupportedError(
                "the right input of a lateral join refers to the left row, which steps_out cannot say",
                hint='encode with outer_references="rel_reference"',
            )
        else:
            raise UnsupportedError(
                "a subquery is so deep, or used so often, that it is a separate tree; but it refers to an outer row, "
                "and steps_out cannot say which one from there",
                hint='encode with outer_references="rel_reference"',
            )

    def _refer_by_number(
        self, anchor: int, referenced: ReferencedRelation, message: pb.Expression.FieldReference
    ) -> bool:
        """Write the ``rel_anchor`` of the row of a reference; False if no anchor means its columns.

        The anchor of a lateral join means its left row. So its condition refers to a right column by the anchor of the
        right input (spec decision 27).
        """
        left = referenced.left
        beyond = [] if left is None else [column for column in _columns_of(message) if column.field >= left]
        if left is None or not beyond:
            message.outer_reference.rel_reference = self._number(anchor, referenced)
            return True
        if referenced.is_left_row:
            raise SchemaError(
                f"the right input of a lateral join refers to column {beyond[0].field} of the left row, which has "
                f"{left} columns"
            )
        right = referenced.message.lateral_join.right
        if len(beyond) < len(_columns_of(message)) or not _may_take_anchor(right):
            return False
        for column in beyond:
            column.field -= left
        message.outer_reference.rel_reference = self._number_row(common_of(right))
        return True

    def number_row(self, anchor: int | None, row: pb.RelCommon) -> None:
        """Give the row of a relation an anchor even if nothing refers to it."""
        if anchor is None:
            row.rel_anchor = self._new_anchor()
        else:
            self._number(anchor, self._by_anchor[anchor])

    @contextmanager
    def right_of_lateral_join(self, anchor: int | None) -> Iterator[None]:
        """Write the right input of the lateral join with that anchor."""
        before = self._by_anchor
        if anchor is not None:
            self._by_anchor = {**before, anchor: attrs.evolve(before[anchor], is_left_row=True)}
        yield
        self._by_anchor = before

    def _reserve(self, anchor: int) -> int:
        """Reserve the anchor of a row that is not written yet."""
        if anchor not in self._reserved:
            self._reserved[anchor] = self._new_anchor()
        return self._reserved[anchor]

    def _number(self, anchor: int, referenced: ReferencedRelation) -> int:
        """Return the anchor of the row of a relation, and assign one if it has none."""
        row = referenced.row()
        reserved = self._reserved.get(anchor)
        if reserved is not None:
            if row.HasField("rel_anchor") and row.rel_anchor != reserved:
                row = common_of(referenced.message)
            row.rel_anchor = reserved
        return self._number_row(row)

    def _number_row(self, row: pb.RelCommon) -> int:
        if not row.HasField("rel_anchor"):
            row.rel_anchor = self._new_anchor()
        return row.rel_anchor

    def _new_anchor(self) -> int:
        self._anchors += 1
        return self._anchors
