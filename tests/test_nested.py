"""Structs, lists and maps put together from values, and parts of structs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import (
    Cast,
    ListMask,
    Literal,
    MaskedReference,
    MaskItem,
    NestedList,
    NestedMap,
    NestedStruct,
    OuterReference,
    Row,
    StructMask,
)
from substrait_dsl.algebra.node import walk
from substrait_dsl.errors import (
    InvalidArgumentError,
    LiteralError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from substrait_dsl.fluent.scope import outward
from tests.support import columns, computed, f, refused, table, type_of


class Address(sd.Schema):
    city: sd.String
    zip: sd.Nullable[sd.I32]


class Person(sd.Schema):
    name: sd.String
    address: sd.Nullable[sd.Struct[Address]]
    age: sd.I8


PEOPLE: Any = sd.read_named("people", {"person": sd.Struct[Person], "id": sd.I64})
ROW = "a: i64, b: i64?, s: string, t: string?"
T = table(ROW)

dsl: Any = sd
"""The library. Anything to a type checker: tests call it wrongly on purpose."""

Make = Callable[[Any], Any]

TYPES: list[tuple[Make, type, str]] = [
    (lambda r: sd.struct_of(x=r.a, y=r.t), NestedStruct, "struct<i64, string?>"),
    (lambda r: sd.struct_of(x=1, y="text", z=True), NestedStruct, "struct<i64, string, boolean>"),
    (lambda r: sd.struct_of(x=sd.struct_of(y=r.b)), NestedStruct, "struct<struct<i64?>>"),
    (lambda r: sd.struct_of(x=sd.null(sd.Date)), NestedStruct, "struct<date?>"),
    (lambda r: sd.struct_of(), NestedStruct, "struct"),
    (lambda r: sd.list_of(r.a, r.a + 1), NestedList, "list<i64>"),
    (lambda r: sd.list_of(r.a, r.b), NestedList, "list<i64?>"),
    (lambda r: sd.list_of(r.a, None), NestedList, "list<i64?>"),
    (lambda r: sd.list_of(sd.lit(1, sd.I8), 2), NestedList, "list<i8>"),
    (lambda r: sd.list_of(1, 2, 3), NestedList, "list<i64>"),
    (lambda r: sd.list_of(sd.list_of(r.a), sd.list_of(2)), NestedList, "list<list<i64>>"),
    (lambda r: sd.map_of({"low": r.a, "high": r.b}), NestedMap, "map<string, i64?>"),
    (lambda r: sd.map_of([(r.s, r.a), ("x", 5)]), NestedMap, "map<string, i64>"),
    (lambda r: sd.map_of({r.s: "x", "t": None}), NestedMap, "map<string, string?>"),
    (lambda r: sd.map_of({1: "one"}), NestedMap, "map<i64, string>"),
]


@pytest.mark.parametrize(("make", "node", "kind"), TYPES)
def test_types(make: Make, node: type, kind: str) -> None:
    assert isinstance(computed(make), node)
    assert type_of(make) == kind


def test_the_fields_have_names() -> None:
    named = T.select(who=lambda r: sd.struct_of(first=r.s, last=r.t))
    assert columns(named.select(last=lambda r: r.who["last"])) == "last: string?"


def test_python_values_take_the_type_of_the_others() -> None:
    node = computed(lambda r: sd.list_of(r.a, 2), "a: i32")
    assert isinstance(node, NestedList)
    assert node.values[1] == Literal(2, sd.I32())


def test_every_element_has_the_very_type_of_the_list() -> None:
    """As for branches (spec decision 21): readers that take the first element's type are right."""
    node = computed(lambda r: sd.list_of(r.a, r.b))
    assert isinstance(node, NestedList)
    assert [str(value.type) for value in node.values] == ["i64?", "i64?"]
    assert isinstance(node.values[0], Cast)


def test_without_a_row_they_wait_for_it() -> None:
    made = T.select(
        x=sd.struct_of(a=sd.col("a")), y=sd.list_of(sd.col("a"), sd.col("b")), z=sd.map_of({"a": sd.col("a")})
    )
    assert columns(made) == "x: struct<i64>, y: list<i64?>, z: map<string, i64>"


EMPTY: list[tuple[Make, str]] = [
    (lambda r: sd.lit([], sd.List(sd.I64())), "list<i64>"),
    (lambda r: sd.lit({}, sd.Map(sd.String(), sd.I64())), "map<string, i64>"),
]


@pytest.mark.parametrize(("make", "kind"), EMPTY)
def test_the_hints_for_empty_ones_work(make: Make, kind: str) -> None:
    assert type_of(make) == kind


