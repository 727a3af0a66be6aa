"""Former forms that have one meaning: single optimizations, URIs of no file, long microseconds, keys listed twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import LiteralError, PlanFormatError
from tests.support import f, refused, table

REQUIRED = "NULLABILITY_REQUIRED"
I64 = {"i64": {"nullability": REQUIRED}}
A = {"selection": {"directReference": {"structField": {"field": 0}}, "rootReference": {}}}
B = {"selection": {"directReference": {"structField": {"field": 1}}, "rootReference": {}}}
DURATION = {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "3s"}
T = table("a: i64, b: i64", "t")


def read(**more: Any) -> dict[str, Any]:
    schema = {"names": ["a", "b"], "struct": {"types": [I64, I64], "nullability": REQUIRED}}
    return {"read": {"baseSchema": schema, "namedTable": {"names": ["t"]}, **more}}


def plan(rel: dict[str, Any], names: list[str], minor: int, **more: Any) -> sd.Plan:
    relations = [{"root": {"input": rel, "names": names}}]
    return sd.Plan.from_json(json.dumps({"version": {"minorNumber": minor}, "relations": relations, **more}))


def codes(read: sd.Plan) -> list[str]:
    return [str(each.code) for each in read.findings if each.code != "evaluation-mode"]


# --- one optimization


def test_one_optimization_was_an_object_in_json() -> None:
    one, many = {"optimization": DURATION}, {"optimization": [DURATION]}
    for place in ("common", "relation", "plan"):
        forms = []
        for form in (one, many):
            common: Any = {"common": {"direct": {}, "advancedExtension": form}} if place == "common" else {}
            own: Any = {"advancedExtension": form} if place == "relation" else {}
            whole: Any = {"advancedExtensions": form} if place == "plan" else {}
            forms.append(plan(read(**common, **own), ["a", "b"], 40, **whole))
        assert forms[0] == forms[1] != plan(read(), ["a", "b"], 40)


def test_what_is_no_list_elsewhere_is_refused() -> None:
    with refused(PlanFormatError, "expected a list for types, not an object", "base_schema.struct.types"):
        plan({"read": {"base_schema": {"names": ["a"], "struct": {"types": I64}}}}, ["a"], 40)


# --- URIs


@pytest.mark.parametrize(
    "uri", ["", "/", "extensions/", "https://github.com/substrait-io/substrait/blob/main/extensions/", "/.yaml"]
)
@pytest.mark.parametrize("key", ["add:i64_i64", "add"])
def test_a_uri_that_names_no_file_says_nothing(uri: str, key: str) -> None:
    call = {"functionReference": 1, "outputType": I64, "arguments": [{"value": A}, {"value": B}]}
    project = {
        "project": {
            "common": {"emit": {"outputMapping": [2]}},
            "input": read(),
            "expressions": [{"scalarFunction": call}],
        }
    }
    function = {"functionAnchor": 1, "name": key, "extensionUriReference": 1}
    got = plan(
        project,
        ["x"],
        24,
        extensions=[{"extensionFunction": function}],
        extensionUris=[{"extensionUriAnchor": 1, "uri": uri}],
    )
    assert got == T.select(x=lambda r: r.a + r.b).to_plan()
    assert codes(got) == ["extension-missing", "function-name"]


def test_a_folder_of_somebody_else_is_an_extension() -> None:
    function = {"functionAnchor": 1, "name": "add", "extensionUriReference": 1}
    call = {"functionReference": 1, "outputType": I64, "arguments": [{"value": A}, {"value": B}]}
    rel = {"project": {"input": read(), "expressions": [{"scalarFunction": call}]}}
    uris = [{"extensionUriAnchor": 1, "uri": "https://acme.com/functions/"}]
    got = plan(rel, ["a", "b", "x"], 24, extensions=[{"extensionFunction": function}], extensionUris=uris)
    assert "extension:acme.com" in got.to_json()


# --- intervals


@pytest.mark.parametrize(
    ("seconds", "microseconds", "expected"),
    [
        (0, 1_500_000, (1, 500_000)),
        (2, 1_000_000, (3, 0)),
        (0, -2_250_000, (-2, -250_000)),
        (5, 999_999, (5, 999_999)),
        (0, 2**31 - 1, (2147, 483_647)),
    ],
)
def test_microseconds_beyond_a_second_are_seconds(seconds: int, microseconds: int, expected: tuple[int, int]) -> None:
    interval = {"days": 7, "seconds": seconds, "microseconds": microseconds}
    project = {
        "project": {
            "common": {"emit": {"outputMapping": [2]}},
            "input": read(),
            "expressions": [{"literal": {"intervalDayToSecond": interval}}],
        }
    }
    assert plan(project, ["x"], 40) == T.select(x=sd.lit(sd.DaySeconds(7, *expected), sd.IntervalDay(6))).to_plan()
    interval["seconds"] = 2**31 - 1
    if expected[0] > seconds:
        with refused(PlanFormatError, "have no place", "expressions[0].literal.interval_day_to_second"):
            plan(project, ["x"], 40)


@pytest.mark.parametrize(("years", "months"), [(10_000, 1), (-10_000, -1), (0, 120_001), (9_999, 13), (1, 119_989)])
def test_an_interval_of_years_spans_at_most_120000_months(years: int, months: int) -> None:
    with refused(LiteralError, "120000"):
        sd.YearMonths(years, months)
    less = months - (1 if months > 0 else -1)
    assert abs(sd.YearMonths(years, less).years) == abs(years)
    message = T.select(x=sd.lit(sd.YearMonths(1, 1))).to_plan().to_proto()
    literal = message.relations[0].root.input.project.expressions[0].literal
    literal.interval_year_to_month.years, literal.interval_year_to_month.months = years, months
    with refused(PlanFormatError, "120000", "expressions[0]"):
        sd.Plan.from_proto(message)


# --- groupings


def grouped(keys: list[Any], names: list[str], above: str = "", measures: int = 0) -> sd.Plan:
    measure = {
        "measure": {
            "functionReference": 1,
            "outputType": {"i64": {"nullability": "NULLABILITY_NULLABLE"}},
            "phase": "AGGREGATION_PHASE_INITIAL_TO_RESULT",
            "arguments": [{"value": B}],
        }
    }
    rel: dict[str, Any] = {
        "aggregate": {"input": read(), "groupings": [{"groupingExpressions": keys}], "measures": [measure] * measures}
    }
    if above == "sort":
        rel = {"sort": {"input": rel, "sorts": [{"expr": A, "direction": "SORT_DIRECTION_ASC_NULLS_FIRST"}]}}
    elif above == "project":
        rel = {"project": {"input": rel, "expressions": [A]}}
    functions = [{"extensionFunction": {"functionAnchor": 1, "name": "sum:i64", "extensionUriReference": 1}}]
    uris = [{"extensionUriAnchor": 1, "uri": "/functions_arithmetic.yaml"}]
    return plan(rel, names, 53, extensions=functions, extensionUris=uris)


def test_a_key_that_is_listed_twice_is_two_columns_where_the_root_names_both() -> None:
    twice = T.group_by(x=sd.col("a"), y=sd.col("a")).agg()
    assert grouped([A, A], ["x", "y"]) == twice.to_plan()
    summed = grouped([A, B, A], ["x", "b", "y", "s"], measures=1)
    assert summed == T.group_by(x=sd.col("a"), b=sd.col("b"), y=sd.col("a")).agg(s=lambda r: f.sum(r.b)).to_plan()
    assert codes(summed) == ["root-names"]
    assert grouped([A, A], ["x", "y"], above="sort").roots[0].schema == twice.schema


def test_a_key_that_is_listed_twice_is_one_column_else() -> None:
    once = T.group_by(x=sd.col("a")).agg()
    assert grouped([A, A], ["x"]).roots[0].schema == once.schema
    assert codes(grouped([A, A], ["x"])) == []
    assert codes(grouped([A, A], ["x", "z"], above="project")) == ["grouping-repeated"]
    with refused(PlanFormatError, "a root has 3 names, but its relation has 1 fields"):
        grouped([A, A], ["x", "y", "z"])


# --- names of roots


def several_sets() -> Any:
    return T.group_by("a").rollup(n=lambda r: f.sum(r.b))


@pytest.mark.parametrize(
    "above",
    [
        lambda sets: sets,
        lambda sets: sets.sort("a"),
        lambda sets: sets.filter(lambda r: r.a > 1).limit(5),
        lambda sets: sets.union(sets),
        lambda sets: sets.select("n", "a", sets.schema.names[-1]),
        lambda sets: sets.select("a", "n", g=lambda r: r[sets.schema.names[-1]]),
    ],
)
def test_a_root_without_the_name_of_the_set_number(above: Any) -> None:
    rel = above(several_sets())
    message = rel.to_plan().to_proto()
    del message.relations[0].root.names[-1]
    got = sd.Plan.from_proto(message)
    assert got.roots[0].schema.names[:-1] == rel.schema.names[:-1]
    assert got.roots[0].schema.types == rel.schema.types
    assert "no name for the number of the grouping set" in got.findings[0].message


@pytest.mark.parametrize(
    "above",
    [
        lambda sets: sets.select(sets.schema.names[-1], "a", "n"),
        lambda sets: sets.with_columns(m=lambda r: r.n + 1),
        lambda sets: T,
    ],
)
def test_a_root_that_lacks_another_name_is_refused(above: Any) -> None:
    message = above(several_sets()).to_plan().to_proto()
    del message.relations[-1].root.names[-1]
    with refused(PlanFormatError, "names, but its relation has", "hint: its fields are"):
        sd.Plan.from_proto(message)


@pytest.mark.parametrize(
    ("rel", "names"),
    [
        (T, ("0", "1")),
        (T.select("b"), ("0",)),
        (sd.read_named("t", {"a": "i64", "s": sd.Struct.of({"x": sd.I64(), "y": sd.String()})}), ("0", "1")),
    ],
)
def test_a_root_without_names_is_named_by_positions(rel: Any, names: tuple[str, ...]) -> None:
    message = rel.to_plan().to_proto()
    del message.relations[0].root.names[:]
    got = sd.Plan.from_proto(message)
    assert got.roots[0].schema.names == names
    assert [type(each) for each in got.roots[0].schema.types] == [type(each) for each in rel.schema.types]
    assert codes(got) == ["root-names"]


def test_a_root_that_lacks_a_name_among_those_of_fields_is_refused() -> None:
    """With three names for a, s, what is inside s, and the number of the set, nobody knows which is missing."""
    nested: Any = sd.read_named("t", {"a": sd.I32, "s": sd.Struct.of({"x": sd.I32()})})
    for keys in (("a", "s"), ("s", "a")):
        message = nested.aggregate(*keys, grouping_sets=[(key,) for key in keys]).to_plan().to_proto()
        del message.relations[0].root.names[-1]
        with refused(PlanFormatError, "a root has 3 names, but its relation has 4 fields", "depth first"):
            sd.Plan.from_proto(message)
