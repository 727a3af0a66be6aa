"""Expressions read from messages: the same objects that were written, and what does not hold is refused by its path."""

from __future__ import annotations

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.expressions.calls import Phase
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.expressions import EXPRESSIONS
from substrait_dsl.proto.plan import decode_plan
from substrait_dsl.proto.references import ROOTS
from substrait_dsl.proto.subqueries import SUBQUERIES
from tests.proto.plans import (
    ARITHMETIC,
    BOOLEAN,
    COMPARISON,
    T,
    add,
    call,
    col,
    count_rows,
    equal,
    gt,
    i64,
    outer,
    table,
    total,
)
from tests.proto.reading import Change, changed, condition, found, refused_at, rel_comes_back, root
from tests.proto.test_depth import _calls, filters

I64, TEXT = t.I64(), t.String()
POINT = t.Struct((t.I8(), t.I8(nullable=True)), nullable=True)
N = r.Read(NamedStruct.of({"p": POINT, "l": t.List(t.List(I64)), "m": t.Map(TEXT, POINT)}), r.NamedTable(("nested",)))
U = table("u", k=I64)
D = table("d", d=t.Decimal(15, 2), wide=t.Decimal(38, 2))
COUNT = r.Aggregate(U, (), (), (ex.Measure(count_rows()),), ("n",))

a, b, s = (col(T, position) for position in range(3))


def projected(expression: ex.Expression, rel: r.Rel = T) -> r.Rel:
    return r.Project(rel, (expression,), ("x",))


# --- every kind of expression comes back as it was

KINDS: dict[str, ex.Expression] = {
    "column": a,
    "literal": i64(5),
    "null": i64(None),
    "function": add(a, b),
    "many arguments": call("and:bool", *[gt(a, i64(n)) for n in range(5)], urn=BOOLEAN),
    "arguments of each kind": call(
        "f:req_type_any", ex.EnumArgument("WORD"), ex.TypeArgument(t.List(I64)), a, kind=TEXT, urn="extension:acme:f"
    ),
    "no argument": call("now:", kind=t.Date(), urn="extension:acme:f"),
    "options": ex.ScalarFunction(
        ex.FunctionId(ARITHMETIC, "add:i64_i64"),
        (a, a),
        I64,
        (ex.FunctionOption("overflow", ("ERROR", "SATURATE")),),
    ),
    "cast": ex.Cast(a, t.I32(), "throw"),
    "cast to null": ex.Cast(s, t.I32(nullable=True), "return_null"),
    "cast of a nullable value": ex.Cast(b, t.I32()),
    "if": ex.IfThen((ex.IfClause(gt(a, i64(1)), a), ex.IfClause(gt(b, i64(2)), b)), i64(0)),
    "switch": ex.Switch(s, (ex.SwitchCase(literal("x", TEXT), a), ex.SwitchCase(literal("y", TEXT), b)), i64(0)),
    "one of": ex.SingularOrList(a, (i64(1), b)),
    "one of records": ex.MultiOrList((a, s), (ex.OrListRecord((i64(1), s)), ex.OrListRecord((b, literal("y", TEXT))))),
    "scalar subquery": ex.ScalarSubquery(COUNT),
    "in a subquery": ex.InPredicate((a, s), r.Emit(T, (1, 2))),
    "exists": ex.SetPredicate("exists", U),
    "unique": ex.SetPredicate("unique", U),
}


@pytest.mark.parametrize("expression", KINDS.values(), ids=KINDS)
def test_every_kind_of_expression_comes_back(expression: ex.Expression) -> None:
    rel_comes_back(projected(expression))


@pytest.mark.parametrize("reduction", ["any", "all"])
@pytest.mark.parametrize("comparison", ["eq", "ne", "lt", "gt", "le", "ge"])
def test_comparisons_with_subqueries_come_back(reduction: ex.ReductionOp, comparison: ex.ComparisonOp) -> None:
    rel_comes_back(projected(ex.SetComparison(reduction, comparison, b, U)))


@pytest.mark.parametrize(
    "expression",
    [
        ex.FieldAccess(col(N, 0), ex.StructField(1)),
        ex.FieldAccess(ex.FieldAccess(col(N, 1), ex.ListElement(-1)), ex.ListElement(0)),
        ex.FieldAccess(ex.FieldAccess(col(N, 2), ex.MapKey(literal("k", TEXT))), ex.StructField(0)),
        ex.FieldAccess(literal((1, None), POINT), ex.StructField(0)),
        ex.FieldAccess(
            ex.FieldAccess(call("f:any", kind=t.List(POINT), urn="extension:a:b"), ex.ListElement(2)), ex.StructField(1)
        ),
    ],
    ids=["field", "elements", "field under a key", "field of a literal", "field of a result"],
)
def test_parts_of_values_come_back(expression: ex.Expression) -> None:
    rel_comes_back(projected(expression, N))


