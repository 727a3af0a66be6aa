"""Values that are known when the plan runs."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import DynamicParameter, ExecutionContextVariable
from substrait_dsl.errors import FunctionNotFoundError, InvalidArgumentError, LiteralError, PlanFormatError
from tests.support import columns, computed, f, refused, table, type_of

T = table("a: i64, at: precision_timestamp_tz<6>, day: date, zone: string")

dsl: Any = sd
"""The library. Anything to a type checker: tests call it wrongly on purpose."""

KINDS: list[tuple[Any, str]] = [
    (sd.I64, "i64"),
    (sd.Nullable[sd.String], "string?"),
    (sd.Decimal(15, 2), "decimal<15,2>"),
    ("list<i32?>", "list<i32?>"),
]


@pytest.mark.parametrize(("kind", "text"), KINDS)
def test_a_parameter_has_the_type_it_is_given(kind: Any, text: str) -> None:
    node = computed(lambda r: sd.parameter(3, kind))
    assert isinstance(node, DynamicParameter)
    assert (node.reference, str(node.type)) == (3, text)


def test_a_parameter_is_a_value_like_others() -> None:
    limit = sd.parameter(0, sd.I64)
    assert columns(T.filter(lambda r: r.a > limit).select(x=sd.col("a") + limit)) == "x: i64"
    assert T.fetch(limit)._rel.count == DynamicParameter(sd.I64(), 0)
    assert columns(T.select(limit)) == "parameter0: i64"


VARIABLES: list[tuple[Any, str, str]] = [
    (sd.current_timestamp(), "current_timestamp", "precision_timestamp_tz<6>"),
    (sd.current_timestamp(0), "current_timestamp", "precision_timestamp_tz<0>"),
    (sd.current_timestamp(precision=9), "current_timestamp", "precision_timestamp_tz<9>"),
    (sd.current_date(), "current_date", "date"),
    (sd.current_timezone(), "current_timezone", "string"),
]


@pytest.mark.parametrize(("value", "name", "kind"), VARIABLES)
def test_context_variables_are_required(value: Any, name: str, kind: str) -> None:
    node = computed(lambda r: value)
    assert isinstance(node, ExecutionContextVariable)
    assert (node.variable, str(node.type)) == (name, kind)
    assert columns(T.select(value)) == f"{name}: {kind}"


def test_context_variables_are_values_like_others() -> None:
    assert type_of(lambda r: r.at < sd.current_timestamp(), "at: precision_timestamp_tz<6>") == "boolean"
    assert type_of(lambda r: r.day == sd.current_date(), "day: date?") == "boolean?"
    assert type_of(lambda r: f.upper(sd.current_timezone())) == "string"


def test_mistakes() -> None:
    with refused(InvalidArgumentError, "parameter", "a number of 0 to", "-1"):
        sd.parameter(-1, sd.I64)
    for number in ("x", 1.5, True):
        with refused(InvalidArgumentError, "parameter", "is an int", repr(number)):
            dsl.parameter(number, sd.I64)
    with refused(InvalidArgumentError, "parameter", "int is no Substrait type", "did you mean I64"):
        dsl.parameter(0, int)
    with refused(PlanFormatError, "parameter", "i46"):
        sd.parameter(0, "i46")
    with refused(InvalidArgumentError, "current_timestamp", "precision", "13"):
        dsl.current_timestamp(13)
    with refused(FunctionNotFoundError, "lt(precision_timestamp_tz<6>, precision_timestamp_tz<3>)"):
        computed(lambda r: r.at < sd.current_timestamp(3), "at: precision_timestamp_tz<6>")


def test_a_python_value_becomes_a_literal_of_the_type_that_the_parameter_has() -> None:
    over = table("a: i16").filter(lambda r: r.a == sd.parameter(7, sd.I16))
    assert sd.Plan(over, parameter_bindings={7: 3}).parameter_bindings[7].type == sd.I16()
    with refused(LiteralError, "Plan", "parameter 7", "40000"):
        sd.Plan(over, parameter_bindings={7: 40_000})
