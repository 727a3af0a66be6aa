"""Texts of floats on Sail: in the form of Java's Double.toString and Float.toString, with the shortest digits.

The expected text is computed from the decimals that read back as the float, as the documentation of Java 19 says: of
those of the fewest digits, at least two, the nearest one, and of two the even one.
"""

from __future__ import annotations

import math
import random
import re
import struct
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import substrait_dsl as sd
from tests.spark.rows import values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = 4511638
PLAIN, WITH_EXPONENT = re.compile(r"\d+\.\d+"), re.compile(r"[1-9]\.\d+E-?\d+")
"""The forms of texts, from 0.001 to 10000000 and outside of it."""

BY_HAND: dict[str, dict[float, str]] = {
    "fp64": {
        1e7: "1.0E7",
        9999999.999999998: "9999999.999999998",
        12345678.9: "1.23456789E7",
        10000000.000100002: "1.0000000000100002E7",
        9007199254740992.0: "9.007199254740992E15",
        1e16: "1.0E16",
        1.5e300: "1.5E300",
        1.7976931348623157e308: "1.7976931348623157E308",
        0.001: "0.001",
        0.00099: "9.9E-4",
        0.00001: "1.0E-5",
        1.5e-6: "1.5E-6",
        2.2250738585072014e-308: "2.2250738585072014E-308",
        5e-324: "4.9E-324",  # Java writes two digits at least, the nearest ones
        1e-323: "9.9E-324",
        0.0: "0.0",
        100.0: "100.0",
        math.inf: "Infinity",
    },
    "fp32": {
        16777216.0: "1.6777216E7",
        1e10: "1.0E10",
        2.0**-149: "1.4E-45",
        2.0**-126: "1.1754944E-38",
        2.0**128 - 2.0**104: "3.4028235E38",
        0.5: "0.5",
        math.inf: "Infinity",
    },
}
"""The texts of some floats."""


