"""The "Property Maintenance" row of every relation: what becomes of a known order and a known distribution."""

from __future__ import annotations

import typing

import attrs
import pytest

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.properties import SINGLETON, Distribution, FieldPath, OrderKey, Properties, partitioned
from tests.nodes import (
    COMPARE,
    DETAIL,
    TRUE,
    asc,
    both,
    call,
    col,
    equal,
    gt,
    i64,
    leaf,
    measure,
    part,
    plus,
    schema,
    window_sum,
)
from tests.support import ascending

DOWN = OrderKey((2,), "desc_nulls_last")
INPUT = leaf("a: i64, b: i64, c: i64", ascending(0), DOWN, distribution=partitioned((0,)))
A, B, C = (col(INPUT, name) for name in "abc")
INDEX = leaf("n: i32, list: list<i32>, nested: struct<i32>", ascending(0), distribution=partitioned((0,)))
UNKNOWN = leaf("a: i64, b: i64, c: i64")

KEPT_ORDER = (ascending(0), DOWN)
KEPT = partitioned((0,))
BY_B = (ex.SortKey(B, "asc_nulls_last"), ex.SortKey(A, COMPARE))
ORDER_BY_B = (OrderKey((1,), "asc_nulls_last"), OrderKey((0,), COMPARE))

