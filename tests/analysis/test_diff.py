"""The differences of two plans: columns, steps, and what a plan says beside its relations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import substrait_dsl as sd
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.analysis.plan_changes import pair_steps
from substrait_dsl.analysis.schema_changes import compare_schemas
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from tests.trees.relations import plans

ORDERS = sd.read_named("orders", {"id": "i64", "customer": "i64", "price": "fp64?"})


def schema(**columns: str) -> NamedStruct:
    return NamedStruct.of({name: sd.parse_type(text) for name, text in columns.items()})


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        (schema(a="i64"), schema(a="i64", b="string"), ["+ b: string"]),
        (schema(a="i64", b="string"), schema(b="string"), ["- a: i64"]),
        (schema(a="i64"), schema(a="i32"), ["~ a: i64 -> i32 (retyped)"]),
        (schema(a="i64"), schema(a="i64?"), ["~ a: i64 -> i64? (loosened)"]),
        (schema(a="list<i64?>"), schema(a="list<i64>"), ["~ a: list<i64?> -> list<i64> (tightened)"]),
        (schema(a="map<i64, i8?>"), schema(a="map<i64, i8>"), ["~ a: map<i64, i8?> -> map<i64, i8> (tightened)"]),
        # NULL is a value in another place: neither takes all values of the other
        (schema(a="list<i64?>"), schema(a="list<i64>?"), ["~ a: list<i64?> -> list<i64>? (retyped)"]),
        (schema(a="struct<i64>?"), schema(a="struct<i64?>?"), ["~ a: struct<i64>? -> struct<i64?>? (loosened)"]),
        (schema(a="nstruct<x: i8>"), schema(a="nstruct<y: i8>"), ["~ a: nstruct<x: i8> -> nstruct<y: i8> (retyped)"]),
        (schema(a="i64", b="i64", c="i64"), schema(b="i64", c="i64", a="i64"), ["~ a: moved"]),
        (schema(a="i64", b="i64"), schema(x="i64", a="i64", b="i64?"), ["+ x: i64", "~ b: i64 -> i64? (loosened)"]),
        (schema(a="i64"), schema(a="i64"), []),
    ],
)  # fmt: skip
def test_columns(before: NamedStruct, after: NamedStruct, wanted: list[str]) -> None:
    assert [*map(str, compare_schemas(before, after))] == wanted


def test_columns_of_one_name_are_the_same_in_turn() -> None:
    twice = NamedStruct.from_types((sd.I64(), sd.String()), ("a", "a"))
    once = NamedStruct.from_types((sd.I32(),), ("a",))
    assert [*map(str, compare_schemas(twice, once))] == ["~ a: i64 -> i32 (retyped)", "- a: string"]


def test_a_column_of_another_type_is_a_change_of_its_read_alone() -> None:
    def pipeline(type_: str) -> sd.Relation[Any]:
        orders = sd.read_named("orders", {"id": "i64", "price": type_})
        return orders.filter(lambda o: o.price > 1).with_columns(more=lambda o: o.price + 1).select("id")

    found = sd.diff(pipeline("i64"), pipeline("i32"))
    assert not found.columns
    assert [(step.kind, step.before, step.after) for step in found.steps if "read" in (step.before or "")] == [
        ("changed", "read orders -> id: i64, price: i64", "read orders -> id: i64, price: i32")
    ]


def test_steps_that_were_added_removed_and_changed() -> None:
    before = ORDERS.filter(lambda o: o.price > 5.0).sort("id").fetch(10)
    after = ORDERS.filter(lambda o: o.price > 6.0).sort("id").distinct().fetch(10)
    assert str(sd.diff(before, after)) == (
        "steps\n"
        "  - filter price > 5.0\n"
        "  + filter price > 6.0\n"
        "  + aggregate by id, customer, price -> id: i64, customer: i64, price: fp64?"
    )
    assert [step.kind for step in sd.diff(after, before).steps] == ["changed", "removed"]


def test_a_change_inside_a_subquery_is_a_step_of_it() -> None:
    def pipeline(limit: int) -> sd.Relation[Any]:
        others = sd.read_named("others", {"id": "i64"})
        return ORDERS.filter(lambda o: sd.exists(others.filter(lambda x: (x.id == o.id) & (x.id > limit))))

    found = sd.diff(pipeline(1), pipeline(2))
    assert [(step.before, step.after) for step in found.steps] == [
        ("filter id = outer.id and id > 1", "filter id = outer.id and id > 2")
    ]


def test_a_constant_of_another_sign_is_a_change_of_its_step() -> None:
    """0.0 and -0.0 are two constants, also inside a list and a row; the step that has them is the one that differs."""
    for value, other in ((0.0, -0.0), ([0.0], [-0.0]), ({"a": 0.0}, {"a": -0.0})):
        before, after = (
            ORDERS.with_columns(v=sd.map_of(each) if isinstance(each, dict) else sd.lit(each)).limit(1)
            for each in (value, other)
        )
        [step] = sd.diff(before, after).steps
        assert step.before is not None
        assert step.after is not None
        assert ("-0.0" in step.before, "-0.0" in step.after) == (False, True)
    nan = [ORDERS.with_columns(v=sd.lit(float("nan"))) for _ in range(2)]
    assert [str(step) for step in sd.diff(nan[0], nan[1].limit(1)).steps] == ["+ fetch 1"]


def test_names_between_the_steps_do_not_count() -> None:
    before = ORDERS.with_columns(half=lambda o: o.price / 2.0).filter(lambda o: o.half > 1.0).select("id")
    after = ORDERS.with_columns(h=lambda o: o.price / 2.0).filter(lambda o: o.h > 1.0).select("id")
    assert not sd.diff(before, after)
    assert str(sd.diff(before, after)) == "no difference"
    assert [*map(str, sd.diff(before, before.rename({"id": "key"})).columns)] == ["+ key: i64", "- id: i64"]


def test_what_is_used_twice_is_not_what_is_there_twice() -> None:
    """The steps are the same ones; only which of them uses which is another."""
    a, b = ORDERS.filter(lambda o: o.id > 1), ORDERS.filter(lambda o: o.id > 2)
    assert sd.diff(a.union_all(b, a), a.union_all(b, b)).steps


def test_copies_are_no_difference_to_what_is_shared() -> None:
    """A plan may refer twice to one relation, hold it once as `shared`, or have two copies of it: it means the same."""

    def latest() -> sd.Relation[Any]:
        return ORDERS.filter(lambda o: o.id > 1).sort("id").fetch(3)

    one, shared = latest(), sd.shared(latest())
    forms = [one.union_all(one), shared.union_all(shared), latest().union_all(latest())]
    for before in forms:
        for after in forms:
            assert not sd.diff(before, after)
            assert [str(step) for step in sd.diff(before, after.limit(5)).steps] == ["+ fetch 5"]
            assert [str(step) for step in sd.diff(before.limit(5), after).steps] == ["- fetch 5"]
            other = after.union_all(latest().limit(2))
            assert [step.after for step in sd.diff(before, other).steps] == ["fetch 2", "set union_all"]
        alone = sd.diff(sd.Plan(ORDERS), sd.Plan(ORDERS, before)).steps
        assert [step.kind for step in alone] == ["added"] * 5  # read, filter, sort, fetch, union


def test_plans_of_several_roots() -> None:
    before = sd.Plan(ORDERS.select("id"), ORDERS.select("price"))
    after = sd.Plan(ORDERS.select("id"), ORDERS.select("price", "id"), evaluation_mode="per_record")
    found = sd.diff(before, after)
    assert [*map(str, found.columns)] == ["+ id: i64 (root 1)"]
    assert [*map(str, found.declarations)] == ["~ evaluation_mode: per_plan -> per_record"]
    fewer = sd.diff(before, sd.Plan(ORDERS.select("id")))
    assert [*map(str, fewer.columns)] == ["- price: fp64? (root 1)"]
    assert {step.kind for step in fewer.steps} == {"removed"}


def test_it_is_data() -> None:
    found = sd.diff(ORDERS, ORDERS.drop("price").limit(3)).to_dict()
    assert json.loads(json.dumps(found)) == {
        "columns": [{"kind": "dropped", "name": "price", "before": "fp64?", "after": None, "root": 0}],
        "steps": [
            {"kind": "added", "before": None, "after": "emit -> id: i64, customer: i64"},
            {"kind": "added", "before": None, "after": "fetch 3"},
        ],
        "declarations": [],
    }


def test_what_is_no_plan() -> None:
    with pytest.raises(InvalidArgumentError, match="diff: expected a relation or a plan, got 5"):
        sd.diff(ORDERS, 5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="diff: expected a relation or a plan"):
        sd.diff(ORDERS.to_plan().to_bytes(), ORDERS)  # type: ignore[arg-type]


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(plans(), plans())
def test_random_plans(one: Rel, other: Rel) -> None:
    """It is empty for what is equal and nothing else, and counts the steps that are there."""
    mine, theirs = sd.Relation(one), sd.Relation(other)
    assert not sd.diff(mine, mine)
    found = sd.diff(mine, theirs)
    assert bool(found) == (mine.to_plan() != theirs.to_plan())
    assert str(found)
    try:
        again = sd.Plan.from_bytes(mine.to_plan().to_bytes())
    except UnsupportedError:
        return
    assert not sd.diff(mine, again)


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(plans(), plans())
def test_the_steps_of_one_become_those_of_the_other(one: Rel, other: Rel) -> None:
    def steps(rel: Rel) -> int:
        return sum(isinstance(node, Rel) for node in walk(rel))

    pairs = [*pair_steps(one, other)]
    for side, rel in (("before", one), ("after", other)):
        assert len({id(step) for pair in pairs if (step := getattr(pair, side)) is not None}) == steps(rel)
    gained = sum((pair.after is not None) - (pair.before is not None) for pair in pairs if not pair.is_copy)
    assert gained == _distinct_steps(other) - _distinct_steps(one)


def _distinct_steps(rel: Rel) -> int:
    """How many relations are in and below one, of equal ones one."""
    return len({node for node in walk(rel) if isinstance(node, Rel)})


def test_a_thousand_steps() -> None:
    def chain(place: int) -> sd.Relation[Any]:
        found: sd.Relation[Any] = ORDERS
        for number in range(1_000):
            found = found.filter(sd.col("id") > (-1 if number == place else number))
        return found

    found = sd.diff(chain(-1), chain(500))
    assert [(step.before, step.after) for step in found.steps] == [("filter id > 500", "filter id > -1")]
