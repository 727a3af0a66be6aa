"""Measures on Spark: filters, distinct values, order, exact averages."""

from __future__ import annotations

import decimal
import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast, FunctionOption, Measure, SortKey
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.sql_text import aggregate_to_sql
from substrait_dsl.spark.expressions.types import type_to_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from tests.spark.evaluation import N64, aggregate, call, column, rows_of, scope
from tests.spark.rows import counted
from tests.support import f

pytestmark = pytest.mark.usefixtures("compiled")


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


@pytest.mark.parametrize("nulls", ["first", "last"])
@pytest.mark.parametrize("way", [sd.asc, sd.desc])
def test_any_value_in_an_order_is_the_first(way: Any, nulls: Literal["first", "last"], spark: SparkSession) -> None:
    rows = [("a", 3, "c3"), ("a", 1, "a1"), ("a", None, None), ("b", 7, None), ("b", 7, "y"), ("c", None, "z")]

    def first(key: str, among: Callable[[Any], bool]) -> str | None:
        numbers = {number: text for k, number, text in rows if k == key and among((number, text))}
        there = sorted((number for number in numbers if number is not None), reverse=way is sd.desc)
        order = [None, *there] if nulls == "first" else [*there, None]
        return next((numbers[number] for number in order if number in numbers), None)

    read = sd.read_virtual(rows, {"k": "string", "i": "i32?", "s": "string?"})
    found = read.group_by("k").agg(
        all=f.any_value(sd.col("s")).order_by(way("i", nulls=nulls), way("s", nulls="last")),
        both_ways=f.any_value(sd.col("s")).order_by(way("i", nulls=nulls), sd.desc("s", nulls="last")),
        known=f.any_value(sd.col("s"), ignore_nulls="TRUE").order_by(way("i", nulls=nulls)),
        few=f.any_value(sd.col("s")).filter(sd.col("i") < 3).order_by(way("i", nulls=nulls)),
    )
    texts = {"a": first("a", lambda _: True), "b": "y", "c": "z"}
    few = {"a": "a1", "b": None, "c": None}
    known = {key: first(key, lambda row: row[1] is not None) for key in texts}
    assert counted(found, spark) == Counter((key, texts[key], texts[key], known[key], few[key]) for key in texts)


def test_decimal_averages_are_rounded_once(spark: SparkSession) -> None:
    # 49996 of 100000 ones: 0.49996 is nearer to 0, but to four digits it is a half.
    type_ = t.Decimal(1, 0)
    frame = spark.sql("SELECT CAST(if(id < 49996, 1, 0) AS DECIMAL(1,0)) AS c0 FROM range(100000)")
    average = aggregate_to_sql(Measure(aggregate("avg", column(0, type_))), scope("c0"))
    assert frame.selectExpr(average).collect()[0][0] == 0
    long = t.Decimal(38, 5)
    values = [Decimal("999999999999999999999999.99999"), Decimal("-0.00002"), Decimal("1.00000")]
    average = aggregate_to_sql(Measure(aggregate("avg", column(0, long))), scope("c0"))
    found = rows_of(spark, [long], [(value,) for value in values]).selectExpr(average).collect()[0][0]
    with decimal.localcontext(prec=60):
        assert found == (sum(values, Decimal(0)) / 3).quantize(Decimal("0.00001"), decimal.ROUND_HALF_UP)


@pytest.mark.parametrize("scale", [*range(3, 20, 2), 6, 18])
def test_decimal_averages_have_all_their_digits(scale: Any, spark: SparkSession) -> None:
    type_ = t.Decimal(38, scale)
    least = Decimal(1).scaleb(-scale)
    values = [2 * least, 7 * least, 9 * least, Decimal(10**6), Decimal(-7), -3 * least, 5 * least]
    average = aggregate_to_sql(Measure(aggregate("avg", column(0, type_))), scope("c0"))
    (found,) = rows_of(spark, [type_], [(value,) for value in values]).selectExpr(average).collect()[0]
    with decimal.localcontext(prec=60):
        assert found == (sum(values, Decimal(0)) / 7).quantize(least, decimal.ROUND_HALF_UP)