ROWS: dict[str, tuple[r.Rel, tuple[OrderKey, ...], Distribution | None]] = {
    # Read: "N/A (no inputs)"; its "Output Properties" are declared, and follow what the projection keeps
    "read": (INPUT, KEPT_ORDER, KEPT),
    "read of nothing declared": (UNKNOWN, (), None),
    "read of c and a": (
        attrs.evolve(INPUT, projection=ex.StructMask((ex.MaskItem(2), ex.MaskItem(0)))),
        (ascending(1), OrderKey((0,), "desc_nulls_last")),
        partitioned((1,)),
    ),
    "read of c": (attrs.evolve(INPUT, projection=ex.StructMask((ex.MaskItem(2),))), (), None),
    # Filter: "Orderedness, Distribution, remapped by emit"
    "filter": (r.Filter(INPUT, gt(A, i64(1))), KEPT_ORDER, KEPT),
    # Sort: "Will update orderedness property to the output of the sort operation. Distribution property only remapped"
    "sort": (r.Sort(INPUT, BY_B), ORDER_BY_B, KEPT),
    # spec decision 51: only as far as the keys are fields
    "sort by an expression": (r.Sort(INPUT, (asc(B), asc(plus(A, B)), asc(C))), (ascending(1),), KEPT),
    "sort by an expression first": (r.Sort(INPUT, (asc(plus(A, B)), asc(C))), (), KEPT),
    # Project: "Distribution maintained. Orderedness: Maintained if no window operations."
    "project": (r.Project(INPUT, (plus(A, B),), ("n",)), KEPT_ORDER, KEPT),
    "project with a window function": (
        r.Project(INPUT, (A, plus(ex.WindowFunction(window_sum(A), (B,)), A)), ("again", "n")),
        (),
        KEPT,
    ),
    # Cross, Join and the physical joins are below.
    # Set: "Maintains distribution if all inputs have the same ordinal distribution. Orderedness is not maintained."
    "set": (r.Set((INPUT, INPUT, INPUT), "union_all"), (), KEPT),
    "set of other distributions": (
        r.Set((INPUT, leaf("b: i64, a: i64, c: i64", distribution=partitioned((1,)))), "union_all"),
        (),
        None,
    ),
    "set with an unknown distribution": (r.Set((INPUT, UNKNOWN), "minus_primary"), (), None),
    # Fetch: "Maintains distribution and orderedness."
    "fetch": (r.Fetch(INPUT, i64(5), i64(1)), KEPT_ORDER, KEPT),
    # Aggregate: "Maintains distribution if all distribution fields are contained in every grouping set. No orderedness"
    "aggregate": (r.Aggregate(INPUT, (B, A), ((0, 1),), (), ("b", "a")), (), partitioned((1,))),
    "aggregate, one set without a": (
        r.Aggregate(INPUT, (B, A), ((0, 1), (0,)), (), ("b", "a", "set")),
        (),
        None,
    ),
    "aggregate, a in every set": (
        r.Aggregate(INPUT, (B, A), ((1, 0), (1,)), (), ("b", "a", "set")),
        (),
        partitioned((1,)),
    ),
    "aggregate by an expression of a": (r.Aggregate(INPUT, (plus(A, B),), ((0,),), (), ("n",)), (), None),
    "aggregate of all rows": (r.Aggregate(INPUT, (), (), (measure(A),), ("n",)), (), None),
    "hash aggregate": (r.Aggregate(INPUT, (C, A), ((0, 1),), (), ("c", "a"), "hash"), (), partitioned((1,))),
    # Streaming aggregate: the distribution likewise; "Maintains input ordering."
    "streaming aggregate": (
        r.Aggregate(INPUT, (C, A), ((0, 1),), (measure(B),), ("c", "a", "n"), "streaming"),
        (ascending(1), OrderKey((0,), "desc_nulls_last")),
        partitioned((1,)),
    ),
    "streaming aggregate of two sets": (  # c is NULL in the rows of the second set
        r.Aggregate(INPUT, (A, C), ((0, 1), (0,)), (), ("a", "c", "set"), "streaming"),
        (ascending(0),),
        KEPT,
    ),
    # Write: "Output depends on OutputMode"; Update: "Output is number of modified records"; DDL: "N/A (no output)"
    "write": (r.Write(INPUT, r.NamedObject(("t",)), INPUT.schema, "insert", "modified_records"), (), None),
    "update": (r.Update(r.NamedTable(("t",)), INPUT.schema, TRUE, (r.Transformation(0, B),)), (), None),
    "ddl": (
        r.Ddl(r.NamedObject(("v",)), "view", "create", INPUT.schema, view_definition=INPUT),
        (),
        None,
    ),
    # Reference: "Maintains all properties of the input"
    "shared": (attrs.evolve(INPUT, shared=True), KEPT_ORDER, KEPT),
    # Exchange: "Orderedness is maintained. Distribution is overwritten based on configuration." (spec decision 8)
    "scatter": (r.Exchange(INPUT, r.Scatter((C, B)), 4), KEPT_ORDER, partitioned((1,), (2,))),
    "scatter to one partition": (r.Exchange(INPUT, r.Scatter((C,)), 1), KEPT_ORDER, SINGLETON),
    "single bucket by a column": (
        r.Exchange(INDEX, r.SingleBucket(col(INDEX, "n"))),
        (ascending(0),),
        partitioned((0,)),
    ),
    "single bucket by a field of a struct": (
        r.Exchange(INDEX, r.SingleBucket(part(INDEX, 2, 0))),
        (ascending(0),),
        partitioned((2, 0)),
    ),
    "single bucket by an expression": (
        r.Exchange(INDEX, r.SingleBucket(plus(col(INDEX, "n"), col(INDEX, "n")))),
        (ascending(0),),
        None,
    ),
    "multi bucket": (r.Exchange(INDEX, r.MultiBucket(col(INDEX, "list"))), (ascending(0),), None),
    "round robin": (r.Exchange(INPUT, r.RoundRobin(), 2), KEPT_ORDER, None),
    "broadcast": (r.Exchange(INPUT, r.Broadcast(), 2), KEPT_ORDER, None),
    # Merging capture: "Orderedness and distribution are maintained."
    "merging capture": (r.MergingCapture(INPUT), KEPT_ORDER, KEPT),
    # Simple capture: "Orderness is empty after this operation. Distribution are maintained."
    "simple capture": (r.SimpleCapture(INPUT), (), KEPT),
    # Unnest, which the specification does not have: the rows of a row stay together
    "unnest": (r.Unnest(INDEX, 1), (ascending(0),), partitioned((0,))),
    # Top-N: as Sort
    "top n": (r.TopN(INPUT, BY_B, i64(3)), ORDER_BY_B, KEPT),
    "top n by an expression": (r.TopN(INPUT, (asc(plus(A, B)),), i64(3)), (), KEPT),
    # Consistent partition window: "Maintains distribution and ordering." Hashing, streaming: "Eliminates ordering."
    # (spec decision 9: each to the letter)
    "window": (r.Window(INPUT, (window_sum(A),), (B,), (), ("n",)), KEPT_ORDER, KEPT),
    "hashing window": (r.Window(INPUT, (window_sum(A),), (B,), (), ("n",), "hashing"), (), KEPT),
    "streaming window": (r.Window(INPUT, (window_sum(A),), (A,), (), ("n",), "streaming"), (), KEPT),
    # Expand: "Distribution is maintained if all the distribution fields are consistent fields with direct references.
    # Ordering can only be maintained down to the level of consistent fields that are kept."
    "expand": (
        r.Expand(INPUT, (r.ConsistentField(C), r.ConsistentField(A)), ("c", "a", "i")),
        (ascending(1), OrderKey((0,), "desc_nulls_last")),
        partitioned((1,)),
    ),
    "expand that switches c": (
        r.Expand(INPUT, (r.ConsistentField(A), r.SwitchingField((C, B))), ("a", "c", "i")),
        (ascending(0),),
        KEPT,
    ),
    "expand that switches a": (
        r.Expand(INPUT, (r.SwitchingField((A, B)), r.ConsistentField(C)), ("a", "c", "i")),
        (),
        None,
    ),
    "expand that computes a": (
        r.Expand(INPUT, (r.ConsistentField(plus(A, B)), r.ConsistentField(C)), ("a", "c", "i")),
        (),
        None,
    ),
    # Extensions: what is declared of them, whatever is known of the input
    "extension leaf": (r.ExtensionLeaf(DETAIL, INPUT.schema, INPUT.properties), KEPT_ORDER, KEPT),
    "extension single": (
        r.ExtensionSingle(DETAIL, INPUT.schema, Properties((), SINGLETON), input=INPUT),
        (),
        SINGLETON,
    ),
    "extension multi": (r.ExtensionMulti(DETAIL, INPUT.schema, relations=(INPUT, INPUT)), (), None),
}


