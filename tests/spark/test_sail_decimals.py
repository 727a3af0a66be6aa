"""Decimals on Sail of texts with an exponent, and of floats, whose digits have one where they are large or small."""

from __future__ import annotations

import random
import struct
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING, Any

import pytest

from substrait_dsl.errors import ExecutionError
from tests.spark.rows import values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = ((38, 10), (38, 0), (38, 38), (10, 2), (5, 5))
"""Digits, and how many of them stand behind the point."""

EXACT = Context(prec=500)
BY_HAND: dict[str, str | None] = {
    "1e3": "1000.00",
    "1.5E-1": "0.15",
    "-.5e1": "-5.00",
    " +5.e0 ": "5.00",
    "0.005e0": "0.01",  # half away from zero
    "-0.0049e0": "0.00",
    "00012e-1": "1.20",
    "12345678.9e0": "12345678.90",
    "1e8": None,  # of ten digits two stand behind the point
    "1e999999999": None,
    "1e-999999999": "0.00",
    "0e9": "0.00",
    "1e": None,
    "e5": None,
    "1e5x": None,
}
"""The values of decimal<10,2>; None: there is none."""


def fitting(number: Decimal, precision: int, scale: int) -> Decimal | None:
    """The decimal of a type, rounded half away from zero; None: it has too many digits."""
    if number.adjusted() > 40:
        return None if number else Decimal(0)
    rounded = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT)
    return rounded if abs(rounded) < Decimal(10) ** (precision - scale) else None


def some_texts(count: int) -> list[str]:
    rng = random.Random(11)

    def digits(most: int, of: str) -> str:
        return "".join(rng.choice(of) for _ in range(rng.randint(0, most)))

    def text() -> str:
        before, behind = digits(12, "0123456789") or "7", digits(12, "0059")
        exponent = rng.choice((0, 1, 2, 5, 12, 20, 38, 45, 300))
        return f"{rng.choice(('', '-', '+'))}{before}.{behind}{rng.choice('eE')}{rng.choice(('', '+', '-'))}{exponent}"

    return [text() for _ in range(count)]


def some_floats(type_: str, count: int) -> list[float]:
    """Floats of all sizes, but no integers beyond 2^53, which Java before 19 writes with further digits."""
    rng = random.Random(13)
    floats = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-30, 15) for _ in range(count)]
    floats += [0.0, -0.0, 1e-7, 1e15, 2.0**-149, 2.0**53, 0.001, 1e7]
    return [struct.unpack("f", struct.pack("f", each))[0] for each in floats] if type_ == "fp32" else floats


def cast(source: str, column: list[Any], precision: int, scale: int, session: SparkSession) -> list[Decimal | None]:
    """Cast values that may not fit."""
    target = f"decimal<{precision},{scale}>?"
    rows: Any = values({"n": "i64", "x": source}, *enumerate(column))
    cast = rows.select("n", d=lambda r: r.x.cast(target, on_failure="return_null")).collect(session)
    return [value for _, value in sorted(cast)]


def test_texts_by_hand(sail: SparkSession) -> None:
    assert cast("string", list(BY_HAND), 10, 2, sail) == [each and Decimal(each) for each in BY_HAND.values()]


@pytest.mark.parametrize(("precision", "scale"), TYPES)
def test_texts_of_all_sizes(precision: int, scale: int, sail: SparkSession) -> None:
    texts = some_texts(150)
    assert cast("string", texts, precision, scale, sail) == [fitting(Decimal(text), precision, scale) for text in texts]


@pytest.mark.parametrize("type_", ["fp32", "fp64"])
@pytest.mark.parametrize(("precision", "scale"), TYPES)
def test_floats_of_all_sizes(precision: int, scale: int, type_: str, sail: SparkSession) -> None:
    """Of the fewest digits that read back as the double; of an fp32, as the double that it equals."""
    floats = some_floats(type_, 100)
    assert cast(type_, floats, precision, scale, sail) == [
        fitting(Decimal(repr(each)), precision, scale) for each in floats
    ]


@pytest.mark.parametrize("source", ["string", "fp32", "fp64"])
def test_spark_has_the_same(source: str, sail: SparkSession, spark: SparkSession) -> None:
    column: list[Any] = some_texts(150) if source == "string" else some_floats(source, 100)
    assert cast(source, column, 38, 10, sail) == cast(source, column, 38, 10, spark)


MISFITS: dict[str, tuple[str, object, str]] = {
    "a text": ("string", "1e8", "the value 100000000.00 does not fit"),
    "a float": ("fp64", 1e20, "the value 100000000000000000000.00 does not fit"),
    "no number": ("fp64", float("nan"), "cast"),
}


@pytest.mark.parametrize("case", MISFITS)
def test_what_does_not_fit_is_an_error(case: str, sail: SparkSession) -> None:
    source, value, words = MISFITS[case]
    rows: Any = values({"x": source}, (value,))
    with pytest.raises(ExecutionError, match=words):
        rows.select(d=lambda r: r.x.cast("decimal<10,2>")).collect(sail)
