"""What of a whole plan is refused, or bound, before it is lowered; and plans that are read, in whatever encoding."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl import functions
from substrait_dsl.errors import UnsupportedError
from tests.differential.pipelines import pipeline
from tests.engines.runners import run_on_datafusion

f: Any = functions
T: sd.Relation[Any] = sd.read_named("t", {"k": "i64?", "a": "i32"})
ROWS: sd.Relation[Any] = sd.read_virtual([(1,), (2,), (3,)], {"n": "i64"})


def enhanced(plan: sd.Plan) -> sd.Plan:
    """The plan, read with something in it that must not be ignored."""
    message = plan.to_proto()
    message.advanced_extensions.enhancement.type_url = "type.example/All"
    return sd.Plan.from_bytes(message.SerializeToString())


def with_enhanced_filter(plan: sd.Plan) -> sd.Plan:
    message = plan.to_proto()
    filter_ = message.relations[0].root.input.filter
    filter_.common.advanced_extension.enhancement.type_url = "type.example/Some"
    return sd.Plan.from_bytes(message.SerializeToString())


def doubled(times: int) -> sd.Relation[Any]:
    relation: sd.Relation[Any] = T.select("a")
    for _ in range(times):
        relation = relation.union_all(relation)
    return relation


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (
            lambda: doubled(14).to_plan(),
            "the plan would have .* parts, as it reads relations that are used several times",
        ),
        (lambda: enhanced(T.to_plan()), "an enhancement of the plan cannot be lowered to DataFusion 55"),
        (lambda: with_enhanced_filter(T.filter(lambda t: t.a > 1).to_plan()), "an enhancement of a relation"),
        (lambda: sd.Plan(T, T.select("k")), "a plan of several trees"),
    ],
)
def test_what_no_plan_of_an_engine_has_is_refused(plan: Any, message: str) -> None:
    for encoding in ("spec", "legacy"):
        with pytest.raises(UnsupportedError, match=message):
            plan().to_bytes(engine="datafusion", encoding=encoding)


def test_what_is_large_but_not_too_large_is_lowered() -> None:
    assert doubled(8).to_plan().lower("datafusion")._algebra.relations[0].size > 256


@pytest.mark.usefixtures("datafusion")
@pytest.mark.parametrize("encoding", ["spec", "legacy"])
def test_plans_that_are_read_run_in_both_encodings(encoding: Any) -> None:
    from datafusion import SessionContext

    plan = ROWS.filter(lambda r: r.n > 1).sort(sd.desc("n")).fetch(1).to_plan()
    for again in (plan, sd.Plan.from_bytes(plan.to_bytes(encoding="legacy"))):
        data = again.to_bytes(engine="datafusion", encoding=encoding)
        assert run_on_datafusion(SessionContext(), data) == [(3,)]
        assert sd.Plan.from_bytes(data) == plan.lower("datafusion")


LEAST = ROWS.filter(lambda r: r.n > sd.parameter(1, "i64"))


@pytest.mark.usefixtures("datafusion")
def test_parameters_that_are_bound_are_constants() -> None:
    from datafusion import SessionContext

    plan = sd.Plan(LEAST, parameter_bindings={1: 2})
    assert run_on_datafusion(SessionContext(), plan.to_bytes(engine="datafusion")) == [(3,)]
    assert dict(plan.lower("datafusion").parameter_bindings) == {}


def test_parameters_that_are_not_bound_are_refused() -> None:
    """The hint is what is written here: on each engine it is the same, and following it gives the rows."""
    hint = "Plan(relation, parameter_bindings={1: ...}).roots[0].collect(...)"
    for engine in ("datafusion", "duckdb", "acero"):
        with pytest.raises(UnsupportedError, match="parameter 1, which has no value,") as caught:
            LEAST.to_plan().to_bytes(engine=engine)
        assert caught.value.step is not None
        assert hint in (caught.value.hint or "")
    for engine in ("datafusion", "spark"):
        (finding,) = LEAST.check(engine).findings
        assert hint in finding.why


@pytest.mark.usefixtures("datafusion")
def test_what_the_hint_says_of_parameters_gives_rows() -> None:
    from datafusion import SessionContext

    with pytest.raises(UnsupportedError, match="has no value"):
        LEAST.collect(SessionContext())
    assert sd.Plan(LEAST, parameter_bindings={1: 2}).roots[0].collect(SessionContext()) == [(3,)]


WIDE: sd.Relation[Any] = sd.read_named("wide", {"n": "i64", "w": "struct<i32>?", "l": "list<i32>?"})


@pytest.mark.parametrize("engine", ["duckdb", "acero"])
def test_types_of_columns_that_are_not_used_are_refused_with_a_hint(engine: str) -> None:
    plan = WIDE.filter(lambda r: r.n > 1).select("n").to_plan()
    report = plan.check(engine)
    assert [finding.code for finding in report.findings] == ["dialect", "dialect"]
    for finding, column in zip(report.findings, ("w", "l"), strict=True):
        assert f'declare only the columns that the plan uses: the read need not have "{column}"' in finding.why
    with pytest.raises(UnsupportedError, match="does not have type STRUCT") as caught:
        plan.to_bytes(engine=engine)
    assert "declare only the columns" in (caught.value.hint or "")
    followed = sd.read_named("wide", {"n": "i64"}).filter(lambda r: r.n > 1).select("n").to_plan()
    assert followed.check(engine).verdict == "runs lowered"


def test_random_plans_in_the_legacy_encoding_are_read_as_equal_ones_or_refused() -> None:
    equal = 0
    for number in range(60):
        plan = pipeline(7, number).to_plan()
        try:
            data = plan.to_bytes(encoding="legacy")
        except UnsupportedError:
            continue
        assert sd.Plan.from_bytes(data) == plan
        equal += 1
    assert equal > 30