@pytest.mark.parametrize(("rel", "order", "distribution"), ROWS.values(), ids=ROWS)
def test_direct_output(rel: r.Rel, order: tuple[OrderKey, ...], distribution: Distribution | None) -> None:
    assert rel.properties == Properties(order, distribution)


KEEPING = [name for name, (_, order, distribution) in ROWS.items() if (order, distribution) == (KEPT_ORDER, KEPT)]

EMITS: dict[str, tuple[list[int], tuple[OrderKey, ...], Distribution | None]] = {
    "all, in another sequence": ([1, 2, 0], (ascending(2), OrderKey((1,), "desc_nulls_last")), partitioned((2,))),
    "without what nothing is known of": ([0, 2], (ascending(0), OrderKey((1,), "desc_nulls_last")), KEPT),
    "without the second key": ([1, 0], (ascending(1),), partitioned((1,))),
    "without the first key, which is the distribution field": ([1, 2], (), None),
    "twice": ([2, 0, 0], (ascending(1), OrderKey((0,), "desc_nulls_last")), partitioned((1,))),
    "nothing": ([], (), None),
}


@pytest.mark.parametrize(("mapping", "order", "distribution"), EMITS.values(), ids=EMITS)
@pytest.mark.parametrize("kind", KEEPING)
def test_what_is_kept_is_remapped_by_emit(
    kind: str, mapping: list[int], order: tuple[OrderKey, ...], distribution: Distribution | None
) -> None:
    assert r.emit(ROWS[kind][0], mapping).properties == Properties(order, distribution)


def test_many_kinds_keep_everything() -> None:
    """The test above is of as many as the tables say."""
    assert {type(ROWS[name][0]) for name in KEEPING} == {
        r.Read, r.Filter, r.Project, r.Fetch, r.MergingCapture, r.Window, r.ExtensionLeaf
    }  # fmt: skip


