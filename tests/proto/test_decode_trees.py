"""The trees of a plan, which refer to each other, and the numbers of the rows that they refer to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from substrait.plan_pb2 import Plan

import substrait_dsl as sd
from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.anchors import canonical
from substrait_dsl.algebra.live_ranges import EvaluationOrder
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.trees import Root
from substrait_dsl.errors import PlanFormatError, UnsupportedError
from substrait_dsl.proto.plan import decode_plan, encode_plan
from tests.proto.plans import COMPARISON, T, col, encoded, equal, i64, message, outer, plan_of
from tests.proto.whole_plans import pipeline, read
from tests.support import refused


def reference(ordinal: int) -> str:
    return f"reference {{ subtree_ordinal: {ordinal} }}"


def cross(left: int, right: int) -> str:
    return f"cross {{ left {{ {reference(left)} }} right {{ {reference(right)} }} }}"


def trees(*rels: str, names: int) -> Plan:
    """A plan of a root that is the last of these relations, of the relations before it, and of the read of `T`, first.

    Relation 0 is the read, so the others are numbered from 1.
    """
    plan = encoded(T)
    first = plan.relations[0].root.input
    del plan.relations[:]
    plan.relations.add().rel.CopyFrom(first)
    for rel in rels:
        plan.relations.add().MergeFrom(message(type(plan.relations[0]), f"rel {{ {rel} }}"))
    last = plan.relations[-1]
    root = last.rel
    last.root.input.CopyFrom(root)
    last.root.names.extend("c" * names)
    return plan


def test_a_tree_that_is_referred_to_twice_is_one_relation() -> None:
    (root,) = read(trees(cross(0, 0), names=6)).roots
    assert isinstance(root.input, r.Cross)
    assert root.input == r.Cross(T, T)
    assert root.input.left is root.input.right
    assert root.input.left.shared


def test_a_relation_that_a_plan_holds_once_is_held_once_again() -> None:
    once = sd.shared(pipeline())
    plan = sd.Plan(once.join(once, on=lambda left, right: left.who == right.who))
    assert len(plan.to_proto().relations) == 2
    assert sd.Plan.from_bytes(plan.to_bytes()).to_bytes() == plan.to_bytes()


@pytest.mark.parametrize("uses", [1, 2])
def test_a_shared_relation_stays_shared_however_often_it_is_used(uses: int) -> None:
    once = sd.shared(pipeline())
    plan = sd.Plan(once.select("who") if uses == 1 else once.cross(once))
    again = sd.Plan.from_bytes(plan.to_bytes())
    assert (again, again.to_bytes()) == (plan, plan.to_bytes())
    assert [str(each).count("shared #1: aggregate") for each in (plan, again)] == [1, 1]


def test_a_tree_that_stands_apart_for_its_depth_is_not_shared() -> None:
    rel: Rel = T
    for _ in range(100):
        rel = r.Filter(rel, ex.literal(True, t.Boolean()))
    plan = plan_of(rel)
    data = encode_plan(plan)
    assert len(data.relations) > 1
    got = read(data)
    assert got == plan
    assert not any(isinstance(node, Rel) and node.shared for node in walk(got.roots[0].input))
    assert encode_plan(got) == data


def test_trees_may_refer_to_later_ones_and_to_roots() -> None:
    plan = trees(cross(2, 0), reference(0), reference(1), names=6)
    assert [root.input for root in read(plan).roots] == [r.Cross(T, T)]
    plan.relations.add().root.MergeFrom(message(type(plan.relations[0].root), f"input {{ {reference(3)} }}"))
    plan.relations[-1].root.names.extend("abcdef")
    assert [root.names for root in read(plan).roots] == [tuple("cccccc"), tuple("abcdef")]


@pytest.mark.parametrize(
    ("rels", "said"),
    [
        ((reference(1),), "in a circle: 1 -> 1"),
        ((reference(2), reference(1)), "in a circle"),
        ((reference(7),), "no relation 7 to refer to: the plan has 2"),
        ((reference(-1),), "no relation -1 to refer to"),
    ],
)
def test_references_that_lead_nowhere_are_refused(rels: tuple[str, ...], said: str) -> None:
    with refused(PlanFormatError, said):
        read(trees(*rels, names=3))


def test_a_plan_of_one_tree_has_nothing_to_refer_to() -> None:
    plan = message(Plan, f"relations {{ root {{ input {{ {reference(0)} }} }} }}")
    with refused(PlanFormatError, "relation 0 of the plan, its only one, refers to itself", "relations[0].root.input"):
        decode_plan(plan)


def test_a_chain_of_thousands_of_trees_is_read() -> None:
    count = 3000
    forward = [reference(number + 2) for number in range(count)]
    (root,) = read(trees(*forward, reference(0), names=3)).roots
    assert root.input == T


# --- trees that refer to outer rows


def correlated(anchor: int, ordinal: int) -> str:
    """A filter over `T`, whose row has a number, with a subquery of a tree."""
    return (
        f"filter {{ common {{ rel_anchor: {anchor} direct {{}} }} input {{ {reference(0)} }} "
        f"condition {{ subquery {{ set_predicate {{ predicate_op: PREDICATE_OP_EXISTS "
        f"tuples {{ {reference(ordinal)} }} }} }} }} }}"
    )


def about_outer(anchor: int, ordinal: int) -> str:
    """A filter over a tree that compares with the first column of an outer row."""
    field = "direct_reference { struct_field {} }"
    return (
        f"filter {{ common {{ direct {{}} }} input {{ {reference(ordinal)} }} condition {{ scalar_function {{ "
        f"function_reference: 1 output_type {{ bool {{ nullability: NULLABILITY_REQUIRED }} }} "
        f"arguments {{ value {{ selection {{ {field} root_reference {{}} }} }} }} "
        f"arguments {{ value {{ selection {{ {field} outer_reference {{ rel_reference: {anchor} }} }} }} }} }} }} }}"
    )


EQUAL = f"""
    extension_urns {{ extension_urn_anchor: 1 urn: "{COMPARISON}" }}
    extensions {{ extension_function {{ extension_urn_reference: 1 function_anchor: 1 name: "equal:any_any" }} }}
