"""Delimited text that is read here, for Sail: the records that Spark's reader has."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError
from tests.spark.delimited_texts import (
    BROKEN,
    BROKEN_BREAKS,
    ENCODED,
    QUOTED_BREAKS,
    TEXTS,
    TOO_LONG,
    encoded_file,
    lines_above_are_skipped,
    text_file,
)
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BOTH = {"a": "string", "b": "string"}


@pytest.mark.parametrize(("text", "options", "wanted"), TEXTS)
def test_records(text: str, options: dict[str, Any], wanted: list[Any], tmp_path: Path, sail: SparkSession) -> None:
    read = text_file(tmp_path / "t.csv", text, **options)
    assert sorted(read.collect(sail), key=repr) == sorted(wanted, key=repr)
    assert read.aggregate(n=f.count()).collect(sail) == [(len(wanted),)]


@pytest.mark.parametrize(("text", "escape"), [*BROKEN, ('a,"b\\c"\n', "\\")])
def test_lines_that_are_no_records(text: str, escape: str, tmp_path: Path, sail: SparkSession) -> None:
    read = text_file(tmp_path / "t.csv", text, escape=escape)
    for used in (read, read.select("x"), read.aggregate(n=f.count())):
        with refused(ExecutionError, "line 1 of", "t.csv is no record", "a record is a line that has a field for"):
            used.collect(sail)


@pytest.mark.parametrize("text", TOO_LONG)
def test_fields_are_as_long_as_they_are_for_spark(text: str, tmp_path: Path, sail: SparkSession) -> None:
    with refused(ExecutionError, "it has a longer field", "no field is longer than 3 units of UTF-16 (max_line_size)"):
        text_file(tmp_path / "t.csv", text, max_line_size=3).collect(sail)
    assert len(text_file(tmp_path / "t.csv", text, max_line_size=4).collect(sail)) == 1


@pytest.mark.parametrize(("text", "options", "wanted"), QUOTED_BREAKS)
def test_line_breaks_in_quotes(
    text: str, options: dict[str, Any], wanted: list[Any], tmp_path: Path, sail: SparkSession
) -> None:
    read = text_file(tmp_path / "t.csv", text, line_breaks="in_quotes", **options)
    assert sorted(read.collect(sail), key=repr) == sorted(wanted, key=repr)


@pytest.mark.parametrize(("text", "escape"), BROKEN_BREAKS)
def test_line_breaks_elsewhere(text: str, escape: str, tmp_path: Path, sail: SparkSession) -> None:
    with refused(ExecutionError, "t.csv is no record"):
        text_file(tmp_path / "t.csv", text, line_breaks="in_quotes", escape=escape).collect(sail)


@pytest.mark.parametrize(("encoding", "name"), ENCODED)
def test_encodings(encoding: str, name: str, tmp_path: Path, sail: SparkSession) -> None:
    wanted = encoded_file(tmp_path / "t.csv", encoding)
    read = sd.read_files(tmp_path / "t.csv", {"x": "string", "y": "string"}, format="csv", encoding=name)
    assert sorted(read.collect(sail)) == sorted(wanted)


def test_files_that_are_compressed_and_in_folders(tmp_path: Path, sail: SparkSession) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "1.csv").write_text("\ufeffa,b\r\nc,d\r")  # the mark of UTF-8 is no text
    (tmp_path / "all" / "2.csv.gz").write_bytes(gzip.compress(b"e,f\n"))
    (tmp_path / "all" / "3.csv.bz2").write_bytes(bz2.compress(b"g,h"))
    (tmp_path / "all" / "_hidden.csv").write_text("no record")
    wanted = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
    text = sd.DelimitedText()
    places: list[tuple[Path, Literal["folder", "glob"]]] = [
        (tmp_path / "all", "folder"),
        (tmp_path / "all" / "*.csv*", "glob"),
    ]
    for path, kind in places:
        assert sorted(sd.read_files(str(path), BOTH, kind=kind, format=text).collect(sail)) == wanted
    headed = sd.read_files(tmp_path / "all", BOTH, kind="folder", format="csv", header="skip")
    assert headed.collect(sail) == [("c", "d")]  # each file has its header


def test_what_is_not_read(tmp_path: Path, sail: SparkSession) -> None:
    (tmp_path / "latin.csv").write_bytes("caf\u00e9,x\n".encode("latin-1"))
    (tmp_path / "long.csv").write_text("abcd,e\n")
    (tmp_path / "x.csv.zst").write_bytes(b"x")
    (tmp_path / "days" / "day=1").mkdir(parents=True)
    errors: list[tuple[str, Any, type[ExecutionError | UnsupportedError], str]] = [
        ("none.csv", "file", ExecutionError, "there is nothing to read"),
        ("latin.csv", "file", ExecutionError, "bytes that are not UTF-8"),
        ("long.csv", "file", ExecutionError, "it has a longer field"),
        ("x.csv.zst", "file", UnsupportedError, "compressed file"),
        ("days", "folder", UnsupportedError, "in folders below"),
    ]
    for name, kind, error, said in errors:
        text = sd.DelimitedText(max_line_size=3)
        with refused(error, said):
            sd.read_files(str(tmp_path / name), BOTH, kind=kind, format=text).execute(sail)
    with refused(UnsupportedError, "on this machine alone"):
        sd.read_files("s3://bucket/x.csv", BOTH, format=sd.DelimitedText()).execute(sail)


def test_headers_name_the_columns(tmp_path: Path, sail: SparkSession) -> None:
    (tmp_path / "t.csv").write_text("b,a\nx,y\n")
    with refused(SchemaError, "t.csv has the columns in another order"):
        sd.read_files(tmp_path / "t.csv", BOTH, format="csv", header="skip").execute(sail)
    (tmp_path / "t.csv").write_text("a,c\nx,y\n")
    with refused(SchemaError, 'column 2 is "c"'):
        sd.read_files(tmp_path / "t.csv", BOTH, format="csv").execute(sail)
    assert sd.read_files(tmp_path / "t.csv", BOTH, format="csv", header="skip").collect(sail) == [("x", "y")]


def test_several_header_lines(tmp_path: Path, sail: SparkSession) -> None:
    lines_above_are_skipped(tmp_path, sail)
