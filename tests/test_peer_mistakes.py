"""Mistakes that other builders of Substrait plans accept in silence, or answer wrongly: here each is right or refused.

B10 (expand), B12 (SQL text) and the parts of B4, B13 and B14 that speak of window functions and of update are about
features that are not built yet; B4's phase on the wire and B7's names in the plan are tested with the encoder too.
"""

from __future__ import annotations

from decimal import Decimal as D
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import Literal, SingularOrList
from substrait_dsl.algebra.relations import Set
from substrait_dsl.algebra.types import I32
from substrait_dsl.errors import (
    AmbiguousFieldError,
    FunctionNotFoundError,
    InvalidChoiceError,
    LiteralError,
    SchemaError,
    TypeMismatchError,
)
from tests.support import columns, computed, f, refused, table, type_of


def test_b1_the_grouping_set_index_has_a_name_and_shifts_nothing() -> None:
    rolled = table("a: i64, b: i64, v: fp64").group_by("a", "b").rollup(s=lambda r: f.sum(r.v))
    assert columns(rolled) == "a: i64?, b: i64?, s: fp64?, grouping_set: i32"
    assert columns(rolled.with_columns(x=lambda r: r.s + 1.0).select("x")) == "x: fp64?"
    # x is computed from the third column, and stands after the index
    (total, _) = rolled.with_columns(x=lambda r: r.s + 1.0)._rel.expressions[0].arguments
    assert total.position == 2
    assert len(rolled._rel.schema.depth_first_names()) == len(rolled.schema)


def test_b2_conditionals_look_at_every_branch() -> None:
    assert type_of(lambda r: sd.when(r.a > 1).then(r.a).otherwise(None)) == "i64?"
    with refused(TypeMismatchError, "string", "i64"):
        computed(lambda r: sd.when(r.a > 1).then("a").otherwise(2))
    with refused(TypeMismatchError, "boolean", "i64"):
        computed(lambda r: sd.when(r.a).then(1).otherwise(2))


def test_b3_literals_are_required() -> None:
    assert type_of(lambda r: r.a + 1) == "i64"
    assert type_of(lambda r: r.a > 1) == "boolean"
    assert type_of(lambda r: sd.lit(5)) == "i64"


def test_b4_a_measure_says_its_phase() -> None:
    rel = table("a: i64").aggregate(x=lambda r: f.sum(r.a))
    assert rel._rel.measures[0].function.phase == "initial_to_result"


def test_b5_a_self_join_is_no_tautology() -> None:
    rel = table("id: i64, parent: i64")
    for on in (sd.col("id") == sd.col("id"), rel.c.id == rel.c.id):
        with refused(AmbiguousFieldError, "join", '"id" is ambiguous'):
            rel.join(rel, on)
    condition = rel.join(rel, lambda mine, theirs: mine.id == theirs.id)._rel.condition
    assert [side.position for side in condition.arguments] == [0, 2]


def test_b5_a_replaced_column_is_the_new_one() -> None:
    replaced = table("a: i64, b: i64").with_columns(a=lambda r: f.concat(sd.lit("x"), "y"))
    assert columns(replaced) == "a: string, b: i64"
    assert columns(replaced.select("a")) == "a: string"


def test_b5_names_do_not_clash() -> None:
    rel = table("a: i64, b: i64")
    with refused(SchemaError, "select", '"a"'):
        rel.select("a", "a")
    with refused(SchemaError, "rename", '"b"'):
        rel.rename(a="b")
    with refused(SchemaError, "project", '"a"'):
        rel.project(a=1)
    with refused(SchemaError, "names each column once"):
        sd.read_named("t", rel.cross(rel).schema)


def test_b6_python_s_truth_is_refused() -> None:
    rel = table("id: i64, age: i64")
    for condition in (
        lambda r: r.id > 1 and r.age > 2,
        lambda r: r.id > 1 or r.age > 2,
        lambda r: 1 < r.age < 5,
        lambda r: (r.id if r.age > 1 else r.age) > 1,
        lambda r: not r.id > 1,
    ):
        with refused(TypeMismatchError, "filter", "no truth value"):
            rel.filter(condition)
    with refused(TypeMismatchError, "no truth value"):
        bool(sd.col("id") > 1)


