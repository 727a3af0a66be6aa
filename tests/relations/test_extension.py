"""Extension relations: the schema they are declared to have (their properties are in test_properties.py)."""

from __future__ import annotations

import typing

import pytest
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.common import Common, Computation, Stats
from substrait_dsl.algebra.extensions import AdvancedExtension, AnyMessage
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError
from tests.nodes import DETAIL, leaf, schema, text
from tests.support import refused

ONE, OTHER = leaf("a: i64"), leaf("b: string")
COLUMNS = schema("x: date, y: i64?")


@pytest.mark.parametrize(
    ("rel", "inputs"),
    [
        (r.ExtensionLeaf(DETAIL, COLUMNS), ()),
        (r.ExtensionSingle(DETAIL, COLUMNS, input=ONE), (ONE,)),
        (r.ExtensionMulti(DETAIL, COLUMNS, relations=(ONE, OTHER, ONE)), (ONE, OTHER, ONE)),
        (r.ExtensionMulti(DETAIL, COLUMNS, relations=()), ()),
    ],
)
def test_the_output_is_what_is_declared(rel: r.Rel, inputs: tuple[r.Rel, ...]) -> None:
    assert text(rel) == "x: date, y: i64?"
    assert rel.inputs == inputs
    assert text(r.emit(rel, [1])) == "y: i64?"


def test_the_message_is_part_of_what_a_relation_is() -> None:
    other = AnyMessage(DETAIL.type_url, b"\x08\x02")
    assert r.ExtensionLeaf(DETAIL, COLUMNS) != r.ExtensionLeaf(other, COLUMNS)
    assert r.ExtensionLeaf(DETAIL, COLUMNS) != r.ExtensionLeaf(DETAIL, schema("x: date, y: i64"))


def test_messages_are_bytes_of_a_type() -> None:
    wrong: typing.Any = 7
    with refused(InvalidArgumentError, "type_url of AnyMessage", "text", "7"):
        AnyMessage(wrong)
    with refused(InvalidArgumentError, "value of AnyMessage", "bytes", "7"):
        AnyMessage("acme.Thing", wrong)
    with refused(InvalidArgumentError, "optimizations of AdvancedExtension", "AnyMessage", "7"):
        AdvancedExtension((wrong,))
    with refused(InvalidArgumentError, "enhancement of AdvancedExtension", "AnyMessage", "7"):
        AdvancedExtension((), wrong)


def test_messages_of_protobuf_are_packed() -> None:
    seconds, packed = Duration(seconds=3), Any()
    packed.Pack(seconds)
    message = AnyMessage("type.googleapis.com/google.protobuf.Duration", b"\x08\x03")  # field 1 is the varint 3
    assert AdvancedExtension((seconds, packed, message), seconds) == AdvancedExtension((message,) * 3, message)
    wrong: typing.Any = [seconds]
    with refused(InvalidArgumentError, "optimizations of AdvancedExtension", "a tuple"):
        AdvancedExtension(wrong)
    wrong = Duration
    with refused(InvalidArgumentError, "enhancement of AdvancedExtension", "a protobuf message"):
        AdvancedExtension((), wrong)


def test_hints_that_cannot_be() -> None:
    wrong: typing.Any = "hash"
    with refused(InvalidArgumentError, "row_count", "negative", "-1"):
        Stats(row_count=-1)
    with refused(InvalidArgumentError, "record_size", "negative", "-1"):
        Stats(record_size=-1)
    with refused(InvalidChoiceError, "type of computation", '"hashtable", "bloom_filter"'):
        Computation(1, wrong)


def test_an_emit_has_no_hints_of_its_own() -> None:
    with pytest.raises(ValueError, match="belong to the relation that it is of"):
        r.Emit(ONE, (0,), common=Common())
