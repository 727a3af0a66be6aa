"""Values that are given when a plan runs, as messages written by hand from algebra.proto, and read back from them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import InvalidArgumentError, PlanFormatError, TypeMismatchError
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import T, add, col, encoded_expression, message
from tests.proto.reading import Change, changed, refused_at, rel_comes_back, root
from tests.strategies import types
from tests.support import refused

R = "nullability: NULLABILITY_REQUIRED"
N = "nullability: NULLABILITY_NULLABLE"
PATH = "project.expressions[0]"


def projected(expression: ex.Expression) -> r.Rel:
    return r.Project(T, (expression,), ("x",))


VALUES: dict[str, tuple[ex.Expression, str]] = {
    "a parameter": (
        ex.DynamicParameter(t.I64(nullable=True), 7),
        f"dynamic_parameter {{ type {{ i64 {{ {N} }} }} parameter_reference: 7 }}",
    ),
    "the first parameter": (ex.DynamicParameter(t.Date(), 0), f"dynamic_parameter {{ type {{ date {{ {R} }} }} }}"),
    "the last parameter": (
        ex.DynamicParameter(t.Date(), 2**32 - 1),
        f"dynamic_parameter {{ type {{ date {{ {R} }} }} parameter_reference: 4294967295 }}",
    ),
    "the time": (
        ex.ExecutionContextVariable("current_timestamp", t.PrecisionTimestampTZ(6)),
        f"execution_context_variable {{ current_timestamp {{ precision: 6 {R} }} }}",
    ),
    "the time zone": (
        ex.ExecutionContextVariable("current_timezone", t.String()),
        f"execution_context_variable {{ current_timezone {{ {R} }} }}",
    ),
    "the date": (
        ex.ExecutionContextVariable("current_date", t.Date()),
        f"execution_context_variable {{ current_date {{ {R} }} }}",
    ),
}


@pytest.mark.parametrize(("expression", "text"), VALUES.values(), ids=VALUES)
def test_every_value_has_the_message_of_algebra_proto(expression: ex.Expression, text: str) -> None:
    assert encoded_expression(expression) == message(pb.Expression, text)
    rel_comes_back(projected(expression))


@settings(max_examples=60)
@given(types(unbound=False), st.integers(0, 2**32 - 1))
def test_a_parameter_of_any_type_comes_back(type_: t.Type, reference: int) -> None:
    rel_comes_back(projected(ex.DynamicParameter(type_, reference)))


@pytest.mark.parametrize("lists", [10, 20, 40])
def test_a_parameter_of_a_deep_type_in_a_deep_expression_comes_back(lists: int) -> None:
    type_: t.Type = t.I64()
    for _ in range(lists):
        type_ = t.List(type_)
    expression: ex.Expression = ex.DynamicParameter(type_, 1)
    for _ in range(lists):
        expression = ex.FieldAccess(expression, ex.ListElement(0))
    for _ in range(60):
        expression = add(col(T, 0), expression)
    rel_comes_back(projected(expression))


def test_a_variable_names_its_column() -> None:
    got, _ = root(changed(projected(VALUES["the date"][0]), lambda m: None))
    assert got.schema.names == ("a", "b", "s", "current_date")


PARAMETER, DATE = VALUES["a parameter"][0], VALUES["the date"][0]
BAD: dict[str, tuple[ex.Expression, Change, str, str]] = {
    "a parameter of no type": (
        PARAMETER,
        lambda m: m.dynamic_parameter.ClearField("type"),
        ".dynamic_parameter.type",
        "type",
    ),
    "no variable": (DATE, lambda m: m.execution_context_variable.Clear(), "", "must set its variable"),
    "a variable that may be NULL": (
        DATE,
        lambda m: setattr(m.execution_context_variable.current_date, "nullability", 1),
        "",
        "current_date is a required date, not date?",
    ),
}


@pytest.mark.parametrize(("expression", "change", "path", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_where_it_stands(
    expression: ex.Expression, change: Change, path: str, said: str
) -> None:
    with refused_at(PATH + path, PlanFormatError, said):
        decode_plan(changed(projected(expression), lambda m: change(m.project.expressions[0])))


def test_a_parameter_has_a_number_that_a_plan_can_hold() -> None:
    for number in (-1, 2**32):
        with refused(InvalidArgumentError, "0 to 4294967295", str(number)):
            ex.DynamicParameter(t.I64(), number)


def test_a_variable_has_the_type_of_its_kind() -> None:
    with refused(TypeMismatchError, "current_timezone is a required string, not date"):
        ex.ExecutionContextVariable("current_timezone", t.Date())