def test_b7_every_nested_field_has_a_name() -> None:
    inner = sd.Struct.of({"x": sd.I64(), "y": sd.String()})
    rel: Any = sd.read_named("t", {"s": inner, "k": sd.I64})
    assert rel._rel.schema.depth_first_names() == ("s", "x", "y", "k")
    assert columns(rel.select("k")) == "k: i64"
    assert rel.select("k", "s")._rel.schema.depth_first_names() == ("k", "s", "x", "y")
    assert columns(rel.select(lambda r: r.s["y"])) == "y: string"


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (300, sd.I8()),
        (123456, sd.Decimal(5, 2)),
        (D("1.234"), sd.Decimal(5, 2)),
        ("abc", sd.FixedChar(5)),
        ("abcdef", sd.VarChar(3)),
        (None, sd.I64()),
    ],
)
def test_b8_literals_fit_their_type_or_are_refused(value: Any, type_: sd.Type) -> None:
    with refused(LiteralError, str(type_)):
        sd.lit(value, type_)


def test_b9_set_operations_check_their_inputs() -> None:
    one = table("a: i64, b: i64")
    with refused(SchemaError, "set_op", "same number of columns"):
        one.set_op("union_all", table("a: i64"))
    with refused(TypeMismatchError, "set_op", "a: i64", "a: string"):
        one.set_op("union_all", table("a: string, b: i64"))
    with refused(SchemaError, "at least two inputs"):
        one.set_op("union_all")
    with refused(InvalidChoiceError, "unknown op 'unspecified'"):
        one.set_op("unspecified", one)
    with refused(SchemaError, "at least two inputs"):
        Set((one._rel,), "union_all")


def test_b11_aggregates_are_checked() -> None:
    rel = table("a: i64, b: i64")
    with refused(SchemaError, "aggregate", "no columns"):
        rel.aggregate()
    with refused(SchemaError, "aggregate", "b stands in none"):
        rel.aggregate("a", "b", grouping_sets=[("a",)], n=f.count())
    with refused(TypeMismatchError, "aggregate", "filter of a measure", "boolean"):
        rel.aggregate(n=lambda r: f.count().filter(r.a))


def test_b13_a_result_that_may_be_null_is_nullable() -> None:
    assert type_of(lambda r: f.nullif(r.a, 0)) == "i64?"
    assert columns(table("a: i64").aggregate(x=lambda r: f.any_value(r.a))) == "x: i64?"


def test_b13_a_list_is_as_nullable_as_any_of_its_elements() -> None:
    assert type_of(lambda r: sd.lit([1, None], sd.parse_type("list<i64?>"))) == "list<i64?>"
    with refused(LiteralError, "NULL does not fit i64"):
        sd.lit([1, None], sd.parse_type("list<i64>"))


def test_b14_options_of_membership_have_the_type_of_the_value() -> None:
    node = computed(lambda r: r.n.is_in([1, 2]), "n: i32")
    assert isinstance(node, SingularOrList)
    assert node.options == (Literal(1, I32()), Literal(2, I32()))
    assert type_of(lambda r: r.n.between(1, 5), "n: i32") == "boolean"
    with refused(LiteralError, "'x' does not fit i32"):
        computed(lambda r: r.n.is_in(["x"]), "n: i32")


def test_b14_subqueries_join_keys_and_options_are_checked() -> None:
    strings = table("s: string", "u")
    with refused(TypeMismatchError, "IN subquery", "i64", "string"):
        computed(lambda r: r.a.is_in(strings))
    with refused(TypeMismatchError, '"any" of a subquery', "i64", "string"):
        computed(lambda r: r.a == sd.any_of(strings))
    with refused(TypeMismatchError, '"all" of a subquery', "i64", "string"):
        computed(lambda r: r.a == sd.all_of(strings))
    with refused(FunctionNotFoundError, "join", "equal(i64, string)"):
        table("k: i64").join(table("k: string"), "k")
    with refused(InvalidChoiceError, "overflow", "'EXPLODE'"):
        computed(lambda r: f.add(r.a, 1, overflow="EXPLODE"))
    with refused(InvalidChoiceError, "'rounding_mode'"):
        computed(lambda r: f.add(r.a, 1, rounding_mode="ERROR"))


def test_b15_a_cast_throws_unless_asked_and_null_needs_a_nullable_type() -> None:
    assert type_of(lambda r: r.s.cast(sd.I64)) == "i64"
    assert computed(lambda r: r.s.cast(sd.I64)).on_failure == "throw"  # type: ignore[attr-defined]  # a Cast
    assert type_of(lambda r: r.s.cast(sd.I64, on_failure="return_null")) == "i64?"
