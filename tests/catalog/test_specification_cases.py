"""Every case of the specification's own function test files binds, and has the type that the file states.

Where a file contradicts the extension files, the case stands in a table here, with the reason. An entry that no longer
applies fails the tests.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from substrait_dsl.algebra.types import Func, Type
from substrait_dsl.catalog import CallArgument, EnumValue, Resolution, Typed, standard_catalog
from substrait_dsl.errors import FunctionNotFoundError, InvalidChoiceError
from tests.catalog.cases import Argument, Case, Column, Lambda, Nested, Parameter, Value, Word, read_all

NOT_DECLARED = {
    ("datetime/extract.test", "extract(QUARTER::enum"): "the files' overload takes the indexing too: ONE or ZERO",
    ("datetime/extract.test", "extract(MONTH::enum"): "likewise",
    ("datetime/extract.test", "extract(ISO_WEEK::enum"): "likewise",
    ("datetime/extract.test", "extract(DAY::enum"): "likewise",
    ("datetime/extract.test", "extract(SUNDAY_DAY_OF_WEEK::enum"): "likewise",
    ("datetime/extract.test", "extract(MONDAY_DAY_OF_WEEK::enum"): "likewise",
    ("datetime/extract.test", "extract(DAY_OF_YEAR::enum"): "likewise",
    ("list/filter.test", "->bool>"): "a predicate returns boolean?, and inner nullability must match",
}
"""Calls that no overload takes: (file, part of the call, reason)."""

NULLABLE_BY_OPTION = {
    (
        "arithmetic/acosh.test",
        "on_domain_error:NONE",
    ): "spec decision 36: an option makes NULLs, the mode MIRROR does not know",
    ("arithmetic/divide.test", "on_division_by_zero:NAN"): "likewise",
    ("arithmetic/modulus.test", "on_domain_error:NULL"): "likewise",
    ("arithmetic/sqrt.test", "sqrt(-1::i64) [on_domain_error:NAN"): "likewise",
    ("arithmetic/sqrt.test", "sqrt(-9223372036854775800::i64) [on_domain_error:NAN"): "likewise",
    ("arithmetic_unsigned/divide.test", "on_division_by_zero:NULL"): "likewise",
    ("logarithmic/ln.test", "on_domain_error:NONE"): "likewise",
    ("logarithmic/ln.test", "on_log_zero:NAN"): "likewise",
    ("logarithmic/log10.test", "on_domain_error:NONE"): "likewise",
    ("logarithmic/log10.test", "on_log_zero:NAN"): "likewise",
    ("logarithmic/log2.test", "on_domain_error:NONE"): "likewise",
    ("logarithmic/log2.test", "on_log_zero:NAN"): "likewise",
    ("logarithmic/logb.test", "on_domain_error:NONE"): "likewise",
    ("logarithmic/logb.test", "on_log_zero:NAN"): "likewise",
}
"""Results that are stated nullable though no argument is: (file, part of the case, reason)."""

WITHOUT_PRECISION = {
    ("datetime/add_intervals.test", "iday"): "the result is an interval_day without a precision, which is no type",
}
"""Results whose stated type is incomplete: (file, part of the case, reason)."""

UNDECLARED_OPTIONS = {
    "lookaround:TRUE": (28, "regular expression functions declare no such option"),
    "spaces_only:FALSE": (9, "the trims declare no such option"),
    "on_domain_error:NONE": (5, "the value is called NULL, or there is none"),
    "full_unicode:TRUE": (2, "upper and lower declare char_set instead"),
    "on_division_by_zero:NAN": (1, "integer division has no NaN"),
}
"""Options or values that the extension files do not declare: how many cases use them, and why that is wrong."""


def bind(function: str, arguments: tuple[Argument, ...], case: Case) -> Resolution:
    urns = (case.urn, *case.dependencies)
    declaring = [urn for urn in urns if function in standard_catalog().extensions[urn].functions]
    given = [as_given(argument, case) for argument in arguments]
    return standard_catalog().resolve(case.kind, function, given, urn=declaring[0])


def as_given(argument: Argument, case: Case) -> CallArgument:
    match argument:
        case Value(type=type_, value=value):
            return Typed(type_, value if type(value) is int else None)
        case Column(type=type_) | Lambda(type=type_):
            return Typed(type_)
        case Word(name):
            return EnumValue(name)
        case Nested(function, arguments):
            return Typed(bind(function, arguments, case).output_type)
        case Parameter():
            raise AssertionError("a lambda's parameter stands outside of it")


def outcome(case: Case) -> str:
    try:
        derived = bind(case.function, case.arguments, case).output_type
    except FunctionNotFoundError:
        return "no overload"
    match case.expected:
        case "ERROR" | "UNDEFINED":
            return "bound, no result stated"
        case Value(omitted=True, type=stated):
            return "stated type incomplete" if derived == stated else "wrong"
        case Value(type=stated):
            if derived == stated:
                return "same"
            return "stated nullable" if derived.as_nullable() == stated else "wrong"


@cache
def outcomes() -> dict[Case, str]:
    """What comes of each case."""
    return {case: outcome(case) for case in read_all()}


def test_all_cases_are_read() -> None:
    assert Counter(case.kind for case in read_all()) == {"scalar": 1125, "aggregate": 186, "window": 6}


def test_outcomes() -> None:
    assert Counter(outcomes().values()) == {
        "same": 1228,
        "bound, no result stated": 57,
        "stated nullable": 14,
        "no overload": 14,
        "stated type incomplete": 4,
    }


@pytest.mark.parametrize(
    ("quirk", "table"),
    [
        ("no overload", NOT_DECLARED),
        ("stated nullable", NULLABLE_BY_OPTION),
        ("stated type incomplete", WITHOUT_PRECISION),
    ],
)
def test_quirks_are_the_listed_ones(quirk: str, table: dict[tuple[str, str], str]) -> None:
    cases = [case for case in read_all() if outcomes()[case] == quirk]
    used = {entry for case in cases for entry in table if applies(entry, case)}
    assert [str(case) for case in cases if not any(applies(entry, case) for entry in table)] == []
    assert used == set(table), "entries that no longer apply"


def applies(entry: tuple[str, str], case: Case) -> bool:
    file, part = entry
    return case.file == file and part.replace(" ", "") in case.text.replace(" ", "")


def test_options_are_declared_but_for_the_listed_ones() -> None:
    assert Counter(undeclared_options()) == {option: count for option, (count, _) in UNDECLARED_OPTIONS.items()}


def undeclared_options() -> Iterator[str]:
    for case in read_all():
        if case.options:
            overload = bind(case.function, case.arguments, case).overload
            for name, value in case.options:
                try:
                    overload.option_values(name, (value,))
                except InvalidChoiceError:
                    yield f"{name}:{value.upper()}"


def test_lambda_bodies_have_the_return_type_their_lambda_states() -> None:
    checked = 0
    for case in read_all():
        for argument in case.arguments:
            if isinstance(argument, Lambda) and outcomes()[case] == "same":
                body = bind_body(argument, case)
                stated = argument.type.parameters[-1]
                # any_match and all_match take a func -> boolean?, so their lambdas state it even of a required body
                assert body.as_nullable() == stated or body == stated, str(case)
                checked += 1
    assert checked == 9 + 9 + 4 - 2  # lines with an arrow in all_match, any_match and transform; two are null lambdas


def bind_body(function: Lambda, case: Case) -> Type:
    assert isinstance(function.type, Func)
    parameters = dict(zip(function.parameters, function.type.parameter_types, strict=True))
    arguments = tuple(
        Value(argument.name, parameters[argument.name], None) if isinstance(argument, Parameter) else argument
        for argument in function.body.arguments
    )
    return bind(function.body.function, arguments, case).output_type
