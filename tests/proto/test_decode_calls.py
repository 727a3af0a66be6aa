"""Calls of functions read from messages: which function is meant, and what type it gives."""

from __future__ import annotations

from typing import Literal

import pytest
from substrait import algebra_pb2 as pb

import substrait_dsl as sd
from substrait_dsl import functions as f
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.function_ids import Phase
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.catalog import Typed, standard_catalog
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.output_type_inference import infer_only_type
from substrait_dsl.proto.plan import decode_plan
from substrait_dsl.spark.expressions.functions import function_to_sql
from tests.proto.plans import ARITHMETIC, COMPARISON, T, add, call, col, equal, gt, i64, total
from tests.proto.reading import below_root, changed, condition, found, refused_at, rel_comes_back, root
from tests.proto.small_expressions import TEXT, D, a, b, projected, s
from tests.support import refused

SUM = r.Aggregate(T, (), (), (ex.Measure(total(a)),), ("n",))


def test_a_declared_type_gives_way_to_the_derived_one() -> None:
    average = ex.AggregateFunction(
        ex.FunctionId("extension:io.substrait:functions_arithmetic_decimal", "avg:dec"),
        (col(D, 0),),
        t.Decimal(38, 2, nullable=True),
    )
    rel = r.Aggregate(D, (), (), (ex.Measure(average),), ("n",))

    def narrow(rel: pb.Rel) -> None:
        rel.aggregate.measures[0].measure.output_type.decimal.precision = 15

    path = "aggregate.measures[0].measure"
    assert found(rel, narrow, "avg:dec", "decimal<15,2>?", "decimal<38,2>?", path=path) == rel


def test_a_call_that_fits_no_overload_keeps_its_declared_type() -> None:
    """As after a declared type below it gave way to another one."""
    rel = r.Filter(D, equal(col(D, 0), col(D, 0)))

    def compare_with_the_wide(rel: pb.Rel) -> None:
        argument = condition(rel).scalar_function.arguments[1].value
        argument.selection.direct_reference.struct_field.field = 1

    got = found(rel, compare_with_the_wide, "equal:any_any does not take", path="filter.condition.scalar_function")
    assert got == r.Filter(D, equal(col(D, 0), col(D, 1)))


def test_declared_types_are_kept_where_derived_ones_do_not_fit_together() -> None:
    """The branches of an if are declared to have one type, but the product should be a decimal<31,4>."""
    urn = "extension:io.substrait:functions_arithmetic_decimal"
    price = col(D, 0)
    product = call("multiply:dec_dec", price, price, type_=t.Decimal(19, 4), urn=urn)
    either = ex.IfThen((ex.IfClause(equal(price, price), product),), literal(None, t.Decimal(19, 4, nullable=True)))
    rel = projected(either, D)
    plan = changed(rel, lambda m: None)
    got, findings = root(plan)
    assert got == rel
    assert [path for _, path in findings] == [
        "project.expressions[0]",
        "project.expressions[0].if_then.ifs[0].then.scalar_function",
    ]
    assert "one type: the first gives decimal<31,4>" in findings[0][0]
    assert "declared to give decimal<19,4>; by its definition it gives decimal<31,4>" in findings[1][0]
    assert findings[1][0].endswith("; the declared type is kept")
    with pytest.raises(PlanFormatError):
        decode_plan(plan, strict=True)


def test_branches_that_differ_as_declared_are_refused() -> None:
    rel = r.Project(T, (ex.IfThen((ex.IfClause(gt(a, i64(1)), add(a, a)),), i64(0)),), ("x",))

    def narrow(rel: pb.Rel) -> None:
        branch = rel.project.expressions[0].if_then.ifs[0].then.scalar_function
        branch.output_type.i32.nullability = branch.output_type.i64.nullability
        getattr(rel.project.expressions[0].if_then, "else").literal.string = "none"

    with refused_at("project.expressions[0]", PlanFormatError, "the first gives i32, branch 2 gives string"):
        decode_plan(changed(rel, narrow))


@pytest.mark.parametrize(
    ("urn", "key"),
    [
        ("", "add"),
        ("", "add:i64_i64"),
        (ARITHMETIC, "add"),
        (ARITHMETIC, "add:int64_int64"),
        (COMPARISON, "add:i64_i64"),
    ],
)
def test_a_function_of_no_known_signature_is_found_by_its_name(urn: str, key: str) -> None:
    rel = projected(add(a, b))
    plan = changed(rel, lambda m: None, (urn, key))
    got, findings = root(plan)
    assert got == rel
    assert findings[-1][1] == "project.expressions[0].scalar_function"
    assert f'read as "add:i64_i64" of "{ARITHMETIC}"' in findings[-1][0]


