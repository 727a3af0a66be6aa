"""What is known of producers: it is applied to the plans of that producer, and to no others."""

from __future__ import annotations

import itertools
import json
from contextlib import suppress
from typing import Any

import pytest

from substrait_dsl.errors import PlanFormatError, SubstraitDslError, UnsupportedError
from substrait_dsl.proto.plan import from_json
from substrait_dsl.proto.producers import ARROW, DATAFUSION, DUCKDB, IBIS, PRODUCERS, UNKNOWN, Producer, producer_of


@pytest.mark.parametrize(
    ("name", "producer"),
    [
        ("datafusion", DATAFUSION),
        ("Acero 26.0.1", ARROW),
        ("Acero", ARROW),
        ("", UNKNOWN),
        ("DataFusion", UNKNOWN),
        ("substrait-java", UNKNOWN),
        ("datafusion 55.0.0", DATAFUSION),
        ("datafusion/55.0.0", DATAFUSION),
        ("datafusion-comet", UNKNOWN),
        ("datafusionX 3", UNKNOWN),
        ("datafusion comet", UNKNOWN),
        ("datafusion-python 50", UNKNOWN),
        ("Acerola 1", UNKNOWN),
        ("ibis-substrait", IBIS),
        ("ibis-substrait-fork", UNKNOWN),
    ],
)
def test_a_producer_is_known_by_its_name_and_a_version_behind_it(name: str, producer: Producer) -> None:
    assert producer_of(name, (0, 85, 0)) is producer


@pytest.mark.parametrize(
    ("name", "producer"),
    [
        ("DuckDB", DUCKDB),
        ("DuckDB 1.1.3", DUCKDB),
        ("DuckDB v1.1.3", DUCKDB),
        ("DuckDB-like engine", UNKNOWN),
        ("DuckDBs", UNKNOWN),
    ],
)
def test_a_producer_of_earlier_versions_is_known_likewise(name: str, producer: Producer) -> None:
    assert producer_of(name, (0, 53, 0)) is producer
    assert producer_of(name, (0, 54, 0)) is UNKNOWN


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


# --- calls with any number of arguments


NAMES = [(producer, name) for producer in PRODUCERS for name in producer.scalar_functions]


