"""Relations read from messages: the same objects that were written, and what does not hold is refused by its path."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan

from examples.tpch.queries import QUERIES
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.rules import JOIN_RULES, JOIN_TYPES, SET_OPS, JoinType, SetOp
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan import decode_plan, to_bytes
from substrait_dsl.proto.reads import FILE_FORMATS, READ_TYPES
from substrait_dsl.proto.relations import RELATIONS
from substrait_dsl.proto.seldom_relations import SELDOM_RELATIONS
from tests.proto.plans import T, add, col, count_rows, encoded, equal, gt, i64, plan_of, table, total
from tests.proto.reading import Change, changed, comes_back, found, refused_at, rel_comes_back, root
from tests.proto.small_expressions import exists, matching, oneof
from tests.proto.test_depth import filters

TRUE = literal(True, t.Boolean())
I64 = t.I64()
U = table("u", k=I64)
TEXTS = NamedStruct.of({"x": t.String()})
POINT = t.Struct.of({"x": t.I8(), "y": t.I8()})

a, b, s = (col(T, position) for position in range(3))


# --- every kind of relation comes back as it was

READS: dict[str, r.Rel] = {
    "named table": T,
    "qualified": r.Read(T.schema, r.NamedTable(("catalog", "db", "t"))),
    "filters": r.Read(T.schema, r.NamedTable(("t",)), filter=gt(a, i64(1)), best_effort_filter=gt(b, i64(2))),
    "mask": r.Read(
        NamedStruct.of({"a": I64, "p": POINT}),
        r.NamedTable(("t",)),
        projection=ex.StructMask((ex.MaskItem(1, ex.StructMask((ex.MaskItem(1),))), ex.MaskItem(0))),
    ),
    "mask of nothing": r.Read(T.schema, r.NamedTable(("t",)), projection=ex.StructMask(())),
    "virtual table": r.Read(
        NamedStruct.of({"x": I64, "y": t.String(nullable=True)}),
        r.VirtualTable((r.Record((add(i64(1), i64(2)), literal(None, t.String(nullable=True)))),) * 2),
    ),
    "virtual table of no rows": r.Read(TEXTS, r.VirtualTable(())),
    "virtual table of no columns": r.Read(NamedStruct(()), r.VirtualTable((r.Record(()),))),
    "files": r.Read(
        TEXTS,
        r.LocalFiles(
            (
                r.FileItem("file:///d/x", r.Parquet(), partition_index=1, start=2, length=3),
                r.FileItem("file:///d/*", r.Arrow(), "glob"),
                r.FileItem("file:///d/x.orc", r.Orc(), "file"),
                r.FileItem("file:///d", r.Dwrf(), "folder"),
                r.FileItem("x", r.DelimitedText("|", "'", "^", 1, 99, "")),
                r.FileItem("x", r.DelimitedText()),
            )
        ),
    ),
}

OTHERS: dict[str, r.Rel] = {
    "filter": r.Filter(T, gt(b, i64(0))),
    "project": r.Project(T, (b, add(a, a)), ("x", "y")),
    "fetch": r.Fetch(T, count=i64(5), offset=i64(0)),
    "fetch all": r.Fetch(T),
    "fetch NULL": r.Fetch(T, count=i64(None)),
    "fetch computed": r.Fetch(T, count=add(i64(1), i64(2))),
    "cross": r.Cross(T, U),
    "emit": r.Emit(T, (2, 0, 2)),
    "emit in another order": r.Emit(T, (2, 0, 1)),
    "emit of nothing": r.Emit(T, ()),
    "emit that changes nothing": r.Emit(T, (0, 1, 2)),
    "emit between": r.Emit(r.Filter(r.Emit(T, (2, 0)), TRUE), (1,)),
    "aggregate": r.Aggregate(T, (), (), (ex.Measure(count_rows()),), ("n",)),
    "aggregate by one empty set": r.Aggregate(T, (), ((),), (ex.Measure(count_rows()),), ("n",)),
    "aggregate by keys": r.Aggregate(T, (b, s), ((0, 1),), (ex.Measure(total(a), gt(a, i64(0))),), ("b", "s", "n")),
    "aggregate without measures": r.Aggregate(T, (b,), ((0,),), (), ("b",)),
    "grouping sets": r.Aggregate(
        T, (b, s), ((0, 1), (1,), (), (1,)), (ex.Measure(count_rows()),), ("b", "s", "n", "set")
    ),
    "sets of no keys": r.Aggregate(T, (), ((), ()), (), ("set",)),
}

KINDS = READS | OTHERS


@pytest.mark.parametrize("rel", KINDS.values(), ids=KINDS)
def test_every_kind_of_relation_comes_back(rel: r.Rel) -> None:
    rel_comes_back(rel)
    rel_comes_back(r.Filter(rel, TRUE))
    rel_comes_back(r.Cross(rel, r.Filter(rel, TRUE)))


@pytest.mark.parametrize("direction", get_args(SortDirection))
def test_sorts_come_back(direction: SortDirection) -> None:
    rel_comes_back(r.Sort(T, (ex.SortKey(b, direction), ex.SortKey(add(a, a), "asc_nulls_last"))))


@pytest.mark.parametrize("op", SET_OPS)
def test_set_operations_come_back(op: SetOp) -> None:
    rel_comes_back(r.Set((T, r.Filter(T, TRUE), r.Fetch(T)), op))


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_joins_come_back(how: JoinType) -> None:
    condition = equal(a, ex.FieldReference(3, I64))  # sees both sides, whatever the join puts out
    join = r.Join(T, U, how, condition)
    rel_comes_back(join)
    rel_comes_back(r.Join(T, U, how, condition, post_filter=equal(col(join, 0), col(join, 0))))


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_the_queries_of_tpch_come_back(name: str) -> None:
    rel_comes_back(QUERIES[name]()._rel)


def test_several_roots_come_back() -> None:
    shared = r.Filter(T, gt(a, i64(1)))
    comes_back(plan_of(shared, r.Fetch(shared), shared))


@pytest.mark.parametrize("steps", [10, 100, 1000, 5000])
def test_chains_of_any_length_come_back(steps: int) -> None:
    rel_comes_back(filters(steps))
    rel_comes_back(r.Filter(T, exists(filters(steps, matching(4))), anchor=4))


def test_a_relation_used_over_and_over_is_read_once() -> None:
    rel: r.Rel = T
    for _ in range(40):
        rel = r.Join(rel, rel, "left_semi", TRUE)  # written out, more than 2**40 relations
    plan = Plan.FromString(to_bytes(encoded(rel)))
    assert len(plan.relations) > 1
    got, findings = root(plan)
    assert (got, findings) == (rel, [])
    assert isinstance(got, r.Join)
    assert got.right is got.left


def test_a_deep_subquery_of_a_relation_used_twice_comes_back() -> None:
    host = r.Filter(T, exists(filters(200, matching(4))), anchor=4)
    rel_comes_back(r.Cross(host, host))


# --- names


def names(rel: r.Rel) -> tuple[str, ...]:
    """What the columns are called when the relation is read, before the names of the root."""
    return root(changed(rel, lambda m: None))[0].schema.names


def test_computed_columns_are_called_by_what_computes_them() -> None:
    computed = (add(a, a), add(a, b), ex.Cast(add(a, a), t.I32()), i64(1), b)
    assert names(r.Project(T, computed, ("v", "w", "x", "y", "z"))) == (
        *("a", "b", "s"),
        *("add", "add_2", "add_3", "literal", "b"),
    )


def test_a_part_of_a_column_is_called_by_its_own_name() -> None:
    rel = r.Read(NamedStruct.of({"p": POINT}), r.NamedTable(("t",)))
    part = ex.FieldAccess(col(rel, 0), ex.StructField(1))
    assert names(r.Project(rel, (part,), ("x",))) == ("p", "y")


def test_groups_are_called_by_their_keys_and_functions() -> None:
    measures = tuple(ex.Measure(total(a)) for _ in range(2))
    rel = r.Aggregate(T, (b, ex.Cast(b, t.I32())), ((0, 1), ()), measures, ("k", "l", "m", "n", "o"))
    assert names(rel) == ("b", "b_2", "sum", "sum_2", "grouping_set")


# --- what is missing or wrong

FILTER = r.Filter(T, gt(b, i64(0)))
PROJECT = r.Project(T, (b,), ("x",))
SORT = r.Sort(T, (ex.SortKey(a, "clustered"),))
GROUPS = r.Aggregate(T, (b, s), ((0,), (1,)), (ex.Measure(total(a)),), ("b", "s", "n", "set"))
JOIN = r.Join(T, U, "left", equal(a, ex.FieldReference(3, I64)))
UNION = r.Set((T, T), "union_all")
FILES = READS["files"]
VALUES = READS["virtual table"]
MASK = READS["mask"]

BAD: dict[str, tuple[r.Rel, Change, str, str]] = {
    "missing": (FILTER, lambda m: m.filter.ClearField("input"), "filter.input", "a relation is missing"),
    "of no kind": (FILTER, lambda m: m.filter.input.Clear(), "filter.input", "a relation is missing"),
    "no condition": (
        FILTER,
        lambda m: m.filter.ClearField("condition"),
        "filter.condition",
        "an expression is missing",
    ),
    "a dangling reference": (
        FILTER,
        lambda m: setattr(m.filter.input.reference, "subtree_ordinal", 3),
        "filter.input",
        "no relation 3",
    ),
    "a reference to itself": (
        FILTER,
        lambda m: setattr(m.filter.input.reference, "subtree_ordinal", 0),
        "filter.input",
        "",
    ),
    "emit out of range": (
        FILTER,
        lambda m: m.filter.common.emit.output_mapping.append(3),
        "",
        "there is no column 3: the input has 3 columns",
    ),
    "emit before the first": (FILTER, lambda m: m.filter.common.emit.output_mapping.append(-1), "", "no column -1"),
    "a read of nothing": (T, lambda m: m.read.ClearField("named_table"), "", "does not set its read_type"),
    "a table of no name": (T, lambda m: m.read.named_table.ClearField("names"), "", "name of a table"),
    "a filter that is no boolean": (
        T,
        lambda m: setattr(m.read.filter.literal, "i64", 1),
        "",
        "the filter of a read must be a boolean",
    ),
    "a row too short": (VALUES, lambda m: m.read.virtual_table.expressions[1].fields.pop(), "", "row 1 has 1 values"),
    "a row with a column": (
        VALUES,
        lambda m: setattr(
            m.read.virtual_table.expressions[0].fields[0].selection.direct_reference.struct_field, "field", 0
        ),
        "read.virtual_table.expressions[0].fields[0]",
        "there is no column 0: the row has 0 columns",
    ),
    "no files": (FILES, lambda m: m.read.local_files.ClearField("items"), "", "at least one path"),
    "a file of no path": (
        FILES,
        lambda m: m.read.local_files.items[1].ClearField("uri_path_glob"),
        "read.local_files.items[1]",
        "a path",
    ),
    "a file of no format": (
        FILES,
        lambda m: m.read.local_files.items[1].ClearField("arrow"),
        "read.local_files.items[1]",
        "a format",
    ),
    "a mask out of range": (
        MASK,
        lambda m: setattr(m.read.projection.select.struct_items[1], "field", 2),
        "",
        "there is no field 2",
    ),
    "no sort keys": (SORT, lambda m: m.sort.ClearField("sorts"), "", "at least one key"),
    "a sort of no direction": (
        SORT,
        lambda m: m.sort.sorts[0].ClearField("direction"),
        "",
        "SORT_DIRECTION_UNSPECIFIED",
    ),
    "a sort of an unspecified direction": (
        SORT,
        lambda m: setattr(m.sort.sorts[0], "direction", 0),
        "",
        'SortField.direction is SORT_DIRECTION_UNSPECIFIED; expected one of "asc_nulls_first"',
    ),
    "a sort of an unknown direction": (
        SORT,
        lambda m: setattr(m.sort.sorts[0], "direction", 77),
        "",
        "direction is 77",
    ),
    "a count for each row": (
        r.Fetch(T, count=i64(1)),
        lambda m: setattr(m.fetch.count_expr.selection.direct_reference.struct_field, "field", 0),
        "",
        "must not depend on a row",
    ),
    "a negative count": (
        r.Fetch(T, count=i64(1)),
        lambda m: setattr(m.fetch.count_expr.literal, "i64", -1),
        "",
        "must not be negative",
    ),
    "a key in no set": (GROUPS, lambda m: m.aggregate.groupings.pop(), "", "stands in none"),
    "a set of no key": (
        GROUPS,
        lambda m: m.aggregate.groupings[0].expression_references.append(2),
        "",
        "names key 2, but there are 2 keys",
    ),
    "a measure of no function": (
        GROUPS,
        lambda m: m.aggregate.measures[0].ClearField("measure"),
        "aggregate.measures[0].measure",
        "function 0",
    ),
    "a set operation of one input": (UNION, lambda m: m.set.inputs.pop(), "", "at least two inputs"),
    "a set operation of no kind": (UNION, lambda m: setattr(m.set, "op", 0), "", "SetRel.op is SET_OP_UNSPECIFIED"),
    "inputs that differ": (
        UNION,
        lambda m: m.set.inputs[1].read.common.emit.output_mapping.extend((0, 2, 1)),
        "",
        "same types",
    ),
    "a join of no kind": (JOIN, lambda m: setattr(m.join, "type", 0), "", "JoinRel.type is JOIN_TYPE_UNSPECIFIED"),
    "a join of an unknown kind": (JOIN, lambda m: setattr(m.join, "type", 99), "", "JoinRel.type is 99"),
    "a post-join filter over what is not put out": (
        r.Join(T, U, "left_semi", TRUE),
        lambda m: setattr(m.join.post_join_filter.selection.direct_reference.struct_field, "field", 3),
        "join.post_join_filter",
        "there is no column 3: the row has 3 columns",
    ),
}


@pytest.mark.parametrize(("rel", "change", "path", "said"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_where_it_stands(rel: r.Rel, change: Change, path: str, said: str) -> None:
    with refused_at(path, PlanFormatError, said):
        decode_plan(changed(rel, change))


# --- what is not quite as it should be


def test_common_may_be_missing() -> None:
    assert root(changed(FILTER, lambda m: m.filter.ClearField("common"))) == (FILTER, [])
    assert root(changed(FILTER, lambda m: m.filter.common.ClearField("direct"))) == (FILTER, [])


def test_a_join_without_a_condition_joins_all_rows() -> None:
    joined = found(JOIN, lambda m: m.join.ClearField("expression"), "no expression", path="join")
    assert joined == r.Join(T, U, "left", TRUE)


def test_a_project_of_nothing_is_its_input() -> None:
    """Spec decision 55."""

    def nothing(rel: Any) -> None:
        rel.project.ClearField("expressions")

    def picked(rel: Any) -> None:
        nothing(rel)
        rel.project.common.emit.output_mapping.extend((2, 1))

    def picked_again(rel: Any) -> None:
        picked(rel)
        rel.project.input.read.common.emit.output_mapping.extend((1, 2, 0))

    plan = changed(FILTER, lambda m: None)
    plan.relations[0].root.input.project.input.CopyFrom(encoded(T).relations[0].root.input)
    assert root(plan)[0] == T
    read = r.Project(T, (b,), ("x",))
    for change, expected in ((nothing, T), (picked, r.Emit(T, (2, 1))), (picked_again, r.Emit(T, (0, 2)))):
        plan = changed(read, change)
        plan.relations[0].root.names[:] = expected.schema.names
        got, ((message, path),) = root(plan)
        assert got == expected
        assert (path, "no expressions" in message) == ("project", True)
    plan = changed(read, picked_again)
    plan.relations[0].root.input.project.common.emit.output_mapping[0] = 3
    with refused_at("", PlanFormatError, "no column 3"):
        decode_plan(plan)


def test_a_post_join_filter_with_a_correlated_subquery_is_a_filter() -> None:
    """It sees what the join puts out, so that it is the same as a filter above the join."""
    join = r.Join(T, U, "right_semi", equal(a, ex.FieldReference(3, I64)))
    above = r.Filter(join, exists(matching(1)), anchor=1)
    plan = changed(above, lambda m: None)
    relation = plan.relations[0].root.input
    condition = pb.Expression.FromString(relation.filter.condition.SerializeToString())
    sent = pb.Rel.FromString(relation.filter.input.SerializeToString())
    sent.join.post_join_filter.CopyFrom(condition)
    relation.CopyFrom(sent)  # the join still carries the number of the row: the one that it puts out, for this filter
    assert root(plan) == root(changed(above, lambda m: None))


def test_an_input_that_stands_apart_may_carry_the_number() -> None:
    """Spec decision 27: here the input of the host is a reference, to a relation with a number."""
    host = r.Filter(U, exists(matching(1)), anchor=1)
    plan = changed(host, lambda m: None)
    relation = plan.relations[0].root.input
    apart = plan.relations.add().rel
    apart.CopyFrom(relation.filter.input)
    assert apart.read.common.HasField("rel_anchor")
    relation.filter.input.reference.subtree_ordinal = 1
    assert root(plan) == root(changed(host, lambda m: None))


# --- joins of old plans (spec decisions 3 and 4)

OLD_OUTPUT: dict[JoinType, str] = {
    "right_semi": "refused refused refused 0",
    "right_anti": "refused refused refused 0",
    "right_mark": "refused refused refused 0 1",
    "left_mark": "0 1 2 refused 3",
}
"""Which column of today's output each column of an old join of `T` and `U` is: left, right, then the mark."""


