"""Unsigned integers on Spark, against Python's, which have no bounds."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.errors import ExecutionError
from tests.support import f

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("compiled")

BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}


def table(name: str, rows: Sequence[tuple[int | None, ...]]) -> Any:
    """A table of nullable unsigned integers, in columns called ``x`` and ``y``."""
    required, nullable = (t.UserDefined(t.UNSIGNED_URN, name, nullable=may_be) for may_be in (False, True))
    literals = [
        tuple(None if value is None else Literal((Literal(str(value), t.String()),), required) for value in row)
        for row in rows
    ]
    return sd.read_virtual(literals, {"x": nullable} if rows and len(rows[0]) == 1 else {"x": nullable, "y": nullable})


def values_of(name: str) -> tuple[int | None, ...]:
    largest = 2 ** BITS[name] - 1
    return 0, 1, 2, 7, largest // 2, largest // 2 + 1, largest - 1, largest, None


def whole(relation: Any, spark: SparkSession) -> list[tuple[int | None, ...]]:
    return [tuple(None if value is None else int(value) for value in row) for row in relation.collect(spark)]


@pytest.mark.parametrize("name", BITS)
def test_results_that_are_made_to_fit(name: str, spark: SparkSession) -> None:
    largest = 2 ** BITS[name] - 1
    pairs = list(itertools.product(values_of(name), repeat=2))
    columns = {f"{verb}_{way}": (verb, way) for verb in OPERATIONS for way in ("SATURATE", "SILENT")}
    computed = {
        column: lambda r, verb=verb, way=way: getattr(f, verb)(r.x, r.y, overflow=way)
        for column, (verb, way) in columns.items()
    }
    quotient: Any = {"quotient": lambda r: f.divide(r.x, r.y, on_division_by_zero="NULL")}
    found = whole(table(name, pairs).project(**computed, **quotient), spark)
    wanted = []
    for x, y in pairs:
        if x is None or y is None:
            wanted.append((x, y, *[None] * 7))
            continue
        results = [OPERATIONS[verb](x, y) for verb, _ in columns.values()]
        fitted = [
            min(max(result, 0), largest) if way == "SATURATE" else result % (largest + 1)
            for result, (_, way) in zip(results, columns.values(), strict=True)
        ]
        wanted.append((x, y, *fitted, x // y if y else None))
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


@pytest.mark.parametrize("options", [{}, {"overflow": "ERROR"}], ids=["by default", "as asked"])
@pytest.mark.parametrize("name", BITS)
def test_results_that_do_not_fit(name: str, options: dict[str, str], spark: SparkSession) -> None:
    largest = 2 ** BITS[name] - 1
    pairs = [(x, y) for x, y in itertools.product(values_of(name), repeat=2) if x is not None and y is not None]
    for verb, compute in OPERATIONS.items():
        compiled: Any = lambda r, verb=verb: getattr(f, verb)(r.x, r.y, **options)  # noqa: E731
        fitting = [pair for pair in pairs if 0 <= compute(*pair) <= largest]
        assert sorted(whole(table(name, fitting).select(z=compiled), spark)) == sorted((compute(*p),) for p in fitting)
        beyond = [pair for pair in pairs if pair not in fitting]
        for pair in (beyond[0], beyond[-1]):
            with pytest.raises(ExecutionError, match=r"(overflow in|does not fit).* \(step: project"):
                table(name, [pair]).project(z=compiled).collect(spark)
    if not options:
        with pytest.raises(ExecutionError, match="division by zero in x / y"):
            table(name, [(1, 1), (1, 0)]).project(z=lambda r: r.x / r.y).collect(spark)


@pytest.mark.parametrize("rows", [[None], ["largest"], ["largest", 1], ["largest", "largest"], [0, None, 5]])
@pytest.mark.parametrize("name", BITS)
def test_aggregates(name: str, rows: list[Any], spark: SparkSession) -> None:
    """A sum is a u64, whatever is summed."""
    values = [2 ** BITS[name] - 1 if value == "largest" else value for value in rows]
    known = [value for value in values if value is not None]
    total, largest = sum(known), 2**64 - 1
    relation = table(name, [(value,) for value in values])
    found = whole(
        relation.aggregate(
            low=lambda r: f.min(r.x),
            high=lambda r: f.max(r.x),
            saturated=lambda r: f.sum(r.x, overflow="SATURATE"),
            wrapped=lambda r: f.sum(r.x, overflow="SILENT"),
        ),
        spark,
    )
    wanted = (min(known), max(known), min(total, largest), total % (largest + 1)) if known else (None,) * 4
    assert found == [wanted]
    for options in ({}, {"overflow": "ERROR"}):
        summed = relation.aggregate(s=lambda r, options=options: f.sum(r.x, **options))
        if total <= largest:
            assert whole(summed, spark) == [(total if known else None,)]
        else:
            with pytest.raises(ExecutionError, match="does not fit an unsigned integer in sum"):
                summed.collect(spark)


def test_a_column_of_a_dataframe(spark: SparkSession) -> None:
    frame = (
        table("u8", [(200, 7)]).select("x", lambda r: f.add(r.x, r.x, overflow="SATURATE").alias("d")).execute(spark)
    )
    assert frame.dtypes == [("x", "smallint"), ("d", "smallint")]
    assert list(map(tuple, frame.collect())) == [(200, 255)]
