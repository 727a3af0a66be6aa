"""Reads of Iceberg tables, parts of files and tables of others; what is declared of the data; extension relations."""

from __future__ import annotations

import datetime as dt
import importlib
import urllib.parse
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

import substrait_dsl as sd
from substrait_dsl.algebra.properties import SINGLETON, OrderKey, partitioned
from substrait_dsl.algebra.relations import ExtensionTable, FileItem, IcebergTable, Parquet
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)
from tests.support import ascending, columns, distribution, f, ordering, refused, table

# To a type checker they are anything: some tests call them wrongly on purpose.
read_named: Any = sd.read_named
read_files: Any = sd.read_files
read_virtual: Any = sd.read_virtual
read_iceberg: Any = sd.read_iceberg
read_extension: Any = sd.read_extension
extension_leaf: Any = sd.extension_leaf
extension_multi: Any = sd.extension_multi

AB = {"a": "i64", "b": "string?", "s": sd.Struct.of({"x": sd.I64()})}
URI = "s3://warehouse/t/metadata/v1.json"
MESSAGE = sd.AnyMessage("example.com/acme.Table", b"1")

READS: list[Any] = [
    lambda **more: read_named("t", AB, **more),
    lambda **more: read_virtual([(1, "x", (2,))], AB, **more),
    lambda **more: read_files("t.parquet", AB, **more),
    lambda **more: read_iceberg(URI, AB, **more),
    lambda **more: read_extension(MESSAGE, AB, **more),
]

# --- what is declared of the data ---

ORDERINGS: list[tuple[Any, list[OrderKey]]] = [
    ("a", [ascending(0)]),
    (["b", "a"], [ascending(1), ascending(0)]),
    (sd.desc("a"), [OrderKey((0,), "desc_nulls_last")]),
    ([sd.clustered("b"), sd.asc("a", nulls="last")], [OrderKey((1,), "clustered"), OrderKey((0,), "asc_nulls_last")]),
    (lambda row: row.s["x"].desc(), [OrderKey((2, 0), "desc_nulls_last")]),
    ([OrderKey((2, 0), "clustered")], [OrderKey((2, 0), "clustered")]),
    ((), []),
]
DISTRIBUTIONS: list[tuple[Any, Any]] = [
    ("a", partitioned((0,))),
    (["a", sd.col("s")["x"]], partitioned((0,), (2, 0))),
    (lambda row: row.b, partitioned((1,))),
    ("singleton", SINGLETON),
    (sd.Distribution("singleton"), SINGLETON),
    (None, None),
]


@pytest.mark.parametrize("read", READS)
def test_every_read_may_declare_the_properties_of_its_data(read: Any) -> None:
    for given, expected in ORDERINGS:
        assert list(read(ordering=given).properties.ordering) == expected
    for given, expected in DISTRIBUTIONS:
        assert distribution(read(distribution=given)) == expected
    assert read(properties={"x": "1", "y": ""})._rel.name_values == (("x", "1"), ("y", ""))


def test_a_column_may_be_called_singleton() -> None:
    assert distribution(read_named("t", {"singleton": "i64"}, distribution="singleton")) == partitioned((0,))


def test_declared_properties_follow_the_columns_that_are_read() -> None:
    read = read_named("t", AB, columns=["b", "a"], ordering=["a", "s", "b"], distribution="a")
    assert (ordering(read), distribution(read)) == ([(1,)], partitioned((1,)))


# --- the data ---


@pytest.mark.parametrize("read", [READS[0], READS[2], READS[3], READS[4]])
def test_reads_filter_and_choose_columns(read: Any) -> None:
    chosen = read(filter=lambda row: row.a > 1, best_effort_filter=sd.col("a") < 9, columns=["b"])
    assert columns(chosen) == "b: string?"
    with refused(TypeMismatchError, "boolean"):
        read(filter=lambda row: row.a)


def test_iceberg_snapshots() -> None:
    def snapshot(**given: Any) -> Any:
        return read_iceberg(URI, AB, **given)._rel.definition

    assert snapshot() == IcebergTable(URI)
    assert snapshot(snapshot_id=77) == snapshot(snapshot_id="77") == IcebergTable(URI, snapshot_id="77")
    second = dt.datetime(1970, 1, 1, 1, 0, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))  # one second after the epoch
    assert snapshot(snapshot_timestamp=second) == IcebergTable(URI, snapshot_timestamp=1_000_000)
    assert snapshot(snapshot_timestamp=5) == IcebergTable(URI, snapshot_timestamp=5)


def test_tables_of_others() -> None:
    assert read_extension(MESSAGE, AB)._rel.definition == ExtensionTable(MESSAGE)