LEAVES = st.sampled_from([a, b, i64(1), i64(None)])


@settings(max_examples=60, deadline=None)
@given(st.recursive(LEAVES, _calls, max_leaves=8), st.integers(0, 60))
def test_any_expression_comes_back(expression: ex.Expression, terms: int) -> None:
    for number in range(terms):  # deep enough for some to stand apart
        expression = add(expression, i64(number))
    rel_comes_back(projected(expression))


# --- outer rows


def exists(rel: r.Rel) -> ex.Expression:
    return ex.SetPredicate("exists", rel)


def matching(anchor: int, position: int = 0) -> r.Rel:
    """The rows of `U` whose key equals a column of an outer row."""
    return r.Filter(U, equal(col(U, 0), outer(anchor, position, I64)))


HOSTS: dict[str, r.Rel] = {
    "read": r.Read(T.schema, r.NamedTable(("t",)), filter=exists(matching(1)), anchor=1),
    "best effort": r.Read(T.schema, r.NamedTable(("t",)), best_effort_filter=exists(matching(1)), anchor=1),
    "filter": r.Filter(T, exists(matching(1)), anchor=1),
    "filter over an emit": r.Filter(r.Emit(T, (2, 0)), exists(matching(1, 1)), anchor=1),
    "project": r.Project(T, (exists(matching(1)), ex.ScalarSubquery(matching(1))), ("x", "y"), anchor=1),
    "sort": r.Sort(T, (ex.SortKey(exists(matching(1)), "clustered"),), anchor=1),
    "aggregate": r.Aggregate(
        T, (exists(matching(1)),), ((0,),), (ex.Measure(total(a), exists(matching(1))),), ("k", "m"), anchor=1
    ),
    "join": r.Join(T, U, "left", exists(matching(1, 3)), anchor=1),
    "two rows out": r.Filter(
        T, exists(r.Filter(U, exists(r.Filter(matching(1), equal(col(U, 0), outer(2, 0, I64)))), anchor=2)), anchor=1
    ),
    "two hosts of one row": r.Filter(
        r.Join(T, U, "inner", exists(matching(1, 3)), anchor=1), exists(matching(2, 3)), anchor=2
    ),
    "a part of an outer column": r.Filter(
        N,
        exists(r.Filter(U, equal(col(U, 0), ex.Cast(ex.FieldAccess(outer(1, 0, POINT), ex.StructField(0)), I64)))),
        anchor=1,
    ),
}


@pytest.mark.parametrize("outer_references", ["rel_reference", "steps_out"])
@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_references_to_outer_rows_come_back(host: r.Rel, outer_references: str) -> None:
    rel_comes_back(host, outer_references)  # type: ignore[arg-type]  # one of its two words


def test_the_number_of_a_row_may_stand_on_its_host_or_on_an_input() -> None:
    """Reading 27: the specification's examples number the host, other libraries its input."""
    join = r.Join(T, U, "inner", exists(matching(1, 3)), anchor=1)

    def on_the_right_input(rel: pb.Rel) -> None:
        rel.join.common.ClearField("rel_anchor")
        rel.join.right.read.common.rel_anchor = 77
        reference = rel.join.expression.subquery.set_predicate.tuples.filter.condition
        selection = reference.scalar_function.arguments[1].value.selection
        selection.outer_reference.rel_reference = 77
        selection.direct_reference.struct_field.field = 0  # column 0 of the right input is column 3 of the join's row

    host, _ = root(changed(join, lambda rel: None))
    inputs, _ = root(changed(join, on_the_right_input))
    assert host == inputs


def test_a_number_on_an_input_means_the_columns_of_that_input_only() -> None:
    join = r.Join(U, T, "inner", exists(matching(1)), anchor=1)

    def on_the_left_input(rel: pb.Rel) -> None:
        rel.join.common.ClearField("rel_anchor")
        rel.join.left.read.common.rel_anchor = 1
        reference = rel.join.expression.subquery.set_predicate.tuples.filter.condition
        reference.scalar_function.arguments[1].value.selection.direct_reference.struct_field.field = 1

    path = "join.expression.subquery.set_predicate.tuples.filter.condition.scalar_function.arguments[1].value"
    with refused_at(path, PlanFormatError, "there is no column 1", "1 columns"):
        decode_plan(changed(join, on_the_left_input))


