"""Arguments of functions that are no values: words, and types."""

from __future__ import annotations

import inspect
import itertools
import pydoc
from collections.abc import Iterator
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import EnumArgument, TypeArgument
from substrait_dsl.catalog import EnumArgument as Words
from substrait_dsl.catalog import Overload, ValueArgument, standard_catalog
from substrait_dsl.catalog.derive import Bindings, build
from substrait_dsl.errors import FunctionNotFoundError, InvalidArgumentError
from substrait_dsl.fluent.namespace import python_name
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
        type_ = build(argument.pattern, Bindings(values=dict(NAMES)))
        assert type_ is not None, argument
        if argument.constant:
            choices.append([sd.lit(None, type_.as_nullable())])
        else:
            columns[f"c{position}"] = type_
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


@pytest.mark.parametrize("name", sorted(standard_catalog().by_name()))
def test_every_option_is_documented_with_its_values_and_taken_by_name(name: str) -> None:
    function = getattr(f, python_name(name))
    declared = [overload for each in standard_catalog().named(name) for overload in each.overloads]
    options = {option.name: option.values for overload in declared for option in overload.options}
    keywords = {
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    assert keywords == set(options)
    for option, values in options.items():
        assert f"    {option}: {', '.join(values)}" in function.__doc__
    assert ("Options, by name" in function.__doc__) is bool(options)


def test_the_page_of_a_function_says_how_to_pass_an_option() -> None:
    page = pydoc.plain(pydoc.render_doc(f.like))
    assert 'like(..., case_sensitivity="CASE_SENSITIVE")' in page
    assert "distribution: SAMPLE, POPULATION (of std_dev:fp32, std_dev:fp64)" in f.std_dev.__doc__
    node: Any = computed(lambda r: f.like(r.s, "a%", case_sensitivity="CASE_INSENSITIVE"), "s: string")
    assert [(option.name, option.preferences) for option in node.options] == [
        ("case_sensitivity", ("CASE_INSENSITIVE",))
    ]


def test_arguments_have_no_names() -> None:
    with refused(InvalidArgumentError, 'its arguments by position, "mode" is given by name', "parsed(text, as, mode)"):
        own.parsed(sd.col("s"), sd.I64, mode="LAX")
    with refused(InvalidArgumentError, 'its arguments by position, "x" is given by name', "sum(x)"):
        f.sum(x=sd.col("a"))
    sampled = table("x: fp64").aggregate(s=lambda r: f.std_dev(r.x, distribution="SAMPLE"))  # an option of that name
    assert str(sampled.schema["s"]) == "fp64?"


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


def test_functions_are_of_an_extension_that_there_is() -> None:
    urn = "extension:io.substrait:functions_aritmetic"
    right = urn.replace("aritmetic", "arithmetic")
    with refused(FunctionNotFoundError, "Functions: there is no extension", urn, f'did you mean "{right}"'):
        sd.Functions(urn=urn)
    assert "add" in dir(sd.Functions(urn=right))
    assert "upper" not in dir(sd.Functions(urn=right))
    assert "upper" in dir(sd.Functions())