# --- parts of a struct ---

KEPT: list[tuple[Make, str, StructMask]] = [
    (lambda r: r.person.keep("name"), "struct<string>", StructMask((MaskItem(0),))),  # spec decision 25: no unwrapping
    (lambda r: r.person.keep("age", "name"), "struct<i8, string>", StructMask((MaskItem(2), MaskItem(0)))),
    (
        lambda r: r.person.keep("name", {"address": ["zip"]}),
        "struct<string, struct<i32?>?>",
        StructMask((MaskItem(0), MaskItem(1, StructMask((MaskItem(1),))))),
    ),
    (
        lambda r: r.person.keep({"address": [1, "city"]}, 2),
        "struct<struct<i32?, string>?, i8>",
        StructMask((MaskItem(1, StructMask((MaskItem(1), MaskItem(0)))), MaskItem(2))),
    ),
]


CALLS: Any = sd.read_named("calls", {"s": "nstruct<n: i64, calls: list<nstruct<a: i32, b: string>?>?>?"})
ELEMENTS: list[tuple[Any, str, ListMask]] = [
    (sd.elements(0), "struct<list<struct<i32, string>?>?>?", ListMask(0, (0,))),
    (sd.elements(first=5), "struct<list<struct<i32, string>?>?>?", ListMask(5)),
    (sd.elements(7, 9, first=5), "struct<list<struct<i32, string>?>?>?", ListMask(5, (7, 9))),
    (sd.elements(first=5, keep=["b"]), "struct<list<struct<string>?>?>?", ListMask(5, (), StructMask((MaskItem(1),)))),
]


@pytest.mark.parametrize(("part", "kind", "mask"), ELEMENTS)
def test_elements_of_a_list(part: Any, kind: str, mask: ListMask) -> None:
    kept = CALLS.project(result=lambda r: r.s.keep({"calls": part}))
    assert str(kept.schema["result"]) == kind
    (node,) = kept._rel.expressions
    assert node.mask == StructMask((MaskItem(1, mask),))


@pytest.mark.parametrize(("make", "kind", "mask"), KEPT)
def test_parts_of_a_struct(make: Make, kind: str, mask: StructMask) -> None:
    kept = PEOPLE.project(result=make)
    assert str(kept.schema["result"]) == kind
    (node,) = kept._rel.expressions
    assert isinstance(node, MaskedReference)
    assert node.mask == mask


def test_the_parts_keep_their_names() -> None:
    kept = PEOPLE.select(who=lambda r: r.person.keep("age", {"address": ["city"]}))
    assert columns(kept.select(x=lambda r: r.who["address"]["city"], y=lambda r: r.who["age"])) == "x: string?, y: i8"
    assert columns(PEOPLE.select(sd.col("person").keep("age"))) == "person: struct<i8>"


def test_a_mask_of_a_row_moves_outwards_with_it() -> None:
    """In a subquery, a mask of the row itself is one of the outer row."""
    whole = MaskedReference(Row(PEOPLE._rel.schema.row_type()), StructMask((MaskItem(1),)))
    (moved,) = walk(outward(whole, 7))
    assert isinstance(moved, MaskedReference)
    assert isinstance(moved.input, Row)
    assert moved.input.root == OuterReference(7)
    assert moved.type == whole.type


# --- mistakes ---

