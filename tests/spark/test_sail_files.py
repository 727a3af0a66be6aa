"""Sail reads the files that Spark reads, or the read is refused: it is told each of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from substrait_dsl.errors import ExecutionError, UnsupportedError
from tests.support import refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IDS = {"id": "i64?"}
FILES = (
    "a.parquet",
    "part-0",
    "_hidden.parquet",
    ".hidden.parquet",
    "[a].parquet",
    "{a,b}.parquet",
    "b 100%41.parquet",
)
"""Each has its number, from 1 on; the next stand in folders."""
INSIDE = ("inside/c.parquet", "days/day=1/d.parquet", "inside/below/e.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for number, name in enumerate((*FILES, *INSIDE), start=1):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": pa.array([number], pa.int64())}), folder / name)
    (folder / "empty").mkdir()
    return folder


def ids(read: sd.Relation[Any], sail: SparkSession) -> list[int]:
    return sorted(row[0] for row in read.collect(sail))


def paths_of(folder: Path, names: Sequence[str]) -> list[str]:
    return [str(folder / name) for name in names]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.parquet", [1, 5, 6, 7]),
        ("{a,part}*", [1, 2]),
        ("[a].parquet", [1]),
        ("?.parquet", [1]),
        ("*/c*", [8]),
        ("inside/*.parquet", [8]),
    ],
)
def test_a_pattern_finds_what_lies_there_and_nothing_below(
    pattern: str, found: list[int], folder: Path, sail: SparkSession
) -> None:
    assert ids(sd.read_files(str(folder / pattern), IDS, kind="glob"), sail) == found


def test_names_with_characters_of_patterns_and_of_uris(folder: Path, sail: SparkSession) -> None:
    for number, name in enumerate(FILES, start=1):
        if name[0] not in "_.":
            uri = (folder / name).as_uri()
            assert ids(sd.read_files(uri, IDS), sail) == [number]


def test_several_files_and_folders_named_after_columns(folder: Path, sail: SparkSession) -> None:
    assert ids(sd.read_files(paths_of(folder, ("a.parquet", "a.parquet", "part-0")), IDS), sail) == [1, 1, 2]
    days = sd.read_files(str(folder / "days"), {**IDS, "day": "i32?"}, kind="folder")
    assert days.collect(sail) == [(9, 1)]


def test_what_is_not_there(folder: Path, sail: SparkSession) -> None:
    """Sail passes over a file that is not there, beside others and alone."""
    for names in (("none.parquet",), ("a.parquet", "none.parquet")):
        with refused(ExecutionError, "there is nothing to read", "none.parquet"):
            sd.read_files(paths_of(folder, names), IDS).collect(sail)
    with refused(ExecutionError, "there is nothing to read", "none*.parquet"):
        sd.read_files(str(folder / "none*.parquet"), IDS, kind="glob").collect(sail)
    with refused(ExecutionError, "finds no files with columns"):
        sd.read_files(str(folder / "empty"), IDS, kind="folder").collect(sail)


def test_the_faults_are_there(folder: Path, sail: SparkSession) -> None:
    """Fails when Sail lists files as Spark does: then it need not be told each."""
    both = sail.read.format("parquet").load(paths_of(folder, ("a.parquet", "none.parquet")))
    assert [row[0] for row in both.collect()] == [1]
    below = sail.read.format("parquet").load(str(folder / "inside" / "*.parquet"))
    assert {row[0] for row in below.collect()} == {8, 10}


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (lambda folder: sd.read_files(str(folder / "*"), IDS, kind="glob"), "no folders by a pattern"),
        (lambda folder: sd.read_files("s3://bucket/*.parquet", IDS, kind="glob"), "read others by a pattern"),
        (lambda folder: sd.read_files(["s3://bucket/a", "s3://bucket/b"], IDS), "that are not there"),
        (lambda folder: sd.read_files("a.orc", IDS, format="orc"), "Sail reads no ORC"),
    ],
)
def test_what_is_refused(read: Any, said: str, folder: Path, sail: SparkSession) -> None:
    with refused(UnsupportedError, said):
        read(folder).execute(sail)
