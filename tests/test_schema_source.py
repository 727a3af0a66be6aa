"""Schema classes as source: what is written has, when it runs, the columns that it was written for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any
from typing import Literal as L

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, SchemaError, SubstraitDslError, UnsupportedError
from substrait_dsl.fluent.schema_source import WIDTH, SchemaSource, schema_class_source

POINT = sd.UserDefined("extension:io.substrait:extension_types", "point")


class City(sd.Schema):
    name: sd.String
    center: Annotated[sd.Struct[sd.DynRow], sd.Struct((sd.FP64(), sd.FP64()))]


class Address(sd.Schema):
    street: sd.Nullable[sd.VarChar[L[40]]]
    city: sd.Nullable[sd.Struct[City]]


class Scalars(sd.Schema):
    flag: sd.Boolean
    small: sd.I8
    day: sd.Nullable[sd.Date]
    uuid: sd.UUID
    years: sd.IntervalYear


class Sized(sd.Schema):
    price: sd.Decimal[L[38], L[0]]
    total: sd.Nullable[sd.Decimal[L[15], L[2]]]
    code: sd.FixedChar[L[3]]
    raw: sd.FixedBinary[L[16]]
    at: sd.PrecisionTimestampTZ[L[6]]
    took: sd.Nullable[sd.IntervalDay[L[6]]]


class Nested(sd.Schema):
    home: sd.Struct[Address]
    former: sd.List[sd.Nullable[sd.Struct[Address]]]
    by_kind: sd.Map[sd.String, sd.Nullable[sd.List[sd.Struct[City]]]]


class Foreign(sd.Schema):
    place: Annotated[sd.UserDefined, POINT]
    perhaps: sd.Nullable[Annotated[sd.UserDefined, POINT]]
    places: sd.List[Annotated[sd.UserDefined, POINT]]
    twice: Annotated[sd.Func, sd.Func((sd.I64(), sd.String(nullable=True)), sd.I64())]


class Unicode(sd.Schema):
    größe: sd.I64
    名: sd.Struct[City]
    match: sd.I64
    _private: sd.I64


HIDING = NamedStruct.of(
    {
        "sd": sd.I64(),
        "Literal": sd.VarChar(5),
        "Annotated": POINT,
        "Out": sd.Struct.of({"x": sd.I64()}),
        "OutHome": sd.I64(),
        "home": sd.Struct.of({"x": sd.I64()}),
    }
)
"""Columns that are called as what the source uses is."""

LONG = NamedStruct.of(
    {
        "by_customer_and_country": sd.Map(
            sd.VarChar(40), sd.Map(sd.VarChar(2), sd.List(sd.Decimal(38, 2, nullable=True)), nullable=True)
        ),
        "foreign": sd.UserDefined("extension:com.example.of.a.long.name:types_of_places_and_of_ways", "place, way"),
    }
)

FIELDS = {
    "odd": sd.Struct.of({"a b": sd.I64(), "class": sd.String()}),
    "twice": sd.Struct((sd.I64(), sd.I64()), ("x", "x")),
    "none": sd.Struct(()),
    "unnamed": sd.List(sd.Struct((sd.I64(), sd.Struct.of({"x": sd.I64()})))),
    "mangled": sd.Struct.of({"_OutMangled__x": sd.I64()}),
    "ligature": sd.Struct.of({"\ufb01n": sd.I64()}),  # Python would read "fin"
}
"""Structs whose fields cannot be columns of a class."""

CASES: dict[str, NamedStruct] = {
    **{each.__name__: each.__struct__ for each in (Scalars, Sized, Nested, Foreign, Unicode)},
    "Long": LONG,
    "Hiding": HIDING,
    **{name: NamedStruct.of({name: type_}) for name, type_ in FIELDS.items()},
}


FITTING = ("Scalars", "Sized", "Nested", "Unicode")
"""Those of which no line has to be broken."""


def shown(struct: NamedStruct) -> str:
    """Columns with all that tells them apart: equal structs may have other names of fields."""
    return str(sd.RelationSchema(struct)) + str([repr(field) for field in struct])


def made(source: str, library: str, name: str = "Out") -> NamedStruct:
    names: dict[str, Any] = {library: sd}
    exec(compile(source, "source", "exec"), names)
    struct: NamedStruct = names[name].__struct__
    return struct


@pytest.mark.parametrize("case", CASES)
def test_a_class_has_the_columns_that_it_is_written_for(case: str) -> None:
    source = SchemaSource({"Out": CASES[case]})
    text = source.library_import + source.typing_import + "\n".join(source.classes)
    assert shown(made(text, "nothing")) == shown(CASES[case])
    assert max(map(len, text.splitlines())) <= WIDTH
    assert made(schema_class_source("Out", CASES[case]), source.library_import.split()[-1]) == CASES[case]


def test_a_struct_is_a_class_of_its_own_and_nullability_stands_where_it_belongs() -> None:
    assert (
        schema_class_source("Out", Address.__struct__)
        == """\
