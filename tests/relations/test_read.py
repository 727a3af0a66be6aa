"""Read: the schema of the data, after the mask; filters see the schema before it; rows and files are checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import FieldReference, Literal, MaskItem, OuterReference, StructMask
from substrait_dsl.algebra.relations import (
    DelimitedText,
    LocalFiles,
    NamedTable,
    Read,
    Record,
    VirtualTable,
)
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import I64, Boolean, String, Struct
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    LiteralError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import columns, distribution, ordering, refused, table

# To a type checker they are anything: some tests call them wrongly on purpose.
read_named: Any = sd.read_named
read_files: Any = sd.read_files
read_virtual: Any = sd.read_virtual

AB = {"a": "i64", "b": "string?"}


def test_the_output_is_the_declared_schema_and_nothing_is_known_of_its_order() -> None:
    read: Any = read_named(("catalog", "db", "orders"), AB)
    assert columns(read) == "a: i64, b: string?"
    assert read._rel.definition == NamedTable(("catalog", "db", "orders"))
    assert (ordering(read), distribution(read)) == ([], None)


@pytest.mark.parametrize("name", ["", (), ("db", "")])
def test_a_table_name_has_at_least_one_part_and_no_empty_one(name: str | tuple[str, ...]) -> None:
    with refused(InvalidArgumentError, "read_named", "at least one part"):
        read_named(name, AB)


# --- masks ---


def test_columns_are_read_in_the_order_asked_for() -> None:
    assert columns(read_named("t", {**AB, "c": "date"}, columns=["c", "a"])) == "c: date, a: i64"


def test_a_mask_reaches_into_structs_and_unwraps_nothing() -> None:
    place = Struct.of({"city": String(nullable=True), "zip": String()}, nullable=True)
    schema = NamedStruct.of({"id": I64(), "place": place})
    mask = StructMask((MaskItem(1, StructMask((MaskItem(1),))), MaskItem(0)))
    read = sd.Relation(Read(schema, NamedTable(("t",)), projection=mask))
    assert columns(read) == "place: struct<string>?, id: i64"
    assert read._rel.schema.depth_first_names() == ("place", "zip", "id")


def test_a_mask_that_does_not_fit_is_refused() -> None:
    schema = NamedStruct.of({"id": I64()})
    with refused(UnknownFieldError, "no field 3"):
        Read(schema, NamedTable(("t",)), projection=StructMask((MaskItem(3),)))
    with refused(TypeMismatchError, "only a struct", '"id" is i64'):
        Read(schema, NamedTable(("t",)), projection=StructMask((MaskItem(0, StructMask(())),)))
    with refused(UnknownFieldError, "read_named", '"idd"', 'did you mean "id"'):
        read_named("t", {"id": "i64"}, columns=["idd"])


# --- filters ---


@pytest.mark.parametrize("which", ["filter", "best_effort_filter"])
def test_a_filter_may_use_a_column_that_the_mask_drops(which: str) -> None:
    condition: dict[str, Any] = {which: lambda r: r.a > 1}
    read = sd.read_named("t", AB, columns=["b"], **condition)
    assert columns(read) == "b: string?"
    assert getattr(read._rel, which) is not None


@pytest.mark.parametrize("which", ["filter", "best_effort_filter"])
def test_a_filter_is_a_boolean(which: str) -> None:
    with refused(TypeMismatchError, "read_named", "boolean", "i64"):
        read_named("t", AB, **{which: lambda r: r.a})


# --- virtual tables ---


def test_rows_are_tuples_or_dicts() -> None:
    by_position = sd.read_virtual([(1, "x"), (2, None)], AB)
    by_name = sd.read_virtual([{"b": "x", "a": 1}, {"a": 2, "b": None}], AB)
    assert columns(by_position) == "a: i64, b: string?"
    assert by_position._rel == by_name._rel


def test_there_may_be_no_rows() -> None:
    assert columns(read_virtual([], AB)) == "a: i64, b: string?"


def test_a_value_may_be_a_constant_expression() -> None:
    assert columns(read_virtual([(sd.lit(1) + 2, "x")], AB)) == "a: i64, b: string?"


def test_rows_that_do_not_fit_are_refused() -> None:
    with refused(SchemaError, "read_virtual", "row 1", "3 values", "2 columns"):
        read_virtual([(1, "x"), (1, "x", 2)], AB)
    with refused(LiteralError, "read_virtual", "row 0", '"a"', "'one'", "i64"):
        read_virtual([("one", "x")], AB)
    with refused(LiteralError, "read_virtual", "row 0", '"a"', "NULL", "required"):
        read_virtual([(None, "x")], AB)
    with refused(UnknownFieldError, "read_virtual", "row 0", '"aa"', 'did you mean "a"'):
        read_virtual([{"aa": 1, "b": "x"}], AB)
    with refused(SchemaError, "read_virtual", "row 0", '"b"', "None"):
        read_virtual([{"a": 1}], AB)
    with refused(InvalidArgumentError, "read_virtual", "row 0", "a tuple or a dict"):
        read_virtual(["ab"], AB)
    with refused(TypeMismatchError, "read_virtual", "row 0", '"a" is i64', "i32"):
        read_virtual([(sd.lit(1, sd.I32), "x")], AB)
    with refused(TypeMismatchError, "read_virtual", "row 0", '"a" is i64', "i64?"):
        read_virtual([(sd.null(sd.I64), "x")], AB)


def test_a_row_refers_to_no_column() -> None:
    with refused(UnknownFieldError, "read_virtual", '"a"'):
        read_virtual([(sd.col("a"), "x")], AB)
    outer = FieldReference(0, I64(), OuterReference(1))
    with refused(InvalidArgumentError, "row 0", '"a"', "no input"):
        Read(NamedStruct.of({"a": I64()}), VirtualTable((Record((outer,)),)))


def test_a_row_holds_no_subquery() -> None:
    """Spec decision 54: constant expressions only."""
    one = table("n: i64").aggregate(n=lambda r: sd.functions.count(r.n))
    with refused(InvalidArgumentError, "read_virtual", "row 0", '"a"', "subquery"):
        read_virtual([(sd.scalar_subquery(one), "x")], AB)


# --- files ---


def test_a_local_path_becomes_a_file_uri_and_a_uri_stays() -> None:
    read: Any = read_files([Path("/data/x.parquet"), "s3://bucket/y"], AB, kind="file")
    definition = read._rel.definition
    assert isinstance(definition, LocalFiles)
    assert [(item.uri, item.kind) for item in definition.items] == [
        ("file:///data/x.parquet", "file"),
        ("s3://bucket/y", "file"),
    ]


@pytest.mark.parametrize(
    ("path", "kind", "uri"),
    [
        ("/d/a b.parquet", "path", "file:///d/a%20b.parquet"),
        ("/d/a%20b#1[x].parquet", "file", "file:///d/a%2520b%231%5Bx%5D.parquet"),
        (Path("/d/\u00e9"), "folder", "file:///d/%C3%A9"),
        ("/d/k=1, 2/*/[a-c]?{x,y}%", "glob", "file:///d/k=1,%202/*/[a-c]?{x,y}%25"),
        ("file:///d/a%20b", "path", "file:///d/a%20b"),
    ],
)
def test_characters_that_uris_write_otherwise(path: str | Path, kind: Any, uri: str) -> None:
    read: Any = read_files(path, AB, kind=kind)
    assert read._rel.definition.items[0].uri == uri


def test_words_outside_the_choices_are_refused() -> None:
    with refused(InvalidChoiceError, "read_files", "'parqet'", 'did you mean "parquet"'):
        read_files("/x", AB, format="parqet")
    with refused(InvalidChoiceError, "read_files", "'fold'", 'did you mean "folder"'):
        read_files("/x", AB, kind="fold")
    with refused(InvalidArgumentError, "read_files", "at least one path"):
        read_files([], AB)


def test_delimited_text_has_string_columns() -> None:
    with refused(TypeMismatchError, "read_files", '"a" is declared i64', "cast"):
        read_files("/x.csv", AB, format="csv")


def test_a_nullable_column_of_text_needs_a_text_for_null() -> None:
    with refused(SchemaError, "read_files", '"b"', "null_value"):
        read_files("/x.csv", {"b": "string?"}, format="csv")
    read = sd.read_files("/x.tbl", {"b": "string?"}, format=DelimitedText(field_delimiter="|", null_value=""))
    assert columns(read) == "b: string?"


def test_only_a_virtual_table_of_one_unfiltered_row_surely_has_one_row() -> None:
    assert read_virtual([(1, "x")], AB)._rel.single_row
    assert not read_virtual([(1, "x"), (2, "y")], AB)._rel.single_row
    assert not read_virtual([], AB)._rel.single_row
    assert not read_named("t", AB)._rel.single_row
    assert not read_virtual([(1, "x")], AB).filter(lambda r: r.a > 1)._rel.single_row
    one: Any = read_virtual([(1, "x")], AB)._rel
    condition = Literal(True, Boolean())
    assert not Read(one.base_schema, one.definition, filter=condition).single_row
    assert not Read(one.base_schema, one.definition, best_effort_filter=condition).single_row
