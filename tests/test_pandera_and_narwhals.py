"""Schemas of pandera and frames of narwhals, of the packages themselves."""

from __future__ import annotations

import datetime as dt
from typing import Any

import narwhals as nw
import pandas as pd
import pandera.pandas as pandera
import pandera.polars as pandera_polars
import polars as pl
import pytest
from pandera.typing import Series

import substrait_dsl as sd
from substrait_dsl.errors import InvalidArgumentError, SubstraitDslError, UnsupportedError
from tests.support import columns, refused


class Trips(pandera.DataFrameModel):
    key: Series[int]
    name: Series[str] = pandera.Field(nullable=True)
    price: float
    seats: Series[pd.Int32Dtype] = pandera.Field(nullable=True)
    is_open: bool
    start: Series[pd.Timestamp]


class PolarsTrips(pandera_polars.DataFrameModel):
    key: int
    name: str = pandera_polars.Field(nullable=True)
    day: dt.date
    start: pl.Datetime("us")  # type: ignore[valid-type]  # pandera takes a type that is a value
    price: pl.Decimal(15, 2)  # type: ignore[valid-type]  # likewise
    stops: pl.List(pl.Int64)  # type: ignore[valid-type]  # likewise


PANDAS = "key: i64, name: string?, price: fp64, seats: i32?, is_open: boolean, start: precision_timestamp<9>"
POLARS = "key: i64, name: string?, day: date, start: precision_timestamp<6>, price: decimal<15,2>, stops: list<i64?>"


@pytest.mark.parametrize(("model", "said"), [(Trips, PANDAS), (PolarsTrips, POLARS)])
def test_a_model_of_pandera_declares_columns(model: Any, said: str) -> None:
    assert columns(sd.read_named("t", model)) == said
    assert columns(sd.read_named("t", model.to_schema())) == said


def test_what_a_model_of_pandera_accepts_is_read_by_its_columns() -> None:
    model = pandera.DataFrameSchema({"key": pandera.Column(int), "name": pandera.Column(str, nullable=True)})
    frame = model.validate(pd.DataFrame({"key": [1, 2], "name": ["x", None]}))
    read = sd.read_named("t", model).filter(lambda r: r.key > 1)
    assert [tuple(row) for row in read.collect(tables={"t": frame})] == [(2, None)]


@pytest.mark.parametrize(
    ("column", "error", "words"),
    [
        (pandera.Column(int, required=False), InvalidArgumentError, "stands in every row"),
        (pandera.Column(int, regex=True), InvalidArgumentError, "has one name"),
        (pandera.Column(), InvalidArgumentError, "it has no type"),
        (pandera.Column("category"), UnsupportedError, "the type category of pandera"),
        (pandera.Column(object), UnsupportedError, "the type object of pandera"),
    ],
)
def test_a_column_of_pandera_that_says_no_type_is_refused(
    column: Any, error: type[SubstraitDslError], words: str
) -> None:
    with refused(error, 'column "x"', words):
        sd.read_named("t", pandera.DataFrameSchema({"x": column}))


FRAMES: dict[str, Any] = {
    "of Polars": pl.DataFrame({"a": [1, None], "b": ["x", "y"]}),
    "of pandas": pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": ["x", "y"]}),
    "lazy": pl.LazyFrame({"a": [1, None], "b": ["x", "y"]}),
}


@pytest.mark.parametrize("native", FRAMES.values(), ids=FRAMES)
def test_a_frame_of_narwhals_declares_columns(native: Any) -> None:
    frame = nw.from_native(native)
    assert columns(sd.read_named("t", frame)) == "a: i64?, b: string?"
    assert columns(sd.read_named("t", frame.collect_schema())) == "a: i64?, b: string?"


@pytest.mark.parametrize("name", ["of Polars", "of pandas"])
def test_a_frame_of_narwhals_has_rows(name: str) -> None:
    frame = nw.from_native(FRAMES[name])
    rows = [(1, "x"), (None, "y")]
    assert [tuple(row) for row in sd.from_arrow(frame).collect()] == rows
    assert [tuple(row) for row in sd.read_named("t", frame).collect(tables={"t": frame})] == rows


def test_a_lazy_frame_of_narwhals_is_to_be_collected() -> None:
    lazy = nw.from_native(FRAMES["lazy"])
    with refused(InvalidArgumentError, "from_arrow", "frame.collect()"):
        sd.from_arrow(lazy)
    assert len(sd.from_arrow(lazy.collect()).collect()) == 2
