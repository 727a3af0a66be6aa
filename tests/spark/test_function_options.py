"""Functions on Spark where the specification has no cases: options, edges, rounding, what is refused."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import math
import random
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    Expression,
    FunctionId,
    FunctionOption,
    Literal,
    ScalarFunction,
)
from substrait_dsl.algebra.expressions.intervals import DaySeconds, YearMonths
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.sql_text import to_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from tests.spark.evaluation import NOTHING, call, column, computed, rows_of, scope, value_of
from tests.support import f

pytestmark = pytest.mark.usefixtures("compiled")


# Arithmetic, with options

EDGES: dict[type[t.Type], tuple[int, ...]] = {
    t.I8: (-128, -127, -13, -1, 0, 1, 2, 11, 100, 127),
    t.I32: (-(2**31), -46341, -1, 0, 1, 46341, 2**31 - 1),
    t.I64: (-(2**63), -(2**63) + 1, -3037000500, -1, 0, 1, 7, 3037000500, 2**63 - 1),
}
EXACT: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1),
}


@pytest.mark.parametrize("kind", list(EDGES))
def test_saturating_and_wrapping_integers(spark: SparkSession, kind: type[t.Type]) -> None:
    low, high = t.INTEGER_RANGES[kind]
    pairs = [(x, y) for x, y in itertools.product(EDGES[kind], repeat=2) if y != 0]
    x, y = column(0, kind()), column(1, kind())
    frame = rows_of(spark, [kind(), kind()], pairs)
    ways = [(name, way) for name in EXACT for way in ("SATURATE", "SILENT")]
    found = computed(frame, *(call(name, x, y, overflow=way) for name, way in ways))
    for pair, row in zip(pairs, found, strict=True):
        exact = [EXACT[name](*pair) for name, _ in ways]
        saturated = [min(max(value, low), high) for value in exact]
        wrapped = [(value - low) % (high - low + 1) + low for value in exact]
        expected = [s if way == "SATURATE" else w for s, w, (_, way) in zip(saturated, wrapped, ways, strict=True)]
        assert list(row) == expected, pair


@pytest.mark.parametrize("by_zero", ["NULL", "ERROR"])
def test_nan_by_zero_is_another_error_than_a_division_by_zero(by_zero: str, spark: SparkSession) -> None:
    """functions_arithmetic.yaml: where either of them is NaN, `on_domain_error` decides."""
    pairs = [(math.nan, 0.0), (None, 0.0), (0.0, math.nan), (math.nan, 2.0), (1.0, 2.0)]
    for type_ in (t.FP64(nullable=True), t.FP32(nullable=True)):
        frame = rows_of(spark, [type_, type_], pairs)
        quotient = call(
            "divide", column(0, type_), column(1, type_), on_division_by_zero=by_zero, on_domain_error="NAN"
        )
        assert str([value for (value,) in computed(frame, quotient)]) == "[nan, None, nan, nan, 0.5]"


def test_a_quotient_is_saturated_also_where_another_condition_decides(spark: SparkSession) -> None:
    """Of ``h = -1`` Spark learns that ``h = -32768`` is false, and computes what stands behind that of all rows."""
    rows = spark.createDataFrame([(-32768,), (-1,), (5,)], "h smallint").coalesce(1).cache()
    rows.createOrReplaceTempView("quotients")
    table: Any = sd.read_named("quotients", {"h": "i16?"})
    for way in ("SATURATE", "SILENT"):
        quotient = f.divide(sd.col("h"), sd.lit(-1, sd.I16), overflow=way)
        kept = table.filter(sd.col("h").between(f.bitwise_and(sd.col("h"), sd.col("h")), quotient))
        assert kept.filter(lambda r: r.h.is_in([-1])).collect(spark) == [(-1,)], way


def test_modulus_of_all_signs(spark: SparkSession) -> None:
    pairs = [(x, y) for x, y in itertools.product((-128, -8, -3, 0, 3, 8, 127), (-128, -3, -1, 0, 1, 3, 127))]
    x, y = column(0, t.I8()), column(1, t.I8())
    found = computed(
        rows_of(spark, [t.I8(), t.I8()], pairs),
        call("modulus", x, y, division_type="TRUNCATE", on_domain_error="NULL"),
        call("modulus", x, y, division_type="FLOOR", on_domain_error="NULL"),
    )
    assert found == [(math.fmod(x, y), x % y) if y else (None, None) for x, y in pairs]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("add", {"overflow": "ERROR"}),
        ("add", {}),
        ("subtract", {}),
        ("multiply", {}),
        ("divide", {}),
        ("divide", {"on_division_by_zero": "ERROR"}),
        ("modulus", {"on_domain_error": "ERROR"}),
    ],
)
def test_integer_errors(spark: SparkSession, name: str, options: dict[str, str]) -> None:
    from pyspark.errors import PySparkException

    operands = {"add": (127, 1), "subtract": (-128, 1), "multiply": (64, 2), "divide": (-128, -1), "modulus": (1, 0)}
    x, y = operands[name]
    with pytest.raises(PySparkException):
        value_of(spark, call(name, literal(x, t.I8()), literal(y, t.I8()), **options))


@pytest.mark.parametrize("bits", [32, 64])
def test_shifts_by_all_the_bits(bits: int, spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    type_ = t.I32(nullable=True) if bits == 32 else t.I64(nullable=True)
    bases, counts = (-(2 ** (bits - 1)), -8, -1, 0, 1, 5, 2 ** (bits - 1) - 1), (0, 1, 31, 32, 33, 63, 64, 2**31 - 1)
    pairs: list[tuple[int | None, int | None]] = list(itertools.product(bases, counts))
    number = t.I32(nullable=True)
    base, count = column(0, type_), column(1, number)
    names = ("shift_left", "shift_right", "shift_right_unsigned")
    found = computed(rows_of(spark, [type_, number], pairs), *(call(name, base, count) for name in names))
    for (x, n), row in zip(itertools.product(bases, counts), found, strict=True):
        left = 0 if n >= bits else x << n
        assert row == (signed(left % 2**bits, bits), x >> n, signed(x % 2**bits >> n, bits)), (x, n)
    empty = rows_of(spark, [type_, number], [(None, -1), (1, None), (None, 64)])
    assert computed(empty, *(call(name, base, count) for name in names)) == [(None, None, None)] * 3
    with pytest.raises(PySparkException, match="negative number of bits"):
        computed(rows_of(spark, [type_, number], [(1, -1)]), call("shift_left", base, count))


def signed(value: int, bits: int) -> int:
    """An integer of two's complement, given its bits."""
    return value - 2**bits if value >= 2 ** (bits - 1) else value