def test_a_function_of_somebody_else_stays_as_it_is() -> None:
    """Also one that is called like one of the specification."""
    rel = projected(call("add:i64_i64", a, b, type_=t.Decimal(9, 3), urn="extension:acme:arithmetic"))
    rel_comes_back(rel)


def test_a_function_of_the_specification_that_nobody_knows_keeps_its_declared_type() -> None:
    got, findings = root(changed(projected(add(a, b)), lambda m: None, (ARITHMETIC, "plus:i64_i64")))
    assert got == projected(call("plus:i64_i64", a, b, type_=t.I64(nullable=True), urn=ARITHMETIC))
    assert ["plus:i64_i64" in message for message, _ in findings] == [True]


def test_a_call_without_a_declared_type_is_derived() -> None:
    rel = projected(add(a, b))

    def untyped(rel: pb.Rel) -> None:
        rel.project.expressions[0].scalar_function.ClearField("output_type")

    assert (
        found(rel, untyped, "does not declare its type; it is i64?", path="project.expressions[0].scalar_function")
        == rel
    )
    with refused_at("project.expressions[0]", PlanFormatError, "does not declare its type (output_type)"):
        decode_plan(changed(rel, untyped, ("extension:acme:f", "add:i64_i64")))


def test_of_calls_that_are_alike_each_is_found() -> None:
    rel = r.Project(T, tuple(add(a, i64(number)) for number in range(4)), tuple("wxyz"))

    def untyped(rel: pb.Rel) -> None:
        for position in (1, 3):
            rel.project.expressions[position].scalar_function.ClearField("output_type")

    got, findings = root(changed(rel, untyped))
    assert got == rel
    told = "add:i64_i64 does not declare its type; it is i64"
    assert findings == [(told, "project.expressions[1].scalar_function")]
    (finding,) = decode_plan(changed(rel, untyped))[1]
    assert (finding.code, finding.places) == ("call-type-missing", 2)
    assert [below_root(path) for path in finding.paths] == [
        f"project.expressions[{position}].scalar_function" for position in (1, 3)
    ]


def test_the_value_of_a_literal_decides_for_each_call_by_itself() -> None:
    """``strptime_time`` gives a time of as many digits as its last argument says."""

    def parsed(digits: Literal[3, 6]) -> ex.Expression:
        urn, type_ = "extension:io.substrait:functions_datetime", t.PrecisionTime(digits)
        return call("strptime_time:str_str_i8", s, s, literal(digits, t.I8()), type_=type_, urn=urn)

    rel = r.Project(T, (parsed(3), parsed(6)), ("x", "y"))

    def all_alike(rel: pb.Rel) -> None:
        first, second = (expression.scalar_function for expression in rel.project.expressions)
        second.output_type.CopyFrom(first.output_type)

    rel_comes_back(rel)
    path = "project.expressions[1].scalar_function"
    assert found(rel, all_alike, "to give precision_time<3>", "it gives precision_time<6>", path=path) == rel


def test_a_function_of_another_kind_is_refused() -> None:
    with refused_at("project.expressions[0]", PlanFormatError, "sum:i64", "scalar", "aggregate"):
        decode_plan(changed(projected(add(a, b)), lambda m: None, (ARITHMETIC, "sum:i64")))


@pytest.mark.parametrize(
    ("phase", "type_"),
    [
        ("initial_to_intermediate", t.Struct((t.FP64(), t.I64()))),  # the file says STRUCT<fp64,i64>
        ("intermediate_to_intermediate", t.Struct((t.FP64(), t.I64()), nullable=True)),
        ("intermediate_to_result", t.FP64(nullable=True)),
    ],
)
def test_the_phases_of_an_aggregate_come_back(phase: Phase, type_: t.Type) -> None:
    """Only the first derives its type from the arguments (spec decision 15)."""
    rel = r.Read(NamedStruct.of({"x": t.FP64(), "state": t.Struct((t.FP64(), t.I64()))}), r.NamedTable(("t",)))
    argument = col(rel, 0 if phase == "initial_to_intermediate" else 1)
    average = ex.AggregateFunction(ex.FunctionId(ARITHMETIC, "avg:fp64"), (argument,), type_, phase=phase)
    rel_comes_back(r.Aggregate(rel, (), (), (ex.Measure(average),), ("n",)))


