"""The rules of expressions' types, and random chains of verbs against a small model of the rules of relations.

The tables of joins, set operations and grouping sets are in tests/relations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import substrait_dsl as sd
from substrait_dsl.algebra import rules
from substrait_dsl.algebra.types import Boolean, Type
from substrait_dsl.errors import TypeMismatchError, UnknownFieldError
from tests.strategies import types
from tests.support import f, refused

kind = sd.parse_type


@pytest.mark.parametrize(
    ("branches", "result"),
    [  # spec decision 21: the one type, nullable if any branch is
        (["i64", "i64"], "i64"),
        (["i64", "i64?"], "i64?"),
        (["i64?", "i64"], "i64?"),
        (["list<i64?>", "list<i64?>?"], "list<i64?>?"),
    ],
)
def test_branches(branches: list[str], result: str) -> None:
    assert rules.branch_type([kind(branch) for branch in branches], "an if") == kind(result)


@pytest.mark.parametrize("branches", [["i64", "i32"], ["decimal<10,2>", "decimal<10,3>"], ["list<i64>", "list<i64?>"]])
def test_branches_of_two_types(branches: list[str]) -> None:
    with refused(TypeMismatchError, "an if", branches[0], "branch 2", branches[1]):
        rules.branch_type([kind(branch) for branch in branches], "an if")


@pytest.mark.parametrize(
    ("value", "options", "result"),
    [  # spec decision 20: x IN (y, z) is x = y OR x = z in three-valued logic
        ("i64", ["i64", "i64"], "boolean"),
        ("i64?", ["i64"], "boolean?"),
        ("i64", ["i64", "i64?"], "boolean?"),
    ],
)
def test_membership(value: str, options: list[str], result: str) -> None:
    assert rules.member_type(kind(value), [kind(option) for option in options], "an IN list") == kind(result)


@pytest.mark.parametrize(
    ("base", "result"),
    [  # spec decision 24: a part of NULL is NULL
        ("struct<i64, string>", "string"),
        ("struct<i64, string?>", "string?"),
        ("struct<i64, string>?", "string?"),
    ],
)
def test_a_field_of_a_struct(base: str, result: str) -> None:
    assert rules.struct_field_type(kind(base), 1) == kind(result)


def test_an_element_and_a_value_under_a_key_may_be_absent() -> None:
    """Spec decision 24."""
    assert rules.list_element_type(kind("list<i64>")) == kind("i64?")
    assert rules.map_value_type(kind("map<string, i64>"), kind("string")) == kind("i64?")


def test_parts_that_a_type_does_not_have() -> None:
    with refused(TypeMismatchError, "only a struct has fields", "i64"):
        rules.struct_field_type(kind("i64"), 0)
    with refused(UnknownFieldError, "no field 2", "struct<i64, i64>"):
        rules.struct_field_type(kind("struct<i64, i64>"), 2)
    with refused(UnknownFieldError, "no field -1"):
        rules.struct_field_type(kind("struct<i64, i64>"), -1)
    with refused(TypeMismatchError, "only a list has elements", "map<string, i64>"):
        rules.list_element_type(kind("map<string, i64>"))
    with refused(TypeMismatchError, "only a map has keys", "list<i64>"):
        rules.map_value_type(kind("list<i64>"), kind("i64"))
    with refused(TypeMismatchError, "keys", "string", "i64"):
        rules.map_value_type(kind("map<string, i64>"), kind("i64"))


@pytest.mark.parametrize(
    ("target", "on_failure", "result"),
    [("i64", "throw", "i64"), ("i64?", "throw", "i64?"), ("i64", "return_null", "i64?")],  # spec decision 23
)
def test_casts(target: str, on_failure: Any, result: str) -> None:
    assert rules.cast_type(kind(target), on_failure) == kind(result)


def test_a_condition_is_a_boolean_nullable_or_not() -> None:
    rules.require_boolean(Boolean(), "this")
    rules.require_boolean(Boolean(nullable=True), "this")
    with refused(TypeMismatchError, "this must be a boolean", "i64"):
        rules.require_boolean(kind("i64"), "this")


# --- random chains of verbs ---
#
# The model of a relation is a list of (name, type). Each step changes a relation and its model side by side, the
# model by a rule that is written here once more, from the specification.

Model = list[tuple[str, Type]]
Step = Callable[[sd.Relation[Any], Model], tuple[sd.Relation[Any], Model]]


@st.composite
def schemas(draw: st.DrawFn, prefix: str) -> Model:
    kinds = draw(st.lists(types(max_depth=1, unbound=False), min_size=1, max_size=4))
    return [(f"{prefix}{number}", kind) for number, kind in enumerate(kinds)]


def _read(model: Model) -> sd.Relation[Any]:
    return sd.read_named("t", dict(model))


def _nullable(model: Model) -> Model:
    return [(name, type_.as_nullable()) for name, type_ in model]


def _keep(rel: sd.Relation[Any], model: Model, data: st.DataObject) -> tuple[sd.Relation[Any], Model]:
    verb = data.draw(
        st.sampled_from(
            [
                lambda r: r.filter(sd.col(0).is_null()),
                lambda r: r.sort(0),
                lambda r: r.fetch(3, 1),
            ]
        )
    )
    return verb(rel), model


def _emit(rel: sd.Relation[Any], model: Model, data: st.DataObject) -> tuple[sd.Relation[Any], Model]:
    mapping = data.draw(st.lists(st.integers(0, len(model) - 1), min_size=1, max_size=6, unique=True))
    return rel.emit(mapping), [model[position] for position in mapping]


def _project(rel: sd.Relation[Any], model: Model, data: st.DataObject) -> tuple[sd.Relation[Any], Model]:
    source = data.draw(st.integers(0, len(model) - 1))
    copy, test = f"p{len(model)}", f"q{len(model)}"
    taken = {name for name, _ in model}
    if {copy, test} & taken:
        return rel, model
    added = [(copy, model[source][1]), (test, Boolean())]
    return rel.project(**{copy: sd.col(source), test: sd.col(source).is_null()}), model + added


def _join(rel: sd.Relation[Any], model: Model, data: st.DataObject) -> tuple[sd.Relation[Any], Model]:
    how = data.draw(st.sampled_from(rules.JOIN_TYPES))
    other = data.draw(schemas(f"j{len(model)}_"))
    named: dict[str, Any] = {"mark": f"m{len(model)}"} if "mark" in how else {}
    joined = rel.join(_read(other), True, how, **named)
    keeps_left = not how.startswith("right_") or how == "right_single"
    keeps_right = not how.startswith("left_") or how == "left_single"
    # A side is padded where the other one keeps all its rows: that is what the names say, outer naming both.
    left = _nullable(model) if how in ("right", "right_single", "outer") else model
    right = _nullable(other) if how in ("left", "left_single", "outer") else other
    mark = [(f"m{len(model)}", Boolean(nullable=True))] if how.endswith("mark") else []
    return joined, (left if keeps_left else []) + (right if keeps_right else []) + mark


def _set(rel: sd.Relation[Any], model: Model, data: st.DataObject) -> tuple[sd.Relation[Any], Model]:
    op = data.draw(st.sampled_from(rules.SET_OPS))
    flags = data.draw(st.lists(st.booleans(), min_size=len(model), max_size=len(model)))
    other = [(name, type_.with_nullability(flag)) for (name, type_), flag in zip(model, flags, strict=True)]
    combined = rel.set_op(op, _read(other))
    # With one secondary input every rule says what can be NULL: of a minus the first, of a union one, else both.
    can_be_null: Callable[[bool, bool], bool] = {
        "minus": lambda mine, theirs: mine,
        "inter": lambda mine, theirs: mine and theirs,
        "union": lambda mine, theirs: mine or theirs,
    }[op[:5]]
    return combined, [
        (name, type_.with_nullability(can_be_null(type_.nullable, flag)))
        for (name, type_), flag in zip(model, flags, strict=True)
    ]


def _aggregate(rel: sd.Relation[Any], model: Model, data: st.DataObject) -> tuple[sd.Relation[Any], Model]:
    keys = data.draw(st.lists(st.integers(0, len(model) - 1), min_size=1, max_size=3, unique=True))
    some = data.draw(st.lists(st.lists(st.integers(0, len(keys) - 1), unique=True), max_size=2))
    sets = [list(range(len(keys))), *some]
    if {"n", "grouping_set"} & {model[key][0] for key in keys}:
        return rel, model
    folded = rel.aggregate(*keys, grouping_sets=sets, n=f.count())
    fields = [
        (model[key][0], model[key][1] if all(number in s for s in sets) else model[key][1].as_nullable())
        for number, key in enumerate(keys)
    ]
    index = [("grouping_set", sd.I32())] if len(sets) > 1 else []
    return folded, [*fields, ("n", sd.I64()), *index]


STEPS = [_keep, _emit, _project, _join, _set, _aggregate]


@settings(max_examples=150)
@given(schemas("c"), st.lists(st.sampled_from(STEPS), max_size=6), st.data())
def test_a_chain_of_verbs_has_the_schema_that_the_rules_say(model: Model, steps: list[Any], data: Any) -> None:
    rel = _read(model)
    for step in steps:
        rel, model = step(rel, model, data)
        assert [(field.name, field.type) for field in rel.schema] == model
        if len(dict(model)) < len(model):  # set operations and joins of the chain need names that stand once
            return
