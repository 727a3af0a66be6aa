"""Deep and shared trees: every plan that is written can be read by parsers that stop at 100 nested messages."""

from __future__ import annotations

import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st
from substrait import algebra_pb2 as pb
from substrait.plan_pb2 import Plan, PlanRel
from substrait.utils.detached import resolve_detached

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.nesting_depth import LEVELS
from substrait_dsl.proto.plan import encode_plan, to_bytes, to_json
from substrait_dsl.proto.plan_layout import MAX_LEVELS
from substrait_dsl.proto.shallow_plans import MAX_NESTING, SHALLOW_HEIGHT, SHALLOW_TYPES
from tests.proto.plans import T, add, call, col, count_rows, encoded, equal, gt, i64, nesting, plan_of
from tests.support import count_calls

TRUE = literal(True, t.Boolean())


def readable(plan: Plan) -> Plan:
    """The plan, read from bytes and from JSON; every reference is backward, every subtree and ordinal in use."""
    assert nesting(plan) <= MAX_NESTING
    parsed = Plan.FromString(to_bytes(plan))
    assert json_format.Parse(to_json(plan), Plan()) == parsed
    for position, tree in enumerate(parsed.relations):
        assert all(ordinal < position for ordinal in references(tree))
        assert sorted(ordinals(tree)) == list(range(len(tree.detached_expressions)))
    used = {ordinal for tree in parsed.relations for ordinal in references(tree)}
    assert used == {position for position, tree in enumerate(parsed.relations) if tree.WhichOneof("rel_type") == "rel"}
    return parsed


def messages(root: PlanRel) -> list[object]:
    found: list[object] = []
    stack: list[object] = [root]
    while stack:
        current = stack.pop()
        found.append(current)
        for field, value in current.ListFields():  # type: ignore[attr-defined]  # a message
            if field.message_type is not None:
                stack.extend(value if field.is_repeated else [value])
    return found


def references(tree: PlanRel) -> list[int]:
    return [found.subtree_ordinal for found in messages(tree) if isinstance(found, pb.ReferenceRel)]


def ordinals(tree: PlanRel) -> list[int]:
    return [
        found.detached_expression_ordinal
        for found in messages(tree)
        if isinstance(found, pb.Expression) and found.WhichOneof("rex_type") == "detached_expression_ordinal"
    ]


def inlined(plan: Plan) -> Plan:
    """The plan without detached expressions, as another library reads it."""
    whole: Plan = resolve_detached(plan)  # type: ignore[no-untyped-call]  # that library has no types here
    return whole


def filters(count: int, rel: r.Rel = T) -> r.Rel:
    for _ in range(count):
        rel = r.Filter(rel, TRUE)
    return rel


def count_filters(plan: Plan) -> int:
    return sum(isinstance(found, pb.FilterRel) for tree in plan.relations for found in messages(tree))


# --- relations


@pytest.mark.parametrize("steps", [1, 45, 46, 47, 100, 1000])
def test_a_chain_of_any_length_is_readable_and_complete(steps: int) -> None:
    plan = readable(encoded(filters(steps)))
    assert count_filters(plan) == steps


def test_what_fits_is_not_cut() -> None:
    # Plan, PlanRel, RelRoot, then 45 times Rel and FilterRel, then Rel, ReadRel, NamedStruct, Struct, Type, Type.I64:
    # level 2 + 90 + 6 = 98
    plan = encoded(filters(45))
    assert nesting(plan) == 98
    assert len(plan.relations) == 1
    assert len(encoded(filters(46)).relations) == 2


def test_an_emit_is_never_lost_where_a_chain_is_cut() -> None:
    rel: r.Rel = T
    for _ in range(200):
        rel = r.Emit(r.Filter(rel, TRUE), (2, 1, 0))
    plan = readable(encoded(rel))
    emits = [found for tree in plan.relations for found in messages(tree) if isinstance(found, pb.RelCommon.Emit)]
    assert len(emits) == 200


def test_work_grows_with_the_number_of_steps() -> None:
    def calls(steps: int) -> int:
        plan = plan_of(filters(steps))
        return count_calls(lambda: encode_plan(plan))

    assert calls(4000) < 11 * calls(400)


def test_a_shared_relation_is_written_where_it_is_used_while_that_is_small() -> None:
    rel: r.Rel = T
    for _ in range(5):
        rel = r.Emit(r.Join(rel, rel, "inner", TRUE), (0, 1, 2))
    plan = readable(encoded(rel))
    assert len(plan.relations) == 1
    assert sum(isinstance(found, pb.ReadRel) for found in messages(plan.relations[0])) == 32


