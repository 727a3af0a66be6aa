"""Lateral and physical joins as messages written by hand from algebra.proto, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES, JoinType, LateralJoinType
from substrait_dsl.errors import (
    PlanFormatError,
    SchemaError,
    SubstraitDslError,
    UnsupportedError,
)
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import (
    T,
    bare,
    call,
    col,
    encoded,
    encoded_relation,
    equal,
    field,
    gt,
    i64,
    message,
    outer,
    selection,
    table,
)
from tests.proto.reading import Change, changed, refused_at, rel_comes_back, root
from tests.proto.test_outer_references import outer_references

DIRECT = "common { direct {} }"
TRUE = literal(True, t.Boolean())
IS_TRUE = "literal { boolean: true }"
U = table("u", k=t.I64(), v=t.String(nullable=True))
KEY = r.JoinKey(col(T, 0), col(U, 0))


# --- joins

PHYSICAL_NUMBERS: dict[JoinType, int] = {
    "inner": 1,
    "outer": 2,
    "left": 3,
    "right": 4,
    "left_semi": 5,
    "right_semi": 6,
    "left_anti": 7,
    "right_anti": 8,
    "left_single": 9,
    "right_single": 10,
    "left_mark": 11,
    "right_mark": 12,
}
"""As HashJoinRel, MergeJoinRel and NestedLoopJoinRel number the join types; JoinRel has other numbers."""


@pytest.mark.parametrize("how", JOIN_TYPES)
@pytest.mark.parametrize(
    "join",
    [
        lambda how: r.HashJoin(T, U, how, (KEY,)),
        lambda how: r.MergeJoin(T, U, how, (KEY,)),
        lambda how: r.NestedLoopJoin(T, U, how),
    ],
    ids=["hash", "merge", "nested loop"],
)
def test_physical_joins_have_numbers_of_their_own(join: Callable[[JoinType], r.Rel], how: JoinType) -> None:
    sent: Any = bare(join(how))
    assert sent.type == PHYSICAL_NUMBERS[how]
    rel_comes_back(join(how))


COMPARISONS: dict[Any, str] = {
    "eq": "simple: SIMPLE_COMPARISON_TYPE_EQ",
    "is_not_distinct_from": "simple: SIMPLE_COMPARISON_TYPE_IS_NOT_DISTINCT_FROM",
    "might_equal": "simple: SIMPLE_COMPARISON_TYPE_MIGHT_EQUAL",
    ex.FunctionId("extension:acme:f", "alike:any_any"): "custom_function_reference: 1",
}


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_the_sides_of_a_key_see_their_own_input(comparison: Any) -> None:
    rel = r.HashJoin(T, U, "inner", (r.JoinKey(col(T, 2), col(U, 1), comparison), KEY))
    assert bare(rel) == message(
        pb.HashJoinRel,
        f"{DIRECT} type: JOIN_TYPE_INNER build_input: BUILD_INPUT_RIGHT "
        f"keys {{ left {{ {field(2)} }} right {{ {field(1)} }} comparison {{ {COMPARISONS[comparison]} }} }} "
        f"keys {{ left {{ {field(0)} }} right {{ {field(0)} }} comparison {{ simple: SIMPLE_COMPARISON_TYPE_EQ }} }}",
    )
    rel_comes_back(rel)


def test_a_residual_sees_both_inputs_and_a_post_filter_the_output() -> None:
    both = r.Join(T, U, "inner", TRUE)
    rel = r.HashJoin(T, U, "left_mark", (KEY,), gt(col(both, 3), col(both, 0)), ex.Cast(i64(1), t.Boolean(), "throw"))
    sent: Any = bare(rel)
    assert sent.residual_expression.scalar_function.arguments[0].value == message(pb.Expression, selection(3))
    assert sent.post_join_filter.WhichOneof("rex_type") == "cast"
    rel_comes_back(rel)
    rel_comes_back(r.MergeJoin(T, U, "right", (KEY,), gt(col(both, 3), col(both, 0)), gt(col(both, 3), i64(0))))


def test_old_physical_joins_put_out_both_sides() -> None:
    """Before 0.72 (spec decision 3): what a semi join keeps is an emit of the columns of both (T has 3, U has 2)."""
    rel = r.NestedLoopJoin(T, U, "right_semi")
    for mapping, expected in (((4, 3), (1, 0)), ((3,), (0,))):
        plan = encoded(r.Emit(rel, expected))
        del plan.relations[0].root.input.nested_loop_join.common.emit.output_mapping[:]
        plan.relations[0].root.input.nested_loop_join.common.emit.output_mapping.extend(mapping)
        plan.version.minor_number = 71
        got, _ = root(plan)
        assert got == r.Emit(rel, expected)


def test_a_build_side_is_said_and_is_the_right_one_unless() -> None:
    rel = r.HashJoin(T, U, "inner", (KEY,), build="left")
    sent: Any = bare(rel)
    assert sent.build_input == pb.HashJoinRel.BUILD_INPUT_LEFT
    rel_comes_back(rel)
    got, findings = root(changed(rel, lambda sent: sent.hash_join.ClearField("build_input")))
    assert (got, findings) == (r.HashJoin(T, U, "inner", (KEY,), build="right"), [])


def test_a_nested_loop_join_without_a_condition_has_none() -> None:
    assert bare(r.NestedLoopJoin(T, U, "left")) == message(pb.NestedLoopJoinRel, f"{DIRECT} type: JOIN_TYPE_LEFT")
    both = r.Join(T, U, "inner", TRUE)
    rel_comes_back(r.NestedLoopJoin(T, U, "outer", gt(col(both, 0), col(both, 3))))


def test_a_key_may_be_a_field_of_a_struct() -> None:
    rows = table("p", p=t.Struct.of({"x": t.I64(), "y": t.Struct.of({"z": t.I64()})}))
    inner = ex.FieldAccess(ex.FieldAccess(col(rows, 0), ex.StructField(1)), ex.StructField(0))
    rel = r.MergeJoin(rows, rows, "inner", (r.JoinKey(ex.FieldAccess(col(rows, 0), ex.StructField(0)), inner),))
    sent: Any = bare(rel)
    assert sent.keys[0].right == message(
        pb.Expression.FieldReference,
        "direct_reference { struct_field { field: 0 child { struct_field { field: 1 child { struct_field { } } } } } } "
        "root_reference {}",
    )
    rel_comes_back(rel)


def subquery_over(anchor: int, position: int) -> ex.Expression:
    """Whether `U` has a row whose key is that column of an outer row."""
    return ex.SetPredicate("exists", r.Filter(U, equal(col(U, 0), outer(anchor, position, t.I64()))))


def test_subqueries_in_joins_see_the_row_of_both() -> None:
    rel_comes_back(r.HashJoin(T, U, "inner", (KEY,), subquery_over(1, 3), anchor=1))
    rel_comes_back(r.NestedLoopJoin(T, U, "inner", subquery_over(1, 0), anchor=1))


# --- lateral joins


def lateral(how: LateralJoinType = "left", condition: ex.Expression = TRUE) -> r.LateralJoin:
    right = r.Filter(U, equal(col(U, 0), outer(1, 0, t.I64())))
    return r.LateralJoin(T, right, how, condition, anchor=1)


def test_the_right_input_of_a_lateral_join_refers_to_the_left_row_by_the_number_of_the_join() -> None:
    sent = encoded_relation(lateral()).lateral_join
    assert sent.common == message(pb.RelCommon, "direct {} rel_anchor: 1")
    assert sent.type == pb.JoinRel.JOIN_TYPE_LEFT
    assert sent.expression == message(pb.Expression, IS_TRUE)
    reference = sent.right.filter.condition.scalar_function.arguments[1].value.selection
    assert reference.outer_reference == message(pb.Expression.FieldReference.OuterReference, "rel_reference: 1")
    assert not sent.left.read.common.HasField("rel_anchor")


def test_a_lateral_join_always_has_a_number() -> None:
    rel = r.LateralJoin(T, U, "inner", TRUE)
    assert encoded_relation(rel).lateral_join.common.rel_anchor == 1
    rel_comes_back(rel)


@pytest.mark.parametrize("how", LATERAL_JOIN_TYPES)
def test_lateral_joins_come_back(how: LateralJoinType) -> None:
    rel_comes_back(lateral(how))


# --- subqueries in the condition of a lateral join


def both(*conditions: ex.Expression) -> ex.Expression:
    return call("and:bool", *conditions, type_=t.Boolean(), urn="extension:io.substrait:functions_boolean")


def outer_reference(condition: pb.Expression) -> pb.Expression.FieldReference:
    """What `subquery_over` compares a column with."""
    inner = condition.subquery.set_predicate.tuples.filter.condition
    return inner.scalar_function.arguments[1].value.selection


def masked(*positions: int) -> ex.Expression:
    """A subquery over a mask of the row of a lateral join of `T` and `U`."""
    row = ex.Row(t.Struct((*T.schema.types, *U.schema.types)), ex.OuterReference(1))
    mask = ex.MaskedReference(row, ex.StructMask(tuple(ex.MaskItem(position) for position in positions)))
    return ex.SetPredicate("exists", r.Filter(U, call("is_null:any", mask)))


def test_a_subquery_in_a_lateral_condition_refers_to_each_input_by_its_own_number() -> None:
    left = encoded_relation(lateral("inner", subquery_over(1, 0))).lateral_join
    assert left.common.rel_anchor == 1
    assert not left.right.filter.common.HasField("rel_anchor")
    assert outer_reference(left.expression) == message(
        pb.Expression.FieldReference,
        "direct_reference { struct_field { field: 0 } } outer_reference { rel_reference: 1 }",
    )
    right = encoded_relation(lateral("inner", subquery_over(1, 3))).lateral_join
    assert (right.common.rel_anchor, right.right.filter.common.rel_anchor) == (1, 2)
    # column 3 of the row is column 0 of the right input: the left one has three
    assert outer_reference(right.expression) == message(
        pb.Expression.FieldReference, "direct_reference { struct_field {} } outer_reference { rel_reference: 2 }"
    )


APART = attrs.evolve(U, shared=True)
JOINED = r.Join(U, U, "inner", subquery_over(7, 0), anchor=7)
CONDITIONS: dict[str, r.LateralJoin] = {
    "the left row": lateral("inner", subquery_over(1, 0)),
    "the right row": lateral("left", subquery_over(1, 3)),
    "both": lateral("left_semi", both(subquery_over(1, 3), subquery_over(1, 0))),
    "the right row from far inside": lateral("left_anti", ex.SetPredicate("exists", r.Filter(U, subquery_over(1, 3)))),
    "a part of a value": lateral("left_mark", masked(3)),
    "several columns of the left row": lateral("inner", masked(2, 0)),
    "columns of both rows": lateral("left_single", masked(3, 0)),
    "no columns": lateral("inner", masked()),
    "an emit": r.LateralJoin(T, r.Emit(U, (1, 0)), "inner", subquery_over(1, 4), anchor=1),
    "a join that has a number": r.LateralJoin(T, JOINED, "inner", subquery_over(1, 5), anchor=1),
    "a lateral join": r.LateralJoin(
        T, r.LateralJoin(U, U, "inner", TRUE, anchor=2), "left", subquery_over(1, 5), anchor=1
    ),
    "a relation that stands apart": r.LateralJoin(
        T, APART, "inner", ex.SetPredicate("exists", r.Filter(APART, subquery_over(1, 3))), anchor=1
    ),
    "in a subquery": r.LateralJoin(
        T, r.Filter(U, ex.SetPredicate("exists", lateral("inner", subquery_over(1, 3)))), "inner", TRUE, anchor=5
    ),
}


@pytest.mark.parametrize("rel", CONDITIONS.values(), ids=CONDITIONS)
def test_subqueries_in_the_condition_of_a_lateral_join_come_back(rel: r.LateralJoin) -> None:
    rel_comes_back(rel)
    if not any(isinstance(node, r.LateralJoin) and node.anchor in node.right.free_anchors for node in walk(rel)):
        rel_comes_back(rel, "steps_out")


@pytest.mark.parametrize("name", ["columns of both rows", "a lateral join", "a relation that stands apart"])
def test_columns_that_no_number_stands_for_are_counted_out_to(name: str) -> None:
    """The number of a lateral join stands for its left row, that of a shared relation for it wherever it is used."""
    assert any(each.steps_out for each in outer_references(encoded(CONDITIONS[name])))


@pytest.mark.parametrize("steps", [60, 300])
def test_deep_subqueries_in_the_condition_of_a_lateral_join(steps: int) -> None:
    def deep(position: int) -> ex.Expression:
        inside: r.Rel = r.Filter(U, equal(col(U, 0), outer(1, position, t.I64())))
        for _ in range(steps):
            inside = r.Filter(inside, TRUE)
        return ex.SetPredicate("exists", inside)

    for position in (0, 3):
        rel = lateral("inner", deep(position))
        assert len(encoded(rel).relations) > 1
        rel_comes_back(rel)
    rel_comes_back(r.LateralJoin(APART, APART, "inner", deep(0), anchor=1))
    with pytest.raises(UnsupportedError, match="has no anchor"):
        encoded(r.LateralJoin(APART, APART, "inner", deep(2), anchor=1))


def test_the_number_of_a_lateral_join_stands_for_its_left_row_alone() -> None:
    def beyond(sent: pb.Rel) -> None:
        outer_reference(sent.lateral_join.expression).direct_reference.struct_field.field = 3

    path = "lateral_join.expression.subquery.set_predicate.tuples.filter.condition.scalar_function.arguments[1].value"
    with refused_at(path, PlanFormatError, "no column 3: the row has 3 columns"):
        decode_plan(changed(lateral("inner", subquery_over(1, 0)), beyond))
    right = r.Filter(U, equal(col(U, 0), outer(1, 3, t.I64())))
    with pytest.raises(SchemaError, match="column 3 of the left row, which has 3 columns"):
        encoded(r.LateralJoin(T, right, "inner", TRUE, anchor=1))


def test_the_host_above_a_lateral_join_carries_the_number_of_its_row() -> None:
    rel = r.Filter(lateral("inner"), subquery_over(9, 3), anchor=9)
    sent = encoded_relation(rel).filter
    assert (sent.common.rel_anchor, sent.input.lateral_join.common.rel_anchor) == (2, 1)
    rel_comes_back(rel)

    def of_the_join(sent: pb.Rel) -> None:
        outer_reference(sent.filter.condition).outer_reference.rel_reference = 1

    with pytest.raises(PlanFormatError, match="rel_reference 1 is the rel_anchor of no relation around"):
        decode_plan(changed(rel, of_the_join))


def test_lateral_joins_inside_each_other_and_inside_subqueries() -> None:
    deepest = r.Filter(U, gt(outer(2, 0, t.I64()), outer(1, 0, t.I64())))
    inner = r.LateralJoin(r.Filter(U, gt(outer(1, 0, t.I64()), i64(0))), deepest, "inner", TRUE, anchor=2)
    rel_comes_back(r.LateralJoin(T, inner, "inner", TRUE, anchor=1))
    correlated = r.LateralJoin(T, r.Filter(deepest, gt(outer(3, 0, t.I64()), i64(0))), "left", TRUE, anchor=2)
    within = r.Filter(T, ex.SetPredicate("exists", correlated), anchor=3)
    rel_comes_back(r.LateralJoin(T, within, "inner", TRUE, anchor=1))


@pytest.mark.parametrize("steps", [60, 300])
def test_lateral_joins_whose_right_input_is_too_deep(steps: int) -> None:
    right: r.Rel = r.Filter(U, equal(col(U, 0), outer(1, 0, t.I64())))
    for _ in range(steps):
        right = r.Filter(right, TRUE)
    rel = r.LateralJoin(T, right, "inner", TRUE, anchor=1)
    assert len(encoded(rel).relations) > 1
    rel_comes_back(rel)
    correlated = attrs.evolve(rel, left=r.Filter(T, gt(outer(2, 0, t.I64()), i64(0))))
    rel_comes_back(r.Filter(T, ex.SetPredicate("exists", correlated), anchor=2))


def test_steps_out_counts_subqueries_and_no_lateral_joins() -> None:
    with pytest.raises(UnsupportedError, match="lateral join"):
        encoded(lateral(), "steps_out")
    # from inside the right input, to the row around the subquery that the lateral join stands in: one step
    seen = r.LateralJoin(T, r.Filter(U, gt(outer(3, 0, t.I64()), i64(0))), "inner", TRUE)
    rel = r.Filter(T, ex.SetPredicate("exists", seen), anchor=3)
    sent = encoded(rel, "steps_out").relations[-1].root.input.filter.condition.subquery.set_predicate.tuples
    reference = sent.lateral_join.right.filter.condition.scalar_function.arguments[0].value.selection
    assert reference.outer_reference.steps_out == 1
    rel_comes_back(rel, "steps_out")


# --- what is refused

HASH = r.HashJoin(T, U, "inner", (KEY,))


@pytest.mark.parametrize(
    ("rel", "change", "path", "error", "said"),
    [
        (HASH, lambda s: s.hash_join.ClearField("type"), "", PlanFormatError, "JOIN_TYPE_UNSPECIFIED"),
        (HASH, lambda s: s.hash_join.ClearField("keys"), "", PlanFormatError, "at least one key"),
        (
            HASH,
            lambda s: s.hash_join.keys[0].ClearField("comparison"),
            "hash_join.keys[0]",
            PlanFormatError,
            "must set simple",
        ),
        (
            HASH,
            lambda s: setattr(s.hash_join.keys[0].comparison, "simple", 9),
            "hash_join.keys[0]",
            PlanFormatError,
            "is 9",
        ),
        (
            HASH,
            lambda s: setattr(s.hash_join.keys[0].right.direct_reference.struct_field, "field", 2),
            "hash_join.keys[0]",
            PlanFormatError,
            "no column 2",
        ),
        (
            HASH,
            lambda s: setattr(s.hash_join.keys[0].right.direct_reference.struct_field, "field", 1),
            "hash_join.keys[0]",
            PlanFormatError,
            "one type",
        ),
        (HASH, lambda s: setattr(s.hash_join, "build_input", 7), "", PlanFormatError, "build_input is 7"),
        (lateral(), lambda s: setattr(s.lateral_join, "type", 2), "", PlanFormatError, "JOIN_TYPE_OUTER"),
        (
            lateral(),
            lambda s: s.lateral_join.common.ClearField("rel_anchor"),
            "lateral_join.right.filter.condition.scalar_function.arguments[1].value",
            PlanFormatError,
            "rel_reference 1",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_path(
    rel: r.Rel, change: Change, path: str, error: type[SubstraitDslError], said: str
) -> None:
    with refused_at(path, error, said):
        decode_plan(changed(rel, change))
