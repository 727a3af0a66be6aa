"""Aggregates in phases: parts of the rows first, then parts of these, then the result."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import substrait_dsl as sd
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import AggregateFunction, FieldReference, FunctionOption, Measure
from substrait_dsl.algebra.function_ids import Phase
from substrait_dsl.catalog import Typed, standard_catalog
from substrait_dsl.catalog.resolve import derive_intermediate
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.spark.evaluation import resolved
from tests.spark.rows import values
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"k": "string", "part": "i64", "i": "i32?", "x": "fp64?", "d": "decimal<10,2>?"}
MOST = 2**31 - 1
ROWS: list[tuple[Any, ...]] = [
    ("a", 1, MOST, 0.5, Decimal("0.01")),
    ("a", 1, MOST, 1.5, Decimal("0.02")),
    ("a", 2, -2, None, Decimal("0.02")),
    ("a", 3, None, None, None),
    ("a", 5, 1, 4.0, None),
    ("b", 1, None, None, None),
    ("c", 4, -7, 1.0, Decimal("-99999999.99")),
    ("c", 6, -8, 0.0, Decimal("99999999.98")),
]
MEASURED = [
    *((name, "i") for name in ("sum", "sum0", "avg", "min", "max", "count")),
    *((name, "x") for name in ("sum", "avg", "max")),
    *((name, "d") for name in ("sum", "sum0", "avg", "min", "count")),
]
RESULTS = {
    # (2 (2³¹ - 1) - 2 + 1) / 4 = 2³⁰ - 3/4; (0.5 + 1.5 + 4) / 3; (0.01 + 0.02 + 0.02) / 3 = 0.0166...
    "a": (
        2 * MOST - 1, 2 * MOST - 1, 2**30 - 1, -2, MOST, 4, 6.0, 2.0, 4.0,
        Decimal("0.05"), Decimal("0.05"), Decimal("0.02"), Decimal("0.01"), 3,
    ),
    "b": (None, 0, None, None, None, 0, None, None, None, None, Decimal("0.00"), None, None, 0),
    # -15 / 2 = -7.5, whose whole part is -7; -0.01 / 2 = -0.005, of which the nearest is -0.01, away from zero
    "c": (
        -15, -15, -7, -8, -7, 2, 1.0, 0.5, 1.0,
        Decimal("-0.01"), Decimal("-0.01"), Decimal("-0.01"), Decimal("-99999999.99"), 2,
    ),
}  # fmt: skip
"""By key, what the functions give for all of its rows."""


def phased(rel: r.Rel, keys: tuple[int, ...], calls: list[AggregateFunction]) -> r.Rel:
    """Groups by columns, with these measures."""
    names = tuple(f"c{number}" for number in range(len(keys) + len(calls)))
    columns = tuple(FieldReference(key, rel.schema.types[key]) for key in keys)
    sets = (tuple(range(len(keys))),) if keys else ()
    return r.Aggregate(rel, columns, sets, tuple(map(Measure, calls)), names)


def first_calls(rel: r.Rel, phase: Phase) -> list[AggregateFunction]:
    made = []
    for name, column in MEASURED:
        position = rel.schema.names.index(column)
        value = FieldReference(position, rel.schema.types[position])
        function, arguments, output = resolved("aggregate", name, [value], "")
        overload = standard_catalog().overload(function.urn, function.key)
        between = derive_intermediate(overload, [Typed(value.type)])
        assert between is not None
        type_ = output if phase == "initial_to_result" else between
        made.append(AggregateFunction(function, arguments, type_, phase=phase))
    return made


def further(rel: r.Rel, at: int, results: list[AggregateFunction], phase: Phase) -> list[AggregateFunction]:
    """The same functions over what the columns from a position on hold of them."""
    made = []
    for number, call in enumerate(results):
        value = FieldReference(at + number, rel.schema.types[at + number])
        type_ = call.output_type if phase == "intermediate_to_result" else value.type
        made.append(AggregateFunction(call.function, (value,), type_, phase=phase))
    return made


def in_phases(table: r.Rel) -> tuple[r.Rel, r.Rel]:
    """By key and for all rows: what three phases give."""
    results = first_calls(table, "initial_to_result")
    parts = phased(table, (0, 1), first_calls(table, "initial_to_intermediate"))
    halves = phased(parts, (0,), further(parts, 2, results, "intermediate_to_intermediate"))
    whole = phased(halves, (0,), further(halves, 1, results, "intermediate_to_result"))
    everything = phased(halves, (), further(halves, 1, results, "intermediate_to_result"))
    return whole, everything


def test_three_phases_give_what_one_gives(spark: SparkSession) -> None:
    whole, everything = in_phases(values(COLUMNS, *ROWS)._rel)
    assert {key: tuple(row) for key, *row in sd.Relation(whole).collect(spark)} == RESULTS
    (row,) = sd.Relation(everything).collect(spark)
    # (2 (2³¹ - 1) - 1 - 15) / 6 = 715827880 + 1/3, 7 / 5, 0.04 / 5 = 0.008
    assert tuple(row) == (
        2 * MOST - 16, 2 * MOST - 16, 715827879, -8, MOST, 6, 7.0, 1.4, 4.0,
        Decimal("0.04"), Decimal("0.04"), Decimal("0.01"), Decimal("-99999999.99"), 5,
    )  # fmt: skip


def test_no_rows_have_a_result(spark: SparkSession) -> None:
    by_key, everything = in_phases(values(COLUMNS)._rel)
    assert sd.Relation(by_key).collect(spark) == []
    (row,) = sd.Relation(everything).collect(spark)
    assert tuple(row) == RESULTS["b"]


def test_a_plan_with_phases_runs_as_it_was_read(spark: SparkSession) -> None:
    whole, _ = in_phases(values(COLUMNS, *ROWS)._rel)
    (read,) = sd.Plan.from_bytes(sd.Plan(sd.Relation(whole)).to_bytes()).roots
    assert {key: tuple(row) for key, *row in read.collect(spark)} == RESULTS


def test_what_no_phase_can_do(spark: SparkSession) -> None:
    table = values({"x": "i64", "s": "string"}, (2**62, "a"), (2**62, "b"), (0, "c"))._rel
    x = FieldReference(0, t.I64())

    def first(name: str, **fields: Any) -> r.Rel:
        function, arguments, _ = resolved("aggregate", name, [x], "")
        between = derive_intermediate(standard_catalog().overload(function.urn, function.key), [Typed(x.type)])
        assert between is not None
        call = AggregateFunction(function, arguments, between, phase="initial_to_intermediate", **fields)
        return phased(table, (), [call])

    with refused(UnsupportedError, "execute", "approx_count_distinct in the phase initial_to_intermediate"):
        sd.Relation(first("approx_count_distinct")).execute(spark)
    with refused(ExecutionError, "collect"):  # the sum that is a part of the average is an i64, and 2^63 is none
        sd.Relation(first("avg")).collect(spark)
    parts = first("sum", options=(FunctionOption("overflow", ("ERROR",)),))
    call = first("sum").measures[0].function  # type: ignore[attr-defined]
    (again,) = further(parts, 0, [call], "intermediate_to_result")
    distinct = AggregateFunction(
        again.function, again.arguments, again.output_type, phase=again.phase, invocation="distinct"
    )
    with refused(UnsupportedError, "execute", "sum in the phase intermediate_to_result of distinct values"):
        sd.Relation(phased(parts, (), [distinct])).execute(spark)
