"""Arguments of functions that are no values: words, and types."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import EnumArgument, TypeArgument
from substrait_dsl.catalog import EnumArgument as Words
from substrait_dsl.catalog import Overload, ValueArgument, standard_catalog
from substrait_dsl.catalog.derive import Bindings, build
from substrait_dsl.errors import FunctionNotFoundError
from tests.support import computed, f, refused, table, type_of

WITH_WORDS = [
    overload
    for overload in standard_catalog().overloads()
    if any(isinstance(argument, Words) for argument in overload.arguments)
]
NAMES: dict[str, Any] = {"P": 6, "P1": 12, "S": 3, "L1": 7, "any": sd.I64(), "any1": sd.I64()}
"""What stands for the names in the patterns of these overloads."""


def calls(overload: Overload) -> Iterator[tuple[dict[str, sd.Type], list[object]]]:
    """The columns of a row, and arguments that take values from it: for each combination of words."""
    columns: dict[str, sd.Type] = {}
    choices: list[list[object]] = []
    for position, argument in enumerate(overload.arguments):
        if isinstance(argument, Words):
            choices.append(list(argument.options))
            continue
        assert isinstance(argument, ValueArgument)
        kind = build(argument.pattern, Bindings(values=dict(NAMES)))
        assert kind is not None, argument
        if argument.constant:
            choices.append([sd.lit(None, kind.as_nullable())])
        else:
            columns[f"c{position}"] = kind
            choices.append([sd.col(f"c{position}")])
    for arguments in itertools.product(*choices):
        yield columns, list(arguments)


def test_there_are_functions_with_words() -> None:
    names = {overload.name for overload in WITH_WORDS}
    assert names == {
        *("extract", "extract_boolean", "round_temporal", "round_calendar"),
        *("std_dev", "variance", "median", "quantile"),
    }


@pytest.mark.parametrize("overload", WITH_WORDS, ids=lambda each: f"{each.urn.rpartition(':')[2]}.{each.key}")
def test_every_word_of_every_function(overload: Overload) -> None:
    functions: Any = sd.Functions(urn=overload.urn)
    for columns, arguments in calls(overload):
        rows = sd.read_named("t", columns or {"a": sd.I64()})
        call = getattr(functions, overload.name)(*arguments)
        found: Any
        if overload.kind == "aggregate":
            found = rows.aggregate(x=call)._rel.measures[0].function  # type: ignore[attr-defined]  # an aggregate
            assert rows.select(x=call.over()).columns == ("x",)
        else:
            found = rows.project(x=call)._rel.expressions[0]  # type: ignore[attr-defined]  # a project
        assert found.function.key == overload.key
        words = [argument.value for argument in found.arguments if isinstance(argument, EnumArgument)]
        assert words == [argument for argument in arguments if isinstance(argument, str)]


def test_words_are_taken_in_any_case() -> None:
    node: Any = computed(lambda r: f.extract("year", r.day), "day: date")
    assert node.arguments[0] == EnumArgument("YEAR")
    with refused(FunctionNotFoundError, "variance", 'did you mean "SAMPLE"'):
        table("w: fp64").aggregate(x=lambda r: f.variance("SAMPEL", r.w))


TYPES = """
urn: extension:com.example:types
scalar_functions:
  - name: parsed
    impls:
      - args: [{name: text, value: string}, {name: as, type: any1}]
        return: any1?
        nullability: DECLARED_OUTPUT
      - args: [{name: text, value: string}, {name: as, type: any1}, {name: mode, options: [STRICT, LAX]}]
        return: any1
"""
own: Any = sd.Functions(sd.standard_catalog().with_extension(TYPES))


def test_types_are_arguments() -> None:
    assert type_of(lambda r: own.parsed(r.s, sd.I64)) == "i64?"
    assert type_of(lambda r: own.parsed(r.s, sd.Decimal(15, 2), "LAX")) == "decimal<15,2>"
    assert type_of(lambda r: own.parsed(r.t, sd.Date(), "strict")) == "date?"
    node: Any = computed(lambda r: own.parsed(r.s, sd.List(sd.I64()), "LAX"))
    assert node.arguments[1:] == (TypeArgument(sd.List(sd.I64())), EnumArgument("LAX"))
    with refused(FunctionNotFoundError, "parsed(string, 5)", "as: type any1"):
        computed(lambda r: own.parsed(r.s, 5))
