"""The specification's own cases of scalar and aggregate functions, run on Spark.

Every case that Spark runs must come out as stated, with the derived type. The others stand in tables here, with the
reason; an entry that no longer applies fails the tests.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Cast,
    EnumArgument,
    Expression,
    FieldReference,
    FunctionId,
    FunctionOption,
    Lambda,
    LambdaParameter,
    Literal,
    Measure,
    ScalarFunction,
)
from substrait_dsl.algebra.expressions.intervals import DaySeconds, YearMonths
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.catalog import CallArgument, EnumValue, Kind, Resolution, Typed, standard_catalog
from substrait_dsl.errors import FunctionNotFoundError, UnsupportedError
from substrait_dsl.spark.expressions.literals import literal_to_sql
from substrait_dsl.spark.expressions.sql_text import Scope, aggregate_to_sql, to_sql
from substrait_dsl.spark.expressions.types import type_to_spark
from tests.catalog import cases
from tests.catalog.cases import Argument, Case, Column, Interval, Nested, Value, Word, read_all
from tests.catalog.test_specification_cases import applies
from tests.spark import evaluation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_OVERLOAD = 9
"""Calls of ``extract`` without the indexing that the extension file requires."""

REFUSED = {
    ("arithmetic/acosh.test", "on_domain_error:NONE"): "the function declares no such value",
    ("logarithmic/", "on_domain_error:NONE"): "likewise",
    ("arithmetic/divide.test", "on_division_by_zero:NAN"): "likewise",
    ("arithmetic/std_dev.test", "rounding:TRUNCATE"): "floating point has one rounding on Spark",
    ("arithmetic/variance.test", "rounding:TRUNCATE"): "likewise",
}
"""Cases of functions that Spark does have, refused for an option: (file, part of the case, reason)."""

CONTRADICTED = {
    ("arithmetic/multiply.test", "(-13::i8, -10::i8) [overflow:SATURATE]"): (127, "130 saturates upwards"),
    ("arithmetic/shift_left.test", "(301989888::i64, 8::i32)"): (301989888 * 2**8, "the case shifts by 16"),
    ("arithmetic/sqrt.test", "on_domain_error:NAN"): (math.nan, "the option asks for NaN, the case for NULL"),
    ("arithmetic/std_dev.test", "(3.0), (5.0)) std_dev(SAMPLE"): (14**0.5, "the squares add up to 70, by 5"),
    ("arithmetic/std_dev.test", "(5.5)) std_dev(SAMPLE::enum, col0::fp32) [rounding"): (3.025**0.5, "12.1, by 4"),
    ("arithmetic/std_dev.test", "(75.0)) std_dev(SAMPLE"): (1562.5**0.5, "6250, by 4"),
    ("arithmetic/std_dev.test", "(75.0)) std_dev(POPULATION"): (1250**0.5, "6250, by 5"),
    ("arithmetic/variance.test", "(3.0), (5.0)) variance(SAMPLE"): (14.0, "the squares add up to 70, by 5"),
    ("arithmetic/variance.test", "(5.5)) variance(SAMPLE::enum, col0::fp32) [rounding"): (3.025, "12.1, by 4"),
    ("arithmetic/variance.test", "(75.0)) variance(SAMPLE"): (1562.5, "6250, by 4"),
    ("arithmetic/variance.test", "(75.0)) variance(POPULATION"): (1250.0, "6250, by 5"),
    ("datetime/extract.test", "MILLISECOND::enum, 2016"): (0, "spec decision 56: since the last full second"),
    ("datetime/extract.test", "MICROSECOND::enum, 2016"): (0, "spec decision 56: since the last full millisecond"),
    ("datetime/extract.test", "MILLISECOND::enum, 01:02:03.155"): (155, "spec decision 56: since the last full second"),
    ("datetime/extract.test", "MICROSECOND::enum, 01:02:03.45"): (0, "spec decision 56: since the last full milli"),
    ("logarithmic/", "on_log_zero:NAN"): (math.nan, "the option asks for NaN, the case for NULL"),
    ("string/regexp_replace.test", "'\\S'"): (", ,,,,,", "the occurrence 0 means all"),
    ("string/regexp_replace.test", "'\\w'"): (" 111111", "likewise"),
    ("string/regexp_replace.test", "'[bc]'"): ("addddaddddadddd", "likewise"),
    ("string/string_split.test", "null::str?"): (None, "of a NULL separator all others make NULL"),
}
"""Cases whose stated result is not what the function's text says: (file, part of the case), and what is right."""


