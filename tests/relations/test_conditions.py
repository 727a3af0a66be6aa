"""Conditions are booleans: wherever a relation has one, and in plans too, where no verb has looked before."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator

import attrs
import pytest
from google.protobuf.message import Message
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.errors import PlanFormatError, TypeMismatchError
from substrait_dsl.proto.plan import decode_plan, encode_plan
from tests.nodes import TRUE, col, i64, leaf, measure
from tests.proto.plans import plan_of

INPUT = leaf("a: i64")
A = col(INPUT, "a")
KEYS = (r.JoinKey(A, A),)
TABLE = r.NamedTable(("t",))
CHANGES = (r.Transformation(0, i64(1)),)

CONDITIONS: dict[str, Callable[[ex.Expression], r.Rel]] = {
    "Read.filter": lambda c: r.Read(INPUT.schema, TABLE, filter=c),
    "Read.best_effort_filter": lambda c: r.Read(INPUT.schema, TABLE, best_effort_filter=c),
    "Filter.condition": lambda c: r.Filter(INPUT, c),
    "Join.condition": lambda c: r.Join(INPUT, INPUT, "left", c),
    "Join.post_filter": lambda c: r.Join(INPUT, INPUT, "left", TRUE, c),
    "LateralJoin.condition": lambda c: r.LateralJoin(INPUT, INPUT, "left", c, anchor=1),
    "LateralJoin.post_filter": lambda c: r.LateralJoin(INPUT, INPUT, "left", TRUE, c, anchor=1),
    "HashJoin.residual": lambda c: r.HashJoin(INPUT, INPUT, "left", KEYS, c),
    "HashJoin.post_filter": lambda c: r.HashJoin(INPUT, INPUT, "left", KEYS, None, c),
    "MergeJoin.residual": lambda c: r.MergeJoin(INPUT, INPUT, "left", KEYS, c),
    "MergeJoin.post_filter": lambda c: r.MergeJoin(INPUT, INPUT, "left", KEYS, None, c),
    "NestedLoopJoin.condition": lambda c: r.NestedLoopJoin(INPUT, INPUT, "left", c),
    "Update.condition": lambda c: r.Update(TABLE, INPUT.schema, c, CHANGES),
    "Measure.filter": lambda c: r.Aggregate(INPUT, (), ((),), (attrs.evolve(measure(A), filter=c),), ("n",)),
    "IfClause.condition": lambda c: r.Project(INPUT, (ex.IfThen((ex.IfClause(c, A),), A),), ("x",)),
}
"""For each condition in a relation: a relation that has this one."""

NAMES = {"condition", "filter", "best_effort_filter", "post_filter", "residual"}


def test_every_condition_of_a_relation_is_here() -> None:
    fields = {
        f"{kind.__name__}.{field.name}"
        for kind in typing.get_args(r.AnyRelation)
        for field in attrs.fields(kind)
        if field.name in NAMES
    }
    assert fields <= CONDITIONS.keys()


@pytest.mark.parametrize("made", CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition_is_a_boolean(made: Callable[[ex.Expression], r.Rel]) -> None:
    made(literal(None, t.Boolean(nullable=True)))
    for wrong in (i64(3), literal("true", t.String()), A):
        with pytest.raises(TypeMismatchError, match="must be a boolean, this is"):
            made(wrong)


def literals(message: Message) -> Iterator[pb.Expression.Literal]:
    """All literals in a message."""
    if isinstance(message, pb.Expression.Literal):
        yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in value if field.is_repeated else [value]:
                yield from literals(child)


@pytest.mark.parametrize("made", CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition_in_a_plan_is_a_boolean(made: Callable[[ex.Expression], r.Rel]) -> None:
    plan = encode_plan(plan_of(made(literal(False, t.Boolean()))))
    (condition,) = (each for each in literals(plan) if each.HasField("boolean") and not each.boolean)
    condition.i64 = 3  # "filter 3"
    with pytest.raises(PlanFormatError, match="must be a boolean, this is i64"):
        decode_plan(plan)
