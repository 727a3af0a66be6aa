"""Statistics of columns: the rows that `Relation.describe` gives, and what it refuses."""

from __future__ import annotations

import datetime as dt
import statistics
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Cast
from substrait_dsl.algebra.node import walk
from substrait_dsl.errors import AmbiguousFieldError, InvalidArgumentError, SchemaError, UnknownFieldError
from tests.support import refused, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(2024, 3, 1)]
TIMES = [dt.datetime(2024, 1, 1, hour) for hour in (1, 2, 3)]
COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "i": ("i64", [4, 1, 3, 2]),
    "n": ("i16?", [5, None, 5, 5]),
    "x": ("fp64?", [1.5, None, 2.5, 1.0]),
    "y": ("fp32?", [None, 0.5, 0.5, 8.0]),
    "d": ("decimal<38,2>?", [Decimal("1.00"), Decimal("4.50"), None, Decimal("2.00")]),
    "s": ("string?", ["b", "aa", None, "b"]),
    "v": ("varchar<3>", ["z", "z", "Z", "z"]),
    "c": ("fixedchar<1>", ["r", "s", "t", "u"]),
    "b": ("boolean?", [True, False, None, True]),
    "day": ("date?", [DAYS[2], None, DAYS[0], DAYS[1]]),
    "at": ("precision_timestamp<6>?", [TIMES[1], TIMES[0], TIMES[2], None]),
    "tz": ("precision_timestamp_tz<6>", [time.replace(tzinfo=dt.UTC) for time in (*TIMES, TIMES[0])]),
    "xs": ("list?<i64>", [[1], None, [], [1]]),
    "raw": ("binary?", [b"a", None, None, None]),
    "none": ("i64?", [None] * 4),
}
"""Of each column its type and its values."""

T: Any = sd.read_virtual(
    [*zip(*(values for _, values in COLUMNS.values()), strict=True)],
    {name: type_ for name, (type_, _) in COLUMNS.items()},
)
NO_TEXTS = (None,) * 5
EXTREMES: dict[str, tuple[str | None, ...]] = {
    "i": ("1", "1", "2", "3", "4"),  # of four values the first is a quarter
    "n": ("5",) * 5,
    "x": ("1.0", "1.0", "1.5", "2.5", "2.5"),  # of three the first is more than a quarter, the second than a half
    "y": ("0.5", "0.5", "0.5", "8.0", "8.0"),
    "d": ("1.00", "1.00", "2.00", "4.50", "4.50"),
    "s": ("aa", None, None, None, "b"),
    "v": ("Z", None, None, None, "z"),  # code points: capitals come first
    "c": ("r", None, None, None, "u"),
    "b": ("false", None, None, None, "true"),
    "day": ("2024-01-01", "2024-01-01", "2024-01-02", "2024-03-01", "2024-03-01"),
    "at": tuple(f"2024-01-01 0{hour}:00:00" for hour in (1, 1, 2, 3, 3)),
    "tz": ("2024-01-01 01:00:00", None, None, None, "2024-01-01 03:00:00"),
    "xs": NO_TEXTS,
    "raw": NO_TEXTS,
    "none": NO_TEXTS,
}
"""The least value of each column, the percentiles 25, 50 and 75, and the largest."""
NOT_COMPARED = ("xs", "raw")
NUMBERS = ("i", "n", "x", "y", "d", "none")


def expected(name: str) -> tuple[object, ...]:
    """The row of a column."""
    type_, values = COLUMNS[name]
    there = [value for value in values if value is not None]
    differing = None if name in NOT_COMPARED else len(set(there))
    numbers = [float(value) for value in there] if name in (*NUMBERS, "b") else []
    mean = pytest.approx(statistics.mean(numbers)) if numbers else None
    deviation = pytest.approx(statistics.stdev(numbers)) if len(numbers) > 1 and name != "b" else None
    return name, str(table(f"x: {type_}").schema.types[0]), len(there), 4 - len(there), differing, mean, deviation


def statistics_are_right(session: SparkSession | None) -> None:
    """Compare the rows of all columns with Python's statistics; for these values the estimates are exact."""
    rows = [tuple(row) for row in T.describe().collect(session)]
    assert rows == [(*expected(name), *EXTREMES[name]) for name in COLUMNS]


def test_the_rows_are_pythons_statistics() -> None:
    statistics_are_right(None)


