"""Window functions on Spark: against DuckDB on random rows with NULLs and repeats, and where only we are exact."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.catalog.cases import Column, Value, read_all
from tests.spark.rows import DuckdbRows, Tables, collected, counted, values
from tests.support import f, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession

PICK = random.Random(32)
COLUMNS = {"id": "i64", "g": "i64?", "k": "i64?", "x": "i64?"}
ROWS = [
    (number, *(PICK.choice((None, *range(-most, most))) for most in (1, 4, 50)))
    for number in PICK.sample(range(200), 60)
]
TABLES: Tables = {"t": (COLUMNS, ROWS)}

ID, G, K, X = map(sd.col, COLUMNS)

FRAMES: list[tuple[dict[str, Any], str]] = [
    ({"rows": (None, None)}, "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"),
    ({"rows": (None, 0)}, "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    ({"rows": (-2, 1)}, "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"),
    ({"rows": (-3, -1)}, "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING"),
    ({"rows": (1, None)}, "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING"),
    ({"rows": (-(2**40), 2**40)}, "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"),
]
RANGES: list[tuple[dict[str, Any], str]] = [
    ({}, "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),  # what a window with an order has by default
    ({"range": (None, None)}, "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"),
    ({"range": (0, 0)}, "RANGE BETWEEN CURRENT ROW AND CURRENT ROW"),
    ({"range": (0, None)}, "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"),
    ({"range": (-1, 2)}, "RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING"),
    ({"range": (-2, -1)}, "RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING"),
    ({"range": (1, None)}, "RANGE BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING"),
]
DIRECTIONS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda key: key.asc(nulls="first"), "ASC NULLS FIRST"),
    (lambda key: key.asc(nulls="last"), "ASC NULLS LAST"),
    (lambda key: key.desc(nulls="first"), "DESC NULLS FIRST"),
    (lambda key: key.desc(nulls="last"), "DESC NULLS LAST"),
]

UNIQUE = "OVER (PARTITION BY g ORDER BY k ASC NULLS FIRST, id ASC"
BY_UNIQUE: dict[str, Any] = {"partition_by": "g", "order_by": [K.asc(nulls="first"), ID.asc()]}
PEERS = "OVER (PARTITION BY g ORDER BY k ASC NULLS LAST)"
BY_PEERS: dict[str, Any] = {"partition_by": "g", "order_by": K.asc(nulls="last")}

NAMED: list[tuple[Any, str]] = [
    (f.row_number().over(**BY_UNIQUE), f"row_number() {UNIQUE})"),
    (f.rank().over(**BY_PEERS), f"rank() {PEERS}"),
    (f.dense_rank().over(**BY_PEERS), f"dense_rank() {PEERS}"),
    (f.percent_rank().over(**BY_PEERS), f"percent_rank() {PEERS}"),
    (f.cume_dist().over(**BY_PEERS), f"cume_dist() {PEERS}"),
    (f.ntile(3).over(**BY_UNIQUE), f"ntile(3) {UNIQUE})"),
    (f.lag(X).over(**BY_UNIQUE), f"lag(x) {UNIQUE})"),
    (f.lag(X, 3).over(**BY_UNIQUE), f"lag(x, 3) {UNIQUE})"),
    (f.lead(X, 2, 7).over(**BY_UNIQUE), f"lead(x, 2, 7) {UNIQUE})"),
    (f.lead(X, -1, 7).over(**BY_UNIQUE), f"lag(x, 1, 7) {UNIQUE})"),
    (f.lead(X, 1, ID).over(**BY_UNIQUE), f"lead(x, 1, id) {UNIQUE})"),
    (
        f.first_value(ID).over(**BY_UNIQUE, rows=(-1, 0)),
        f"first_value(id) {UNIQUE} ROWS BETWEEN 1 PRECEDING AND 0 PRECEDING)",
    ),
    (
        f.last_value(ID).over(**BY_UNIQUE, rows=(0, 2)),
        f"last_value(id) {UNIQUE} ROWS BETWEEN 0 PRECEDING AND 2 FOLLOWING)",
    ),
    (
        f.nth_value(X, 2).over(**BY_UNIQUE, rows=(-1, 1)),
        f"nth_value(x, 2) {UNIQUE} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    ),
    (f.count(X).distinct().over(**BY_UNIQUE, rows=(-4, 0)), f"count(DISTINCT x // 20) {UNIQUE} ROWS 4 PRECEDING)"),
    (f.sum(K).distinct().over(partition_by="g"), "sum(DISTINCT k) OVER (PARTITION BY g)"),
    (f.rank().over(), "1"),
    (f.sum(X).over(), "sum(x) OVER ()"),
    (f.sum(X + 1).over(partition_by=K % 2) * 2, "2 * sum(x + 1) OVER (PARTITION BY k % 2)"),
]
"""Window functions, and how SQL says the same; counting distinct values counts twentieths, so that some repeat."""


def over_frames() -> list[tuple[Any, str]]:
    made: list[tuple[Any, str]] = []
    functions = ((f.sum, "sum"), (f.count, "count"), (f.min, "min"), (f.max, "max"))
    for number, (frame, text) in enumerate(FRAMES):
        ours, theirs = functions[number % 4]
        made.append((ours(X).over(**BY_UNIQUE, **frame), f"{theirs}(x) {UNIQUE} {text})"))
    for number, (frame, text) in enumerate(RANGES):
        ours, theirs = functions[number % 4]
        for direction, order in DIRECTIONS:
            window = ours(X).over(partition_by="g", order_by=direction(K), **frame)
            made.append((window, f"{theirs}(x) OVER (PARTITION BY g ORDER BY k {order} {text})"))
    return made


def test_against_duckdb(spark: SparkSession, duckdb_rows: DuckdbRows) -> None:
    pairs = [*NAMED, *over_frames()]
    ours = {f"w{number}": window for number, (window, _) in enumerate(pairs)}
    ours["w14"] = f.count(f.divide(X + 1000, 20)).distinct().over(**BY_UNIQUE, rows=(-4, 0))
    sql = ", ".join(text for _, text in pairs).replace("DISTINCT x // 20", "DISTINCT (x + 1000) // 20")
    found = counted(values(COLUMNS, *ROWS).select("id", **ours), spark)
    assert {row[0]: row for row in found} == {row[0]: row for row in duckdb_rows(f"SELECT id, {sql} FROM t", TABLES)}


def test_the_cases_of_the_specification(spark: SparkSession) -> None:
    cases = [case for case in read_all() if case.kind == "window"]
    assert len(cases) == 6
    for case in cases:
        assert case.table is not None
        assert isinstance(case.expected, Value)
        (type_,) = case.table.types
        rows = [(number, *row) for number, row in enumerate(case.table.rows)]
        arguments = [sd.col("x") if isinstance(each, Column) else each.value for each in case.arguments]  # type: ignore[union-attr]  # there are no others
        call = getattr(f, case.function)(*arguments).over(order_by="n")
        table = sd.read_virtual(rows, {"n": sd.I64, "x": type_})
        found = collected(table.project(y=call).sort("n").select("y"), spark)
        assert [value for (value,) in found] == list(case.expected.value), case


def one(spark: SparkSession, kind: Any, keys: Sequence[Any], *windows: Any) -> list[tuple[Any, ...]]:
    """What windows give over rows with these keys, in their order."""
    table = sd.read_virtual(list(enumerate(keys)), {"n": sd.I64, "k": kind})
    made = table.project(**{f"w{number}": window for number, window in enumerate(windows)}).sort("n")
    return [tuple(row[2:]) for row in collected(made, spark)]


def near(distance: Any) -> Any:
    """How many rows have a key so near to that of the current one."""
    return f.count(sd.col("n")).over(order_by="k", range=(sd.preceding(distance), sd.following(distance)))


def test_ranges_over_every_kind_of_key(spark: SparkSession) -> None:
    low, high = -(2**63), 2**63 - 1
    # With Spark's own sums the ends of a type would be errors.
    assert one(spark, sd.I64, [low, low + 1, 0, high - 1, high], near(1)) == [(2,), (2,), (1,), (2,), (2,)]
    assert one(spark, sd.I8, [-128, -127, 0, 126, 127], near(sd.lit(1, sd.I8))) == [(2,), (2,), (1,), (2,), (2,)]
    money = [Decimal("0.10"), Decimal("0.35"), Decimal("0.60"), Decimal("0.86")]
    assert one(spark, sd.Decimal(9, 2), money, near(sd.lit(Decimal("0.25"), sd.Decimal(9, 2)))) == [
        (2,),
        (3,),
        (2,),
        (1,),
    ]
    assert one(spark, sd.FP64, [0.5, 1.0, 1.75, 4.0], near(0.75)) == [(2,), (3,), (2,), (1,)]
    days = [dt.datetime(2024, 2, 28), dt.datetime(2024, 2, 29, 12), dt.datetime(2024, 3, 2)]
    assert one(spark, sd.PrecisionTimestamp(6), days, near(dt.timedelta(days=1, hours=12))) == [(2,), (3,), (2,)]
    months = [dt.datetime(2024, 1, 31), dt.datetime(2024, 2, 29), dt.datetime(2024, 4, 1)]
    last_month = f.count(sd.col("n")).over(order_by="k", range=(sd.YearMonths(0, -1), 0))
    assert one(spark, sd.PrecisionTimestamp(6), months, last_month) == [(1,), (2,), (1,)]


def test_ranges_over_decimals_of_many_digits(spark: SparkSession) -> None:
    far = "1234567890123456789012345678900.999"  # of more digits than Python's decimals keep by default
    keys = [Decimal("0.000"), Decimal("-1234567890123456789012345678901.000"), Decimal(f"-{far}")]
    sums = f.sum(sd.col("n")).over(order_by="k", range=(Decimal(f"-{far}"), 0))
    assert one(spark, sd.Decimal(37, 3), keys, sums) == [(2,), (1,), (3,)]
    small = [Decimal("0.1"), Decimal("0.2"), Decimal("9999.9")]
    assert one(spark, sd.Decimal(5, 1), small, near(Decimal(12345678)), near(Decimal(9999))) == [(3, 2), (3, 2), (3, 1)]
    most = Decimal("1234567890123456789012345678901234")
    counts = [
        f.count().over(order_by=key, range=bounds)
        for key in ("k", sd.desc("k"))
        for bounds in ((0, most), (Decimal(f"-{most}"), 0))
    ]
    found = one(spark, sd.Decimal(37, 0), [Decimal(0), Decimal(1), most], *counts)
    assert found == [(3, 1, 1, 3), (2, 2, 2, 2), (1, 3, 3, 1)]
    with pytest.raises(UnsupportedError, match=r"takes 34 digits of the offset of a frame, \S+ has 35"):
        one(spark, sd.Decimal(37, 0), [Decimal(0)], f.count().over(order_by="k", range=(0, Decimal(f"{most}5"))))
    with pytest.raises(UnsupportedError, match=r"a range over decimal<37,3>, decimal<35,0> away"):
        one(spark, sd.Decimal(37, 3), keys, near(Decimal(10) ** 34))


def test_frames_without_rows(spark: SparkSession) -> None:
    beyond = {"order_by": "n", "rows": (sd.following(2**40), None)}
    crossed = {"order_by": "k", "range": (sd.following(sd.lit(3, sd.I32)), sd.following(sd.lit(5, sd.I32)))}
    found = one(
        spark,
        sd.I32,
        [1, 2],
        f.count(sd.col("n")).over(**beyond),
        f.sum(sd.col("n")).over(**beyond),
        f.nth_value(sd.col("n"), 1).over(**beyond),
        f.sum(sd.col("n")).over(**crossed),
        f.nth_value(sd.col("n"), 2).over(order_by="n", rows=(sd.preceding(2**40), sd.preceding(2**39))),
    )
    assert found == [(0, None, None, None, None)] * 2


def test_aggregates_that_spark_has_in_parts(spark: SparkSession) -> None:
    x, text = sd.col("k"), sd.col("n").cast(sd.String)
    found = one(
        spark,
        sd.I64,
        [2**63 - 1, 2**63 - 1, 2**63 - 2],
        f.avg(x).over(),
        f.sum0(sd.col("n")).over(order_by="n", rows=(None, -1)),
        f.avg(x.cast(sd.Decimal(19, 0))).over(),
        f.string_agg(text, ",").over(order_by="n"),
        f.median("EXACT", sd.col("n").cast(sd.I32)).over(),
        f.bool_and(x > 5).over(),
    )
    # Three times 2**63 less 1, 1 and 2: the average is 2**63 less 4/3, cut off for integers, rounded for decimals.
    same = (Decimal(2**63 - 1), 1, True)
    assert [(row[0], *row[2:3], *row[4:]) for row in found] == [(2**63 - 2, *same)] * 3
    assert [(row[1], row[3]) for row in found] == [(0, "0"), (0, "0,1"), (1, "0,1,2")]


def test_the_median_of_whole_partitions(spark: SparkSession) -> None:
    """Spark takes no order for it, and the whole partition is the same in any."""
    median = f.median("EXACT", sd.col("n").cast(sd.I32))
    whole: list[dict[str, Any]] = [
        {},
        {"partition_by": "n"},
        {"rows": (None, None)},
        {"rows": (None, None), "order_by": "n"},
        {"range": (None, None), "order_by": sd.desc("n")},
        {"rows": (-(2**40), 2**40), "order_by": "k"},
    ]
    found = one(spark, sd.I64, [1, 2, 4], *(median.over(**window) for window in whole))
    assert found == [(1, number, 1, 1, 1, 1) for number in range(3)]


def test_each_other_aggregate_takes_an_order_and_a_frame(spark: SparkSession) -> None:
    table = values({"i": "i64", "x": "fp64", "d": "decimal<5,2>", "b": "boolean", "s": "string"}, *FEW)
    i, x, d, b, s = map(sd.col, table.schema.names)
    spread = [measure(kind, x) for measure in (f.std_dev, f.variance) for kind in ("SAMPLE", "POPULATION")]
    measures = [
        *(measure(value) for measure in (f.sum, f.sum0, f.avg, f.min, f.max) for value in (i, x, d)),
        *(measure(i) for measure in (f.count, f.any_value, f.mode, f.approx_count_distinct)),
        *spread,
        f.corr(x, x),
        f.bool_and(b),
        f.bool_or(b),
        f.string_agg(s, ","),
    ]
    for window in ({"order_by": "i"}, {"rows": (-1, 1)}, {"order_by": "i", "rows": (-1, 1)}):
        made = table.select("i", **{f"m{n}": measure.over(**window) for n, measure in enumerate(measures)})
        assert len(collected(made, spark)) == len(FEW)


FEW = [(number, number / 2, Decimal(number), number > 1, str(number)) for number in range(4)]


def test_a_subquery_in_a_window_is_computed_before(spark: SparkSession) -> None:
    t = values({"a": "i64"}, (1,), (2,), (4,))
    most = sd.scalar_subquery(t.aggregate(m=lambda r: f.max(r.a)))

    def below(row: Any) -> Any:
        return sd.scalar_subquery(t.filter(lambda i: i.a < row.a).aggregate(n=f.count()))

    made = t.select("a", x=lambda r: f.sum(r.a * most).over(), y=lambda r: f.sum(below(r)).over())
    found = collected(made, spark)
    assert sorted(found) == [(1, 28, 3), (2, 28, 3), (4, 28, 3)]


def test_a_window_in_a_correlated_subquery(spark: SparkSession) -> None:
    t = values({"a": "i64"}, (1,), (2,), (4,))

    def last(row: Any) -> Any:
        ranked = t.filter(lambda i: i.a <= row.a).project(n=f.row_number().over(order_by="a"))
        return sd.scalar_subquery(ranked.aggregate(n=lambda r: f.max(r.n)))

    assert counted(t.select("a", n=last), spark) == {(1, 1): 1, (2, 2): 1, (4, 3): 1}


def test_windows_anywhere(spark: SparkSession) -> None:
    """In conditions, sort keys, keys and measures, and inside each other, where Spark takes none."""
    t = values({"a": "i64"}, (10,), (20,), (40,))
    place = f.row_number().over(order_by=sd.desc("a"))
    assert sorted(collected(t.filter((place <= 2) & (sd.col("a") < 40)), spark)) == [(20,)]
    assert collected(t.sort(place), spark) == [(40,), (20,), (10,)]
    grouped = t.aggregate((f.coalesce(place, 0) % 2).alias("by"), n=f.sum(place))
    assert sorted(collected(grouped, spark)) == [(0, 2), (1, 4)]
    inside = t.select("a", n=f.sum(place).over(order_by="a"))
    assert sorted(collected(inside, spark)) == [(10, 3), (20, 5), (40, 6)]


def test_numbers_of_windows_at_their_ends(spark: SparkSession) -> None:
    low, high = sd.lit(-(2**31), sd.I32), sd.lit(2**31 - 1, sd.I32)
    number = sd.col("n")
    found = one(
        spark,
        sd.I32,
        [1, 2],
        *(move(number, far, 7).over(order_by="k") for move in (f.lag, f.lead) for far in (low, high)),
        f.lag(number, sd.null(sd.I32), 7).over(order_by="k"),
        f.ntile(sd.null(sd.I32)).over(order_by="k"),
        f.ntile(high).over(order_by="k"),
    )
    assert found == [(7, 7, 7, 7, None, None, 1), (7, 7, 7, 7, None, None, 2)]


@pytest.mark.parametrize("kind", ["fp64", "fp32"])
def test_different_floats_over_windows(kind: str, spark: SparkSession) -> None:
    """The two zeros are one value, and so is what is no number."""
    rows = [(1, 0.0), (2, -0.0), (3, math.nan), (4, None), (5, math.nan), (6, 1.5)]
    found = sd.read_virtual(rows, {"k": "i64", "x": f"{kind}?"}).select(
        sofar=lambda r: f.count(r.x).distinct().over(order_by="k", rows=(None, 0)),
        all=lambda r: f.count(r.x).distinct().over(),
    )
    assert collected(found.sort("sofar"), spark) == [(1, 3), (1, 3), (2, 3), (2, 3), (2, 3), (3, 3)]


T = sd.read_virtual([(1, 0.5, Decimal(1))], {"a": sd.I64, "x": sd.FP64, "d": sd.Decimal(38, 2)})
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("only as a literal", lambda: f.sum(sd.col("a")).over(order_by="a", rows=(sd.preceding(sd.col("a")), 0))),
    ("range over decimal<38,2>", lambda: f.count(sd.col("a")).over(order_by="d", range=(-1, 0))),
    ("count over the distinct values", lambda: f.count(sd.list_of(sd.col("x"))).distinct().over()),
    ("sum over the distinct values", lambda: f.sum(sd.col("x")).distinct().over()),
    ("avg over the distinct values", lambda: f.avg(sd.col("a")).distinct().over()),
    ("only as a literal", lambda: f.lag(sd.col("a"), sd.col("a").cast(sd.I32)).over(order_by="a")),
    ("ntile of 0", lambda: f.ntile(0).over(order_by="a")),
    ("nth_value of -1", lambda: f.nth_value(sd.col("a"), -1).over(order_by="a")),
    ("nth_value of NULL", lambda: f.nth_value(sd.col("a"), sd.null(sd.I32)).over(order_by="a")),
    ("median over whole partitions only", lambda: f.median("EXACT", sd.col("x")).over(order_by="a")),
    ("median over whole partitions only", lambda: f.median("EXACT", sd.col("x")).over(order_by="a", rows=(-1, 1))),
    ("median over whole partitions only", lambda: f.median("EXACT", sd.col("x")).over(rows=(-1, 1))),
    ("over(rows=(None, None))", lambda: f.median("EXACT", sd.col("x")).over(order_by="a", range=(None, 0))),
    ("product", lambda: f.product(sd.col("a")).over()),
]


@pytest.mark.parametrize(("reason", "make"), REFUSED, ids=[reason for reason, _ in REFUSED])
def test_windows_that_are_refused(reason: str, make: Callable[[], Any], spark: SparkSession) -> None:
    with refused(UnsupportedError, "execute", reason):
        T.project(y=make()).execute(spark)