@pytest.mark.parametrize("distribution", [SINGLETON, None])
def test_one_partition_stays_one_partition(distribution: Distribution | None) -> None:
    """Wherever a distribution by fields would be lost: no fields are in this one."""
    rel = leaf("a: i64, b: i64", distribution=distribution)
    a, b = col(rel, "a"), col(rel, "b")
    for kept in (
        r.emit(rel, [1]),
        r.emit(rel, []),
        r.Aggregate(rel, (b,), ((0,), ()), (), ("b", "set")),
        r.Aggregate(rel, (), (), (measure(a),), ("n",)),
        r.Expand(rel, (r.SwitchingField((a, b)),), ("x", "i")),
        r.Set((rel, rel), "union_distinct"),
        attrs.evolve(rel, projection=ex.StructMask((ex.MaskItem(1),))),
    ):
        assert kept.properties.distribution == distribution


# --- equal columns stand in for each other


def test_a_copy_made_by_a_project_stands_in() -> None:
    """Project: "Extended to include projection fields if fields are direct references"."""
    rel = r.Project(INPUT, (plus(A, B), C, A), ("n", "same c", "same a"))
    assert r.emit(rel, [5, 4]).properties == Properties((ascending(0), OrderKey((1,), "desc_nulls_last")), KEPT)
    assert r.emit(rel, [5, 0]).properties.ordering == (ascending(1),)  # a itself, where it is there
    assert r.emit(rel, [3]).properties == Properties()  # the sum is no copy


def test_a_column_that_is_picked_twice_stands_in() -> None:
    rel = r.Filter(r.emit(INPUT, [0, 0, 2]), TRUE)
    assert rel.properties == Properties((ascending(0), DOWN), KEPT)
    twice = r.emit(INPUT, [2, 0, 0])
    assert r.emit(twice, [2, 0]).properties == Properties((ascending(0), OrderKey((1,), "desc_nulls_last")), KEPT)


NESTED = leaf(
    "a: i64, s: struct<i64, struct<i64, i64>>",
    ascending(1, 1, 0),
    ascending(1, 0),
    distribution=partitioned((1, 1, 0), (1, 0)),
)
BOTH_INSIDE = (ascending(0, 1, 0), ascending(0, 0))


def test_fields_of_a_struct_move_with_it() -> None:
    struct = col(NESTED, 1)
    moved = Properties(BOTH_INSIDE, partitioned((0, 1, 0), (0, 0)))
    assert r.emit(NESTED, [1]).properties == moved
    assert r.emit(NESTED, [0]).properties == Properties()
    assert r.Expand(NESTED, (r.ConsistentField(struct),), ("s", "i")).properties == moved
    assert r.Aggregate(NESTED, (struct,), ((0,),), (), ("s",)).properties == moved.unordered()


def test_fields_of_a_struct_that_is_read_in_part_move_with_what_is_left() -> None:
    both_kept = ex.StructMask((ex.MaskItem(1, ex.StructMask((ex.MaskItem(1), ex.MaskItem(0)))),))
    assert attrs.evolve(NESTED, projection=both_kept).properties == Properties(
        (ascending(0, 0, 0), ascending(0, 1)), partitioned((0, 0, 0), (0, 1))
    )
    one_kept = ex.StructMask((ex.MaskItem(1, ex.StructMask((ex.MaskItem(1, ex.StructMask((ex.MaskItem(0),))),))),))
    assert attrs.evolve(NESTED, projection=one_kept).properties == Properties((ascending(0, 0, 0),))


def test_a_copy_of_a_field_of_a_struct_stands_in() -> None:
    rel = r.Project(NESTED, (part(NESTED, 1, 0), part(NESTED, 1, 1, 0)), ("x", "y"))
    assert r.emit(rel, [2, 3]).properties == Properties((ascending(1), ascending(0)), partitioned((1,), (0,)))
    assert r.emit(rel, [0, 3]).properties == Properties((ascending(1),))
    keys = (part(NESTED, 1, 0), part(NESTED, 1, 1, 0))
    assert r.Aggregate(NESTED, keys, ((0, 1),), (), ("x", "y")).properties.distribution == partitioned((0,), (1,))


# --- relations of two inputs

RIGHT = leaf("x: i64, y: i64", ascending(0), distribution=partitioned((0,)))
SINGLE = leaf("x: i64, y: i64", ascending(0), distribution=SINGLETON)
MATCH = equal(A, col(RIGHT, "x", 3))