def test_parts_of_files() -> None:
    parts = [
        sd.FileSlice("/t.parquet", start=4, length=96),
        "/u.parquet",
        sd.FileSlice("/v.parquet", partition_index=2),
    ]
    assert read_files(parts, AB)._rel.definition.items == (
        FileItem("file:///t.parquet", Parquet(), start=4, length=96),
        FileItem("file:///u.parquet", Parquet()),
        FileItem("file:///v.parquet", Parquet(), partition_index=2),
    )
    assert read_files(parts[0], AB)._rel.definition.items == (
        FileItem("file:///t.parquet", Parquet(), start=4, length=96),
    )


def test_files_of_formats_of_others() -> None:
    form = sd.ExtensionFormat(MESSAGE)
    assert read_files("/t", AB, format=form)._rel.definition.items == (FileItem("file:///t", form),)
    assert read_files("file:/t", AB, format=form)._rel.definition.items == (FileItem("file:/t", form),)


def test_rows_of_constant_expressions() -> None:
    read = read_virtual([(sd.lit(1) + 2, f.concat(sd.lit("a"), "b"))], {"a": "i64", "b": "string?"})
    assert columns(read) == "a: i64, b: string?"
    with refused(TypeMismatchError, "read_virtual", "row 0", '"a" is i64', "string"):
        read_virtual([(sd.lit("x"),)], {"a": "i64"})
    with refused(TypeMismatchError, "read_virtual", '"a" is i64', "i64?"):
        read_virtual([(sd.null(sd.I64),)], {"a": "i64"})
    with refused(UnknownFieldError, "read_virtual", '"b"'):
        read_virtual([(sd.col("b"),)], {"a": "i64"})


# --- extension relations ---


class Packed:
    """What a ``google.protobuf.Any`` looks like."""

    type_url = MESSAGE.type_url
    value = MESSAGE.value


def test_extension_relations_have_the_schema_and_the_properties_that_they_declare() -> None:
    one, other = table("x: i64"), table("y: i64")
    leaf = extension_leaf(MESSAGE, AB, ordering="b", distribution="a")
    single = one.extension_single(MESSAGE, AB, ordering="b", distribution="a")
    multi = extension_multi([one, other], Packed(), AB, ordering="b", distribution="a")
    for relation, inputs in [(leaf, ()), (single, (one._rel,)), (multi, (one._rel, other._rel))]:
        assert columns(relation) == "a: i64, b: string?, s: struct<i64>"
        assert (ordering(relation), distribution(relation)) == ([(1,)], partitioned((0,)))
        assert relation._rel.inputs == inputs
        assert relation._rel.detail == MESSAGE
    assert extension_leaf(MESSAGE, AB).properties == sd.Properties()


def test_a_message_of_protobuf_is_packed() -> None:
    message = importlib.import_module("google.protobuf.wrappers_pb2").Int64Value(value=5)
    packed = extension_leaf(message, AB)._rel.detail
    # field 1, a varint: tag 8; then the value
    assert packed == sd.AnyMessage("type.googleapis.com/google.protobuf.Int64Value", b"\x08\x05")


# --- errors ---

