"""Hints, extensions of others, relations that a plan holds once: none of them changes what a relation is."""

from __future__ import annotations

from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.common import Common, Hint, Stats
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError
from tests.support import ascending, columns, declared, refused, table

shared: Any = sd.shared  # to a type checker anything: it is called wrongly on purpose

T = table("a: i64, b: string?")
NESTED: Any = sd.read_named("t", {"s": sd.Struct.of({"x": sd.I64(), "y": sd.I64()}), "a": sd.I64})
SORTED = declared("a: i64", ascending(0))
ADVICE = sd.AdvancedExtension((sd.AnyMessage("example.com/acme.Advice", b"1"),))
OTHER = sd.AdvancedExtension(enhancement=sd.AnyMessage("example.com/acme.Rule", b"2"))


def hint_of(relation: Any) -> Hint:
    rel = relation._rel.input if relation._rel.common is None else relation._rel
    hint: Hint = rel.common.hint
    return hint


def test_every_part_of_a_hint() -> None:
    made = T.hint(
        1000,
        20.5,
        "orders",
        output_names=True,
        saved=[(1, "hashtable")],
        loaded=(sd.Computation(2, "bloom_filter"),),
        constraint=ADVICE,
        extension=OTHER,
    )
    assert hint_of(made) == Hint(
        Stats(1000, 20.5),
        ADVICE,
        "orders",
        ("a", "b"),
        (sd.Computation(1, "hashtable"),),
        (sd.Computation(2, "bloom_filter"),),
        OTHER,
    )


def test_hints_and_extensions_keep_the_columns_and_the_properties() -> None:
    for made in (SORTED.hint(5), SORTED.with_extension(ADVICE), shared(SORTED)):
        assert (made.schema, made.properties) == (SORTED.schema, SORTED.properties)


def test_what_an_earlier_hint_says_stays_unless_it_is_said_anew() -> None:
    made = T.hint(1000, alias="x").hint(record_size=8).hint(2000)
    assert hint_of(made) == Hint(Stats(2000, 8), alias="x")


def test_a_hint_on_chosen_columns_belongs_to_what_they_are_chosen_from() -> None:
    """A plan has both in one message."""
    made = T.select("b").hint(5, output_names=True)
    assert columns(made) == "b: string?"
    assert (made._rel.common, made._rel.input.common) == (None, Common(Hint(Stats(5), output_names=("b",))))


RENAMED: list[tuple[Any, tuple[str, ...]]] = [
    (lambda rel: rel, ("s", "x", "y", "a")),  # names are listed depth first
    (lambda rel: rel.select("a", "s"), ("a", "s", "x", "y")),
    (lambda rel: rel.drop("s"), ("a",)),
    (lambda rel: rel.emit([1, 1]), ("a", "a")),
    (lambda rel: rel.rename(s="t"), ("t", "x", "y", "a")),
    (lambda rel: rel.rename(s="t").select("t").rename(t="u"), ("u", "x", "y")),
]


@pytest.mark.parametrize(("change", "names"), RENAMED)
def test_the_names_in_a_hint_are_those_of_what_is_put_out(change: Any, names: tuple[str, ...]) -> None:
    """Columns chosen later are chosen in the same message."""
    assert hint_of(change(NESTED.hint(output_names=True))).output_names == names


def test_extensions_of_the_relation_and_of_its_common_fields() -> None:
    made = T.with_extension(ADVICE, common=OTHER)
    assert made._rel.common == Common(extension=OTHER, own_extension=ADVICE)
    assert made.with_extension(OTHER)._rel.common == Common(extension=OTHER, own_extension=OTHER)
    assert made.hint(5)._rel.common == Common(Hint(Stats(5)), OTHER, ADVICE)


def test_an_extension_relation_has_common_extensions_only() -> None:
    leaf: Any = sd.extension_leaf(sd.AnyMessage("example.com/acme.Leaf"), {"a": sd.I64})
    assert leaf.with_extension(common=ADVICE)._rel.common == Common(extension=ADVICE)
    with refused(InvalidArgumentError, "with_extension", "extension leaf", "common fields"):
        leaf.with_extension(ADVICE)


def test_a_shared_relation_is_equal_to_what_it_was() -> None:
    made = shared(T)
    assert made._rel.shared
    assert made._rel == T._rel
    assert (made.schema, made.properties) == (T.schema, T.properties)
    assert shared(made)._rel is made._rel


MISTAKES: list[tuple[Any, Any, tuple[str, ...]]] = [
    (lambda: T.hint("broadcast"), InvalidArgumentError, ("hint", "row_count", "'broadcast'")),
    (lambda: T.hint(-1), InvalidArgumentError, ("hint", "row_count", "negative", "-1")),
    (lambda: T.hint(True), InvalidArgumentError, ("hint", "row_count", "True")),
    (lambda: T.hint(record_size=float("nan")), InvalidArgumentError, ("hint", "record_size", "nan")),
    (lambda: T.hint(alias=5), InvalidArgumentError, ("hint", "alias", "5")),
    (lambda: T.hint(saved=(1, "hashtable")), InvalidArgumentError, ("hint", "saved", '(1, "hashtable")')),
    (lambda: T.hint(loaded=5), InvalidArgumentError, ("hint", "loaded", "5")),
    (lambda: T.hint(saved=[(1, "hash_table")]), InvalidChoiceError, ("hint", 'did you mean "hashtable"')),
    (lambda: T.hint(constraint=sd.AnyMessage("x/y")), InvalidArgumentError, ("constraint", "AdvancedExtension")),
    (lambda: T.hint(extension=5), InvalidArgumentError, ("extension", "AdvancedExtension", "5")),
    (lambda: T.with_extension(), InvalidArgumentError, ("with_extension", "own=")),
    (lambda: T.with_extension(sd.AnyMessage("x/y")), InvalidArgumentError, ("with_extension", "optimizations=")),
    (lambda: shared("t"), InvalidArgumentError, ("shared", "expected a relation", "'t'")),
]


@pytest.mark.parametrize(("call", "error", "said"), MISTAKES)
def test_mistakes(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()


def test_a_plan_holds_a_shared_relation_once_also_where_its_columns_are_picked() -> None:
    """A ``ReferenceRel`` has no emit, so the picks stand around it."""
    both = shared(T)
    plan = both.select("a").cross(both.select("b")).to_plan()
    shared_tree, root = plan.to_proto().relations
    assert shared_tree.rel.HasField("read")
    assert "read" not in str(root)
    assert sd.Plan.from_bytes(plan.to_bytes()) == plan