def joined(kind: type[r.Rel], left: r.Rel, right: r.Rel, how: typing.Any) -> r.Rel:
    """A join of this kind by the first columns of both sides."""
    key = r.JoinKey(col(left, 0), col(right, 0))
    if kind is r.HashJoin:
        return r.HashJoin(left, right, how, (key,))
    if kind is r.MergeJoin:
        return r.MergeJoin(left, right, how, (key,))
    if kind is r.NestedLoopJoin:
        return r.NestedLoopJoin(left, right, how, equal(col(left, 0), col(right, 0, len(left.schema))))
    assert kind is r.Join
    return r.Join(left, right, how, equal(col(left, 0), col(right, 0, len(left.schema))))


JOINS = (r.Join, r.HashJoin, r.MergeJoin, r.NestedLoopJoin)

# "Distribution is maintained", spec decision 7: the side's whose rows are not padded with NULL. The left has 3 columns.
MAINTAINED: dict[str, tuple[Distribution | None, Distribution | None, Distribution | None]] = {
    # both by the keys; left by a, right single; left single, right by x
    "inner": (partitioned((0,)), partitioned((0,)), partitioned((3,))),
    "left": (partitioned((0,)), partitioned((0,)), None),
    "right": (partitioned((3,)), None, partitioned((3,))),
    "outer": (None, None, None),
    "left_semi": (partitioned((0,)), partitioned((0,)), None),
    "left_anti": (partitioned((0,)), partitioned((0,)), None),
    "left_single": (partitioned((0,)), partitioned((0,)), None),
    "left_mark": (partitioned((0,)), partitioned((0,)), None),
    "right_semi": (partitioned((0,)), None, partitioned((0,))),
    "right_anti": (partitioned((0,)), None, partitioned((0,))),
    "right_single": (partitioned((3,)), None, partitioned((3,))),
    "right_mark": (partitioned((0,)), None, partitioned((0,))),
}


@pytest.mark.parametrize("how", MAINTAINED)
@pytest.mark.parametrize("kind", JOINS)
def test_joins(kind: type[r.Rel], how: str) -> None:
    """No order is left.

    Earlier editions of the specification kept the order of the left input of an inner hash join; today's does not.
    """
    single = leaf("a: i64, b: i64, c: i64", ascending(0), distribution=SINGLETON)
    by_keys, left_only, right_only = MAINTAINED[how]
    assert joined(kind, INPUT, RIGHT, how).properties == Properties((), by_keys)
    assert joined(kind, INPUT, SINGLE, how).properties == Properties((), left_only)
    assert joined(kind, single, RIGHT, how).properties == Properties((), right_only)
    assert joined(kind, single, SINGLE, how).properties == Properties((), SINGLETON)
    assert joined(kind, INPUT, leaf("x: i64", ascending(0)), how).properties == Properties()


def test_the_distribution_of_a_join_is_remapped_by_emit() -> None:
    rel = joined(r.HashJoin, INPUT, RIGHT, "right")
    assert r.emit(rel, [4, 3]).properties.distribution == partitioned((1,))
    assert r.emit(rel, [0, 4]).properties.distribution is None


@pytest.mark.parametrize(
    ("comparison", "distribution"),
    [
        ("eq", KEPT),
        ("is_not_distinct_from", KEPT),
        ("might_equal", None),  # what only might be equal may lie apart
        (COMPARE, None),
    ],
)
def test_only_keys_that_are_equal_line_partitions_up(
    comparison: r.KeyComparison | ex.FunctionId, distribution: Distribution | None
) -> None:
    rel = r.HashJoin(INPUT, RIGHT, "inner", (r.JoinKey(A, col(RIGHT, 0), comparison),))
    assert rel.properties.distribution == distribution


def test_further_keys_do_not_part_what_lies_together() -> None:
    further = r.JoinKey(B, col(RIGHT, "y"))
    for keys in ((r.JoinKey(A, col(RIGHT, 0)), further), (further, r.JoinKey(A, col(RIGHT, 0)))):
        assert r.HashJoin(INPUT, RIGHT, "left", keys).properties.distribution == KEPT
    assert r.HashJoin(INPUT, RIGHT, "left", (further,)).properties.distribution is None
    crossed = (r.JoinKey(A, col(RIGHT, "y")), r.JoinKey(B, col(RIGHT, "x")))
    assert r.HashJoin(INPUT, RIGHT, "left", crossed).properties.distribution is None