@pytest.mark.parametrize(("left", "right"), [(False, False), (True, False), (True, True)])
def test_a_relation_joined_to_itself_over_and_over_is_written_once(left: bool, right: bool) -> None:
    """Also where one side or both stand under an emit, which a ``ReferenceRel`` has no place for."""
    rel: r.Rel = T
    for _ in range(40):
        sides = [r.Emit(rel, (2 - turned, 1, turned)) if on else rel for turned, on in ((0, left), (2, right))]
        rel = r.Join(sides[0], sides[1], "left_semi", TRUE)
    plan = readable(encoded(rel))
    assert len(plan.relations) < 100
    assert len(to_bytes(plan)) < 12_000


# --- expressions


@pytest.mark.parametrize("terms", [10, 31, 32, 33, 2000])
def test_a_sum_of_any_length_is_readable_and_complete(terms: int) -> None:
    total: ex.Expression = col(T, 0)
    for number in range(terms):
        total = add(total, i64(number))
    plan = readable(encoded(r.Filter(T, gt(total, i64(0)))))
    whole = inlined(plan) if terms < 100 else plan
    found = [found.i64 for found in messages(whole.relations[0]) if isinstance(found, pb.Expression.Literal)]
    assert sorted(found) == sorted([0, *range(terms)])


def test_detached_expressions_are_the_same_expression() -> None:
    total: ex.Expression = col(T, 0)
    for number in range(40):
        total = add(total, i64(number))
    plan = encoded(r.Project(T, (total,), ("x",)))
    assert plan.relations[0].detached_expressions
    level = inlined(plan).relations[0].root.input.project.expressions[0]
    for number in reversed(range(40)):  # the last term is outermost
        assert level.scalar_function.arguments[1].value.literal.i64 == number
        level = level.scalar_function.arguments[0].value
    assert level.WhichOneof("rex_type") == "selection"


def test_deep_ifs_and_subqueries_are_readable() -> None:
    value: ex.Expression = i64(0)
    for number in range(100):
        value = ex.IfThen((ex.IfClause(equal(col(T, 0), i64(number)), i64(number)),), value)
    readable(encoded(r.Project(T, (value,), ("x",))))
    rel: r.Rel = T
    for _ in range(100):
        rel = r.Filter(T, ex.SetPredicate("exists", rel))
    assert count_filters(readable(encoded(rel))) == 100


def test_deep_measures_and_sort_keys_are_readable() -> None:
    total: ex.Expression = col(T, 0)
    for _ in range(100):
        total = add(total, i64(1))
    for depth in range(25, 35):  # whatever is left of the limit at the place of the cut
        term: ex.Expression = col(T, 0)
        for _ in range(depth):
            term = add(term, i64(1))
        function = ex.AggregateFunction(
            ex.FunctionId("extension:a:b", "f:i64"), (term,), t.I64(), sorts=(ex.SortKey(term, "clustered"),)
        )
        readable(encoded(r.Aggregate(T, (term,), ((0,),), (ex.Measure(function, gt(term, total)),), ("k", "m"))))
        readable(encoded(r.Sort(T, (ex.SortKey(term, "clustered"),))))


def test_a_flat_and_of_any_width_is_not_cut() -> None:
    condition = call("and:bool", *[TRUE] * 3000, urn="extension:io.substrait:functions_boolean")
    plan = readable(encoded(r.Filter(T, condition)))
    assert not plan.relations[0].detached_expressions


def test_an_expression_added_to_itself_thirty_times_is_refused_with_its_size() -> None:
    total: ex.Expression = col(T, 0)
    for _ in range(30):
        total = add(total, total)
    # 2**31 - 1 nodes in the sum; and the project, its input's schema
    with pytest.raises(UnsupportedError, match=str(2**31 - 1 + 2)):
        encoded(r.Project(T, (total,), ("x",)))


def test_an_expression_added_to_itself_ten_times_is_written_out() -> None:
    total: ex.Expression = col(T, 0)
    for _ in range(10):
        total = add(total, total)
    plan = readable(encoded(r.Project(T, (total,), ("x",))))
    calls = sum(isinstance(found, pb.Expression.ScalarFunction) for found in messages(plan.relations[0]))
    assert calls == 2**10 - 1


