"""Calls of plans that were read: what fits no overload of its function has no meaning, and does not run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import UnsupportedError
from tests.spark.rows import collected
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = sd.read_virtual(
    [(1, "9", 2.5, dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 12), "9")],
    {
        "i": "i64",
        "s": "string",
        "x": "fp64?",
        "d": "date",
        "t": "precision_timestamp<6>",
        "v": "varchar<3>",
    },
)
PLACES = {name: place for place, name in enumerate(ROWS.columns)}


def argument(relation: Any, number: int) -> tuple[Any, Any]:
    """A plan as a message, and in it an argument of the call in its only project or aggregate."""
    plan = relation.to_plan().to_proto()
    rel = plan.relations[0].root.input
    while rel.WhichOneof("rel_type") not in ("project", "aggregate"):
        rel = getattr(rel, rel.WhichOneof("rel_type")).input
    if rel.WhichOneof("rel_type") == "project":
        call = rel.project.expressions[0].scalar_function
    else:
        call = rel.aggregate.measures[0].measure
    return plan, call.arguments[number].value


def with_column(relation: Any, number: int, column: str) -> Any:
    """A relation that is read from a plan, in which an argument of a call is another column."""
    plan, value = argument(relation, number)
    value.Clear()
    value.selection.direct_reference.struct_field.field = PLACES[column]
    value.selection.root_reference.SetInParent()
    return sd.Plan.from_proto(plan).roots[0]


def with_number(relation: Any, number: int) -> Any:
    """A relation that is read from a plan, in which an argument of a call is 5."""
    plan, value = argument(relation, number)
    value.Clear()
    value.literal.i32 = 5
    return sd.Plan.from_proto(plan).roots[0]


WITHOUT: dict[str, tuple[Callable[[], Any], str]] = {
    "min of texts": (
        lambda: with_column(ROWS.aggregate(z=lambda r: f.min(r.i)), 0, "s"),
        r"min:i64 does not take \(string\)",
    ),
    "sum of floats": (
        lambda: with_column(ROWS.aggregate(z=lambda r: f.sum(r.i)), 0, "x"),
        r"sum:i64 does not take \(fp64\?\)",
    ),
    "division by a float": (lambda: with_column(ROWS.select(z=lambda r: f.divide(r.i, r.i)), 1, "x"), "divide:i64_i64"),
    "one of two types": (lambda: with_column(ROWS.select(z=lambda r: f.coalesce(r.i, r.i)), 1, "x"), "coalesce:any"),
    "a number and a text": (lambda: with_column(ROWS.select(z=lambda r: r.i < r.i), 1, "s"), "lt:any_any"),
    "a number for a text": (
        lambda: with_number(ROWS.select(z=lambda r: f.regexp_replace(r.s, "a", "b")), 2),
        "regexp_replace:str_str_str",
    ),
    "a number for a format": (
        lambda: with_number(ROWS.select(z=lambda r: f.strftime(r.d, "%Y")), 1),
        "strftime:date_str",
    ),
}


@pytest.mark.parametrize("case", WITHOUT)
def test_a_call_without_a_meaning_is_refused(case: str, spark: SparkSession) -> None:
    make, told = WITHOUT[case]
    with pytest.raises(UnsupportedError, match=f"a call that has no meaning: {told}"):
        make().execute(spark)


def test_values_of_one_kind_are_compared(spark: SparkSession) -> None:
    """As in plans of other engines, which compare decimals of several types, and days with points in time."""
    day = with_column(ROWS.select(z=lambda r: r.d < r.d), 1, "t")
    text = with_column(ROWS.select(z=lambda r: r.s == r.s), 1, "v")
    assert collected(day, spark) == [(True,)]
    assert collected(text, spark) == [(True,)]
