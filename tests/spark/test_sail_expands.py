"""Copies of rows on Sail: values are chosen of lists, which are made before a row is copied; and percentiles."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl import everyday
from tests.relations.test_describe import COLUMNS, T
from tests.spark.rows import values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("name", COLUMNS)
def test_values_of_each_type_are_copied(name: str, sail: SparkSession) -> None:
    there = [each.replace(tzinfo=None) if name == "tz" else each for each in COLUMNS[name][1]]  # in UTC
    copied = T.expand(index="n", same=sd.col("i"), other=sd.switching(sd.col(name), None, sd.col(name)))
    rows = [tuple(row) for row in copied.sort("n", "same").collect(sail)]
    by_number = [(at, value) for at, value in sorted(zip(COLUMNS["i"][1], there, strict=True), key=lambda row: row[0])]
    assert rows == [(at, None if number == 1 else value, number) for number in range(3) for at, value in by_number]


def test_structs_are_copied_beside_numbers(sail: SparkSession) -> None:
    """A struct is chosen by a condition: a list has no structs whose fields differ in nullability."""
    copied = T.expand(
        index="n",
        at=sd.col("i"),
        pair=sd.switching(lambda r: sd.struct_of(v=r.i, w=r.n), lambda r: sd.struct_of(v=r.i, w=r.n)),
        k=sd.switching(sd.col("n"), sd.col("n"), sd.lit(7).cast(sd.I16)),
    )
    rows = [tuple(row) for row in copied.filter(lambda r: r.at == 1).sort("n").collect(sail)]
    assert rows == [(1, (1, None), None, 0), (1, (1, None), None, 1), (1, None, 7, 2)]


NAN = math.nan
SAMPLES: dict[str, list[Any]] = {
    "i8": [-128, 127, 0, 5],
    "i16": [-32768, 32767, 1],
    "i32": [2**31 - 1, -(2**31), 3],
    "i64": [2**63 - 1, 2**53 + 1, 2**53, -(2**63)],
    "fp32": [1.5, 2.0**127, 2.0**-149, NAN, math.inf],
    "fp64": [0.1, 1e308, 5e-324, NAN, -NAN, -math.inf],
    "date": COLUMNS["day"][1],
}


@pytest.mark.parametrize("type_", SAMPLES)
def test_a_percentile_is_the_value_at_its_place(type_: str, sail: SparkSession) -> None:
    """Of n values in order the one at ceil(share * n), NaN above all: of doubles, of days, and of lists of the rest."""
    rng = random.Random(7)
    sample = [rng.choice([None, *SAMPLES[type_]]) for _ in range(40)]
    there = sorted((each for each in sample if each is not None), key=lambda each: (each != each, each))
    shares = (0, 0.1, 0.25, 0.3, 0.5, 0.77, 1)
    found = values({"x": f"{type_}?"}, *((each,) for each in sample)).aggregate(
        **{f"p{number}": everyday.approx_percentile(sd.col("x"), share) for number, share in enumerate(shares)}
    )
    row = tuple(found.collect(sail)[0])
    expected = [there[max(math.ceil(share * len(there)), 1) - 1] for share in shares]
    assert list(map(str, row)) == list(map(str, expected))
