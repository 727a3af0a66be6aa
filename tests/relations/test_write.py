"""Write: nothing put out, or the modified records; what fits into a table."""

from __future__ import annotations

import typing

import pytest

from substrait_dsl.algebra import relations as r
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.nodes import DETAIL, leaf, schema, text
from tests.support import refused

INPUT = leaf("x: i64, y: string")
TABLE = r.NamedObject(("db", "t"))
COLUMNS = schema("a: i64, b: string?")
INTO_TABLES: list[r.WriteOp] = ["insert", "delete", "update"]

TARGETS: dict[str, r.WriteTarget] = {
    "named": TABLE,
    "extension": r.ExtensionObject(DETAIL),
    "virtual": r.VirtualTarget("t", pin=True),
    "files": r.FilesTarget("/out", r.Parquet()),
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("op", INTO_TABLES)
def test_the_output_mode_says_what_is_put_out(target: r.WriteTarget, op: r.WriteOp) -> None:
    assert text(r.Write(INPUT, target, COLUMNS, op)) == ""
    assert text(r.Write(INPUT, target, COLUMNS, op, "modified_records")) == "a: i64, b: string?"  # the table's columns


@pytest.mark.parametrize("mode", r.CREATE_MODES)
def test_a_create_mode_belongs_to_a_ctas(mode: r.CreateMode) -> None:
    """Specification: "Required only for CTAS"."""
    assert r.Write(INPUT, TABLE, COLUMNS, "ctas", create_mode=mode).create_mode == mode
    for op in INTO_TABLES:
        with refused(InvalidArgumentError, "create mode belongs to a ctas", op):
            r.Write(INPUT, TABLE, COLUMNS, op, create_mode=mode)


def test_a_ctas_needs_a_create_mode() -> None:
    with refused(InvalidArgumentError, "create mode", "ctas"):
        r.Write(INPUT, TABLE, COLUMNS, "ctas")


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        ("a: i64", SchemaError, "has 1 columns, but 2 are given"),
        ("a: i64, b: string?, c: i64?", SchemaError, "has 3 columns, but 2 are given"),
        ("a: i32, b: string", TypeMismatchError, 'column "a" of the table is i32, but x: i64 is given'),
    ],
)
def test_what_does_not_fit_is_refused(columns: str, error: typing.Any, said: str) -> None:
    with refused(error, said):
        r.Write(INPUT, TABLE, schema(columns), "insert")


def test_a_nullable_column_does_not_fit_into_a_required_one() -> None:
    nullable = leaf("x: i64?, y: string")
    assert text(r.Write(nullable, TABLE, schema("a: i64?, b: string"), "insert", "modified_records")) != ""
    with refused(TypeMismatchError, 'column "a" of the table is required', "x: i64? may be NULL"):
        r.Write(nullable, TABLE, schema("a: i64, b: string"), "insert")


def test_words_that_are_none_name_those_that_are() -> None:
    wrong: typing.Any = "upsert"
    with refused(InvalidChoiceError, "write operation", '"insert", "delete", "update", "ctas"'):
        r.Write(INPUT, TABLE, COLUMNS, wrong)
    with refused(InvalidChoiceError, "output mode", '"no_output", "modified_records"'):
        r.Write(INPUT, TABLE, COLUMNS, "insert", wrong)
    with refused(InvalidChoiceError, "create mode", '"error_if_exists"'):
        r.Write(INPUT, TABLE, COLUMNS, "ctas", create_mode=wrong)


def test_targets_have_names() -> None:
    for names in ((), ("db", "")):
        with refused(InvalidArgumentError, "at least one part and none empty"):
            r.NamedObject(names)
    with refused(InvalidArgumentError, "needs a name"):
        r.VirtualTarget("")
    with refused(InvalidArgumentError, "needs the URI"):
        r.FilesTarget("", r.Parquet())


def test_folders_are_named_after_columns_that_are_there_and_are_texts() -> None:
    """Specification: the path "supports the inclusion of field references"."""
    lists = schema("a: i64, b: string?, c: list<i64>, d: nstruct<x: i64>, e: map<string, i64>, f: binary")
    target = r.FilesTarget("/out", r.Parquet(), ("b", "a"))
    rows = r.Read(lists, r.NamedTable(("t",)))
    assert text(r.Write(rows, target, lists, "insert", "modified_records")) == str(lists)
    with refused(UnknownFieldError, 'no column "bb" that folders can be named after', 'did you mean "b"'):
        r.Write(rows, r.FilesTarget("/out", r.Parquet(), ("bb",)), lists, "insert")
    for name in "cdef":
        with refused(TypeMismatchError, f'folders cannot be named after column "{name}"'):
            r.Write(rows, r.FilesTarget("/out", r.Parquet(), (name,)), lists, "insert")
    with refused(SchemaError, "none is left for the files"):
        r.Write(INPUT, target, COLUMNS, "insert")
    with refused(InvalidArgumentError, '"a" does so twice'):
        r.FilesTarget("/out", r.Parquet(), ("a", "b", "a"))
    with refused(InvalidArgumentError, "partition_columns of FilesTarget must be a tuple of column names"):
        r.FilesTarget("/out", r.Parquet(), (1,))  # type: ignore[arg-type]  # wrong
