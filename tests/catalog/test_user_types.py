"""User-defined types of the specification's extensions are as these declare them, wherever a type is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.catalog.user_types import type_problem
from substrait_dsl.errors import InvalidArgumentError
from tests.support import refused

GEOMETRY = "extension:io.substrait:functions_geometry"
UNKNOWN, WRONG = t.UserDefined(GEOMETRY, "geometri"), t.UserDefined(GEOMETRY, "geometry", (5,))
SAID: dict[t.Type, str] = {
    UNKNOWN: f'"{GEOMETRY}" has no type "geometri" (did you mean "geometry"?)',
    WRONG: "u!geometry<5> has 1 parameter; the type takes 0",
}
PLACES: dict[str, Callable[[t.Type], object]] = {
    "a column": lambda kind: sd.read_named("t", {"a": kind}),
    "a column, nullable": lambda kind: sd.read_named("t", {"a": kind.as_nullable()}),
    "inside a list": lambda kind: sd.read_named("t", {"a": t.List(kind)}),
    "inside a struct and a map": lambda kind: sd.read_named("t", {"a": t.Struct((t.Map(t.String(), kind),))}),
    "a parameter of another type": lambda kind: sd.read_named("t", {"a": t.UserDefined("extension:a:b", "x", (kind,))}),
    "a parameter": lambda kind: sd.parameter(1, kind),
    "a NULL": lambda kind: sd.null(kind),
}


@pytest.mark.parametrize("kind", SAID, ids=str)
@pytest.mark.parametrize("place", PLACES)
def test_a_type_that_its_extension_does_not_declare_is_refused(kind: t.Type, place: str) -> None:
    with refused(InvalidArgumentError, SAID[kind]):
        PLACES[place](kind)


@pytest.mark.parametrize("place", PLACES)
def test_others_are_taken(place: str) -> None:
    for kind in (t.UserDefined(GEOMETRY, "geometry"), t.UserDefined("extension:acme:t", "geometri", (5,)), t.I64()):
        PLACES[place](kind)


def test_every_type_that_the_specification_declares_is_right() -> None:
    extensions = standard_catalog().extensions
    declared = [each for extension in extensions.values() for each in extension.types.values() if not each.parameters]
    assert {each.name for each in declared} >= {"geometry", "u8", "u64"}
    for each in declared:
        kind: Any = t.UserDefined(each.urn, each.name)
        assert type_problem(extensions, kind) is None
        assert [part for part in t.types_in(t.Func((t.List(kind),), kind)) if part == kind] == [kind, kind]
