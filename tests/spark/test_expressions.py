"""Expressions on Spark: literals, references, casts, conditionals, options of functions, measures."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import math
import random
import uuid
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Cast,
    EnumArgument,
    Expression,
    FieldAccess,
    FieldReference,
    FunctionId,
    FunctionOption,
    IfClause,
    IfThen,
    ListElement,
    Literal,
    MapKey,
    Measure,
    MultiOrList,
    OrListRecord,
    OuterReference,
    ScalarFunction,
    ScalarSubquery,
    SingularOrList,
    SortKey,
    StructField,
    Switch,
    SwitchCase,
)
from substrait_dsl.algebra.expressions.literals import DaySeconds, YearMonths, literal
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.catalog import EnumValue, Typed, standard_catalog
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions import MAX_DEPTH, AnySubquery, Scope, aggregate_to_sql, literal_to_sql, to_sql
from substrait_dsl.spark.types import type_to_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


def call(name: str, *arguments: Expression | str, stem: str = "", **options: str) -> ScalarFunction:
    """A call of a scalar function; a string is an enum argument, a keyword an option."""
    function, parts, output = resolved("scalar", name, arguments, stem)
    return ScalarFunction(function, parts, output, tuple(FunctionOption(key, (word,)) for key, word in options.items()))


def aggregate(name: str, *arguments: Expression | str, stem: str = "", **fields: Any) -> AggregateFunction:
    function, parts, output = resolved("aggregate", name, arguments, stem)
    return AggregateFunction(function, parts, output, **fields)


def resolved(kind: Any, name: str, arguments: Sequence[Expression | str], stem: str) -> tuple[FunctionId, Any, t.Type]:
    given = [EnumValue(each) if isinstance(each, str) else Typed(each.type) for each in arguments]
    urn = f"extension:io.substrait:functions_{stem}" if stem else None
    found = standard_catalog().resolve(kind, name, given, urn=urn)
    parts = tuple(EnumArgument(each) if isinstance(each, str) else each for each in arguments)
    return FunctionId(found.overload.urn, found.overload.key), parts, found.output_type


def column(position: int, kind: t.Type) -> FieldReference:
    return FieldReference(position, kind)


def scope(*names: str) -> Scope:
    def no_subquery(subquery: AnySubquery, inner: Scope) -> str:
        raise AssertionError("there is no subquery here")

    return Scope(names, {}, no_subquery)


NOTHING = scope()


def rows_of(spark: SparkSession, kinds: Sequence[t.Type], rows: Sequence[Sequence[Any]]) -> DataFrame:
    """A table with the columns c0, c1, ... of the types."""
    lines = [
        f"({', '.join(literal_to_sql(literal(value, kind)) for kind, value in zip(kinds, row, strict=True))})"
        for row in rows
    ]
    return spark.sql(f"SELECT * FROM VALUES {', '.join(lines)} AS t({', '.join(f'c{i}' for i in range(len(kinds)))})")


def computed(frame: DataFrame, *expressions: Expression) -> list[tuple[Any, ...]]:
    """What expressions over the columns of a table give; their Spark types must be the derived ones."""
    result = frame.selectExpr(*(to_sql(expression, scope(*frame.columns)) for expression in expressions))
    for field, expression in zip(result.schema, expressions, strict=True):
        assert field.dataType.simpleString() == type_to_spark(expression.type).simpleString()
    return [tuple(row) for row in result.collect()]


def value_of(spark: SparkSession, expression: Expression) -> Any:
    return computed(spark.range(1), expression)[0][0]


# Literals

ODD_TEXT = "it's \\ \n {x} ${env:HOME} `;-- é 😀 \x00"

F = ("f0", "f1")  # what the fields of a struct are called inside Spark

LITERALS: list[tuple[t.Type, Any, Any]] = [
    (t.Boolean(), True, True),
    (t.I8(), -128, -128),
    (t.I16(), 32767, 32767),
    (t.I32(), -(2**31), -(2**31)),
    (t.I64(), -(2**63), -(2**63)),
    (t.FP32(), 0.1, 0.10000000149011612),
    (t.FP64(), 1e-300, 1e-300),
    (t.FP64(), math.inf, math.inf),
    (t.FP64(), -math.inf, -math.inf),
    (t.String(), ODD_TEXT, ODD_TEXT),
    (t.String(), "", ""),
    (t.VarChar(5), "abc", "abc"),
    (t.FixedChar(3), "abc", "abc"),
    (t.Binary(), b"\x00\xff'", b"\x00\xff'"),
    (t.FixedBinary(2), b"ab", b"ab"),
    (t.Decimal(15, 2), Decimal("-0.05"), Decimal("-0.05")),
    (t.Decimal(2, 2), Decimal("0.05"), Decimal("0.05")),
    (t.Decimal(38, 0), 10**38 - 1, Decimal(10**38 - 1)),
    (t.Date(), dt.date(1000, 1, 1), dt.date(1000, 1, 1)),
    (t.PrecisionTime(6), dt.time(23, 59, 59, 999999), dt.time(23, 59, 59, 999999)),
    (t.PrecisionTime(3), dt.time(1, 2, 3, 4000), dt.time(1, 2, 3, 4000)),
    (t.PrecisionTimestamp(6), dt.datetime(1969, 12, 31, 23, 59, 59, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 1)),
    (t.PrecisionTimestamp(0), dt.datetime(1500, 1, 1), dt.datetime(1500, 1, 1)),
    (t.IntervalDay(6), dt.timedelta(days=-1, microseconds=1), dt.timedelta(days=-1, microseconds=1)),
    (t.IntervalDay(3), DaySeconds(1, -1, 5), dt.timedelta(days=1, seconds=-1, milliseconds=5)),
    (t.UUID(), uuid.UUID(int=2**127 + 5), str(uuid.UUID(int=2**127 + 5))),
    (t.List(t.I8()), [1, 2], [1, 2]),
    (t.List(t.I8()), [], []),
    (t.List(t.List(t.I8(nullable=True))), [[None], []], [[None], []]),
    (t.Map(t.String(), t.I64()), {"a": 1}, {"a": 1}),
    (t.Map(t.String(), t.I64()), {}, {}),
    (t.Struct((t.I8(), t.String()), F), (1, "x"), (1, "x")),
    (t.Struct((t.I8(), t.List(t.I8())), F, nullable=True), None, None),
    (t.String(nullable=True), None, None),
]


def test_literals(spark: SparkSession) -> None:
    found = computed(spark.range(1), *(literal(value, kind) for kind, value, _ in LITERALS))[0]
    assert list(found) == [expected for _, _, expected in LITERALS]


def test_nan_and_negative_zero(spark: SparkSession) -> None:
    nan, zero = computed(spark.range(1), literal(math.nan, t.FP64()), literal(-0.0, t.FP32()))[0]
    assert math.isnan(nan)
    assert math.copysign(1, zero) == -1


def test_moments_and_year_intervals(spark: SparkSession) -> None:
    moment = literal(dt.datetime(2020, 7, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2))), t.PrecisionTimestampTZ(3))
    interval = literal(YearMonths(-1, -2), t.IntervalYear())
    sql = f"unix_seconds({to_sql(moment, NOTHING)}) AS s, CAST({to_sql(interval, NOTHING)} AS STRING) AS i"
    row = spark.range(1).selectExpr(*sql.split(", ", 1)).collect()[0]
    assert row.s == 1593597600  # 2020-07-01T10:00:00Z
    assert row.i == "INTERVAL '-1-2' YEAR TO MONTH"


def test_literals_that_spark_cannot_hold() -> None:
    repeated = Literal(tuple((literal("a", t.String()), literal(n, t.I8())) for n in (1, 2)), t.Map(t.String(), t.I8()))
    with pytest.raises(UnsupportedError, match="repeats one"):
        literal_to_sql(repeated)
    with pytest.raises(UnsupportedError, match="years 1 to 9999"):
        literal_to_sql(Literal(10**18, t.PrecisionTimestamp(6)))
    with pytest.raises(UnsupportedError, match="whole characters"):
        literal_to_sql(Literal("\ud800", t.String()))
    with pytest.raises(UnsupportedError, match="interval_compound"):
        literal_to_sql(Literal(None, t.IntervalCompound(6, nullable=True)))


# References


def test_parts_of_values(spark: SparkSession) -> None:
    kinds = [t.Struct((t.I8(), t.I64())), t.List(t.I64()), t.Map(t.String(), t.I64())]
    frame = rows_of(spark, kinds, [((1, 2), [10, 20, 30], {"a": 5})])
    struct, numbers, mapping = (column(i, kind) for i, kind in enumerate(kinds))
    offsets = (0, 2, 3, -1, -3, -4, 2**40, -(2**40))
    found = computed(
        frame,
        FieldAccess(struct, StructField(1)),
        FieldAccess(mapping, MapKey(literal("a", t.String()))),
        FieldAccess(mapping, MapKey(literal("b", t.String()))),
        *(FieldAccess(numbers, ListElement(offset)) for offset in offsets),
    )
    assert found == [(2, 5, None, 10, 30, None, 30, 10, None, None, None)]


def test_outer_references() -> None:
    reference = FieldReference(1, t.I64(), OuterReference(7))
    assert to_sql(reference, Scope(("x",), {7: ("a", "b")}, scope().subquery)) == "b"
    with pytest.raises(UnsupportedError, match="cannot reach"):
        to_sql(reference, scope("x"))


def test_subqueries_are_written_by_the_scope() -> None:
    table = Read(NamedStruct.of({"a": t.I64()}), NamedTable(("t",)))
    subquery = ScalarSubquery(table)
    added = call("add", subquery, literal(1, t.I64()))
    assert to_sql(added, Scope((), {}, lambda found, inner: "(q)" if found is subquery else "?")) == "((q) + 1L)"


# Casts

CASTS: list[tuple[Any, t.Type, t.Type, Any]] = [
    (7, t.I64(), t.I8(), 7),
    (300, t.I64(), t.I8(), "fails"),
    ("x", t.String(), t.I32(), "fails"),
    ("12", t.String(), t.I32(), 12),
    ("2020-02-30", t.String(), t.Date(), "fails"),
    (Decimal("1.25"), t.Decimal(3, 2), t.Decimal(2, 1), Decimal("1.3")),
    (Decimal("99.9"), t.Decimal(3, 1), t.Decimal(2, 1), "fails"),
    ("abc", t.String(), t.VarChar(3), "abc"),
    ("abcd", t.String(), t.VarChar(3), "fails"),
    ("ab", t.String(), t.FixedChar(3), "fails"),
    ("😀é", t.String(), t.FixedChar(2), "😀é"),
    (b"abc", t.Binary(), t.FixedBinary(2), "fails"),
    (12345, t.I64(), t.VarChar(4), "fails"),
    (math.nan, t.FP64(), t.I64(), "fails"),
    (dt.date(2020, 1, 2), t.Date(), t.PrecisionTimestamp(3), dt.datetime(2020, 1, 2)),
    (dt.datetime(1969, 12, 31, 23), t.PrecisionTimestamp(6), t.Date(), dt.date(1969, 12, 31)),
    ([1, None], t.List(t.I8(nullable=True)), t.List(t.I64(nullable=True)), [1, None]),
    ((1, "a"), t.Struct((t.I8(), t.VarChar(1))), t.Struct((t.I64(), t.String()), F), (1, "a")),
]


def test_casts(spark: SparkSession) -> None:
    casts = [Cast(literal(value, old), new.as_nullable(), "return_null") for value, old, new, _ in CASTS]
    found = computed(spark.range(1), *casts)[0]
    assert list(found) == [None if result == "fails" else result for *_, result in CASTS]
    fitting = [Cast(literal(value, old), new) for value, old, new, result in CASTS if result != "fails"]
    assert list(computed(spark.range(1), *fitting)[0]) == [result for *_, result in CASTS if result != "fails"]


@pytest.mark.parametrize(("value", "old", "new"), [case[:3] for case in CASTS if case[3] == "fails"])
def test_casts_that_fail(spark: SparkSession, value: Any, old: t.Type, new: t.Type) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException):
        value_of(spark, Cast(literal(value, old), new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (t.I64(), t.Date()),
        (t.Date(), t.I64()),
        (t.PrecisionTimestamp(6), t.PrecisionTimestamp(3)),
        (t.String(), t.PrecisionTimestamp(3)),
        (t.String(), t.UUID()),
        (t.List(t.String()), t.List(t.VarChar(2))),
        (t.List(t.I8(nullable=True)), t.List(t.I64())),
        (t.Struct((t.I8(),)), t.Struct((t.I8(), t.I8()))),
        (t.I64(), t.IntervalCompound(6)),
    ],
)
def test_casts_that_are_refused(old: t.Type, new: t.Type) -> None:
    with pytest.raises(UnsupportedError, match=r"cannot cast|cannot check|no type"):
        to_sql(Cast(column(0, old), new), scope("c0"))


def test_a_null_passes_every_length(spark: SparkSession) -> None:
    assert value_of(spark, Cast(literal(None, t.String(nullable=True)), t.FixedChar(3, nullable=True))) is None


# Conditionals and membership

N64 = t.I64(nullable=True)


def test_conditionals(spark: SparkSession) -> None:
    frame = rows_of(spark, [N64], [(1,), (2,), (None,)])
    x, one, two = column(0, N64), literal(1, t.I64()), literal(2, t.I64())
    first = IfThen((IfClause(call("equal", x, one), literal("a", t.String())),), literal("c", t.String()))
    switch = Switch(x, (SwitchCase(one, two), SwitchCase(two, x)), one)
    # a NULL condition is not taken, and a NULL value equals no case
    assert computed(frame, first, switch) == [("a", 2), ("c", 2), ("c", 1)]


def test_an_enum_argument_that_is_missing() -> None:
    function = FunctionId("extension:io.substrait:functions_datetime", "extract:req_date")
    month = ScalarFunction(function, (EnumArgument("MONTH"), column(0, t.Date())), t.I64())
    with pytest.raises(UnsupportedError, match="lacks an enum argument"):
        to_sql(month, scope("c0"))


def test_membership_in_three_valued_logic(spark: SparkSession) -> None:
    pairs = list(itertools.product((1, 2, None), repeat=2))
    frame = rows_of(spark, [N64, N64], pairs)
    x, y = column(0, N64), column(1, N64)
    one, two = literal(1, t.I64()), literal(2, t.I64())
    single = SingularOrList(x, (one, y))
    records = MultiOrList((x, y), (OrListRecord((one, two)), OrListRecord((two, x))))
    expected = [
        (kleene_or(equals(a, 1), equals(a, b)), kleene_or(both(a, 1, b, 2), both(a, 2, b, a))) for a, b in pairs
    ]
    assert computed(frame, single, records) == expected


def equals(a: Any, b: Any) -> bool | None:
    return None if a is None or b is None else a == b


def kleene_or(*values: bool | None) -> bool | None:
    return True if True in values else None if None in values else False


def kleene_and(*values: bool | None) -> bool | None:
    return False if False in values else None if None in values else True


def both(a: Any, x: Any, b: Any, y: Any) -> bool | None:
    return kleene_and(equals(a, x), equals(b, y))


def test_between_is_null_for_any_null(spark: SparkSession) -> None:
    triples: list[tuple[Any, ...]] = list(itertools.product((1, 2, 3, None), repeat=3))
    frame = rows_of(spark, [N64] * 3, triples)
    expected = [(None if None in (x, low, high) else low <= x <= high,) for x, low, high in triples]
    assert computed(frame, call("between", *(column(i, N64) for i in range(3)))) == expected


def test_least_and_greatest(spark: SparkSession) -> None:
    pairs = list(itertools.product((1, 2, None), repeat=2))
    frame = rows_of(spark, [N64, N64], pairs)
    names = ("least", "greatest", "least_skip_null", "greatest_skip_null")
    found = computed(frame, *(call(name, column(0, N64), column(1, N64)) for name in names))
    for (a, b), row in zip(pairs, found, strict=True):
        known = [value for value in (a, b) if value is not None]
        strict = (min(known), max(known)) if len(known) == 2 else (None, None)
        assert row == (*strict, min(known, default=None), max(known, default=None))


def test_empty_and_and_or(spark: SparkSession) -> None:
    assert computed(spark.range(1), call("and"), call("or")) == [(True, False)]


def test_maps_cannot_be_compared() -> None:
    mapping = column(0, t.Map(t.String(), t.I64()))
    for expression in (
        call("equal", mapping, mapping),
        SingularOrList(mapping, (mapping,)),
        call("coalesce", call("nullif", mapping, mapping), mapping),
    ):
        with pytest.raises(UnsupportedError, match="cannot compare"):
            to_sql(expression, scope("c0"))


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


def test_integer_powers(spark: SparkSession) -> None:
    pairs = [(x, y) for x, y in itertools.product((-3, -2, -1, 0, 1, 2, 10), (0, 1, 2, 3, 18, 62, 10**12, 10**12 + 1))]
    pairs = [(x, y) for x, y in pairs if abs(x) <= 1 or -(2**63) <= x ** min(y, 64) < 2**63]
    expected = [(x**y if y < 64 else x ** (2 + y % 2) if x else 0,) for x, y in pairs]
    frame = rows_of(spark, [t.I64(), t.I64()], pairs)
    assert computed(frame, call("power", column(0, t.I64()), column(1, t.I64()))) == expected


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
    kind = t.Decimal(15, 2)
    x, y = literal(Decimal("0.01"), kind), literal(Decimal("66666666.67"), kind)
    quotient = call("divide", x, y)
    assert quotient.type == t.Decimal(38, 10)
    twice = f"CAST({to_sql(x, NOTHING)} / {to_sql(y, NOTHING)} AS DECIMAL(38,10))"
    assert spark.range(1).selectExpr(twice).collect()[0][0] == Decimal("0.0000000002")
    assert value_of(spark, quotient) == Decimal("0.0000000001")


def test_decimal_quotients_that_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="round twice"):
        to_sql(call("divide", column(0, t.Decimal(38, 38)), column(1, t.Decimal(38, 0))), scope("c0", "c1"))


@pytest.mark.parametrize("precision", [34, 35, 38])
def test_signs_of_long_decimals(spark: SparkSession, precision: int) -> None:
    kind = t.Decimal(precision, 3)  # type: ignore[type-var]  # known only now
    with decimal.localcontext(prec=50):
        values = [Decimal(n).scaleb(-3) for n in (10**precision - 1, -(10**precision) + 1, 0, 1, -1)]
        expected = [(-value, abs(value)) for value in values]
    frame = rows_of(spark, [kind], [(value,) for value in values])
    x = column(0, kind)
    assert computed(frame, call("negate", x), call("abs", x)) == expected


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


# Strings


def test_like_has_no_escape_character(spark: SparkSession) -> None:
    pairs = [("a\\b", "a\\b"), ("a%b", "a\\%b"), ("a\\xb", "a\\%b"), ("a\nb", "a%b"), ("AB", "a_"), ("", "%")]
    frame = rows_of(spark, [t.String(), t.String()], pairs)
    text, pattern = column(0, t.String()), column(1, t.String())
    found = computed(
        frame, call("like", text, pattern), call("like", text, pattern, case_sensitivity="CASE_INSENSITIVE")
    )
    assert [row[0] for row in found] == [True, False, True, True, False, True]
    assert [row[1] for row in found] == [True, False, True, True, True, True]


def test_substring_positions(spark: SparkSession) -> None:
    pairs = [(start, length) for start in (-3, -1, 0, 1, 3, 9) for length in (0, 1, 2, 5)]
    frame = rows_of(spark, [t.I32(), t.I32()], pairs)
    text = literal("abcdef", t.String())
    start, length = column(0, t.I32()), column(1, t.I32())
    found = computed(frame, call("substring", text, start, length, negative_start="LEFT_OF_BEGINNING"))
    # position 1 is the first of the characters, so position p stands at p - 1
    assert found == [("abcdef"[max(p - 1, 0) : max(p - 1 + n, 0)],) for p, n in pairs]


def test_separators_are_no_patterns(spark: SparkSession) -> None:
    pairs = [("a.b.", "."), ("a\\E.b", "\\E."), ("a|b", "|"), ("abc", "x")]
    frame = rows_of(spark, [t.String(), t.String()], pairs)
    found = computed(frame, call("string_split", column(0, t.String()), column(1, t.String())))
    assert found == [(text.split(separator),) for text, separator in pairs]


def test_slices_and_counts(spark: SparkSession) -> None:
    text, new = literal("abcdef", t.String()), literal("XY", t.String())

    def slice_(start: int, length: int) -> Expression:
        return call("replace_slice", text, literal(start, t.I64()), literal(length, t.I64()), new)

    found = computed(
        spark.range(1),
        *(slice_(*pair) for pair in ((2, 3), (2, 0), (6, 99), (0, 1), (7, 1), (1, -1))),
        call("count_substring", literal("aaaa", t.String()), literal("aa", t.String())),
        call("strpos", literal("abc", t.String()), literal("c", t.String())),
        call("capitalize", literal("éa b", t.String())),
    )
    assert found == [("aXYef", "aXYbcdef", "abcdeXY", None, None, None, 2, 3, "Éa b")]


def test_results_that_exceed_their_length_are_errors(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    short = t.VarChar(3)
    assert value_of(spark, call("concat", literal("ab", short), literal("c", short))) == "abc"
    with pytest.raises(PySparkException, match=r"varchar<3>"):
        value_of(spark, call("concat", literal("ab", short), literal("cd", short)))


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

    def null(kind: t.Type) -> Literal:
        return Literal(None, kind.as_nullable())

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


# Measures

SALES = [("a", 1, "1.10"), ("a", 2, "2.20"), ("a", 2, None), ("b", None, "0.01"), ("b", 5, "0.02")]


def measured(spark: SparkSession, *measures: Measure) -> list[tuple[Any, ...]]:
    kinds = [t.String(), N64, t.Decimal(15, 2, nullable=True)]
    rows = [(a, b, c and Decimal(c)) for a, b, c in SALES]
    frame = rows_of(spark, kinds, rows)
    result = frame.groupBy("c0").agg(
        *(spark_expr(aggregate_to_sql(measure, scope(*frame.columns))) for measure in measures)
    )
    for field, measure in zip(result.schema.fields[1:], measures, strict=True):
        assert field.dataType.simpleString() == type_to_spark(measure.function.output_type).simpleString()
    return sorted(tuple(row) for row in result.collect())


def spark_expr(sql: str) -> Any:
    from pyspark.sql import functions

    return functions.expr(sql)


def test_measures(spark: SparkSession) -> None:
    text, x, money = column(0, t.String()), column(1, N64), column(2, t.Decimal(15, 2, nullable=True))
    big = call("gt", x, literal(1, t.I64()))
    found = measured(
        spark,
        Measure(aggregate("count")),
        Measure(aggregate("count"), filter=big),
        Measure(aggregate("count", x)),
        Measure(aggregate("count", x, invocation="distinct")),
        Measure(aggregate("sum", x, invocation="distinct")),
        Measure(aggregate("sum", x), filter=big),
        Measure(aggregate("sum0", x), filter=call("lt", x, literal(0, t.I64()))),
        Measure(aggregate("sum", money)),
        Measure(aggregate("avg", money)),
        Measure(aggregate("avg", x)),
        Measure(aggregate("max", x)),
        Measure(aggregate("bool_and", big)),
        Measure(aggregate("count", x, stem="aggregate_decimal_output")),
        Measure(aggregate("string_agg", text, literal(", ", t.String()))),
    )
    a = (3, 2, 3, 2, 3, 4, 0, Decimal("3.30"), Decimal("1.65"), 1, 2, False, Decimal(3), "a, a, a")
    b = (2, 1, 1, 1, 5, 5, 0, Decimal("0.03"), Decimal("0.02"), 5, 5, True, Decimal(1), "b, b")
    assert found == [("a", *a), ("b", *b)]


def test_ordered_measures(spark: SparkSession) -> None:
    text, separator = column(0, t.String()), literal("", t.String())
    frame = rows_of(spark, [t.String(), N64], [("x", 1), ("y", None), ("z", 3)])
    found = {}
    for direction in ("asc_nulls_first", "asc_nulls_last", "desc_nulls_first", "desc_nulls_last"):
        keys = (SortKey(column(1, N64), direction),)
        measure = Measure(aggregate("string_agg", text, separator, sorts=keys))
        found[direction] = frame.selectExpr(aggregate_to_sql(measure, scope("c0", "c1"))).collect()[0][0]
    assert found == {
        "asc_nulls_first": "yxz",
        "asc_nulls_last": "xzy",
        "desc_nulls_first": "yzx",
        "desc_nulls_last": "zxy",
    }


def test_decimal_averages_are_rounded_once(spark: SparkSession) -> None:
    # 49996 of 100000 ones: 0.49996 is nearer to 0, but to four digits it is a half.
    kind = t.Decimal(1, 0)
    frame = spark.sql("SELECT CAST(if(id < 49996, 1, 0) AS DECIMAL(1,0)) AS c0 FROM range(100000)")
    average = aggregate_to_sql(Measure(aggregate("avg", column(0, kind))), scope("c0"))
    assert frame.selectExpr(average).collect()[0][0] == 0
    long = t.Decimal(38, 5)
    values = [Decimal("999999999999999999999999.99999"), Decimal("-0.00002"), Decimal("1.00000")]
    average = aggregate_to_sql(Measure(aggregate("avg", column(0, long))), scope("c0"))
    found = rows_of(spark, [long], [(value,) for value in values]).selectExpr(average).collect()[0][0]
    with decimal.localcontext(prec=60):
        assert found == (sum(values, Decimal(0)) / 3).quantize(Decimal("0.00001"), decimal.ROUND_HALF_UP)


def test_integer_averages_cannot_overflow(spark: SparkSession) -> None:
    x = column(0, t.I64())
    frame = rows_of(spark, [t.I64()], [(2**63 - 1,), (2**63 - 1,), (2**63 - 2,)])
    found = frame.selectExpr(aggregate_to_sql(Measure(aggregate("avg", x)), scope("c0"))).collect()[0][0]
    assert found == 2**63 - 2  # partial values are truncated


def test_statistics(spark: SparkSession) -> None:
    x = column(0, t.FP64())
    small = column(1, t.I32())
    frame = rows_of(spark, [t.FP64(), t.I32()], [(1.0, 1), (2.0, 2), (4.0, 2), (10.0, 5)])
    measures = [
        aggregate("median", "EXACT", x),
        aggregate("median", "EXACT", small),
        aggregate("mode", small),
        aggregate("variance", "SAMPLE", x),
        aggregate("corr", x, x),
    ]
    sql = [aggregate_to_sql(Measure(each), scope("c0", "c1")) for each in measures]
    median, whole, mode, variance, corr = frame.selectExpr(*sql).collect()[0]
    assert (median, whole, mode) == (3.0, 2, 2)
    assert math.isclose(variance, 16.25)  # 3.25² + 2.25² + 0.25² + 5.75² = 48.75, by 3
    assert math.isclose(corr, 1.0)


# What is refused


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (call("add", column(0, t.FP64()), column(0, t.FP64()), rounding="FLOOR"), 'rounding = FLOOR exactly.*"TIE_TO_'),
        (call("lower", column(0, t.String()), char_set="ASCII_ONLY"), "char_set = ASCII_ONLY"),
        (call("logb", column(0, t.FP64()), column(0, t.FP64())), r"logb\(fp64, fp64\).*\n.*which argument is the base"),
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


def test_refused_measures() -> None:
    x = column(0, t.I64())
    with pytest.raises(UnsupportedError, match="phase initial_to_intermediate"):
        aggregate_to_sql(Measure(aggregate("sum", x, phase="initial_to_intermediate")), scope("c0"))
    with pytest.raises(UnsupportedError, match="product"):
        aggregate_to_sql(Measure(aggregate("product", x)), scope("c0"))


# Depth and size


def test_deep_expressions(spark: SparkSession) -> None:
    one = literal(1, t.I64())

    def chain(length: int) -> Expression:
        total: Expression = column(0, t.I64())
        for _ in range(length):
            total = call("add", total, one)
        return total

    frame = rows_of(spark, [t.I64()], [(0,)])
    assert computed(frame, chain(MAX_DEPTH)) == [(MAX_DEPTH,)]
    with pytest.raises(UnsupportedError, match="3000 levels deep"):
        to_sql(chain(3000), scope("c0"))


def test_shared_parts_that_explode() -> None:
    total: Expression = column(0, t.I64())
    for _ in range(40):
        total = call("add", total, total)
    with pytest.raises(UnsupportedError, match="characters of Spark SQL"):
        to_sql(total, scope("c0"))
