"""Findings: one for each subject, the heavier first, with codes of one table; and what strict reading refuses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from substrait import type_pb2
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.algebra.findings import MAX_PATHS, WEIGHTS, Finding, FindingCode, Weight, merge_findings
from substrait_dsl.errors import InvalidChoiceError, PlanFormatError
from substrait_dsl.proto.differences import difference_of
from tests.support import f, refused, table

PAGE = Path(__file__).parents[2] / "docs" / "plans.md"
NULLABLE = type_pb2.Type.NULLABILITY_NULLABLE
T = table("a: i64, b: i64?, d: decimal<9,2>, x: fp64", "t")


def schema_of(**types: Any) -> Any:
    return sd.read_named("t", types).schema


def untyped(rel: Any) -> Plan:
    """The plan of a projection, whose calls do not declare their types."""
    plan: Plan = rel.to_plan().to_proto()
    for expression in plan.relations[0].root.input.project.expressions:
        expression.scalar_function.ClearField("output_type")
    return plan


def declared(rel: Any, **types: Any) -> Plan:
    """The plan of a projection whose first call is declared to have another type."""
    plan: Plan = rel.to_plan().to_proto()
    call = plan.relations[0].root.input.project.expressions[0].scalar_function
    call.output_type.CopyFrom(schema_of(**types).to_proto().struct.types[0])
    return plan


def test_calls_of_one_function_are_one_finding() -> None:
    plan = untyped(T.select(*(f.add(sd.col("a"), n).alias(f"c{n}") for n in range(5))))
    (finding,) = sd.Plan.from_proto(plan).findings
    assert finding.code is sd.FindingCode.CALL_TYPE_MISSING
    assert (finding.places, len(finding.paths)) == (5, MAX_PATHS)
    assert finding.paths[1] == "relations[0].root.input.project.expressions[1].scalar_function"
    assert str(finding).endswith("expressions[0].scalar_function, and in 4 more places) [harmless: call-type-missing]")


def test_uses_of_one_type_are_one_finding() -> None:
    plan = T.to_plan().to_proto()
    for kind in plan.relations[0].root.input.read.base_schema.struct.types[:2]:
        kind.i64.ClearField("nullability")
    (finding,) = sd.Plan.from_proto(plan).findings
    assert (finding.code, finding.places, len(finding.paths)) == ("nullability-missing", 2, 2)


def test_the_heavier_is_first() -> None:
    plan = untyped(T.select(s=lambda r: r.a + 1, p=lambda r: r.d * r.d))
    plan.ClearField("execution_behavior")
    found = sd.Plan.from_proto(plan).findings
    assert [finding.weight for finding in found] == ["assumed", "harmless", "harmless"]
    assert found[0].code == "call-type-assumed"
    assert "multiply" in found[0].message


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda r: f.divide(r.a, 2), "call-type-assumed"),  # others divide integers as fp64
        (lambda r: r.d + r.d, "call-type-assumed"),  # others have other precisions
        (lambda r: r.x / 2.0, "call-type-missing"),
        (lambda r: r.a > 1, "call-type-missing"),
    ],
)
def test_a_type_that_others_derive_otherwise_is_assumed(call: Any, code: str) -> None:
    (finding,) = sd.Plan.from_proto(untyped(T.select(x=call))).findings
    assert finding.code == code


def test_strict_takes_a_weight() -> None:
    light = T.to_plan().to_proto()
    light.ClearField("execution_behavior")
    assert sd.Plan.from_proto(light, strict="assumed").findings[0].weight == "harmless"
    weights: tuple[bool | Weight, ...] = (True, "harmless", "assumed")
    for strict in weights[:2]:
        with refused(PlanFormatError, "how often variables are evaluated"):
            sd.Plan.from_proto(light, strict=strict)
    light.version.minor_number = 500
    for strict in weights:
        with refused(PlanFormatError, "version 0.500"):
            sd.Plan.from_bytes(light.SerializeToString(), strict=strict)
    assert [each.code for each in sd.Plan.from_proto(light).findings] == ["version-newer", "evaluation-mode"]
    with refused(InvalidChoiceError, "strict", "'heavy'", '"harmless"', '"assumed"'):
        sd.Plan.from_proto(light, strict="heavy")  # type: ignore[arg-type]
    with refused(InvalidChoiceError, "strict", "None"):
        sd.ExtendedExpression.from_bytes(b"", strict=None)  # type: ignore[arg-type]


def test_variables_make_the_evaluation_mode_an_assumption() -> None:
    plan = T.select("a", now=sd.current_timestamp()).to_plan().to_proto()
    plan.ClearField("execution_behavior")
    (finding,) = sd.Plan.from_proto(plan).findings
    assert (finding.code, finding.weight) == ("evaluation-mode-of-variables", "assumed")


def test_findings_of_extended_expressions_and_of_old_plans_are_merged() -> None:
    message = sd.ExtendedExpression(T, s=lambda r: r.a + 1, t=lambda r: r.a + 2).to_proto()
    message.ClearField("version")
    for each in message.referred_expr:
        each.expression.scalar_function.ClearField("output_type")
    assert [(each.code, each.places) for each in sd.ExtendedExpression.from_proto(message).findings] == [
        ("version-missing", 1),
        ("call-type-missing", 2),
    ]
    one = Finding(FindingCode.JOIN_FILTER, "so", ("a",))
    other = Finding(FindingCode.EXTENSION_URI, "thus", ("b",))
    assert merge_findings([other, one, Finding(FindingCode.JOIN_FILTER, "so", ("c",))]) == (
        Finding(FindingCode.JOIN_FILTER, "so", ("a", "c"), 2),
        other,
    )


@pytest.mark.parametrize(
    ("call", "type_"),
    [
        (lambda r: f.divide(r.a, 2), "fp64"),  # as ibis writes a / 2
        (lambda r: f.char_length(r.a.cast(sd.String)), "string"),
        (lambda r: r.d * r.d, "fp64"),
        (lambda r: r.a > 1, "i8"),
        (lambda r: f.add(r.a.cast(sd.Date), sd.lit(sd.DaySeconds(1, 30), sd.IntervalDay(6))), "date"),
    ],
)
def test_a_declared_type_of_another_kind_is_refused(call: Any, type_: str) -> None:
    with refused(PlanFormatError, f"is declared to give {type_}; by its definition it gives", "project.expressions[0]"):
        sd.Plan.from_proto(declared(T.select(x=call), x=type_))


def test_a_declared_type_of_another_kind_is_refused_in_aggregates_and_windows() -> None:
    total: Plan = T.group_by("a").agg(s=lambda r: f.sum(r.b)).to_plan().to_proto()
    measure = total.relations[0].root.input.aggregate.measures[0].measure
    measure.output_type.fp64.nullability = NULLABLE
    with refused(PlanFormatError, "sum:i64 is declared to give fp64?", "measures[0].measure"):
        sd.Plan.from_proto(total)
    running: Plan = T.with_columns(s=lambda r: f.sum(r.b).over(order_by="a")).to_plan().to_proto()
    running.relations[0].root.input.project.expressions[0].window_function.output_type.string.nullability = NULLABLE
    with refused(PlanFormatError, "sum:i64 is declared to give string?"):
        sd.Plan.from_proto(running)


@pytest.mark.parametrize(
    ("call", "type_", "code"),
    [
        (lambda r: r.a + 1, "i64?", "call-nullability"),
        (lambda r: r.d * r.d, "decimal<18,4>", "call-type-differs"),
        (lambda r: r.a + 1, "i32", "call-type-differs"),
    ],
)
def test_other_differences_of_a_declared_type_are_found(call: Any, type_: str, code: str) -> None:
    rel = T.select(x=call)
    read = sd.Plan.from_proto(declared(rel, x=type_))
    assert read == rel.to_plan()
    assert [each.code for each in read.findings] == [code]


def test_a_date_and_whole_days_that_are_declared_a_date_are_cast_to_it() -> None:
    days = table("day: date, span: interval_day<6>", "days")
    for function, interval in ((f.add, 3), (f.add, -3), (f.subtract, 90)):
        call = function(sd.col("day"), sd.lit(sd.DaySeconds(interval), sd.IntervalDay(6)))
        read = sd.Plan.from_proto(declared(days.select(x=call), x="date"))
        assert read.roots[0].schema == days.select(x=sd.col("day")).schema
        project = days.with_columns(x=call.cast(sd.Date)).select("x")
        assert read == project.to_plan()
        assert [each.code for each in read.findings] == ["call-in-days"]
    with refused(PlanFormatError, "is declared to give date"):
        sd.Plan.from_proto(declared(days.select(x=lambda r: f.add(r.day, r.span)), x="date"))


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ("i64", "i64", None),
        ("list<i64?>", "list<i64>", "nullability"),
        ("varchar<3>", "string?", "parameters"),
        ("struct<i64, fp32>", "struct<i64?, fp64>", "parameters"),
        ("map<string, list<i64>>", "map<string, list<fp64>>", "kind"),
        ("struct<i64>", "struct<i64, i64>", "kind"),
        ("precision_timestamp<6>", "precision_timestamp_tz<6>", "kind"),
    ],
)
def test_differences_of_types(one: str, other: str, difference: str | None) -> None:
    first, second = (schema_of(x=each).types[0] for each in (one, other))
    assert difference_of(first, second) == difference_of(second, first) == difference


def test_the_page_has_all_codes() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("<!-- findings -->")[2].partition("<!-- end -->")[0]
    rows = re.findall(r"\| `([a-z-]+)` \| (\w+) \| (.+) \|", text)
    written = sorted(FindingCode, key=lambda code: (-WEIGHTS.index(code.weight), code.value))
    assert rows == [(code.value, code.weight, code.description) for code in written]


def test_every_code_is_used_by_the_reader() -> None:
    package = Path(sd.__file__).parent / "proto"
    used = {name for file in package.glob("*.py") for name in re.findall(r"FindingCode\.([A-Z_]+)", file.read_text())}
    assert used == {code.name for code in FindingCode}


# --- words


def test_a_root_with_too_few_names_is_told_the_fields() -> None:
    plan = T.to_plan().to_proto()
    del plan.relations[0].root.names[1:]
    with refused(PlanFormatError, 'hint: its fields are "a", "b", "d", "x"'):
        sd.Plan.from_proto(plan)
    nested = sd.read_named("t", {"s": sd.Struct.of({"x": sd.I64()}), "y": "i64"}).to_plan().to_proto()
    del nested.relations[0].root.names[1:]
    with refused(PlanFormatError, '"s", "x", "y"; the fields of structs inside count, depth first'):
        sd.Plan.from_proto(nested)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (0, "steps_out is 0, but it counts the subqueries from the innermost outwards"),
        (2, "steps_out is 2, but 1 subquery is around the reference"),
        (7, "steps_out is 7, but 1 subquery is around the reference"),
    ],
)
def test_steps_out_says_what_it_counts(steps: int, said: str) -> None:
    inner = table("k: i64", "u")
    plan = T.filter(lambda t: sd.exists(inner.filter(lambda u: u.k == t.a))).to_plan()
    message = plan.to_proto(outer_references="steps_out")
    subquery = message.relations[0].root.input.filter.condition.subquery.set_predicate.tuples
    outer = subquery.filter.condition.scalar_function.arguments[1].value.selection.outer_reference
    assert outer.steps_out == 1
    outer.steps_out = steps
    with refused(PlanFormatError, said):
        sd.Plan.from_proto(message)


def test_only_near_extensions_are_suggested() -> None:
    for urn, near in (("", None), ("functions_zzzzzzz", None), ("functions_sets", "functions_set")):
        plan = T.to_plan().to_proto()
        plan.extension_urns.add(extension_urn_anchor=1, urn=f"extension:io.substrait:{urn}")
        (finding,) = sd.Plan.from_proto(plan).findings
        assert finding.code == "extension-unknown"
        assert ("did you mean" in finding.message) is (near is not None)
        assert near is None or f'did you mean "extension:io.substrait:{near}"?' in finding.message


def test_a_read_without_a_schema_is_an_assumption() -> None:
    plan = T.to_plan().to_proto()
    del plan.relations[0].root.names[:]
    plan.relations[0].root.input.read.ClearField("base_schema")
    read = sd.Plan.from_proto(plan)
    assert len(read.roots[0].schema) == 0
    assert [(each.code, each.weight) for each in read.findings] == [("read-schema", "assumed")]


def test_a_required_value_in_a_nullable_column_is_found() -> None:
    rel = sd.read_virtual([(1, 2)], {"a": "i64", "b": "i32?"})
    assert sd.Plan.from_proto(rel.to_plan().to_proto(), strict=True) == rel.to_plan()
    message = rel.to_plan().to_proto()
    for value in message.relations[0].root.input.read.virtual_table.expressions[0].fields:
        value.literal.nullable = False
    (finding,) = sd.Plan.from_proto(message).findings
    assert finding.code == "row-nullability"
    assert 'column "b" of a virtual table is i32?, a value i32' in finding.message
