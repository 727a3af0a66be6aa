"""Messages of others in JSON: they come back equal, or are refused by name, with the place."""

from __future__ import annotations

import math
from typing import Any

import pytest
from google.protobuf import any_pb2, duration_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.message import Message

import substrait_dsl as sd
from tests.support import table

GOOGLE = "type.googleapis.com/google.protobuf."
T = table("a: i64", "t")


def struct(**values: Any) -> Message:
    made = struct_pb2.Struct()
    made.update(values)
    return made


def packed(message: Message, times: int) -> Message:
    for _ in range(times):
        outer = any_pb2.Any()
        outer.Pack(message)
        message = outer
    return message


def plan_with(type_url: str, value: bytes) -> sd.Plan:
    extension = sd.AdvancedExtension((sd.AnyMessage(type_url, value),))
    return sd.Plan(T.with_extension(common=extension))


UNKNOWN_FIELD = bytes([8 * 15, 1])

SAID = {
    "Duration": duration_pb2.Duration(seconds=5, nanos=1),
    "Timestamp": timestamp_pb2.Timestamp(seconds=-62135596800),
    "FieldMask": field_mask_pb2.FieldMask(paths=["a_b", "c"]),
    "Value": struct_pb2.Value(null_value=struct_pb2.NULL_VALUE),
    "Int64Value": wrappers_pb2.Int64Value(value=2**63 - 1),
    "DoubleValue": wrappers_pb2.DoubleValue(value=-math.inf),
    "BytesValue": wrappers_pb2.BytesValue(value=bytes(range(256))),
    "Empty": any_pb2.Any(),
    "Any": packed(wrappers_pb2.Int32Value(value=1), 3),
}


@pytest.mark.parametrize("kind", SAID)
def test_what_json_can_say_comes_back(kind: str) -> None:
    plan = plan_with(GOOGLE + kind, SAID[kind].SerializeToString())
    assert sd.Plan.from_json(plan.to_json()) == plan


def test_the_order_of_a_map_does_not_matter() -> None:
    """Bytes of equal messages differ by it, from process to process."""
    message = struct(**{f"k{number}": number for number in range(30)}, more=[1, None, {"x": True}], zero=-0.0)
    for data in (message.SerializeToString(), message.SerializeToString(deterministic=True)):
        text = plan_with(GOOGLE + "Struct", data).to_json()
        (again,) = (
            sd.Plan.from_json(text).to_proto().relations[0].root.input.read.common.advanced_extension.optimization
        )
        read = struct_pb2.Struct()
        assert again.Unpack(read)
        assert read == message


def test_bytes_that_are_not_the_shortest_are_the_same_message() -> None:
    text = plan_with(GOOGLE + "Duration", bytes([8, 0x85, 0x80, 0x00])).to_json()
    assert sd.Plan.from_json(text) == plan_with(GOOGLE + "Duration", bytes([8, 5]))


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        ("Duration", b"\xff\xff", "its bytes are no message of that type"),
        ("Duration", UNKNOWN_FIELD, "it has what JSON has no words for, such as a field that is not known here"),
        ("Empty", UNKNOWN_FIELD, "it has what JSON has no words for"),
        ("Any", any_pb2.Any(type_url=f"{GOOGLE}Duration", value=UNKNOWN_FIELD), "it has what JSON has no words for"),
        ("Value", b"", "it has what JSON has no words for"),
        ("Struct", struct_pb2.Struct(fields={"a": struct_pb2.Value()}), "it has what JSON has no words for"),
        ("FieldMask", field_mask_pb2.FieldMask(paths=["a,b"]), "it has what JSON has no words for"),
        ("FieldMask", field_mask_pb2.FieldMask(paths=["aB"]), "must not contain uppercase letters"),
        ("Struct", struct(a=math.inf), "Infinity"),
        ("Struct", struct(a=[{"b": math.nan}]), "NaN"),
        ("Duration", duration_pb2.Duration(seconds=10**15), "must be in range"),
        ("Duration", duration_pb2.Duration(seconds=5, nanos=-1), "Sign mismatch"),
        ("Timestamp", timestamp_pb2.Timestamp(seconds=10**15), "must be in range"),
        ("Timestamp", timestamp_pb2.Timestamp(nanos=-5), "Timestamp is not valid"),
        ("FieldDescriptorProto", bytes([5 * 8, 99]), "it has what JSON has no words for"),  # no such member of its enum
        ("Any", packed(wrappers_pb2.Int32Value(value=1), 150), "too deep"),
        ("NoSuchType", b"", "its type is not known here"),
        ("Any", any_pb2.Any(value=b"x"), ""),
    ],
)
def test_what_json_cannot_say_is_refused(kind: str, value: bytes | Message, problem: str) -> None:
    plan = plan_with(GOOGLE + kind, value if isinstance(value, bytes) else value.SerializeToString())
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan  # the binary form takes it as it is
    with pytest.raises(sd.errors.UnsupportedError, match="hint: write the binary form") as caught:
        plan.to_json()
    assert f'JSON cannot hold the extension message "{GOOGLE}{kind}": ' in caught.value.message
    assert problem in caught.value.message
    assert caught.value.path == "relations[0].root.input.read.common.advanced_extension.optimization[0]"


@pytest.mark.parametrize("url", ["", "x", "/"])
def test_messages_without_a_type(url: str) -> None:
    with pytest.raises(sd.errors.UnsupportedError, match=f'message "{url}": its type is not known here'):
        plan_with(url, b"\x08\x05").to_json()


def test_every_place_of_a_message_is_looked_at() -> None:
    """Also where it is no extension of a relation, and in extended expressions."""
    message = sd.AnyMessage(f"{GOOGLE}Duration", UNKNOWN_FIELD)
    leaf = sd.extension_leaf(message, {"a": "i64"}).to_plan()
    of_plan = sd.Plan(T, advanced_extensions=sd.AdvancedExtension((message,)))
    extended = sd.ExtendedExpression(T, b=lambda t: t.a + 1, advanced_extensions=sd.AdvancedExtension((message,)))
    paths = ("relations[0].root.input.extension_leaf.detail", *["advanced_extensions.optimization[0]"] * 2)
    documents: tuple[sd.Plan | sd.ExtendedExpression, ...] = (leaf, of_plan, extended)
    for document, path in zip(documents, paths, strict=True):
        with pytest.raises(sd.errors.UnsupportedError, match="it has what JSON has no words for") as caught:
            document.to_json()
        assert caught.value.path == path
