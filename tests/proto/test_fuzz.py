"""More than twenty thousand spoilt plans: each is read, or refused by an error that says so, and never with much work.

The plans to spoil and the ways of spoiling them are the same in every run. What this has found stands in
`test_hostile.py`, by name.
"""

from __future__ import annotations

import copy
import cProfile
import functools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
from google.protobuf import json_format, text_format
from google.protobuf.any_pb2 import Any as AnyProto
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from substrait.extended_expression_pb2 import ExtendedExpression as ExtendedMessage

from substrait_dsl.algebra.anchors import canonical_plan
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.extended import encode_extended_expression, extended_from_bytes, extended_from_json
from substrait_dsl.proto.extensions import decode_any
from substrait_dsl.proto.legacy_schema import old_plan_class
from substrait_dsl.proto.plan import encode_plan, from_bytes, from_json, to_bytes
from substrait_dsl.proto.private_extensions import STRUCT_URL, choices_in, message_of
from tests.proto import corpus

EACH = 1_850
"""How many plans are spoilt in each of the eleven ways."""
LARGEST = 1_000
"""The size in bytes of the largest plan that is spoilt."""
MAX_CALLS = 50_000
"""How many calls of Python functions it may take to read a plan of that size, to write it and to read it again."""

REQUIRED = "nullability: NULLABILITY_REQUIRED"
LITERALS = (
    "timestamp: 5",
    "timestamp_tz: 6",
    "time: 7",
    "interval_day_to_second { days: 1 seconds: 2 microseconds: 3 }",
)
OLD = text_format.Parse(
    f"""
    version {{ minor_number: 40 }}
    extension_uris {{ extension_uri_anchor: 1 uri: "/functions_arithmetic.yaml" }}
    extensions {{ extension_function {{ extension_uri_reference: 1 function_anchor: 1 name: "add:i64_i64" }} }}
    relations {{ root {{ names: ["a", "b", "c", "d", "e", "f"] input {{ fetch {{ offset: 1 count: 2 input {{ project {{
      input {{ read {{ named_table {{ names: "t" }}
        base_schema {{ names: "a" struct {{ types {{ i64 {{ {REQUIRED} }} }} {REQUIRED} }} }} }} }}
      {" ".join(f"expressions {{ literal {{ {literal} }} }}" for literal in LITERALS)}
      expressions {{ scalar_function {{ function_reference: 1 output_type {{ i64 {{ {REQUIRED} }} }}
        args {{ literal {{ i64: 1 }} }} args {{ literal {{ i64: 2 }} }} }} }}
    }} }} }} }} }} }}
    """,
    old_plan_class()(),
)
"""A plan of an old version: what it says is said otherwise today."""


@attrs.frozen(slots=False)
class Sample:
    """A good plan, or extended expression."""

    message: Message

    @functools.cached_property
    def data(self) -> bytes:
        return self.message.SerializeToString(deterministic=True)

    @functools.cached_property
    def messages(self) -> list[Message]:
        return messages_in(self.message)

    @property
    def extended(self) -> bool:
        return isinstance(self.message, ExtendedMessage)


@functools.cache
def samples() -> tuple[Sample, ...]:
    """The plans to spoil."""
    plans = (*map(encode_plan, corpus.whole()), *map(encode_plan, corpus.drawn()))
    found = [*map(Sample, (OLD, *plans)), *map(Sample, map(encode_extended_expression, corpus.extended()))]
    return tuple(sample for sample in found if len(sample.data) <= LARGEST)


@functools.cache
def choosers() -> tuple[Sample, ...]:
    """Those of the plans that have messages of ours, for what has no field."""
    return tuple(sample for sample in samples() if STRUCT_URL.encode() in sample.data)


@functools.cache
def texts() -> tuple[tuple[Sample, str], ...]:
    """Those of the plans that have a form in JSON, with that: not those with messages that only others know."""
    found = []
    for sample in samples():
        try:
            found.append((sample, json_format.MessageToJson(sample.message, indent=None)))
        except TypeError:
            continue
    return tuple(found)


# --- ways of spoiling bytes

Spoil = Callable[[random.Random, Sample], bytes]


def flipped(rnd: random.Random, sample: Sample) -> bytes:
    """A few bits are other ones."""
    data = bytearray(sample.data)
    for _ in range(rnd.choice((1, 1, 2, 8))):
        data[rnd.randrange(len(data))] ^= 1 << rnd.randrange(8)
    return bytes(data)


def cut(rnd: random.Random, sample: Sample) -> bytes:
    """The end is missing."""
    return sample.data[: rnd.randrange(len(sample.data))]