def test_integer_powers(spark: SparkSession) -> None:
    pairs = [(x, y) for x, y in itertools.product((-3, -2, -1, 0, 1, 2, 10), (0, 1, 2, 3, 18, 62, 10**12, 10**12 + 1))]
    pairs = [(x, y) for x, y in pairs if abs(x) <= 1 or -(2**63) <= x ** min(y, 64) < 2**63]
    expected = [(x**y if y < 64 else x ** (2 + y % 2) if x else 0,) for x, y in pairs]
    frame = rows_of(spark, [t.I64(), t.I64()], pairs)
    assert computed(frame, call("power", column(0, t.I64()), column(1, t.I64()))) == expected
    maybe = t.I64(nullable=True)
    frame = rows_of(spark, [maybe, maybe], [(None, -(2**63)), (None, 2**63 - 1), (3, None), (None, None)])
    assert computed(frame, call("power", column(0, maybe), column(1, maybe))) == [(None,)] * 4
    nothing = call("power", literal(None, maybe), literal(-1, t.I64()))
    assert value_of(spark, nothing) is None


def test_decimal_arithmetic_is_rounded_once(spark: SparkSession) -> None:
    """Against exact arithmetic in Python, rounded half away from zero to the derived type."""
    exact: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y,
    }
    pick = random.Random(20)
    calls, expected = [], []
    with decimal.localcontext(prec=200):
        for name in [*exact] * 60:
            (a, x), (b, y) = random_decimal(pick), random_decimal(pick)
            expression = call(name, literal(x, a), literal(y, b))
            try:
                to_sql(expression, NOTHING)
            except UnsupportedError:
                continue
            result = expression.type
            assert isinstance(result, t.Decimal)
            rounded = exact[name](x, y).quantize(Decimal(1).scaleb(-result.scale), decimal.ROUND_HALF_UP)
            if len(rounded.as_tuple().digits) <= result.precision:
                calls.append(expression)
                expected.append(rounded)
    assert len(calls) > 200
    assert list(computed(spark.range(1), *calls)[0]) == expected


