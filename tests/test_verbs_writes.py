"""Write, update and data definition: what they put out, what they hold, errors."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.relations import ExtensionObject, FilesTarget, NamedObject, Orc, Parquet, VirtualTarget
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    LiteralError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import columns, f, ordering, refused, table

# To a type checker they are anything: some tests call them wrongly on purpose.
update: Any = sd.update
create_table: Any = sd.create_table
create_view: Any = sd.create_view
files_target: Any = sd.files_target
virtual_target: Any = sd.virtual_target

T = table("a: i64, b: string?, c: decimal<5,2>")
AB = {"a": "i64", "b": "string?"}
MESSAGE = sd.AnyMessage("example.com/acme.Table", b"1")

# --- write ---

TARGETS: list[tuple[Any, Any]] = [
    ("t", NamedObject(("t",))),
    (("db", "t"), NamedObject(("db", "t"))),
    (["db", "t"], NamedObject(("db", "t"))),
    (sd.virtual_target("t"), VirtualTarget("t", pin=False)),
    (sd.virtual_target("t", pin=True), VirtualTarget("t", pin=True)),
    (sd.files_target("s3://bucket/t"), FilesTarget("s3://bucket/t", Parquet())),
    (sd.files_target("/data/t", "orc"), FilesTarget("file:///data/t", Orc())),
    (sd.extension_object(MESSAGE), ExtensionObject(MESSAGE)),
    (sd.files_target("s3://bucket/{a}"), FilesTarget("s3://bucket", Parquet(), ("a",))),
    (sd.files_target("/data/t/{b}/a={a}/", "orc"), FilesTarget("file:///data/t", Orc(), ("b", "a"))),
    (sd.files_target(Path("/data/{a}")), FilesTarget("file:///data", Parquet(), ("a",))),
    (sd.files_target("/{a}"), FilesTarget("file:///", Parquet(), ("a",))),
    (sd.files_target("file:///{a}"), FilesTarget("file:///", Parquet(), ("a",))),
    (sd.files_target("{a}"), FilesTarget(f"file://{quote(os.getcwd())}", Parquet(), ("a",))),
    (sd.files_target("/data/{{a}}/x{{}}y/{b}"), FilesTarget("file:///data/%7Ba%7D/x%7B%7Dy", Parquet(), ("b",))),
    (sd.files_target("s3://bucket/%7Ba%7D"), FilesTarget("s3://bucket/%7Ba%7D", Parquet())),
]


@pytest.mark.parametrize(("target", "expected"), TARGETS)
def test_targets(target: Any, expected: Any) -> None:
    assert T.write(target)._rel.target == expected


@pytest.mark.parametrize("op", ["insert", "delete", "update", "ctas"])
def test_a_write_puts_out_nothing_or_the_records_that_were_modified(op: Any) -> None:
    nullable = {"a": "i64?", "b": "string?", "c": "decimal<5,2>?"}
    assert columns(T.write("t", op)) == ""
    modified = T.sort("a").write("t", op, output="modified_records", schema=nullable)
    assert columns(modified) == "a: i64?, b: string?, c: decimal<5,2>?"
    assert ordering(modified) == []


def test_the_create_mode_of_a_ctas_is_to_fail_unless_it_says_otherwise() -> None:
    assert T.write("t", "ctas")._rel.create_mode == "error_if_exists"
    assert T.write("t", "ctas", create_mode="append_if_exists")._rel.create_mode == "append_if_exists"
    assert T.write("t", "insert")._rel.create_mode is None


def test_the_records_of_a_write_are_a_relation() -> None:
    counted = T.write("t", output="modified_records").aggregate(n=f.count())
    assert columns(counted) == "n: i64"


# --- update ---

CHANGES: list[tuple[Any, list[tuple[int, str]]]] = [
    # what is written; the position of each column and the type of its new value
    ({"a": lambda row: row.a + 1}, [(0, "i64")]),
    ({"a": sd.col("a") * 2, "b": "new"}, [(0, "i64"), (1, "string?")]),
    ({"b": None}, [(1, "string?")]),
    ({1: lambda row: row.b}, [(1, "string?")]),
    (lambda row: {"a": row.a - 1, "b": None}, [(0, "i64"), (1, "string?")]),
]


@pytest.mark.parametrize(("changes", "expected"), CHANGES)
def test_updates(changes: Any, expected: Any) -> None:
    """Spec decision 44: the output is the number of rows that were changed."""
    made = update(("db", "t"), AB, changes, where=lambda row: row.a > 5)
    assert columns(made) == "modified_records: i64"
    assert made._rel.table.names == ("db", "t")
    assert [(each.column, str(each.value.type)) for each in made._rel.transformations] == expected


def test_all_rows_are_updated_only_if_that_is_said() -> None:
    assert update("t", AB, {"a": 1}, where=True)._rel.condition == Literal(True, sd.Boolean())
    with pytest.raises(TypeError):
        update("t", AB, {"a": 1})


def test_the_condition_of_an_update_may_have_a_correlated_subquery() -> None:
    made = update("t", AB, {"a": 1}, where=lambda row: sd.exists(T.filter(lambda other: other.a == row.a)))
    assert made._rel.free_anchors == frozenset()
    assert columns(made) == "modified_records: i64"


# --- data definition ---


def test_tables_are_created_altered_and_dropped() -> None:
    created: Any = sd.create_table(("db", "t"), AB)._rel
    assert (created.object, created.op, created.target, created.defaults) == (
        "table",
        "create",
        NamedObject(("db", "t")),
        (),
    )
    assert str(created.table_schema) == "a: i64, b: string?"
    for made, op in [
        (sd.create_table("t", AB, or_replace=True), "create_or_replace"),
        (sd.alter_table("t", AB), "alter"),
        (sd.drop_table("t"), "drop"),
        (sd.drop_table("t", if_exists=True), "drop_if_exist"),
    ]:
        ddl: Any = made._rel
        assert (columns(made), ddl.object, ddl.op) == ("", "table", op)
    assert sd.drop_table(sd.extension_object(MESSAGE))._rel.target == ExtensionObject(MESSAGE)  # type: ignore[attr-defined]  # of a Ddl


def test_a_column_without_a_default_defaults_to_null() -> None:
    """The message holds a literal for every column."""
    created: Any = sd.create_table("t", {**AB, "d": "i8"}, {"a": 5})._rel
    assert created.defaults == (
        Literal(5, sd.I64()),
        Literal(None, sd.String(nullable=True)),
        Literal(None, sd.I8(nullable=True)),
    )


def test_views_are_created_altered_and_dropped() -> None:
    for made, op in [
        (sd.create_view("v", T), "create"),
        (sd.create_view("v", T, or_replace=True), "create_or_replace"),
        (sd.alter_view("v", T), "alter"),
    ]:
        ddl: Any = made._rel
        assert (columns(made), ddl.object, ddl.op) == ("", "view", op)
        assert (ddl.view_definition, ddl.table_schema) == (T._rel, T._rel.schema)
    assert [drop._rel.op for drop in (sd.drop_view("v"), sd.drop_view("v", if_exists=True))] == [  # type: ignore[attr-defined]  # of a Ddl
        "drop",
        "drop_if_exist",
    ]


# --- errors ---

MISTAKES: list[tuple[Any, Any, tuple[str, ...]]] = [
    (lambda: T.write(""), InvalidArgumentError, ("write", "none empty")),
    (lambda: T.write(("db", 1)), InvalidArgumentError, ("write", "tuple of str", "1")),
    (lambda: T.write(T), InvalidArgumentError, ("write", "name of a table")),
    (lambda: T.write("t", "append"), InvalidChoiceError, ("write", "'append'", 'write "insert"')),
    (lambda: T.write("t", "overwrite"), InvalidChoiceError, ('create_mode="replace_if_exists"',)),
    (lambda: T.write("t", "inser"), InvalidChoiceError, ('did you mean "insert"',)),
    (lambda: T.write("t", ["insert"]), InvalidChoiceError, ("unknown op ['insert']",)),
    (lambda: T.write("t", output="modified_tuples"), InvalidChoiceError, ('write "modified_records"',)),
    (lambda: T.write("t", "ctas", create_mode="overwrite"), InvalidChoiceError, ('write "replace_if_exists"',)),
    (lambda: T.write("t", create_mode="error_if_exists"), InvalidArgumentError, ("create mode", "ctas", "insert")),
    (lambda: T.write("t", schema=AB), SchemaError, ("write", "2 columns", "3 are given")),
    (lambda: T.select("b", "a").write("t", schema=AB), SchemaError, ("another order", 'select("a", "b")')),
    (lambda: T.select("a", "c").write("t", schema=AB), TypeMismatchError, ('"b"', "string?", "decimal<5,2>", "cast")),
    (
        lambda: T.select("a", "b").write("t", schema={"a": "i64", "b": "string"}),
        TypeMismatchError,
        ('"b"', "required", "string?"),
    ),
    (lambda: T.cross(T).write("t", "ctas"), SchemaError, ("write", "each column once", '"a"')),
    (lambda: T.write("t").write("u"), SchemaError, ("write", "no columns", 'output="modified_records"')),
    (lambda: T.write("t", "upsert"), InvalidChoiceError, ('write "update"', '"insert" for the others')),
    (lambda: virtual_target(""), InvalidArgumentError, ("virtual_target", "''")),
    (lambda: virtual_target(("a", "b")), InvalidArgumentError, ("virtual_target", "one text")),
    (lambda: files_target("s3://b/t", "xml"), InvalidChoiceError, ("files_target", "'xml'", '"parquet"')),
    (lambda: files_target("o/{x"), InvalidArgumentError, ("files_target", "a brace without its other", '"{{"')),
    (lambda: files_target("o/x}"), InvalidArgumentError, ("files_target", "a brace without its other")),
    (lambda: files_target("o/{}"), InvalidArgumentError, ("files_target", "braces without the name")),
    (lambda: files_target("o/a-{a}"), InvalidArgumentError, ("not a folder of its own", '"{a}" or "a={a}"')),
    (lambda: files_target("o/{a}{b}"), InvalidArgumentError, ("not a folder of its own",)),
    (lambda: files_target("o/b={a}"), InvalidArgumentError, ("not a folder of its own",)),
    (lambda: files_target("o/{a}/x"), InvalidArgumentError, ("a folder below those of columns",)),
    (lambda: files_target("o/{a}/{a}"), InvalidArgumentError, ("files_target", '"a" does so twice')),
    (lambda: T.write(files_target("o/{aa}")), UnknownFieldError, ("write", 'no column "aa"', 'did you mean "a"')),
    (lambda: T.write(files_target("o/{a}/{b}/{c}")), SchemaError, ("write", "none is left for the files")),
    (
        lambda: T.select("b").write(files_target("o", "csv")),
        SchemaError,
        ("write", 'column "b" of delimited text is nullable', "null_value", "assert_not_null()"),
    ),
    (lambda: T.write(files_target("o", "csv")), TypeMismatchError, ("write", 'column "a" is i64', "cast(String)")),
    (
        lambda: T.select("a", b=sd.lit("x")).write(files_target("o/{a}", "csv")),
        TypeMismatchError,
        ("write", 'delimited text holds strings, but column "a" is i64', 'with_columns(a=col("a").cast(String))'),
    ),
    (
        lambda: T.select(d=sd.lit("x"), c=lambda r: r.c).write(files_target("o", sd.DelimitedText(null_value=""))),
        TypeMismatchError,
        ("write", 'column "c" is decimal<5,2>', "cast(String)"),
    ),
    (lambda: files_target(5), InvalidArgumentError, ("files_target", "path or a URI", "5")),
    (lambda: sd.extension_object("t"), InvalidArgumentError, ("extension_object", "AnyMessage", "'t'")),  # type: ignore[arg-type]  # wrong
    (lambda: update("t", AB, {"aa": 1}, where=True), UnknownFieldError, ("update", '"aa"', 'did you mean "a"')),
    (lambda: update("t", AB, {"a": "x"}, where=True), LiteralError, ('update, column "a"', "'x'", "i64")),
    (lambda: update("t", AB, {"a": None}, where=True), LiteralError, ('column "a"', "NULL", "required")),
    (lambda: update("t", AB, {"a": sd.col("b")}, where=True), TypeMismatchError, ('"a"', "i64", "string?", "cast")),
    (lambda: update("t", AB, {"a": f.sum(sd.col("a"))}, where=True), TypeMismatchError, ("aggregate function",)),
    (lambda: update("t", AB, {"a": 1, 0: 2}, where=True), InvalidArgumentError, ('"a" is changed twice',)),
    (lambda: update("t", AB, {}, where=True), InvalidArgumentError, ("update", "at least one column")),
    (lambda: update("t", AB, [("a", 1)], where=True), InvalidArgumentError, ("dict of new values",)),
    (lambda: update("t", AB, {"a": 1}, where=lambda row: row.a), TypeMismatchError, ("update", "boolean", "i64")),
    (lambda: update("t", AB, {"a": 1}, where="a > 1"), TypeMismatchError, ("update", "boolean expression")),
    (lambda: update(T, AB, {"a": 1}, where=True), InvalidArgumentError, ("update", "name of a table")),
    (lambda: create_table("t", T), InvalidArgumentError, ("create_table", 'rel.write(name, "ctas")')),
    (lambda: create_table("t", {}), SchemaError, ("create_table", "at least one column")),
    (lambda: create_table("t", AB, {"aa": 1}), UnknownFieldError, ("create_table", '"aa"')),
    (lambda: create_table("t", AB, {"a": "x"}), LiteralError, ('the default of "a"', "'x'", "i64")),
    (lambda: create_table("t", AB, {"a": sd.lit(1)}), InvalidArgumentError, ("Python value",)),
    (lambda: create_table("t", AB, [1, 2]), InvalidArgumentError, ("defaults is a dict",)),
    (lambda: create_view("v", AB), InvalidArgumentError, ("create_view", "expected a relation")),
    (lambda: create_view("v", T.cross(T)), SchemaError, ("create_view", "each column once")),
]


@pytest.mark.parametrize(("call", "error", "said"), MISTAKES)
def test_mistakes(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()