def test_floats_of_all_sizes_are_described() -> None:
    """Texts of floats have an exponent from 10000000 on, and below 0.001."""
    columns: dict[str, tuple[str, list[float]]] = {
        "large": ("fp64", [1e7, 2.0, 1.5e300]),
        "small": ("fp32", [0.5, 2.0**-149, 2.0**-10]),
        "infinite": ("fp64", [float("inf"), float("-inf"), -12345678.5]),
    }
    rows = [*zip(*(values for _, values in columns.values()), strict=True)]
    described: Any = sd.read_virtual(rows, {name: type_ for name, (type_, _) in columns.items()}).describe()
    assert [tuple(row) for row in described.select("column", "min", "p25", "p50", "p75", "max").collect()] == [
        ("large", "2.0", "2.0", "1.0E7", "1.5E300", "1.5E300"),
        ("small", "1.4E-45", "1.4E-45", "9.765625E-4", "0.5", "0.5"),
        ("infinite", "-Infinity", "-Infinity", "-1.23456785E7", "Infinity", "Infinity"),
    ]


def test_of_no_rows_there_are_counts_alone() -> None:
    rows = [tuple(row)[2:] for row in T.filter(lambda r: r.i > 9).describe("i", "s", "x").collect()]
    assert rows == [(0, 0, 0, *(None,) * 7)] * 3


def test_the_columns_are_the_same_whatever_is_described() -> None:
    columns = T.describe().schema
    assert str(columns.struct) == (
        "column: string, type: string, count: i64, nulls: i64, approx_distinct: i64?, mean: fp64?, std_dev: fp64?, "
        "min: string?, p25: string?, p50: string?, p75: string?, max: string?"
    )
    assert all(T.describe(name).schema == columns for name in COLUMNS)


def test_percentiles_are_named_by_their_share() -> None:
    described = T.describe("i", -1, percentiles=[0.1, 1 / 3, 0.999, 1])
    assert described.columns[7:-1] == ("min", "p10", "p33.3333333333", "p99.9", "p100")
    assert [row[11] for row in described.collect()] == ["4", None]
    assert T.describe("i", percentiles=()).columns[-2:] == ("min", "max")


def test_columns_of_one_name_have_a_row_each() -> None:
    twice = T.select("i").cross(T.select(i="x"))
    assert [tuple(row)[:3] for row in twice.describe().collect()] == [("i", "i64", 16), ("i", "fp64?", 12)]
    with refused(AmbiguousFieldError, "describe", "describe(0) or describe(1)"):
        twice.describe("i")


def test_the_table_is_read_once() -> None:
    waiting, reads = [T.describe()._rel], 0
    while waiting:
        rel = waiting.pop()
        reads += not rel.inputs
        waiting += rel.inputs
    assert reads == 1


@pytest.mark.parametrize(
    ("mistake", "error", "words"),
    [
        (lambda: T.describe("ii"), UnknownFieldError, ('"ii"', 'did you mean "i"')),
        (lambda: T.describe(["i", "n"]), InvalidArgumentError, ("by name or position", "*[...]")),
        (lambda: T.describe(percentiles=0.5), InvalidArgumentError, ("a list of numbers", "got 0.5", "[0.5]")),
        (lambda: T.describe(percentiles=[50]), InvalidArgumentError, ("from 0 to 1", "got 50")),
        (lambda: T.describe(percentiles=[float("nan")]), InvalidArgumentError, ("from 0 to 1", "nan")),
        (lambda: T.describe(percentiles=[True]), InvalidArgumentError, ("from 0 to 1", "True")),
        (lambda: T.describe(percentiles=[0.5, 0.50]), SchemaError, ('two columns would be called "p50"',)),
        (lambda: T.emit([]).describe(), SchemaError, ("no column to describe",)),
    ],
)
def test_what_does_not_fit_is_refused(mistake: Any, error: type[sd.SubstraitDslError], words: tuple[str, ...]) -> None:
    with refused(error, "describe", *words):
        mistake()


def casts_of_floats(columns: int) -> int:
    """The casts of floats to texts in the description of so many columns of two types."""
    types = {f"c{number}": "fp64?" if number % 2 else "fp32" for number in range(columns)}
    nodes = walk(sd.read_named("t", types).describe()._rel)
    casts = (node for node in nodes if isinstance(node, Cast) and isinstance(node.target, t.String))
    return sum(isinstance(cast.input.type, t.FP32 | t.FP64) for cast in casts)


def test_the_text_of_a_float_is_made_once_for_all_columns() -> None:
    """Of the least, the largest and three percentiles of each type; some engines write a text by a long expression."""
    assert [casts_of_floats(columns) for columns in (2, 20, 100)] == [10] * 3