def random_decimal(pick: random.Random) -> tuple[t.Decimal[Any, Any], Decimal]:
    precision = pick.choice((pick.randint(1, 38), pick.randint(1, 18), 38))
    scale = pick.randint(0, precision)
    digits = pick.choice((precision, pick.randint(1, precision)))
    value = pick.choice((1, -1)) * pick.randint(1, 10**digits - 1)
    return t.Decimal(precision, scale), Decimal(value).scaleb(-scale)


def test_a_decimal_quotient_that_spark_would_round_twice(spark: SparkSession) -> None:
    # 1 / 6666666667 is a little less than 1.5e-10, which is what it is to 18 digits.
    type_ = t.Decimal(15, 2)
    x, y = literal(Decimal("0.01"), type_), literal(Decimal("66666666.67"), type_)
    quotient = call("divide", x, y)
    assert quotient.type == t.Decimal(38, 10)
    twice = f"CAST({to_sql(x, NOTHING)} / {to_sql(y, NOTHING)} AS DECIMAL(38,10))"
    assert spark.range(1).selectExpr(twice).collect()[0][0] == Decimal("0.0000000002")
    assert value_of(spark, quotient) == Decimal("0.0000000001")


def test_decimal_quotients_that_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="round twice"):
        to_sql(call("divide", column(0, t.Decimal(38, 38)), column(1, t.Decimal(38, 0))), scope("c0", "c1"))


@pytest.mark.parametrize(("precision", "scale"), [(34, 3), (35, 3), (38, 3), (38, 30), (38, 38)])
def test_signs_of_long_decimals(spark: SparkSession, precision: int, scale: int) -> None:
    type_ = t.Decimal(precision, scale)  # type: ignore[type-var]  # known only now
    with decimal.localcontext(prec=50):
        values = [Decimal(n).scaleb(-scale) for n in (10**precision - 1, -(10**precision) + 1, 0, 1, -1)]
        expected = [(-value, abs(value)) for value in values]
    frame = rows_of(spark, [type_], [(value,) for value in values])
    x = column(0, type_)
    assert computed(frame, call("negate", x), call("abs", x)) == expected


@pytest.mark.parametrize("scale", [20, 30, 38])
def test_the_least_decimals_are_not_zero(spark: SparkSession, scale: int) -> None:
    """Compared with a number of another type, Spark would round them."""
    type_ = t.Decimal(38, scale)  # type: ignore[type-var]  # known only now
    least = Decimal(1).scaleb(-scale)
    frame = rows_of(spark, [type_, type_], [(-least, least)])
    below, above = column(0, type_), column(1, type_)
    assert computed(frame, call("sqrt", above)) == [(pytest.approx(math.sqrt(10.0**-scale)),)]
    with pytest.raises(Exception, match="sqrt of a negative number"):
        computed(frame, call("sqrt", below))
    with pytest.raises(Exception, match="a power that is no real number"):
        computed(frame, call("power", below, above, complex_number_result="ERROR"))