def test_fields_of_structs_line_partitions_up() -> None:
    left, right = (leaf("s: struct<i64, i64>", distribution=partitioned((0, 1))) for _ in range(2))
    key = r.JoinKey(part(left, 0, 1), part(right, 0, 1))
    assert r.HashJoin(left, right, "left", (key,)).properties.distribution == partitioned((0, 1))
    beside = ex.FieldAccess(col(right, 0, 1), ex.StructField(1))
    for swapped in (equal(part(left, 0, 1), beside), equal(beside, part(left, 0, 1))):
        assert r.Join(left, right, "left", swapped).properties.distribution == partitioned((0, 1))
    assert r.Join(left, right, "left", equal(part(left, 0, 1), part(left, 0, 1))).properties.distribution is None


@pytest.mark.parametrize(("name", "distribution"), [("equal", KEPT), ("is_not_distinct_from", KEPT), ("lt", None)])
def test_only_conditions_of_equality_line_partitions_up(name: str, distribution: Distribution | None) -> None:
    rel = r.Join(INPUT, RIGHT, "left", both(call(name, A, col(RIGHT, 0, 3)), gt(B, i64(1))))
    assert rel.properties.distribution == distribution


def test_a_nested_loop_join_without_a_condition_is_a_cross() -> None:
    for right in (RIGHT, SINGLE):
        assert r.NestedLoopJoin(INPUT, right, "inner").properties == r.Cross(INPUT, right).properties
    assert r.Cross(INPUT, RIGHT).properties == Properties()
    assert r.Cross(INPUT, SINGLE).properties == Properties((), KEPT)


@pytest.mark.parametrize("how", ["inner", "left", "left_semi", "left_anti", "left_single", "left_mark"])
@pytest.mark.parametrize("right", [RIGHT, SINGLE, UNKNOWN], ids=["partitioned", "single", "unknown"])
def test_lateral_join(how: typing.Any, right: r.Rel) -> None:
    """It has no row of its own: where a left row lies, its right rows are computed; no order, as of a join."""
    rel = r.LateralJoin(INPUT, right, how, both(TRUE, TRUE), anchor=1)
    assert rel.properties == Properties((), KEPT)


def test_every_kind_of_relation_is_here() -> None:
    pairs = [r.Cross(INPUT, RIGHT), r.LateralJoin(INPUT, RIGHT, "inner", MATCH), r.emit(INPUT, [0])]
    pairs += [joined(kind, INPUT, RIGHT, "inner") for kind in JOINS]
    seen = {type(node) for rel in (*(rel for rel, _, _ in ROWS.values()), *pairs) for node in walk(rel)}
    assert [kind.__name__ for kind in typing.get_args(r.AnyRelation) if kind not in seen] == []


# --- what may be declared


@pytest.mark.parametrize(
    ("order", "distribution", "said"),
    [
        ([(3,)], None, "no field 3"),
        ([(-1,)], None, "no field -1"),
        ([(0, 0)], None, "no field 0.0"),
        ([], partitioned((0,), (7,)), "no field 7"),
        ([], partitioned(), "at least one field"),
        ([], Distribution("singleton", frozenset({(0,)})), "singleton takes none"),
    ],
)
def test_declared_properties_are_those_of_the_columns(
    order: list[FieldPath], distribution: Distribution | None, said: str
) -> None:
    declared = Properties(tuple(ascending(*path) for path in order), distribution)
    for make in (
        lambda: r.Read(INPUT.schema, r.NamedTable(("t",)), declared=declared),
        lambda: r.ExtensionLeaf(DETAIL, schema("a: i64, b: i64, c: i64"), declared),
    ):
        with pytest.raises(ValueError, match=said):
            make()


def test_what_no_plan_can_say_cannot_be_declared() -> None:
    for known in (Properties((ascending(0),), ordered_further=True), Properties(equal={1: (0,)})):
        with pytest.raises(ValueError, match="nothing besides"):
            r.Read(INPUT.schema, r.NamedTable(("t",)), declared=known)
