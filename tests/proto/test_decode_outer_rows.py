"""References to the rows of relations around a subquery, read from messages."""

from __future__ import annotations

import pytest
from substrait import algebra_pb2 as pb

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.errors import PlanFormatError
from substrait_dsl.proto.plan import decode_plan
from tests.proto.plans import T, col, equal, outer, total
from tests.proto.reading import changed, refused_at, rel_comes_back, root
from tests.proto.small_expressions import I64, POINT, N, U, a, exists, matching

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
    """Spec decision 27: the specification's examples number the host, other libraries its input."""
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
