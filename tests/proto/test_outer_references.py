"""References from subqueries to outer rows."""

from __future__ import annotations

import pytest
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.plan import encode_plan
from tests.proto.plans import T, add, col, encoded, equal, i64, outer, plan_of, table
from tests.proto.test_depth import filters, messages, readable

U = table("u", k=t.I64())
I64 = t.I64()


def exists(rel: r.Rel) -> ex.Expression:
    return ex.SetPredicate("exists", rel)


def matching(anchor: int, position: int = 0) -> r.Rel:
    """The rows of `U` whose key equals a column of an outer row."""
    return r.Filter(U, equal(col(U, 0), outer(anchor, position, I64)))


def outer_references(plan: Plan) -> list[pb.Expression.FieldReference.OuterReference]:
    return [
        found
        for tree in plan.relations
        for found in messages(tree)
        if isinstance(found, pb.Expression.FieldReference.OuterReference)
    ]


def anchors(plan: Plan) -> list[int]:
    commons = [found for tree in plan.relations for found in messages(tree) if isinstance(found, pb.RelCommon)]
    return [common.rel_anchor for common in commons if common.HasField("rel_anchor")]


def subquery(condition: pb.Expression) -> pb.FilterRel:
    return condition.subquery.set_predicate.tuples.filter


def compared(condition: pb.Expression) -> pb.Expression.FieldReference:
    return condition.scalar_function.arguments[1].value.selection


def test_the_input_of_the_host_carries_the_number() -> None:
    plan = encoded(r.Filter(T, exists(matching(812)), anchor=812))
    host = plan.relations[0].root.input.filter
    assert host.input.read.common.rel_anchor == 1
    assert not host.common.HasField("rel_anchor")
    reference = compared(subquery(host.condition).condition)
    assert reference.outer_reference.rel_reference == 1
    assert reference.direct_reference.struct_field.field == 0


def test_steps_out_counts_subqueries() -> None:
    inner = r.Filter(U, exists(r.Filter(matching(1), equal(col(U, 0), outer(2, 0, I64)))), anchor=2)
    plan = encoded(r.Filter(T, exists(inner), anchor=1), outer_references="steps_out")
    # the innermost filter refers to the row of U, one subquery out; its input to the row of T, two out
    innermost = subquery(subquery(plan.relations[0].root.input.filter.condition).condition)
    assert compared(innermost.condition).outer_reference.steps_out == 1
    assert compared(innermost.input.filter.condition).outer_reference.steps_out == 2
    assert anchors(plan) == []


def test_hosts_of_two_inputs_or_none_carry_the_number_themselves() -> None:
    join = r.Join(T, U, "inner", exists(matching(5, 3)), anchor=5)
    plan = encoded(join)
    assert plan.relations[0].root.input.join.common.rel_anchor == 1
    assert [reference.rel_reference for reference in outer_references(plan)] == [1]
    read = r.Read(T.schema, r.NamedTable(("t",)), filter=exists(matching(6)), anchor=6)
    assert encoded(read).relations[0].root.input.read.common.rel_anchor == 1


def test_a_row_that_two_hosts_call_by_different_numbers_has_one() -> None:
    # the filter sees the output of the join, whose own condition has a correlated subquery
    join = r.Join(T, U, "inner", exists(matching(5, 3)), anchor=5)
    plan = encoded(r.Filter(join, exists(matching(6, 3)), anchor=6))
    assert anchors(plan) == [1]
    assert [reference.rel_reference for reference in outer_references(plan)] == [1, 1]


def test_a_host_above_an_emit_numbers_the_relation_that_emits() -> None:
    plan = encoded(r.Filter(r.Emit(T, (2, 0)), exists(matching(9, 1)), anchor=9))
    common = plan.relations[0].root.input.filter.input.read.common
    assert list(common.emit.output_mapping) == [2, 0]
    assert common.rel_anchor == 1


def test_an_anchor_that_nothing_refers_to_is_not_written() -> None:
    assert anchors(encoded(r.Filter(T, exists(U), anchor=3))) == []


