"""Plans of DuckDB up to 1.1.3 with its extension for Substrait: what they leave unsaid is read as DuckDB means it.

The messages have the form in which DuckDB 1.1.3 wrote the queries beside them. Of the queries of TPC-H it wrote 15 with
its optimizer on: 13 of them give DuckDB's rows on Spark, 11 is refused there, and 13 is one that cannot be told.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

import substrait_dsl as sd
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from tests.support import refused, table

NULLABLE, REQUIRED = "NULLABILITY_NULLABLE", "NULLABILITY_REQUIRED"
FOLDER = "https://github.com/substrait-io/substrait/blob/main/extensions/"
T = table("a: i64?, b: i64?, s: string?, d: decimal<9,2>?", "t")
ROWS = [(1, 2, "x", "1.50"), (3, 4, "yy", "2.55"), (None, 4, None, None)]


def kind(name: str, **more: Any) -> dict[str, Any]:
    return {name: {"nullability": NULLABLE, **more}}


def field(position: int) -> dict[str, Any]:
    return {"selection": {"directReference": {"structField": {"field": position}}, "rootReference": {}}}


def read(*columns: int) -> dict[str, Any]:
    types = [kind("i64"), kind("i64"), kind("string"), kind("decimal", precision=9, scale=2)]
    return {
        "read": {
            "baseSchema": {
                "names": ["a", "b", "s", "d"],
                "struct": {"types": types, "nullability": "NULLABILITY_REQUIRED"},
            },
            "projection": {
                "select": {"structItems": [{"field": column} for column in columns]},
                "maintainSingularStruct": True,
            },
            "namedTable": {"names": ["t"]},
        }
    }


def call(output: dict[str, Any], *arguments: dict[str, Any]) -> dict[str, Any]:
    return {"functionReference": 1, "outputType": output, "arguments": [{"value": each} for each in arguments]}


def project(rel: dict[str, Any], *expressions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"project": {"input": rel, "expressions": list(expressions), **more}}


def plan(rel: dict[str, Any], *names: str, function: str = "", producer: str = "DuckDB", minor: int = 53) -> sd.Plan:
    message: dict[str, Any] = {
        "relations": [{"root": {"input": rel, "names": list(names)}}],
        "version": {"minorNumber": minor, "producer": producer},
    }
    if function:
        message["extensionUris"] = [{"extensionUriAnchor": 1, "uri": FOLDER}]
        declared = {"extensionUriReference": 1, "functionAnchor": 1, "name": function}
        message["extensions"] = [{"extensionFunction": declared}]
    return sd.Plan.from_json(json.dumps(message))


def rows(read: sd.Plan, spark: SparkSession) -> list[tuple[Any, ...]]:
    data = [(*each[:3], None if each[3] is None else Decimal(each[3])) for each in ROWS]
    sd.read_virtual(data, T.schema).execute(spark).createOrReplaceTempView("t")
    return [tuple(row) for row in read.roots[0].collect(spark)]


ADD = {"scalarFunction": call(kind("i64"), field(1), field(0))}


# --- projects

SORTED = {
    "sort": {
        "input": project(read(1, 0), ADD, field(1)),
        "sorts": [{"expr": field(1), "direction": "SORT_DIRECTION_ASC_NULLS_LAST"}],
    }
}


@pytest.mark.parametrize(
    ("rel", "names", "function"),
    [
        (project(read(0), field(0)), ("a",), ""),  # SELECT a FROM t
        (
            {"fetch": {"input": SORTED, "count": "2"}},
            ("x", "a"),
            "add:i64_i64",
        ),  # SELECT a + b, a ... ORDER BY a
        (project(project(read(0, 1), field(1), field(0)), field(1)), ("a",), ""),
    ],
)
def test_projects_put_out_their_expressions(rel: Any, names: tuple[str, ...], function: str) -> None:
    got = plan(rel, *names, function=function)
    assert got.roots[0].schema.names == names
    assert [each.code for each in got.findings].count(sd.FindingCode.PRODUCER_MEANING) == 1


def test_rows_of_duckdb_on_spark(spark: SparkSession) -> None:
    # SELECT b FROM (SELECT a + b AS x, b FROM t) WHERE x > 3, as two projects
    inner = project(read(0, 1), {"scalarFunction": call(kind("i64"), field(0), field(1))}, field(1))
    assert rows(plan(project(inner, field(1), field(0)), "b", "x", function="add:i64_i64"), spark) == [
        (2, 3),
        (4, 7),
        (4, None),
    ]
    total = {"functionReference": 1, "outputType": kind("decimal", precision=38), "arguments": [{"value": field(0)}]}
    summed = {"aggregate": {"input": read(0), "groupings": [], "measures": [{"measure": total}]}}
    assert rows(plan(project(summed, field(0)), "s", function="sum:i64"), spark) == [(Decimal("4"),)]
    mean = {"functionReference": 1, "outputType": kind("fp64"), "arguments": [{"value": field(0)}]}
    for column, expected in ((3, 2.025), (1, 10 / 3)):
        averaged = {"aggregate": {"input": read(column), "groupings": [], "measures": [{"measure": mean}]}}
        ((got,),) = rows(plan(project(averaged, field(0)), "m", function="avg:decimal"), spark)
        assert got == pytest.approx(expected)


def test_a_sum_of_integers_is_of_128_bits(spark: SparkSession) -> None:
    """What i64 has no place for: DuckDB gives 18446744073709551614."""
    large = sd.read_virtual([(2**63 - 1,), (2**63 - 1,)], {"a": "i64?"})
    message = json.loads(large.to_plan().to_json())
    rel = message["relations"][0]["root"]["input"]
    total = {"functionReference": 1, "outputType": kind("decimal", precision=38), "arguments": [{"value": field(0)}]}
    summed = {"aggregate": {"input": rel, "groupings": [], "measures": [{"measure": total}]}}
    got = plan(project(summed, field(0)), "s", function="sum:i64").roots[0].collect(spark)
    assert [tuple(row) for row in got] == [(Decimal("18446744073709551614"),)]


def test_other_plans_put_out_the_input_columns_too() -> None:
    # a later DuckDB of the same version: SELECT i, i * i
    both = project(read(0, 1), {"scalarFunction": call(kind("i64"), field(0), field(1))})
    assert plan(both, "a", "b", "x", function="add:i64_i64").roots[0].schema.names == ("a", "b", "x")
    picked = project(read(0, 1), ADD, common={"emit": {"outputMapping": [2]}})
    assert plan(picked, "x", function="add:i64_i64").roots[0].schema.names == ("x",)
    mixed = project(picked, field(0))
    assert plan(mixed, "x", "y", function="add:i64_i64").roots[0].schema.names == ("x", "y")
    # other producers, and DuckDB since 0.54
    for other in ({"producer": "x"}, {"minor": 78}):
        with refused(PlanFormatError, "a root has 1 names, but its relation has 2 fields"):
            plan(project(read(0), field(0)), "a", **other)


GROUPED = {
    "aggregate": {
        "input": project(read(0, 1), field(1)),
        "groupings": [{"groupingExpressions": [field(0)]}],
        "measures": [],
    }
}
"""DuckDB would mean GROUP BY b, the specification GROUP BY a."""
WITH_EXCHANGE = {"exchange": {"input": project(read(0, 1), field(1)), "broadcast": {}}}


@pytest.mark.parametrize(
    ("rel", "names", "told"),
    [
        (GROUPED, ("g",), "a root on a relation of kind aggregate, over projects that do not say what they put out"),
        ({"sort": {"input": GROUPED, "sorts": []}}, ("g",), "of kind aggregate"),
        ({"filter": {"input": WITH_EXCHANGE, "condition": {"literal": {"boolean": True}}}}, ("g",), "kind exchange"),
        (project(read(0, 1), field(1)), (), "a root whose columns have no names"),
        (project(project(read(0, 1), field(1)), field(0)), (), "a root whose columns have no names"),
    ],
)
def test_what_projects_put_out_is_not_guessed(rel: Any, names: tuple[str, ...], told: str) -> None:
    with refused(UnsupportedError, told, "in plans of DuckDB", "relations[0].root"):
        plan(rel, *names)


def test_columns_of_no_project_are_read_whatever_is_on_top() -> None:
    grouped = {"aggregate": {**GROUPED["aggregate"], "input": read(0, 1)}}
    assert plan(grouped, "g").roots[0].schema.names == ("g",)
    assert plan(read(0, 1), "a", "b").roots[0].schema.names == ("a", "b")
    said = project(read(0, 1), field(1), common={"emit": {"outputMapping": [2]}})
    assert plan({"aggregate": {**GROUPED["aggregate"], "input": said}}, "g").roots[0].schema.names == ("g",)


@pytest.mark.parametrize("operation", ["SET_OP_UNION_ALL", "SET_OP_UNION_DISTINCT", "SET_OP_INTERSECTION_PRIMARY"])
def test_a_set_on_top_has_the_columns_of_its_projects(operation: str) -> None:
    # SELECT a FROM t UNION ALL SELECT b FROM t
    inputs = [project(read(0), field(0)), project(read(1), field(0))]
    got = plan({"set": {"inputs": inputs, "op": operation}}, "a")
    assert got.roots[0].schema.names == ("a",)
    assert [str(type_) for type_ in got.roots[0].schema.types] == ["i64?"]


# --- functions


@pytest.mark.parametrize("function", ["equal:string_string", "lt:string_string", "is_not_null:string"])
def test_predicates_declare_the_type_of_what_they_compare(function: str) -> None:
    arguments = (field(2), {"literal": {"string": "x"}})[: 1 if function.startswith("is") else 2]
    rel = read(2)
    rel["read"]["filter"] = {"scalarFunction": call(kind("string"), *arguments)}
    got = plan(project(rel, field(0)), "s", function=function)
    assert got.roots[0].schema.names == ("s",)
    with refused(PlanFormatError, "is declared to give string?"):
        plan(project(rel, field(0)), "s", "t", function=function, producer="x")


@pytest.mark.parametrize("declared", ["date", "i64", "fp64"])
def test_predicates_declare_no_other_type(declared: str) -> None:
    rel = read(2)
    rel["read"]["filter"] = {"scalarFunction": call(kind(declared), field(2), {"literal": {"string": "x"}})}
    with refused(PlanFormatError, f"lt:string_string is declared to give {declared}?"):
        plan(project(rel, field(0)), "s", function="lt:string_string")


@pytest.mark.parametrize("pattern", ["%special%", "a_b", "x%"])
def test_what_may_be_not_like_is_refused(pattern: str) -> None:
    condition = {"scalarFunction": call(kind("bool"), field(0), {"literal": {"string": pattern}})}
    rel = project({"filter": {"input": read(2), "condition": condition}}, field(0))
    with refused(UnsupportedError, "may be NOT LIKE", repr(pattern), "input.filter.condition"):
        plan(rel, "s", function="not_equal:string_string")
    condition["scalarFunction"]["arguments"][1]["value"]["literal"]["string"] = "x"
    got = plan(rel, "s", function="not_equal:string_string")
    assert got.roots[0].schema.names == ("s",)


@pytest.mark.parametrize("types", [("string",), ("string", "string"), ("varchar", "string")])
def test_what_may_be_not_like_is_refused_under_casts(types: tuple[str, ...]) -> None:
    def compared(text: str) -> sd.Plan:
        value: dict[str, Any] = {"literal": {"string": text}}
        for name in types:
            of = kind(name, length=9) if name == "varchar" else kind(name)
            value = {"cast": {"input": value, "type": of, "failureBehavior": "FAILURE_BEHAVIOR_THROW_EXCEPTION"}}
        condition = {"scalarFunction": call(kind("bool"), field(0), value)}
        rel = project({"filter": {"input": read(2), "condition": condition}}, field(0))
        return plan(rel, "s", function="not_equal:string_string")

    with refused(UnsupportedError, "may be NOT LIKE", repr("a%")):
        compared("a%")
    assert compared("a").roots[0].schema.names == ("s",)


def test_rows_without_a_schema_have_that_of_their_values() -> None:
    # SELECT 1 AS one
    values = {"read": {"virtualTable": {"values": [{"fields": [{"i32": 42}]}]}}}
    got = plan(project(values, {"literal": {"i32": 1}}), "one")
    assert got.roots[0].schema.names == ("one",)
    assert "row-schema" in [each.code for each in got.findings]
