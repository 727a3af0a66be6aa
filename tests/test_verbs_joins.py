"""The joins that depend on the left row, and those that say how they are done: columns, keys, properties, errors."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import ROOT, FieldAccess, FieldReference, OuterReference
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.properties import SINGLETON, partitioned
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES
from substrait_dsl.errors import (
    FunctionNotFoundError,
    InvalidArgumentError,
    InvalidChoiceError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import ascending, columns, declared, distribution, f, ordering, refused, table

L = table("a: i64, b: string?")
R = table("x: i64, y: date?", "r")

OUTER_COLUMNS = "a: i64, b: string?, x: i64?, y: date?"

# --- lateral ---


def lateral(how: str = "inner", **more: Any) -> Any:
    return L.lateral_join(lambda left: R.filter(lambda right: right.x > left.a), how=how, **more)


@pytest.mark.parametrize("how", LATERAL_JOIN_TYPES)
def test_a_lateral_join_puts_out_what_a_join_puts_out(how: Any) -> None:
    assert columns(lateral(how)) == columns(L.join(R, True, how))


def test_the_right_side_refers_to_the_left_row_by_the_number_of_the_join() -> None:
    joined = lateral()._rel
    references = [node for node in walk(joined.right) if isinstance(node, FieldReference)]
    assert [(node.position, node.root) for node in references if node.root != ROOT] == [
        (0, OuterReference(joined.anchor))
    ]
    assert joined.free_anchors == frozenset()


def test_a_subquery_in_the_condition_sees_both_rows_by_the_same_number() -> None:
    joined = L.lateral_join(
        lambda left: R.filter(lambda right: right.x > left.a),
        lambda left, right: sd.exists(L.filter(lambda other: (other.a == left.a) & (other.a == right.x))),
    )._rel
    outer = OuterReference(joined.anchor)
    assert {node.root for node in walk(joined) if isinstance(node, FieldReference)} == {ROOT, outer}
    in_condition = [node for node in walk(joined.condition) if isinstance(node, FieldReference)]
    # a is column 0 of both rows together, x is column 2
    assert {node.position for node in in_condition if node.root == outer} == {0, 2}


def test_a_lateral_join_always_has_a_number() -> None:
    """Spec decision 28."""
    assert L.lateral_join(lambda _: R)._rel.anchor is not None


def test_a_lateral_join_inside_a_subquery_of_another() -> None:
    three = L.lateral_join(
        lambda one: R.lateral_join(lambda two: R.filter(lambda right: (right.x == one.a) & (right.x == two.x)))
    )
    assert columns(three) == "a: i64, b: string?, x: i64, y: date?, x: i64, y: date?"
    assert three._rel.free_anchors == frozenset()


def test_a_lateral_join_keeps_the_distribution_and_no_order() -> None:
    left = declared("a: i64", ascending(0), distribution=partitioned((0,)))
    joined = left.lateral_join(lambda row: R.filter(lambda right: right.x == row.a))
    assert (ordering(joined), distribution(joined)) == ([], partitioned((0,)))


def test_the_condition_and_the_filter_after_a_lateral_join() -> None:
    assert columns(lateral(post_filter=lambda row: row.y.is_null())) == "a: i64, b: string?, x: i64, y: date?"
    assert columns(lateral("left_mark", mark="found")) == "a: i64, b: string?, found: boolean?"
    with refused(TypeMismatchError, "lateral_join", "boolean", "i64"):
        lateral(post_filter=lambda row: row.a)
    with refused(TypeMismatchError, "lateral_join", "boolean", "i64"):
        L.lateral_join(lambda _: R, lambda left, right: left.a)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: L.lateral_join(R), InvalidArgumentError, ("expected a lambda", "join(...)")),
        (lambda: L.lateral_join(lambda row: row.a), InvalidArgumentError, ("expected a relation",)),
        (lambda: L.lateral_join(lambda one, two: R), InvalidArgumentError, ("does not take one row",)),
        (lambda: lateral("right"), InvalidChoiceError, ("how 'right'", '"left_mark"')),
        (lambda: lateral("semi"), InvalidChoiceError, ('write "left_semi"',)),
        (lambda: lateral("outer_apply"), InvalidChoiceError, ('write "left"',)),
        (lambda: lateral("left_mark", mark="a"), SchemaError, ('"a" already',)),
        (lambda: L.lateral_join(lambda row: R.filter(lambda r: r.x > row.c)), UnknownFieldError, ('"c"',)),
    ],
)
def test_lateral_joins_that_are_none(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()


# --- hash and merge ---

KEYS: list[tuple[Any, list[tuple[Any, Any, str]]]] = [
    # what is written; the positions on each side and the comparison
    ([("a", "x")], [(0, 0, "eq")]),
    ([("a", "x"), ("b", "s")], [(0, 0, "eq"), (1, 2, "eq")]),
    ("k", [(2, 3, "eq")]),
    (["k"], [(2, 3, "eq")]),
    (("k", ("a", "x")), [(2, 3, "eq"), (0, 0, "eq")]),
    (sd.join_key("k"), [(2, 3, "eq")]),
    ([sd.join_key("a", "x", "might_equal")], [(0, 0, "might_equal")]),
    (sd.join_key(lambda left: left.a, sd.col("x"), "is_not_distinct_from"), [(0, 0, "is_not_distinct_from")]),
    (lambda left, right: left.a == right.x, [(0, 0, "eq")]),
    (lambda left, right: right.x == left.a, [(0, 0, "eq")]),
    (lambda left, right: [left.a == right.x, left.b == right.s], [(0, 0, "eq"), (1, 2, "eq")]),
    (lambda left, right: (left.a == right.x) & (right.k == left.k), [(0, 0, "eq"), (2, 3, "eq")]),
    (lambda left, right: f.is_not_distinct_from(left.b, right.s), [(1, 2, "is_not_distinct_from")]),
]
LEFT = table("a: i64, b: string?, k: i64")
RIGHT = table("x: i64, y: date?, s: string?, k: i64", "r")


@pytest.mark.parametrize(("keys", "expected"), KEYS)
@pytest.mark.parametrize("verb", ["hash_join", "merge_join"])
def test_keys(verb: str, keys: Any, expected: Any) -> None:
    """Each side of a key sees its own input."""
    joined = getattr(LEFT, verb)(RIGHT, keys)._rel
    assert [(key.left.position, key.right.position, key.comparison) for key in joined.keys] == expected
    assert {side.root for key in joined.keys for side in (key.left, key.right)} == {ROOT}


NAMES = ("k0", "k1", "k2", "k3")
EACH = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)


@given(st.permutations(NAMES), st.permutations(NAMES), EACH)
def test_every_spelling_of_keys_says_the_same(left: Any, right: Any, keys: list[str]) -> None:
    """Wherever the columns stand on either side."""
    one, other = (table(", ".join(f"{name}: i64" for name in names)) for names in (left, right))
    spellings = [
        keys,
        [(name, name) for name in keys],
        [sd.join_key(name) for name in keys],
        lambda mine, theirs: [mine[name] == theirs[name] for name in keys],
        lambda mine, theirs: [theirs[name] == mine[name] for name in keys],
    ]
    joins = {one.hash_join(other, spelling)._rel for spelling in spellings}
    assert len(joins) == 1
    assert [(left[k.left.position], right[k.right.position]) for k in joins.pop().keys] == [(k, k) for k in keys]


def test_a_key_may_be_a_field_of_a_struct() -> None:
    left = sd.read_named("t", {"s": sd.Struct.of({"id": sd.I64()})})
    (key,) = left.hash_join(R, [(lambda row: row.s["id"], "x")])._rel.keys  # type: ignore[attr-defined]  # of a join
    assert isinstance(key.left, FieldAccess)


def test_a_key_may_be_compared_by_a_function() -> None:
    (key,) = L.hash_join(R, [sd.join_key("a", "x", f.equal)])._rel.keys
    assert key.comparison.key == "equal:any_any"


@pytest.mark.parametrize("how", JOIN_TYPES)
def test_physical_joins_put_out_what_a_join_puts_out(how: Any) -> None:
    named: dict[str, Any] = {"mark": "m"} if "mark" in how else {}
    expected = columns(L.join(R, True, how, **named))
    assert columns(L.hash_join(R, [("a", "x")], how, **named)) == expected
    assert columns(L.merge_join(R, [("a", "x")], how, **named)) == expected
    assert columns(L.nested_loop_join(R, True, how, **named)) == expected


def test_the_parts_of_a_hash_join() -> None:
    joined = L.hash_join(
        R,
        lambda left, right: left.a == right.x,
        "left",
        residual=lambda left, right: right.y.is_not_null(),
        post_filter=lambda row: row.x.is_null(),
        build="left",
    )
    assert columns(joined) == OUTER_COLUMNS
    residual, after = joined._rel.residual, joined._rel.post_filter
    assert [argument.position for argument in residual.arguments] == [3]  # left columns, then right ones
    assert after.arguments[0].type == sd.I64(nullable=True)  # it sees the output
    assert joined._rel.build == "left"
    assert L.hash_join(R, [("a", "x")])._rel.build == "right"


def test_physical_joins_keep_no_order_and_agree_on_distribution() -> None:
    """Spec decision 7: both sides partitioned by the keys stay so; two singletons are one."""
    for verb in ("hash_join", "merge_join"):
        left = declared("a: i64", ascending(0), distribution=partitioned((0,)))
        right = declared("x: i64", ascending(0), distribution=partitioned((0,)))
        joined = getattr(left, verb)(right, [("a", "x")])
        assert (ordering(joined), distribution(joined)) == ([], partitioned((0,)))
    one, other = (declared(text, distribution=SINGLETON) for text in ("a: i64", "x: i64"))
    assert distribution(one.nested_loop_join(other)) == SINGLETON


def test_a_merge_join_takes_inputs_of_unknown_order_and_none_of_a_wrong_one() -> None:
    """Its inputs must be sorted by the keys."""
    L.merge_join(R, [("a", "x")])
    L.sort("a").merge_join(R.sort("x", "y"), [("a", "x")])
    with refused(SchemaError, "merge_join", "left input", "sorted by b", "hash join"):
        L.sort("b").merge_join(R, [("a", "x")])
    with refused(SchemaError, "merge_join", "right input", "sorted by y, x"):
        L.merge_join(R.sort("y", "x"), [("a", "x")])


def test_a_nested_loop_join_may_have_a_condition() -> None:
    assert L.nested_loop_join(R)._rel.condition is None
    assert L.nested_loop_join(R, lambda left, right: left.a < right.x)._rel.condition is not None


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: L.hash_join(R, "a"), UnknownFieldError, ("hash_join, key 0", "right side", '"a"')),
        (lambda: L.hash_join(R, ("a", "x")), UnknownFieldError, ("right side", '[("left", "right")]')),
        (lambda: L.hash_join(R, [("a", "xx")]), UnknownFieldError, ("right side", 'did you mean "x"')),
        (lambda: L.hash_join(R, [("b", "x")]), TypeMismatchError, ("one type", "string?", "i64", "cast")),
        (lambda: L.hash_join(R, []), InvalidArgumentError, ("at least one key", "nested_loop_join")),
        (lambda: L.hash_join(R, True), InvalidArgumentError, ("got True", '("left", "right")')),
        (lambda: L.hash_join(R, [("a", "x", "b")]), InvalidArgumentError, ("a pair of names",)),
        (lambda: L.hash_join(R, [("a", 1.5)]), InvalidArgumentError, ("hash_join", "1.5")),
        (lambda: L.hash_join(R, lambda left, right: left.a < right.x), InvalidArgumentError, ("residual=",)),
        (lambda: L.hash_join(R, lambda left, right: left.a == left.a), InvalidArgumentError, ("one of the right",)),
        (
            lambda: L.hash_join(R, lambda left, right: left.a == right.x + 1),
            InvalidArgumentError,
            ("right side", "column or a field", "project below"),
        ),
        (lambda: L.hash_join(R, lambda left: left.a), InvalidArgumentError, ("does not take 2 rows",)),
        (lambda: L.hash_join(R, lambda left, right: left.a == right.y), FunctionNotFoundError, ("equal(i64, date?)",)),
        (lambda: L.hash_join(R, [("a", "x")], "full"), InvalidChoiceError, ('write "outer"',)),
        (lambda: L.hash_join(R, [("a", "x")], build="rigth"), InvalidChoiceError, ('did you mean "right"',)),
        (
            lambda: L.hash_join(R, [("a", "x")], residual=lambda left, right: left.a),
            TypeMismatchError,
            ("hash_join, residual:", "boolean"),
        ),
        (
            lambda: L.hash_join(R, [("a", "x")], post_filter=lambda left, right: left.a == right.x),
            InvalidArgumentError,
            ("hash_join, post_filter:", "does not take one row"),
        ),
        (lambda: L.hash_join(R, [("a", "x")], "left", mark="m"), InvalidArgumentError, ("mark='m'", "a left join")),
        (lambda: L.join(R, "x"), UnknownFieldError, ("join", "left side", "columns of different names need a lambda")),
        (lambda: L.join(R, {"a": "x"}), InvalidArgumentError, ("join", "columns of different names need a lambda")),
        (lambda: L.hash_join("r", "a"), InvalidArgumentError, ("expected a relation", "'r'")),
        (lambda: sd.join_key("a", "x", f.sum), InvalidArgumentError, ("join_key", "scalar function", "sum")),
        (lambda: sd.join_key("a", "x", max), InvalidArgumentError, ("join_key", "scalar function", "max")),
        (lambda: L.hash_join(R, sd.join_key("a", "y", f.equal)), FunctionNotFoundError, ("equal(i64, date?)",)),
        (lambda: L.hash_join(R, sd.join_key("a", "x", f.add)), TypeMismatchError, ("boolean", "gives i64")),
        (lambda: L.nested_loop_join(R, lambda left, right: left.a), TypeMismatchError, ("nested_loop_join", "boolean")),
    ],
)
def test_physical_joins_that_are_none(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()


@pytest.mark.parametrize(
    ("word", "advice"), [("=", '"eq"'), ("<=>", '"is_not_distinct_from"'), ("might_equl", "might")]
)
def test_comparisons_of_other_libraries(word: Any, advice: str) -> None:
    with refused(InvalidChoiceError, "join_key", word, advice):
        sd.join_key("a", "x", word)


def test_a_key_without_names_needs_both_sides() -> None:
    with refused(InvalidArgumentError, "join_key", "both sides"):
        sd.join_key(sd.col("a"))
