"""What becomes of the specification's cases of functions on Sail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal, ScalarFunction
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.sql_text import aggregate_to_sql, to_sql
from substrait_dsl.spark.expressions.types import type_to_spark
from tests.spark import test_functions as specification

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOGETHER = 20
"""How many cases one query has, as long as none of them fails."""

Results = list[tuple[str, str]]
"""Of each case what became of it, and what it was."""


def scalar_row(cases: Sequence[specification.Runnable], spark: SparkSession) -> tuple[list[str], Sequence[Any]]:
    """The types and the values of calls, computed of columns."""
    columns: list[Literal] = []
    calls = [specification.with_columns(c.call, columns) for c in cases if isinstance(c.call, ScalarFunction)]
    inputs = [f"{to_sql(each, specification.scope(0))} AS c{number}" for number, each in enumerate(columns)]
    texts = [to_sql(call, specification.scope(len(columns))) for call in calls]
    shown = [specification.collectable(text, call.type) for text, call in zip(texts, calls, strict=True)]
    result = spark.range(1).selectExpr("id", *inputs).selectExpr(*shown)
    return [field.dataType.simpleString() for field in result.schema], result.collect()[0]


def aggregate_row(cases: Sequence[specification.Runnable], spark: SparkSession) -> tuple[list[str], Sequence[Any]]:
    """The type and the value of one measure."""
    (each,) = cases
    table = each.case.table
    assert table is not None
    kinds = [t.I32(), *(type_.as_nullable() for type_ in table.types)]
    frame = specification.values(spark, kinds, [(0, 1, table.types, row) for row in table.rows])
    text = aggregate_to_sql(specification.picking(each.call, 0, 1), specification.scope(len(kinds)))
    result = frame.selectExpr(text)
    return [field.dataType.simpleString() for field in result.schema], result.collect()[0]


Computed = Callable[[Sequence[specification.Runnable], "SparkSession"], tuple[list[str], Sequence[Any]]]


def judged(cases: Sequence[specification.Runnable], spark: SparkSession, computed: Computed) -> Results:
    """What becomes of cases: together if all can be computed, else by halves."""
    try:
        types, row = computed(cases, spark)
    except Exception as error:
        if len(cases) > 1:
            half = len(cases) // 2
            return judged(cases[:half], spark, computed) + judged(cases[half:], spark, computed)
        (case,) = (each.case for each in cases)
        if isinstance(error, UnsupportedError):
            return [("refused", str(case))]
        return [("right" if case.expected == "ERROR" else "failed", str(case))]
    found = []
    for each, kind, value in zip(cases, types, row, strict=True):
        wanted = each.call.output_type
        is_typed = isinstance(wanted, t.IntervalYear) or kind == type_to_spark(wanted).simpleString()
        is_right = each.case.expected != "ERROR" and is_typed and specification.is_expected(value, each.case)
        found.append(("right" if is_right else "wrong", f"{each.case}: {kind} {value!r}"))
    return found


def function_cases(spark: SparkSession) -> Results:
    """What becomes of all cases of functions."""
    run = specification.runnable()[0]
    plain = [each for each in run if each.case.kind == "scalar" and each.case.expected != "ERROR"]
    failing = [each for each in run if each.case.kind == "scalar" and each.case.expected == "ERROR"]
    found: Results = []
    for start in range(0, len(plain), TOGETHER):
        found += judged(plain[start : start + TOGETHER], spark, scalar_row)
    for each in failing:
        found += judged([each], spark, scalar_row)
    for each in run:
        if each.case.kind == "aggregate":
            found += judged([each], spark, aggregate_row)
    return found