@pytest.mark.parametrize(("producer", "name"), NAMES, ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize("kind", ["i32", "string", "enum", "type"])
def test_a_call_of_any_number_of_arguments_is_read_or_refused(producer: Producer, name: str, kind: str) -> None:
    plan = json.loads(message(producer.name, "", name, measure=False, kind="i64", arguments=2))
    if producer.before is not None:
        plan["version"]["minorNumber"] = producer.before[1] - 1
    del plan["extensionUrns"], plan["extensions"][0]["extensionFunction"]["extensionUrnReference"]
    call = plan["relations"][0]["root"]["input"]["project"]["expressions"][0]["scalarFunction"]
    (column, _) = call["arguments"]
    argument = {
        "i32": column,
        "string": {"value": {"literal": {"string": "x"}}},
        "enum": {"enum": "YEAR"},
        "type": {"type": {"i32": {"nullability": "NULLABILITY_NULLABLE"}}},
    }[kind]
    declared = call["outputType"]
    for count, says_type in itertools.product(range(6), (True, False)):
        call["arguments"] = [argument] * count
        call["outputType"] = declared if says_type else None
        with suppress(SubstraitDslError):  # any other error fails
            from_json(json.dumps(plan))


@pytest.mark.parametrize("name", ["btrim", "ltrim", "rtrim", "substring", "left", "date_part"])
def test_a_call_without_arguments_that_declares_no_type_is_refused_by_name(name: str) -> None:
    plan = json.loads(message("datafusion", "", name, measure=False, kind="i64", arguments=0))
    del plan["extensionUrns"], plan["extensions"][0]["extensionFunction"]["extensionUrnReference"]
    del plan["relations"][0]["root"]["input"]["project"]["expressions"][0]["scalarFunction"]["outputType"]
    with pytest.raises(UnsupportedError, match=name):
        from_json(json.dumps(plan))


# --- casts to text, in lists, structs and maps

NULLABLE = {"nullability": "NULLABILITY_NULLABLE"}
TEXT, FLOAT, SHORT_FLOAT, INTEGER, DATE = ({kind: NULLABLE} for kind in ("string", "fp64", "fp32", "i64", "date"))
VARCHAR = {"varchar": {"length": 9, **NULLABLE}}
TIMESTAMP, ZONED = ({kind: {"precision": 6, **NULLABLE}} for kind in ("precisionTimestamp", "precisionTimestampTz"))


def listed(element: Any) -> Any:
    return {"list": {"type": element, **NULLABLE}}


def mapped(key: Any, value: Any) -> Any:
    return {"map": {"key": key, "value": value, **NULLABLE}}


def struct(*types: Any) -> Any:
    return {"struct": {"types": types, **NULLABLE}}


def field_names(kind: Any) -> list[str]:
    """A name for each field of the structs in a type."""
    structs = json.dumps(kind).count('"struct"')
    return [f"field_{number}" for number in range(2 * structs)]  # all structs here have two fields


def cast(producer: str, source: Any, target: Any) -> str:
    """A plan of one cast of a column, as JSON."""
    plan = json.loads(message(producer, "", "", measure=False, kind="i64", arguments=1))
    del plan["extensionUrns"], plan["extensions"]
    project = plan["relations"][0]["root"]["input"]["project"]
    schema = project["input"]["read"]["baseSchema"]
    schema["struct"]["types"][0] = source
    schema["names"] = ["a", *field_names(source), "b"]
    plan["relations"][0]["root"]["names"] = ["x", *field_names(target)]
    (column,) = project["expressions"][0].pop("scalarFunction")["arguments"]
    project["expressions"][0]["cast"] = {
        "type": target,
        "input": column["value"],
        "failureBehavior": "FAILURE_BEHAVIOR_THROW_EXCEPTION",
    }
    return json.dumps(plan)


WITH_OWN_TEXT = {
    "a float": (FLOAT, TEXT, "fp64"),
    "a list of floats": (listed(FLOAT), listed(TEXT), "fp64"),
    "a list of timestamps": (listed(TIMESTAMP), listed(VARCHAR), "precision_timestamp<6>"),
    "a list of lists": (listed(listed(SHORT_FLOAT)), listed(listed(TEXT)), "fp32"),
    "a field of a struct": (struct(INTEGER, ZONED), struct(TEXT, TEXT), "precision_timestamp_tz<6>"),
    "the keys of a map": (mapped(FLOAT, INTEGER), mapped(TEXT, INTEGER), "fp64"),
    "the values of a map": (mapped(INTEGER, FLOAT), mapped(INTEGER, TEXT), "fp64"),
    "structs in lists in a map": (
        mapped(TEXT, listed(struct(DATE, FLOAT))),
        mapped(TEXT, listed(struct(DATE, TEXT))),
        "fp64",
    ),
    "a list as one text": (listed(FLOAT), TEXT, "fp64"),
    "structs as one text each": (listed(struct(INTEGER, TIMESTAMP)), listed(VARCHAR), "precision_timestamp<6>"),
}


@pytest.mark.parametrize(("source", "target", "kind"), WITH_OWN_TEXT.values(), ids=WITH_OWN_TEXT)
def test_what_a_producer_writes_as_text_in_a_way_of_its_own_is_refused(source: Any, target: Any, kind: str) -> None:
    from_json(cast("another", source, target))
    with pytest.raises(UnsupportedError, match=rf"DataFusion writes {kind}\? as text.* in a way of its own"):
        from_json(cast("datafusion", source, target))


WITH_COMMON_TEXT = {
    "integers": (listed(INTEGER), listed(TEXT)),
    "dates": (struct(DATE, FLOAT), struct(TEXT, FLOAT)),
    "floats that stay": (mapped(INTEGER, FLOAT), mapped(TEXT, FLOAT)),
    "floats from texts": (listed(TEXT), listed(FLOAT)),
}


@pytest.mark.parametrize(("source", "target"), WITH_COMMON_TEXT.values(), ids=WITH_COMMON_TEXT)
def test_other_casts_are_read(source: Any, target: Any) -> None:
    plan, _ = from_json(cast("datafusion", source, target))
    (read,) = plan.roots[0].input.schema.types
    (same,) = from_json(cast("another", source, target))[0].roots[0].input.schema.types
    assert read == same
