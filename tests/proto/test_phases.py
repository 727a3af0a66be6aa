"""The phases of an aggregation: what the catalogue says of a function holds for the calls in plans that are read."""

from __future__ import annotations

import pytest
from substrait import type_pb2

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.function_ids import PHASES, Phase
from substrait_dsl.catalog import Catalog, standard_catalog
from substrait_dsl.errors import InvalidChoiceError, PlanFormatError
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import ARITHMETIC, T, col, plan_of, table
from tests.proto.reading import changed, refused_at, rel_comes_back, root
from tests.support import refused

a = col(T, 0)

OWN = """
urn: extension:com.acme:phases
aggregate_functions:
  - name: once
    impls:
      - args: [{value: i64}]
        decomposable: ONE
        intermediate: list<i64>
        return: i64
  - name: untold
    impls:
      - args: [{value: i64}]
        decomposable: MANY
        return: i64
  - name: grown
    impls:
      - args: [{value: "decimal<P,S>"}]
        decomposable: MANY
        intermediate: "struct<decimal<P + 1,S>, i64>"
        return: i64
"""
URN = "extension:com.acme:phases"


@pytest.fixture(scope="module")
def own() -> Catalog:
    return standard_catalog().with_extension(OWN)


def in_phase(function: ex.FunctionId, phase: Phase, argument: ex.Expression = a) -> r.Rel:
    call = ex.AggregateFunction(function, (argument,), t.I64(nullable=True), phase=phase)
    return r.Aggregate(T, (), (), (ex.Measure(call),), ("n",))


INTERMEDIATE = [phase for phase in PHASES if phase != "initial_to_result"]


@pytest.mark.parametrize("phase", INTERMEDIATE)
@pytest.mark.parametrize("key", ["mode:i64", "std_dev:fp64"])  # these are not said to be decomposable
def test_what_is_not_decomposable_is_called_as_a_whole(key: str, phase: Phase) -> None:
    rel = in_phase(ex.FunctionId(ARITHMETIC, key), phase)
    said = f"{key} cannot be called in the phase {phase}: its decomposability is NONE"
    with refused_at("aggregate.measures[0].measure", PlanFormatError, said, "initial_to_result"):
        decode_plan(changed(rel, lambda m: None))


def test_a_function_that_is_known_by_its_name_only_has_the_same_phases() -> None:
    rel = in_phase(ex.FunctionId(ARITHMETIC, "mode:i64"), "initial_to_intermediate")
    with refused_at("aggregate.measures[0].measure", PlanFormatError, "mode:i64 cannot be called in the phase"):
        decode_plan(changed(rel, lambda m: None, ("", "mode")))


@pytest.mark.parametrize("phase", INTERMEDIATE)
def test_a_window_function_is_called_as_a_whole(phase: Phase) -> None:
    ranked = ex.WindowCall(ex.FunctionId(ARITHMETIC, "rank:"), (), t.I64(nullable=True), phase=phase)
    said = f"rank: cannot be called in the phase {phase}"
    with refused_at("project.expressions[0]", PlanFormatError, said):
        decode_plan(changed(r.Project(T, (ex.WindowFunction(ranked),), ("x",)), lambda m: None))
    with refused_at("window.window_functions[0]", PlanFormatError, said):
        decode_plan(changed(r.Window(T, (ranked,), (), (), ("x",)), lambda m: None))


def test_phases_by_decomposability(own: Catalog) -> None:
    for phase in PHASES:
        once = changed(in_phase(ex.FunctionId(URN, "once:i64"), phase), lambda m: None)
        if phase == "initial_to_intermediate":
            declared = once.relations[0].root.input.aggregate.measures[0].measure.output_type
            declared.list.type.i64.nullability = type_pb2.Type.NULLABILITY_REQUIRED
            declared.list.nullability = type_pb2.Type.NULLABILITY_NULLABLE
        if phase == "intermediate_to_intermediate":
            with refused(PlanFormatError, "decomposability is ONE", "measures[0].measure"):
                decode_plan(once, own)
        else:
            decode_plan(once, own)
        untold = changed(in_phase(ex.FunctionId(URN, "untold:i64"), phase), lambda m: None)
        if phase == "initial_to_result":
            decode_plan(untold, own)
        else:
            with refused(PlanFormatError, "it declares no intermediate type", "measures[0].measure"):
                decode_plan(untold, own)
        rel_comes_back(in_phase(ex.FunctionId("extension:a:b", "mode:i64"), phase))


STATES = table("t", x=t.FP64(), state=t.Struct((t.FP64(), t.I64())), d=t.Struct((t.Decimal(9, 2), t.I64())))


def going_on(key: str, arguments: tuple[ex.Argument, ...], urn: str = ARITHMETIC) -> r.Rel:
    call = ex.AggregateFunction(
        ex.FunctionId(urn, key), arguments, t.I64(nullable=True), phase="intermediate_to_result"
    )
    return r.Aggregate(STATES, (), (), (ex.Measure(call),), ("n",))


@pytest.mark.parametrize(
    "arguments",
    [(col(STATES, 0),), (col(STATES, 1), col(STATES, 0)), (), (ex.TypeArgument(t.I64()),)],
    ids=["of another type", "two", "none", "a type"],
)
def test_what_goes_on_takes_one_intermediate_value(arguments: tuple[ex.Argument, ...]) -> None:
    """Spec decision 15: the file says ``STRUCT<fp64,i64>``. What does not fit keeps its declared type, as calls do."""
    rel = going_on("avg:fp64", arguments)
    got, findings = root(changed(rel, lambda m: None))
    assert got == rel
    ((told, path),) = findings
    assert "avg:fp64 does not take" in told
    assert "its intermediate value, which is struct<fp64,i64>" in told.replace(", i64", ",i64")
    assert path == "aggregate.measures[0].measure"


def test_an_intermediate_value_that_is_computed_is_not_judged(own: Catalog) -> None:
    """What ``P`` was, nobody knows any more."""
    plan = changed(going_on("grown:dec", (col(STATES, 2),), URN), lambda m: None)
    assert decode_plan(plan, own) == (plan_of(going_on("grown:dec", (col(STATES, 2),), URN)), ())


def test_words_of_a_call_are_those_that_there_are() -> None:
    function = ex.FunctionId(ARITHMETIC, "sum:i64")
    for make in (ex.AggregateFunction, ex.WindowCall):
        with refused(InvalidChoiceError, "phase", "'whole'", "initial_to_result"):
            make(function, (a,), t.I64(), phase="whole")  # type: ignore[arg-type]
        with refused(InvalidChoiceError, "invocation", "'once'", "distinct"):
            make(function, (a,), t.I64(), invocation="once")  # type: ignore[arg-type]
    with refused(InvalidChoiceError, "sort direction", "'down'", "desc_nulls_last"):
        ex.SortKey(a, "down")  # type: ignore[arg-type]