# --- what is missing or wrong

PLUS = r.Filter(T, gt(add(a, b), i64(0)))
HAS = r.Filter(T, exists(matching(1)), anchor=1)
IF = r.Filter(T, ex.IfThen((ex.IfClause(gt(a, i64(1)), gt(a, i64(2))),), gt(a, i64(3))))
CAST = r.Filter(T, ex.Cast(s, t.Boolean()))
MEMBER = r.Filter(T, ex.SingularOrList(a, (i64(1),)))
COMPARED = r.Filter(T, ex.SetComparison("any", "eq", a, U))


def reference(rel: pb.Rel) -> pb.Expression.FieldReference:
    """The reference that `HAS` holds to an outer row."""
    inner = condition(rel).subquery.set_predicate.tuples.filter.condition
    return inner.scalar_function.arguments[1].value.selection


REFERENCE = "filter.condition.subquery.set_predicate.tuples.filter.condition.scalar_function.arguments[1].value"

BAD: dict[str, tuple[r.Rel, Change, str, str]] = {
    "missing": (PLUS, lambda m: condition(m).Clear(), "filter.condition", "an expression is missing"),
    "a column out of range": (
        PLUS,
        lambda m: setattr(first(m).selection.direct_reference.struct_field, "field", 3),
        "filter.condition.scalar_function.arguments[0].value.scalar_function.arguments[0].value",
        "there is no column 3: the row has 3 columns",
    ),
    "a column before the first": (
        PLUS,
        lambda m: setattr(first(m).selection.direct_reference.struct_field, "field", -1),
        "filter.condition.scalar_function.arguments[0].value.scalar_function.arguments[0].value",
        "there is no column -1",
    ),
    "a row taken for a list": (
        PLUS,
        lambda m: setattr(first(m).selection.direct_reference.list_element, "offset", 0),
        "filter.condition.scalar_function.arguments[0].value.scalar_function.arguments[0].value",
        "struct_field",
    ),
    "a part of a number": (
        PLUS,
        lambda m: setattr(first(m).selection.direct_reference.struct_field.child.struct_field, "field", 0),
        "filter.condition.scalar_function.arguments[0].value.scalar_function.arguments[0].value",
        "only a struct has fields, this is i64",
    ),
    "an empty segment": (
        PLUS,
        lambda m: first(m).selection.direct_reference.struct_field.child.SetInParent(),
        "filter.condition.scalar_function.arguments[0].value.scalar_function.arguments[0].value",
        "struct_field, list_element or map_key",
    ),
    "no reference": (
        PLUS,
        lambda m: first(m).selection.ClearField("direct_reference"),
        "filter.condition.scalar_function.arguments[0].value.scalar_function.arguments[0].value",
        "direct_reference",
    ),
    "an argument of no kind": (
        PLUS,
        lambda m: condition(m).scalar_function.arguments[0].Clear(),
        "filter.condition.scalar_function.arguments[0]",
        "value, enum or type",
    ),
    "a function not declared": (
        PLUS,
        lambda m: setattr(condition(m).scalar_function, "function_reference", 9),
        "filter.condition",
        "refers to function 9",
    ),
    "a row of no number": (HAS, lambda m: setattr(reference(m).outer_reference, "rel_reference", 9), REFERENCE, "9"),
    "a row too far out": (
        HAS,
        lambda m: setattr(reference(m).outer_reference, "steps_out", 2**32 - 1),
        REFERENCE,
        "steps_out is 4294967295",
    ),
    "a row not out": (
        HAS,
        lambda m: setattr(reference(m).outer_reference, "steps_out", 0),
        REFERENCE,
        "steps_out is 0",
    ),
    "an outer row of no kind": (
        HAS,
        lambda m: reference(m).outer_reference.Clear(),
        REFERENCE,
        "rel_reference or steps_out",
    ),
    "an if without branches": (
        IF,
        lambda m: condition(m).if_then.Clear(),
        "filter.condition",
        "neither ifs nor an else",
    ),
    "a branch without a condition": (
        IF,
        lambda m: getattr(condition(m).if_then.ifs[0], "if").Clear(),
        "filter.condition.if_then.ifs[0].if",
        "missing",
    ),
    "a cast without a type": (
        CAST,
        lambda m: condition(m).cast.ClearField("type"),
        "filter.condition.cast.type",
        "type",
    ),
    "an unknown failure behavior": (
        CAST,
        lambda m: setattr(condition(m).cast, "failure_behavior", 7),
        "filter.condition",
        'Cast.failure_behavior is 7; expected one of "throw", "return_null"',
    ),
    "a list of nothing": (
        MEMBER,
        lambda m: condition(m).singular_or_list.ClearField("options"),
        "filter.condition",
        "option",
    ),
    "no predicate": (
        HAS,
        lambda m: setattr(condition(m).subquery.set_predicate, "predicate_op", 0),
        "filter.condition",
        "PREDICATE_OP_UNSPECIFIED",
    ),
    "no reduction": (
        COMPARED,
        lambda m: setattr(condition(m).subquery.set_comparison, "reduction_op", 0),
        "filter.condition",
        "REDUCTION_OP_UNSPECIFIED",
    ),
    "no comparison": (
        COMPARED,
        lambda m: setattr(condition(m).subquery.set_comparison, "comparison_op", 0),
        "filter.condition",
        "COMPARISON_OP_UNSPECIFIED",
    ),
    "a subquery of no kind": (HAS, lambda m: condition(m).subquery.Clear(), "filter.condition", "which kind"),
    "a subquery of no relation": (
        HAS,
        lambda m: condition(m).subquery.set_predicate.ClearField("tuples"),
        "filter.condition.subquery.set_predicate.tuples",
        "a relation is missing",
    ),
    "a condition of another type": (
        PLUS,
        lambda m: condition(m).CopyFrom(pb.Expression(literal=pb.Expression.Literal(i64=1))),
        "",
        "boolean",
    ),
}