@pytest.mark.parametrize("how", OLD_OUTPUT)
def test_old_joins_put_out_both_sides(how: JoinType) -> None:
    for old, new in enumerate(OLD_OUTPUT[how].split()):
        plan = encoded(r.Emit(r.Join(T, U, how, TRUE), (0,)))
        plan.version.minor_number = 71
        plan.relations[0].root.input.join.common.emit.output_mapping[0] = old
        if new == "refused":
            with refused_at("", UnsupportedError, how, "0.72"):
                decode_plan(plan)
        else:
            assert root(plan)[0] == r.Emit(r.Join(T, U, how, TRUE), (int(new),))
            plan.version.minor_number = 72
            with refused_at("", PlanFormatError, "no column 5"):
                plan.relations[0].root.input.join.common.emit.output_mapping[0] = 5
                decode_plan(plan)


def test_old_joins_that_put_out_everything_are_refused() -> None:
    plan = encoded(r.Join(T, U, "right_anti", TRUE))
    plan.version.minor_number = 71
    with refused_at("", UnsupportedError, "right_anti"):
        decode_plan(plan)
    plan = encoded(r.Emit(r.Join(T, U, "right_anti", TRUE, post_filter=TRUE), (0,)))
    plan.version.minor_number = 71
    with refused_at("", UnsupportedError, "post_join_filter"):
        decode_plan(plan)


@pytest.mark.parametrize("how", [how for how in JOIN_TYPES if how not in OLD_OUTPUT])
def test_other_joins_were_always_so(how: JoinType) -> None:
    assert JOIN_RULES[how].left != "dropped"
    join = r.Join(T, U, how, TRUE)
    plan = encoded(join)
    plan.version.minor_number = 71
    assert root(plan)[0] == join


# --- whether nothing is forgotten


def test_every_kind_of_relation_is_read() -> None:
    assert oneof(pb.Rel, "rel_type") == {*RELATIONS, *SELDOM_RELATIONS, "reference"}


def test_every_kind_of_read_is_read() -> None:
    assert oneof(pb.ReadRel, "read_type") == set(READ_TYPES)
    assert oneof(pb.ReadRel.LocalFiles.FileOrFiles, "file_format") == set(FILE_FORMATS)