def test_a_type_that_no_parser_reads_is_refused() -> None:
    type_: t.Type = t.I64(nullable=True)
    for _ in range(48):
        type_ = t.List(type_, nullable=True)
    with pytest.raises(UnsupportedError, match="nests too deeply"):
        encoded(r.Project(T, (literal(None, type_),), ("x",)))


def test_a_shallow_plan_cannot_be_too_deep() -> None:
    assert max(LEVELS.values()) == 3
    assert 3 * SHALLOW_HEIGHT + 3 * SHALLOW_TYPES + 8 <= MAX_LEVELS


@pytest.mark.parametrize("height", [SHALLOW_HEIGHT - 2, SHALLOW_HEIGHT, SHALLOW_HEIGHT + 1])
@pytest.mark.parametrize("depth", [SHALLOW_TYPES - 1, SHALLOW_TYPES, SHALLOW_TYPES + 1, 20])
def test_deep_literals_in_low_plans_are_readable(height: int, depth: int) -> None:
    type_: t.Type = t.I64(nullable=True)
    value: object = None
    for _ in range(depth):
        type_ = t.Map(t.String(), type_)  # three messages for each map in a map
        value = {"k": value}
    expression: ex.Expression = literal(value, type_)
    while expression.height < height - 1:
        expression = call("f:any", expression, type_=type_)
    rel = r.Project(T, (expression,), ("x",))
    assert rel.height == height
    plan = readable(encoded(rel))
    assert sum(isinstance(found, pb.Expression.Literal.Map) for found in messages(plan.relations[0])) == depth


DEEPEST = {"list": 46, "struct": 46, "map": 30}
"""How deep a literal of an i64 may be in a projection of a table: at 99 messages, 7 around it, and 2 or 3 for each."""


@pytest.mark.parametrize("depth", [20, 32, 40, 46])
@pytest.mark.parametrize("kind", DEEPEST)
def test_a_literal_that_is_read_is_written(kind: str, depth: int) -> None:
    message = sd.Plan(sd.read_named("t", {"a": "i64"}).project(x=sd.lit(1))).to_proto()
    root = message.relations[0].root
    written = root.input.project.expressions[0].literal
    for _ in range(min(depth, DEEPEST[kind])):
        match kind:
            case "list":
                written = written.list.values.add()
            case "struct":
                root.names.append(f"n{len(root.names)}")
                written = written.struct.fields.add()
            case _:
                pair = written.map.key_values.add()
                pair.key.i64 = 1
                written = pair.value
    written.i64 = 5
    read = sd.Plan.from_bytes(message.SerializeToString())
    assert sd.Plan.from_bytes(read.to_bytes()) == read
    assert sd.Plan.from_json(read.to_json()) == read


def test_deep_accesses_are_one_reference_as_far_as_types_go() -> None:
    type_: t.Type = t.I64()
    for _ in range(40):
        type_ = t.Struct((type_,))
    rel = r.Read(r.Read(T.schema, r.NamedTable(("t",))).schema.of({"p": type_}), r.NamedTable(("t",)))
    value: ex.Expression = col(rel, 0)
    for _ in range(40):
        value = ex.FieldAccess(value, ex.StructField(0))
    readable(encoded(r.Project(rel, (value,), ("x",))))


# --- anything

LEAVES = st.sampled_from([col(T, 0), i64(1)])


def _calls(inner: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
    return st.one_of(
        st.builds(add, inner, inner),
        st.builds(lambda value: ex.Cast(value, t.I64(), "throw"), inner),
        st.builds(lambda value: ex.IfThen((ex.IfClause(equal(value, value), value),), i64(0)), inner),
        st.builds(
            lambda value: ex.ScalarSubquery(r.Aggregate(r.Filter(T, gt(value, value)), (), (), (N,), ("n",))), inner
        ),
    )


N = ex.Measure(count_rows())


@settings(max_examples=40)
@given(st.recursive(LEAVES, _calls, max_leaves=6), st.integers(1, 60), st.integers(1, 60))
def test_any_tree_stays_within_the_limit(seed: ex.Expression, terms: int, steps: int) -> None:
    for _ in range(terms):
        seed = add(seed, i64(1))
    rel: r.Rel = T
    for number in range(steps):
        rel = (
            r.Filter(rel, gt(seed, i64(number)))
            if number % 20 == 0
            else r.Sort(rel, (ex.SortKey(col(rel, 0), "clustered"),))
        )
    readable(encode_plan(AlgebraPlan(plan_of(rel).roots)))