def test_an_aggregate_that_does_not_say_its_phase_is_whole() -> None:
    """Spec decision 14."""

    def unsaid(rel: pb.Rel) -> None:
        rel.aggregate.measures[0].measure.phase = pb.AGGREGATION_PHASE_UNSPECIFIED

    assert found(SUM, unsaid, "phase", path="aggregate.measures[0].measure") == SUM


def test_an_aggregate_that_does_not_say_its_invocation_takes_all_values() -> None:
    def unsaid(rel: pb.Rel) -> None:
        rel.aggregate.measures[0].measure.invocation = pb.AggregateFunction.AGGREGATION_INVOCATION_UNSPECIFIED

    assert root(changed(SUM, unsaid)) == (SUM, [])


def test_measures_come_back_whole() -> None:
    function = ex.AggregateFunction(
        ex.FunctionId("extension:a:b", "f:str"),
        (s,),
        TEXT,
        (ex.FunctionOption("null_handling", ("IGNORE_NULLS",)),),
        (ex.SortKey(b, "desc_nulls_last"), ex.SortKey(a, "clustered")),
        "distinct",
        "initial_to_intermediate",
    )
    rel_comes_back(r.Aggregate(T, (), (), (ex.Measure(function, gt(a, i64(0))),), ("n",)))


def test_alike_calls_over_structs_keep_their_own_names() -> None:
    """Structs are equal whatever their fields are called; in one plan, and in one read after it."""
    texts = sd.read_virtual([((1, 2),)], {"s": sd.Struct.of({"a": sd.I64(), "b": sd.I64()})})
    others = sd.read_virtual([((1, 2),)], {"s": sd.Struct.of({"b": sd.I64(), "a": sd.I64()})})
    either = [rel.select(x=f.coalesce(sd.col("s"), sd.col("s"))) for rel in (texts, others)]
    read = sd.Plan.from_bytes(either[0].cross(either[1].rename(x="y")).to_plan().to_bytes()).roots[0]
    names = [["a", "b"], ["b", "a"]]
    assert [list(t.struct_names(made.schema.types[0])) for made in either] == names
    assert [list(t.struct_names(type_)) for type_ in read.schema.types] == names


@pytest.mark.parametrize("key", ["like", "like:str_str", "like:str_str_str"])
def test_a_call_that_no_overload_takes_is_kept_and_no_engine_runs_it(key: str) -> None:
    """Each overload of ``like`` gives a boolean; what a third argument means the specification does not say."""
    kept = call(key, s, s, s, type_=t.Boolean(), urn="extension:io.substrait:functions_string")

    def untyped(rel: pb.Rel) -> None:
        rel.project.expressions[0].scalar_function.ClearField("output_type")

    got, told = root(changed(projected(kept), untyped))
    assert got == projected(kept)
    assert any(
        "like does not declare its type" in message or f"{key} does not declare" in message for message, _ in told
    )
    assert all(path == "project.expressions[0].scalar_function" for _, path in told)
    with refused(UnsupportedError, f"Spark cannot run {key} with (string, string, string)"):
        function_to_sql(kept, ("a", "b", "c"))


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("like", (s, s, s), "boolean"),  # boolean in all overloads
        ("like", (s, ex.Literal(None, t.String(nullable=True)), s), "boolean?"),  # MIRROR
        ("lag", (b, i64(1)), "i64?"),  # any1? in the overload of two arguments, whose second does not bind any1
        ("equal", (a, s, s), "boolean"),
        ("add", (a, s), None),  # i8, i16, i32, ...
        ("nullif", (a, s), None),  # any1 would be both
        ("abs", (s,), "string"),  # each gives what it takes
        ("concat_ws", (a, a), None),  # string and varchar
        ("median", (a,), "i64?"),  # (precision, x: i64)
        ("corr", (s, s), None),  # fp32 and fp64
    ],
)
def test_the_type_of_a_call_that_no_overload_takes(
    name: str, arguments: tuple[ex.Expression, ...], kind: str | None
) -> None:
    """What follows from the extension files: the overloads of that name, of so many arguments if there are such."""
    given = tuple(Typed(argument.type) for argument in arguments)
    told = infer_only_type(standard_catalog(), ex.FunctionId("", name), given, ("scalar", "aggregate", "window"))
    assert (None if told is None else str(told[0])) == kind
