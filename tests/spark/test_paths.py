"""Paths, URIs and patterns of files: which files they mean on Spark, and which it cannot read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, SchemaError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
from tests.spark.column_files import stored
from tests.spark.rows import collected
from tests.support import refused


@pytest.mark.parametrize("name", ["_hidden.parquet", ".dot.parquet"])
def test_files_that_spark_passes_over(name: str, tmp_path: Path, spark: SparkSession) -> None:
    hidden, seen = stored(tmp_path / name, a=[1]), stored(tmp_path / "_folder" / "a b.parquet", a=[2])
    for paths in (hidden, [seen, hidden]):
        with pytest.raises(UnsupportedError, match=f"does not read the file .*{name}"):
            sd.read_files(paths, {"a": "i64?"}).execute(spark)
    with pytest.raises(UnsupportedError, match=name):
        sd.read_files(hidden, {"a": "string"}, format="csv").execute(spark)
    assert collected(sd.read_files(seen.parent, {"a": "i64?"}), spark) == [(2,)]
    part = sd.FileSlice(seen, start=0, length=seen.stat().st_size)
    assert collected(sd.read_files(part, {"a": "i64?"}), spark) == [(2,)]


NAMES = [
    "a b",
    "a%20b",
    "%5Fx",
    "100%",
    "a#b",
    "a?b",
    "a*b",
    "a[1]",
    "a{x,y}",
    "a\\b",
    "a'b",
    'a"b',
    "\u00e9",
    "\U0001f600",
    "$HOME",
    "~x",
]
"""Of these, URIs write some characters otherwise, and patterns take some for more than one character."""


def test_paths_and_uris_of_all_characters(tmp_path: Path, spark: SparkSession) -> None:
    files = [stored(tmp_path / f"{name}.parquet", a=[number]) for number, name in enumerate(NAMES)]
    due = [(number,) for number in range(len(NAMES))]
    schema = {"a": "i64?"}
    of_uris = sd.read_files([file.as_uri() for file in files], schema)
    assert sorted(collected(of_uris, spark)) == due
    plan = sd.Plan.from_bytes(sd.Plan(of_uris).to_bytes())
    assert sorted(collected(plan.roots[0], spark)) == due
    escaped = [sd.read_files(file.as_uri(), schema, kind="glob") for file in files]
    assert sorted(collected(escaped[0].union_all(*escaped[1:]), spark)) == due
    paths = [number for number, name in enumerate(NAMES) if not set(name) & {"*", "?"}]  # which would be patterns
    of_paths = sd.read_files([files[number] for number in paths], schema)
    assert sorted(collected(of_paths, spark)) == [(number,) for number in paths]
    assert collected(sd.read_files(f"{tmp_path}/a%*", schema, kind="glob"), spark) == [(NAMES.index("a%20b"),)]


def test_a_uri_that_is_none_is_told(tmp_path: Path, spark: SparkSession) -> None:
    stored(tmp_path / "a%3Ab", a=[1])
    with refused(ExecutionError, "nothing to read", "a:b", '"%253A"'):
        sd.read_files(f"file://{tmp_path}/a%3Ab", {"a": "i64?"}).execute(spark)


def test_a_folder_is_written_where_its_uri_says(tmp_path: Path, spark: SparkSession) -> None:
    rows = sd.read_virtual([(1,)], {"a": "i64?"})
    for folder in (tmp_path / "a b%", tmp_path / "a%20b"):
        for target in (folder, (folder / "inside").as_uri()):
            rows.write(sd.files_target(target)).collect(spark)
        assert collected(sd.read_files(folder / "inside", {"a": "i64?"}), spark) == [(1,)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a b%", "a%20b"]


def test_files_that_spark_cannot_open(tmp_path: Path, spark: SparkSession) -> None:
    file = stored(tmp_path / "d:e" / "a:b.parquet", a=[1])
    kinds: list[tuple[Any, Any]] = [(file, "file"), (file.parent, "folder"), (f"{file.parent}/*.parquet", "glob")]
    for path, kind in kinds:
        with refused(UnsupportedError, "cannot open the file", "a:b.parquet", '":" in its name'):
            sd.read_files(path, {"a": "i64?"}, kind=kind).execute(spark)
    file = file.rename(file.parent / "ab.parquet")
    stored(tmp_path / "d:e" / "_a:b.parquet", a=[2])  # which Spark passes over
    assert collected(sd.read_files(file.parent, {"a": "i64?"}), spark) == [(1,)]


@pytest.mark.parametrize("format", ["parquet", "orc", "arrow"])
def test_patterns_mean_the_same_files_of_each_format(format: Any, tmp_path: Path, spark: SparkSession) -> None:
    """Alternatives and what a set leaves out, too, and folders within a folder; and each file is checked."""
    names = ["f1", "f2", "f3", "_f4", "f{x}", "g,h", "%5Fi"]
    for number, name in enumerate(names):
        stored(tmp_path / f"{name}.{format}", a=[number], b=["x"])
    stored(tmp_path / "sub" / f"s.{format}", a=[9], b=["x"])
    schema = {"a": "i64?", "b": "string?"}

    def found(*patterns: str) -> set[str]:
        paths = [f"{tmp_path}/{pattern}.{format}" for pattern in patterns]
        read = sd.read_files(paths, schema, format=format, kind="glob")
        rows = collected(read.select("a"), spark)
        assert len(rows) == len(set(rows))
        return {names[number] for (number,) in rows}

    assert found("*") == {"f1", "f2", "f3", "f{x}", "g,h", "%5Fi"}
    assert found("f{1,3}") == found("{f1,f3}") == found("f[^2]") == {"f1", "f3"}
    assert found("f{1,[^1]}", "f\\{x\\}") == {"f1", "f2", "f3", "f{x}"}
    assert found("{f{1,2},g\\,?}") == {"f1", "f2", "g,h"}
    assert len(collected(sd.read_files(tmp_path, schema, format=format, kind="folder"), spark)) == 6
    with pytest.raises((UnsupportedError, ExecutionError), match=r"(does not read the|there is no) file .*\?f4"):
        found("?f4")
    stored(tmp_path / f"f2.{format}", a=[1])
    with pytest.raises(SchemaError, match='"b"'):
        found("f{1,2}")