"""


def about(rel: Rel, anchor: int) -> Rel:
    return r.Filter(rel, equal(col(T, 0), outer(anchor, 0, t.I64())))


def hosted(subquery: Rel, anchor: int) -> Rel:
    return r.Filter(T, ex.SetPredicate("exists", subquery), anchor=anchor)


def test_a_tree_that_refers_to_an_outer_row_is_read_where_it_stands() -> None:
    plan = trees(about_outer(5, 0), correlated(5, 1), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    (root,) = read(plan).roots
    assert canonical(root.input) == canonical(hosted(about(T, 77), 77))


def test_a_tree_that_refers_to_an_outer_row_that_is_not_there_is_refused() -> None:
    plan = trees(about_outer(5, 0), correlated(6, 1), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    with refused(PlanFormatError, "5"):
        read(plan)


def test_thousands_of_trees_that_refer_to_an_outer_row_are_read() -> None:
    count = 2000
    chain = [about_outer(5, number) for number in range(count)]
    plan = trees(*chain, correlated(5, count), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    (root,) = read(plan).roots
    expected: Rel = T
    for _ in range(count):
        expected = about(expected, 9)
    assert canonical(root.input) == canonical(hosted(expected, 9))


def hosting(ordinal: int) -> str:
    """A filter over `T` with a subquery of a tree."""
    return (
        f"filter {{ common {{ direct {{}} }} input {{ {reference(0)} }} condition {{ subquery {{ set_predicate {{ "
        f"predicate_op: PREDICATE_OP_EXISTS tuples {{ {reference(ordinal)} }} }} }} }} }}"
    )


def union(*rels: str) -> str:
    return "set { op: SET_OP_UNION_ALL " + " ".join(f"inputs {{ {rel} }}" for rel in rels) + " }"


def counting(steps: Iterable[int]) -> str:
    """`about_outer`, for one row after the other that is so many subqueries further out."""
    rel = reference(0)
    for number in steps:
        above = about_outer(5, 0).replace("rel_reference: 5", f"steps_out: {number}")
        rel = above.replace(reference(0), rel)
    return rel


def doubled(first: str) -> Plan:
    """A plan in which each of 40 trees has two rows, and the tree before it in a subquery of each."""
    plan = trees(first, *(union(hosting(number), hosting(number)) for number in range(1, 40)), hosting(40), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    return plan


@pytest.mark.parametrize("first", [counting([1]), reference(0)], ids=["of the nearest row", "of none"])
def test_trees_that_mean_the_same_everywhere_are_read_once(first: str) -> None:
    """Read for each of the rows that it stands in, the first tree would be read 2**40 times."""
    (root,) = read(doubled(first)).roots
    assert root.input.height > 80


def test_a_tree_that_sees_a_row_further_out_is_read_once_if_that_is_one_row() -> None:
    plan = doubled(about_outer(5, 0))
    plan.relations[-1].root.input.filter.common.rel_anchor = 5
    (root,) = read(plan).roots
    expected: Rel = about(T, 77)
    for _ in range(1, 40):
        half = r.Filter(T, ex.SetPredicate("exists", expected))
        expected = r.Set((half, half), "union_all")
    assert canonical(root.input) == canonical(hosted(expected, 77))


@pytest.mark.parametrize("apart", [False, True])
def test_a_tree_is_read_for_each_row_that_it_means(apart: bool) -> None:
    """Both hosts stand over the same tree, whose number is that of their rows."""
    plan = trees(about_outer(5, 0), union(hosting(1), hosting(1)), names=3)
    plan.relations[0].rel.read.common.rel_anchor = 5
    if apart:
        condition = plan.relations[1].rel.filter.condition
        plan.relations[1].detached_expressions.append(condition)
        condition.detached_expression_ordinal = 0
    plan.MergeFrom(message(Plan, EQUAL))
    (root,), findings = decode_plan(plan)[0].roots, decode_plan(plan)[1]
    assert canonical(root.input) == canonical(r.Set((hosted(about(T, 7), 7), hosted(about(T, 8), 8)), "union_all"))
    assert not [finding for finding in findings if "detached" in finding.message]


def test_trees_that_mean_something_else_in_each_of_many_places_are_refused() -> None:
    plan = doubled(counting(range(1, 41)))  # it sees the row of each tree, of which there are two: 2 ** 40 in all
    with refused(UnsupportedError, "read again and again"):
        read(plan)


def test_a_large_tree_that_means_something_else_in_each_of_many_places_is_refused() -> None:
    """A thousand filters in a thousand places would be a million filters."""
    large = union(*(about_outer(5, 0) for _ in range(1000)))
    plan = trees(large, union(*(hosting(1) for _ in range(1000))), names=3)
    plan.relations[0].rel.read.common.rel_anchor = 5
    plan.MergeFrom(message(Plan, EQUAL))
    with refused(UnsupportedError, "read again and again"):
        read(plan)


def test_trees_that_refer_to_ever_more_rows_outside_are_refused() -> None:
    """Each of a thousand refers to a row of its own, and to all those of the trees in it: half a million in all."""
    plan = trees(*(about_outer(100 + number, number) for number in range(1000)), hosting(1000), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    with refused(UnsupportedError, "more than 100000 rows outside"):
        read(plan)


def test_subqueries_in_each_other_by_the_thousand_are_refused() -> None:
    chain = [about_outer(5, 0), *(correlated(10 + number, number) for number in range(1, 2000))]
    plan = trees(*chain, correlated(5, 2000), names=3)
    plan.MergeFrom(message(Plan, EQUAL))
    with refused(PlanFormatError, "nested too deeply"):
        read(plan)


# --- anchors


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((0, 1), ("at least 1, got 0", "(at relations[1].root.input.cross.left.filter.common)")),
        (
            (4, 4),
            (
                "two relations have the number 4",
                "the first at relations[1].root.input.cross.left.filter.common",
                "(at relations[1].root.input.cross.right.filter.common)",
            ),
        ),
    ],
)
def test_numbers_that_relations_cannot_have_are_refused(numbers: tuple[int, int], said: tuple[str, ...]) -> None:
    left, right = (correlated(number, 0) for number in numbers)
    with refused(PlanFormatError, *said):
        read(trees(f"cross {{ left {{ {left} }} right {{ {right} }} }}", names=6))


def test_a_number_in_another_tree_is_taken_too() -> None:
    plan = trees(correlated(4, 0), correlated(4, 1), names=3)
    with refused(PlanFormatError, "number 4", "the first at relations[1].rel.filter.common"):
        read(plan)


def test_a_relation_with_a_number_may_be_used_twice() -> None:
    plan = trees(correlated(4, 0), cross(1, 1), names=6)
    (root,) = read(plan).roots
    assert isinstance(root.input, r.Cross)
    assert root.input.left is root.input.right


def anchored(first: int, second: int) -> Rel:
    """A subquery in a subquery: the inner one refers to both of the rows around it."""
    both = about(about(T, first), second)
    inner = r.Filter(about(T, first), ex.SetPredicate("exists", both), anchor=second)
    return r.Filter(T, ex.SetPredicate("exists", inner), anchor=first)


def test_plans_are_equal_whatever_the_numbers_of_their_rows() -> None:
    rels = [anchored(1, 2), anchored(2, 1), anchored(9, 4)]
    assert len({canonical(rel) for rel in rels}) == 1
    assert len({sd.Plan(sd.Relation(rel)) for rel in rels}) == 1
    assert rels[0] != rels[1]


def test_a_row_that_nothing_refers_to_needs_no_number() -> None:
    assert canonical(r.Filter(T, equal(col(T, 0), i64(1)), anchor=3)) == r.Filter(T, equal(col(T, 0), i64(1)))
    assert canonical(T) is T


def test_rows_that_are_told_apart_stay_apart() -> None:
    both = r.Filter(about(T, 1), ex.SetPredicate("exists", about(T, 1)), anchor=2)
    other = r.Filter(about(T, 1), ex.SetPredicate("exists", about(T, 2)), anchor=2)
    of_first, of_second = hosted(both, 1), hosted(other, 1)
    assert canonical(of_first) != canonical(of_second)


def test_a_correlated_relation_is_the_same_alone_and_inside_another() -> None:
    once = hosted(about(T, 1), 1)
    again = hosted(about(T, 2), 2)
    assert canonical(r.Cross(once, once)) == canonical(r.Cross(once, again))


def test_nodes_are_rebuilt_only_where_an_anchor_changes() -> None:
    rel = r.Cross(T, hosted(about(T, 5), 5))
    found: list[Node] = list(walk(canonical(rel)))
    assert any(node is T for node in found)


# --- the order of evaluation


def test_the_order_of_trees_comes_back() -> None:
    """Of subtrees and roots, as the plan lists them; a shared relation stands before the first tree that uses it."""
    read, new = sd.Relation(T), sd.read_virtual([], sd.Relation(T).schema)
    before = sd.shared(read.filter(lambda r: r[0] > 1))
    first, change, last = sd.subtree(read.limit(1)), new.write("t"), before.cross(before)
    listed = sd.Plan(first, change, sd.subtree(before), sd.subtree(new.write("u")), last)
    kinds = [tree.WhichOneof("rel_type") for tree in listed.to_proto().relations]
    assert kinds == ["rel", "root", "rel", "rel", "root"]
    again = sd.Plan.from_bytes(listed.to_bytes())
    assert again == listed
    assert again.to_bytes() == listed.to_bytes()
    assert [isinstance(tree, sd.Subtree) for tree in again.trees] == [True, False, True, True, False]
    # Without the subtree it is evaluated after the second write, so that is another plan.
    assert sd.Plan(first, change, sd.subtree(new.write("u")), last) != listed
    # Where nothing is changed in between, it makes no difference.
    assert sd.Plan(sd.subtree(before), first, last) == sd.Plan(first, last)


def test_a_change_in_two_places_is_one() -> None:
    change: Any = sd.read_virtual([(1,)], {"a": "i64"}).write("t", output="modified_records")
    for plan in (
        sd.Plan(change, change.select(b=lambda r: r.a + 1)),
        sd.Plan(change.union_all(change.select(b=lambda r: r.a + 1))),
    ):
        message = plan.to_proto()
        assert not message.relations[0].HasField("root")
        assert sum(tree.rel.HasField("write") for tree in message.relations) == 1
        assert sd.Plan.from_proto(message) == plan


def test_a_reference_to_a_later_tree_is_refused_where_tables_are_changed() -> None:
    read = sd.read_named("t", {"a": "i64?"})
    kept = sd.shared(read)
    plan = sd.Plan(sd.subtree(kept), kept.write("t"), kept.limit(1)).to_proto()
    later = Plan.FromString(plan.SerializeToString())
    del later.relations[:]
    later.relations.extend([plan.relations[1], plan.relations[0], plan.relations[2]])
    for tree in (later.relations[0], later.relations[2]):
        relation = tree.root.input
        inner = relation.write.input if relation.HasField("write") else relation.fetch.input
        inner.reference.subtree_ordinal = 1
    with refused(PlanFormatError, "relation 0 of the plan refers to relation 1, which is evaluated after it"):
        sd.Plan.from_proto(later)


def test_what_is_cut_off_for_its_depth_keeps_its_turn() -> None:
    """A chain is evaluated from its start, wherever it is cut; beside a change, a part cannot come first."""
    new = sd.read_virtual([(1,)], {"a": "i64"})

    def deep(relation: Any) -> Any:
        for _ in range(120):
            relation = relation.filter(lambda r: r.a > 0)
        return relation

    chain = deep(new.write("t", output="modified_records")).write("u")
    assert sd.Plan.from_bytes(chain.to_plan().to_bytes()) == chain.to_plan()
    change = new.write("t", output="modified_records")
    with refused(UnsupportedError, "so deep that it has to be a separate tree", "shared(...)"):
        change.union_all(deep(sd.read_named("t", {"a": "i64"}))).to_plan().to_bytes()
    before = sd.shared(deep(sd.read_named("t", {"a": "i64"})))
    plan = sd.Plan(before.union_all(change))
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan


def test_what_is_shared_does_not_count_where_relations_are_written_out() -> None:
    read = sd.read_named("t", {"a": "i64?"})
    doubled: Any = sd.shared(read)
    for _ in range(25):
        doubled = sd.shared(doubled.union_all(doubled))
    change = doubled.union_all(read, read).write("t")._rel
    order = EvaluationOrder((Root.of(change),))
    assert len(order.trees) == 27  # the shared relations, and the change
    assert len(order.reads) == 3  # of the first of them, and two of the change, each for itself
