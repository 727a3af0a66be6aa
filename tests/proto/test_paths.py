"""Where in a plan a message stands."""

from __future__ import annotations

from typing import Any

from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import relations as r
from substrait_dsl.proto.paths import path_of
from tests.proto.plans import T, col, encoded, equal, i64
from tests.proto.whole_plans import pipeline


def test_every_message_has_a_path_by_which_it_is_found() -> None:
    plan = pipeline().to_plan().to_proto()

    def walked(message: Any, path: str) -> None:
        assert path_of(plan, message) == path.removeprefix(".")
        for field, value in message.ListFields():
            if field.message_type is not None:
                for number, inner in enumerate(value if field.is_repeated else [value]):
                    walked(inner, f"{path}.{field.name}" + (f"[{number}]" if field.is_repeated else ""))

    walked(plan, "")


def test_a_message_that_is_missing_has_the_path_where_it_should_stand() -> None:
    plan = encoded(r.Filter(T, equal(col(T, 0), i64(1))))
    body = plan.relations[0].root.input.filter
    body.ClearField("condition")
    assert path_of(plan, body.condition) == "relations[0].root.input.filter.condition"
    assert path_of(plan, body.condition.literal) == "relations[0].root.input.filter.condition.literal"
    assert path_of(plan, Plan()) == ""