@attrs.frozen
class Runnable:
    """A case whose call Spark runs."""

    case: Case
    call: ScalarFunction | AggregateFunction


def entry_for(table: Mapping[tuple[str, str], object], case: Case) -> tuple[str, str] | None:
    found = (entry for entry in table if case.file.startswith(entry[0]) and applies((case.file, entry[1]), case))
    return next(found, None)


@cache
def runnable() -> tuple[tuple[Runnable, ...], int, tuple[Case, ...]]:
    """The cases that Spark runs, how many calls no overload takes, and the cases refused for an option."""
    run: list[Runnable] = []
    no_overload = 0
    refused: list[Case] = []
    for case in read_all():
        if case.kind == "window":
            continue
        try:
            call = as_call(case)
        except FunctionNotFoundError:
            no_overload += 1
            continue
        if entry_for(REFUSED, case):
            with pytest.raises(UnsupportedError):
                sql_of(call, case)
            refused.append(case)
        else:
            sql_of(call, case)
            run.append(Runnable(case, call))
    return tuple(run), no_overload, tuple(refused)


def as_call(case: Case) -> ScalarFunction | AggregateFunction:
    arguments = case.arguments
    if case.function == "logb":  # the cases have the base first, the extension file has it second
        arguments = arguments[::-1]
    parts = as_arguments(arguments, case)
    found = resolution(case.function, parts, case)
    fields: dict[str, Any] = {
        "function": FunctionId(found.overload.urn, found.overload.key),
        "arguments": parts,
        "output_type": found.output_type,
        "options": tuple(FunctionOption(name, (value,)) for name, value in case.options),
    }
    return ScalarFunction(**fields) if case.kind == "scalar" else AggregateFunction(**fields)


def as_arguments(arguments: tuple[Argument, ...], case: Case) -> tuple[Expression | EnumArgument, ...]:
    made: list[Expression | EnumArgument] = []
    for argument in arguments:
        if isinstance(argument, cases.Lambda):
            (items,) = made
            assert isinstance(items, Expression)
            assert isinstance(items.type, t.List)
            made.append(as_lambda(argument, items.type.element, case))
        else:
            made.append(as_argument(argument, case, None))
    return tuple(made)


def as_lambda(function: cases.Lambda, element: t.Type, case: Case) -> Lambda:
    """A function of the elements of a list. Some predicates are stated as never NULL, which no overload takes."""
    body = as_argument(function.body, case, element)
    assert isinstance(body, Expression)
    return Lambda((element,), Cast(body, t.Boolean(nullable=True)) if body.type == t.Boolean() else body)


def resolution(function: str, parts: Sequence[Expression | EnumArgument], case: Case) -> Resolution:
    urns = (case.urn, *case.dependencies)
    urn = next(urn for urn in urns if function in standard_catalog().extensions[urn].functions)
    return standard_catalog().resolve(case.kind, function, [as_given(part) for part in parts], urn=urn)


def as_given(part: Expression | EnumArgument) -> CallArgument:
    if isinstance(part, EnumArgument):
        return EnumValue(part.value)
    return Typed(part.type, part.value if isinstance(part, Literal) and type(part.value) is int else None)


def as_argument(argument: Argument, case: Case, parameter: t.Type | None) -> Expression | EnumArgument:
    match argument:
        case Value(type=t.Func() as type_):
            return Literal(None, type_)
        case Value(type=type_, value=value):
            return as_literal(value, type_)
        case Word(name):
            return EnumArgument(name)
        case Column(index, type_):
            return FieldReference(index, type_)
        case Nested(function, arguments):
            inner = tuple(as_argument(each, case, parameter) for each in arguments)
            found = resolution(function, inner, case)
            return ScalarFunction(FunctionId(found.overload.urn, found.overload.key), inner, found.output_type)
        case cases.Parameter():
            assert parameter is not None
            return FieldReference(0, parameter, LambdaParameter(0))
        case _:
            raise AssertionError("a lambda stands in a call of a list function only")


