"""User-defined types of the specification's extensions are as these declare them, wherever a type is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.catalog.user_types import type_problem
from substrait_dsl.errors import CatalogError, InvalidArgumentError
from tests.support import refused

GEOMETRY = "extension:io.substrait:functions_geometry"
UNKNOWN, WRONG = t.UserDefined(GEOMETRY, "geometri"), t.UserDefined(GEOMETRY, "geometry", (5,))
SAID: dict[t.Type, str] = {
    UNKNOWN: f'"{GEOMETRY}" has no type "geometri" (did you mean "geometry"?)',
    WRONG: "u!geometry<5> has 1 parameter; the type takes 0",
}
PLACES: dict[str, Callable[[t.Type], object]] = {
    "a column": lambda type_: sd.read_named("t", {"a": type_}),
    "a column, nullable": lambda type_: sd.read_named("t", {"a": type_.as_nullable()}),
    "inside a list": lambda type_: sd.read_named("t", {"a": t.List(type_)}),
    "inside a struct and a map": lambda type_: sd.read_named("t", {"a": t.Struct((t.Map(t.String(), type_),))}),
    "a parameter of another type": lambda type_: sd.read_named(
        "t", {"a": t.UserDefined("extension:a:b", "x", (type_,))}
    ),
    "a parameter": lambda type_: sd.parameter(1, type_),
    "a NULL": lambda type_: sd.null(type_),
}


@pytest.mark.parametrize("type_", SAID, ids=str)
@pytest.mark.parametrize("place", PLACES)
def test_a_type_that_its_extension_does_not_declare_is_refused(type_: t.Type, place: str) -> None:
    with refused(InvalidArgumentError, SAID[type_]):
        PLACES[place](type_)


@pytest.mark.parametrize("place", PLACES)
def test_others_are_taken(place: str) -> None:
    for type_ in (t.UserDefined(GEOMETRY, "geometry"), t.UserDefined("extension:acme:t", "geometri", (5,)), t.I64()):
        PLACES[place](type_)


def test_every_type_that_the_specification_declares_is_right() -> None:
    extensions = standard_catalog().extensions
    declared = [each for extension in extensions.values() for each in extension.types.values() if not each.parameters]
    assert {each.name for each in declared} >= {"geometry", "u8", "u64"}
    for each in declared:
        kind: Any = t.UserDefined(each.urn, each.name)
        assert type_problem(extensions, kind) is None
        assert [part for part in t.types_in(t.Func((t.List(kind),), kind)) if part == kind] == [kind, kind]


VECTORS = """\
urn: extension:com.example:v
types:
  - {name: pair, structure: {one: u!vec<1>, other: u!vec<8>}}
  - name: vec
    parameters: [{name: n, type: integer, min: 1, max: 8}]
  - name: box
    parameters: [{name: of, type: dataType}, {name: note, type: string, optional: true}]
scalar_functions:
  - {name: grow, impls: [{args: [{name: x, value: 'u!vec<n>'}], return: 'u!vec<n + 1>'}]}
  - {name: grow_all, impls: [{args: [{name: x, value: 'list<u!vec<n>>'}], return: 'list<u!vec?<n + 1>>'}]}
  - {name: boxed, impls: [{args: [{name: x, value: any1}], return: 'u!box<any1>'}]}
"""


def vector(length: int) -> Any:
    return t.UserDefined("extension:com.example:v", "vec", (length,))


@pytest.mark.parametrize(
    ("name", "around"), [("grow", lambda kind: kind), ("grow_all", lambda kind: t.List(kind.as_nullable()))]
)
def test_a_function_makes_no_type_that_its_extension_does_not_declare(name: str, around: Callable[[Any], Any]) -> None:
    """The plan was made, and refused when it was read."""
    catalog = standard_catalog().with_extension(VECTORS.replace("list<u!vec<n>>", "list<u!vec?<n>>"))
    call = getattr(sd.Functions(catalog), name)

    def grown(length: int) -> Any:
        return sd.read_named("t", {"a": around(vector(length))}).select(x=lambda r: call(r.a))

    assert grown(7).schema["x"] == around(vector(8))
    sd.Plan.from_bytes(grown(7).to_plan().to_bytes(), catalog=catalog, strict=True)
    for _ in range(2):  # nor is it remembered
        with refused(
            InvalidArgumentError, 'select, column "x": ', f"{name} of", "parameter n of u!vec<9> is at most 8"
        ):
            grown(8)


def test_a_type_of_a_type_is_looked_into() -> None:
    boxed = sd.Functions(standard_catalog().with_extension(VECTORS)).boxed
    rows = sd.read_named("t", {"a": vector(8), "b": vector(9)})  # nobody knows yet what vectors there are
    assert str(rows.select(x=lambda r: boxed(r.a)).schema["x"]) == "u!box<u!vec<8>>"
    with refused(InvalidArgumentError, "boxed", "u!box<u!vec<9>>", "parameter n of u!vec<9> is at most 8, got 9"):
        rows.select(x=lambda r: boxed(r.b))


def test_the_columns_of_a_relation_of_others_are_as_declared() -> None:
    catalog = standard_catalog().with_extension(VECTORS)
    assert catalog.with_relation("type.googleapis.com/a.B", {"a": "u!vec<8>"}).relations
    for kind in ("list<u!vec<9>>", vector(9)):
        with refused(InvalidArgumentError, "with_relation", '"a"', "parameter n of u!vec<9> is at most 8, got 9"):
            catalog.with_relation("type.googleapis.com/a.B", {"a": kind})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("u!vec<n + 1>", "u!vec<9>", "function grow, overload 1: parameter n of u!vec<9> is at most 8, got 9"),
        ("u!vec<n + 1>", "if n > 1 then u!vec?<0> else i64", "parameter n of u!vec<0> is at least 1, got 0"),
        ("u!vec<n + 1>", "u!vec<string>", "parameter n of u!vec<string> is of the kind integer, got string"),
        ("u!vec<n + 1>", "u!vec", "u!vec has 0 parameters; the type takes 1"),
        (
            "value: 'u!vec<n>'",
            "value: 'list<u!vec<n, n>>'",
            "argument x: u!vec<n,n> has 2 parameters; the type takes 1",
        ),
        ("u!box<any1>", "u!box<any1, 5>", "parameter note of u!box<any1,5> is of the kind string, got 5"),
        ("u!box<any1>", "u!box<8>", "parameter of of u!box<8> is of the kind dataType, got 8"),
        ("other: u!vec<8>", "other: u!vec<9>", "type pair: parameter n of u!vec<9> is at most 8, got 9"),
    ],
)
def test_the_types_in_a_file_are_as_it_declares_them(old: str, new: str, said: str) -> None:
    assert old in VECTORS
    with refused(CatalogError, said):
        standard_catalog().with_extension(VECTORS.replace(old, new))


def test_the_types_of_a_file_that_another_one_depends_on_are_as_declared() -> None:
    catalog = standard_catalog().with_extension(VECTORS)
    text = """\
urn: extension:com.example:w
dependencies: {v: "extension:com.example:v"}
scalar_functions:
  - {name: flat, impls: [{args: [{name: x, value: 'v.u!vec<8>'}], return: 'v.u!vec<1>'}]}
"""
    assert catalog.with_extension(text).named("flat")
    with refused(CatalogError, "argument x: parameter n of u!vec<9> is at most 8, got 9"):
        catalog.with_extension(text.replace("<8>", "<9>"))
