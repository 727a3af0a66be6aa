"""Data definition: no output; what each operation on a table and on a view takes."""

from __future__ import annotations

import typing

import pytest

from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal, literal
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, InvalidChoiceError, SchemaError, TypeMismatchError
from tests.nodes import DETAIL, i64, leaf, schema, text
from tests.support import refused

TARGET = r.NamedObject(("db", "t"))
COLUMNS = schema("a: i64, b: string?")
DEFAULTS = (i64(0), literal("x", t.String()))
INPUT = leaf("x: i64, y: string")

DEFINING: list[r.DdlOp] = ["create", "create_or_replace", "alter"]
DROPPING: list[r.DdlOp] = ["drop", "drop_if_exist"]


@pytest.mark.parametrize("op", DEFINING)
def test_a_table_is_defined_by_a_schema_and_perhaps_defaults(op: r.DdlOp) -> None:
    for target in (TARGET, r.ExtensionObject(DETAIL)):
        assert text(r.Ddl(target, "table", op, COLUMNS)) == ""
        assert r.Ddl(target, "table", op, COLUMNS, DEFAULTS).inputs == ()
    with refused(InvalidArgumentError, f"{op} table needs a schema"):
        r.Ddl(TARGET, "table", op)
    with refused(InvalidArgumentError, f"{op} table needs no view definition"):
        r.Ddl(TARGET, "table", op, COLUMNS, view_definition=INPUT)


@pytest.mark.parametrize("op", DEFINING)
def test_a_view_is_defined_by_a_relation(op: r.DdlOp) -> None:
    """Specification: "Required for VIEW CREATE/CREATE_OR_REPLACE/ALTER"."""
    view = r.Ddl(TARGET, "view", op, COLUMNS, view_definition=INPUT)
    assert text(view) == ""
    assert view.inputs == (INPUT,)  # spec decision 46: that of a view is the only input there is
    with refused(InvalidArgumentError, f"{op} view needs a view definition"):
        r.Ddl(TARGET, "view", op, COLUMNS)


@pytest.mark.parametrize("op", DROPPING)
@pytest.mark.parametrize("kind", r.DDL_OBJECTS)
def test_a_drop_takes_a_name_only(op: r.DdlOp, kind: r.DdlObject) -> None:
    """Specification: "Required (except for DROP operations)"."""
    assert text(r.Ddl(TARGET, kind, op)) == ""
    more: list[dict[str, typing.Any]] = [
        {"table_schema": COLUMNS},
        {"defaults": DEFAULTS},
        {"view_definition": INPUT},
    ]
    for given in more:
        with refused(InvalidArgumentError, f"{op} {kind} takes no schema, no defaults and no definition"):
            r.Ddl(TARGET, kind, op, **given)


def test_a_view_has_the_columns_of_its_definition() -> None:
    with refused(SchemaError, "the view has 1 columns, but 2 are given"):
        r.Ddl(TARGET, "view", "create", schema("a: i64"), view_definition=INPUT)
    with refused(TypeMismatchError, 'column "a" of the view is i32'):
        r.Ddl(TARGET, "view", "create", schema("a: i32, b: string"), view_definition=INPUT)


@pytest.mark.parametrize(
    ("defaults", "error", "said"),
    [
        ((i64(0),), SchemaError, "2 columns, but 1 defaults"),
        ((i64(0), i64(0)), TypeMismatchError, 'column "b" is string?, but its default is i64'),
    ],
)
def test_defaults_have_the_types_of_the_columns(defaults: tuple[Literal, ...], error: typing.Any, said: str) -> None:
    with refused(error, said):
        r.Ddl(TARGET, "table", "create", COLUMNS, defaults)


def test_words_that_are_none_name_those_that_are() -> None:
    wrong: typing.Any = "creat"
    with refused(InvalidChoiceError, "data definition", 'did you mean "create"'):
        r.Ddl(TARGET, "table", wrong, NamedStruct(()))
    with refused(InvalidChoiceError, "kind of object", '"table", "view"'):
        r.Ddl(TARGET, wrong, "drop")