T = table("a: i64")
MISTAKES: list[tuple[Any, Any, tuple[str, ...]]] = [
    (lambda: read_named("t", AB, ordering="c"), UnknownFieldError, ("read_named, ordering", '"c"')),
    (lambda: read_named("t", AB, ordering=lambda row: row.a + 1), InvalidArgumentError, ("ordering", "by columns")),
    (lambda: read_named("t", AB, ordering=None), InvalidArgumentError, ("ordering", "None")),
    (lambda: read_named("t", AB, distribution="c"), UnknownFieldError, ("read_named, distribution", "singleton")),
    (lambda: read_named("t", AB, distribution=()), InvalidArgumentError, ("partitioning", "at least one field")),
    (lambda: read_named("t", AB, distribution=lambda row: row.a + 1), InvalidArgumentError, ("by columns",)),
    (lambda: read_named("t", AB, distribution=sd.Distribution("partitioned")), InvalidArgumentError, ("at least one",)),
    (lambda: read_named("t", AB, ordering=OrderKey((7,), "clustered")), SchemaError, ("read_named", "no field 7")),
    (lambda: read_named("t", AB, properties={"x": 1}), InvalidArgumentError, ("read_named", "texts", "'x': 1")),
    (lambda: read_named("t", AB, properties=["x"]), InvalidArgumentError, ("read_named", "dict", "['x']")),
    (lambda: read_iceberg("", AB), InvalidArgumentError, ("read_iceberg", "''")),
    (lambda: read_iceberg(URI, AB, snapshot_id=1, snapshot_timestamp=1), InvalidArgumentError, ("not by both",)),
    (lambda: read_iceberg(URI, AB, snapshot_id=1.5), InvalidArgumentError, ("read_iceberg", "1.5")),
    (lambda: read_iceberg(URI, AB, snapshot_id=""), InvalidArgumentError, ("read_iceberg", "''")),
    (
        lambda: read_iceberg(URI, AB, snapshot_timestamp=dt.datetime(2026, 1, 1)),
        InvalidArgumentError,
        ("read_iceberg", "with time zone", "2026"),
    ),
    (lambda: read_iceberg(URI, AB, snapshot_timestamp="2026-01-01"), InvalidArgumentError, ("'2026-01-01'",)),
    (lambda: read_extension("t", AB), InvalidArgumentError, ("read_extension", "AnyMessage", "'t'")),
    (lambda: read_extension(sd.AnyMessage, AB), InvalidArgumentError, ("read_extension", "a message")),
    (lambda: sd.FileSlice("t", start=-1), InvalidArgumentError, ("start of FileSlice", "-1")),
    (lambda: sd.FileSlice("t", length=1.5), InvalidArgumentError, ("length of FileSlice", "1.5")),  # type: ignore[arg-type]  # wrong
    (lambda: read_files(sd.FileSlice("/t", start=1), AB, kind="glob"), InvalidArgumentError, ('write kind="file"',)),
    (lambda: read_files([5], AB), InvalidArgumentError, ("read_files", "path or a URI", "5")),
    (lambda: read_files("/t", AB, format=Parquet), InvalidChoiceError, ("read_files", "format", '"parquet"')),
    (lambda: extension_leaf("x", AB), InvalidArgumentError, ("extension_leaf", "AnyMessage")),
    (lambda: extension_leaf(MESSAGE, {}), SchemaError, ("extension_leaf", "at least one column")),
    (lambda: T.extension_single(MESSAGE, AB, ordering="c"), UnknownFieldError, ("extension_single, ordering", '"c"')),
    (lambda: extension_multi(T, MESSAGE, AB), InvalidArgumentError, ("extension_multi", "list of relations")),
    (lambda: extension_multi([T, "t"], MESSAGE, AB), InvalidArgumentError, ("expected a relation", "'t'")),
]


@pytest.mark.parametrize(("call", "error", "said"), MISTAKES)
def test_mistakes(call: Any, error: Any, said: tuple[str, ...]) -> None:
    with refused(error, *said):
        call()


# Paths


def uri_of(path: Any, **options: Any) -> str:
    read: Any = read_files(path, {"a": "i64"}, **options)._rel
    uri: str = read.definition.items[0].uri
    return uri


class Place:
    """A path of another library."""

    def __fspath__(self) -> str:
        return "/data/my file.parquet"


@pytest.mark.parametrize("name", [r"C:\data\my file.parquet", r"d:\ä%\x.parquet", r"\\server\share\a b.parquet"])
def test_a_path_of_windows_has_the_uri_that_python_gives_it(name: str) -> None:
    path = PureWindowsPath(name)
    assert urllib.parse.unquote(uri_of(path)) == urllib.parse.unquote(path.as_uri())
    assert uri_of(PureWindowsPath(r"C:\data\my file.parquet")) == "file:///C:/data/my%20file.parquet"
    assert uri_of(PureWindowsPath(r"C:\data\*.parquet"), kind="glob") == "file:///C:/data/*.parquet"


def test_a_text_that_is_a_path_of_windows_says_so() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        uri_of(r"C:\data\x.parquet")
    written = str(caught.value.hint).partition(" says so")[0].removeprefix("pathlib.")
    assert uri_of(eval(written, {"PureWindowsPath": PureWindowsPath})) == "file:///C:/data/x.parquet"
    with refused(InvalidArgumentError, "read_files", "absolute", "drive"):
        uri_of(PureWindowsPath(r"data\x.parquet"))


def test_the_home_folder_and_paths_of_other_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert uri_of("~/x.parquet") == uri_of(Path("~/x.parquet")) == "file:///home/ada/x.parquet"
    assert uri_of("./~/x.parquet").endswith("/~/x.parquet")
    assert uri_of(Place()) == uri_of(sd.FileSlice(Place())) == uri_of([Place()]) == "file:///data/my%20file.parquet"
    with refused(InvalidArgumentError, "expected a path or a list of paths"):
        uri_of(b"/data/x.parquet")
    with refused(InvalidArgumentError, "files_target", "braces", "str or a Path"):
        sd.files_target(PureWindowsPath(r"C:\out\{day}"))
    assert sd.files_target(PureWindowsPath(r"C:\out")).uri == "file:///C:/out"
