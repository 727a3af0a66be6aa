"""`group_by`: its keys, its groups and what is seen after it."""

from __future__ import annotations

import pytest

from substrait_dsl.errors import EvaluationError, UnknownFieldError
from substrait_dsl.partiql import Mode, bag, parse_data
from tests.partiql.evaluating import MODES, bindings_of, data, rows, value_of
from tests.support import refused


@pytest.mark.parametrize("mode", MODES)
def test_a_tuple_for_each_combination_of_keys(mode: Mode) -> None:
    keys = "((a (path (id x) (lit a))) (b (path (id x) (lit b))))"
    text = f"(group_by {keys} ((n count (lit 1)) (s sum (path (id x) (lit v)))) null (scan (id t) x))"
    got = bindings_of(text, mode, t="[{a: 1, b: 1, v: 5}, {a: 1, b: 2, v: 6}, {a: 1, b: 1, v: 7}]")
    assert got == parse_data("<< <{ a: 1, b: 2, n: 1, s: 6 }>, <{ a: 1, b: 1, n: 2, s: 12 }> >>")
    assert got.collection_type == "bag"
    assert got.tuples[0].names == ("a", "b", "n", "s")


def test_equal_keys_are_one_group() -> None:
    text = "(group_by ((k (id x))) ((n count (lit 1))) null (scan (id t) x))"
    numbers = "1, 1.0, 1e0, true, '1', nan, nan"
    collections = "[1], [1.0], <<1, 2>>, <<2, 1>>, {a: 1, b: 2}, {b: 2, a: 1}"
    got = bindings_of(text, t=f"[{numbers}, {collections}, null, null]")
    assert [one["n"] for one in got] == [3, 1, 1, 2, 2, 2, 2, 2]


def test_a_key_that_is_missing_counts_as_null() -> None:
    text = "(group_by ((k (path (id x) (lit k)))) ((n count (lit 1))) null (scan (id t) x))"
    assert rows(text, t="[{}, {k: null}, {k: 1}]") == "<< <{ k: null, n: 2 }>, <{ k: 1, n: 1 }> >>"
    with refused(EvaluationError, 'there is no attribute "k"'):
        rows(text, "strict", t="[{}]")


def test_group_as_has_the_tuples_of_a_group_as_structs() -> None:
    text = "(group_by ((k (path (id x) (lit k)))) () g (cross_join (scan (id t) x i) (scan (lit [0]) y)))"
    got = bindings_of(text, t="[{k: 1}, {k: 2}, {k: 1}]")
    assert {one["k"]: one["g"] for one in got} == {
        1: data("<< {x: {k: 1}, i: 0, y: 0}, {x: {k: 1}, i: 2, y: 0} >>"),
        2: data("<< {x: {k: 2}, i: 1, y: 0} >>"),
    }
    assert bindings_of(text, t="<< {k: 1} >>").tuples[0]["g"] == data("<< {x: {k: 1}, y: 0} >>")  # i is missing


@pytest.mark.parametrize("mode", MODES)
def test_no_keys_is_one_group_and_keys_of_nothing_are_none(mode: Mode) -> None:
    measures = "((n count (id x)) (s sum (id x)))"
    assert rows(f"(group_by () {measures} g (scan (lit []) x))", mode) == "<< <{ n: 0, s: null, g: << >> }> >>"
    assert rows(f"(group_by () {measures} null (scan (lit [2, 3]) x))", mode) == "<< <{ n: 2, s: 5 }> >>"
    assert rows(f"(group_by ((k (id x))) {measures} null (scan (lit []) x))", mode) == "<< >>"


def test_a_measure_sees_the_tuples_of_its_group_and_those_around() -> None:
    inner = "(map_values (id s) (group_by () ((s sum (times (id x) (id factor)))) null (scan (id t) x)))"
    assert value_of(f"(map_values {inner} (scan (lit [1, 10]) factor))", t="[2, 3]") == (bag([5]), bag([50]))


def test_what_comes_after_sees_the_groups_only() -> None:
    ordered = "(order_by (((id n) desc)) (group_by ((k (id x))) ((n count (lit 1))) null (scan (id t) x)))"
    assert rows(ordered, t="<<a, b, b>>") == '[<{ k: "b", n: 2 }>, <{ k: "a", n: 1 }>]'
    assert value_of(f"(map_values (id x) {ordered})", t="<<a>>", x="5") == (5,)  # a table of that name
    with refused(UnknownFieldError, '"x"', "not bound here"):
        rows(f"(filter (is_null (id x)) {ordered})", t="<<a>>")