from typing import Annotated, Literal


class OutCity(sd.Schema):
    name: sd.String
    center: Annotated[sd.Struct[sd.DynRow], sd.Struct((sd.FP64(), sd.FP64()))]


class Out(sd.Schema):
    street: sd.Nullable[sd.VarChar[Literal[40]]]
    city: sd.Nullable[sd.Struct[OutCity]]
"""
    )


def test_no_two_classes_of_a_module_have_one_name() -> None:
    home = sd.Struct.of({"x": sd.I64()})
    source = SchemaSource(
        {"A": NamedStruct.of({"b": home, "B": home}), "AB": NamedStruct.of({"b": home}), "AB_": CASES["Scalars"]}
    )
    classes = [statement for text in source.classes for statement in ast.parse(text).body]
    names = [each.name for each in classes if isinstance(each, ast.ClassDef)]
    assert len(names) == len({*names}) == 6


REFUSED: dict[str, tuple[str, dict[str, sd.Type] | list[tuple[str, sd.Type]], type[SubstraitDslError], str]] = {
    "space": ("Out", {"a": sd.I64(), "a b": sd.I64()}, SchemaError, 'Out: "a b" can be no attribute'),
    "keyword": ("Out", {"class": sd.I64()}, SchemaError, '"class" can be no attribute'),
    "digit": ("Out", {"2nd": sd.I64(), "": sd.I64()}, SchemaError, '"2nd", "" can be no attribute'),
    "private": ("Out", {"__x": sd.I64()}, SchemaError, '"__x" can be no attribute'),
    "mangled": ("Out", {"_Out__x": sd.I64()}, SchemaError, '"_Out__x" can be no attribute'),
    "normalised": ("Out", {"\ufb01n": sd.I64()}, SchemaError, "can be no attribute"),
    "twice": ("Out", [("a", sd.I64()), ("a", sd.I64())], SchemaError, '"a" stands twice'),
    "none": ("Out", {}, SchemaError, "at least one column"),
    "class name": ("no name", {"a": sd.I64()}, InvalidArgumentError, "identifier"),
    "keyword of a class": ("None", {"a": sd.I64()}, InvalidArgumentError, "identifier"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_class_can_declare_is_refused_by_name(case: str) -> None:
    name, columns, type_, words = REFUSED[case]
    with pytest.raises(type_, match=words):
        schema_class_source(name, NamedStruct.of(columns))


def test_a_parameter_that_programs_cannot_write_is_refused() -> None:
    from substrait_dsl.algebra.types.nested import EnumParameter

    type_ = sd.UserDefined("extension:acme:types", "flagged", (EnumParameter("RED"),))
    with pytest.raises(UnsupportedError, match="RED"):
        schema_class_source("Out", NamedStruct.of({"a": type_}))


def test_reveal_schema_shows_a_class_to_paste(capsys: pytest.CaptureFixture[str]) -> None:
    rows = sd.read_named("t", Address)
    assert sd.reveal_schema(rows, "Out") is rows
    assert capsys.readouterr().err == f"Schema class is\n{schema_class_source('Out', Address.__struct__)}"
    assert sd.reveal_schema(rows, name=None) is rows
    assert capsys.readouterr().err.startswith("Schema is street: varchar<40>?, city: ")


@pytest.mark.parametrize("name", ["", "a b", "class", "__x", 5, b"x"])
def test_reveal_schema_refuses_what_is_no_name_of_a_class(name: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"^reveal_schema: the name of a schema class"):
        sd.reveal_schema(sd.read_named("t", Address), name)


def test_formatters_and_linters_find_nothing(tmp_path: Path) -> None:
    schemas = {f"{name.title()}_": struct for name, struct in CASES.items() if name in FITTING}
    source = SchemaSource(schemas)
    assert not source.is_wrapped
    text = "\n\n".join(['"""Classes."""\n\n' + source.typing_import + "\n" + source.library_import, *source.classes])
    text = text.replace("Schema):\n", 'Schema):\n    """A class."""\n\n')
    (tmp_path / "classes.py").write_text(text, encoding="utf-8")
    (tmp_path / "ruff.toml").write_text('[lint]\nselect = ["E", "F", "I", "D1", "UP", "RUF100"]\n', encoding="utf-8")
    for command in (["check"], ["format", "--diff"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
