"""Lowering by itself: names and types stay, what has no form is refused by step, and the cost is linear."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from examples.tpch.queries import QUERIES
from substrait_dsl import functions
from substrait_dsl.algebra.expressions import OuterReference, ScalarFunction, ScalarSubquery
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.engines.lowering.context import NodeLocation
from substrait_dsl.engines.lowering.plan import try_to_lower
from substrait_dsl.engines.profile import load_profile
from substrait_dsl.errors import CatalogError, InvalidChoiceError, UnsupportedError
from tests.differential.pipelines import pipeline

f: Any = functions
T = sd.read_named("t", {"k": "i64?", "a": "i32", "s": "string?"})
U = sd.read_named("u", {"k": "i64?", "b": "i32"})


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_names_and_types_of_the_root_stay(name: str) -> None:
    plan = QUERIES[name]().to_plan()
    lowered = plan.lower("datafusion")
    assert lowered.roots[0].schema == plan.roots[0].schema


def test_nothing_refers_to_an_outer_row_any_more() -> None:
    correlated = T.filter(lambda t: sd.exists(U.filter(lambda u: (u.k == t.k) & (u.b != t.a))))
    nodes = list(walk(correlated.to_plan().lower("datafusion")._algebra.relations[0]))
    assert not any(isinstance(node, ScalarSubquery) for node in nodes)
    assert not any(isinstance(getattr(node, "root", None), OuterReference) for node in nodes)
    assert all(node.anchor is None for node in nodes if isinstance(node, Rel))


def test_what_is_lowered_once_is_lowered_twice_to_the_same() -> None:
    plan = QUERIES["q21"]().to_plan().lower("datafusion")
    assert plan.lower("datafusion").roots[0].schema == plan.roots[0].schema


@pytest.mark.parametrize(
    ("relation", "message", "step"),
    [
        (lambda: T.filter(lambda t: f.factorial(t.a, overflow="ERROR") > 1), "overflow=ERROR", "filter"),
        (lambda: T.select(c=lambda t: f.concat(t.s, "!", null_handling="ACCEPT_NULLS")), "null_handling", "project"),
        (lambda: T.write("copy", op="ctas"), "write cannot be lowered to DataFusion 55", "write"),
    ],
)
def test_what_has_no_form_is_refused_by_step(relation: Any, message: str, step: str) -> None:
    with pytest.raises(UnsupportedError, match=message) as caught:
        relation().to_plan().lower("datafusion")
    assert caught.value.verb == "lower"
    with pytest.raises(UnsupportedError, match=message) as caught:
        relation().to_plan().to_bytes(engine="datafusion")
    assert caught.value.verb == "to_bytes"
    assert caught.value.step is not None
    assert caught.value.step.startswith(step)


def test_all_that_has_no_form_is_collected() -> None:
    """Each of them once, in steps below one another, side by side and in a subquery; what stands above is lowered."""
    left = T.select("k", c=lambda t: f.factorial(t.a, overflow="ERROR"))
    right = U.select("k", d=lambda u: f.shift_left(u.b, 1))
    inside = U.filter(lambda u: f.bitwise_not(u.b) == 1)
    plan = left.join(right, on="k").filter(sd.exists(inside)).select(n=lambda r: f.sqrt(r.c.cast("fp64"))).to_plan()
    result = try_to_lower(plan._algebra, load_profile("datafusion"))
    assert result.plan is None
    assert sorted(word for each in result.refusals for word in FUNCTIONS if word in str(each)) == sorted(FUNCTIONS)
    assert all(isinstance(each.refused, NodeLocation) for each in result.refusals)


FUNCTIONS = ("overflow=ERROR", "shift_left", "bitwise_not", "sqrt")


def test_what_is_written_another_way_is_known() -> None:
    plan = T.filter(lambda t: t.a > 1).filter(lambda t: t.a.between(1, 5)).select("k").to_plan()
    (place,) = try_to_lower(plan._algebra, load_profile("datafusion")).rewritten
    assert isinstance(place.node, ScalarFunction)
    assert place.node.function.name == "between"


def test_random_pipelines_are_lowered_on_after_a_refusal() -> None:
    profile = load_profile("datafusion")
    results = [try_to_lower(pipeline(3, number).to_plan()._algebra, profile) for number in range(200)]
    assert any(len(each.refusals) > 1 for each in results)
    assert all((each.plan is None) == bool(each.refusals) for each in results)


def test_an_engine_that_there_is_not_has_a_suggestion() -> None:
    with pytest.raises(InvalidChoiceError, match="unknown engine 'datafusoin'") as caught:
        T.to_plan().to_bytes(engine="datafusoin")
    assert caught.value.hint == 'did you mean "datafusion"?'


def test_a_profile_is_taken_by_path(tmp_path: Any) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("name: Mine\nmetadata: {engine: mine, version: '1'}\n", encoding="utf-8")
    assert load_profile(path).name == "mine-1"
    with pytest.raises(UnsupportedError, match="Mine has no scalar function gt:"):
        T.filter(lambda t: t.a > 1).to_plan().lower(path)
    path.write_text("name: Mine\nmetadata: {engine: mine, version: '1', shape: x}\n", encoding="utf-8")
    with pytest.raises(CatalogError, match='unknown key "shape"'):
        load_profile(path)


def chain(steps: int) -> sd.Relation[Any]:
    relation: sd.Relation[Any] = T
    for number in range(steps):
        relation = relation.filter(sd.col("a") > number)
    return relation


def test_a_thousand_steps_are_lowered_to_a_size_that_grows_with_them() -> None:
    sizes = [chain(steps).to_plan().lower("datafusion")._algebra.relations[0].size for steps in (250, 500, 1000)]
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


def test_what_is_too_deep_for_one_tree_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="too deep for DataFusion 55"):
        chain(1000).to_plan().to_bytes(engine="datafusion")


def test_a_subtree_that_is_used_often_is_lowered_once() -> None:
    """Each step doubles the tree: were every use lowered by itself, 2 to the 12 reads would be."""
    relation: sd.Relation[Any] = T.select("a")
    for _ in range(12):
        relation = relation.union_all(relation)
    lowered = relation.to_plan().lower("datafusion")._algebra.relations[0]
    assert len(list(walk(lowered))) < 50
    assert lowered.size > 4096