@pytest.mark.parametrize("name", ["sum", "sum0", "avg"])
def test_floats_overflow_to_infinity_or_to_an_error(name: str, spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    type_ = t.FP64(nullable=True)
    value = column(0, type_)
    on_overflow = FunctionOption("overflow", ("ERROR",))
    silent = aggregate_to_sql(Measure(aggregate(name, value)), scope("c0"))
    strict = aggregate_to_sql(Measure(aggregate(name, value, options=(on_overflow,))), scope("c0"))

    def found(text: str, *values: float | None) -> float:
        result = rows_of(spark, [type_], [(value,) for value in values]).selectExpr(text).collect()[0][0]
        assert isinstance(result, float)
        return result

    assert found(strict, 1.5, None, 1.5) == found(silent, 1.5, None, 1.5) == (1.5 if name == "avg" else 3.0)
    assert found(silent, 1e308, None, 1e308) == math.inf
    assert found(strict, 1e308, None, -math.inf) == -math.inf  # which was there
    assert math.isnan(found(strict, 1e308, math.nan, 1e308))
    for values in ((1e308, 1e308), (-1e308, None, -1e308)):
        with pytest.raises(PySparkException, match="a sum does not fit a float"):
            found(strict, *values)


def test_the_mode_of_distinct_values_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="mode over distinct values"):
        aggregate_to_sql(Measure(aggregate("mode", column(0, N64), invocation="distinct")), scope("c0"))


def test_an_average_that_would_be_rounded_twice_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"average of decimal<38,20>"):
        aggregate_to_sql(Measure(aggregate("avg", column(0, t.Decimal(38, 20)))), scope("c0"))


def test_what_is_cast_to_more_digits_is_added_up_before(spark: SparkSession) -> None:
    money = column(0, t.Decimal(15, 2))
    cases = [
        (Cast(money, t.Decimal(38, 12)), "sum(c0)", Decimal(2) / 3),
        (Cast(Cast(money, t.Decimal(17, 4)), t.Decimal(20, 4)), "sum(c0)", Decimal("0.6667")),
        (Cast(money, t.Decimal(14, 1)), "CAST(c0 AS DECIMAL(14,1))", Decimal("0.7")),  # 0.05 is rounded before
        (Cast(money, t.Decimal(15, 4)), "CAST(c0 AS DECIMAL(15,4))", Decimal("0.6667")),  # holds fewer digits in front
    ]
    frame = rows_of(spark, [t.Decimal(15, 2)], [(Decimal("1.95"),), (Decimal("0.05"),), (Decimal("0.00"),)])
    for value, inside, average in cases:
        text = aggregate_to_sql(Measure(aggregate("avg", value)), scope("c0"))
        assert inside in text
        (found,) = frame.selectExpr(text).collect()[0]
        assert found == average.quantize(found)


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


def test_the_median_of_an_even_number_of_floats_is_rounded_once(spark: SparkSession) -> None:
    """Halves of sums: of neither the difference nor the sum of the two in the middle may Spark make a float first."""
    most, least = sys.float_info.max, 5e-324
    numbers = [0.0, least, 3 * least, 0.1, 1.0, 3.0000000000000004, 1e16 + 2, most / 2, most]
    numbers += [-number for number in numbers[1:]]
    pairs = list(itertools.combinations_with_replacement(numbers, 2))
    endless = [(-math.inf, 1.0, -math.inf), (math.inf, most, math.inf), (math.inf, math.inf, math.inf)]
    wanted = [float((Fraction(low) + Fraction(high)) / 2) for low, high in pairs] + [half for *_, half in endless]
    pairs += [(low, high) for low, high, _ in endless]
    rows = [(number, each) for number, pair in enumerate(pairs) for each in pair]
    medians = {
        "median": lambda r: f.median("EXACT", r.x),
        "distinct": lambda r: f.median("EXACT", r.x).distinct(),
        "left": lambda r: f.median("EXACT", r.x).filter(r.x < 1),
    }
    table = sd.read_virtual(rows, {"n": "i64", "x": "fp64"})
    found = table.group_by("n").agg(**medians).sort("n").collect(spark)
    assert [row.median for row in found] == wanted
    assert [row.distinct for row in found] == wanted
    left = [[each for each in pair if each < 1] for pair in pairs]
    assert [row.left for row in found] == [
        half if len(few) == 2 else next(iter(few), None) for half, few in zip(wanted, left, strict=True)
    ]
    windows = table.project(w=lambda r: f.median("EXACT", r.x).over(partition_by="n")).sort("n").collect(spark)
    assert [row.w for row in windows] == [half for half in wanted for _ in range(2)]
    largest = 3.4028234663852886e38
    small = sd.read_virtual([(largest,), (largest,)], {"x": "fp32"}).aggregate(m=medians["median"])
    assert small.collect(spark) == [(largest,)]