def as_fp32(value: float) -> float:
    """The nearest float of 32 bits; infinite above the largest."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]  # type: ignore[no-any-return]
    except OverflowError:
        return math.inf


def nearest(value: float, digits: int, rounded: Callable[[float], float]) -> Decimal | None:
    """The decimal of some digits that is nearest to a float, of those that read back as it; None: none does."""
    exact = Decimal(value)
    around = [Context(prec=digits, rounding=way).plus(exact) for way in (ROUND_FLOOR, ROUND_CEILING)]
    reading_back = [each for each in around if rounded(float(each)) == value]
    return min(reading_back, key=lambda each: (abs(each - exact), each.as_tuple().digits[-1] % 2), default=None)


def text_of(value: float, rounded: Callable[[float], float] = float) -> str:
    """The text of a positive, finite float in Java."""
    shortest = next(filter(None, (nearest(value, digits, rounded) for digits in range(1, 18))))
    _, digits, _ = shortest.normalize().as_tuple()
    if len(digits) == 1:
        shortest = nearest(value, 2, rounded) or shortest
    if 1e-3 <= value < 1e7:
        plain = format(shortest.normalize(), "f")
        return plain if "." in plain else f"{plain}.0"
    first, *others = shortest.normalize().as_tuple().digits
    return f"{first}.{''.join(map(str, others)) or 0}E{shortest.adjusted()}"


def some_doubles(random_: random.Random) -> Iterator[float]:
    """Positive doubles of all sizes, powers of ten and of two with their neighbours, and such as people write."""
    near = [10.0**exponent for exponent in range(-323, 309)] + [2.0**exponent for exponent in range(-1074, 1024)]
    for value in near:
        yield from (math.nextafter(value, 0), value, math.nextafter(value, math.inf))
    yield from (multiple * 5e-324 for multiple in range(1, 250))
    for _ in range(3000):
        yield abs(struct.unpack("<d", random_.randbytes(8))[0])
        yield round(random_.uniform(0, 1e9), random_.randrange(8))
        yield float(f"{random_.randrange(1, 10 ** random_.randrange(1, 8))}e{random_.randrange(-20, 25)}")


def some_singles(random_: random.Random) -> Iterator[float]:
    """Positive floats of 32 bits, as the doubles."""
    starts = [0, *(struct.unpack("<I", struct.pack("<f", 10.0**exponent))[0] for exponent in range(-44, 39))]
    bits = [start + more for start in (*starts, *range(0, 255 << 23, 1 << 23)) for more in (-1, 0, 1)]
    bits += [*range(250), *(random_.randrange(255 << 23) for _ in range(5000))]
    yield from (struct.unpack("<f", struct.pack("<I", each))[0] for each in bits if 0 < each < 255 << 23)


def texts(type_: str, floats: list[float], session: SparkSession) -> list[str]:
    """The texts of floats, and those of the negated ones, in order."""
    arrow = {"fp32": pa.float32(), "fp64": pa.float64()}[type_]
    read = sd.read_named("floats_to_write", {"x": type_, "i": "i64"})
    columns = pa.table({"x": pa.array(floats, arrow), "i": pa.array(range(len(floats)), pa.int64())})
    columns = columns.cast(pa.schema([pa.field(each.name, each.type, nullable=False) for each in columns.schema]))
    written: Any = read.select("i", s=lambda r: r.x.cast("string")).sort("i")
    return [row[1] for row in written.collect(session, tables={"floats_to_write": columns})]


@pytest.mark.parametrize("type_", BY_HAND)
def test_texts_by_hand(type_: str, sail: SparkSession) -> None:
    floats, expected = list(BY_HAND[type_]), list(BY_HAND[type_].values())
    assert texts(type_, floats, sail) == expected
    assert texts(type_, [-each for each in floats], sail) == [f"-{each}" for each in expected]
    assert texts(type_, [math.nan, -math.nan], sail) == ["NaN", "NaN"]


def test_the_expected_texts_are_those_by_hand() -> None:
    for type_, rounded in (("fp64", float), ("fp32", as_fp32)):
        by_hand = {value: text for value, text in BY_HAND[type_].items() if 0 < value < math.inf}
        assert {value: text_of(value, rounded) for value in by_hand} == by_hand


@pytest.mark.parametrize("type_", BY_HAND)
def test_texts_of_floats_of_all_sizes(type_: str, sail: SparkSession) -> None:
    some, rounded = (some_doubles, float) if type_ == "fp64" else (some_singles, as_fp32)
    floats = [each for each in dict.fromkeys(some(random.Random(SEED))) if 0 < each < math.inf]
    assert len(floats) > 5000
    expected = [text_of(each, rounded) for each in floats]
    assert [pair for pair in zip(texts(type_, floats, sail), expected, strict=True) if pair[0] != pair[1]] == []
    negated = texts(type_, [-each for each in floats], sail)
    assert [pair for pair in zip(negated, expected, strict=True) if pair[0] != f"-{pair[1]}"] == []


@pytest.mark.parametrize("type_", BY_HAND)
def test_texts_of_spark_are_of_that_form(type_: str, spark: SparkSession) -> None:
    """The digits may be more: those of Java before 19 are not always the fewest."""
    some, rounded = (some_doubles, float) if type_ == "fp64" else (some_singles, as_fp32)
    floats = random.Random(SEED).sample([each for each in some(random.Random(SEED)) if 0 < each < math.inf], 400)
    found = texts(type_, floats, spark)
    assert [rounded(float(text)) for text in found] == floats
    expected = [text_of(each, rounded) for each in floats]
    assert all(
        (PLAIN if 1e-3 <= x < 1e7 else WITH_EXPONENT).fullmatch(text) for x, text in zip(floats, found, strict=True)
    )
    assert sum(a == b for a, b in zip(found, expected, strict=True)) > 320


FLOATS = values({"x": "fp64", "y": "fp32?", "xs": "list<fp64>"}, (1e20, 1e-9, [1e7, 2.0]), (-0.5, None, []))
PLACES: dict[str, tuple[Any, list[object]]] = {
    "a text of some length": (lambda r: r.x.cast("varchar<6>"), ["1.0E20", "-0.5"]),
    "a text that does not fit": (lambda r: r.x.cast("varchar<5>?", on_failure="return_null"), [None, "-0.5"]),
    "NULL": (lambda r: r.y.cast("string?"), ["1.0E-9", None]),
    "lists": (lambda r: r.xs.cast("list<string>"), [["1.0E7", "2.0"], []]),
    "values of a map": (lambda r: sd.map_of({"k": r.x}).cast("map<string,string>"), [{"k": "1.0E20"}, {"k": "-0.5"}]),
    "parts of a record": (
        lambda r: sd.struct_of(a=r.x, b=r.y).cast("nstruct<a:string,b:string?>"),
        [("1.0E20", "1.0E-9"), ("-0.5", None)],
    ),
    "text of a text": (lambda r: r.x.cast("string").cast("fp64").cast("string"), ["1.0E20", "-0.5"]),
}
"""Casts of floats in larger expressions, and what they give for both rows."""


@pytest.mark.parametrize("place", PLACES)
def test_texts_of_floats_inside(place: str, sail: SparkSession) -> None:
    cast, expected = PLACES[place]
    relation = FLOATS.select(c=cast)
    assert relation.execute(sail).schema == relation.schema.to_spark()
    assert [row[0] for row in relation.collect(sail)] == expected
