"""Expressions read from messages: the same objects that were written, and what does not hold is refused by its path."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb
from substrait import type_pb2

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.detached import ORDINAL
from substrait_dsl.proto.expressions import EXPRESSIONS
from substrait_dsl.proto.plan import decode_plan
from substrait_dsl.proto.seldom_expressions import SELDOM_EXPRESSIONS
from substrait_dsl.proto.subqueries import SUBQUERIES
from tests.proto.plans import ARITHMETIC, BOOLEAN, T, add, call, col, equal, gt, i64, message, selection
from tests.proto.reading import Change, changed, condition, found, refused_at, rel_comes_back, root
from tests.proto.small_expressions import (
    COUNT,
    I64,
    PLUS,
    POINT,
    TEXT,
    N,
    U,
    a,
    b,
    exists,
    matching,
    oneof,
    projected,
    s,
)
from tests.proto.test_depth import _calls

KINDS: dict[str, ex.Expression] = {
    "column": a,
    "literal": i64(5),
    "null": i64(None),
    "function": add(a, b),
    "many arguments": call("and:bool", *[gt(a, i64(n)) for n in range(5)], urn=BOOLEAN),
    "arguments of each kind": call(
        "f:req_type_any", ex.EnumArgument("WORD"), ex.TypeArgument(t.List(I64)), a, type_=TEXT, urn="extension:acme:f"
    ),
    "no argument": call("now:", type_=t.Date(), urn="extension:acme:f"),
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


def test_a_cast_that_gives_null_has_a_nullable_type() -> None:
    def required(rel: pb.Rel) -> None:
        rel.project.expressions[0].cast.type.i32.nullability = type_pb2.Type.NULLABILITY_REQUIRED

    rel = r.Project(T, (ex.Cast(s, t.I32(), "return_null"),), ("x",))
    assert str(rel.schema.types[-1]) == "i32?"
    said = "a cast to i32 gives NULL where it fails; read as i32?"
    assert found(rel, required, said, path="project.expressions[0].cast") == rel


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
            ex.FieldAccess(call("f:any", type_=t.List(POINT), urn="extension:a:b"), ex.ListElement(2)),
            ex.StructField(1),
        ),
    ],
    ids=["field", "elements", "field under a key", "field of a literal", "field of a result"],
)
def test_parts_of_values_come_back(expression: ex.Expression) -> None:
    rel_comes_back(projected(expression, N))


LEAVES = st.sampled_from([a, b, i64(1), i64(None)])


@settings(max_examples=60)
@given(st.recursive(LEAVES, _calls, max_leaves=8), st.integers(0, 60))
def test_any_expression_comes_back(expression: ex.Expression, terms: int) -> None:
    for number in range(terms):  # deep enough for some to stand apart
        expression = add(expression, i64(number))
    rel_comes_back(projected(expression))


# --- what is missing or wrong

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
    "a subquery of no kind": (HAS, lambda m: condition(m).subquery.Clear(), "filter.condition", "subquery_type"),
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
    """Spec decision 22."""
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


# --- whether nothing is forgotten


def test_every_kind_of_expression_is_read() -> None:
    assert oneof(pb.Expression, "rex_type") == {*EXPRESSIONS, *SELDOM_EXPRESSIONS, ORDINAL}
    assert oneof(pb.Expression.Subquery, "subquery_type") == set(SUBQUERIES)


def case(base: str, *values: int) -> str:
    """``CASE base WHEN value THEN value ...`` as DataFusion writes it."""
    whens = " ".join(f"ifs {{ if {{ literal {{ i64: {n} }} }} then {{ literal {{ i64: {n} }} }} }}" for n in values)
    return f"if_then {{ ifs {{ if {{ {base} }} }} {whens} else {{ literal {{ i64: 0 }} }} }}"


def test_an_if_without_then_is_what_the_others_are_compared_with() -> None:
    def written(rel: pb.Rel) -> None:
        rel.project.expressions[0].CopyFrom(message(pb.Expression, case(selection(0), 1, 2)))

    compared = [ex.IfClause(equal(a, i64(n)), i64(n)) for n in (1, 2)]
    said = "the first if has no then: read as the value that those of the others are compared with"
    got = found(projected(a), written, said, path="project.expressions[0].if_then")
    assert got == projected(ex.IfThen(tuple(compared), i64(0)))


def test_cases_inside_the_values_of_cases_do_not_explode() -> None:
    """A value stands in each of its comparisons: so 4 in each other by ten are 4**10."""
    nested = selection(0)
    for _ in range(10):
        nested = case(nested, 1, 2, 3, 4)

    def written(rel: pb.Rel) -> None:
        rel.project.expressions[0].CopyFrom(message(pb.Expression, nested))

    refusal = r"such as those that the cases of a switch .* have more than 1000000 nodes"
    with pytest.raises(UnsupportedError, match=refusal):
        decode_plan(changed(projected(a), written))


def test_a_case_without_branches_is_refused() -> None:
    def written(rel: pb.Rel) -> None:
        rel.project.expressions[0].CopyFrom(message(pb.Expression, case(selection(0))))

    with refused_at("project.expressions[0].if_then.ifs[0].then", PlanFormatError, "an expression is missing"):
        decode_plan(changed(projected(a), written))
