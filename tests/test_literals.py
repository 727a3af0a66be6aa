"""Literals: each type takes the Python values that it holds exactly, and no others."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import math
import struct
import uuid
from decimal import Decimal as D
from typing import Any

import numpy as np
import pandas as pd
import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import given
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Compound, DaySeconds, Literal, YearMonths, literal, natural_type
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import LiteralError
from tests.support import refused

kind = sd.parse_type
UTC = dt.UTC
ONE_O_CLOCK = pd.Timestamp("1970-01-01 01:00:00.000000001")  # of nanoseconds, of which Python's own know none
ID = uuid.UUID("12345678-1234-5678-1234-567812345678")


class Colour(enum.IntEnum):
    """Numbers with names."""

    RED = 1


FITS: list[tuple[str, object, object]] = [  # type, Python value, value of the literal
    ("boolean", True, True),
    ("i8", -128, -128),
    ("i8", 127, 127),
    ("i16", -32768, -32768),
    ("i16", 32767, 32767),
    ("i32", -2147483648, -2147483648),
    ("i32", 2147483647, 2147483647),
    ("i64", -9223372036854775808, -9223372036854775808),
    ("i64", 9223372036854775807, 9223372036854775807),
    ("i64", Colour.RED, 1),
    ("fp64", 0.1, 0.1),
    ("fp64", np.float64(0.1), 0.1),
    ("decimal<5,2>", Colour.RED, D("1.00")),
    ("precision_timestamp<9>", ONE_O_CLOCK, 3_600_000_000_001),
    ("precision_timestamp_tz<9>", ONE_O_CLOCK.tz_localize("UTC"), 3_600_000_000_001),
    ("interval_day<9>", pd.Timedelta(1, "ns"), DaySeconds(0, 0, 1)),
    ("fp64", 3, 3.0),
    ("fp64", 2**53, 9007199254740992.0),
    ("fp32", 0.5, 0.5),
    ("fp32", 0.1, 0.10000000149011612),  # the fp32 nearest to 0.1
    ("fp32", 16777216, 16777216.0),
    ("fp32", 3.4028234663852886e38, 3.4028234663852886e38),  # the largest
    ("string", "", ""),
    ("varchar<3>", "abc", "abc"),
    ("varchar<3>", "", ""),
    ("fixedchar<3>", "abc", "abc"),
    ("varchar<2>", "\U0001f600\u00e9", "\U0001f600\u00e9"),  # spec decision 53: characters are code points
    ("fixedchar<1>", "\U0001f600", "\U0001f600"),
    ("binary", b"\x00\xff", b"\x00\xff"),
    ("binary", bytearray(b"ab"), b"ab"),
    ("fixedbinary<2>", b"ab", b"ab"),
    ("decimal<5,2>", D("123.45"), D("123.45")),
    ("decimal<5,2>", D("-999.99"), D("-999.99")),
    ("decimal<5,2>", D("1.5"), D("1.50")),
    ("decimal<5,2>", D("1.5000"), D("1.50")),
    ("decimal<5,2>", D("1e2"), D("100.00")),
    ("decimal<5,2>", 7, D("7.00")),
    ("decimal<38,0>", 10**38 - 1, D(10**38 - 1)),
    ("decimal<38,38>", D("0." + "9" * 38), D("0." + "9" * 38)),
    ("date", dt.date(1000, 1, 1), dt.date(1000, 1, 1)),
    ("date", dt.date(9999, 12, 31), dt.date(9999, 12, 31)),
    ("precision_time<0>", dt.time(1, 2, 3), 3723),
    ("precision_time<3>", dt.time(0, 0, 1, 500_000), 1500),
    ("precision_time<6>", dt.time(23, 59, 59, 999_999), 86_399_999_999),
    ("precision_time<9>", dt.time(0, 0, 1), 10**9),
    ("precision_timestamp<0>", dt.datetime(1970, 1, 2), 86_400),
    ("precision_timestamp<6>", dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), -1),
    ("precision_timestamp<3>", dt.datetime(1970, 1, 1, 0, 0, 0, 1000), 1),
    ("precision_timestamp<12>", dt.datetime(1970, 1, 1, 0, 0, 1), 10**12),
    ("precision_timestamp<9>", dt.datetime(2262, 1, 1), 9_214_646_400 * 10**9),
    ("precision_timestamp_tz<0>", dt.datetime(1970, 1, 1, tzinfo=UTC), 0),
    ("precision_timestamp_tz<0>", dt.datetime(1970, 1, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))), 0),
    ("interval_year", YearMonths(1, 6), YearMonths(1, 6)),
    ("interval_day<3>", dt.timedelta(days=2, seconds=3, milliseconds=4), DaySeconds(2, 3, 4)),
    ("interval_day<0>", dt.timedelta(seconds=-1), DaySeconds(-1, 86_399, 0)),
    ("interval_day<9>", DaySeconds(1, 2, 3), DaySeconds(1, 2, 3)),
    ("interval_compound<6>", Compound(YearMonths(1), DaySeconds(2)), Compound(YearMonths(1), DaySeconds(2))),
    ("uuid", ID, ID),
]


@pytest.mark.parametrize(("text", "value", "held"), FITS)
def test_values_that_fit(text: str, value: object, held: object) -> None:
    made = literal(value, kind(text))
    assert (made.value, type(made.value)) == (held, type(held))
    assert made.type == kind(text)


MISFITS: list[tuple[str, object, str]] = [  # type, Python value, what the error says
    ("i8", 128, "-128 to 127"),
    ("i8", -129, "-128 to 127"),
    ("i8", 300, "300 does not fit i8"),
    ("i16", 32768, "-32768 to 32767"),
    ("i32", 2**31, "-2147483648 to 2147483647"),
    ("i64", 2**63, "9223372036854775807"),
    ("i64", True, "takes an int, not a bool"),
    ("i64", 1.0, "takes an int, not a float"),
    ("i64", "1", "takes an int, not a str"),
    ("boolean", 1, "takes a bool, not an int"),
    ("fp64", 2**53 + 1, "takes a float"),
    ("fp64", "1", "takes a float, not a str"),
    ("fp64", D("0.1"), "takes a float, not a Decimal"),
    ("fp32", 1e39, "too large"),
    ("fp32", 16777217, "nearest fp32 is 16777216.0"),
    ("fp32", 0.1234567891, "nearest fp32"),
    ("string", 1, "takes a str, not an int"),
    ("string", b"x", "takes a str, not a bytes"),
    ("varchar<3>", "abcd", "4 characters"),
    ("fixedchar<5>", "abc", "3 characters, not 5"),
    ("fixedchar<1>", "e\u0301", "2 characters, not 1"),  # a letter and a combining accent
    ("binary", "x", "takes bytes, not a str"),
    ("fixedbinary<2>", b"abc", "3 bytes, not 2"),
    ("decimal<5,2>", D("0.125"), "more than 2 digits after the point"),
    ("decimal<5,2>", 123456, "more than 3 digits before the point"),
    ("decimal<5,2>", 10**400, "more than 3 digits before the point"),
    ("decimal<5,2>", D("1000"), "more than 3 digits before the point"),
    ("decimal<38,0>", 10**38, "more than 38 digits"),
    ("decimal<5,2>", D("NaN"), "not a number"),
    ("decimal<5,2>", D("Infinity"), "not a number"),
    ("decimal<5,2>", 1.5, 'write Decimal("1.5")'),
    ("decimal<5,2>", True, "not a bool"),
    ("date", dt.date(999, 12, 31), "years 1000 to 9999"),
    ("date", "2020-01-31", "datetime.date.fromisoformat('2020-01-31')"),
    ("date", dt.datetime(2020, 1, 31), "takes a datetime.date"),
    ("precision_time<3>", dt.time(0, 0, 0, 1), "more than 3 digits after the second"),
    ("precision_time<6>", dt.time(0, tzinfo=UTC), "without time zone"),
    ("precision_timestamp<0>", dt.datetime(2020, 1, 1, 0, 0, 0, 1), "more than 0 digits"),
    ("precision_timestamp<6>", dt.datetime(2020, 1, 1, tzinfo=UTC), "without time zone"),
    ("precision_timestamp_tz<6>", dt.datetime(2020, 1, 1), "with time zone"),
    ("precision_timestamp<6>", dt.date(2020, 1, 1), "takes a datetime.datetime"),
    ("precision_timestamp<12>", dt.datetime(2263, 1, 1), "64 bits"),  # 2**63 picoseconds are 107 days
    ("precision_timestamp_tz<9>", dt.datetime(2263, 1, 1, tzinfo=UTC), "64 bits"),  # ... nanoseconds 292 years
    ("interval_year", 3, "takes a YearMonths"),
    ("interval_day<3>", dt.timedelta(microseconds=1), "more than 3 digits"),
    ("interval_day<3>", 5, "takes a datetime.timedelta"),
    ("interval_compound<6>", YearMonths(1), "takes a Compound"),
    ("uuid", str(ID), "takes a UUID"),
    ("precision_timestamp<6>", ONE_O_CLOCK, "more than 6 digits after the second"),
    ("precision_timestamp<9>", pd.NaT, "it is no time"),
    ("interval_day<6>", pd.Timedelta(1, "ns"), "more than 6 digits after the second"),
    ("interval_day<6>", pd.NaT, "takes a datetime.timedelta"),
    ("list<i64>", "ab", "takes a list"),
    ("list<i64>", [1, None], "NULL does not fit i64"),
    ("list<i8>", [1, 300], "300 does not fit i8"),
    ("map<string, i64>", [("a", 1)], "takes a dict"),
    ("map<string, i64>", {"a": "b"}, "'b' does not fit i64"),
    ("struct<i64, string>", (1,), "2 fields, not 1"),
    ("struct<i64, string>", (1, 2), "2 does not fit string"),
    ("struct<i64>", 1, "takes a tuple or a dict"),
    ("unbound", 1, "no literals of unbound"),
    ("func<i64 -> i64>", len, "no literals of func"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "said"), MISFITS)
def test_values_that_do_not_fit(text: str, value: object, said: str) -> None:
    with refused(LiteralError, said):
        literal(value, kind(text))


def test_null_needs_a_nullable_type() -> None:
    assert literal(None, kind("i64?")).value is None
    with refused(LiteralError, "NULL does not fit i64, which is required"):
        literal(None, kind("i64"))


def test_a_value_of_a_nullable_type() -> None:
    assert literal(1, kind("i64?")).type == kind("i64?")


@given(st.integers())
def test_decimal_digits_are_counted_as_digits(number: int) -> None:
    """A decimal<10,0> holds the integers of at most 10 digits."""
    if abs(number) < 10**10:
        assert literal(number, sd.Decimal(10, 0)).value == number
    else:
        with refused(LiteralError, "more than 10 digits"):
            literal(number, sd.Decimal(10, 0))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9))
def test_a_decimal_is_kept_exactly_whatever_the_context(number: decimal.Decimal) -> None:
    with decimal.localcontext(prec=2):
        made = literal(number, sd.Decimal(20, 5))
    assert made.value == number
    assert made.value.as_tuple().exponent == -5


@given(st.floats(width=32))
def test_every_fp32_fits_fp32(number: float) -> None:
    held = literal(number, sd.FP32()).value
    assert held == number or (math.isnan(held) and math.isnan(number))


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_short_text_of_an_fp32_means_that_fp32(number: float) -> None:
    """What 7 digits write is meant as the nearest fp32."""
    written = float(f"{number:.7g}")
    assert literal(written, sd.FP32()).value == struct.unpack("<f", struct.pack("<f", written))[0]


@given(st.datetimes(min_value=dt.datetime(1000, 1, 1)))
def test_timestamps_count_from_1970(moment: dt.datetime) -> None:
    held = literal(moment, sd.PrecisionTimestamp(6)).value
    assert dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=held) == moment


# --- nested ---


def test_structs_lists_and_maps_hold_literals() -> None:
    assert literal([1, None], kind("list<i8?>")).value == (Literal(1, kind("i8?")), Literal(None, kind("i8?")))
    assert literal({"a": 1}, kind("map<string, i8>")).value == ((Literal("a", kind("string")), Literal(1, kind("i8"))),)
    assert literal((1, "x"), kind("struct<i64, string>")).value == (
        Literal(1, kind("i64")),
        Literal("x", kind("string")),
    )
    assert literal([], kind("list<i64>")).value == ()
    assert literal({}, kind("map<string, i64>")).value == ()


PLACE = sd.Struct.of({"city": sd.String(), "zip": sd.String(nullable=True)})


def test_a_struct_may_be_given_by_names() -> None:
    assert literal({"zip": None, "city": "Rome"}, PLACE) == literal(("Rome", None), PLACE)
    with refused(LiteralError, "no field 'ciyt'", 'did you mean "city"'):
        literal({"ciyt": "Rome", "zip": None}, PLACE)
    with refused(LiteralError, "'zip' is missing"):
        literal({"city": "Rome"}, PLACE)


# --- types told from values ---


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "boolean"),
        (1, "i64"),
        (1.0, "fp64"),
        ("x", "string"),
        (b"x", "binary"),
        (D("12.50"), "decimal<4,2>"),
        (D("0.001"), "decimal<3,3>"),
        (D("1e3"), "decimal<4,0>"),
        (D(0), "decimal<1,0>"),
        (dt.date(2020, 1, 1), "date"),
        (dt.time(1), "precision_time<6>"),
        (dt.datetime(2020, 1, 1), "precision_timestamp<6>"),
        (dt.datetime(2020, 1, 1, tzinfo=UTC), "precision_timestamp_tz<6>"),
        (dt.timedelta(1), "interval_day<6>"),
        (YearMonths(1), "interval_year"),
        (ID, "uuid"),
        ([1, 2], "list<i64>"),
        ({"a": 1.5}, "map<string, fp64>"),
        ([[1], [2]], "list<list<i64>>"),
    ],
)
def test_natural_types(value: Any, text: str) -> None:
    assert natural_type(value) == kind(text)
    assert literal(value, natural_type(value)).type == kind(text)


@pytest.mark.parametrize("value", [None, [], {}, object(), D("NaN"), D("1e40"), {1, 2}])
def test_values_without_a_natural_type(value: Any) -> None:
    with pytest.raises(LiteralError):
        natural_type(value)


def test_lit_and_null() -> None:
    def made(expr: Any) -> Type:
        node: Literal = expr._node
        return node.type

    assert made(sd.lit(5)) == kind("i64")
    assert made(sd.lit(5, sd.I8)) == kind("i8")
    assert made(sd.lit(5, sd.Nullable[sd.I8])) == kind("i8?")
    assert made(sd.lit("5.00", sd.VarChar(9))) == kind("varchar<9>")
    assert made(sd.null(sd.Decimal(5, 2))) == kind("decimal<5,2>?")
    with refused(LiteralError, "300 does not fit i8"):
        sd.lit(300, sd.I8)
    with refused(LiteralError, "cannot infer", "None", "lit(value, type)"):
        sd.lit(None)


@pytest.mark.parametrize(
    ("value", "type_"), [(np.int64(3), sd.I64()), (np.bool_(True), sd.Boolean()), (np.arange(2), sd.List(sd.I64()))]
)
def test_values_of_numpy_that_are_none_of_python(value: Any, type_: Type) -> None:
    with refused(LiteralError, "write value.tolist()"):
        sd.lit(value)
    with refused(LiteralError, "write value.tolist()"):
        literal(value, type_)
    assert literal(value.tolist(), type_).type == type_


def test_intervals_are_negated_part_by_part() -> None:
    assert -YearMonths(0, 1) == YearMonths(0, -1)
    assert -DaySeconds(1, -2, 2**63 - 1) == DaySeconds(-1, 2, 1 - 2**63)
    assert -Compound(YearMonths(1, -6), DaySeconds(2)) == Compound(YearMonths(-1, 6), DaySeconds(-2))


def test_a_literal_shows_its_value_and_type() -> None:
    assert repr(literal(5, t.I64())) == "literal(5, i64)"
    assert repr(literal([1], t.List(t.I8()))) == "literal((literal(1, i8),), list<i8>)"
    assert repr(literal(None, t.Date(nullable=True))) == "literal(None, date?)"
    assert len(repr(literal("x" * 10_000, t.String()))) < 300


MONEY = sd.UserDefined("extension:acme:money", "money")
FIVE_EUROS = (sd.lit(5), sd.lit("EUR"))
FIVE = Literal((literal(5, t.I64()), literal("EUR", t.String())), MONEY)


def test_constants_stand_in_other_constants() -> None:
    def node(expression: sd.Expr[Any, Any]) -> object:
        return expression._node

    assert node(sd.lit(FIVE_EUROS, MONEY)) == FIVE
    assert node(sd.lit([FIVE_EUROS, sd.lit(FIVE_EUROS, MONEY)], sd.List(MONEY))) == Literal((FIVE, FIVE), t.List(MONEY))
    assert node(sd.lit((1, FIVE_EUROS), sd.Struct((t.I8(), MONEY)))) == Literal(
        (literal(1, t.I8()), FIVE), t.Struct((t.I8(), MONEY))
    )
    assert node(sd.lit({sd.lit("k"): sd.lit(7)})) == literal({"k": 7}, t.Map(t.String(), t.I64()))
    assert node(sd.lit([sd.lit(1), 2])) == literal([1, 2], t.List(t.I64()))
    with refused(
        LiteralError, "(5, 'EUR') does not fit u!money", 'hint: give each field its type: (lit(5), lit("EUR"))'
    ):
        sd.lit((5, "EUR"), MONEY)
    with refused(LiteralError, "does not fit u!money"):
        sd.lit((sd.lit(5), sd.col("x")), MONEY)
    with refused(LiteralError, "expected a literal of i8, got one of i64"):
        sd.lit((sd.lit(1),), sd.Struct((t.I8(),)))


def test_constants_stand_wherever_values_do() -> None:
    schema = {"id": sd.I64, "m": MONEY}
    rows: Any = sd.read_virtual([(1, FIVE_EUROS), {"id": 2, "m": sd.lit(FIVE_EUROS, MONEY)}], schema)
    assert [record.fields[1] for record in rows._rel.definition.rows] == [FIVE, FIVE]
    assert rows.filter(lambda r: r.m.is_in([FIVE_EUROS]))._rel.condition.options == (FIVE,)
    table: Any = sd.create_table("t", schema, {"m": FIVE_EUROS})
    assert table._rel.defaults[1] == FIVE
    update: Any = sd.update("t", schema, {"m": FIVE_EUROS}, where=True)
    assert update._rel.transformations[0].value == FIVE
    plan = sd.Plan(rows.filter(lambda r: r.m == sd.parameter(1, MONEY)), parameter_bindings={1: FIVE_EUROS})
    assert plan.parameter_bindings == {1: FIVE}


def test_a_value_of_an_own_type_may_be_a_message_of_protobuf() -> None:
    message = AnyMessage("type.googleapis.com/google.protobuf.Duration", b"\x08\x03")
    for given_message in (message, Duration(seconds=3)):
        assert sd.lit(given_message, MONEY)._node == Literal(message, MONEY)


@pytest.mark.parametrize(
    ("type_", "text", "hint"),
    [
        ("date", "2024-01-05", "write datetime.date.fromisoformat('2024-01-05')"),
        ("date", "yesterday", None),
        ("precision_timestamp<6>", "2024-01-05", "write datetime.datetime.fromisoformat('2024-01-05')"),
        ("precision_timestamp<6>", "2024-01-05T10:00:00+02:00", None),
        ("precision_timestamp<6>", "k", None),
    ],
)
def test_a_text_of_a_day_is_read_as_the_hint_says(type_: str, text: str, hint: str | None) -> None:
    with pytest.raises(LiteralError) as caught:
        sd.lit(text, type_)
    assert caught.value.hint == hint
    if hint is not None:
        sd.lit(eval(hint.removeprefix("write "), {"datetime": dt}), type_)