MISTAKES: dict[str, tuple[Make, type[sd.SubstraitDslError], tuple[str, ...]]] = {
    "no elements of a list": (lambda r: sd.elements(), InvalidArgumentError, ("elements", "at least one element")),
    "elements from the end": (lambda r: sd.elements(-1), InvalidArgumentError, ("elements", "from 0 on", "-1")),
    "elements out of order": (
        lambda r: sd.elements(2, 1),
        InvalidArgumentError,
        ("elements", "in their order, got 2, 1"),
    ),
    "elements twice": (lambda r: sd.elements(1, first=2), InvalidArgumentError, ("the first 2 and 1",)),
    "an element by name": (lambda r: dsl.elements("a"), InvalidArgumentError, ("elements", "positions", "'a'")),
    "an element by a truth value": (lambda r: sd.elements(True), InvalidArgumentError, ("positions", "True")),
    "parts in a text": (lambda r: dsl.elements(0, keep="a"), InvalidArgumentError, ("elements", "a list of the parts")),
    "elements of a text": (
        lambda r: PEOPLE.select(x=lambda p: p.person.keep({"name": sd.elements(0)})),
        TypeMismatchError,
        ("select", "only a list has elements", "'name' is string"),
    ),
    "fields of a list": (
        lambda r: CALLS.select(x=lambda p: p.s.keep({"calls": ["a"]})),
        TypeMismatchError,
        ("'calls' is list<", "which has elements", "sd.elements("),
    ),
    "a field of elements that is not there": (
        lambda r: CALLS.select(x=lambda p: p.s.keep({"calls": sd.elements(0, keep=["bb"])})),
        UnknownFieldError,
        ('no field "bb"', 'did you mean "b"'),
    ),
    "no elements": (lambda r: sd.list_of(), InvalidArgumentError, ("list_of", "no values", "lit([], List(I64()))")),
    "a list of a list": (lambda r: sd.list_of([1, 2]), InvalidArgumentError, ("one by one", "list_of(*values)")),
    "elements of two types": (
        lambda r: sd.list_of(r.a, r.s),
        TypeMismatchError,
        ("list_of", "the elements of a list", "i64", "string", "cast"),
    ),
    "an element that does not fit": (
        lambda r: sd.list_of(r.a, "x"),
        TypeMismatchError,
        ("the elements of a list", "'x'", "i64"),
    ),
    "only None": (lambda r: sd.list_of(None), LiteralError, ("the elements of a list are all None", "null(type)")),
    "an aggregate": (lambda r: sd.list_of(f.sum(r.a)), TypeMismatchError, ("list_of", "sum is an aggregate function")),
    "a window function": (lambda r: sd.list_of(f.rank()), TypeMismatchError, ("rank is a window function",)),
    "a relation": (lambda r: sd.list_of(T), TypeMismatchError, ("scalar_subquery(rel)",)),
    "a function": (lambda r: sd.list_of(len), TypeMismatchError, ("expected a value", "len")),
    "no entries": (lambda r: sd.map_of({}), InvalidArgumentError, ("map_of", "lit({}, Map(String(), I64()))")),
    "no pairs": (lambda r: dsl.map_of([1, 2]), InvalidArgumentError, ("a dict or a list of pairs", "[1, 2]")),
    "a text": (lambda r: dsl.map_of("ab"), InvalidArgumentError, ("a dict or a list of pairs", "'ab'")),
    "a key that is None": (lambda r: sd.map_of({None: 1}), TypeMismatchError, ("keys of a map are never NULL",)),
    "a key that may be NULL": (
        lambda r: sd.map_of({r.t: 1}),
        TypeMismatchError,
        ("map_of", "keys of a map are never NULL", "string?"),
    ),
    "keys of two types": (lambda r: sd.map_of({r.s: 1, 2: 3}), TypeMismatchError, ("the keys of a map", "2")),
    "values of two types": (
        lambda r: sd.map_of({"x": r.a, "y": r.s}),
        TypeMismatchError,
        ("the values of a map", "i64", "string"),
    ),
    "a field that is None": (lambda r: sd.struct_of(x=None), InvalidArgumentError, ('field "x"', "null(type)")),
    "a field that is an aggregate": (lambda r: sd.struct_of(x=f.sum(r.a)), TypeMismatchError, ("struct_of", '"x"')),
    "parts of no struct": (lambda r: r.a.keep("x"), TypeMismatchError, ("keep takes parts of a struct", "i64")),
    "an unknown part": (
        lambda r: sd.struct_of(name=r.a).keep("nmae"),
        UnknownFieldError,
        ('"nmae"', 'there is "name"', 'did you mean "name"'),
    ),
    "a part by a position that is not there": (lambda r: sd.struct_of(x=r.a).keep(1), UnknownFieldError, ("field 1",)),
    "no parts": (lambda r: sd.struct_of(x=r.a).keep(), InvalidArgumentError, ("at least one field",)),
    "a part twice": (lambda r: sd.struct_of(x=r.a).keep("x", 0), SchemaError, ('"x" twice',)),
    "a part of no struct": (
        lambda r: sd.struct_of(x=r.a).keep({"x": ["y"]}),
        TypeMismatchError,
        ("keep takes parts of a struct", "i64"),
    ),
    "parts in a tuple": (
        lambda r: dsl.struct_of(x=r.a).keep(("x", ["y"])),
        InvalidArgumentError,
        ("by its name or position", '{"field": ["part"]}'),
    ),
    "parts as a text": (
        lambda r: sd.struct_of(x=sd.struct_of(y=r.a)).keep({"x": "y"}),
        InvalidArgumentError,
        ("a list of the parts of 'x'", "'y'"),
    ),
}


@pytest.mark.parametrize(("make", "error", "said"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(make: Make, error: type[sd.SubstraitDslError], said: tuple[str, ...]) -> None:
    with refused(error, *said):
        computed(make)
