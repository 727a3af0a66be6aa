"""Functions whose nullability is MIRROR: NULL for any argument gives NULL, and no error, whatever the others are.

Specification: https://substrait.io/expressions/scalar_functions/#nullability-handling.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import EnumArgument as Word
from substrait_dsl.algebra.expressions import Expression, FunctionOption, ScalarFunction, YearMonths
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.catalog import EnumValue, Typed, standard_catalog
from substrait_dsl.catalog.records import Argument, EnumArgument, Overload, ValueArgument
from substrait_dsl.errors import FunctionNotFoundError, InvalidArgumentError, UnsupportedError
from substrait_dsl.spark.expressions.sql_text import to_sql
from substrait_dsl.spark.expressions.types import type_to_spark
from tests.catalog.test_overloads import TYPE_URNS, VALUES
from tests.spark.evaluation import column, rows_of, scope

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWN_RULES = {
    **dict.fromkeys(("and", "or", "and_not"), "Kleene's logic"),
    **dict.fromkeys(("coalesce", "least_skip_null", "greatest_skip_null"), "what is left of the others"),
    "concat_ws": "by the specification's own cases, what is left of the others",
}
"""Functions that say by their descriptions, or cases, what they make of NULL."""

EXTREMES: dict[type[t.Type], list[Any]] = {
    t.Boolean: [True, False],
    t.I8: [-(2**7), -1, 0, 2**7 - 1],
    t.I16: [-(2**15), -1, 0, 2**15 - 1],
    t.I32: [-(2**31), -1, 0, 1, 2**31 - 1],
    t.I64: [-(2**63), -1, 0, 1, 2**63 - 1],
    t.FP32: [float("-inf"), -1.0, 0.0, float("nan"), 3e38],
    t.FP64: [float("-inf"), -2.5, 0.0, float("nan"), 1e308],
    t.String: ["", "a", "%_[", "\\"],
    t.VarChar: ["", "ab"],
    t.Binary: [b"", b"\xff"],
    t.Date: [dt.date(1000, 1, 1), dt.date(9999, 12, 31)],
    t.PrecisionTimestamp: [dt.datetime(1000, 1, 1), dt.datetime(9999, 12, 31)],
    t.PrecisionTimestampTZ: [dt.datetime(1000, 1, 2, tzinfo=dt.UTC), dt.datetime(9999, 12, 30, tzinfo=dt.UTC)],
    t.PrecisionTime: [dt.time(0), dt.time(23, 59, 59)],
    t.IntervalYear: [YearMonths(-100), YearMonths(0, 1)],
    t.IntervalDay: [dt.timedelta(days=-10_000), dt.timedelta(0)],
}
"""Values that functions trip over."""
ZONES = ["UTC", "Asia/Kolkata"]

MAX_ROWS = 40
MAX_LITERALS = 8


def extremes(type_: t.Type) -> list[Any]:
    """Values of a type; none, if the test has none of it."""
    match type_:
        case t.Decimal(precision=precision, scale=scale):
            most = Decimal(10**precision - 1).scaleb(-scale)
            return [-most, Decimal(0), most]
        case t.FixedChar(length=length):
            return ["a" * length]
        case t.List(element=element):
            return [[], extremes(element)[:1]]
        case _:
            return EXTREMES.get(type(type_), [])


@attrs.frozen
class Calls:
    """Calls of a function over the same columns, one of which is NULL."""

    calls: list[ScalarFunction]
    types: Sequence[t.Type]
    """The types of the columns: of all arguments that are values."""
    rows: list[tuple[Any, ...]]
    null: int
    """The column that is NULL."""


def calls_of(overload: Overload) -> Iterator[Calls]:
    """All calls of a function that Spark can run, with each word of an enum and each option alone."""
    given = list(overload.arguments)
    if overload.variadic is not None and len(given) == 1:
        given *= 2
    kinds = [_type(argument) for argument in given]
    types = [type_ for type_ in kinds if type_ is not None]
    zones = [argument.name == "timezone" for argument in given if isinstance(argument, ValueArgument)]
    pools = [ZONES if is_zone else extremes(type_) for is_zone, type_ in zip(zones, types, strict=True)]
    options = [(), *((FunctionOption(o.name, (value,)),) for o in overload.options for value in o.values)]
    for null in range(len(types)):
        values = [[None] if place == null else pool for place, pool in enumerate(pools)]
        rows = list(itertools.islice(itertools.product(*values), MAX_ROWS))
        calls = []
        for words in itertools.product(*(part.options for part in given if isinstance(part, EnumArgument))):
            for option in options:
                columns = [column(place, type_) for place, type_ in enumerate(types)]
                calls += (
                    _runnable(overload, kinds, words, columns, option)
                    or [
                        call  # of a function that takes no column there
                        for row in rows[:MAX_LITERALS]
                        for call in _runnable(
                            overload, kinds, words, [columns[0], *map(literal, row[1:], types[1:])], option
                        )
                    ]
                )
        if calls and rows:
            yield Calls(calls, types, rows, null)


def _type(argument: Argument) -> t.Type | None:
    """The type of an argument that is a value, with fixed values for the parameters in its pattern."""
    if not isinstance(argument, ValueArgument):
        return None
    pattern = str(argument.pattern)
    values = VALUES if pattern.startswith("decimal") else {**VALUES, "P": "6"}  # which Spark has of times
    text = re.sub(r"\b[A-Za-z]\w*\b", lambda found: values.get(found[0], found[0]), pattern)
    return parse_type(text, urns=TYPE_URNS).as_nullable()


def _runnable(
    overload: Overload,
    kinds: Sequence[t.Type | None],
    words: Sequence[str],
    values: Sequence[Expression],
    options: tuple[FunctionOption, ...],
) -> list[ScalarFunction]:
    """The call with these words and values, if Spark can run it."""
    rest, others = iter(words), iter(values)
    parts = [Word(next(rest)) if type_ is None else next(others) for type_ in kinds]
    given = [EnumValue(part.value) if isinstance(part, Word) else Typed(part.type) for part in parts]
    try:
        output = standard_catalog().resolve("scalar", overload.name, given, urn=overload.urn).output_type
        call = ScalarFunction(overload.function, tuple(parts), output, options)
        to_sql(call, scope(*(f"c{number}" for number in range(len(values)))))
    except (FunctionNotFoundError, InvalidArgumentError, UnsupportedError):
        return []
    return [call]


def wrong(calls: Calls, spark: SparkSession) -> Iterator[str]:
    """What is not NULL, or fails, or is of another type: all calls are computed at once, each alone if that fails."""
    frame = rows_of(spark, calls.types, calls.rows)
    texts = [to_sql(call, scope(*frame.columns)) for call in calls.calls]
    try:
        for call, field in zip(calls.calls, frame.selectExpr(*texts).schema, strict=True):
            if field.dataType.simpleString() != type_to_spark(call.type).simpleString():
                yield f"{_shown(call)}: {field.dataType}"
        found = frame.selectExpr(*(f"({text}) IS NULL" for text in texts)).collect()
    except Exception as error:
        if len(calls.calls) == 1:
            yield f"{_shown(calls.calls[0])} of NULL for {calls.null}: {error}"
            return
        for call in calls.calls:
            yield from wrong(attrs.evolve(calls, calls=[call]), spark)
        return
    for row, are_null in zip(calls.rows, found, strict=True):
        yield from (
            f"{_shown(call)} of {row}" for call, is_null in zip(calls.calls, are_null, strict=True) if not is_null
        )


def _shown(call: ScalarFunction) -> str:
    return f"{call.function.key} {[str(option) for option in call.options]}"


FILES = sorted({overload.urn for overload in standard_catalog().overloads() if overload.kind == "scalar"})


@pytest.mark.parametrize("urn", FILES, ids=lambda urn: urn.rpartition(":")[2])
def test_null_gives_null(urn: str, spark: SparkSession) -> None:
    for overload in standard_catalog().overloads():
        mirrors = overload.urn == urn and overload.kind == "scalar" and overload.nullability == "MIRROR"
        if mirrors and overload.name not in OWN_RULES:
            for calls in calls_of(overload):
                skips = [call for call in calls.calls if any("IGNORE_NULLS" in o.preferences for o in call.options)]
                kept = [call for call in calls.calls if call not in skips]
                assert list(wrong(attrs.evolve(calls, calls=kept), spark)) == []