def moved(rnd: random.Random, sample: Sample) -> bytes:
    """A range is missing, stands twice, or stands elsewhere."""
    data = sample.data
    start, to = rnd.randrange(len(data)), rnd.randrange(len(data))
    part = data[start : start + rnd.choice((1, 2, 4, 16, 64))]
    rest = data if rnd.random() < 0.5 else data[:start] + data[start + len(part) :]
    return rest[:to] + part * rnd.choice((0, 1, 1, 3)) + rest[to:]


def spliced(rnd: random.Random, sample: Sample) -> bytes:
    """The rest is that of another plan; or all of it comes on top, which merges the two."""
    data, other = sample.data, rnd.choice(samples()).data
    if rnd.random() < 0.3:
        return data + other
    return data[: rnd.randrange(len(data))] + other[rnd.randrange(len(other)) :]


VARINTS = tuple(bytes([0xFF] * length + [last]) for length in (1, 4, 8, 9) for last in (1, 0x7F))


def blown_up(rnd: random.Random, sample: Sample) -> bytes:
    """A byte, perhaps a length or a number, is a large number."""
    data = sample.data
    at = rnd.randrange(len(data))
    return data[:at] + rnd.choice(VARINTS) + data[at + 1 :]


def noise(rnd: random.Random, sample: Sample) -> bytes:
    """There is nothing of the plan, or a little of its beginning."""
    return sample.data[: rnd.choice((0, 0, 2, 8, 32))] + rnd.randbytes(rnd.randrange(64))


# --- ways of spoiling messages: what comes out is well formed


def messages_in(root: Message) -> list[Message]:
    """The message and all that stand in it."""
    found = [root]
    for message in found:
        for field, value in message.ListFields():
            if field.message_type is not None:
                found.extend(value if field.is_repeated else [value])
    return found


def copy_of(sample: Sample) -> Any:
    """The message of a sample, to be changed."""
    return type(sample.message).FromString(sample.data)


def bereft(rnd: random.Random, sample: Sample) -> bytes:
    """Some fields are missing, or have fewer items."""
    plan = copy_of(sample)
    for _ in range(rnd.choice((1, 1, 2, 4))):
        message = rnd.choice(messages_in(plan))
        if fields := message.ListFields():
            field, value = rnd.choice(fields)
            if field.is_repeated and rnd.random() < 0.5:
                del value[rnd.randrange(len(value))]
            else:
                message.ClearField(field.name)
    return bytes(plan.SerializeToString())


EXTREMES: dict[int, tuple[Any, ...]] = {
    FieldDescriptor.CPPTYPE_BOOL: (False, True),
    FieldDescriptor.CPPTYPE_ENUM: (0, 1, 2, 3, 7, -1, 99, 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT32: (0, 1, -1, 5, 39, 2**31 - 1, -(2**31)),
    FieldDescriptor.CPPTYPE_INT64: (0, 1, -1, 5, 2**63 - 1, -(2**63)),
    FieldDescriptor.CPPTYPE_UINT32: (0, 1, 2, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 1, 2**64 - 1),
    FieldDescriptor.CPPTYPE_FLOAT: (0.0, -1.0, float("nan"), float("inf")),
    FieldDescriptor.CPPTYPE_DOUBLE: (0.0, -1.0, float("nan"), float("inf")),
}


def extreme(rnd: random.Random, sample: Sample) -> bytes:
    """Some values are the largest, the smallest, or not of a kind that makes sense."""
    plan = copy_of(sample)
    for _ in range(rnd.choice((1, 1, 2, 4))):
        message = rnd.choice(messages_in(plan))
        of_values = [field for field in message.DESCRIPTOR.fields if field.message_type is None]
        if not of_values:
            continue
        field = rnd.choice(of_values)
        if field.type == FieldDescriptor.TYPE_BYTES:
            value: Any = rnd.choice((b"", b"x", b"\xff" * 16))
        else:
            value = rnd.choice(EXTREMES.get(field.cpp_type, ("", "x", "\0", "add", "equal:any_any")))
        if field.is_repeated:
            getattr(message, field.name).extend([value] * rnd.choice((1, 3)))
        else:
            setattr(message, field.name, value)
    return bytes(plan.SerializeToString())


def exchanged(rnd: random.Random, sample: Sample) -> bytes:
    """Some messages are others of their kind, from the same plan or from another."""
    plan = copy_of(sample)
    others = rnd.choice(samples()).messages
    for _ in range(rnd.choice((1, 1, 2, 4))):
        mine = messages_in(plan)
        message = rnd.choice(mine)
        other = rnd.choice([each for each in (*mine, *others) if each.DESCRIPTOR is message.DESCRIPTOR])
        copied = type(message).FromString(other.SerializeToString())
        if rnd.random() < 0.3:
            message.MergeFrom(copied)
        else:
            message.CopyFrom(copied)
    return bytes(plan.SerializeToString())


# --- ways of spoiling JSON

JSON_VALUES: tuple[Any, ...] = (None, True, -1, 2**64, 1e400, "", "x", "NaN", "9" * 50, [], {}, [{}], {"input": {}})


def spoilt_json(rnd: random.Random, text: str) -> str:
    """Some values, keys or characters are missing or other ones."""
    if rnd.random() < 0.3:
        at = rnd.randrange(len(text))
        return text[:at] + rnd.choice(("", "[", '"', "{}", "\\u0000", "1e999", text[at : at + 9] * 2)) + text[at + 1 :]
    plan = json.loads(text)
    spoil_values(rnd, plan)
    return json.dumps(plan)


def spoil_values(rnd: random.Random, root: Any) -> None:
    """Some values or keys are missing or other ones."""
    for _ in range(rnd.choice((1, 1, 2))):
        inside = list(_containers(root))
        container: Any = rnd.choice(inside)
        if not container:
            continue
        key = rnd.choice(list(container) if isinstance(container, dict) else range(len(container)))
        match rnd.randrange(3):
            case 0:
                del container[key]
            case 1:
                container[key] = copy.deepcopy(rnd.choice(JSON_VALUES))  # the next spoiling may change it
            case _:
                container[key] = json.loads(json.dumps(rnd.choice(inside)))


def _containers(root: Any) -> Iterator[Any]:
    stack = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, dict | list):
            yield value
            stack.extend(value.values() if isinstance(value, dict) else value)