def test_whole_doubles(spark: SparkSession) -> None:
    values = [0.5, -0.5, 2.5, -2.5, 2.0**52 + 1, 1e300, -1e300, math.inf, -math.inf]
    frame = rows_of(spark, [t.FP64()], [(value,) for value in values])
    found = computed(frame, call("ceil", column(0, t.FP64())), call("floor", column(0, t.FP64())))
    whole = [(v, v) if math.isinf(v) else (float(math.ceil(v)), float(math.floor(v))) for v in values]
    assert found == whole


def test_rounding_halves(spark: SparkSession) -> None:
    x, digits = literal(Decimal("2.5"), t.Decimal(2, 1)), literal(0, t.I32())
    found = computed(
        spark.range(1),
        call("round", x, digits, rounding="TIE_AWAY_FROM_ZERO"),
        call("round", x, digits, rounding="TIE_TO_EVEN"),
    )
    assert found == [(Decimal(3), Decimal(2))]
    with pytest.raises(UnsupportedError, match="only as a literal"):
        to_sql(call("round", x, column(0, t.I32())), scope("c0"))


@pytest.mark.parametrize("precision", [5, 19, 38])
def test_bits_of_decimals(spark: SparkSession, precision: int) -> None:
    """Against the integers of Python, which are in two's complement of any length; a result may need a digit more."""
    type_ = t.Decimal(precision, 0)  # type: ignore[type-var]  # known only now
    pick = random.Random(60)
    largest = 10**precision - 1
    values = [0, -1, largest, -largest, *(pick.randint(-largest, largest) for _ in range(20))]
    pairs = [(x, y) for x in values for y in values if all(abs(v) <= largest for v in (x & y, x | y, x ^ y))]
    assert len(pairs) > 100
    frame = rows_of(spark, [type_, type_], pairs)
    x, y = column(0, type_), column(1, type_)
    names = ("bitwise_and", "bitwise_or", "bitwise_xor")
    found = computed(frame, *(call(name, x, y, stem="arithmetic_decimal") for name in names))
    assert [tuple(map(int, row)) for row in found] == [(x & y, x | y, x ^ y) for x, y in pairs]


def test_logarithms_to_a_base(spark: SparkSession) -> None:
    def log(x: float, base: float, **options: str) -> Expression:
        return call("logb", literal(float(x), t.FP64()), literal(float(base), t.FP64()), **options)

    found = computed(
        spark.range(1),
        log(1000, 10),  # the text: logb(x, b) is the logarithm of x to the base b
        log(8, 2),
        log(0.125, 0.5),
        log(0, 7, on_log_zero="MINUS_INFINITY"),
        log(5, 1, on_domain_error="NULL"),
        log(5, -2, on_domain_error="NULL"),
        log(-5, 2, on_domain_error="NULL"),
    )[0]
    assert found[:3] == (3.0, 3.0, pytest.approx(3.0))
    assert found[3:] == (-math.inf, None, None, None)
    assert math.isnan(computed(spark.range(1), log(0, math.nan, on_log_zero="MINUS_INFINITY"))[0][0])


def test_inverse_hyperbolic_functions_everywhere(spark: SparkSession) -> None:
    """Python's are those of the C library, to the last digit or so. None, NaN and infinities stay what they are."""
    sizes = (0.0, 5e-324, 1e-20, 1e-9, 9e-4, 0.5, 1.0, 1 + 2**-52, 1.0000001, 1.5, 99.0, 1e8, 3e8, 1e17, math.inf)
    numbers = [None, math.nan, *sizes, *(-size for size in sizes)]
    type_, x = t.FP64(nullable=True), column(0, t.FP64(nullable=True))
    calls = call("asinh", x), call("acosh", x, on_domain_error="NAN")
    for number, found in zip(numbers, computed(rows_of(spark, [type_], [(n,) for n in numbers]), *calls), strict=True):
        if number is None:
            assert found == (None, None)
            continue
        expected = math.asinh(number), math.nan if number < 1 else math.acosh(number)
        assert found == pytest.approx(expected, rel=1e-15, abs=0, nan_ok=True), number