def as_literal(value: Any, type_: t.Type) -> Literal:
    if value is None:
        return Literal(None, type_.as_nullable())
    match value, type_:
        case _, t.UserDefined():
            digits = value if isinstance(value, str) else value[0]
            return Literal((literal(digits, t.String()),), type_)
        case Interval(), t.IntervalYear():
            return literal(YearMonths(value.years, value.months), type_)
        case Interval(), _:
            whole = value.hours * 3600 + value.minutes * 60 + value.seconds
            return literal(DaySeconds(value.days, int(whole)), type_)
        case float(), t.FP32():
            return Literal(value, type_)  # as written: some have more digits than an fp32
        case list(), t.List():
            return Literal(tuple(as_literal(item, type_.element) for item in value), type_)
        case dt.datetime(), t.PrecisionTimestampTZ():
            return literal(value.astimezone(dt.UTC), type_)
        case _:
            return literal(value, type_)


# Scalar functions


LITERALS = ("round", "regexp_")
"""Functions whose arguments but the first are literals, by how their names begin."""


def columns_of(call: Expression) -> Iterator[Literal]:
    """The literals of a call that can stand in a column: all but the digits to round to, patterns and functions."""
    assert isinstance(call, ScalarFunction)
    for position, argument in enumerate(call.arguments):
        if isinstance(argument, ScalarFunction):
            yield from columns_of(argument)
        elif (
            isinstance(argument, Literal)
            and not isinstance(argument.type, t.Func)
            and not (position and call.function.name.startswith(LITERALS))
        ):
            yield argument


def with_columns(call: ScalarFunction, columns: list[Literal]) -> ScalarFunction:
    """The call with its literals replaced by references, so that Spark computes it at run time."""
    wanted = {id(column) for column in columns_of(call)}

    def change(argument: Any) -> Any:
        if isinstance(argument, ScalarFunction):
            return attrs.evolve(argument, arguments=tuple(map(change, argument.arguments)))
        if id(argument) not in wanted:
            return argument
        columns.append(argument)
        return FieldReference(len(columns) - 1, argument.type)

    changed = change(call)
    assert isinstance(changed, ScalarFunction)
    return changed


def scope(width: int) -> Scope:
    return evaluation.scope(*(f"c{position}" for position in range(width)))


def sql_of(call: ScalarFunction | AggregateFunction, case: Case) -> str:
    if isinstance(call, AggregateFunction):
        assert case.table is not None
        return aggregate_to_sql(Measure(call), scope(len(case.table.types)))
    return to_sql(call, scope(0))


def collectable(sql: str, type_: t.Type) -> str:
    """PySpark cannot collect year-month intervals: their months, then."""
    return f"extract(YEAR FROM {sql}) * 12 + extract(MONTH FROM {sql})" if isinstance(type_, t.IntervalYear) else sql


CHUNK = 40


def test_scalar_cases(spark: SparkSession) -> None:
    wrong: list[str] = []
    scalars = [each for each in runnable()[0] if each.case.kind == "scalar" and each.case.expected != "ERROR"]
    for start in range(0, len(scalars), CHUNK):
        chunk = scalars[start : start + CHUNK]
        columns: list[Literal] = []
        calls = [with_columns(each.call, columns) for each in chunk if isinstance(each.call, ScalarFunction)]
        table = spark.range(1).selectExpr(*(f"{to_sql(column, scope(0))} AS c{i}" for i, column in enumerate(columns)))
        table = table.cache()  # or Spark would compute everything while it plans
        texts = [to_sql(call, scope(len(columns))) for call in calls]
        result = table.selectExpr(*(collectable(text, call.type) for text, call in zip(texts, calls, strict=True)))
        row = result.collect()[0]
        for position, each in enumerate(chunk):
            type_ = each.call.output_type
            if not isinstance(type_, t.IntervalYear):
                spark_type = result.schema[position].dataType.simpleString()
                if spark_type != type_to_spark(type_).simpleString():
                    wrong.append(f"{each.case}: type {spark_type}, not {type_}")
            if not is_expected(row[position], each.case):
                wrong.append(f"{each.case}: got {row[position]!r}")
        table.unpersist()
    assert not wrong, "\n".join(wrong)


