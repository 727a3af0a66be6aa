"""Literals as messages, against values worked out by hand."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Compound, DaySeconds, Literal, YearMonths, literal
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.errors import LiteralError, PlanFormatError
from tests.proto.plans import encoded_expression, i64, message

R = "nullability: NULLABILITY_REQUIRED"
N = "nullability: NULLABILITY_NULLABLE"
DICT4 = t.TypeVariation("extension:a:b", "dict4")


def encoded_literal(value: Any, type_: t.Type) -> pb.Expression.Literal:
    return encoded_expression(literal(value, type_)).literal


MESSAGES: list[tuple[Any, t.Type, str]] = [
    (True, t.Boolean(), "boolean: true"),
    (False, t.Boolean(), "boolean: false"),
    (-128, t.I8(), "i8: -128"),
    (32767, t.I16(), "i16: 32767"),
    (0, t.I32(), "i32: 0"),
    (-(2**63), t.I64(), "i64: -9223372036854775808"),
    (7, t.I64(nullable=True), "i64: 7 nullable: true"),
    (1.5, t.FP32(), "fp32: 1.5"),
    (-0.0, t.FP64(), "fp64: -0.0"),
    (float("inf"), t.FP64(), "fp64: inf"),
    ("\u00e9\n", t.String(), r'string: "\303\251\n"'),
    (b"\x00\xff", t.Binary(), r'binary: "\000\377"'),
    (dt.date(1970, 1, 1), t.Date(), "date: 0"),
    (dt.date(2000, 3, 1), t.Date(), "date: 11017"),  # 30 years, 7 of them leap, and 60 days: 10950 + 7 + 60
    (dt.date(1969, 12, 31), t.Date(), "date: -1"),
    (YearMonths(-1, 2), t.IntervalYear(), "interval_year_to_month { years: -1 months: 2 }"),
    (
        dt.timedelta(days=2, seconds=3, microseconds=4),
        t.IntervalDay(6),
        "interval_day_to_second { days: 2 seconds: 3 precision: 6 subseconds: 4 }",
    ),
    (dt.timedelta(days=1), t.IntervalDay(0), "interval_day_to_second { days: 1 precision: 0 }"),
    (
        Compound(YearMonths(1, 2), DaySeconds(3, 4, 5)),
        t.IntervalCompound(9),
        "interval_compound { interval_year_to_month { years: 1 months: 2 } "
        "interval_day_to_second { days: 3 seconds: 4 precision: 9 subseconds: 5 } }",
    ),
    ("abc", t.FixedChar(3), 'fixed_char: "abc"'),
    ("abc", t.VarChar(10), 'var_char { value: "abc" length: 10 }'),
    (b"ab", t.FixedBinary(2), 'fixed_binary: "ab"'),
    # 12.34 is 1234 = 4 * 256 + 210 (octal 322)
    (
        decimal.Decimal("12.34"),
        t.Decimal(15, 2),
        r'decimal { value: "\322\004' + r"\000" * 14 + '" precision: 15 scale: 2 }',
    ),
    # -1 in two's complement is all ones
    (decimal.Decimal(-1), t.Decimal(38, 0), r'decimal { value: "' + r"\377" * 16 + '" precision: 38 scale: 0 }'),
    (dt.time(1, 2, 3, 4000), t.PrecisionTime(3), "precision_time { precision: 3 value: 3723004 }"),
    (
        dt.datetime(1970, 1, 2, 0, 0, 1),
        t.PrecisionTimestamp(6),
        "precision_timestamp { precision: 6 value: 86401000000 }",
    ),
    (
        dt.datetime(1970, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=1))),
        t.PrecisionTimestampTZ(0),
        "precision_timestamp_tz { precision: 0 value: 3600 }",
    ),
    (uuid.UUID(int=1), t.UUID(), 'uuid: "' + r"\000" * 15 + r'\001"'),
    (
        (1, None),
        t.Struct((t.I8(), t.String(nullable=True))),
        f"struct {{ fields {{ i8: 1 }} fields {{ null {{ string {{ {N} }} }} }} }}",
    ),
    ((), t.Struct(()), "struct {}"),
    (
        [1, 2],
        t.List(t.I32(nullable=True)),
        "list { values { i32: 1 nullable: true } values { i32: 2 nullable: true } }",
    ),
    ([], t.List(t.I32()), f"empty_list {{ type {{ i32 {{ {R} }} }} {R} }}"),
    ({"k": 1}, t.Map(t.String(), t.I8()), 'map { key_values { key { string: "k" } value { i8: 1 } } }'),
    ({}, t.Map(t.I8(), t.I8()), f"empty_map {{ key {{ i8 {{ {R} }} }} value {{ i8 {{ {R} }} }} {R} }}"),
    (None, t.Decimal(9, 2, nullable=True), f"null {{ decimal {{ precision: 9 scale: 2 {N} }} }}"),
    (None, t.List(t.I8(), nullable=True), f"null {{ list {{ type {{ i8 {{ {R} }} }} {N} }} }}"),
    (
        (i64(3), i64(4)),
        t.UserDefined("extension:a:b", "point", (2,)),
        "user_defined { type_reference: 1 type_parameters { integer: 2 } "
        "struct { fields { i64: 3 } fields { i64: 4 } } }",
    ),
    (
        AnyMessage("type.example/acme.Point", b"\x08\x03"),
        t.UserDefined("extension:a:b", "point"),
        'user_defined { type_reference: 1 value { type_url: "type.example/acme.Point" value: "\\010\\003" } }',
    ),
    ("x", t.String(variation=DICT4), 'string: "x" type_variation_reference: 1'),
]
"""Python values, types, and what algebra.proto writes for a literal of the two."""


@pytest.mark.parametrize(("value", "type_", "text"), MESSAGES, ids=repr)
def test_every_literal_has_the_message_of_algebra_proto(value: Any, type_: t.Type, text: str) -> None:
    assert encoded_literal(value, type_) == message(pb.Expression.Literal, text)


@given(st.integers(-(10**38) + 1, 10**38 - 1), st.integers(0, 38))
def test_a_decimal_is_its_unscaled_value_in_two_s_complement(unscaled: int, scale: int) -> None:
    value = decimal.Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -scale))
    type_ = t.Decimal(38, scale)  # type: ignore[type-var]  # any scale from 0 to 38
    sent = encoded_literal(value, type_).decimal
    assert len(sent.value) == 16
    assert sum(byte << 8 * place for place, byte in enumerate(sent.value)) == unscaled % 2**128


def test_a_moment_that_64_bits_cannot_count_is_refused() -> None:
    moment = Literal(2**63, t.PrecisionTimestamp(12))
    with pytest.raises(LiteralError, match="64 bits"):
        encoded_expression(moment)


def test_a_text_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(LiteralError, match="Unicode"):
        encoded_expression(literal("\ud800", t.String()))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
@example(3.4028234663852886e38)  # of which protobuf writes the shortest decimal, 3.4028235e+38, which it does not read
@example(-3.4028234663852886e38)
def test_every_fp32_comes_back_from_json(value: float) -> None:
    plan = sd.Plan(sd.read_virtual([(value, [value])], {"a": "fp32", "b": "list<fp32>"}))
    assert sd.Plan.from_json(plan.to_json()).to_proto() == plan.to_proto()


@pytest.mark.parametrize("number", ["3.4028236e+38", "1e39"])
def test_json_numbers_beyond_fp32_are_refused(number: str) -> None:
    plan = sd.Plan(sd.read_virtual([(1.5,)], {"a": "fp32"})).to_json()
    with pytest.raises(PlanFormatError, match="for fp32"):
        sd.Plan.from_json(plan.replace("1.5", number))