# Dates and times

WHEN = dt.datetime(2021, 1, 3, 23, 59, 58, 123456)  # a Sunday, of the ISO year 2020


def test_extract(spark: SparkSession) -> None:
    x = literal(WHEN, t.PrecisionTimestamp(6))
    plain = ("YEAR", "ISO_YEAR", "SECOND", "MILLISECOND", "MICROSECOND", "SUBSECOND", "UNIX_TIME")
    counted = ("QUARTER", "MONTH", "DAY", "DAY_OF_YEAR", "MONDAY_DAY_OF_WEEK", "SUNDAY_DAY_OF_WEEK", "ISO_WEEK")
    calls = [call("extract", word, x) for word in plain]
    calls += [call("extract", word, base, x) for base in ("ONE", "ZERO") for word in counted]
    ones = [1, 1, 3, 3, 7, 1, 53]
    expected = [2021, 2020, 58, 123, 456, 123456, int(WHEN.replace(tzinfo=dt.UTC).timestamp())]
    assert list(computed(spark.range(1), *calls)[0]) == expected + ones + [value - 1 for value in ones]


def test_unix_time_before_the_epoch(spark: SparkSession) -> None:
    x = literal(dt.datetime(1969, 12, 31, 23, 59, 59, 500000), t.PrecisionTimestamp(6))
    assert value_of(spark, call("extract", "UNIX_TIME", x)) == -1


def test_time_zones(spark: SparkSession) -> None:
    moment = literal(dt.datetime(2021, 3, 14, 7, 30, tzinfo=dt.UTC), t.PrecisionTimestampTZ(6))
    zone = literal("America/New_York", t.String())  # half past three there: the clocks went forward at two
    month = literal(YearMonths(0, -1), t.IntervalYear())
    local = call("local_timestamp", moment, zone)
    found = computed(
        spark.range(1),
        local,
        call("extract", "HOUR", moment, zone),
        call("extract", "DAY", "ONE", moment, zone),
        call("extract", "TIMEZONE_OFFSET", moment, zone),
        call("extract", "UNIX_TIME", call("assume_timezone", local, zone), zone),
        call("extract", "UNIX_TIME", call("add", moment, month, zone), zone),
    )
    seconds = 1615707000  # 2021-03-14T07:30:00Z
    a_month_before = 1613291400  # 2021-02-14T03:30:00-05:00
    assert found == [(dt.datetime(2021, 3, 14, 3, 30), 3, 14, -4 * 3600, seconds, a_month_before)]


def test_intervals(spark: SparkSession) -> None:
    day = literal(dt.date(2024, 1, 31), t.Date())
    month = literal(YearMonths(0, 1), t.IntervalYear())
    hours = literal(DaySeconds(1, 3600), t.IntervalDay(6))
    found = computed(
        spark.range(1),
        call("add", day, month),
        call("subtract", day, hours),
        call("multiply", literal(3, t.I8()), hours),
        call("add", day, call("add_intervals", month, month)),
        call("extract_boolean", "IS_LEAP_YEAR", day),
    )
    assert found == [
        (
            dt.date(2024, 2, 29),
            dt.datetime(2024, 1, 29, 23),
            dt.timedelta(days=3, hours=3),
            dt.date(2024, 3, 31),
            True,
        )
    ]