def is_expected(actual: Any, case: Case) -> bool:
    if isinstance(case.expected, str):
        return case.expected == "UNDEFINED"
    entry = entry_for(CONTRADICTED, case)
    return equal(actual, CONTRADICTED[entry][0] if entry else case.expected.value, case.expected.type)


def equal(actual: Any, expected: Any, type_: t.Type) -> bool:
    if actual is None or expected is None:
        return actual is None and expected is None
    if isinstance(type_, t.UserDefined):
        return bool(actual == int(expected if isinstance(expected, str) else expected[0]))
    match expected:
        case float():
            digits = 1e-6 if isinstance(type_, t.FP32) else 1e-14
            return (math.isnan(actual) and math.isnan(expected)) or math.isclose(
                actual, expected, rel_tol=digits, abs_tol=1e-300
            )
        case list():
            assert isinstance(type_, t.List)
            return len(actual) == len(expected) and all(
                equal(a, e, type_.element) for a, e in zip(actual, expected, strict=True)
            )
        case Interval():
            seconds = float(expected.hours * 3600 + expected.minutes * 60 + expected.seconds)
            return bool(actual == dt.timedelta(days=expected.days, seconds=seconds))
        case _:
            return bool(actual == expected)


ERRORS: dict[Kind, int] = {"scalar": 46, "aggregate": 3}
"""How many cases state an error. They are run one by one, by their number: to read them takes seconds."""


def failing(kind: Kind) -> list[Runnable]:
    """The cases that state an error."""
    return [each for each in runnable()[0] if each.case.expected == "ERROR" and each.case.kind == kind]


@pytest.mark.parametrize("number", range(ERRORS["scalar"]))
def test_scalar_errors(spark: SparkSession, number: int) -> None:
    from pyspark.errors import PySparkException

    each = failing("scalar")[number]
    assert isinstance(each.call, ScalarFunction)
    columns: list[Literal] = []
    call = with_columns(each.call, columns)
    table = spark.range(1).selectExpr(*(f"{to_sql(column, scope(0))} AS c{i}" for i, column in enumerate(columns)))
    with pytest.raises(PySparkException):
        table.selectExpr(to_sql(call, scope(len(columns)))).collect()


OWN_NULLS = {"and", "or", "and_not", "coalesce", "concat_ws", "is_null", "is_not_null", "nullif"}
OWN_NULLS |= {"is_true", "is_not_true", "is_false", "is_not_false", "is_distinct_from", "is_not_distinct_from"}
"""Functions that say themselves what becomes of a NULL."""


def test_null_in_null_out(spark: SparkSession) -> None:
    """Of every function and every option that a case uses, with NULL for each argument in turn."""
    variants: dict[tuple[Any, ...], tuple[Case, ScalarFunction]] = {}
    for each in runnable()[0]:
        call = each.call
        if (
            not isinstance(call, ScalarFunction)
            or call.function.name in OWN_NULLS
            or "IGNORE_NULLS" in str(call.options)
        ):
            continue
        words = tuple(argument.value for argument in call.arguments if isinstance(argument, EnumArgument))
        for position in range(len(call.arguments)):
            if isinstance(call.arguments[position], Literal):
                variants[call.function, call.options, words, position] = each.case, with_null(call, position)
    assert len(variants) > 250
    columns: list[Literal] = []
    calls = [(case, with_columns(call, columns)) for case, call in variants.values()]
    table = spark.sql(f"SELECT {', '.join(f'{to_sql(column, scope(0))} AS c{i}' for i, column in enumerate(columns))}")
    texts = [to_sql(call, scope(len(columns))) for _, call in calls]
    row = table.selectExpr(*(f"({text}) IS NULL" for text in texts)).collect()[0]
    wrong = [str(case) for (case, _), null in zip(calls, row, strict=True) if not null]
    assert not wrong, "\n".join(wrong)


def with_null(call: ScalarFunction, position: int) -> ScalarFunction:
    arguments = list(call.arguments)
    old = arguments[position]
    assert isinstance(old, Literal)
    arguments[position] = Literal(None, old.type.as_nullable())
    return attrs.evolve(call, arguments=tuple(arguments), output_type=call.output_type.as_nullable())


