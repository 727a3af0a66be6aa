"""Literals read from messages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal, literal
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.errors import InvalidArgumentError, LiteralError, PlanFormatError, TypeMismatchError
from substrait_dsl.proto.declarations import Declarations
from substrait_dsl.proto.literals import LITERAL_DECODERS, decode_literal, encode_literal
from tests.proto.decoders import decoder_of
from tests.proto.plans import message
from tests.proto.test_decode_types import DECLARED
from tests.proto.test_literals import MESSAGES, N, R
from tests.strategies import any_literals
from tests.support import refused


def read(text: str) -> Literal:
    return decode_literal(decoder_of(message(Plan, DECLARED)), message(pb.Expression.Literal, text))


@pytest.mark.parametrize(("value", "type_", "text"), MESSAGES, ids=repr)
def test_every_message_of_algebra_proto_is_its_literal(value: Any, type_: t.Type, text: str) -> None:
    assert read(text) == literal(value, type_)


@given(any_literals())
def test_any_literal_is_read_as_it_was_written(constant: Literal) -> None:
    plan, sent = Plan(), pb.Expression.Literal()
    encode_literal(Declarations(plan, 99), constant, sent)
    decoder = decoder_of(Plan.FromString(plan.SerializeToString()))
    assert decode_literal(decoder, pb.Expression.Literal.FromString(sent.SerializeToString())) == constant
    assert not len(decoder.reports)


def test_every_kind_of_literal_is_read() -> None:
    fields = {field.name for field in pb.Expression.Literal.DESCRIPTOR.oneofs_by_name["literal_type"].fields}
    assert fields == LITERAL_DECODERS.keys()


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("list { values { i8: 1 } values { i8: 2 } }", t.List(t.I8())),
        (f"list {{ values {{ i8: 1 }} values {{ null {{ i8 {{ {N} }} }} }} }}", t.List(t.I8(nullable=True))),
        ("list { values { i8: 1 nullable: true } values { i8: 2 } } nullable: true",
         t.List(t.I8(nullable=True), nullable=True)),
        (f'map {{ key_values {{ key {{ string: "a" }} value {{ null {{ i8 {{ {N} }} }} }} }} '
         'key_values { key { string: "a" } value { i8: 1 } } }', t.Map(t.String(), t.I8(nullable=True))),
    ],
)  # fmt: skip
def test_the_type_of_a_list_or_map_follows_from_all_of_its_items(text: str, type_: t.Type) -> None:
    read_literal = read(text)
    assert read_literal.type == type_
    assert read_literal == literal(read_literal, type_)


def test_a_user_defined_literal_may_name_its_type_by_an_alias() -> None:
    declared = message(
        Plan,
        'extension_urns { extension_urn_anchor: 7 urn: "extension:a:b" }'
        'extensions { extension_type { extension_urn_reference: 7 type_anchor: 1 name: "point" } }'
        "type_aliases { type_alias_anchor: 2 type { user_defined { type_reference: 1 "
        f"type_parameters {{ integer: 3 }} {R} }} }} }}"
        f"type_aliases {{ type_alias_anchor: 3 type {{ i8 {{ {R} }} }} }}",
    )
    sent = message(pb.Expression.Literal, 'user_defined { type_alias_reference: 2 value { type_url: "a/b" } }')
    assert decode_literal(decoder_of(declared), sent) == Literal(
        AnyMessage("a/b"), t.UserDefined("extension:a:b", "point", (3,))
    )
    sent.user_defined.type_alias_reference = 3
    with refused(LiteralError, "one type, not for i8"):
        decode_literal(decoder_of(declared), sent)


SIXTEEN = r"\000" * 16


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", PlanFormatError, "has no value"),
        ("nullable: true", PlanFormatError, "has no value"),
        ("i8: 128", LiteralError, "it holds -128 to 127"),
        ("i16: -32769", LiteralError, "it holds -32768 to 32767"),
        ("date: -354286", LiteralError, "1000 to 9999"),  # the day before 1000-01-01, which is day -354285
        ("date: 2932897", LiteralError, "1000 to 9999"),  # the day after 9999-12-31, which is day 2932896
        ("date: -2147483648", LiteralError, "1000 to 9999"),
        ('fixed_char: ""', InvalidArgumentError, "length of FixedChar"),
        ('var_char { value: "abcd" length: 3 }', LiteralError, "4 characters"),
        ('uuid: "abc"', LiteralError, "16 bytes, not 3"),
        ('decimal { value: "a" precision: 3 scale: 0 }', LiteralError, "16 bytes, not 1"),
        (f'decimal {{ value: "{SIXTEEN}" precision: 40 scale: 0 }}', InvalidArgumentError, "1 to 38"),
        (r'decimal { value: "\144' + r"\000" * 15 + '" precision: 2 scale: 0 }', LiteralError, "2 digits before"),
        ("precision_time { precision: 0 value: 86400 }", LiteralError, "no time of a day"),
        ("precision_time { precision: 0 value: -1 }", LiteralError, "no time of a day"),
        ("precision_timestamp { precision: 13 value: 0 }", InvalidArgumentError, "0 to 12"),
        ("interval_year_to_month { years: 10001 }", LiteralError, "at most 10000"),
        ("interval_day_to_second { precision: 3 subseconds: 1000 }", LiteralError, "a second or more"),
        (f"null {{ i8 {{ {R} }} }}", LiteralError, "which is required"),
        ("list {}", PlanFormatError, "the items of a list are missing"),
        ("map {}", PlanFormatError, "the keys of a map are missing"),
        (f"map {{ key_values {{ key {{ null {{ i8 {{ {N} }} }} }} value {{ i8: 1 }} }} }}", LiteralError, "never NULL"),
        ("list { values { i8: 1 } values { i16: 1 } }", LiteralError, "i8 and i16"),
        ('map { key_values { key { i8: 1 } value { i8: 1 } } key_values { key { i8: 1 } value { string: "" } } }',
         LiteralError, "i8 and string"),
        ("user_defined { type_reference: 1 }", PlanFormatError, "u!point has no value"),
        ("user_defined { type_reference: 2 struct {} }", PlanFormatError, "type 2, which it does not declare"),
        ("i64: -1 type_variation_reference: 3", LiteralError, "of an unsigned type it would be another number"),
        ("struct { fields { i8: 1 } fields {} }", PlanFormatError, "has no value"),
    ],
)  # fmt: skip
def test_what_is_no_literal_is_refused(text: str, error: type[sd.SubstraitDslError], said: str) -> None:
    with refused(error, said):
        read(text)


def test_the_first_and_the_last_date() -> None:
    assert str(read("date: -354285").value) == "1000-01-01"
    assert str(read("date: 2932896").value) == "9999-12-31"


def test_the_keys_of_a_map_are_never_null_and_may_repeat() -> None:
    """Spec decision 57."""
    type_ = t.Map(t.I8(nullable=True), t.I8())
    key, one, two = literal(7, type_.key), literal(1, t.I8()), literal(2, t.I8())
    pair = "key_values {{ key {{ i8: 7 nullable: true }} value {{ i8: {} }} }}"
    assert read(f"map {{ {pair.format(1)} {pair.format(2)} }}") == Literal(((key, one), (key, two)), type_)
    with refused(LiteralError, "the keys of a map are never NULL"):
        Literal(((literal(None, type_.key), one),), type_)
    with refused(LiteralError, "the keys of a map are never NULL"):
        literal({None: 1}, type_)
    with refused(TypeMismatchError, "map_of", "the keys of a map are never NULL"):
        sd.map_of({None: 1})


@pytest.mark.parametrize("beside", ["", "nullable: true", "type_variation_reference: 3"])
def test_a_null_goes_by_its_type_alone(beside: str) -> None:
    decoder = decoder_of()
    sent = message(pb.Expression.Literal, f"null {{ i8 {{ {N} }} }} {beside}")
    assert decode_literal(decoder, sent) == literal(None, t.I8(nullable=True))
    assert not [*decoder.reports]


def test_an_empty_list_goes_by_its_type_alone() -> None:
    decoder = decoder_of()
    sent = message(pb.Expression.Literal, f"empty_list {{ type {{ i8 {{ {R} }} }} {R} }} nullable: true")
    assert decode_literal(decoder, sent) == Literal((), t.List(t.I8()))
    (report,) = decoder.reports
    assert "its type list<i8> is not" in report.text
    assert list(report.messages.values()) == [sent]