def test_null_in_null_out(spark: SparkSession) -> None:
    """For functions that the specification has no cases of; test_functions.py does it for the others."""

    def null(type_: t.Type) -> Literal:
        return Literal(None, type_.as_nullable())

    text, zone, whole = literal("a", t.String()), literal("UTC", t.String()), literal(1, t.I64())
    stamp, moment = t.PrecisionTimestamp(6), t.PrecisionTimestampTZ(6)
    calls = [
        call("strpos", null(t.String()), text),
        call("strpos", text, null(t.String())),
        call("count_substring", text, null(t.String())),
        call("capitalize", null(t.String())),
        call("replace_slice", null(t.String()), whole, whole, text),
        call("replace_slice", text, null(t.I64()), whole, text),
        call("replace_slice", text, whole, null(t.I64()), text),
        call("replace_slice", text, whole, whole, null(t.String())),
        call("power", null(t.I64()), literal(0, t.I64())),
        call("log1p", null(t.FP64())),
        call("sign", null(t.I8())),
        call("multiply", null(t.I8()), literal(DaySeconds(1), t.IntervalDay(6))),
        call("extract_boolean", "IS_LEAP_YEAR", null(t.Date())),
        call("extract", "NANOSECOND", null(stamp)),
        call("assume_timezone", null(stamp), zone),
        call("local_timestamp", null(moment), zone),
        call("local_timestamp", literal(dt.datetime(2020, 1, 1, tzinfo=dt.UTC), moment), null(t.String())),
    ]
    assert computed(spark.range(1), *calls) == [(None,) * len(calls)]


EVERY_PART = "%Y %C %y %m %d %e %j %u %w %G %V %A %a %B %b %H %I %M %S %p %D %F %R %T %c %h %n %r %t %x %X %% é'"


@pytest.mark.parametrize("moment", [WHEN, dt.datetime(2024, 2, 29), dt.datetime(1999, 12, 5, 12, 0, 1)])
def test_strftime_is_that_of_the_c_library(spark: SparkSession, moment: dt.datetime) -> None:
    """Python's own is the platform's, in the C locale unless a program sets another."""
    zone = literal("Asia/Tokyo", t.String())
    found = computed(
        spark.range(1),
        call("strftime", literal(moment, t.PrecisionTimestamp(6)), literal(EVERY_PART, t.String())),
        call("strftime", literal(moment.date(), t.Date()), literal(EVERY_PART, t.String())),
        call("strftime", literal(moment.time(), t.PrecisionTime(6)), literal("%H.%I.%M.%S%p%%", t.String())),
        call(
            "strftime",
            literal(moment.replace(tzinfo=dt.UTC), t.PrecisionTimestampTZ(6)),
            literal("%F %T", t.String()),
            zone,
        ),
        call("strftime", literal(None, t.Date(nullable=True)), literal("x", t.String())),
    )[0]
    midnight = dt.datetime.combine(moment.date(), dt.time())
    tokyo = moment + dt.timedelta(hours=9)
    assert found == (
        moment.strftime(EVERY_PART),
        midnight.strftime(EVERY_PART),
        moment.strftime("%H.%I.%M.%S%p%%"),
        tokyo.strftime("%Y-%m-%d %H:%M:%S"),
        None,
    )
    with pytest.raises(UnsupportedError, match="cannot write %Z"):
        to_sql(call("strftime", literal(moment, t.PrecisionTimestamp(6)), literal("%Z", t.String())), NOTHING)


def test_centuries_of_one_and_of_three_digits(spark: SparkSession) -> None:
    for shift, wanted in ((5000, "14999 149 99"), (-9000, "999 09 99")):
        moved = call("add", literal(dt.date(9999, 12, 31), t.Date()), literal(YearMonths(shift), t.IntervalYear()))
        assert computed(spark.range(1), call("strftime", moved, literal("%Y %C %y", t.String()))) == [(wanted,)]


# Lists