def test_numbers_do_not_depend_on_the_anchors_chosen() -> None:
    def build(first: int, second: int) -> Plan:
        rel = r.Filter(T, exists(matching(first)), anchor=first)
        return encoded(r.Filter(rel, exists(matching(second)), anchor=second))

    assert build(1, 2) == build(700, 3)
    assert sorted(anchors(build(700, 3))) == [1, 2]


def test_a_host_written_twice_has_two_numbers() -> None:
    host = r.Filter(T, exists(matching(4)), anchor=4)
    plan = encoded(r.Cross(host, host))
    assert sorted(anchors(plan)) == [1, 2]
    for number, side in enumerate((plan.relations[0].root.input.cross.left, plan.relations[0].root.input.cross.right)):
        assert side.filter.input.read.common.rel_anchor == number + 1
        assert compared(subquery(side.filter.condition).condition).outer_reference.rel_reference == number + 1


def test_a_deep_subquery_refers_to_the_outer_row_from_its_own_tree() -> None:
    host = r.Filter(T, exists(filters(200, matching(4))), anchor=4)
    plan = readable(encode_plan(plan_of(r.Sort(host, (ex.SortKey(col(host, 0), "clustered"),)))))
    assert len(plan.relations) > 4
    assert anchors(plan) == [1]
    assert [reference.rel_reference for reference in outer_references(plan)] == [1]
    # the host is written once, in a tree of its own, since the deep part of its subquery knows it by one number
    hosts = [
        tree
        for tree in plan.relations
        if any(isinstance(m, pb.ReadRel) and m.common.rel_anchor for m in messages(tree))
    ]
    assert [tree.WhichOneof("rel_type") for tree in hosts] == ["rel"]


def test_a_deep_subquery_of_a_host_used_twice_refers_to_the_one_row() -> None:
    host = r.Filter(T, exists(filters(200, matching(4))), anchor=4)
    plan = readable(encoded(r.Cross(host, host)))
    assert anchors(plan) == [1]
    cross = plan.relations[-1].root.input.cross
    assert cross.left.reference.subtree_ordinal == cross.right.reference.subtree_ordinal


def test_a_deep_subquery_of_a_join() -> None:
    join = r.Join(T, U, "inner", exists(filters(200, matching(5, 3))), anchor=5)
    plan = readable(encoded(r.Filter(join, exists(matching(6, 3)), anchor=6)))
    assert sorted(anchors(plan)) == [1, 2]  # the join is referred to, so the filter itself carries its row's number
    assert plan.relations[-1].root.input.filter.common.rel_anchor == 2


def test_a_deep_subquery_above_a_join_that_has_a_number_of_its_own() -> None:
    join = r.Join(T, U, "inner", exists(matching(5, 3)), anchor=5)
    plan = readable(encoded(r.Filter(join, exists(filters(200, matching(6, 3))), anchor=6)))
    host = next(found for tree in plan.relations for found in messages(tree) if isinstance(found, pb.JoinRel))
    assert [reference.rel_reference for reference in outer_references(plan)] == [1, 2]
    assert host.common.rel_anchor == 2
    assert anchors(plan).count(1) == 1


def test_steps_out_cannot_leave_a_tree_of_its_own() -> None:
    host = r.Filter(T, exists(filters(200, matching(4))), anchor=4)
    with pytest.raises(UnsupportedError, match="steps_out"):
        encoded(host, outer_references="steps_out")


def test_two_hosts_of_one_anchor_around_a_subquery_stored_apart_are_refused() -> None:
    deep = exists(filters(200, matching(4)))
    one, other = r.Filter(T, deep, anchor=4), r.Filter(r.Fetch(T), deep, anchor=4)
    with pytest.raises(UnsupportedError, match="twice"):
        encoded(r.Cross(one, other))


def test_a_detached_expression_refers_to_the_row_of_its_own_host() -> None:
    total: ex.Expression = outer(4, 0, I64)
    for _ in range(40):
        total = add(total, i64(1))
    host = r.Filter(T, exists(r.Filter(U, equal(col(U, 0), total))), anchor=4)
    plan = readable(encoded(r.Cross(host, host)))
    assert sorted(anchors(plan)) == [1, 2]
    assert sorted(reference.rel_reference for reference in outer_references(plan)) == [1, 2]
    stepped = readable(encoded(host, outer_references="steps_out"))
    assert [reference.steps_out for reference in outer_references(stepped)] == [1]
