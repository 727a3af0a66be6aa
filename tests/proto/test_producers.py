"""What is known of producers: it is applied to the plans of that producer, and to no others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.plan import from_json
from substrait_dsl.proto.producers import ARROW, DATAFUSION, UNKNOWN, Producer, producer_of


@pytest.mark.parametrize(
    ("name", "producer"),
    [
        ("datafusion", DATAFUSION),
        ("Acero 26.0.1", ARROW),
        ("Acero", ARROW),
        ("", UNKNOWN),
        ("DataFusion", UNKNOWN),
        ("substrait-java", UNKNOWN),
    ],
)
def test_a_producer_is_known_by_how_its_name_begins(name: str, producer: Producer) -> None:
    assert producer_of(name, (0, 85, 0)) is producer


# --- ibis, whose plans say of a quotient or a mean of integers that it is a float


def message(producer: str, urn: str, function: str, *, measure: bool, kind: str, arguments: int) -> str:
    """A plan of one call of a function of columns of i32, as JSON."""
    field = [
        {"selection": {"directReference": {"structField": {"field": n}}, "rootReference": {}}} for n in range(arguments)
    ]
    called: dict[str, Any] = {
        "functionReference": 1,
        "outputType": {kind: {"nullability": "NULLABILITY_NULLABLE"}},
        "arguments": [{"value": each} for each in field],
    }
    columns = {"types": [{"i32": {"nullability": "NULLABILITY_NULLABLE"}}] * 2, "nullability": "NULLABILITY_REQUIRED"}
    table = {"read": {"baseSchema": {"names": ["a", "b"], "struct": columns}, "namedTable": {"names": ["t"]}}}
    rel: dict[str, Any]
    if measure:
        whole = {**called, "phase": "AGGREGATION_PHASE_INITIAL_TO_RESULT", "invocation": "AGGREGATION_INVOCATION_ALL"}
        rel = {"aggregate": {"input": table, "measures": [{"measure": whole}]}}
    else:
        emit = {"emit": {"outputMapping": [2]}}
        rel = {"project": {"common": emit, "input": table, "expressions": [{"scalarFunction": called}]}}
    declared = {"extensionUrnReference": 1, "functionAnchor": 1, "name": function}
    plan = {
        "version": {"minorNumber": 106, "producer": producer},
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": f"extension:io.substrait:{urn}"}],
        "extensions": [{"extensionFunction": declared}],
        "relations": [{"root": {"input": rel, "names": ["x"]}}],
    }
    return json.dumps(plan)


OF_IBIS = {
    "a quotient": ("functions_arithmetic", "divide:i32_i32", False, "fp64", 2),
    "a mean": ("functions_arithmetic", "avg:i32", True, "fp64", 1),
    "a count": ("functions_aggregate_decimal_output", "count:any", True, "i64", 1),
    "a count of rows": ("functions_aggregate_decimal_output", "count:", True, "i64", 0),
}


@pytest.mark.parametrize(("urn", "function", "measure", "kind", "arguments"), OF_IBIS.values(), ids=OF_IBIS)
def test_functions_of_ibis_give_what_it_declares(
    urn: str, function: str, measure: bool, kind: str, arguments: int
) -> None:
    read, other = (
        message(producer, urn, function, measure=measure, kind=kind, arguments=arguments)
        for producer in ("ibis-substrait", "another")
    )
    plan, findings = from_json(read)
    (found,) = plan.roots[0].input.schema.types
    assert str(found.as_required()) == kind
    assert "producer-meaning" in [finding.code for finding in findings] or "avg" in function
    with pytest.raises(PlanFormatError, match="is declared to give"):
        from_json(other)


UNDECLARED = {
    "a quotient": ("functions_arithmetic", "divide:i32_i32", False, "i32", 2),
    "a mean": ("functions_arithmetic", "avg:i32", True, "i32", 1),
}


@pytest.mark.parametrize(
    ("producer", "minor"), [("DuckDB", 53), ("ibis-substrait", 106), ("another", 106)], ids=lambda value: str(value)
)
@pytest.mark.parametrize(("urn", "function", "measure", "kind", "arguments"), UNDECLARED.values(), ids=UNDECLARED)
def test_a_type_that_a_producer_derives_otherwise_is_assumed_where_it_declares_none(
    producer: str, minor: int, urn: str, function: str, measure: bool, kind: str, arguments: int
) -> None:
    text = message(producer, urn, function, measure=measure, kind=kind, arguments=arguments)
    declared = json.dumps({"outputType": {kind: {"nullability": "NULLABILITY_NULLABLE"}}})[1:-1]
    assert f"{declared}, " in text
    undeclared = text.replace(f"{declared}, ", "").replace('"minorNumber": 106', f'"minorNumber": {minor}')
    _, findings = from_json(undeclared)
    assert ("call-type-assumed", "assumed") in [(finding.code, finding.weight) for finding in findings]