def first(rel: pb.Rel) -> pb.Expression:
    """The reference to the first column in the condition of `PLUS`."""
    return condition(rel).scalar_function.arguments[0].value.scalar_function.arguments[0].value


@pytest.mark.parametrize(("rel", "change", "path", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_where_it_stands(rel: r.Rel, change: Change, path: str, said: str) -> None:
    with refused_at(path, PlanFormatError, said):
        decode_plan(changed(rel, change))


# --- what is not quite as it should be


def test_a_reference_without_a_root_is_one_to_the_row() -> None:
    got, findings = root(changed(PLUS, lambda m: first(m).selection.ClearField("root_reference")))
    assert (got, findings) == (PLUS, [])


def test_a_missing_else_is_null() -> None:
    """Reading 22."""
    without = found(IF, lambda m: condition(m).if_then.ClearField("else"), "else", path="filter.condition.if_then")
    clause = ex.IfClause(gt(a, i64(1)), gt(a, i64(2)))
    assert without == r.Filter(T, ex.IfThen((clause,), literal(None, t.Boolean(nullable=True))))
    switch = ex.Switch(s, (ex.SwitchCase(literal("x", TEXT), a),), i64(0))

    def cut(rel: pb.Rel) -> None:
        rel.project.expressions[0].switch_expression.ClearField("else")

    cut_switch = found(projected(switch), cut, "else", path="project.expressions[0].switch_expression")
    assert cut_switch == projected(ex.Switch(s, switch.cases, i64(None)))
    assert cut_switch.schema.types[-1] == t.I64(nullable=True)


def test_a_cast_that_does_not_say_what_happens_on_failure_throws() -> None:
    def unsaid(rel: pb.Rel) -> None:
        condition(rel).cast.failure_behavior = pb.Expression.Cast.FAILURE_BEHAVIOR_UNSPECIFIED

    assert found(CAST, unsaid, "throw", path="filter.condition.cast") == CAST


# --- functions and their types

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
    product = call("multiply:dec_dec", price, price, kind=t.Decimal(19, 4), urn=urn)
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
    rel = projected(call("add:i64_i64", a, b, kind=t.Decimal(9, 3), urn="extension:acme:arithmetic"))
    rel_comes_back(rel)


def test_a_function_of_the_specification_that_nobody_knows_keeps_its_declared_type() -> None:
    got, findings = root(changed(projected(add(a, b)), lambda m: None, (ARITHMETIC, "plus:i64_i64")))
    assert got == projected(call("plus:i64_i64", a, b, kind=t.I64(nullable=True), urn=ARITHMETIC))
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


def test_a_function_of_another_kind_is_refused() -> None:
    with refused_at("project.expressions[0]", PlanFormatError, "sum:i64", "scalar", "aggregate"):
        decode_plan(changed(projected(add(a, b)), lambda m: None, (ARITHMETIC, "sum:i64")))


@pytest.mark.parametrize(
    ("phase", "kind"),
    [
        ("initial_to_intermediate", t.Struct((t.FP64(), t.I64()))),  # the file says STRUCT<fp64,i64>
        ("intermediate_to_intermediate", t.Struct((t.FP64(), t.I64()), nullable=True)),
        ("intermediate_to_result", t.FP64(nullable=True)),
    ],
)
def test_the_phases_of_an_aggregate_come_back(phase: Phase, kind: t.Type) -> None:
    """Only the first derives its type from the arguments (reading 15)."""
    rel = r.Read(NamedStruct.of({"x": t.FP64(), "state": t.Struct((t.FP64(), t.I64()))}), r.NamedTable(("t",)))
    argument = col(rel, 0 if phase == "initial_to_intermediate" else 1)
    average = ex.AggregateFunction(ex.FunctionId(ARITHMETIC, "avg:fp64"), (argument,), kind, phase=phase)
    rel_comes_back(r.Aggregate(rel, (), (), (ex.Measure(average),), ("n",)))


def test_an_aggregate_that_does_not_say_its_phase_is_whole() -> None:
    """Reading 14."""

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


# --- expressions that stand apart


@pytest.mark.parametrize("terms", [10, 40, 2000])
def test_a_sum_of_any_length_comes_back(terms: int) -> None:
    sum_: ex.Expression = a
    for number in range(terms):
        sum_ = add(sum_, i64(number))
    rel_comes_back(r.Filter(T, gt(sum_, i64(0))))


def test_detached_expressions_with_subqueries_come_back() -> None:
    sum_: ex.Expression = outer(1, 0, I64)
    for _ in range(40):
        sum_ = add(sum_, i64(1))
    inside = r.Filter(U, equal(col(U, 0), sum_))
    wide: ex.Expression = add(a, ex.ScalarSubquery(r.Aggregate(inside, (), (), (ex.Measure(count_rows()),), ("n",))))
    for _ in range(60):
        wide = add(wide, i64(1))
    rel_comes_back(r.Project(T, (wide,), ("x",), anchor=1))
    rel_comes_back(r.Filter(T, exists(inside), anchor=1), "steps_out")


def test_one_detached_expression_may_be_referred_to_twice() -> None:
    rel = r.Project(T, (add(a, b), add(a, b)), ("x", "y"))
    plan = changed(rel, lambda m: None)
    expressions = plan.relations[0].root.input.project.expressions
    plan.relations[0].detached_expressions.append(expressions[0])
    for expression in expressions:
        expression.detached_expression_ordinal = 0
    got, findings = root(plan)
    assert isinstance(got, r.Project)
    assert (got, findings) == (rel, [])
    assert got.expressions[0] is got.expressions[1]


@pytest.mark.parametrize(
    ("ordinals", "said"),
    [
        ([1], "there is no detached expression 1: the tree has 1"),
        ([0, 0], "refers to itself"),
        ([0, 1, 0], "refers to itself"),
    ],
    ids=["dangling", "of itself", "circle"],
)
def test_detached_expressions_that_lead_nowhere_are_refused(ordinals: list[int], said: str) -> None:
    plan = changed(PLUS, lambda m: None)
    first, *others = ordinals
    condition(plan.relations[0].root.input).detached_expression_ordinal = first
    for other in others or (None,):
        entry = plan.relations[0].detached_expressions.add()
        if other is not None:
            negated = entry.singular_or_list
            negated.value.detached_expression_ordinal = other
    with pytest.raises(PlanFormatError, match=said):
        decode_plan(plan)


def test_deep_subqueries_come_back() -> None:
    rel: r.Rel = filters(50, matching(1))
    for _ in range(60):
        rel = r.Filter(U, exists(rel))
    rel_comes_back(r.Filter(T, exists(rel), anchor=1))


# --- whether nothing is forgotten


def oneof(message: type[Message], name: str) -> set[str]:
    return {field.name for field in message.DESCRIPTOR.oneofs_by_name[name].fields}


def test_every_kind_of_expression_is_read() -> None:
    assert oneof(pb.Expression, "rex_type") == set(EXPRESSIONS)
    assert oneof(pb.Expression.Subquery, "subquery_type") == set(SUBQUERIES)
    assert oneof(pb.Expression.FieldReference, "root_type") == {*ROOTS, "expression"}
