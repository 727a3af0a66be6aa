"""Whole plans to read: as messages that are changed, and one that people might have built."""

from __future__ import annotations

from typing import Any

from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import T, encoded, message

HINT = AnyMessage("type.example/acme.Hint", b"\x08\x01")


def read(message: Plan) -> AlgebraPlan:
    return decode_plan(Plan.FromString(message.SerializeToString()))[0]


def changed(text: str, *clear: str) -> Plan:
    """The plan that reads `T`, without some fields and with others."""
    plan = encoded(T)
    for field in clear:
        plan.ClearField(field)  # type: ignore[arg-type]  # the name of a field
    plan.MergeFrom(message(Plan, text))
    return plan


def pipeline() -> Any:
    orders = sd.read_named("orders", {"key": sd.I64, "total": "decimal<15,2>?", "who": sd.I64})
    people = sd.read_named("people", {"key": sd.I64, "address": t.Struct.of({"city": t.String()})})
    known: Any = orders.filter(lambda o: sd.exists(people.filter(lambda p: p.key == o.who)))
    return known.project(more=lambda o: f.add(o.key, 1)).aggregate("who", sum=lambda o: f.sum(o.total))