def test_sorted_lists(spark: SparkSession) -> None:
    numbers = literal([3, None, 1], t.List(t.I64(nullable=True)))
    directions = ("ASC_NULLS_FIRST", "ASC_NULLS_LAST", "DESC_NULLS_FIRST", "DESC_NULLS_LAST")
    found = computed(spark.range(1), *(call("sort", numbers, direction=direction) for direction in directions))
    assert found == [([None, 1, 3], [1, 3, None], [None, 3, 1], [3, 1, None])]


def test_index_in(spark: SparkSession) -> None:
    numbers = literal([1.0, math.nan], t.List(t.FP64()))
    needles = (1.0, math.nan, 5.0)
    found = computed(spark.range(1), *(call("index_in", literal(x, t.FP64()), numbers) for x in needles))
    assert found == [(0, 1, None)]


# What is refused


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (call("add", column(0, t.FP64()), column(0, t.FP64()), rounding="FLOOR"), 'rounding = FLOOR exactly.*"TIE_TO_'),
        (call("lower", column(0, t.String()), char_set="ASCII_ONLY"), "char_set = ASCII_ONLY"),
        (call("initcap", column(0, t.String())), r"initcap\(string\).*\n.*where a word begins"),
        (
            ScalarFunction(
                FunctionId("extension:io.substrait:functions_comparison", "between:any_any_any"),
                (column(0, t.I64()),) * 3,
                t.Boolean(),
                (FunctionOption("bounds", ("OPEN",)),),
            ),
            "between with the option bounds = OPEN",
        ),
        (call("extract", "US_WEEK", "ONE", column(0, t.Date())), r"extract\(US_WEEK\)"),
        (
            ScalarFunction(FunctionId("extension:mine:f", "twice:i64"), (column(0, t.I64()),), t.I64()),
            r"twice\(i64\) of extension:mine:f",
        ),
    ],
)
def test_refused_functions(expression: Expression, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        to_sql(expression, scope("c0"))


def test_the_first_option_value_that_can_be_kept_wins() -> None:
    x = column(0, t.FP64())
    function = FunctionId("extension:io.substrait:functions_arithmetic", "sqrt:fp64")
    options = (FunctionOption("Rounding", ("floor", "tie_to_even")), FunctionOption("on_domain_error", ("nan",)))
    assert "sqrt" in to_sql(ScalarFunction(function, (x,), t.FP64(), options), scope("c0"))


def test_angles_of_zeros_and_infinities(spark: SparkSession) -> None:
    """By the signs of both, as Python has it from C. Spark's own takes -0.0 for 0.0."""
    type_ = t.FP64(nullable=True)
    numbers = [None, *(sign * size for size in (0.0, 5e-324, 1.0, math.inf) for sign in (1, -1)), math.nan]
    pairs = list(itertools.product(numbers, repeat=2))
    found = computed(rows_of(spark, [type_, type_], pairs), call("atan2", column(0, type_), column(1, type_)))
    for (y, x), (angle,) in zip(pairs, found, strict=True):
        due = None if y is None or x is None else math.atan2(y, x)
        if due is None or math.isnan(due) or not due:
            assert str(angle) == str(due), (y, x)
        else:
            assert math.isclose(angle, due, rel_tol=1e-15), (y, x)


@pytest.mark.parametrize("digits", [-(2**31), -2_000_000_000, -401, 401, 2**31 - 1, None])
@pytest.mark.parametrize("ties", ["TIE_AWAY_FROM_ZERO", "TIE_TO_EVEN"])
def test_rounding_to_more_digits_than_there_are(digits: int | None, ties: str, spark: SparkSession) -> None:
    kinds = (t.FP64(), t.I8(), t.I64())
    frame = rows_of(spark, list(kinds), [(1.5, -128, 7)])
    place = literal(digits, t.I32(nullable=True))
    calls = (call("round", column(n, type_), place, rounding=ties) for n, type_ in enumerate(kinds))
    found = computed(frame, *calls)
    assert found == [(None,) * 3 if digits is None else (0.0, 0, 0) if digits < 0 else (1.5, -128, 7)]