def choosing(rnd: random.Random, sample: Sample) -> bytes:
    """Messages of ours, for what has no field, hold something else."""
    plan = copy_of(sample)
    for message in messages_in(plan):
        if isinstance(message, AnyProto) and (choices := choices_in(decode_any(message))) is not None:
            said = {"": choices}
            spoil_values(rnd, said)
            message.value = message_of(said.get("")).value  # type: ignore[arg-type]  # it may be anything
    return bytes(plan.SerializeToString())


# --- reading


def read_and_write(source: bytes | str, extended: bool) -> bool:
    """Read a plan that may be none. Whatever is read can be written, and read again as the same.

    Returns whether it was read.
    """
    try:
        if extended:
            _read_extended(source)
        else:
            _read_plan(source)
    except (PlanFormatError, UnsupportedError):
        return False
    return True


def _read_plan(source: bytes | str) -> None:
    plan, _ = from_json(source) if isinstance(source, str) else from_bytes(source)
    again, _ = from_bytes(to_bytes(encode_plan(plan)))
    assert canonical_plan(again) == canonical_plan(plan)


def _read_extended(source: bytes | str) -> None:
    plan, _ = extended_from_json(source) if isinstance(source, str) else extended_from_bytes(source)
    sent = encode_extended_expression(plan).SerializeToString(deterministic=True)
    again, _ = extended_from_bytes(sent)
    assert encode_extended_expression(again).SerializeToString(deterministic=True) == sent


def done(source: bytes | str, extended: bool) -> bool:
    """`read_and_write`, which must not take many calls; an error tells what was read."""
    profile = cProfile.Profile(builtins=False)
    try:
        with profile:
            read = read_and_write(source, extended)
    except BaseException as error:
        error.add_note(f"while reading {source!r}")
        raise
    calls = sum(entry.callcount for entry in profile.getstats())
    assert calls <= MAX_CALLS, source
    return read


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """All good plans, read once: what the catalogue does when it is first asked is not the work of one plan."""
    for sample in samples():
        assert read_and_write(sample.data, sample.extended)
    for sample, text in texts():
        assert read_and_write(text, sample.extended)


def spoilt(kind: str) -> Iterator[tuple[bytes | str, bool]]:
    """The spoilt plans of one kind, and whether each is to be read as an extended expression."""
    rnd = random.Random(kind)
    for _ in range(EACH):
        if kind == "json":
            sample, text = rnd.choice(texts())
            yield spoilt_json(rnd, text), sample.extended
        else:
            sample = rnd.choice(choosers() if kind == "choosing" else samples())
            yield BYTES[kind](rnd, sample), sample.extended is (rnd.random() > 0.01)  # sometimes the other one


BYTES: dict[str, Spoil] = {
    spoil.__name__: spoil
    for spoil in (flipped, cut, moved, spliced, blown_up, noise, bereft, extreme, exchanged, choosing)
}


@pytest.mark.parametrize("kind", [*BYTES, "json"])
def test_spoilt_plans_are_read_or_refused(kind: str) -> None:
    outcomes = [done(*each) for each in spoilt(kind)]
    assert len(outcomes) == EACH
    assert not all(outcomes)  # some were spoilt
