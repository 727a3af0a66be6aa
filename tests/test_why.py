"""The page about other libraries: what it says of those that are installed is so."""

from __future__ import annotations

import re
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import substrait.dataframe as peer

import substrait_dsl as sd
from examples.everyday import pipelines
from tests.everyday_forms import polars_forms, pyspark_forms
from tests.test_everyday_examples import lengths

PAGE = (Path(__file__).parent.parent / "docs" / "why.md").read_text(encoding="utf-8")
ORDERS = sd.read_named("orders", {"id": "i64", "age": "i64?", "price": "decimal<9,2>?", "weight": "fp64"})
PEOPLE: Any = peer.read_named_table("people", {"id": peer.i64.non_null, "age": peer.i64})


def test_the_versions_are_those_that_are_run() -> None:
    assert f"PySpark {version('pyspark').rpartition('.')[0]}," in PAGE
    assert f"Polars {version('polars').rpartition('.')[0]} and substrait-python {version('substrait')}," in PAGE


def test_a_decimal_is_not_compared_with_a_text() -> None:
    frame = pl.DataFrame({"price": [Decimal("1.50")]}, schema={"price": pl.Decimal(9, 2)})
    assert frame.filter(pl.col("price") > "x").height == 0
    with pytest.raises(sd.SubstraitDslError) as caught:
        ORDERS.filter(lambda o: o.price > "x")
    assert f"\n{caught.value._headline()}\n" in PAGE


def test_and_between_conditions_is_an_error_but_in_the_peer() -> None:
    column = pl.col("id")
    with pytest.raises(TypeError):
        (column > 1) and (column > 2)  # noqa: B018
    with pytest.raises(sd.errors.TypeMismatchError, match="&"):
        ORDERS.filter(lambda o: (o.id > 1) and (o.age > 2))
    lost = PEOPLE.filter((peer.col("id") > 1) and (peer.col("age") > 2)).to_plan()
    assert lost == PEOPLE.filter(peer.col("age") > 2).to_plan()


def test_large_integers_are_not_compared_with_floats() -> None:
    frame = pl.DataFrame({"id": [2**53 + 1], "weight": [2.0**53]})
    assert frame.filter(pl.col("id") == pl.col("weight")).height == 1
    with pytest.raises(sd.errors.FunctionNotFoundError, match="cast"):
        ORDERS.filter(lambda o: o.id == o.weight)


def test_integers_wrap_in_polars() -> None:
    assert pl.DataFrame({"x": [2**63 - 1]}).select(pl.col("x") + 1).item() == -(2**63)


def test_where_a_misspelt_column_is_found() -> None:
    with pytest.raises(sd.errors.UnknownFieldError):
        ORDERS.filter(lambda o: o.agee > 1)
    frame = pl.LazyFrame({"age": [1]}).filter(pl.col("agee") > 1)
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        frame.collect_schema()
    late = PEOPLE.filter(peer.col("agee") > 1)
    with pytest.raises(ValueError, match="agee"):
        late.to_plan()
    assert not hasattr(PEOPLE, "schema")


def test_how_deep_plans_are() -> None:
    """A parser of protobuf goes 100 messages deep, and two stand for each filter."""

    def filtered(rows: Any, steps: int, column: Any) -> Any:
        for number in range(steps):
            rows = rows.filter(column > number)
        return rows

    assert "cannot write a chain of 47 filters" in PAGE
    filtered(PEOPLE, 46, peer.col("age")).to_plan()
    with pytest.raises(Exception, match="Error parsing message"):
        filtered(PEOPLE, 47, peer.col("age")).to_plan()
    plan = filtered(ORDERS, 1000, sd.col("age")).to_plan()
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan


def test_the_lengths_are_those_of_the_forms() -> None:
    said = re.search(r"have ([\d,]+) characters without blanks, in PySpark ([\d,]+) and in Polars ([\d,]+)\.", PAGE)
    assert said is not None
    files = (pipelines.__file__, pyspark_forms.__file__, polars_forms.__file__)
    assert list(said.groups()) == [f"{sum(lengths(str(file)).values()):,}" for file in files]
