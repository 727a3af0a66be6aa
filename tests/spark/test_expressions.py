"""Expressions on Spark: literals, references, casts, conditionals, depth and size."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    Cast,
    EnumArgument,
    Expression,
    FieldAccess,
    FieldReference,
    FunctionId,
    IfClause,
    IfThen,
    ListElement,
    Literal,
    MapKey,
    MultiOrList,
    OrListRecord,
    OuterReference,
    ScalarFunction,
    ScalarSubquery,
    SingularOrList,
    StructField,
    Switch,
    SwitchCase,
)
from substrait_dsl.algebra.expressions.intervals import DaySeconds, YearMonths
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, UnsupportedError
from substrait_dsl.spark.expressions.sql_text import MAX_DEPTH, Scope, literal_to_sql, to_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from tests.spark.evaluation import N64, NOTHING, call, column, computed, rows_of, scope, value_of
from tests.spark.rows import values

pytestmark = pytest.mark.usefixtures("compiled")


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
    (t.String(), 'a_b "c" (d) <e> = --f :g #h %', 'a_b "c" (d) <e> = --f :g #h %'),
    (t.String(), "__s0 _ __s1", "__s0 _ __s1"),  # as columns are called inside Spark
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
    found = computed(spark.range(1), *(literal(value, type_) for type_, value, _ in LITERALS))[0]
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
    struct, numbers, mapping = (column(i, type_) for i, type_ in enumerate(kinds))
    offsets = (0, 2, 3, -1, -3, -4, 2**31 - 1, -(2**31))
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
    *((text, t.String(), t.FP64(), number) for text, number in (("1d", 1.0), ("1.5f", 1.5), ("0x1p3", 8.0))),
    ("1d", t.String(), t.FP32(), 1.0),
    *((text, t.String(), t.Decimal(4, 1), "fails") for text in ("1d", "1.5f", "0x1p3")),
    ("١٢", t.String(), t.Decimal(4, 1), Decimal("12.0")),
    *(("١٢", t.String(), kind, "fails") for kind in (t.FP64(), t.I32())),
    ("2020-02-30", t.String(), t.Date(), "fails"),
    ("2020-02-28T10:00:00.5+01:00", t.String(), t.Date(), dt.date(2020, 2, 28)),
    (" 2020-2-28 ", t.String(), t.Date(), dt.date(2020, 2, 28)),
    *((text, t.String(), t.Date(), "fails") for text in ("2020-01-02 or so", "2020-01-02T", "today", "epoch", "10:00")),
    *(
        (f"2020-01-02 {rest}", t.String(), t.Date(), "fails")
        for rest in ("10:00 or so", "99:99:99", "10:61", "10:00:00+99:00", "10:00 Nowhere/None", "25:00Z")
    ),
    *(
        (f"2020-01-02{rest}", t.String(), t.Date(), dt.date(2020, 1, 2))
        for rest in (" 23:59:59.999999", "T10:00:00Z", " 0:0:0 Europe/Berlin", "T10:00:00-05:30 ", " 10")
    ),
    ("2020-01-02 10:00:00.123456", t.VarChar(40), t.PrecisionTimestamp(6), dt.datetime(2020, 1, 2, 10, 0, 0, 123456)),
    *(
        (text, t.String(), t.PrecisionTimestamp(6), "fails")
        for text in (
            "2020-01-02 10:00:00.1234567",
            "2020-01-02 10:00:00 UTC",
            "2020-01-02T10:00:00+01:00",
            "10:00",
            "now",
        )
    ),
    *((text, t.String(), t.PrecisionTimestampTZ(6), "fails") for text in ("10:00:00", "T10:00", "now", "2020-01-02x")),
    (Decimal("1.25"), t.Decimal(3, 2), t.Decimal(2, 1), Decimal("1.3")),
    (Decimal("99.9"), t.Decimal(3, 1), t.Decimal(2, 1), "fails"),
    ("abc", t.String(), t.VarChar(3), "abc"),
    ("abcd", t.String(), t.VarChar(3), "fails"),
    ("ab", t.String(), t.FixedChar(3), "fails"),
    ("😀é", t.String(), t.FixedChar(2), "😀é"),
    (b"abc", t.Binary(), t.FixedBinary(2), "fails"),
    ("é€".encode(), t.Binary(), t.String(), "é€"),
    (b"\xff\xfe", t.Binary(), t.String(), "fails"),
    (b"\xff", t.Binary(), t.VarChar(3), "fails"),
    (12345, t.I64(), t.VarChar(4), "fails"),
    (math.nan, t.FP64(), t.I64(), "fails"),
    (2.0**63, t.FP64(), t.I64(), "fails"),
    (2.0**63, t.FP32(), t.I64(), "fails"),
    (2.0**63 - 1024, t.FP64(), t.I64(), 2**63 - 1024),
    (-(2.0**63), t.FP64(), t.I64(), -(2**63)),
    *((value, t.FP64(), t.Decimal(9, 2), "fails") for value in (math.nan, math.inf, -math.inf, 1e7)),
    (math.inf, t.FP32(), t.Decimal(9, 2), "fails"),
    (-2.5, t.FP32(), t.Decimal(9, 2), Decimal("-2.50")),
    (Decimal("0.99999999999999999999"), t.Decimal(38, 20), t.I32(), 0),
    (Decimal("1.999999999999999999"), t.Decimal(19, 18), t.I16(), 1),
    (Decimal("127.99999999999999999999"), t.Decimal(38, 20), t.I8(), 127),
    (Decimal("-2147483648.99999999999999999999"), t.Decimal(38, 20), t.I32(), -(2**31)),
    (Decimal("2147483648.00000000000000000000"), t.Decimal(38, 20), t.I32(), "fails"),
    (dt.date(2020, 1, 2), t.Date(), t.PrecisionTimestamp(3), dt.datetime(2020, 1, 2)),
    (dt.datetime(1969, 12, 31, 23), t.PrecisionTimestamp(6), t.Date(), dt.date(1969, 12, 31)),
    ([1, None], t.List(t.I8(nullable=True)), t.List(t.I64(nullable=True)), [1, None]),
    ((1, "a"), t.Struct((t.I8(), t.VarChar(1))), t.Struct((t.I64(), t.String()), F), (1, "a")),
]


PARTS: list[tuple[Any, t.Type, t.Type, Any]] = [
    ([Decimal("0.99999999999999999999")], t.List(t.Decimal(20, 20)), t.List(t.I32()), [0]),
    ((2.5, 1), t.Struct((t.FP64(), t.I8())), t.Struct((t.Decimal(3, 1), t.I64()), F), (Decimal("2.5"), 1)),
    ({1.5: [1.5]}, t.Map(t.FP64(), t.List(t.FP64())), t.Map(t.I64(), t.List(t.I64())), {1: [1]}),
]


def test_casts(spark: SparkSession) -> None:
    casts = [Cast(literal(value, old), new.as_nullable(), "return_null") for value, old, new, _ in CASTS]
    found = computed(spark.range(1), *casts)[0]
    assert list(found) == [None if result == "fails" else result for *_, result in CASTS]
    fitting = [case for case in (*CASTS, *PARTS) if case[3] != "fails"]
    found = computed(spark.range(1), *(Cast(literal(value, old), new) for value, old, new, _ in fitting))[0]
    assert list(found) == [result for *_, result in fitting]


def test_casts_of_parts(spark: SparkSession) -> None:
    kinds = [t.List(t.FP64(nullable=True), nullable=True), t.Struct((t.FP64(nullable=True),), nullable=True)]
    frame = rows_of(spark, kinds, [([1.5, None], (2.5,)), (None, None), ([None], (None,))])
    list_, struct = (column(position, type_) for position, type_ in enumerate(kinds))
    money = t.Decimal(3, 1, nullable=True)
    found = computed(
        frame,
        Cast(list_, t.List(t.I64(nullable=True), nullable=True)),
        Cast(list_, t.List(money, nullable=True)),
        Cast(struct, t.Struct((money,), ("f0",), nullable=True)),
    )
    assert found == [
        ([1, None], [Decimal("1.5"), None], (Decimal("2.5"),)),
        (None, None, None),
        ([None], [None], (None,)),
    ]


@pytest.mark.parametrize(
    ("key", "keys", "new"),
    [("string", ["1", "01"], "i64"), ("fp64", [1.2, 1.4], "i64"), ("i64", [2**53, 2**53 + 1], "fp64")],
)
def test_two_keys_of_a_map_become_one(key: str, keys: list[Any], new: str, spark: SparkSession) -> None:
    t = values({"a": key, "b": key}, tuple(keys))
    cast = t.select(m=lambda r: sd.map_of([(r.a, 10), (r.b, 20)]).cast(f"map<{new}, i32>"))
    for use in (cast, cast.select(v=lambda r: r.m[1]), cast.select(m=lambda r: sd.list_of(r.m))):
        with pytest.raises(ExecutionError, match="a map has one key twice"):
            use.collect(spark)


def test_what_is_asserted_not_to_be_null(spark: SparkSession) -> None:
    t = values({"k": "i64", "x": "fp64?"}, (1, 2.5), (2, None))
    filled = t.select("k", x=lambda r: f.coalesce(r.x, 0.0).assert_not_null()).execute(spark)
    assert {tuple(row) for row in filled.collect()} == {(1, 2.5), (2, 0.0)}
    assert not filled.schema["x"].nullable
    wrong = t.select("k", x=lambda r: r.x.assert_not_null())
    with pytest.raises(Exception, match="a cast to fp64 is required, but it is NULL"):
        wrong.execute(spark).collect()
    kept = t.filter(lambda r: r.x.is_not_null()).select(y=lambda r: r.x.assert_not_null() + 1)
    assert [tuple(row) for row in kept.execute(spark).collect()] == [(3.5,)]


@pytest.mark.parametrize(
    "use",
    [
        lambda t: t.aggregate(n=f.count(t.c.x)),
        lambda t: t.aggregate(n=f.count().filter(t.c.x.is_not_null())),
        lambda t: t.filter(lambda r: r.x.is_not_null()).aggregate(n=f.count()),
        lambda t: t.filter(lambda r: r.x.is_null()).aggregate(n=f.count()),
        lambda t: t.select(y=lambda r: sd.when(r.x.is_null()).then(1).otherwise(2)),
        lambda t: t.select(y=lambda r: sd.struct_of(a=r.x)),
        lambda t: t.with_columns(y=lambda r: f.count(r.x).over()).select("y"),
    ],
)
def test_an_assertion_holds_where_only_the_presence_of_a_value_counts(
    use: Callable[[sd.Relation[Any]], sd.Relation[Any]], tmp_path: Path, spark: SparkSession
) -> None:
    """Over a file: of rows of constants Spark computes the values before it knows that they are not asked for."""
    pq.write_table(pa.table({"x": pa.array([10, None, 30], pa.int64())}), tmp_path / "x.parquet")
    read = sd.read_files(tmp_path / "x.parquet", {"x": "i64?"})
    with pytest.raises(ExecutionError, match="a required value is NULL in cast"):
        use(read.select(x=lambda r: r.x.assert_not_null())).collect(spark)


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


@pytest.mark.parametrize(("value", "old", "new"), [case[:3] for case in PARTS])
def test_a_part_that_fails_is_not_the_whole(value: Any, old: t.Type, new: t.Type) -> None:
    with pytest.raises(UnsupportedError, match="a part that fails would be NULL"):
        to_sql(Cast(column(0, old), new.as_nullable(), "return_null"), scope("c0"))


def test_a_null_passes_every_length(spark: SparkSession) -> None:
    assert value_of(spark, Cast(literal(None, t.String(nullable=True)), t.FixedChar(3, nullable=True))) is None


# Conditionals and membership


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