# Aggregate functions


def test_aggregate_cases(spark: SparkSession) -> None:
    """All in one query: a column of its own for each, and a filter that picks the records of the case."""
    aggregates = [each for each in runnable()[0] if each.case.kind == "aggregate" and each.case.expected != "ERROR"]
    wrong: list[str] = []
    for start in range(0, len(aggregates), CHUNK):
        chunk = aggregates[start : start + CHUNK]
        rows, measures = [], []
        kinds: list[t.Type] = [t.I32()]
        for number, each in enumerate(chunk):
            table = each.case.table
            assert table is not None
            first = len(kinds)
            kinds += [type_.as_nullable() for type_ in table.types]
            rows += [(number, first, table.types, row) for row in table.rows]
            measures.append(picking(each.call, number, first))
        texts = [aggregate_to_sql(measure, scope(len(kinds))) for measure in measures]
        result = values(spark, kinds, rows).selectExpr(*texts)
        row = result.collect()[0]
        for position, each in enumerate(chunk):
            spark_type = result.schema[position].dataType.simpleString()
            if spark_type != type_to_spark(each.call.output_type).simpleString():
                wrong.append(f"{each.case}: type {spark_type}, not {each.call.output_type}")
            if not is_expected(row[position], each.case):
                wrong.append(f"{each.case}: got {row[position]!r}")
    assert not wrong, "\n".join(wrong)


def picking(call: ScalarFunction | AggregateFunction, number: int, first: int) -> Measure:
    """The measure over the records of one case, whose columns begin at a position."""
    assert isinstance(call, AggregateFunction)
    arguments = tuple(
        FieldReference(first + argument.position, argument.type) if isinstance(argument, FieldReference) else argument
        for argument in call.arguments
    )
    comparison = FunctionId("extension:io.substrait:functions_comparison", "equal:any_any")
    mine = ScalarFunction(comparison, (FieldReference(0, t.I32()), Literal(number, t.I32())), t.Boolean())
    return Measure(attrs.evolve(call, arguments=arguments), mine)


def values(spark: SparkSession, kinds: list[t.Type], rows: list[tuple[int, int, tuple[t.Type, ...], Any]]) -> Any:
    nothing = [literal_to_sql(Literal(None, type_.as_nullable())) for type_ in kinds]
    lines = []
    for number, first, types, row in rows:
        line = [str(number), *nothing[1:]]
        for position, (type_, value) in enumerate(zip(types, row, strict=True)):
            line[first + position] = literal_to_sql(as_literal(value, type_))
        lines.append(f"({', '.join(line)})")
    names = ", ".join(f"c{position}" for position in range(len(kinds)))
    return spark.sql(f"SELECT * FROM VALUES {', '.join(lines)} AS t({names})")


@pytest.mark.parametrize("number", range(ERRORS["aggregate"]))
def test_aggregate_errors(spark: SparkSession, number: int) -> None:
    from pyspark.errors import PySparkException

    each = failing("aggregate")[number]
    table = each.case.table
    assert table is not None
    rows = [(0, 1, table.types, row) for row in table.rows]
    frame = values(spark, [t.I32(), *table.types], rows)
    with pytest.raises(PySparkException):
        frame.selectExpr(aggregate_to_sql(picking(each.call, 0, 1), scope(1 + len(table.types)))).collect()


# What is not run as it stands


def test_cases_that_are_run() -> None:
    run, no_overload, refused = runnable()
    assert (len(run), no_overload, len(refused)) == (1294, NO_OVERLOAD, 8)
    assert {kind: len(failing(kind)) for kind in ERRORS} == ERRORS


def test_entries_are_used() -> None:
    run, _, refused = runnable()
    assert {entry_for(REFUSED, case) for case in refused} == set(REFUSED)
    assert {entry_for(CONTRADICTED, each.case) for each in run} - {None} == set(CONTRADICTED)


def test_contradicted_cases_do_state_something_else() -> None:
    for each in runnable()[0]:
        entry = entry_for(CONTRADICTED, each.case)
        if entry:
            assert isinstance(each.case.expected, Value)
            assert not equal(CONTRADICTED[entry][0], each.case.expected.value, each.case.expected.type), each.case