def test_medians_of_odd_numbers_and_of_none(spark: SparkSession) -> None:
    rows = [(1, 3.0), (1, None), (1, 1.0), (1, 1.0), (2, None), (3, math.nan), (3, 1.0), (3, 2.0)]
    table = sd.read_virtual(rows, {"n": "i64", "x": "fp64?"})
    found = (
        table.group_by("n")
        .agg(a=lambda r: f.median("EXACT", r.x), d=lambda r: f.median("EXACT", r.x).distinct())
        .sort("n")
        .collect(spark)
    )
    assert found == [(1, 1.0, 2.0), (2, None, None), (3, 2.0, 2.0)]  # NaN is greater than all others


LARGEST = 2**63 - 1
EXTREMES: dict[int, list[int | None]] = {
    1: [LARGEST, LARGEST, -LARGEST, -LARGEST],
    2: [None, None],
    3: [-LARGEST - 1],
    4: [LARGEST, -LARGEST - 1, None, 3, 3],
    5: [-LARGEST - 1, LARGEST, -1, -LARGEST, LARGEST, 1, LARGEST - 1],
}
"""Numbers whose sum fits i64 and that of a part of which does not, by group."""


def of_extremes(values: list[int | None]) -> tuple[int | None, int, int | None]:
    """The sum, the sum that is 0 of no numbers, and the average, of which nothing is left behind the point."""
    numbers = [value for value in values if value is not None]
    total = sum(numbers)
    return (total, total, int(Fraction(total, len(numbers)))) if numbers else (None, 0, None)


def test_a_sum_of_integers_that_fits_is_no_overflow_on_the_way(spark: SparkSession) -> None:
    rows = [(key, x) for key, values in EXTREMES.items() for x in values]
    table = sd.read_virtual(rows, {"k": "i64", "x": "i64?"})
    x = sd.col("x")
    named = {"total": f.sum(x), "or_0": f.sum0(x), "mean": f.avg(x)}
    due = {key: of_extremes(values) for key, values in EXTREMES.items()}
    assert table.group_by("k").agg(**named).sort("k").collect(spark) == [(key, *due[key]) for key in due]
    windows = {name: measure.over(partition_by="k") for name, measure in named.items()}
    found = table.select("k", **windows).distinct().sort("k").collect(spark)
    assert found == [(key, *due[key]) for key in due]
    of_distinct = {key: of_extremes(list(set(values))) for key, values in EXTREMES.items()}
    distinct = {name: measure.distinct() for name, measure in named.items()}
    found = table.group_by("k").agg(**distinct).sort("k").collect(spark)
    assert found == [(key, *of_distinct[key]) for key in due]
    windows = {name: distinct[name].over(partition_by="k") for name in ("total", "or_0")}
    found = table.select("k", **windows).distinct().sort("k").collect(spark)
    assert found == [(key, *of_distinct[key][:2]) for key in due]


def test_a_sum_of_decimals_keeps_all_digits(spark: SparkSession) -> None:
    least = Decimal("1e-38")
    table = sd.read_virtual([(1, least), (1, least)], {"n": "i64", "d": "decimal<38,38>"})
    found = table.aggregate(s=lambda r: f.sum0(r.d), none=lambda r: f.sum0(r.d).filter(r.n > 1)).collect(spark)
    assert found == [(2 * least, Decimal(0))]


def test_about_how_many_different_values_with_nulls_inside(spark: SparkSession) -> None:
    """Spark's number is within a twentieth, most of the time; its hash of a value passes over the NULLs in it."""
    many = 200
    rows: list[tuple[Any, Any]] = [((number, None), [None] * number) for number in range(many)]
    rows += [((None, number), [None] * number) for number in range(many)]
    table = sd.read_virtual(rows, {"pair": "nstruct<a: i64?, b: i64?>", "xs": "list<i64?>"})
    pairs, lists = table.aggregate(
        pairs=lambda r: f.approx_count_distinct(r.pair), lists=lambda r: f.approx_count_distinct(r.xs)
    ).collect(spark)[0]
    assert abs(pairs - 2 * many) < 2 * many / 5
    assert abs(lists - many) < many / 5


def test_the_mode_of_both_zeros(spark: SparkSession) -> None:
    table = sd.read_virtual([(x,) for x in (0.0, -0.0, 0.0, -0.0, 1.0, 1.0, 1.0)], {"x": "fp64"})
    assert table.aggregate(m=lambda r: f.mode(r.x)).collect(spark) == [(0.0,)]


def test_refused_measures() -> None:
    x = column(0, t.I64())
    with pytest.raises(UnsupportedError, match="product"):
        aggregate_to_sql(Measure(aggregate("product", x)), scope("c0"))
