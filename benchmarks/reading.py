"""How fast plans are written and read: against protobuf itself, and against the plans' own length.

What coding costs beyond protobuf is told apart from deriving: a plan that is read is built anew, with the schemas, the
properties and the hashes of all its relations, as it is when people build it.

Run from the repository's root: ``python -m benchmarks.reading``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import attrs
from google.protobuf.message import Message
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from benchmarks.building import chain
from benchmarks.measure import Run, least, show
from substrait_dsl.algebra.node import Node, walk
from substrait_dsl.proto.plan import decode_plan, encode_plan

LENGTHS = (10, 100, 1000, 5000)

PARSING = "protobuf: parse and look at every field"
SETTING = "protobuf: set every field and serialise"

Call = tuple[str, Any]
"""A field of a message and its value; for messages inside, their own fields."""


def walked(message: Message) -> int:
    """Look at every field of every message, as any reader has to; returns how many there are."""
    fields = 0
    stack = [message]
    while stack:
        for field, value in stack.pop().ListFields():
            fields += 1
            if field.message_type is not None:
                if isinstance(value, Message):
                    stack.append(value)
                else:
                    stack.extend(value)
    return fields


def parsed(data: bytes) -> int:
    """Read a plan as protobuf alone does."""
    return walked(Plan.FromString(data))


def said(message: Message) -> list[Call]:
    """What a message says, as plain data."""
    calls: list[Call] = []
    for field, value in message.ListFields():
        if field.message_type is None:
            calls.append((field.name, list(value) if field.is_repeated else value))
        elif field.is_repeated:
            calls.append((field.name, [said(item) for item in value]))
        else:
            calls.append((field.name, (said(value),)))
    return calls


def written(message: Any, calls: list[Call]) -> None:
    """Fill a message, one field after the other, as any writer has to."""
    for name, value in calls:
        if type(value) is tuple:
            inner = getattr(message, name)
            inner.SetInParent()
            written(inner, value[0])
        elif type(value) is not list:
            setattr(message, name, value)
        elif value and type(value[0]) is list:
            items = getattr(message, name)
            for item in value:
                written(items.add(), item)
        else:
            getattr(message, name).extend(value)


def raw_bytes(calls: list[Call]) -> bytes:
    """A plan as protobuf alone writes it."""
    plan = Plan()
    written(plan, calls)
    return plan.SerializeToString(deterministic=True)


def rebuilt(root: Node) -> Callable[[], None]:
    """Builds every node of a tree anew: all that is derived when a plan is read, and nothing else."""
    nodes = list({id(node): node for node in walk(root)}.values())
    makes = []
    for node in nodes:
        kind: type = type(node)
        fields = {field.alias: getattr(node, field.name) for field in attrs.fields(kind) if field.init}
        makes.append(partial(kind, **fields))

    def run() -> None:
        for make in makes:
            make()

    return run


def lengths() -> None:
    """Reading and writing chains of 10 to 5000 relations."""
    ratios: dict[int, dict[str, float]] = {}
    for length in LENGTHS:
        relation = chain(length)
        plan = relation.to_plan()
        message = plan.to_proto()
        data, algebra = plan.to_bytes(), plan._algebra
        calls = said(message)
        assert raw_bytes(calls) == data
        runs: dict[str, Run] = {
            PARSING: partial(parsed, data),
            "read": partial(sd.Plan.from_bytes, data),
            "read: of a message": partial(decode_plan, message),
            "read: of that, deriving": rebuilt(relation._rel),
            SETTING: partial(raw_bytes, calls),
            "write": plan.to_bytes,
            "write: a message": partial(encode_plan, algebra),
        }
        times = least(runs, repeats=max(2, 3000 // length))
        show(f"{length} relations, {len(data)} bytes", times)
        parsing, setting = times[PARSING], times[SETTING]
        deriving = times["read: of that, deriving"]
        print(f"  reading without deriving / protobuf: {(times['read'] - deriving) / parsing:.2f}")
        print(f"  deriving / protobuf: {deriving / parsing:.2f}")
        ratios[length] = {"reading": times["read"] / parsing, "writing": times["write"] / setting}
        for name, ratio in ratios[length].items():
            print(f"  {name} / protobuf: {ratio:.2f}")
    print("\nGrowth: how much more a relation of 5000 takes than one of 100, both against protobuf, which is linear")
    for name in ("reading", "writing"):
        print(f"  {name}: {ratios[5000][name] / ratios[100][name]:.2f}")


if __name__ == "__main__":
    lengths()
